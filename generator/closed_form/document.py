"""The parts of a document of closed forms, for any format: symbols with units, then titled equations.

Equations that are too long are left out, with a sentence that says how long they are and how to get them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy

from elastogen.generator.closed_form.notation import Notation, Sign, parameter_sign
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot

MOST_OPERATIONS = 400  # of an entry that a document shows: about a dozen lines
MOST_IN_A_PART = 4_000  # of all entries of a matrix together: about four pages


@dataclass(frozen=True)
class Formula:
    """A formula that explains the notation, in every format."""

    latex: str
    typst: str


@dataclass(frozen=True)
class Equation:
    """A name and its expression or matrix; ``entry`` if it is one entry of a larger matrix."""

    latex: str
    typst: str
    value: Any

    def of_entry(self, index: str, value: Any) -> Equation:
        """The equation of one entry."""
        if len(self.latex) == 1:
            return Equation(f"{self.latex}_{{{index}}}", f"{self.typst}_({_kept(index)})", value)
        return Equation(rf"\left({self.latex}\right)_{{{index}}}", f"({self.typst})_({_kept(index)})", value)


def with_shared_parts(equations: Iterable[Equation]) -> list[Equation]:
    """The equations with a name for every part that occurs more than once (x1, x2, ...), the definitions first."""
    found = list(equations)
    entries = [entry for e in found for entry in (list(e.value) if isinstance(e.value, sympy.MatrixBase) else [e.value])]
    used = {symbol for entry in entries for symbol in sympy.sympify(entry).free_symbols}
    names = sympy.numbered_symbols("x", start=1, exclude={sympy.Symbol(symbol.name) for symbol in used})
    parts, rest = sympy.cse(entries, symbols=names, order="none", list=True)
    shown = [Equation(f"x_{{{symbol.name[1:]}}}", f"x_({symbol.name[1:]})", value) for symbol, value in parts]
    for equation in found:
        if isinstance(equation.value, sympy.MatrixBase):
            size, shape = len(equation.value), equation.value.shape
            shown.append(Equation(equation.latex, equation.typst, sympy.ImmutableMatrix(*shape, rest[:size])))
        else:
            size = 1
            shown.append(Equation(equation.latex, equation.typst, rest[0]))
        rest = rest[size:]
    return shown


def _kept(index: str) -> str:
    """An index for Typst, where a comma would separate arguments."""
    return f'"{index}"' if "," in index else index


class TooLongError(OutputError):
    """A closed form too long to read."""


@dataclass(frozen=True)
class SymbolRow:
    """A line of the table of symbols."""

    sign: Sign
    unit: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Part:
    """A title, formulas that introduce it, equations, and notes about what was left out."""

    title: str
    equations: tuple[Equation, ...]
    notes: tuple[str, ...] = ()
    texts: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole document."""

    title: str
    symbols: tuple[SymbolRow, ...]
    frames: str  # a sentence that numbers them
    notation: Notation
    digits: int
    parts: tuple[Part, ...]


def symbol_rows(robot: Robot, q: Iterable[sympy.Symbol], notation: Notation) -> tuple[SymbolRow, ...]:
    """Coordinates with their names, then parameters with values and units."""
    kinds = {joint.name: joint.type.name for joint in robot.joints}
    rows = [
        SymbolRow(notation.sign(symbol), c.unit, "", f"{c.name}{f', {kinds[c.name]}' if c.name in kinds else ''}")
        for symbol, c in zip(q, robot.coordinates, strict=True)
    ]
    rows += [SymbolRow(parameter_sign(p.name), p.unit, f"{p.value:g}", p.doc or p.name) for p in robot.parameters.values()]
    return tuple(rows)


def frames_sentence(names: Iterable[str]) -> str:
    """Which number is which frame."""
    return "Frames: " + ", ".join(f"{i} ({name})" for i, name in enumerate(names, start=1)) + "."


def bounded(title: str, equations: Iterable[Equation], how: str, texts: tuple[Formula, ...] = ()) -> Part:
    """A part with the equations that are short enough; ``how`` is the command that prints the others, with {entry}."""
    shown: list[Equation] = []
    notes: list[str] = []
    total = 0
    for equation in equations:
        size = _size(equation.value)
        if size <= MOST_OPERATIONS and total + size <= MOST_IN_A_PART:
            shown.append(equation)
            total += size
            continue
        kept, left = [], []
        for index, value in _entries(equation.value):
            own = _size(value)
            if own <= MOST_OPERATIONS and total + own <= MOST_IN_A_PART:
                kept.append(equation.of_entry(index, value) if index else Equation(equation.latex, equation.typst, value))
                total += own
            else:
                left.append((index, own))
        shown += kept
        if left:
            notes.append(_note(left, how))
    return Part(title, tuple(shown), tuple(notes), texts)


def _note(left: list[tuple[str, int]], how: str) -> str:
    largest = max(size for _, size in left)
    names = ", ".join(index.replace(",", " ") or "all" for index, _ in left[:12]) + (", ..." if len(left) > 12 else "")
    what = f"Left out: {len(left)} of the entries ({names}), with up to {largest} operations each, too long to read."
    index = left[0][0] if "," in left[0][0] else ",".join(left[0][0])
    return f"{what} To print one: {how.format(entry=index) if index else how.partition(' --entry')[0]}"


def blocks(equations: Iterable[Equation]) -> list[list[Equation]]:
    """Equations that are displayed together: each matrix alone, successive expressions below one another."""
    found: list[list[Equation]] = []
    for equation in equations:
        alone = isinstance(equation.value, sympy.MatrixBase)
        if found and not alone and not isinstance(found[-1][-1].value, sympy.MatrixBase):
            found[-1].append(equation)
        else:
            found.append([equation])
    return found


def lines(
    value: Any, show: Callable[[Any], str], width: Callable[[str], int], longest: int, brackets: tuple[str, str]
) -> list[str]:
    """A sum in lines of bounded width; long products of a bracket are broken inside it."""
    found = [""]
    for text in _chunks(sympy.sympify(value), show, width, longest, brackets):
        if found[-1] and width(found[-1]) + width(text) > longest:
            found.append("")
        found[-1] = f"{found[-1]} {text}".strip()
    return found


def _chunks(
    value: sympy.Expr, show: Callable[[Any], str], width: Callable[[str], int], longest: int, brackets: tuple[str, str]
) -> Iterator[str]:
    """Signed terms, and of those that are too long the terms of their bracket."""
    for position, term in enumerate(value.as_ordered_terms()):
        text = show(term)
        sign = "" if position == 0 or text.startswith("-") else "+ "
        sums = [factor for factor in sympy.Mul.make_args(term) if factor.is_Add]
        if width(text) <= longest or len(sums) != 1 or term.is_Add:
            yield sign + text
            continue
        rest = show(term / sums[0])
        rest = {"1": "", "-1": "-"}.get(rest, rest)
        inner = list(_chunks(sums[0], show, width, longest, brackets))
        inner[0] = f"{sign}{rest} {brackets[0]} {inner[0]}"
        inner[-1] = f"{inner[-1]} {brackets[1]}"
        yield from inner


def listed(value: sympy.MatrixBase) -> tuple[list[tuple[str, Any]], str]:
    """The entries of a matrix by index, and a remark about those that are left out."""
    symmetric = value.rows == value.cols > 1 and all(value[r, c] == value[c, r] for r in range(value.rows) for c in range(r))
    separator = "," if max(value.shape) > 9 else ""
    found, zeros = [], 0
    for r in range(value.rows):
        for c in range(r if symmetric else 0, value.cols):
            index = str(r + 1) if value.cols == 1 else f"{r + 1}{separator}{c + 1}"
            if value[r, c] == 0:
                zeros += 1
            else:
                found.append((index, value[r, c]))
    said = [word for word, holds in (("it is symmetric", symmetric), ("the other entries are 0", zeros > 0)) if holds]
    remark = "; ".join(said)
    return found, f"{remark[:1].upper()}{remark[1:]}." if remark else ""


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, sympy.MatrixBase):
        yield "", value
        return
    yield from listed(value)[0]


def _size(value: Any) -> int:
    """Operations of a value."""
    entries = list(value) if isinstance(value, sympy.MatrixBase) else [value]
    return sum(int(sympy.sympify(entry).count_ops()) for entry in entries)


def index_of_entry(name: str, shape: tuple[int, ...], entry: tuple[int, ...]) -> str:
    """The printed index of an entry, counted from 1; an index out of range is refused."""
    if not isinstance(entry, (tuple, list)) or not all(type(k) is int for k in entry):
        raise OutputError(f"{name}: got entry={entry!r}, expected whole numbers counted from 1, for example (1, 2).")
    shown = ",".join(map(str, entry))
    if not shape:
        raise OutputError(f"{name}: got entry {shown}, but it is one expression. Fix: leave it out.")
    if len(entry) != len(shape) or not all(1 <= k <= size for k, size in zip(entry, shape, strict=True)):
        what = "a row" if len(shape) == 1 else "row and column" if len(shape) == 2 else "indices"
        raise OutputError(f"{name}: got entry {shown}, expected {what} from 1 to {', '.join(map(str, shape))}.")
    return shown if len(shape) != 2 or max(shape) > 9 else shown.replace(",", "")
