"""Different but equal ways to lay out one robot's equations; the derivation keeps the cheapest for each function."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from elastogen.generator.graph import Graph, Value
from elastogen.generator.lowering import Lowering
from elastogen.generator.mechanism import Mechanism, build_mechanism
from elastogen.generator.newton_euler import Placed, inverse_dynamics, place
from elastogen.generator.robot import JointType, Robot
from elastogen.generator.vectors import Mat, Vec


@dataclass(frozen=True)
class Drive:
    """What a joint's drive adds to the equations of motion, as values."""

    inertia: Value  # gear_ratio^2 * motor_inertia [kg m^2] or [kg]
    viscous: Value
    coulomb: Value
    coulomb_velocity: Value

    def friction(self, rate: Value) -> Value:
        """viscous * qd + coulomb * tanh(qd / coulomb_velocity)."""
        if self.coulomb.is_zero:
            return self.viscous * rate
        return self.viscous * rate + self.coulomb * rate.graph.tanh(rate / self.coulomb_velocity)


@dataclass(frozen=True)
class Variables:
    """The coordinates and their derivatives as values of the graph: q, qd, qdd, and whatever a function takes."""

    graph: Graph
    size: int

    def vector(self, name: str, size: int | None = None) -> list[Value]:
        """The input vector of that name."""
        return [self.graph.input(f"{name}[{index}]") for index in range(self.size if size is None else size)]


@dataclass(frozen=True, eq=False)
class Variant:
    """One layout: a mechanism with its frames, and the choices the recursions leave open."""

    mechanism: Mechanism
    drives: tuple[Drive, ...]
    merge: bool
    moments: tuple[str, ...]
    nominal: dict[str, float]  # values of the live parameters in the robot's description

    @property
    def graph(self) -> Graph:
        """The graph that everything is derived in."""
        return self.mechanism.graph

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.mechanism.size

    def input(self, name: str, size: int | None = None) -> list[Value]:
        """The input vector of that name (of nq elements)."""
        return Variables(self.graph, self.size).vector(name, size)

    def zeros(self, size: int | None = None) -> list[Value]:
        """A vector of zeros."""
        return [self.graph.value(0)] * (self.size if size is None else size)

    def place(self, q: Sequence[Value]) -> list[Placed]:
        """Poses of the frames in their parents."""
        return place(self.mechanism, q, merge=self.merge)

    def forces(self, q: Sequence[Value], qd: Sequence[Value], qdd: Sequence[Value], gravity: Vec) -> list[Value]:
        """Newton-Euler, with the inertia of the drives."""
        bodies = inverse_dynamics(self.mechanism, q, qd, qdd, gravity, self.moments, self.merge)
        return [f + drive.inertia * acc for f, drive, acc in zip(bodies, self.drives, qdd, strict=True)]

    def with_drive_inertia(self, M: Mat) -> Mat:
        """A mass matrix of the bodies, with the inertia of the drives on the diagonal."""
        result = [list(row) for row in M]
        for index, drive in enumerate(self.drives):
            result[index][index] = result[index][index] + drive.inertia
        return result


class VariantFamily:
    """All layouts of one robot in one graph, made when asked for."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.graph = Graph()
        self._mechanisms: dict[tuple[bool, bool], Mechanism] = {}
        self._plain: dict[bool, Variant] = {}
        self._nominal = {parameter.name: parameter.value for parameter in robot.live_parameters}
        lower = Lowering(self.graph, robot)
        self._drives = tuple(
            Drive(
                lower.value(joint.actuation.motor_inertia) * lower.value(joint.actuation.gear_ratio)
                * lower.value(joint.actuation.gear_ratio),
                lower.value(joint.actuation.viscous),
                lower.value(joint.actuation.coulomb),
                lower.value(joint.actuation.coulomb_velocity),
            )
            for joint in robot.joints
            if joint.type is not JointType.FIXED
        )  # fmt: skip

    def mechanism(self, *, reframe: bool, regroup: bool) -> Mechanism:
        """The mechanism with or without optimized frames and base parameters."""
        key = (reframe, regroup)
        if key not in self._mechanisms:
            self._mechanisms[key] = build_mechanism(self.graph, self.robot, reframe=reframe, regroup=regroup)
        return self._mechanisms[key]

    def plain(self, *, merge: bool = False) -> Variant:
        """The robot as described: its own frames and inertial parameters."""
        if merge not in self._plain:
            mechanism = self.mechanism(reframe=False, regroup=False)
            self._plain[merge] = Variant(mechanism, self._drives, merge, ("tensor",) * mechanism.size, self._nominal)
        return self._plain[merge]

    def kinematic(self) -> Iterator[Variant]:
        """Layouts for functions in which the user's frames matter."""
        for merge in (False, True):
            yield self.plain(merge=merge)

    def dynamic(self) -> Iterator[Variant]:
        """Layouts for functions in which only the motion matters."""
        for reframe, merge, moment in itertools.product((False, True), (False, True), ("tensor", "pseudo-inertia")):
            mechanism = self.mechanism(reframe=reframe, regroup=True)
            yield Variant(mechanism, self._drives, merge, (moment,) * mechanism.size, self._nominal)

    @staticmethod
    def neighbours(variant: Variant) -> Iterator[Variant]:
        """The same layout with the other form of the moment for one body."""
        for index, moment in enumerate(variant.moments):
            other = "tensor" if moment == "pseudo-inertia" else "pseudo-inertia"
            yield replace(variant, moments=(*variant.moments[:index], other, *variant.moments[index + 1 :]))
