"""Polynomials of one variable with constant coefficients, by Horner's rule, in a program: series of elastic rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.optimize import count_uses

SHORTEST = 6  # coefficients that are worth a loop


@dataclass(frozen=True)
class Polynomial:
    """Coefficients, the lowest first, and the node of the variable."""

    coefficients: tuple[float, ...]
    variable: int


def polynomials(graph: Graph, order: Sequence[int], refs: Sequence[int]) -> dict[int, Polynomial]:
    """The longest ones, by their nodes: inside, what they are made of is read by nothing else."""
    uses, found = count_uses(graph, order, refs), dict[int, Polynomial]()
    inner: set[int] = set()
    for node in reversed(order):
        if node not in inner and graph.op[node] is Op.ADD:
            chain = _Chain(graph, uses)
            polynomial = chain.along(2 * node)
            if polynomial is not None and len(polynomial.coefficients) >= SHORTEST:
                found[node] = polynomial
                inner.update(chain.nodes)
    return found


class _Chain:
    def __init__(self, graph: Graph, uses: Sequence[int]) -> None:
        self.graph, self.uses, self.nodes = graph, uses, list[int]()

    def along(self, ref: int) -> Polynomial | None:
        """From c0 + s (c1 + s (c2 + ...)) inward; None if it is not of this form."""
        graph, sign, variable = self.graph, 1.0, -1
        coefficients: list[float] = []
        while True:
            node = ref >> 1
            sign = -sign if ref & 1 else sign
            if coefficients and self.uses[node] != 1:
                return None
            self.nodes.append(node)
            if graph.op[node] is not Op.ADD:
                return None
            constant, product = self._sorted(node)
            if constant is None or graph.op[product >> 1] is not Op.MUL or self.uses[product >> 1] != 1:
                return None
            coefficients.append(sign * constant)
            sign = -sign if product & 1 else sign
            a, b = graph.operands(product >> 1)
            self.nodes.append(product >> 1)
            last = next((x for x in (a, b) if graph.op[x >> 1] is Op.CONSTANT), None)
            if last is not None:  # c s, the end
                s = b if last == a else a
                if variable not in (-1, s >> 1):
                    return None
                value = graph.constant_of(last) or 0.0
                coefficients.append(sign * (-value if s & 1 else value))
                return Polynomial(tuple(coefficients), s >> 1)
            if variable == -1:
                variable = next((x >> 1 for x in (a, b) if graph.op[x >> 1] is not Op.ADD or self._is_read_again(x)), -1)
            s, rest = (a, b) if a >> 1 == variable else (b, a)
            if s >> 1 != variable or variable == -1:
                return None
            sign = -sign if s & 1 else sign
            ref = rest

    def _is_read_again(self, ref: int) -> bool:
        return self.uses[ref >> 1] > 1

    def _sorted(self, node: int) -> tuple[float | None, int]:
        """A constant and the other operand of a sum."""
        for one, other in (self.graph.operands(node), self.graph.operands(node)[::-1]):
            if self.graph.op[one >> 1] is Op.CONSTANT:
                return self.graph.constant_of(one), other
        return None, 0
