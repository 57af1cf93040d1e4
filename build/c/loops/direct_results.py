"""Results of loops that are stored directly in the outputs, without a copy between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from elastogen.generator.program.columns import MADE
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import InLoops

VECTORS = {2: "two", 4: "four"}  # numbers of columns for which a loop is written with vectors, and their names in C

Result = tuple[int, int]
"""Numbers of a loop and of one of its results."""


@dataclass(frozen=True)
class Scatter:
    """The store ``output[first + i * step] = value;`` for the columns i of a result, or their negatives."""

    output: str
    first: int
    step: int
    negative: bool


@dataclass(frozen=True)
class DirectResults:
    """The stores of loops into outputs, and the elements of the outputs that they write."""

    scatters: dict[Result, list[Scatter]]
    elements: frozenset[tuple[str, int]]


def origins(program: InLoops) -> dict[int, tuple[Result, int]]:
    """Return for every node made[k] the result and the column that it stands for."""
    graph, numbers = program.graph, {f"{MADE}[{k}]": key for key, k in _numbers(program)}
    labels = ((node, graph.label[node]) for node in range(len(graph)) if graph.op[node] is Op.INPUT)
    return {node: numbers[label] for node, label in labels if label in numbers}


def _numbers(program: InLoops) -> Iterator[tuple[tuple[Result, int], int]]:
    for number, columns in enumerate(program.columns):
        for r in range(len(columns.results)):
            for c in range(columns.width):
                yield ((number, r), c), columns.first + r * columns.width + c


def direct_results(program: InLoops) -> DirectResults:
    """Find results whose columns are elements of one output at equal distances, such as entries of both arms."""
    origin = origins(program)
    wanted: dict[tuple[Result, str, bool], dict[int, list[int]]] = {}  # elements of an output, by column
    for argument, refs in program.outputs:
        for index, ref in enumerate(refs):
            if ref >> 1 in origin:
                result, column = origin[ref >> 1]
                wanted.setdefault((result, argument.name, bool(ref & 1)), {}).setdefault(column, []).append(index)
    scatters: dict[Result, list[Scatter]] = {}
    elements: set[tuple[str, int]] = set()
    for (result, output, negative), found in wanted.items():
        width = program.columns[result[0]].width
        if width in VECTORS and len(found) == width:
            for indices in zip(*(found[column] for column in range(width)), strict=False):
                steps = {after - before for before, after in pairwise(indices)}
                if len(steps) == 1:
                    scatters.setdefault(result, []).append(Scatter(output, indices[0], steps.pop(), negative))
                    elements |= {(output, index) for index in indices}
    return DirectResults(scatters, frozenset(elements))
