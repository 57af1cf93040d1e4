"""The user's own terms in a frame assignment: V(q, t), dV/dq, and dR/dqd - Q.

Expressions are lowered once per robot, with inputs for frames (``position[tip].x``), and differentiated by these and by the
state (:mod:`elastogen.generator.functions.own.expressions`); here the kinematics are inserted. Forces at frames and gradients
of potentials go back through the kinematics in one pass, like wrenches in Newton-Euler; what depends on the distance of two
frames goes through the joints between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import sympy

from elastogen.generator.algorithms.kinematics import Pose, base_pose, link_pose, poses
from elastogen.generator.algorithms.newton_euler import Placed, place
from elastogen.generator.functions.own.distances import slopes, squared_distance
from elastogen.generator.functions.own.expressions import OwnExpressions
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.program.differentiate import pulled_back, time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.own.separations import Separation
from elastogen.generator.spatial.vectors import cross, dot, sub

if TYPE_CHECKING:
    from elastogen.generator.functions.variants import Variant

Framed = tuple[Mechanism, list[Placed], dict[str, "LinkFrame | None"]]  # with frames by name; None: the base


@dataclass
class OwnTerms:
    """The terms of a robot at the state (q, qd), the inputs of a frame assignment."""

    variant: Variant
    q: Sequence[Value]
    qd: Sequence[Value]

    @property
    def _own(self) -> OwnExpressions:
        return self.variant.own

    # ---- kinematics of the frames that occur

    @cached_property
    def _poses(self) -> dict[str, Pose]:
        named = self._poses_of(self._links)
        return named if self._frames_used <= set(named) else self._poses_of(self._pointed) | named

    def _poses_of(self, framed: Framed) -> dict[str, Pose]:
        mechanism, placed, frames = framed
        found, base = poses(mechanism, placed), base_pose(mechanism)
        return {name: base if frame is None else link_pose(mechanism, found, frame) for name, frame in frames.items()}

    @cached_property
    def _frames_used(self) -> set[str]:
        """Names of the links and points that occur."""
        own = self._own
        names = {own.meanings[s].of for s in own.used if s in own.meanings}
        names |= {end for s in own.used if s in own.separations for end in own.separations[s].ends}
        return names | {name for term in self.variant.robot.terms for name in term.frame_forces}

    @cached_property
    def _links(self) -> Framed:
        """The links and the tip."""
        mechanism = self.variant.mechanism
        frames: dict[str, LinkFrame | None] = {link.name: link for link in mechanism.link_frames}
        return mechanism, self.variant.place(self.q), frames | {self.variant.robot.links[0].name: None}

    @cached_property
    def _pointed(self) -> Framed:
        """The same with the robot's points, in another mechanism."""
        mechanism = build_mechanism(self.variant.graph, self.variant.robot, reframe=False, regroup=False, points=True)
        assert isinstance(mechanism, PointedMechanism)
        frames: dict[str, LinkFrame | None] = {link.name: link for link in mechanism.link_frames}
        frames |= {point.point.name: point.frame for point in mechanism.points} | {self.variant.robot.links[0].name: None}
        return mechanism, place(mechanism, self.q, merge=self.variant.merge), frames

    @cached_property
    def _frame_values(self) -> dict[sympy.Symbol, Value]:
        motion = [(self.q, self.variant.mechanism.rates(self.q, self.qd))]
        values = {}
        for s in self._own.used:
            separation = self._own.separations.get(s)
            if separation is not None:
                squared = self._squared_distance(separation)
                half_rate = 0.5 * time_derivative(self.variant.graph, [squared], motion)[0] if separation.rate else None
                values[s] = squared if half_rate is None else half_rate
                continue
            meaning = self._own.meanings[s]
            pose = self._poses[meaning.of]
            if meaning.kind == "rotation":
                values[s] = pose.R[meaning.index // 3][meaning.index % 3]
            elif meaning.kind == "position":
                values[s] = pose.p[meaning.index]
            elif meaning.kind == "angular_velocity":
                values[s] = _spin(self.variant.graph, pose, motion, meaning.index)
            else:
                values[s] = time_derivative(self.variant.graph, [pose.p[meaning.index]], motion)[0]
        return values

    def _squared_distance(self, separation: Separation) -> Value:
        first, second = separation.ends
        if self.variant.mechanism.has_linear_tips:  # sheared frames keep no distances: only the base frame's are true
            apart = sub(self._poses[first].p, self._poses[second].p)
            return dot(apart, apart)
        mechanism, placed, frames = self._links if {first, second} <= set(self._links[2]) else self._pointed
        return squared_distance(mechanism, placed, (frames[first], frames[second]), self.q)

    @cached_property
    def _known(self) -> dict[str, Value]:
        """The values for the inputs of the expressions."""
        symbols = self._own.symbols
        known = dict(zip((s.name for s in symbols.q), self.variant.mechanism.in_robot_order(self.q), strict=True))
        known |= dict(zip((s.name for s in symbols.qd), self.qd, strict=True))
        return known | {s.name: value for s, value in self._frame_values.items()}

    def _placed(self, values: Sequence[Value]) -> list[Value]:
        """The expressions with state and kinematics inserted."""
        return self._own.placed(self.variant.graph, values, self._known)

    def _gradient(self, field: str, by: Sequence[Value]) -> list[Value]:
        """Derivative by q or qd of a field of all terms, also through frames and distances."""
        graph, own, mechanism = self.variant.graph, self._own, self.variant.mechanism
        of_positions = field == "potential"
        with graph.section("own terms"):
            values = [own.lowered(getattr(term, field)) for term in self.variant.robot.terms]
            placed = self._placed(own.gradient(field, [k for k, value in enumerate(values) if self._depends(value, by)]))
            total = [placed[k] for k in mechanism.order] if of_positions else placed[: len(by)]
            weights = dict(zip(own.used, placed[len(by) :], strict=True))
            parts = [slopes(graph, self._frame_values[s], weights.pop(s), by) for s in own.used if s in own.separations]
            parts.append(pulled_back(graph, [self._frame_values[s] for s in weights], list(weights.values()), by))
            for part in parts:
                total = [x + y for x, y in zip(total, part, strict=True)]
            return self.variant.free(mechanism.forces_of(self.q, total) if of_positions else total)

    def _depends(self, value: Value, by: Sequence[Value]) -> bool:
        """Whether a value depends on q or qd through frames; cancellations (a distance on one link) are not seen."""
        cone = set(self.variant.graph.cone([self._placed([value])[0].ref]))
        return any(x.ref >> 1 in cone for x in by)

    # ---- what enters the equations of motion

    @property
    def potential(self) -> Value:
        """V(q, t)."""
        values = self._placed([self._own.lowered(term.potential) for term in self.variant.robot.terms])
        return sum(values, self.variant.graph.value(0))

    @cached_property
    def potential_forces(self) -> list[Value]:
        """dV/dq."""
        return self._gradient("potential", self.q)

    @cached_property
    def other_forces(self) -> list[Value]:
        """dR/dqd - Q: forces without potential."""
        graph = self.variant.graph
        result = self._gradient("dissipation", self.qd)
        for term in self.variant.robot.terms:
            for name, force in term.forces.items():
                index = self.variant.robot.velocity_names.index(name)
                result[index] = result[index] - self._placed([self._own.lowered(force)])[0]
            for name, components in term.frame_forces.items():
                values, pose = self._placed([self._own.lowered(component) for component in components]), self._poses[name]
                acting = list(pose.p)
                if len(values) > 3:  # a moment m is the force 1/2 {m x} R on the entries of R, as dR = {dphi x} R
                    acting += [entry for row in pose.R for entry in row]
                    columns = [cross(values[3:], list(column)) for column in zip(*pose.R, strict=True)]
                    values = [*values[:3], *(0.5 * column[r] for r in range(3) for column in columns)]
                shares = self.variant.mechanism.forces_of(self.q, pulled_back(graph, acting, values, self.q))
                result = [total - share for total, share in zip(result, shares, strict=True)]
        return self.variant.free(result)


def _spin(graph: Graph, pose: Pose, motion: Sequence[tuple[Sequence[Value], Sequence[Value]]], axis: int) -> Value:
    """One component of the angular velocity: {omega x} = dR/dt R^T."""
    first, second = (axis + 2) % 3, (axis + 1) % 3
    rate = time_derivative(graph, list(pose.R[first]), motion)
    return dot(rate, list(pose.R[second]))
