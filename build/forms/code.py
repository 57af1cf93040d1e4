"""Closed forms as readable code: a Python module on numpy, or a C file that needs only the C library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.numpy import NumPyPrinter

import elastogen
from elastogen.build.c.names import comment_text
from elastogen.build.files.templating import fill
from elastogen.generator.closed_form.closed_form import ClosedForm
from elastogen.generator.robot.errors import OutputError

MOST_OPERATIONS = 200_000  # of a function in a file
TAKEN = frozenset({"q", "qd", "qdd", "result", "numpy"})


@dataclass(frozen=True)
class Routine:
    """One function of a file: the texts that the template places."""

    name: str
    shape: str
    size: int
    motion: tuple[tuple[str, int], ...]  # which of q, qd, qdd it takes, and their sizes
    inputs: tuple[str, ...]  # further ones, single numbers
    symbols: tuple[tuple[str, str, int], ...]  # name, array and place of every element that is read
    parameters: tuple[tuple[str, str, str], ...]  # name, value, unit and meaning
    steps: tuple[tuple[str, str], ...]  # common subexpressions
    results: tuple[str, ...]


@dataclass(frozen=True)
class CodeFile:
    """For ``forms/closed_form.py.j2`` and ``.c.j2``."""

    robot: str
    version: str
    routines: tuple[Routine, ...]


class _CPrinter(C99CodePrinter):  # type: ignore[misc]
    """Prints C in double; short powers become products."""

    def _print_Pow(self, expr: sympy.Pow) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_Integer and 2 <= abs(exponent) <= 4:
            text = "*".join([self.parenthesize(base, 1000)] * abs(int(exponent)))
            return f"({text})" if exponent > 0 else f"(1.0/({text}))"
        usual: str = super()._print_Pow(expr)
        return usual


def python_code(closed: ClosedForm, names: Sequence[str]) -> str:
    """Return a Python module with a function for each of these quantities."""
    return _filled("forms/closed_form.py.j2", closed, names, NumPyPrinter({"fully_qualified_modules": True}))


def c_code(closed: ClosedForm, names: Sequence[str]) -> str:
    """Return a C file with a function for each of these quantities, in double; parameters have their nominal values."""
    return _filled("forms/closed_form.c.j2", closed, names, _CPrinter())


def _filled(template: str, closed: ClosedForm, names: Sequence[str], printer: Any) -> str:
    if not names:
        raise OutputError("derive: code is written of named quantities. Fix: name some, for example mass_matrix")
    routines = tuple(_routine(closed, name, printer) for name in names)
    return fill(template, CodeFile(closed.robot.name, elastogen.__version__, routines))


def _routine(closed: ClosedForm, name: str, printer: Any) -> Routine:
    values, shape = closed.entries(name)
    size = sum(int(value.count_ops()) for value in values)
    if size > MOST_OPERATIONS:
        raise OutputError(
            f"{name} of {closed.robot.name}: its closed form has {size} operations, more than {MOST_OPERATIONS}. "
            "Fix: use the generated code, elastogen generate"
        )
    used = {symbol for value in values for symbol in value.free_symbols}
    for clash in sorted({symbol.name for symbol in used} & TAKEN):
        raise OutputError(
            f"{name}: a parameter is called {clash!r}, as an argument of the code. Fix: rename it, or symbolic='none'"
        )
    steps, results = sympy.cse(values, symbols=sympy.numbered_symbols("x_", exclude=used))
    motion, symbols = [], []
    for key, vector in (("q", closed.q), ("qd", closed.qd), ("qdd", closed.qdd)):
        read = [(symbol.name, key, k) for k, symbol in enumerate(vector) if symbol in used]
        symbols += read
        if read:
            motion.append((key, len(vector)))
    parameters = [p for p in closed.robot.parameters.values() if p.symbol in used]
    known = {*closed.q, *closed.qd, *closed.qdd, *(p.symbol for p in parameters)}
    return Routine(
        name, ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""), math.prod(shape), tuple(motion),
        tuple(sorted(symbol.name for symbol in used - known)), tuple(symbols),
        tuple((p.name, repr(float(p.value)), comment_text(f"{p.unit} {p.doc}")) for p in parameters),
        tuple((symbol.name, printer.doprint(value)) for symbol, value in steps),
        tuple(printer.doprint(result) for result in results),
    )  # fmt: skip
