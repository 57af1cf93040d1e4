"""Evaluation of a graph, node by node, in any arithmetic: arrays, jets, numbers of many digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.operations import ELEMENTARY


@dataclass(frozen=True)
class Arithmetic:
    """Numbers with + - * / and unary minus: the conversion of constants to such numbers, and functions of them."""

    constant: Callable[[float], Any]
    functions: Mapping[Op, Callable[..., Any]]  # SELECT too: of (decides, x, y)


class Results:
    """The values of all nodes."""

    def __init__(self) -> None:
        self.of_node: dict[int, Any] = {}

    def read(self, ref: int) -> Any:
        """Return the value of a reference."""
        return -self.of_node[ref >> 1] if ref & 1 else self.of_node[ref >> 1]


def interpret(graph: Graph, order: Iterable[int], environment: Mapping[str, Any], arithmetic: Arithmetic) -> Results:
    """Evaluate nodes in topological order; ``environment`` holds the values of the inputs by their labels."""
    results = Results()
    read, of_node = results.read, results.of_node
    for node in order:
        op = graph.op[node]
        if op is Op.CONSTANT:
            of_node[node] = arithmetic.constant(graph.number[node])
        elif op is Op.INPUT:
            of_node[node] = environment[graph.label[node]]
        elif op is Op.ADD:
            of_node[node] = read(graph.a[node]) + read(graph.b[node])
        elif op is Op.MUL:
            of_node[node] = read(graph.a[node]) * read(graph.b[node])
        elif op is Op.DIV:
            of_node[node] = read(graph.a[node]) / read(graph.b[node])
        else:
            of_node[node] = arithmetic.functions[op](*(read(ref) for ref in graph.operands(node)))
    return results


def _select(decides: Any, x: Any, y: Any) -> Any:
    return np.where(np.asarray(decides) < 0.0, x, y)


DOUBLES = Arithmetic(float, {Op.SELECT: _select, **{op: known.array for op, known in ELEMENTARY.items()}})
"""Floating point numbers and numpy arrays of them."""
