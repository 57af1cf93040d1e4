"""Prints a program as the body of a C function: straight on, and where many columns are computed alike, these as loops.

The straight-line part puts what the columns start from into an array of the function's own, what they share into another,
and reads what they have made. One static function for each loop takes all columns through the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from elastogen.build.c.alike_branches import together
from elastogen.build.c.body import Dialect, FunctionBody, Loops, Part, Printer
from elastogen.build.c.column_memory import NOWHERE, ColumnMemory, padded
from elastogen.build.c.copies import Copy, copies
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.build.c.schedule import LoopCall, Store
from elastogen.generator.program.columns import GIVEN, SHARED, Columns
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import InLoops, Program
from elastogen.runtime.interface.argument import Argument

NUMBERS = "numbers"  # constants, one for each column
COLUMNS = "columns"  # the array with everything that the columns start from and make


def print_body(program: Program, name: str, dialect: Dialect, live: Iterable[str] = ()) -> FunctionBody:
    """Print ``program`` as the body of ``<prefix>_<name>``; ``live`` are the names of the live parameters."""
    symbol, names = f"{dialect.prefix}_{name}", frozenset(live)
    chosen = program.in_loops or InLoops(program.graph, program.outputs, program.pivots, ())
    if program.branches and not dialect.lanes:
        chosen = together(chosen, program.branches)
    if not chosen.columns or dialect.lanes:
        return Printer(program, symbol, dialect, names).run()
    loops, starts = _loops(chosen, symbol, dialect)
    outputs = [*chosen.outputs, (Argument("starts", (len(starts),), "", ""), starts)]
    straight = Program(chosen.graph, program.inputs, outputs, chosen.pivots)
    return Printer(straight, symbol, dialect, names, loops).run()


def _loops(program: InLoops, symbol: str, dialect: Dialect) -> tuple[Loops, list[int]]:
    """The loops, and the values that they start from."""
    memory, real = ColumnMemory(program), dialect.real_type
    shared: dict[int, int] = {}  # the place of every value that columns share
    calls, texts, parts = list[LoopCall](), list[str](), list[Part]()
    for number, columns in enumerate(program.columns):
        stores = [Store(COLUMNS, place, ref) for place, ref in memory.starts[number]]
        new = [ref for ref in columns.shared if ref not in shared]
        stores += [Store(SHARED, len(shared) + k, ref) for k, ref in enumerate(new)]
        shared |= {ref: len(shared) + k for k, ref in enumerate(new)}
        calls.append(LoopCall(number, tuple(stores)))
    for number, columns in enumerate(program.columns):
        parts.append(_loop(memory, number, shared, f"{symbol}_loop{number + 1}", dialect))
        texts.append(f"{parts[-1].name}({', '.join((*([SHARED] if columns.shared else []), COLUMNS))});")
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
        if ref >> 1 in memory.places
    ]
    places = {node: f"{COLUMNS}[{place}]" for node, place in memory.places.items()}
    starts = [store.ref for call in calls for store in call.stores]
    loops = Loops(arrays, tuple(declarations), tuple(calls), tuple(texts), places, tuple(parts), tuple(copies(found)))
    return loops, starts


class _Step(Printer):
    """Prints the step, whose results go into the array of columns."""

    def __init__(self, columns: Columns, places: Sequence[tuple[int, int]], symbol: str, dialect: Dialect) -> None:
        inputs = [
            Argument(name, (size,), "", "") for name, size in ((GIVEN, len(columns.given)), (SHARED, len(columns.shared)))
        ]
        results = [columns.results[r] for r, _ in places]
        self.places = [place for _, place in places]
        super().__init__(
            Program(columns.step, inputs, [(Argument("solved", (len(results),), "", ""), results)]),
            symbol,
            dialect,
            frozenset(),
        )
        self.leaf_text = {node: text.replace("[", "").replace("]", "") for node, text in self.leaf_text.items()}

    def element(self, output: str, index: int) -> str:
        """Row by row, this column."""
        return f"{COLUMNS}[i + {self.places[index]}]"

    def inputs(self, name: str) -> list[int]:
        """Numbers of the inputs of that name that the step reads."""
        labels = (self.graph.label[node] for node in self.program.order if self.graph.op[node] is Op.INPUT)
        return sorted(int(label[len(name) + 1 : -1]) for label in labels if label.startswith(f"{name}["))


def _loop(memory: ColumnMemory, number: int, shared: Mapping[int, int], name: str, dialect: Dialect) -> Part:
    columns, real = memory.program.columns[number], dialect.real_type
    places = [(r, memory.results[number, r]) for r in range(len(columns.results)) if (number, r) in memory.results]
    step = _Step(columns, places, name, dialect)
    numbers = [k for k in step.inputs(GIVEN) if memory.given[number][k] == NOWHERE]
    lines = list[str]()
    if numbers:
        lines += [f"{INDENT}static const {real} {NUMBERS}[{len(numbers)}][{padded(columns)}] = {{"]
        for k in numbers:
            row = (memory.program.graph.constant_of(ref) or 0.0 for ref in columns.given[k])
            values = [*(literal(value, dialect.real) for value in row), *["0"] * (padded(columns) - columns.width)]
            lines.append(f"{2 * INDENT}{{{', '.join(values)}}},")
        lines.append(f"{INDENT}}};")
    lines += [f"{INDENT}const {real} {SHARED}{k} = {SHARED}[{shared[columns.shared[k]]}];" for k in step.inputs(SHARED)]
    if columns.width == 2:
        lines += [f"{INDENT}const int count = {dialect.prefix.upper()}_TWICE;", f"{INDENT}{dialect.prefix.upper()}_VECTORS"]
    lines.append(f"{INDENT}for (int i = 0; i < {'count' if columns.width == 2 else padded(columns)}; ++i) {{")
    for k in step.inputs(GIVEN):
        place = f"{NUMBERS}[{numbers.index(k)}][i]" if k in numbers else f"{COLUMNS}[i + {memory.given[number][k]}]"
        lines.append(f"{2 * INDENT}const {real} {GIVEN}{k} = {place};")
    body = step.print_statements(range(len(step.statements)), lambda node: step.leaf_text.get(node) or step.variable[node])
    lines += [INDENT + line for line in body]
    lines.append(f"{INDENT}}}")
    parameters = [f"const {real} {SHARED}[{len(shared)}]"] if columns.shared else []
    parameters.append(f"{real} {COLUMNS}[{memory.size}]")
    return Part(name, "One operation after the other for all columns.", tuple(parameters), tuple(lines))
