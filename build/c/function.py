"""Prints a program as the body of a C function: straight-line code, with loops where many columns have one pattern.

The straight-line part puts what the columns start from into an array of the function's own, what they share into another,
and reads what they have made. One static function for each loop takes all columns through the step.
"""

from __future__ import annotations

from collections.abc import Iterable

from elastogen.build.c.body import FunctionBody, Loops, Part, Printer
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.build.c.loops.column_loop import print_loop
from elastogen.build.c.loops.column_memory import COLUMNS, ColumnMemory
from elastogen.build.c.loops.copies import Copy, copies
from elastogen.build.c.loops.direct_results import direct_results
from elastogen.build.c.loops.isomorphic_subtrees import together
from elastogen.build.c.schedule import LoopCall, Store
from elastogen.build.c.tables.constants import is_constant, print_constants
from elastogen.build.c.tables.pool import Pool
from elastogen.build.c.tables.printer import print_in_tables
from elastogen.generator.program.columns import SHARED
from elastogen.generator.program.program import InLoops, Program
from elastogen.runtime.interface.argument import Argument


def print_body(
    program: Program, name: str, dialect: Dialect, live: Iterable[str] = (), pool: Pool | None = None
) -> FunctionBody:
    """Print ``program`` as the body of ``<prefix>_<name>``; ``live`` are the names of the live parameters.

    Constant tables go into the ``pool``; without one, or in lanes, isomorphic sums are printed one by one.
    """
    symbol, names = f"{dialect.prefix}_{name}", frozenset(live)
    if pool is not None and program.in_tables is not None and not dialect.lanes:
        return print_in_tables(program.in_tables, symbol, dialect, names, pool)
    if pool is not None and program.modes and is_constant(program) and not dialect.lanes:
        return print_constants(program, dialect, pool)
    chosen = program.in_loops or InLoops(program.graph, program.outputs, program.pivots, ())
    if program.branches and not dialect.lanes:
        chosen = together(chosen, program.branches, dialect.real, None if program.in_loops else program.flipped)
    if not chosen.columns or dialect.lanes:
        return Printer(program, symbol, dialect, names).run()
    loops, starts = _loops(chosen, symbol, dialect)
    outputs = [*chosen.outputs, (Argument("starts", (len(starts),), "", ""), starts)]
    straight = Program(chosen.graph, program.inputs, outputs, chosen.pivots)
    straight.otherwise = program.otherwise
    return Printer(straight, symbol, dialect, names, loops).run()


def _loops(program: InLoops, symbol: str, dialect: Dialect) -> tuple[Loops, list[int]]:
    """Return the loops, and the values that they start from."""
    direct, real = direct_results(program), dialect.real_type
    memory = ColumnMemory(program, direct)
    shared: dict[int, int] = {}  # the place of every value that columns share
    calls, texts, parts = list[LoopCall](), list[str](), list[Part]()
    for number, columns in enumerate(program.columns):
        stores = [Store(COLUMNS, place, ref) for place, ref in memory.starts[number]]
        new = [ref for ref in columns.shared if ref not in shared]
        stores += [Store(SHARED, len(shared) + k, ref) for k, ref in enumerate(new)]
        shared |= {ref: len(shared) + k for k, ref in enumerate(new)}
        calls.append(LoopCall(number, tuple(stores)))
    for number in range(len(program.columns)):
        parts.append(print_loop(memory, number, shared, f"{symbol}_loop{number + 1}", dialect))
        texts.append(f"{parts[-1].name}({', '.join(parts[-1].arguments)});")
    sizes = ((COLUMNS, memory.size), (SHARED, len(shared)))
    arrays = tuple(Argument(name, (size,), "", "") for name, size in sizes if size)
    declarations = [f"{INDENT}{real} {array.name}[{array.size}];" for array in arrays]
    for first, end in memory.zeroed:
        each = f"{COLUMNS}[i] = {literal(0.0, dialect.real)};"
        declarations.append(f"{INDENT}for (int i = {first}; i < {end}; ++i) {{ {each} }}")
    found = [
        Copy(argument.name, index, COLUMNS, memory.places[ref >> 1], bool(ref & 1))
        for argument, refs in program.outputs
        for index, ref in enumerate(refs)
        if ref >> 1 in memory.places and (argument.name, index) not in direct.elements
    ]
    places = dict.fromkeys(memory.nowhere, "")
    places |= {node: f"{COLUMNS}[{place}]" for node, place in memory.places.items()}
    starts = [store.ref for call in calls for store in call.stores]
    arguments = tuple(part.arguments for part in parts)
    results = tuple(copies(found))
    loops = Loops(arrays, tuple(declarations), tuple(calls), tuple(texts), places, tuple(parts), arguments, results)
    return loops, starts
