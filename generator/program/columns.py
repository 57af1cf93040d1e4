"""Results that are one small program, the step, for each of many columns: its C is a loop, of which compilers make vectors.

While a program is derived, inputs of the graph named made[k] stand for what the loops make; a loop may start from what others
have made. :func:`expanded` puts the operations in their place: what counts, is evaluated, and printed where there are no loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from elastogen.generator.program.graph import Graph, Op, Value

GIVEN, SHARED, MADE = "given", "shared", "made"


@dataclass(frozen=True)
class Columns:
    """A loop over columns, from values of each column and values that all of them share."""

    step: Graph  # with the inputs given[k] and shared[k]
    results: tuple[int, ...]  # references in the step
    given: tuple[tuple[int, ...], ...]  # for each given[k] the values of all columns: references in the program
    shared: tuple[int, ...]  # references in the program
    first: int  # made[first + r * width + c] is result r of column c
    section: str

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.given[0])

    @property
    def refs(self) -> list[int]:
        """Return all references in the program."""
        return [*(ref for row in self.given for ref in row), *self.shared]

    def renamed(self, refs: Sequence[int]) -> Columns:
        """Return the same with other references, in the order of :attr:`refs`."""
        count = self.width * len(self.given)
        given = tuple(tuple(refs[start : start + self.width]) for start in range(0, count, self.width))
        return replace(self, given=given, shared=tuple(refs[count:]))


@dataclass
class Loops:
    """The loops of a program that is being derived, each after those whose results it starts from."""

    graph: Graph
    columns: list[Columns] = field(default_factory=list)
    made: int = 0

    def over(self, given: Sequence[Sequence[Value]], step: Callable[[list[Value]], Sequence[Value]]) -> list[list[Value]]:
        """Return every result of the step in all columns; ``given`` are rows with one value for each column."""
        graph, width = self.graph, len(given[0])
        isomorphic = [len({value.ref for value in row}) == 1 for row in given]
        own = [row for row, same in zip(given, isomorphic, strict=True) if not same]
        variables = iter([graph.input(f"{GIVEN}[{k}]") for k in range(len(own))])
        results = step([row[0] if same else next(variables) for row, same in zip(given, isomorphic, strict=True)])
        small, refs, shared = _cut(graph, [value.ref for value in results])
        rows = tuple(tuple(value.ref for value in row) for row in own)
        kept = tuple(ref for ref in refs if ref is not None)
        if kept:
            self.columns.append(Columns(small, kept, rows, shared, self.made, graph.current_section))
        answers: list[list[Value]] = []
        for value, ref in zip(results, refs, strict=True):
            if ref is None:
                answers.append([value] * width)
            else:
                answers.append([graph.input(f"{MADE}[{self.made + c}]") for c in range(width)])
                self.made += width
        return answers


def _cut(graph: Graph, refs: Sequence[int]) -> tuple[Graph, list[int | None], tuple[int, ...]]:
    """What of the values depends on given[k], in a graph of its own, and the references that it reads beside these.

    None stands for a value that does not.
    """
    step, shared, renamed = Graph(), dict[int, int](), dict[int, int]()
    order = graph.cone(refs)
    depends = {node for node in order if graph.op[node] is Op.INPUT and graph.label[node].startswith(f"{GIVEN}[")}
    for node in order:
        if any(ref >> 1 in depends for ref in graph.operands(node)):
            depends.add(node)

    def read(ref: int) -> int:
        node = ref >> 1
        if node not in renamed:
            if graph.op[node] is Op.CONSTANT:
                renamed[node] = step.constant(graph.number[node])
            else:
                renamed[node] = step.input(f"{SHARED}[{len(shared)}]").ref
                shared[node] = 2 * node
        found = renamed[node]
        return found ^ (ref & 1) if found else 0

    for node in order:
        if node in depends:
            if graph.op[node] is Op.INPUT:
                renamed[node] = step.input(graph.label[node]).ref
            else:
                renamed[node] = step.apply(graph.op[node], [read(ref) for ref in graph.operands(node)])
    return step, [read(ref) if ref >> 1 in depends else None for ref in refs], tuple(shared.values())


def expanded(graph: Graph, refs: Sequence[int], loops: Sequence[Columns]) -> list[int]:
    """Return references in the same graph with the operations of the loops in place of made[k]: the same bits."""
    graph.literal = True
    made: dict[str, int] = {}
    for columns in loops:
        plain = _replaced(graph, columns.refs, made)
        columns = columns.renamed(plain)
        with graph.section(columns.section):
            _apply(graph, columns, made)
    return _replaced(graph, refs, made)


def _apply(graph: Graph, columns: Columns, made: dict[str, int]) -> None:
    order = columns.step.cone(columns.results)
    shared = {f"{SHARED}[{k}]": ref for k, ref in enumerate(columns.shared)}
    for c in range(columns.width):
        inputs = shared | {f"{GIVEN}[{k}]": row[c] for k, row in enumerate(columns.given)}
        renamed = _again(columns.step, graph, order, inputs)
        for r, ref in enumerate(columns.results):
            made[f"{MADE}[{columns.first + r * columns.width + c}]"] = _signed(renamed, ref)


def _replaced(graph: Graph, refs: Sequence[int], made: Mapping[str, int]) -> list[int]:
    """Return the references with the inputs of these names replaced."""
    order = graph.cone(refs)
    touched = {node for node in order if graph.op[node] is Op.INPUT and graph.label[node] in made}
    renamed: dict[int, int] = {}
    for node in order:
        if node in touched:
            renamed[node] = made[graph.label[node]]
        elif any(ref >> 1 in touched for ref in graph.operands(node)):
            touched.add(node)
            with graph.section(graph.section_of[node]):
                renamed[node] = graph.apply(graph.op[node], [_signed(renamed, ref) for ref in graph.operands(node)])
        else:
            renamed[node] = 2 * node
    return [_signed(renamed, ref) for ref in refs]


def _again(source: Graph, target: Graph, order: Sequence[int], inputs: Mapping[str, int]) -> dict[int, int]:
    renamed: dict[int, int] = {}
    for node in order:
        op = source.op[node]
        if op is Op.CONSTANT:
            renamed[node] = target.constant(source.number[node])
        elif op is Op.INPUT:
            renamed[node] = inputs[source.label[node]]
        else:
            renamed[node] = target.apply(op, [_signed(renamed, ref) for ref in source.operands(node)])
    return renamed


def _signed(renamed: Mapping[int, int], ref: int) -> int:
    found = renamed[ref >> 1]
    return found ^ (ref & 1) if found else 0
