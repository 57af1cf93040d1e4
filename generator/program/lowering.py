"""From the robot's scalars (numbers, SymPy expressions) to values of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import sympy

from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.robot.robot import Matrix, Robot, Scalar


class Lowering:
    """Replaces fixed parameters by their numbers, live parameters by inputs of the graph, and further symbols by ``values``."""

    def __init__(self, graph: Graph, robot: Robot, values: Mapping[sympy.Symbol, Value] = MappingProxyType({})) -> None:
        self.graph = graph
        self._fixed = {p.symbol: sympy.Float(p.value, 17) for p in robot.parameters.values() if not p.live}
        self._live = {p.symbol: graph.input(p.name) for p in robot.live_parameters} | dict(values)

    def scalar(self, scalar: Scalar) -> Scalar:
        """The scalar with fixed parameters replaced: a number, or an expression in live parameters."""
        if not isinstance(scalar, sympy.Basic):
            return scalar
        replaced = scalar.xreplace(self._fixed)
        if replaced.free_symbols:
            return replaced
        return int(replaced) if replaced.is_Integer else float(replaced)

    def matrix(self, matrix: Matrix) -> Matrix:
        """Every entry of a matrix by :meth:`scalar`."""
        return tuple(tuple(self.scalar(entry) for entry in row) for row in matrix)

    def value(self, scalar: Scalar) -> Value:
        """The scalar as a value of the graph."""
        scalar = self.scalar(scalar)
        if not isinstance(scalar, sympy.Basic):
            return self.graph.value(scalar)
        return self._expression(scalar)

    def _expression(self, node: sympy.Basic) -> Value:
        graph = self.graph
        if isinstance(node, sympy.Symbol):
            return self._live[node]
        if node.is_number:
            return graph.value(float(node))
        if isinstance(node, (sympy.Add, sympy.Mul)):
            operands = [self._expression(argument) for argument in node.args]
            total = operands[0]
            for operand in operands[1:]:
                total = total + operand if isinstance(node, sympy.Add) else total * operand
            return total
        if isinstance(node, sympy.Pow) and node.exp.is_Rational and abs(node.exp) <= 8:
            return self._power(self._expression(node.base), node.exp)
        unary = {sympy.sin: Op.SIN, sympy.cos: Op.COS, sympy.tanh: Op.TANH}.get(node.func)
        if unary is None:
            raise ValueError(f"cannot generate code for {node}: {node.func.__name__} is not supported")
        return Value(graph, graph.unary(unary, self._expression(node.args[0]).ref))

    def _power(self, base: Value, exponent: sympy.Rational) -> Value:
        if exponent.q == 2:
            base = self.graph.sqrt(base)
        elif exponent.q != 1:
            raise ValueError(f"cannot generate code for a power of {exponent}")
        result = base
        for _ in range(abs(int(exponent.p)) - 1):
            result = result * base
        return 1 / result if exponent.p < 0 else result
