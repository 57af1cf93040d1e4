"""Converts the robot's scalars (numbers, SymPy expressions) to values of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import sympy

from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Graph, Value

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Matrix, Robot, Scalar


class Lowering:
    """Replaces fixed parameters by their numbers, live parameters by inputs of the graph, and further symbols by ``values``."""

    def __init__(self, graph: Graph, robot: Robot, values: Mapping[sympy.Symbol, Value] = MappingProxyType({})) -> None:
        self.graph = graph
        self._fixed = {p.symbol: sympy.Float(p.value, 17) for p in robot.parameters.values() if not p.live}
        live = {p.symbol: graph.input(p.name) for p in robot.live_parameters}
        self._known = live | dict(values)
        self._expressions = ExpressionLowering(graph, self._known)

    def scalar(self, scalar: Scalar) -> Scalar:
        """Return the scalar with fixed parameters replaced: a number, or an expression in live parameters."""
        if not isinstance(scalar, sympy.Basic):
            return scalar
        replaced = scalar.xreplace(self._fixed)
        if replaced.free_symbols:
            return replaced
        return int(replaced) if replaced.is_Integer else float(replaced)

    def matrix(self, matrix: Matrix) -> Matrix:
        """Convert every entry of a matrix by :meth:`scalar`."""
        return tuple(tuple(self.scalar(entry) for entry in row) for row in matrix)

    def function(self, scalar: Scalar, values: Mapping[sympy.Symbol, Value]) -> Value:
        """Return the scalar as a value of the graph, with further symbols that have these values."""
        lowered = self.scalar(scalar)
        if not isinstance(lowered, sympy.Basic):
            return self.graph.value(lowered)
        return ExpressionLowering(self.graph, {**self._known, **values})(lowered)

    def value(self, scalar: Scalar) -> Value:
        """Return the scalar as a value of the graph."""
        scalar = self.scalar(scalar)
        if not isinstance(scalar, sympy.Basic):
            return self.graph.value(scalar)
        return self._expressions(scalar)
