"""Replaces inputs of values by other values, and copies values to a graph of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.names import keep_label


def substitute(graph: Graph, values: Sequence[Value], replacement: Mapping[int, int]) -> list[Value]:
    """Return the values with input nodes replaced by references."""
    renamed: dict[int, int] = dict(replacement)
    for node in graph.cone(value.ref for value in values):
        if node not in renamed:
            renamed[node] = _again(graph, graph, node, renamed) if graph.op[node] > Op.INPUT else 2 * node
    return [Value(graph, _signed(renamed, value.ref)) for value in values]


def replacing(variables: Sequence[Value], values: Sequence[Value]) -> dict[int, int]:
    """What :func:`substitute` takes to put values in the place of variables, which may themselves be computed."""
    pairs = zip(variables, values, strict=True)
    return {x.ref >> 1: y.ref ^ (x.ref & 1) if y.ref else 0 for x, y in pairs if x.constant is None}


def extract(graph: Graph, refs: Sequence[int]) -> tuple[Graph, list[int]]:
    """Return a new graph with only what the references need, and the references in it."""
    small = Graph()
    small.sections, small.literal = dict(graph.sections), graph.literal
    op, label = graph.op, graph.label
    renamed: dict[int, int] = {}
    for node in graph.cone(refs):
        kind = op[node]
        if kind is Op.CONSTANT:
            renamed[node] = small.constant(graph.number[node])
        elif kind is Op.INPUT:
            renamed[node] = small.input(label[node]).ref
        else:
            small.enter_section(graph.section_of[node])
            renamed[node] = _again(graph, small, node, renamed)
            if label[node]:
                keep_label(small, renamed[node], label[node])
    small.enter_section("")
    return small, [_signed(renamed, ref) for ref in refs]


def transplant(source: Graph, values: Sequence[Value], target: Graph, known: Mapping[str, Value]) -> list[Value]:
    """Copy values to another graph; inputs with these labels become known values there, others stay inputs."""
    renamed: dict[int, int] = {}
    for node in source.cone(value.ref for value in values):
        kind = source.op[node]
        if kind is Op.CONSTANT:
            renamed[node] = target.constant(source.number[node])
        elif kind is Op.INPUT:
            label = source.label[node]
            renamed[node] = known[label].ref if label in known else target.input(label).ref
        else:
            renamed[node] = _again(source, target, node, renamed)
    return [Value(target, _signed(renamed, value.ref)) for value in values]


def _signed(renamed: Mapping[int, int], ref: int) -> int:
    found = renamed[ref >> 1]
    return found ^ (ref & 1) if found else 0


def _again(source: Graph, target: Graph, node: int, renamed: Mapping[int, int]) -> int:
    """Repeat a node's operation on renamed operands."""
    op = source.op[node]
    if op is Op.MUL:
        found = target.mul(_signed(renamed, source.a[node]), _signed(renamed, source.b[node]))
    elif op is Op.ADD:
        found = target.add(_signed(renamed, source.a[node]), _signed(renamed, source.b[node]))
    else:
        found = target.apply(op, [_signed(renamed, ref) for ref in source.operands(node)])
    if node in source.smooth:
        target.smooth.add(found >> 1)
    return found
