"""Prints a program as the body of a C function: straight on, and where many columns are computed alike, these as loops.

The straight-line part leaves what the columns start from in an array of the function's own, row by row, and what they share in
another. One static function a group of columns runs over the columns: each iteration takes one through the step, in place. The
trip count is a multiple of four, so that compilers make vectors of it without further ado.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from elastogen.build.c.body import Dialect, FunctionBody, Part, Printer, Tail
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.generator.program.columns import Columns
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

LANES = 4  # of which the number of columns is made a multiple


def print_body(program: Program, name: str, dialect: Dialect, live: Iterable[str] = ()) -> FunctionBody:
    """Print ``program`` as the body of ``<prefix>_<name>``; ``live`` are the names of the live parameters."""
    symbol, names = f"{dialect.prefix}_{name}", frozenset(live)
    if not program.columns or dialect.lanes:
        return Printer(program, symbol, dialect, names).run()
    return Printer(_first_part(program), symbol, dialect, names, _tail(program, symbol, dialect)).run()


def _width(columns: Columns) -> int:
    return -(-len(columns.columns) // LANES) * LANES


def _first_part(program: Program) -> Program:
    """What is computed straight on: all other outputs, and what the columns start from."""
    looped = {output for columns in program.columns for output, _ in columns.columns}
    outputs = [pair for k, pair in enumerate(program.outputs) if k not in looped]
    for number, columns in enumerate(program.columns, 1):
        width = _width(columns)
        start = [0] * (width * len(columns.rows))
        for place, row in zip(columns.places, columns.given, strict=True):
            start[place * width : place * width + len(row)] = row
        outputs.append((Argument(f"columns{number}", (len(start),), "", ""), tuple(start)))
        outputs.append((Argument(f"shared{number}", (len(columns.shared),), "", ""), columns.shared))
    return Program(program.graph, program.inputs, outputs, program.pivots)


def _tail(program: Program, symbol: str, dialect: Dialect) -> Tail:
    """The loops over the columns, and their results into the outputs."""
    real, declarations, parts, lines = dialect.real_type, list[str](), list[Part](), list[str]()
    outputs = tuple(argument for argument, _ in program.outputs)
    covered = dict.fromkeys((output for columns in program.columns for output, _ in columns.columns), 0)
    for columns in program.columns:
        for output, _ in columns.columns:
            covered[output] += len(columns.rows)
    for output, count in sorted(covered.items()):
        if count < outputs[output].size:
            each = f"{outputs[output].name}[i] = {literal(0.0, dialect.real)};"
            lines.append(f"{INDENT}for (int i = 0; i < {outputs[output].size}; ++i) {{ {each} }}")
    for number, columns in enumerate(program.columns, 1):
        array, width = f"columns{number}", _width(columns)
        declarations.append(f"{INDENT}{real} {array}[{len(columns.rows) * width}];")
        declarations.append(f"{INDENT}{real} shared{number}[{len(columns.shared)}];")
        parts.append(_loop(columns, f"{symbol}_{array}", dialect))
        lines.append(f"{INDENT}{symbol}_{array}(shared{number}, {array});")
        lines += _copies(columns, array, outputs)
    return Tail(tuple(declarations), tuple(parts), tuple(lines), outputs)


def _copies(columns: Columns, array: str, outputs: Sequence[Argument]) -> list[str]:
    """Loops over neighbouring rows and columns that put the results where they belong."""
    lines, width = [], _width(columns)
    for rows in _runs([(row - place, (place, row)) for place, row in enumerate(columns.rows)]):
        for lanes in _runs([((o, column - lane), (lane, o, column)) for lane, (o, column) in enumerate(columns.columns)]):
            (place, row), (lane, output, column) = rows[0], lanes[0]
            n = outputs[output].shape[1]
            to, start = (
                f"{outputs[output].name}[(r * {n}) + i + {row * n + column}]",
                f"{INDENT}for (int r = 0; r < {len(rows)}; ++r) {{",
            )
            lines += [start, f"{2 * INDENT}for (int i = 0; i < {len(lanes)}; ++i) {{"]
            lines.append(f"{3 * INDENT}{to} = {array}[(r * {width}) + i + {place * width + lane}];")
            lines += [f"{2 * INDENT}}}", f"{INDENT}}}"]
    return lines


Item = TypeVar("Item")


def _runs(items: Iterable[tuple[Hashable, Item]]) -> list[list[Item]]:
    """Neighbours with the same key, without the keys."""
    return [[item for _, item in group] for _, group in groupby(items, lambda pair: pair[0])]


class _Step(Printer):
    """Prints the step, whose results go into the array of columns."""

    def __init__(self, columns: Columns, symbol: str, dialect: Dialect) -> None:
        self.width = _width(columns)
        inputs = [
            Argument(name, (size,), "", "") for name, size in (("given", len(columns.rows)), ("shared", len(columns.shared)))
        ]
        program = Program(columns.step, inputs, [(Argument("solved", (len(columns.rows),), "", ""), columns.results)])
        super().__init__(program, symbol, dialect, frozenset())
        self.leaf_text = {node: text.replace("[", "").replace("]", "") for node, text in self.leaf_text.items()}

    def element(self, output: str, index: int) -> str:
        """Row by row, this column."""
        return f"columns[i + {index * self.width}]"

    def inputs(self, name: str) -> list[int]:
        """Numbers of the inputs of that name that the step reads."""
        labels = (self.graph.label[node] for node in self.program.order if self.graph.op[node] is Op.INPUT)
        return sorted(int(label[len(name) + 1 : -1]) for label in labels if label.startswith(f"{name}["))


def _loop(columns: Columns, name: str, dialect: Dialect) -> Part:
    real, step = dialect.real_type, _Step(columns, name, dialect)
    lines = [f"{INDENT}const {real} shared{k} = shared[{k}];" for k in step.inputs("shared")]
    lines.append(f"{INDENT}for (int i = 0; i < {step.width}; ++i) {{")
    lines += [f"{2 * INDENT}const {real} given{k} = columns[i + {k * step.width}];" for k in step.inputs("given")]
    body = step.print_statements(range(len(step.statements)), lambda node: step.leaf_text.get(node) or step.variable[node])
    lines += [INDENT + line for line in body]
    lines.append(f"{INDENT}}}")
    parameters = (f"const {real} shared[{len(columns.shared)}]", f"{real} columns[{len(columns.rows) * step.width}]")
    return Part(name, "Solutions for many columns, in place.", parameters, tuple(lines))
