"""Optional parts of C files: ``#if`` on macros whose values are known when a file is emitted.

Only those are decided here; conditions on other macros, as those of a compiler, stay in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")
_ATOM = re.compile(r"(!?)[ ]*(\w+)(?:[ ]*(>|==)[ ]*(\d+))?\Z")


def decided(text: str, features: Mapping[str, int]) -> str:
    """The text with the parts that apply: conditions on ``features`` are taken out with what does not fulfil them."""
    return "\n".join(_kept(text.split("\n"), features))


def _kept(lines: list[str], features: Mapping[str, int]) -> Iterator[str]:
    nested: list[bool | None] = []  # per open condition: whether its part applies; None: left to the compiler
    blank = False  # the last line was blank, and nothing stands between: no two blank lines where a part was left out
    for line in lines:
        found = _DIRECTIVE.match(line)
        kind, condition = found.groups() if found else ("", "")
        if kind in ("if", "ifdef", "ifndef"):
            nested.append(value(condition, features) if kind == "if" else None)
        elif kind == "elif" and nested[-1] is not None:
            raise ValueError(f"#elif after a condition on features: {line!r}. Use #else with an #if inside.")
        elif kind == "else" and nested[-1] is not None:
            nested[-1] = not nested[-1]
        elif kind == "endif" and nested.pop() is not None:
            continue
        if (kind and kind != "endif" and nested[-1] is not None) or False in nested or (blank and not line):
            continue
        yield line
        blank = not line


def value(condition: str, features: Mapping[str, int]) -> bool | None:
    """Whether a condition holds; None where it asks for anything but features."""
    alternatives = [[_atom(atom, features) for atom in part.split("&&")] for part in _plain(condition).split("||")]
    if any(atom is None for part in alternatives for atom in part):
        return None
    return any(all(part) for part in alternatives)


def _plain(condition: str) -> str:
    return re.sub(r"/\*.*?\*/", "", condition).replace("(", "").replace(")", "")


def _atom(text: str, features: Mapping[str, int]) -> bool | None:
    found = _ATOM.match(text.strip())
    if found is None or found[2] not in features:
        return None
    number = features[found[2]]
    truth = number != 0 if found[3] is None else number > int(found[4]) if found[3] == ">" else number == int(found[4])
    return truth != bool(found[1])
