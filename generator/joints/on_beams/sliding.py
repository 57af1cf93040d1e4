"""The sliding joint, P_a of paper 003: the joint slides along its parent, a flexible beam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.joints.on_beams.selector import Selector, Threshold, place_on
from elastogen.generator.joints.on_beams.telescopic import beam_text, check_beam, moving_clamp
from elastogen.generator.joints.prismatic import PrismaticJoint
from elastogen.generator.program.differentiate import directional
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.substitute import substitute
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.placement import JointPlacement
from elastogen.generator.robot.robot import IDENTITY, Joint, Matrix, Robot, Scalar
from elastogen.generator.spatial.vectors import AxisRotation, Rotation, Vec

PLANE = (
    Screw((1, 0, 0), turns=False, advance=1),
    Screw((0, 1, 0), turns=False, advance=1),
    Screw((0, 0, 1), turns=True, advance=0),
)
"""How a frame moves in the plane of a beam: along x, along y and about z of the beam's frame."""


class SlidingJoint(JointKind):
    """The joint is at x = d on the parent's axis, and rotates with it; the child is rotated further by gamma."""

    name = "sliding"
    takes: ClassVar[tuple[str, ...]] = ("gamma", "slide", "limits", "motor", "friction")
    needs: ClassVar[tuple[str, ...]] = ("gamma",)

    def placed(self, place: JointPlacement, turn: Matrix | None, child_length: Callable[[], Scalar]) -> JointPlacement:
        """T(d) R(gamma) of paper 003, Table 2."""
        assert turn is not None  # gamma must be given
        return JointPlacement(before=IDENTITY, axis=(1, 0, 0), after=turn)

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The place d on the parent."""
        return (JointCoordinate("m"),)

    def factors(self, joint: Joint) -> tuple[Screw, ...]:
        """In the plane of the beam, by the place and the slope there."""
        return PLANE

    rides_parent = True  # by a Contact, which the frame assignment makes with the coordinates of the parent

    def rigid_limit(self, joint: Joint, on_end: Matrix) -> Joint:
        """A displacement along the straight beam."""
        return replace(joint, type=PrismaticJoint(), elasticity=None, slide="smooth")

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        """There must be a beam in the plane x, y to slide along."""
        super().check(robot, joint, where)
        beam = robot.link(joint.parent).flexible
        if beam is None or beam.centreline is None:
            raise where.at("parent").error(
                joint.parent, "a flexible beam that bends in y only", "slide along a rigid link by a prismatic joint"
            )
        check_beam(robot, joint, beam, where)

    def selector(self, robot: Robot, joint: Joint) -> Selector:
        """k = ceil(d / l_e) on the parent, 1 for d = 0; on what is outside of a smooth P_b, 0 behind its joint."""
        line, index = carrier(robot, joint).centreline, robot.coordinate_names.index(joint.name)
        assert line is not None
        length = nominal(line.length, robot.parameters)
        passage = "refract" if joint.slide == "smooth" else "keep"
        telescopic = moving_clamp(robot, joint.parent)
        if telescopic is None:
            inner = tuple(Threshold(((index, 1.0),), place_on(length, b)) for b in line.breaks[1:-1])
            return Selector(joint.name, index, length, positive=False, thresholds=inner, passage=passage, smooth=line.smooth)
        # x = d lies beyond node i of the part outside where d > l - d_b (1 - i / n)
        outside = robot.coordinate_names.index(telescopic.name)
        n = len(line.breaks) - 1
        nodes = tuple(Threshold(((index, 1.0), (outside, 1.0 - i / n)), length) for i in range(n))
        return Selector(joint.name, index, length, positive=False, first=0, thresholds=nodes, passage=passage)

    def beam_line(self, robot: Robot, joint: Joint) -> str:
        """Where it slides."""
        return beam_text(robot, joint, carrier(robot, joint), f"slides along {joint.parent} (P_a)", "0 <= d")


def carrier(robot: Robot, joint: Joint) -> FlexibleBody:
    """The beam that a sliding joint slides along."""
    body = robot.link(joint.parent).flexible
    if body is None or body.centreline is None:
        raise ValueError(f"joint {joint.name}: {joint.parent} is not a beam in the plane x, y that a joint can slide along")
    return body


class Contact(FrameMotion):
    """A frame that slides along the centre line of a planar beam: P_a of paper 003, Table 2.

    ``line`` gives its place and the angle of the beam there by all coordinates they depend on: the joint's own d and those
    of the beam. The twists are its derivatives: with the smooth line, (1, w', 0) and w'' for d, (0, phi_j, 0) and phi_j'
    for a coordinate of the beam. The frame is rotated further by the fixed angle gamma.
    """

    by_functions = True

    def __init__(self, graph: Graph, count: int, line: Callable[[Sequence[Value]], tuple[Vec, Value]], gamma: float) -> None:
        self.graph, self.gamma = graph, gamma
        self._variables = [graph.input(f"contact[{k}]") for k in range(count)]  # replaced wherever they are used
        self._place, self._angle = line(self._variables)

    def _at(self, values: Sequence[Value], q: Sequence[Value]) -> list[Value]:
        known = {x.ref >> 1: value.ref for x, value in zip(self._variables, q, strict=True)}
        return substitute(self.graph, values, known)

    def arguments(self, q: Sequence[Value]) -> list[Value]:
        """Place along x and y, and the angle without gamma: those of PLANE."""
        x, y, _ = self._place
        return self._at([x, y, self._angle], q)

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """By the angle of the beam and gamma."""
        angle = self._at([self._angle], q)[0] + self.gamma
        return Rotation((AxisRotation(2, self.graph.cos(angle), self.graph.sin(angle)),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """The place on the deformed beam."""
        return self._at(self._place, q)

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Derivatives of place and angle by every coordinate."""
        zero = self.graph.value(0)
        result: list[tuple[Vec, Vec]] = []
        for x in self._variables:
            slopes = directional(self.graph, [*self._place, self._angle], {x.ref >> 1: self.graph.one})
            *linear, angular = self._at(slopes, q)
            result.append(([zero, zero, angular], linear))
        return result

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Rates of the twists, times the rates of the coordinates: the convective terms."""
        zero = self.graph.value(0)
        rates = {x.ref >> 1: rate.ref for x, rate in zip(self._variables, qd, strict=True)}
        velocity = directional(self.graph, [*self._place, self._angle], rates)
        *linear, turn = self._at(directional(self.graph, velocity, rates), q)
        return [zero, zero, turn], linear


class ContactPlan(MotionPlan):
    """The frame of a sliding joint; the frame assignment makes its motion when it knows the coordinates of the beam."""

    contact: Contact

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The contact."""
        return self.contact, rotation
