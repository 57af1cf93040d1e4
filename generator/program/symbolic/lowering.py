"""Converts SymPy's equations to the graph that programs are made of."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.names import keep_label
from elastogen.generator.program.symbolic.equations import equations, shared_values


class _EquationLowering(ExpressionLowering):
    """Lowers right-hand sides one after the other; each left-hand side is known to later ones."""

    def define(self, symbol: sympy.Symbol, value: Value) -> None:
        """Define the value of a symbol."""
        self._values[symbol] = value

    def _fresh(self, node: sympy.Basic) -> Value:
        if node.is_Integer or node.is_Float:
            return self.graph.value(float(node))
        return super()._fresh(node)

    def _combined(self, node: sympy.Basic) -> Value:
        """Lower a sum or a product; a product with one divisor is a quotient, since quotients have equations of their own."""
        divisors = [factor.base for factor in node.args if factor.is_Pow and factor.exp is sympy.S.NegativeOne]
        if isinstance(node, sympy.Mul) and len(divisors) == 1:
            rest = sympy.Mul(*(factor for factor in node.args if not (factor.is_Pow and factor.exp is sympy.S.NegativeOne)))
            return self._lower(rest) / self._lower(divisors[0])
        if not isinstance(node, sympy.Add):
            return super()._combined(node)
        total = self.graph.value(0)
        for value in sorted((self._lower(term) for term in node.args), key=_place):
            total = total + value
        return total


def _place(term: Value) -> tuple[bool, int]:
    """Return the place in a sum: numbers last, older values first, so that equal sums begin with the same terms."""
    return term.constant is not None, term.ref


def lowered(graph: Graph, refs: Sequence[int]) -> tuple[Graph, list[int]]:
    """Return a new graph with what the references need, and the references in it, by way of equations of SymPy."""
    wanted = shared_values(graph, refs)
    written = equations(graph, refs, wanted.__contains__, lambda node: sympy.Symbol(f"v{node}"))
    small = Graph()
    small.sections, small.literal = dict(graph.sections), graph.literal
    inputs = [graph.label[node] for node in graph.cone(refs) if graph.op[node] is Op.INPUT]
    lower = _EquationLowering(small, {sympy.Symbol(label): small.input(label) for label in inputs})
    for equation in written.equations:
        small.enter_section(graph.section_of[equation.node])
        value = lower(equation.expression)
        lower.define(equation.symbol, value)
        if graph.label[equation.node]:
            keep_label(small, value.ref, graph.label[equation.node])
    found = [lower(result).ref for result in written.results]
    small.enter_section("")
    return small, found
