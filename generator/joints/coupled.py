"""Coupled joints: their position is a function of other joints' coordinates (gears, mimic joints, four-bars in closed form).

They have no coordinate of their own: the frame moves by the coordinates that lead it, and what the algorithms ask of a motion,
twists and bias, follows by the chain rule from the motion that is coupled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import sympy

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.joints.prismatic import PrismaticJoint
from elastogen.generator.joints.revolute import RevoluteJoint
from elastogen.generator.program.differentiate import directional
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.substitute import substitute
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.placement import by_screws
from elastogen.generator.robot.robot import Coupling, Joint, Matrix, Scalar
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import Rotation, Vec, add, scale


class CoupledKind(JointKind):
    """What coupled kinds have in common; ``free`` is the kind with a coordinate of its own."""

    bounded = False
    holds = False
    free: ClassVar[JointKind]

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """None of its own."""
        return ()

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """Not by a coordinate of its own."""
        return ()

    def factors(self, joint: Joint) -> tuple[Screw, ...]:
        """Those of the free joint."""
        return self.free.screws(joint)

    def pose(self, joint: Joint, values: Sequence[Scalar]) -> Matrix:
        """That of the free joint, at values of the coordinates that lead it."""
        assert joint.coupling is not None  # validated
        known = {leader(name): sympy.sympify(value) for name, value in zip(joint.coupling.leaders, values, strict=True)}
        return by_screws(self.free.screws(joint), (joint.coupling.position.xreplace(known),))

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """The plan of the free joint, led by others."""
        return coupled_plans(joint, self.free)


class CoupledRotation(CoupledKind, RevoluteJoint):
    """A revolute joint whose angle follows others."""

    name = "coupled revolute"
    free = RevoluteJoint()


class CoupledSlide(CoupledKind, PrismaticJoint):
    """A prismatic joint whose displacement follows others."""

    name = "coupled prismatic"
    free = PrismaticJoint()


COUPLED: dict[str, JointKind] = {
    "revolute": CoupledRotation(), "continuous": CoupledRotation(), "prismatic": CoupledSlide(),
}  # fmt: skip
"""What a kind becomes when it is coupled."""


def leader(name: str) -> sympy.Symbol:
    """The coordinate of that name in the expression of a coupling."""
    return sympy.Symbol(f"q({name})", real=True)


def coupled_plans(joint: Joint, free: JointKind) -> tuple[MotionPlan, ...]:
    """The one plan of a coupled joint."""
    assert joint.coupling is not None  # validated
    (plan,) = free.plans(joint)
    return (CoupledPlan(plan, joint.coupling),)


class CoupledPlan(MotionPlan):
    """The plan of a motion that has no coordinate of its own."""

    size = 0

    def __init__(self, plan: MotionPlan, coupling: Coupling) -> None:
        self.plan = plan
        self.axis, self.may_rotate, self.leaders = plan.axis, plan.may_rotate, coupling.leaders
        self._position = coupling.position

    def unnoticed(self, J: Array) -> Array:
        """What the free motion does not move."""
        return self.plan.unnoticed(J)

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The free motion at the position that the leaders give it."""
        motion, rest = self.plan.build(lower, rotation)
        variables = [lower.graph.input(f"leader[{k}]") for k in range(len(self.leaders))]  # replaced wherever they are used
        known = {leader(name): value for name, value in zip(self.leaders, variables, strict=True)}
        return CoupledMotion(motion, variables, lower.function(self._position, known)), rest


class CoupledMotion(FrameMotion):
    """A motion by one coordinate f, a function of the leaders' coordinates.

    Twist per leader: df/dq_j times that of f. Bias: that of the free motion at df/dt, and its twist times what of d2f/dt2 is
    left without accelerations of the leaders.
    """

    coupled = True
    by_functions = True

    def __init__(self, motion: FrameMotion, variables: Sequence[Value], position: Value) -> None:
        self.graph, self.motion, self._variables, self._position = motion.graph, motion, variables, position

    def _at(self, values: Sequence[Value], q: Sequence[Value]) -> list[Value]:
        known = {x.ref >> 1: value.ref for x, value in zip(self._variables, q, strict=True)}
        return substitute(self.graph, values, known)

    def _own(self, q: Sequence[Value]) -> list[Value]:
        return self._at([self._position], q)

    def arguments(self, q: Sequence[Value]) -> list[Value]:
        """The position."""
        return self._own(q)

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Of the free motion."""
        return self.motion.rotation(self._own(q))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Of the free motion."""
        return self.motion.displacement(self._own(q))

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """One for each leader."""
        ((angular, linear),) = self.motion.twists(self._own(q))
        found = []
        for x in self._variables:
            slope = self._at(directional(self.graph, [self._position], {x.ref >> 1: self.graph.one}), q)[0]
            found.append((scale(angular, slope), scale(linear, slope)))
        return found

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Convective terms of the coupling, and those of the free motion."""
        rates = {x.ref >> 1: rate.ref for x, rate in zip(self._variables, qd, strict=True)}
        rate = directional(self.graph, [self._position], rates)
        (change,) = self._at(directional(self.graph, rate, rates), q)
        own = self._own(q)
        ((angular, linear),) = self.motion.twists(own)
        turn, slide = self.motion.bias(own, self._at(rate, q))
        return add(turn, scale(angular, change)), add(slide, scale(linear, change))
