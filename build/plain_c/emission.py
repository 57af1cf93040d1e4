"""A C file of the sample robot, written for another one: its prefix, its features, its precision, as one file.

The files under ``templates`` whose names begin with ``robot`` compile as they stand. What is emitted differs from them by
five rules, each on tokens and none of them a choice that a file could not say in C itself:

- the prefix ``robot_`` or ``ROBOT_`` of a word becomes the robot's, also in comments and strings, and so does a file's name;
- ``#if`` on a macro of ``robot_features.h`` is decided;
- ``REAL(0.5)`` and the other words of ``robot_real.h`` are written out, as ``0.5`` or ``0.5F``, ``sqrt`` or ``sqrtf``;
- an include of a part, a file that only this one includes, is replaced by its text, and those of the system come first;
- the comment that names the file gets the lines that say where it is from, and a C file, behind its includes, the lines of
  ``shared/not_fused.h`` that make its bits those of every host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources

from elastogen.build.plain_c.features import decided
from elastogen.build.plain_c.tokens import Token, tokens

SAMPLE = "robot"
NOT_FUSED = "shared/not_fused.h"
PART, SHARED = "/* Part of ", "/* Shared part"
"""How files begin that are written into those that include them."""
_INCLUDE = re.compile(r'#include "(?:[\w/.]*/)?(\w+\.[ch])"\n')
_SYSTEM = re.compile(r"#include <([\w/.]+)>\n")
_GUARD = re.compile(r"\A(?P<head>\s*/\*.*?\*/\s*)?#ifndef (\w+)\n#define \2\n(?P<body>.*)#endif /\* \2 \*/\s*\Z", re.DOTALL)
_PART = re.compile(r"\A/\* (?:Part of [\w. ]+|Shared part): (\w)")
_GIVEN = "\0"  # before a word that is not of the sample robot, but of a user
_NAMED = re.compile(rf"(?<!{_GIVEN})(?:\brobot_\w+|\brobot(?=\.[ch]\b)|\bROBOT_\w+)")
_LIBRARY = ("CEIL", "FABS", "FLOOR", "FMAX", "FMIN", "POW", "SQRT", "SIN", "COS", "ATAN2", "TANH")
_LIMITS = {"LARGEST": ("DBL_MAX", "FLT_MAX"), "EPSILON": ("DBL_EPSILON", "FLT_EPSILON"), "HUGE": ("HUGE_VAL", "INFINITY")}


@dataclass(frozen=True)
class Emission:
    """How the files of the sample robot are written for a robot."""

    name: str  # the robot's
    real: str = "double"  # "double" or "float": what the words of robot_real.h mean
    features: Mapping[str, int] = field(default_factory=dict)  # values of macros of robot_features.h, without their prefix
    origin: tuple[str, ...] = ()  # lines that say where a file is from
    generated: Mapping[str, str] = field(default_factory=dict)  # parts that are not C files of the sample, by their names
    words: Mapping[str, str] = field(default_factory=dict)  # other words that are replaced

    def file(self, path: str) -> str:
        """A file of ``templates``, with its parts, for this robot."""
        text = self.renamed(re.sub(r"\n{3,}", "\n\n", self.plain(path)))
        return _with_origin(_not_fused(text) if path.endswith(".c") else text, self.origin)

    def part(self, file: str, known: Iterable[str] = ()) -> str:
        """A part for this robot, without its guard and its includes; parts that are ``known`` stand there already."""
        return self.renamed(_INCLUDE.sub("", self._body(file, {file, *known}, [])).strip())

    def plain(self, path: str) -> str:
        """A file with its parts, for this robot but for the prefix."""
        systems: list[str] = []
        seen: set[str] = set()
        text = self._joined(self._decided(source(path)), seen, systems)
        return _with_systems(text, systems)

    def _joined(self, text: str, seen: set[str], systems: list[str]) -> str:
        """The text with its parts in place of their includes; what it includes of the system goes to ``systems``."""

        def included(found: re.Match[str]) -> str:
            file = found[1]
            if file in seen:
                return ""
            seen.add(file)
            return self._body(file, seen, systems) if file in self.generated or file in parts() else found[0]

        return _INCLUDE.sub(included, text)

    def _body(self, file: str, seen: set[str], systems: list[str]) -> str:
        text = self.generated[file] if file in self.generated else source(parts()[file])
        guarded = _GUARD.match(text)
        head, body = (guarded["head"], guarded["body"]) if guarded else ("", text)
        if file in self.generated:
            body = _as_given(body)
        if text.startswith(SHARED):  # two files of one translation unit may have it: it keeps its guard
            rest = self._joined(self._without_systems(text[text.index("*/") + 2 :], systems), seen, systems)
            return f"{_PART.sub(_titled, head.strip())}\n{rest.strip()}\n"
        body = self._without_systems(body, systems)
        included = max((found.end() for found in _INCLUDE.finditer(body)), default=0)
        before, own = (self._joined(piece, seen, systems).strip() for piece in (body[:included], body[included:]))
        title = _PART.sub(_titled, head.strip()) if head else ""
        return "\n\n".join(piece for piece in (before, title, own) if piece) + "\n"

    def _without_systems(self, text: str, systems: list[str]) -> str:
        text = self._decided(text)
        systems += _SYSTEM.findall(text)
        return _SYSTEM.sub("", text)

    def _decided(self, text: str) -> str:
        return decided(text, {f"{SAMPLE.upper()}_{name}": number for name, number in self.features.items()})

    def renamed(self, text: str) -> str:
        """The text with this robot's prefix, and its numbers in this precision."""
        return "".join(self._words(tokens(text))).replace(_GIVEN, "")

    def _words(self, found: Iterator[Token]) -> Iterator[str]:
        sizes = {f"ROBOT_{name}": str(number) for name, number in self.features.items()}
        known = {**sizes, **words_of(self.real), **self.words}
        for token in found:
            if token.kind == "word" and token.text == "REAL":
                yield self._number(found)
            elif token.kind in ("word", "comment", "text"):
                yield _NAMED.sub(lambda word: known.get(word[0]) or self._prefixed(word[0]), token.text)
            else:
                yield token.text

    def _prefixed(self, word: str) -> str:
        return (self.name.upper() if word[0].isupper() else self.name) + word[len(SAMPLE) :]

    def _number(self, found: Iterator[Token]) -> str:
        """What stands behind ``REAL``: one number in parentheses."""
        inside = [next(found), next(found)]
        while inside[-1].text != ")" and len(inside) < 4:
            inside.append(next(found))
        opened, *sign, number, closed = inside if len(inside) > 2 else [*inside, inside[-1]]
        if (opened.text, number.kind, closed.text) != ("(", "number", ")") or any(token.text != "-" for token in sign):
            raise ValueError(f"REAL{''.join(token.text for token in inside)}: expected one number with a point.")
        return ("-" if sign else "") + number.text + ("F" if self.real == "float" else "")


def words_of(real: str) -> dict[str, str]:
    """What the words of robot_real.h mean in a precision."""
    single = real == "float"
    library = {f"ROBOT_{name}": name.lower() + ("f" if single else "") for name in _LIBRARY}
    return {**library, **{f"ROBOT_{name}": pair[single] for name, pair in _LIMITS.items()}, "robot_scalar_t": real}


@lru_cache(maxsize=1)
def files() -> dict[str, str]:
    """The C files of the sample robot: their paths in ``templates`` by their names."""
    found: dict[str, str] = {}
    room = resources.files("elastogen.templates")
    for folder in (entry for entry in sorted(room.iterdir(), key=lambda entry: entry.name) if entry.is_dir()):
        for below in (folder, *(entry for entry in folder.iterdir() if entry.is_dir())):
            path = folder.name if below is folder else f"{folder.name}/{below.name}"
            named = [
                entry.name for entry in below.iterdir() if entry.name.startswith("robot") and entry.name[-2:] in (".c", ".h")
            ]
            found |= {name: f"{path}/{name}" for name in named}
    return found


@lru_cache(maxsize=1)
def parts() -> dict[str, str]:
    """Those of them that are written into the files that include them: they say so in their first line."""
    return {name: path for name, path in files().items() if source(path).startswith((PART, SHARED))}


@cache
def source(path: str) -> str:
    """The text of a C file of ``templates``."""
    return (resources.files("elastogen.templates") / path).read_text(encoding="utf-8")


def given(text: str) -> str:
    """Text of a user, in which a word that begins with robot_ is not a word of the sample robot."""
    return re.sub(r"\b(?=robot|ROBOT)", _GIVEN, text)


def _as_given(text: str) -> str:
    """A generated part: its comments have names of the robot's joints and frames."""
    return "".join(given(token.text) if token.kind == "comment" else token.text for token in tokens(text))


def _titled(found: re.Match[str]) -> str:
    return f"/* {found[1].upper()}"


def _with_origin(text: str, origin: tuple[str, ...]) -> str:
    if not origin or not text.startswith("/**\n * @file"):
        return text
    head, end, rest = text.partition("\n */")
    return head + "\n *" + "".join(f"\n * {line}".rstrip() for line in origin) + end + rest


def _not_fused(text: str) -> str:
    """A C file whose bits are those of every host, behind its includes."""
    first = _first_includes(text)
    return f"{text[:first]}\n{source(NOT_FUSED)}{text[first:]}"


def _first_includes(text: str) -> int:
    """Where the first includes of a C file end: its own header, and those of the system behind it."""
    first = re.search(r'(?:#include "[\w/.]+"\n)+(?:\n?#include <[\w/.]+>\n)*', text)
    if first is None:
        raise ValueError("a C file of the sample robot begins with the include of a header.")
    return first.end()


def _with_systems(text: str, systems: list[str]) -> str:
    """Headers of the system that parts need, beside those of the file itself."""
    own = _SYSTEM.findall(text)
    missing = sorted(set(systems) - set(own))
    if not missing:
        return text
    first = _first_includes(text)
    lines = "".join(f"#include <{name}>\n" for name in missing)
    return text[:first] + ("" if text[:first].endswith(">\n") else "\n") + lines + text[first:]
