"""Derivatives of values in a graph: forward mode, by inputs and by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elastogen.generator.program.graph import Graph, Op, Value


def _tangent(graph: Graph, node: int, tangent: Mapping[int, int]) -> int:
    """Reference to the derivative of one node, from the derivatives of its operands (absent ones are zero)."""
    op, a, b = graph.op[node], graph.a[node], graph.b[node]
    da = tangent.get(a >> 1, 0)
    da ^= a & 1 if da else 0
    if op is Op.SIN:
        return graph.mul(graph.unary(Op.COS, a), da)
    if op is Op.COS:
        return graph.mul(graph.unary(Op.SIN, a), da) ^ 1 if da else 0
    if op is Op.SQRT:
        return graph.mul(graph.div(da, 2 * node), graph.constant(0.5))
    if op is Op.TANH:
        return graph.mul(da, graph.add(graph.one, graph.mul(2 * node, 2 * node) ^ 1))
    db = tangent.get(b >> 1, 0)
    db ^= b & 1 if db else 0
    if op is Op.ADD:
        return graph.add(da, db)
    if op is Op.MUL:
        if a == b:
            product = graph.mul(a, da)
            return graph.add(product, product)
        return graph.add(graph.mul(da, b), graph.mul(a, db))
    if op is Op.DIV:  # (da - (a/b) db) / b
        correction = graph.mul(2 * node, db)
        return graph.div(graph.add(da, correction ^ 1 if correction else 0), b)
    raise AssertionError(f"no derivative of {op.name}")


def directional(graph: Graph, outputs: Sequence[Value], seeds: Mapping[int, int]) -> list[Value]:
    """Derivative of the outputs along one direction; ``seeds`` maps input nodes to the references of their rates."""
    tangent = {node: ref for node, ref in seeds.items() if ref}
    for node in graph.cone(value.ref for value in outputs):
        if node not in tangent and graph.op[node] > Op.INPUT:
            a, b = graph.a[node] >> 1, graph.b[node] >> 1
            if a in tangent or b in tangent:
                ref = _tangent(graph, node, tangent)
                if ref:
                    tangent[node] = ref
    result = []
    for value in outputs:
        ref = tangent.get(value.ref >> 1, 0)
        result.append(Value(graph, ref ^ (value.ref & 1) if ref else 0))
    return result


def seed(x: Value, rate: int) -> dict[int, int]:
    """The seed of a variable whose rate is a reference; a variable may itself be computed, and have a sign."""
    return {x.ref >> 1: rate ^ (x.ref & 1) if rate else 0} if x.constant is None else {}


def jacobian(graph: Graph, outputs: Sequence[Value], inputs: Sequence[Value]) -> list[list[Value]]:
    """Rows of d outputs / d inputs; by an input that is a constant, nothing changes."""
    columns = [directional(graph, outputs, seed(x, graph.one)) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)]


def time_derivative(
    graph: Graph, outputs: Sequence[Value], motion: Sequence[tuple[Sequence[Value], Sequence[Value]]]
) -> list[Value]:
    """Derivative by time; ``motion`` pairs variables with their rates, (q, qd), (qd, qdd), ..."""
    seeds: dict[int, int] = {}
    for xs, rates in motion:
        for x, rate in zip(xs, rates, strict=True):
            seeds |= seed(x, rate.ref)
    return directional(graph, outputs, seeds)
