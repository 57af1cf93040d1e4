"""Closed forms as LaTeX in the notation of paper 004: c_{2} = cos q_2, s_{23} = sin(q_2 + q_3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter

from elastogen.generator.robot.robot import Robot

_WIDEST_MATRIX = 150  # characters of LaTeX in a row of a matrix; wider ones are written entry by entry
_LONGEST_LINE = 180  # characters of LaTeX in a line of an equation

Symbols = Sequence[sympy.Symbol]


def document(robot: Robot, frame_names: Sequence[str], q: Symbols, bodies: Mapping[str, str]) -> str:
    """Return a section of a document: the notation, then a titled paragraph for each body of equations."""
    joints = ", ".join(
        f"${sympy.latex(symbol)}$ ({escaped(name)}, {kind})" for symbol, (name, kind) in zip(q, _named(robot), strict=True)
    )
    frames = ", ".join(f"{i} ({escaped(name)})" for i, name in enumerate(frame_names, start=1))
    intro = (
        f"Coordinates: {joints}. Frames: {frames}. "
        "Abbreviations: $c_{i} = \\cos q_{i}$, $s_{i} = \\sin q_{i}$, $c_{ij} = \\cos(q_{i} + q_{j})$, "
        "$s_{ij} = \\sin(q_{i} + q_{j})$."
    )
    paragraphs = [f"\\subsection*{{{title}}}\n{body}" for title, body in bodies.items()]
    return "\n\n".join([f"\\section*{{{escaped(robot.name)}}}", intro, *paragraphs]) + "\n"


def _named(robot: Robot) -> list[tuple[str, str]]:
    """Name and kind of joint of every coordinate."""
    return [(c.name(joint.name), joint.type.name) for joint in robot.joints for c in joint.type.coordinates]


def equations(named: Sequence[tuple[str, Any]], q: Symbols, qd: Symbols, qdd: Symbols, digits: int) -> str:
    """Return one display per named matrix or expression; matrices too wide for a page by their entries."""
    printer = _Printer(q, qd, qdd, digits)
    return "\n\n".join(_equation(name, value, printer) for name, value in named)


def escaped(text: str) -> str:
    """Return a plain text, such as a joint's name, so that LaTeX prints it and does nothing else with it."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX with abbreviated sines and cosines, dots on the rates and short decimal numbers."""

    def __init__(self, q: Symbols, qd: Symbols, qdd: Symbols, digits: int) -> None:
        self._numbers = {symbol: str(k) for k, symbol in enumerate(q, start=1)}
        self._digits = digits
        names: dict[sympy.Symbol, str] = {}
        for symbols, dot in ((qd, r"\dot"), (qdd, r"\ddot")):
            for coordinate, symbol in zip(q, symbols, strict=True):
                letter, _, index = sympy.latex(coordinate).partition("_")
                names[symbol] = f"{dot}{{{letter}}}_{index}"
        super().__init__({"symbol_names": names, "mat_delim": "["})

    def __call__(self, expr: Any) -> str:
        """Return the expression's LaTeX."""
        text: str = self.doprint(expr)
        return text

    def _print_sin(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._abbreviated("s", expr, exp)

    def _print_cos(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._abbreviated("c", expr, exp)

    def _print_Float(self, expr: sympy.Float) -> str:
        text: str = super()._print_Float(sympy.Float(expr, self._digits))
        return text

    def _abbreviated(self, letter: str, expr: sympy.Expr, exp: str | None) -> str:
        """Return s_{23}^{2} for sin(q2 + q3)**2; other angles than sums of coordinates as usual."""
        text: str
        weights = expr.args[0].as_coefficients_dict()
        if all(symbol in self._numbers and weight.is_Integer for symbol, weight in weights.items()):
            text = f"{letter}_{{{self._index(weights)}}}"
            return text if exp is None else f"{text}^{{{exp}}}"
        name = {"s": r"\sin", "c": r"\cos"}[letter]
        power = "" if exp is None else f"^{{{exp}}}"
        return f"{name}{power}{{\\left({self._print(expr.args[0])} \\right)}}"

    def _index(self, weights: Mapping[sympy.Expr, sympy.Expr]) -> str:
        separator = "," if len(self._numbers) > 9 else ""
        index = ""
        for symbol, number in self._numbers.items():
            weight = int(weights.get(symbol, 0))
            for _ in range(abs(weight)):
                index += ("-" if weight < 0 else separator if index else "") + number
        return index


def _equation(name: str, value: Any, printer: _Printer) -> str:
    if not isinstance(value, sympy.MatrixBase):
        return _display([f"{name} &= " + _lines(value, printer)])
    widths = [sum(len(printer(value[r, c])) for c in range(value.cols)) for r in range(value.rows)]
    if max(widths, default=0) <= _WIDEST_MATRIX:
        return f"\\[\n{name} = {printer(value)}\n\\]"
    rows = []
    for r in range(value.rows):
        for c in range(value.cols):
            index = str(r + 1) if value.cols == 1 else f"{r + 1}{c + 1}" if value.rows < 10 else f"{r + 1},{c + 1}"
            rows.append(f"\\left({name}\\right)_{{{index}}} &= " + _lines(value[r, c], printer))
    return _display(rows)


def _display(rows: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _lines(expr: sympy.Expr, printer: _Printer) -> str:
    """Return a sum with line breaks between its terms where a line would become too long."""
    lines = [""]
    for position, term in enumerate(expr.as_ordered_terms()):
        text = printer(term)
        text = text if position == 0 or text.startswith("-") else f"+ {text}"
        if lines[-1] and len(lines[-1]) + len(text) > _LONGEST_LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {text}".strip()
    return " \\\\\n&\\quad ".join(lines)
