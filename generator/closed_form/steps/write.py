"""A recursion as text, Markdown, LaTeX, Typst or a Python module: numbered equations with titles and meanings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

import numpy
import sympy
from sympy.printing.numpy import NumPyPrinter

from elastogen.generator.closed_form import latex, typst
from elastogen.generator.closed_form.document import lines, symbol_rows
from elastogen.generator.closed_form.notation import Sign
from elastogen.generator.closed_form.steps.recursion import AUXILIARY, Recursion, Stage
from elastogen.generator.robot.errors import OutputError

DIGITS = 6  # of decimal numbers
WIDTH = 118  # letters of a line of text
_LATEX_LINE, _TYPST_LINE = 150, 70  # letters of a line of an equation
_DENSE_LATEX = r"""\setlength{\abovedisplayskip}{3pt plus 2pt}
\setlength{\belowdisplayskip}{3pt plus 2pt}
\setlength{\jot}{2pt}
"""
_DENSE_TYPST = """#set math.equation(numbering: "(1)")
#show math.equation.where(block: true): set block(above: 0.4em, below: 0.4em)
#show heading: set block(above: 0.9em, below: 0.6em)"""
Write = Callable[[Recursion, int], str]


def text(found: Recursion, digits: int = DIGITS) -> str:
    """For a terminal: ``(7) w2z = qd1 + qd2``, with its meaning."""
    shown = [f"{found.robot.name}: {found.name}, {found.count} equations. {found.brief}", _frames(found)]
    for stage, numbers in _numbered(found):
        shown.append(f"\n{stage.title}")
        for number, step in zip(numbers, stage.steps, strict=True):
            equation = f"({number}) {step.symbol} = {sympy.sstr(_rounded(step.expression, digits))}"
            meaning = f"   [{step.meaning}; {step.sign.index[-1]}]" if step.meaning else ""
            shown += textwrap.wrap(
                equation + meaning, WIDTH, initial_indent="  ", subsequent_indent="        ", break_long_words=False
            )
    return "\n".join(shown) + "\n"


def markdown(found: Recursion, digits: int = DIGITS) -> str:
    """For a page with mathematics: displays with numbers as tags."""
    shown = [f"# {found.robot.name}: {found.name}", found.brief, _frames(found), _symbols_in_markdown(found)]
    return "\n\n".join(part for part in (*shown, *markdown_stages(found, digits, "##")) if part) + "\n"


def markdown_stages(found: Recursion, digits: int = DIGITS, mark: str = "###") -> list[str]:
    """Titles and displays of a recursion, for a page in Markdown."""
    printer, shown = latex.printer(found.notation, digits), list[str]()
    for stage, numbers in _numbered(found):
        shown += [f"{mark} {stage.title}", *_legend(stage, lambda sign: f"${latex.latex_sign(sign)}$")]
        for number, step in zip(numbers, stage.steps, strict=True):
            broken = lines(step.expression, printer, len, _LATEX_LINE, (r"\bigl(", r"\bigr)"))
            value = " \\\\ &\\quad ".join(broken)
            name = latex.latex_sign(step.sign)
            body = f"{name} = {value}" if len(broken) == 1 else rf"\begin{{aligned}} {name} &= {value} \end{{aligned}}"
            shown.append(f"$$ {body} \\tag{{{number}}} $$")
    return shown


def in_latex(found: Recursion, digits: int = DIGITS) -> str:
    """A document that TeX compiles as it is."""
    printer, escaped = latex.printer(found.notation, digits), latex.escaped
    rows = "".join(
        f"${latex.latex_sign(row.sign)}$ & {latex.unit(row.unit)} & {escaped(row.value)} & {escaped(row.meaning)} \\\\\n"
        for row in symbol_rows(found.robot, found.coordinates, found.notation)
    )
    head = "symbol & unit & value & meaning \\\\ \\hline\n"
    shown = [
        f"{_DENSE_LATEX}\\section*{{{escaped(f'{found.robot.name}: {found.name}')}}}",
        f"{escaped(found.brief)} {escaped(_frames(found))} {latex.ABBREVIATIONS}",
        f"\\begin{{longtable}}{{llll}}\n{head}{rows}\\end{{longtable}}" if rows else "",
    ]
    for stage, _ in _numbered(found):
        said = _legend(stage, lambda sign: f"${latex.latex_sign(sign)}$", escaped)
        shown += [f"\\subsubsection*{{{escaped(stage.title)}}}", *said]
        equations = []
        for step in stage.steps:
            broken = lines(step.expression, printer, len, _LATEX_LINE, (r"\bigl(", r"\bigr)"))
            equations.append(f"{latex.latex_sign(step.sign)} &= " + " \\nonumber \\\\\n&\\quad ".join(broken))
        shown.append("\\begin{align}\n" + " \\\\\n".join(equations) + "\n\\end{align}")
    return latex.PREAMBLE + "\n\n".join(part for part in shown if part) + "\n\\end{document}\n"


def in_typst(found: Recursion, digits: int = DIGITS) -> str:
    """A document for Typst."""
    printer, escaped = typst.TypstPrinter(found.notation, digits), typst.escaped
    cells = "".join(
        f"[${typst.typst_sign(row.sign)}$], [{typst.unit(row.unit)}], [{escaped(row.value)}], [{escaped(row.meaning)}],\n"
        for row in symbol_rows(found.robot, found.coordinates, found.notation)
    )
    head = "table.header([*symbol*], [*unit*], [*value*], [*meaning*]),\n"
    shown = [
        typst.PREAMBLE + _DENSE_TYPST,
        f"= {escaped(f'{found.robot.name}: {found.name}')}",
        f"{escaped(found.brief)} {escaped(_frames(found))} {typst.ABBREVIATIONS}",
        f"#table(columns: 4, stroke: none, inset: (x: 0pt, y: 3pt), column-gutter: 1.2em,\n{head}{cells})" if cells else "",
    ]
    for stage, _ in _numbered(found):
        shown += [f"=== {escaped(stage.title)}", *_legend(stage, lambda sign: f"${typst.typst_sign(sign)}$", escaped)]
        for step in stage.steps:
            first, *others = lines(step.expression, printer, typst.width, _TYPST_LINE, ("paren.l", "paren.r"))
            rows = [f"{typst.typst_sign(step.sign)} &= {first}", *(f"&quad {line}" for line in others)]
            shown.append("$ " + " \\\n".join(rows) + " $")
    return "\n\n".join(part for part in shown if part) + "\n"


def python(found: Recursion, digits: int = 0) -> str:
    """A module on numpy with one function, every intermediate a local variable; numbers as they are."""
    printer = NumPyPrinter({"fully_qualified_modules": True})
    vectors: dict[str, list[tuple[int, sympy.Symbol]]] = {}
    for label, symbol in found.inputs:
        name, _, index = label.partition("[")
        vectors.setdefault(name, []).append((int(index[:-1]), symbol))
    parameters = [p for p in found.robot.parameters.values() if p.symbol in found.used]
    clash = {*vectors, "numpy"} & {
        *(p.name for p in parameters),
        *(str(s.symbol) for stage in found.stages for s in stage.steps),
    }
    if clash:
        raise OutputError(f"{found.name}: {min(clash)!r} is a parameter and an argument of the code. Fix: rename the parameter")
    keywords = [f"{p.name}={float(p.value)!r}" for p in parameters]
    signature = ", ".join([*vectors, *(["*", *keywords] if keywords else [])])
    body = [f'"""{found.brief} {_frames(found)}"""']
    for name, entries in vectors.items():
        for number, symbol in entries:
            place = numpy.unravel_index(number, found.shapes.get(name, (1 + number,)))
            body.append(f"{symbol} = numpy.asarray({name})" + (f"[..., {', '.join(map(str, place))}]" if place else ""))
    for stage, numbers in _numbered(found):
        body += ["", f"# {stage.title}"]
        for number, step in zip(numbers, stage.steps, strict=True):
            meaning = f": {step.meaning}; {step.sign.index[-1]}" if step.meaning else ""
            body.append(f"{step.symbol} = {printer.doprint(step.expression)}  # ({number}){meaning}")
    results = [_assembled(argument.shape, [str(symbol) for symbol in symbols]) for argument, symbols in found.results]
    body += ["", f"return {', '.join(results)}"]
    code = "\n".join(f"    {line}".rstrip() for line in body)
    needed = "".join(f"import {module}\n" for module in ("functools", "numpy") if f"{module}." in code)
    head = f'"""{found.robot.name}: the recursion of {found.name}."""\n\n{needed}\n\n'
    return f"{head}def {found.name}({signature}):\n{code}\n"


FORMATS: dict[str, Write] = {
    "text": text, "latex": in_latex, "markdown": markdown, "typst": in_typst, "python": python,
}  # fmt: skip


def _assembled(shape: Sequence[int], names: Sequence[str]) -> str:
    """Numbers as an array, behind the axes of a batch."""
    if not shape:
        return names[0]
    stacked = f"numpy.stack(numpy.broadcast_arrays({', '.join(names)}), axis=-1)"
    return stacked if len(shape) == 1 else f"{stacked}.reshape(*{stacked}.shape[:-1], {', '.join(map(str, shape))})"


def _numbered(found: Recursion) -> Iterator[tuple[Stage, list[int]]]:
    """Stages with the numbers of their equations, from 1."""
    first = 1
    for stage in found.stages:
        yield stage, list(range(first, first + len(stage.steps)))
        first += len(stage.steps)


def _rounded(expression: sympy.Expr, digits: int) -> sympy.Expr:
    """Decimal numbers with that many digits."""
    return expression.xreplace({number: sympy.Float(float(number), digits) for number in expression.atoms(sympy.Float)})


def _legend(stage: Stage, show: Callable[[Sign], str], escaped: Callable[[str], str] = str) -> list[str]:
    """One sentence about the vectors of a stage: each letter with its frame and meaning."""
    said: dict[str, str] = {}
    for step in stage.steps:
        if step.meaning:
            said.setdefault(show(Sign(step.sign.letter, step.sign.index[:-1])), step.meaning)
    return ["; ".join(f"{sign} {escaped(meaning)}" for sign, meaning in said.items()) + "."] if said else []


def _symbols_in_markdown(found: Recursion) -> str:
    rows = symbol_rows(found.robot, found.coordinates, found.notation)
    table = ["| symbol | unit | value | meaning |", "|---|---|---|---|"]
    table += [f"| ${latex.latex_sign(row.sign)}$ | {row.unit} | {row.value} | {row.meaning} |" for row in rows]
    return "\n".join(table) if rows else ""


def _frames(found: Recursion) -> str:
    """The numbers of the frames, and the symbols without a meaning of their own."""
    named = "Frames: " + ", ".join(f"{k} ({name})" for k, name in enumerate(found.frames, start=1)) + "."
    auxiliary = any(step.sign.letter == AUXILIARY and not step.meaning for stage in found.stages for step in stage.steps)
    return f"{named} {AUXILIARY}1, {AUXILIARY}2, ... are auxiliary." if auxiliary else named
