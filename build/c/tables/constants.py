"""Prints a function with constant results, such as a stiffness matrix: rows of a table, zeros elsewhere."""

from __future__ import annotations

from itertools import groupby

from elastogen.build.c.body import FunctionBody
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.build.c.tables.pool import Pool
from elastogen.build.c.tables.printer import NUMBERS
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program

SHORTEST = 4  # numbers that are worth a loop


def is_constant(program: Program) -> bool:
    """Whether the function has only constant results, and enough of them."""
    numbers = [ref for _, refs in program.outputs for ref in refs if ref]
    return len(numbers) > SHORTEST and all(program.graph.op[ref >> 1] is Op.CONSTANT for ref in numbers)


def print_constants(program: Program, dialect: Dialect, pool: Pool) -> FunctionBody:
    """Print the body: set results to zero, then copy runs of other numbers."""
    lines = [f"{INDENT}(void){name};" for name in ("p", *(argument.name for argument in program.inputs))]
    lines.append(f"{INDENT}const {dialect.real_type} *const {NUMBERS} = {pool.number};")
    for argument, refs in program.outputs:
        zero = literal(0.0, dialect.real)
        lines.append(f"{INDENT}for (int i = 0; i < {argument.size}; ++i) {{ {argument.name}[i] = {zero}; }}")
        row: tuple[float, ...]
        for filled, run in groupby(enumerate(refs), key=lambda entry: bool(entry[1])):
            numbered = list(run)
            if filled:
                first, row = numbered[0][0], tuple(program.graph.constant_of(ref) or 0.0 for _, ref in numbered)
                place, step, _ = pool.number_row(row, as_it_is=True)
                source = f"{NUMBERS}[{place} {'+' if step == 1 else '-'} i]"
                lines.append(f"{INDENT}for (int i = 0; i < {len(row)}; ++i) {{ {argument.name}[{first} + i] = {source}; }}")
    return FunctionBody(tuple(lines))
