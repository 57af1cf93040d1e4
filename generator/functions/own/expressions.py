"""The user's own terms, lowered once per robot: in a graph of their own, with inputs instead of state and frames.

Every frame assignment copies these values and inserts its kinematics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import sympy

from elastogen.generator.program.differentiate import has_kinks, jacobian, pulled_back
from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.substitute import transplant
from elastogen.generator.robot.own.separations import Separation, by_separations
from elastogen.generator.robot.own.terms import Meaning, Symbols
from elastogen.generator.robot.own.vanishing import vanishes
from elastogen.generator.robot.robot import Robot

_FRAMES = ("position", "velocity", "rotation", "angular_velocity")


class OwnExpressions:
    """The terms of a robot as values of ``graph``, whose inputs have the names of the symbols."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.graph = robot, Graph()
        self.separations: dict[sympy.Symbol, Separation] = {}
        self._lowered: dict[sympy.Expr, Value] = {}
        self._gradients: dict[tuple[str, tuple[int, ...]], list[Value]] = {}

    @cached_property
    def symbols(self) -> Symbols:
        """The symbols of the robot."""
        return Symbols(self.robot)

    @cached_property
    def meanings(self) -> dict[sympy.Symbol, Meaning]:
        """What the symbols of state and frames stand for."""
        return self.symbols.meanings

    @cached_property
    def _lower(self) -> ExpressionLowering:
        graph, parameters = self.graph, self.robot.parameters.values()
        values = {p.symbol: graph.input(p.name) if p.live else graph.value(p.value) for p in parameters}
        of_frames = {s: graph.input(s.name) for s, meaning in self.meanings.items() if meaning.kind in _FRAMES}
        state = {s: graph.input(s.name) for s in (*self.symbols.q, *self.symbols.qd)}
        return ExpressionLowering(graph, values | of_frames | state | {s: graph.input(s.name) for s in self.separations})

    @cached_property
    def _rewritten(self) -> dict[sympy.Expr, sympy.Expr]:
        """Every expression by distances where possible, 0 where it vanishes; made before anything is lowered."""
        found = {}
        for term in self.robot.terms:
            for expression in term.expressions.values():
                given = sympy.Integer(0) if vanishes(expression) else expression
                found[expression], used = by_separations(given, self.meanings)
                self.separations |= used
        return found

    @cached_property
    def used(self) -> list[sympy.Symbol]:
        """Symbols of frames and distances that occur in any term, in a fixed order."""
        occurring = {s for expression in self._rewritten.values() for s in expression.free_symbols}
        frames = {s for s in occurring if s in self.meanings and self.meanings[s].kind in _FRAMES}
        return sorted(frames | (occurring & set(self.separations)), key=str)

    def lowered(self, expression: sympy.Expr) -> Value:
        """An expression of a term as a value of the graph."""
        rewritten = self._rewritten[expression]
        if expression not in self._lowered:
            self._lowered[expression] = self._lower(rewritten)
        return self._lowered[expression]

    def gradient(self, field: str, numbers: Iterable[int]) -> list[Value]:
        """Derivatives of the sum of a field of some terms, by q or qd and then by ``used``."""
        key = field, tuple(numbers)
        if key not in self._gradients:
            value = self.graph.value(0)
            for k in key[1]:
                value = value + self.lowered(getattr(self.robot.terms[k], field))
            state = self.symbols.q if field == "potential" else self.symbols.qd
            variables = [self.graph.input(s.name) for s in (*state, *self.used)]
            if has_kinks(self.graph, [value]):
                self._gradients[key] = jacobian(self.graph, [value], variables)[0]
            else:
                self._gradients[key] = pulled_back(self.graph, [value], [self.graph.value(1)], variables)
        return self._gradients[key]

    def placed(self, target: Graph, values: Sequence[Value], known: Mapping[str, Value]) -> list[Value]:
        """Copies of values in another graph, with known values instead of inputs."""
        return transplant(self.graph, values, target, known)
