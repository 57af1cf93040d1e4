"""The user's own terms as values of a frame assignment: V(q, t), dV/dq, and dR/dqd - Q.

An expression is lowered with inputs of its own in the place of frames (``position[tip].x``), differentiated by these and by
the coordinates, and only then are the frames' kinematics put in. Forces at frames and gradients of potentials go back
through the kinematics in one pass, like the wrenches of Newton and Euler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import sympy

from elastogen.generator.algorithms.kinematics import Pose, base_pose, link_pose, poses
from elastogen.generator.algorithms.newton_euler import place
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.program.differentiate import has_kinks, jacobian, pulled_back, time_derivative
from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.own.terms import Meaning, Symbols

if TYPE_CHECKING:
    from elastogen.generator.functions.variants import Variant


@dataclass
class OwnTerms:
    """The terms of a robot at the state (q, qd) of a frame assignment; q and qd are that frame assignment's inputs."""

    variant: Variant
    q: Sequence[Value]
    qd: Sequence[Value]

    @cached_property
    def _meanings(self) -> dict[sympy.Symbol, Meaning]:
        return Symbols(self.variant.robot).meanings

    @cached_property
    def _used(self) -> list[sympy.Symbol]:
        """Symbols of frames that occur in any term, in a fixed order."""
        used = {s for term in self.variant.robot.terms for s in term.free_symbols if s in self._meanings}
        return sorted((s for s in used if self._meanings[s].kind in ("position", "velocity", "rotation")), key=str)

    @cached_property
    def _lower(self) -> ExpressionLowering:
        graph, robot = self.variant.graph, self.variant.robot
        values = {p.symbol: graph.input(p.name) if p.live else graph.value(p.value) for p in robot.parameters.values()}
        symbols = Symbols(robot)
        values |= dict(zip(symbols.q, self.variant.mechanism.in_robot_order(self.q), strict=True))
        values |= dict(zip(symbols.qd, self.qd, strict=True))
        return ExpressionLowering(graph, values | {s: graph.input(s.name) for s in self._used})

    # ---- kinematics of the frames that occur

    @cached_property
    def _poses(self) -> dict[str, Pose]:
        mechanism = self.variant.mechanism
        found = poses(mechanism, self.variant.place(self.q))
        named = {self.variant.robot.links[0].name: base_pose(mechanism)}
        named |= {link.name: link_pose(mechanism, found, link) for link in mechanism.link_frames}
        return self._points() | named if self._frames_used - set(named) else named

    @cached_property
    def _frames_used(self) -> set[str]:
        """Names of the frames that occur, of links and points."""
        of_symbols = {self._meanings[s].of for s in self._used}
        return of_symbols | {name for term in self.variant.robot.terms for name in term.frame_forces}

    def _points(self) -> dict[str, Pose]:
        """Poses of the robot's points, which have a mechanism of their own."""
        mechanism = build_mechanism(self.variant.graph, self.variant.robot, reframe=False, regroup=False, points=True)
        assert isinstance(mechanism, PointedMechanism)
        found = poses(mechanism, place(mechanism, self.q, merge=self.variant.merge))
        return {point.point.name: link_pose(mechanism, found, point.frame) for point in mechanism.points}

    @cached_property
    def _frame_values(self) -> dict[sympy.Symbol, Value]:
        motion = [(self.q, self.variant.mechanism.rates(self.q, self.qd))]
        values = {}
        for s in self._used:
            meaning = self._meanings[s]
            pose = self._poses[meaning.of]
            if meaning.kind == "rotation":
                values[s] = pose.R[meaning.index // 3][meaning.index % 3]
            elif meaning.kind == "position":
                values[s] = pose.p[meaning.index]
            else:
                values[s] = time_derivative(self.variant.graph, [pose.p[meaning.index]], motion)[0]
        return values

    def _placed(self, values: Sequence[Value]) -> list[Value]:
        """The values with the kinematics in the place of the frames' symbols."""
        graph = self.variant.graph
        symbols = list(self._frame_values)
        inputs = [graph.input(s.name) for s in symbols]
        return substitute(graph, values, replacing(inputs, [self._frame_values[s] for s in symbols]))

    def _gradient(self, expressions: Iterable[sympy.Expr], by: Sequence[Value]) -> list[Value]:
        """Derivative by q or qd of the sum of scalar expressions, through the frames as well."""
        graph = self.variant.graph
        with graph.section("own terms"):
            value = graph.value(0)
            for expression in expressions:
                lowered = self._lower(expression)
                if self._depends(lowered, by):
                    value = value + lowered
            inputs = [graph.input(s.name) for s in self._used]
            variables = [*by, *inputs]
            if has_kinks(graph, [value]):
                direct = jacobian(graph, [value], variables)[0]
            else:
                direct = pulled_back(graph, [value], [graph.value(1)], variables)
            placed = self._placed(direct)
            explicit, weights = placed[: len(by)], placed[len(by) :]
            through = pulled_back(graph, [self._frame_values[s] for s in self._used], weights, by)
            total = [x + y for x, y in zip(explicit, through, strict=True)]
            return self.variant.free(self.variant.mechanism.forces_of(self.q, total) if by is self.q else total)

    def _depends(self, value: Value, by: Sequence[Value]) -> bool:
        """Whether q or qd occur in a value with the frames put in; where they cancel (a distance on one link) is not seen."""
        cone = set(self.variant.graph.cone([self._placed([value])[0].ref]))
        return any(x.ref >> 1 in cone for x in by)

    # ---- what enters the equations of motion

    @property
    def potential(self) -> Value:
        """V(q, t)."""
        total = self.variant.graph.value(0)
        for term in self.variant.robot.terms:
            total = total + self._lower(term.potential)
        return self._placed([total])[0]

    @cached_property
    def potential_forces(self) -> list[Value]:
        """dV/dq."""
        return self._gradient([term.potential for term in self.variant.robot.terms], self.q)

    @cached_property
    def other_forces(self) -> list[Value]:
        """dR/dqd - Q: what has no potential."""
        graph = self.variant.graph
        result = self._gradient([term.dissipation for term in self.variant.robot.terms], self.qd)
        for term in self.variant.robot.terms:
            for name, force in term.forces.items():
                index = self.variant.robot.velocity_names.index(name)
                result[index] = result[index] - self._placed([self._lower(force)])[0]
            for name, components in term.frame_forces.items():
                values = self._placed([self._lower(component) for component in components])
                shares = self.variant.mechanism.forces_of(self.q, pulled_back(graph, self._poses[name].p, values, self.q))
                result = [total - share for total, share in zip(result, shares, strict=True)]
        return self.variant.free(result)
