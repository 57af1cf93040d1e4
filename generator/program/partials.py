"""Derivatives of every operation by its operands: the rules that forward and backward differentiation share.

At a kink (of an absolute value, a minimum, a maximum or a selection) the derivative is that of the side with x >= 0: of -x
where x < 0, of x elsewhere, zero included. The steps of floor are left out: its derivative is zero.
"""

from __future__ import annotations

import math

from elastogen.generator.program.graph import Graph, Op


def partials(graph: Graph, node: int) -> tuple[int, ...]:
    """Return the derivatives of a node by its operands, in the order of the operands."""
    op, a, b = graph.op[node], graph.a[node], graph.b[node]
    y, one = 2 * node, graph.one
    if op is Op.ADD:
        return one, one
    if op is Op.MUL:
        return b, a
    if op is Op.DIV:
        return graph.div(one, b), graph.div(y, b) ^ 1
    if op is Op.ATAN2:
        square = graph.add(graph.mul(a, a), graph.mul(b, b))
        return graph.div(b, square), graph.div(a, square) ^ 1
    if op is Op.POW:
        lower = graph.binary(Op.POW, a, graph.add(b, one ^ 1))
        by_exponent = 0 if graph.constant_of(b) is not None else graph.mul(y, graph.unary(Op.LOG, a))
        return graph.mul(b, lower), by_exponent
    if op in (Op.MIN, Op.MAX):
        difference = graph.add(a, b ^ 1) ^ (1 if op is Op.MAX else 0)
        return graph.select(difference, one, 0), graph.select(difference, 0, one)
    if op is Op.SELECT:
        return 0, graph.select(a, one, 0), graph.select(a, 0, one)
    return (_slope(graph, op, a, y),)


def _slope(graph: Graph, op: Op, x: int, y: int) -> int:
    """Return the derivative of an elementary function y of x."""
    one = graph.one

    def one_plus(sign: int, ref: int) -> int:
        return graph.add(one, graph.mul(ref, ref) ^ sign)

    if op is Op.SIN:
        return graph.unary(Op.COS, x)
    if op is Op.COS:
        return graph.unary(Op.SIN, x) ^ 1
    if op is Op.SQRT:
        return graph.div(graph.constant(0.5), y)
    if op is Op.TANH:
        return one_plus(1, y)
    if op is Op.EXP:
        return y
    if op is Op.LOG:
        return graph.div(one, x)
    if op in (Op.ASIN, Op.ACOS):
        root = graph.unary(Op.SQRT, graph.mul(graph.add(one, x ^ 1), graph.add(one, x)))
        return graph.div(one, root) ^ (1 if op is Op.ACOS else 0)
    if op is Op.ATAN:
        return graph.div(one, one_plus(0, x))
    if op is Op.SINH:
        return graph.unary(Op.COSH, x)
    if op is Op.COSH:
        return graph.unary(Op.SINH, x)
    if op is Op.ASINH:
        return graph.div(one, graph.unary(Op.SQRT, one_plus(0, x)))
    if op is Op.ACOSH:
        root = graph.unary(Op.SQRT, graph.mul(graph.add(x, one ^ 1), graph.add(x, one)))
        return graph.div(one, root)
    if op is Op.ATANH:
        return graph.div(one, one_plus(1, x))
    if op is Op.ABS:
        return graph.select(x, one ^ 1, one)
    if op is Op.ERF:
        return graph.mul(graph.constant(2 / math.sqrt(math.pi)), graph.unary(Op.EXP, graph.mul(x, x) ^ 1))
    if op is Op.FLOOR:
        return 0
    raise AssertionError(f"no derivative of {op.name}")
