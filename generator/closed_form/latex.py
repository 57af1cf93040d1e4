"""Closed forms as LaTeX in the notation of paper 004: c_{2} = cos q_2, s_{23} = sin(q_2 + q_3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter

from elastogen.generator.closed_form.document import Document, Equation, Formula, blocks, lines, listed
from elastogen.generator.closed_form.notation import GREEK, Notation, Sign

_WIDEST_MATRIX = 150  # characters of LaTeX in a row of a matrix; wider ones are written entry by entry
_LONGEST_LINE = 180  # characters of LaTeX in a line of an equation

PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=20mm]{geometry}
\usepackage{amsmath}
\usepackage[utf8]{inputenc}
\usepackage{longtable}
\allowdisplaybreaks
\setcounter{MaxMatrixCols}{40}
\begin{document}
"""


def section(document: Document) -> str:
    """A section of a document: the symbols with their units, then a titled paragraph for each part."""
    rows = "".join(
        f"${latex_sign(row.sign)}$ & {unit(row.unit)} & {escaped(row.value)} & {escaped(row.meaning)} \\\\\n"
        for row in document.symbols
    )
    texts = [f"\\section*{{{escaped(document.title)}}}"]
    if rows:
        head = "symbol & unit & value & meaning \\\\ \\hline\n"
        texts.append(f"\\begin{{longtable}}{{llll}}\n{head}{rows}\\end{{longtable}}")
    texts.append(escaped(document.frames) + " " + ABBREVIATIONS)
    for part in document.parts:
        texts.append(f"\\subsection*{{{escaped(part.title)}}}")
        texts += [f"{_inline(text)}" for text in part.texts]
        if part.equations:
            texts.append(equations(part.equations, document.notation, document.digits))
        texts += [escaped(note) for note in part.notes]
    return "\n\n".join(texts) + "\n"


ABBREVIATIONS = (
    "Abbreviations: $c_{i} = \\cos q_{i}$, $s_{i} = \\sin q_{i}$, $c_{ij} = \\cos(q_{i} + q_{j})$, "
    "$s_{ij} = \\sin(q_{i} + q_{j})$."
)


def whole(document: Document) -> str:
    """A document that TeX can compile as it is."""
    return f"{PREAMBLE}{section(document)}\\end{{document}}\n"


def unit(text: str) -> str:
    """A unit in upright letters: kg m^2."""
    words = r"\,".join(text.split())
    return rf"$\mathrm{{{words}}}$" if words else ""


def printer(notation: Notation, digits: int) -> Callable[[Any], str]:
    """The printer for expressions in these symbols."""
    return _Printer(notation, digits)


def _inline(formula: Formula) -> str:
    return f"${formula.latex}$"


def equations(named: Iterable[Equation], notation: Notation, digits: int) -> str:
    """Return one display per named matrix or expression; matrices too wide for a page by their entries."""
    printer = _Printer(notation, digits)
    return "\n\n".join(_block(block, printer) for block in blocks(named))


def _block(block: Sequence[Equation], printer: _Printer) -> str:
    if isinstance(block[0].value, sympy.MatrixBase):
        return _equation(block[0], printer)
    return _display([f"{equation.latex} &= " + _lines(equation.value, printer) for equation in block])


def escaped(text: str) -> str:
    """Return a plain text, such as a joint's name, escaped for LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX with abbreviated sines and cosines, dots on the rates and short decimal numbers."""

    def __init__(self, notation: Notation, digits: int) -> None:
        self._notation, self._digits = notation, digits
        super().__init__({"mat_delim": "["})

    def __call__(self, expr: Any) -> str:
        """Return the expression's LaTeX."""
        text: str = self.doprint(expr)
        return text

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:
        return latex_sign(self._notation.sign(expr))

    def _print_sin(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._abbreviated("s", expr, exp)

    def _print_cos(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._abbreviated("c", expr, exp)

    def _print_Float(self, expr: sympy.Float) -> str:
        text: str = super()._print_Float(sympy.Float(expr, self._digits))
        return text

    def _abbreviated(self, letter: str, expr: sympy.Expr, exp: str | None) -> str:
        """Return s_{23}^{2} for sin(q2 + q3)**2; angles that are not short sums of coordinates as usual."""
        index = self._notation.index_of_angle(expr.args[0])
        if index is not None:
            text = f"{letter}_{{{index}}}"
            return text if exp is None else f"{text}^{{{exp}}}"
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\{expr.func.__name__}{power}{{\left({self._print(expr.args[0])} \right)}}"


def latex_sign(sign: Sign) -> str:
    """A symbol in LaTeX."""
    letter = rf"\mathrm{{{escaped(sign.letter)}}}" if sign.word else sign.letter
    if not sign.word:
        letter = " ".join(f"\\{part}" if part in GREEK else part for part in sign.letter.split())
    if sign.grouped and sign.index:
        letter = rf"\left({letter}\right)"
    if sign.dots:
        letter = f"\\{'d' * sign.dots}ot{{{letter}}}"
    return f"{letter}_{{{sign.index}}}" if sign.index else letter


def _equation(equation: Equation, printer: _Printer) -> str:
    name, value = equation.latex, equation.value
    widths = [sum(len(printer(value[r, c])) for c in range(value.cols)) for r in range(value.rows)]
    if max(widths, default=0) <= _WIDEST_MATRIX:
        return f"\\[\n{name} = {printer(value)}\n\\]"
    entries, remark = listed(value)
    if not entries:
        return f"\\[\n{name} = 0\n\\]"
    rows = [f"{equation.of_entry(index, entry).latex} &= " + _lines(entry, printer) for index, entry in entries]
    return _display(rows) + (f"\n{remark}" if remark else "")


def _display(rows: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _lines(expr: sympy.Expr, printer: _Printer) -> str:
    """Return a sum with line breaks between its terms where a line would become too long."""
    return " \\\\\n&\\quad ".join(lines(expr, printer, len, _LONGEST_LINE, (r"\bigl(", r"\bigr)")))
