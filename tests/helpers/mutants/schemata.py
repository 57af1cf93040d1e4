"""A C file with all its mutants in it at once: which one runs, $ELASTOGEN_MUTANT says. It is compiled once for all.

Of a function with mutants there is a copy for each; the function itself calls the chosen one. A macro chooses its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from mutants.mutations import Mutant

_FUNCTION = re.compile(
    r"^(?![ \t\n#/}{])(?P<head>[^;{}#/]*?\b(?P<name>\w+)\((?P<arguments>[^;{}]*?)\))\n\{\n.*?^\}\n", re.M | re.S
)
_MACRO = re.compile(r"^#define (?P<name>\w+)(?P<space>(?:\s|\\\n)+)(?P<value>(?:REAL\([^)]*\)|\S+))", re.M)
_INCLUDES = re.compile(r'^#include [<"].*[>"]\n', re.M)
_CHOSEN = """
#include <stdlib.h>
static int {name}(void)
{{
    static int chosen = -2;
    if (chosen == -2) {{
        const char *const number = getenv("ELASTOGEN_MUTANT");
        chosen = (number == NULL) ? -1 : atoi(number);
    }}
    return chosen;
}}

"""


def with_mutants(path: str, text: str, mutants: Mapping[int, Mutant]) -> str:
    """The text of a file with these mutants of it, by their numbers."""
    chosen = f"{PurePosixPath(path).stem}_mutant"
    places = {number: _offset(text, mutant) for number, mutant in mutants.items()}
    pieces, end = [], 0
    for found in sorted([*_FUNCTION.finditer(text), *_MACRO.finditer(text)], key=lambda found: found.start()):
        inside = {n: mutants[n] for n, place in places.items() if found.start() <= place < found.end()}
        if not inside:
            continue
        copies = {n: _changed(found.group(), places.pop(n) - found.start(), mutant) for n, mutant in inside.items()}
        written = _function if found.re is _FUNCTION else _macro
        pieces += [text[end : found.start()], written(found, copies, chosen)]
        end = found.end()
    if places:
        raise ValueError(f"{path}: mutants outside of functions and macros: {[str(mutants[n]) for n in places]}")
    whole = "".join(pieces) + text[end:]
    first = max(found.end() for found in _INCLUDES.finditer(text))
    return whole[:first] + _CHOSEN.format(name=chosen) + whole[first:]


def _offset(text: str, mutant: Mutant) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: mutant.line - 1]) + mutant.column - 1


def _changed(text: str, place: int, mutant: Mutant) -> str:
    return text[:place] + mutant.after + text[place + len(mutant.before) :]


def _function(found: re.Match[str], copies: Mapping[int, str], chosen: str) -> str:
    head, name, text = found["head"], found["name"], found.group()
    void = head.removeprefix("static ").startswith("void ")
    call = f"{'' if void else 'return '}{name}_mutant_%s({', '.join(_names(found['arguments']))});{' return;' if void else ''}"
    renamed = [_static(re.sub(rf"\b{name}\b", f"{name}_mutant_{n}", copy, count=1)) for n, copy in copies.items()]
    cases = [f"        case {n}: {call % n}\n" for n in copies]
    renamed.append(_static(re.sub(rf"\b{name}\b", f"{name}_mutant_none", text, count=1)))
    body = f"{{\n    switch ({chosen}()) {{\n{''.join(cases)}        default: {call % 'none'}\n    }}\n}}\n"
    return "\n".join([*renamed, f"{head}\n{body}"])


def _static(text: str) -> str:
    return text if text.startswith("static ") else f"static {text}"


def _names(arguments: str) -> Sequence[str]:
    """The names of arguments: the last words of their declarations."""
    names = [re.findall(r"\w+", argument)[-1] for argument in arguments.split(",")]
    return [] if names == ["void"] else names


def _macro(found: re.Match[str], copies: Mapping[int, str], chosen: str) -> str:
    value = found["value"]
    for n, copy in copies.items():
        other = _MACRO.match(copy)
        value = f"(({chosen}() == {n}) ? {other['value'] if other else copy} : {value})"
    return f"#define {found['name']} {value}"
