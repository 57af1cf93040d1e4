"""Closed forms as a Typst document, with the same contents as in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from sympy.printing.printer import Printer

from elastogen.generator.closed_form.document import Document, Equation, blocks, lines, listed
from elastogen.generator.closed_form.notation import GREEK, Notation, Sign

_WIDEST_MATRIX = 62  # letters in a row of a matrix; wider ones are written entry by entry
_LONGEST_LINE = 74  # letters in a line of an equation
PREAMBLE = """#set page(paper: "a4", margin: 20mm, numbering: "1")
#set text(size: 10pt)
#set math.mat(delim: "[")
#show heading: set block(above: 1.4em, below: 0.8em)
#show math.equation: set block(breakable: true)
"""
ABBREVIATIONS = "Abbreviations: $c_i = cos q_i$, $s_i = sin q_i$, $c_(i j) = cos(q_i + q_j)$, $s_(i j) = sin(q_i + q_j)$."


def whole(document: Document) -> str:
    """The document."""
    texts = [PREAMBLE, f"= {escaped(document.title)}"]
    cells = "".join(
        f"[${typst_sign(row.sign)}$], [{unit(row.unit)}], [{escaped(row.value)}], [{escaped(row.meaning)}],\n"
        for row in document.symbols
    )
    if cells:
        head = "table.header([*symbol*], [*unit*], [*value*], [*meaning*]),\n"
        texts.append(f"#table(columns: 4, stroke: none, inset: (x: 0pt, y: 3pt), column-gutter: 1.2em,\n{head}{cells})")
    texts.append(f"{escaped(document.frames)} {ABBREVIATIONS}")
    printer = TypstPrinter(document.notation, document.digits)
    for part in document.parts:
        texts.append(f"== {escaped(part.title)}")
        texts += [f"$ {formula.typst} $" for formula in part.texts]
        texts += [_block(block, printer) for block in blocks(part.equations)]
        texts += [escaped(note) for note in part.notes]
    return "\n\n".join(texts) + "\n"


def escaped(text: str) -> str:
    """Plain text that Typst prints as it is."""
    return "".join(f"\\{letter}" if letter in "\\#$*_`<>@=-+/[]~\"'" else letter for letter in text)


def unit(text: str) -> str:
    """A unit in upright letters."""
    words = " thin ".join(_power(word) for word in text.replace("/", " / ").split())
    return f"${words}$".replace(" thin / thin ", "\\/") if words else ""


def _power(word: str) -> str:
    base, _, exponent = word.partition("^")
    shown = f'upright("{base}")' if base != "/" else "/"
    return f"{shown}^{exponent}" if exponent else shown


def typst_sign(sign: Sign) -> str:
    """A symbol in Typst's mathematics."""
    if sign.word:
        letter = f'upright("{sign.letter}")'
    else:
        letter = " ".join(part if part in GREEK or len(part) == 1 else f'italic("{part}")' for part in sign.letter.split())
    if sign.grouped and sign.index:
        letter = f"({letter})"
    if sign.dots:
        letter = f"dot({letter})" if sign.dots == 1 else f"dot.double({letter})"
    index = sign.index if sign.index.isdigit() else f'"{sign.index}"'
    return f"{letter}_({index})" if sign.index else letter


class TypstPrinter(Printer):  # type: ignore[misc]
    """Expressions in Typst's mathematics, with abbreviated sines and cosines."""

    printmethod = "_typst"

    def __init__(self, notation: Notation, digits: int) -> None:
        self._notation, self._digits = notation, digits
        super().__init__()

    def __call__(self, expr: Any) -> str:
        """The text of an expression."""
        text: str = self.doprint(expr)
        return text

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        return typst_sign(self._notation.sign(expr))

    def _print_Integer(self, expr: sympy.Integer) -> str:
        return str(expr)

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return f"{'-' if expr < 0 else ''}frac({abs(expr.p)}, {expr.q})"

    def _print_Float(self, expr: sympy.Float) -> str:
        mantissa, _, exponent = f"{float(expr):.{self._digits}g}".partition("e")
        return f"{mantissa} dot.op 10^({int(exponent)})" if exponent else mantissa

    def _print_NumberSymbol(self, expr: sympy.Expr) -> str:
        return "e" if expr is sympy.E else "pi" if expr is sympy.pi else str(expr)

    def _print_Add(self, expr: sympy.Add) -> str:
        text = ""
        for term in expr.as_ordered_terms():
            shown = self._print(term)
            text += shown if not text else f" {shown}" if shown.startswith("-") else f" + {shown}"
        return text

    def _print_Mul(self, expr: sympy.Mul) -> str:
        if expr.could_extract_minus_sign():
            return f"-{self._factor(-expr)}"
        above, below = sympy.fraction(expr)
        if below != 1:
            return f"frac({self._print(above)}, {self._print(below)})"
        return " ".join(self._factor(factor) for factor in expr.as_ordered_factors())

    def _factor(self, expr: sympy.Expr) -> str:
        text: str = self._print(expr)
        return f"({text})" if expr.is_Add else text

    def _print_Pow(self, expr: sympy.Pow) -> str:
        base, exponent = expr.as_base_exp()
        if exponent == sympy.S.Half:
            return f"sqrt({self._print(base)})"
        if exponent.is_negative:
            return f"frac(1, {self._print(base**-exponent)})"
        if base.func in (sympy.sin, sympy.cos):
            index = self._notation.index_of_angle(base.args[0])
            if index is not None:
                return f"{base.func.__name__[0]}_({_index(index)})^({self._print(exponent)})"
        shown = self._print(base)
        simple = base.is_Symbol or (base.is_Integer and base >= 0)
        return f"{shown if simple else f'({shown})'}^({self._print(exponent)})"

    def _print_sin(self, expr: sympy.Expr) -> str:
        return self._circular("s", "sin", expr)

    def _print_cos(self, expr: sympy.Expr) -> str:
        return self._circular("c", "cos", expr)

    def _circular(self, letter: str, name: str, expr: sympy.Expr) -> str:
        index = self._notation.index_of_angle(expr.args[0])
        return f"{letter}_({_index(index)})" if index is not None else f"{name}({self._print(expr.args[0])})"

    def _print_Abs(self, expr: sympy.Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Function(self, expr: sympy.Expr) -> str:
        arguments = ", ".join(self._print(argument) for argument in expr.args)
        return f'op("{expr.func.__name__}")({arguments})'

    def _print_Max(self, expr: sympy.Expr) -> str:
        return f"max({', '.join(self._print(argument) for argument in expr.args)})"

    def _print_Min(self, expr: sympy.Expr) -> str:
        return f"min({', '.join(self._print(argument) for argument in expr.args)})"

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        rows = []
        for value, condition in expr.args:
            when = '"otherwise"' if condition == sympy.true else f'"if" {self._print(condition)}'
            rows.append(f"{self._print(value)} & {when}")
        return f"cases({', '.join(rows)})"

    def _print_Relational(self, expr: sympy.Basic) -> str:
        signs = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "!="}
        return f"{self._print(expr.lhs)} {signs[expr.rel_op]} {self._print(expr.rhs)}"

    def _print_MatrixBase(self, expr: sympy.MatrixBase) -> str:
        rows = [", ".join(self._print(expr[r, c]) for c in range(expr.cols)) for r in range(expr.rows)]
        return f"mat({'; '.join(rows)})"

    def _print_ImmutableDenseMatrix(self, expr: sympy.MatrixBase) -> str:
        return self._print_MatrixBase(expr)


def _index(index: str) -> str:
    return index if index.isdigit() else f'"{index}"'


def _block(block: Sequence[Equation], printer: TypstPrinter) -> str:
    if isinstance(block[0].value, sympy.MatrixBase):
        return _equation(block[0], printer)
    return _display([(equation.typst, equation.value) for equation in block], printer)


def _equation(equation: Equation, printer: TypstPrinter) -> str:
    name, value = equation.typst, equation.value
    widths = [sum(width(printer(value[r, c])) for c in range(value.cols)) for r in range(value.rows)]
    if max(widths, default=0) <= _WIDEST_MATRIX:
        return f"$ {name} = {printer(value)} $"
    entries, remark = listed(value)
    if not entries:
        return f"$ {name} = 0 $"
    shown = _display(((equation.of_entry(index, entry).typst, entry) for index, entry in entries), printer)
    return f"{shown}\n\n{remark}" if remark else shown


def width(text: str) -> int:
    """The approximate printed width of a text, in letters."""
    for word in ("dot.double", "dot.op", "dot", "frac", "upright", "italic", "paren.l", "paren.r", "quad"):
        text = text.replace(word, "")
    return sum(letter not in '_^() ,"' for letter in text) + 2


def _display(rows: Iterable[tuple[str, Any]], printer: TypstPrinter) -> str:
    shown = []
    for name, value in rows:
        first, *others = lines(value, printer, width, _LONGEST_LINE, ("paren.l", "paren.r"))
        shown += [f"{name} &= {first}", *(f"&quad {line}" for line in others)]
    return "$ " + " \\\n".join(shown) + " $"
