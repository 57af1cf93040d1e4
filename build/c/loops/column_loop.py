"""Prints a loop over columns as a static function, with vectors of two or four numbers if there are enough columns.

What the step takes and makes stands in the array of columns; what it makes for the outputs alone goes there at once. The
vectors are those of gcc and clang (templates/model/_vectors.j2); elsewhere such a loop goes from column to column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from elastogen.build.c.body import Part, Printer
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.lines import INDENT
from elastogen.build.c.loops.column_memory import COLUMNS, NOWHERE, ColumnMemory, padded
from elastogen.build.c.loops.direct_results import VECTORS, Scatter
from elastogen.build.c.schedule import Statement, Store
from elastogen.generator.program.columns import GIVEN, SHARED, Columns
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

NUMBERS = "numbers"  # constants, one for each column

Target = int | Scatter
"""Where a result goes: a place in the array of columns, or elements of an output or of that array."""


def print_loop(memory: ColumnMemory, number: int, shared: Mapping[int, int], name: str, dialect: Dialect) -> Part:
    """Print the loop with that number; ``shared`` are the places of the values that its columns share."""
    columns, real = memory.program.columns[number], dialect.real_type
    targets = _targets(memory, number)
    step = _Step(columns, targets, name, dialect, [argument.name for argument, _ in memory.program.outputs])
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
    lines.append(f"{INDENT}{step.each}")
    loads: dict[int, str] = {}
    for k, node in step.inputs(GIVEN).items():
        array, place = (f"{NUMBERS}[{numbers.index(k)}]", 0) if k in numbers else (COLUMNS, memory.given[number][k])
        loads[node] = f"const {step.value_type} {GIVEN}{k} = {step.columns_at(array, place)};"
    if not step.lanes:  # results may take the places of what was given
        lines += [2 * INDENT + line for line in loads.values()]
    lines += [INDENT + line for line in step.print_all(loads if step.lanes else {})]
    lines.append(f"{INDENT}}}")
    parameters = {SHARED: f"const {real} {SHARED}[{len(shared)}]"} if columns.shared else {}
    parameters[COLUMNS] = f"{real} {COLUMNS}[{memory.size}]"
    written = {target.output for _, target in targets if isinstance(target, Scatter)}
    for argument, _ in memory.program.outputs:
        if argument.name in written:
            parameters[argument.name] = f"{real} {argument.name}[{argument.size}]"
    comment = "One operation after the other for all columns."
    if step.lanes:
        comment = "All columns side by side; names and remarks are those of the first one."
    return Part(name, comment, tuple(parameters.values()), tuple(lines), tuple(parameters), step.lanes)


def _targets(memory: ColumnMemory, number: int) -> list[tuple[int, Target]]:
    """Return numbers of results, each with one target."""
    targets: list[tuple[int, Target]] = []
    for r in range(len(memory.program.columns[number].results)):
        scatters = (*memory.direct.scatters.get((number, r), ()), *memory.scatters.get((number, r), ()))
        targets += [(r, scatter) for scatter in scatters]
        targets += [(r, memory.results[number, r])] if (number, r) in memory.results else []
    return targets


class _Step(Printer):
    """Prints the step; its results go to their targets."""

    in_derived_order = True  # what is read soon is made late: few values wait, and the code is shorter

    def __init__(
        self,
        columns: Columns,
        targets: Sequence[tuple[int, Target]],
        symbol: str,
        dialect: Dialect,
        outputs: Sequence[str],
    ) -> None:
        inputs = [
            Argument(name, (size,), "", "") for name, size in ((GIVEN, len(columns.given)), (SHARED, len(columns.shared)))
        ]
        results = [columns.results[r] ^ (isinstance(target, Scatter) and target.negative) for r, target in targets]
        self.targets = [target for _, target in targets]
        self.lanes = columns.width if columns.width in VECTORS else 0
        vector = VECTORS.get(columns.width, "")
        self._macro = f"{dialect.prefix.upper()}_{{}}{vector.upper()}"
        self.value_type = f"{dialect.prefix}_{vector}_t" if vector else dialect.real_type
        leaves = (f"{name}{k}" for name, count in ((GIVEN, columns.given), (SHARED, columns.shared)) for k in range(len(count)))
        self.taken = frozenset((COLUMNS, NUMBERS, "lanes", *leaves, *outputs))
        self.each = f"{self._macro.format('EACH_')} {{" if vector else f"for (int i = 0; i < {padded(columns)}; ++i) {{"
        super().__init__(
            Program(columns.step, inputs, [(Argument("solved", (len(results),), "", ""), results)]),
            symbol,
            dialect,
            frozenset(),
        )
        self.leaf_text = {node: text.replace("[", "").replace("]", "") for node, text in self.leaf_text.items()}

    def columns_at(self, array: str, place: int) -> str:
        """Return the values of the columns at that place."""
        return f"{self._macro.format('READ_')}({array}, {place})" if self.lanes else f"{array}[i + {place}]"

    def inputs(self, name: str) -> dict[int, int]:
        """Return numbers and nodes of the inputs of that name that the step reads."""
        labels = {self.graph.label[node]: node for node in self.program.order if self.graph.op[node] is Op.INPUT}
        found = ((int(label[len(name) + 1 : -1]), node) for label, node in labels.items() if label.startswith(f"{name}["))
        return dict(sorted(found))

    def print_all(self, loads: Mapping[int, str]) -> list[str]:
        """Print all statements, each after the ``loads`` that it needs."""
        everything = range(len(self.statements))
        return self.print_statements(everything, lambda node: self.leaf_text.get(node) or self.variable[node], loads=loads)

    def _declare(self, node: int, value: str) -> str:
        return f"const {self.value_type} {self.variable[node]} = {value};"

    def _statement(self, statement: Statement, text: Callable[[int], str]) -> list[str]:
        if not isinstance(statement, Store):
            return super()._statement(statement, text)
        target, value = self.targets[statement.index], self.expressions.reference(statement.ref, text)
        if isinstance(target, Scatter):
            return [f"{self._macro.format('SPREAD_')}({target.output}, {target.first}, {target.step}, {value});"]
        if self.lanes:
            return [f"{self._macro.format('WRITE_')}({COLUMNS}, {target}, {value});"]
        return [f"{COLUMNS}[i + {target}] = {value};"]
