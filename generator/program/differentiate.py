"""Derivatives of values in a graph: forward, by inputs and by time, and backward, of a weighted sum by all inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.operations import KINKS
from elastogen.generator.program.partials import partials


def _tangent(graph: Graph, node: int, tangent: Mapping[int, int]) -> int:
    """Return the derivative of one node from the derivatives of its operands (absent ones are zero)."""
    op, a, b = graph.op[node], graph.a[node], graph.b[node]
    da = tangent.get(a >> 1, 0)
    da ^= a & 1 if da else 0
    if op is Op.SIN:
        return graph.mul(graph.unary(Op.COS, a), da)
    if op is Op.COS:
        return graph.mul(graph.unary(Op.SIN, a), da) ^ 1 if da else 0
    if op is Op.SQRT:
        return graph.mul(da, graph.div(graph.constant(0.5), 2 * node)) if da else 0  # one division for all directions
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
    return _chain(graph, node, tangent)


def _chain(graph: Graph, node: int, tangent: Mapping[int, int]) -> int:
    """Return the sum over the operands of each partial derivative times the operand's own; a selection chooses one."""
    rates = []
    for ref in graph.operands(node):
        rate = tangent.get(ref >> 1, 0)
        rates.append(rate ^ (ref & 1) if rate else 0)
    if graph.op[node] is Op.SELECT:  # what is not chosen may be infinite
        return graph.select(graph.a[node], rates[1], rates[2])
    if graph.op[node] is Op.ABS:
        return graph.select(graph.a[node], rates[0] ^ 1, rates[0]) if rates[0] else 0
    total = 0
    for partial, rate in zip(partials(graph, node), rates, strict=True):
        total = graph.add(total, graph.mul(partial, rate)) if rate else total
    return total


def directional(graph: Graph, outputs: Sequence[Value], seeds: Mapping[int, int]) -> list[Value]:
    """Return the derivative of the outputs along one direction; ``seeds`` maps input nodes to references of their rates."""
    return _along(graph, graph.cone(value.ref for value in outputs), outputs, seeds)


def _along(graph: Graph, cone: Sequence[int], outputs: Sequence[Value], seeds: Mapping[int, int]) -> list[Value]:
    """Return the same together with the nodes that the outputs need."""
    tangent = {node: ref for node, ref in seeds.items() if ref}
    first, second, third = graph.a, graph.b, graph.c  # -1 where there is no such operand: -1 >> 1 is not a node
    for node in cone:
        moves = first[node] >> 1 in tangent or second[node] >> 1 in tangent or third[node] >> 1 in tangent
        if moves and node not in tangent:
            ref = _tangent(graph, node, tangent)
            if ref:
                tangent[node] = ref
    result = []
    for value in outputs:
        ref = tangent.get(value.ref >> 1, 0)
        result.append(Value(graph, ref ^ (value.ref & 1) if ref else 0))
    return result


def seed(x: Value, rate: int) -> dict[int, int]:
    """Return the seed of a variable whose rate is a reference; a variable may itself be computed, and have a sign."""
    return {x.ref >> 1: rate ^ (x.ref & 1) if rate else 0} if x.constant is None else {}


def jacobian(graph: Graph, outputs: Sequence[Value], inputs: Sequence[Value]) -> list[list[Value]]:
    """Return rows of d outputs / d inputs; derivatives by a constant input are zero."""
    cone = graph.cone(value.ref for value in outputs)
    columns = [_along(graph, cone, outputs, seed(x, graph.one)) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)]


def has_kinks(graph: Graph, values: Sequence[Value]) -> bool:
    """Whether a selection is on the path to the values, so that only forward derivatives exist: see :func:`pulled_back`."""
    return any(graph.op[node] in KINKS for node in graph.cone(value.ref for value in values))


def _twice(graph: Graph, ref: int) -> int:
    """Double a value; the factor goes into a constant that it contains: 2 (x (c / y)) = x (2 c / y)."""
    node, two = ref >> 1, graph.constant(2.0)
    if graph.op[node] is Op.MUL:
        for inner, rest in ((graph.a[node], graph.b[node]), (graph.b[node], graph.a[node])):
            part = inner >> 1
            if graph.op[part] in (Op.DIV, Op.MUL) and graph.constant_of(graph.a[part]) is not None:
                scaled = graph.apply(graph.op[part], [graph.mul(two, graph.a[part]), graph.b[part]]) ^ (inner & 1)
                return graph.mul(scaled, rest) ^ (ref & 1)
    return graph.mul(two, ref)


def pulled_back(graph: Graph, outputs: Sequence[Value], weights: Sequence[Value], inputs: Sequence[Value]) -> list[Value]:
    """Return the derivatives by all inputs of sum_k weights_k outputs_k with fixed weights, in one pass backward.

    For smooth values only: where a selection leaves out something infinite, its share would be 0 times infinity.
    """
    adjoint: dict[int, int] = {}

    def credit(ref: int, share: int) -> None:
        if share:
            adjoint[ref >> 1] = graph.add(adjoint.get(ref >> 1, 0), share ^ (ref & 1))

    for output, weight in zip(outputs, weights, strict=True):
        credit(output.ref, weight.ref)
    wanted = {x.ref >> 1 for x in inputs}
    for node in reversed(graph.cone(value.ref for value in outputs)):
        if graph.op[node] > Op.INPUT and adjoint.get(node) and node not in wanted:
            if graph.op[node] is Op.MUL and graph.a[node] == graph.b[node]:  # a square: 2 times the weight is one factor
                credit(graph.a[node], graph.mul(_twice(graph, adjoint[node]), graph.a[node]))
                continue
            for ref, partial in zip(graph.operands(node), partials(graph, node), strict=True):
                if graph.op[ref >> 1] is not Op.CONSTANT:
                    credit(ref, graph.mul(adjoint[node], partial))
    found = []
    for x in inputs:
        ref = adjoint.get(x.ref >> 1, 0) if x.constant is None else 0
        found.append(Value(graph, ref ^ (x.ref & 1) if ref else 0))
    return found


def weighted_gradient(graph: Graph, outputs: Sequence[Value], weights: Sequence[Value], inputs: Sequence[Value]) -> list[Value]:
    """Return the same derivatives of values of any kind; forward where there are kinks: what is not chosen may be infinite."""
    if not has_kinks(graph, outputs):
        return pulled_back(graph, outputs, weights, inputs)
    total = graph.value(0)
    for weight, value in zip(weights, outputs, strict=True):
        total = total + weight * value
    return jacobian(graph, [total], inputs)[0]


def time_derivative(
    graph: Graph, outputs: Sequence[Value], motion: Sequence[tuple[Sequence[Value], Sequence[Value]]]
) -> list[Value]:
    """Return the derivative by time; ``motion`` pairs variables with their rates, (q, qd), (qd, qdd), ..."""
    seeds: dict[int, int] = {}
    for xs, rates in motion:
        for x, rate in zip(xs, rates, strict=True):
            seeds |= seed(x, rate.ref)
    return directional(graph, outputs, seeds)
