"""The telescopic joint, P_b of paper 003: its child, a flexible beam, slides through a joint on the parent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import sympy

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.on_beams.selector import Selector, Threshold, place_on
from elastogen.generator.joints.prismatic import PrismaticJoint, PrismaticPlan
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.placement import JointPlacement, from_xyz_rpy, product
from elastogen.generator.robot.robot import Joint, Matrix, Robot, Scalar


class TelescopicJoint(JointKind):
    """The length d of the beam is outside of the joint; the beam is rotated against the joint's place by gamma."""

    name = "telescopic"
    takes: ClassVar[tuple[str, ...]] = ("gamma", "slide", "placement", "limits", "motor", "friction")
    needs: ClassVar[tuple[str, ...]] = ("gamma",)

    def placed(self, place: JointPlacement, turn: Matrix | None, child_length: Callable[[], Scalar]) -> JointPlacement:
        """R(gamma) T(d - l) of paper 003, Table 2."""
        assert turn is not None  # gamma must be given
        back = from_xyz_rpy((-child_length(), 0, 0), (0, 0, 0))
        return JointPlacement(product(place.before, turn), (1, 0, 0), back)

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The length d outside."""
        return (JointCoordinate("m"),)

    feeds_child = True

    def factors(self, joint: Joint) -> tuple[Screw, ...]:
        """A displacement; the beam bends behind it."""
        return (Screw(joint.axis, turns=False, advance=1),)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """The frame of the beam moves along x."""
        return (PrismaticPlan(joint.axis),)

    def rigid_limit(self, joint: Joint, on_end: Matrix) -> Joint:
        """The beam slides as a rigid body."""
        return replace(joint, type=PrismaticJoint(), before=on_end, elasticity=None, slide="smooth")

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        """The child must be a beam of elements."""
        beam = robot.link(joint.child).flexible
        if beam is None or beam.telescope is None:
            raise where.at("type").error(
                self.name, "a telescopic joint with a link of elements on it", "load both from one description"
            )
        check_beam(robot, joint, beam, where)

    def selector(self, robot: Robot, joint: Joint) -> Selector:
        """k = floor((l - d) / l_e) + 1 on the child, where it clamps nodes; a smooth one has one form only."""
        body, index = robot.link(joint.child).flexible, robot.coordinate_names.index(joint.name)
        if body is None or body.telescope is None:
            raise ValueError(f"joint {joint.name}: {joint.child} is not a beam of elements that slides through its joint")
        beam = body.telescope
        length = nominal(beam.length, robot.parameters)
        if not beam.nodal:
            return Selector(joint.name, index, length, positive=True)
        n = beam.elements
        inner = tuple(Threshold(((index, 1.0),), place_on(length, i / n)) for i in range(1, n))
        return Selector(
            joint.name, index, length, positive=True, first=n, step=-1, thresholds=inner, passage="clamp", nodes=index + 1
        )

    def beam_line(self, robot: Robot, joint: Joint) -> str:
        """What slides through it."""
        return beam_text(robot, joint, robot.link(joint.child).flexible, f"lets {joint.child} slide through (P_b)", "0 < d")


def moving_clamp(robot: Robot, link: str) -> Joint | None:
    """The smooth telescopic joint that carries a link, if that is how it is carried."""
    body = robot.link(link).flexible
    if body is None or not body.clamp_moves:
        return None
    return next(joint for joint in robot.joints if joint.child == link)


def check_beam(robot: Robot, joint: Joint, beam: FlexibleBody, where: Location) -> None:
    """Of a joint on a beam: how it slides, and a length of the beam that is known when code is generated."""
    if joint.slide not in ("smooth", "nodal"):
        raise where.at("slide").error(joint.slide, "smooth or nodal", "choose one")
    live = {parameter.symbol for parameter in robot.live_parameters}
    line = beam.centreline
    if line is not None and isinstance(line.length, sympy.Expr) and line.length.free_symbols & live:
        raise where.error(str(line.length), "a beam whose length is not live", "remove it from `live`")


def beam_text(robot: Robot, joint: Joint, beam: FlexibleBody | None, what: str, lower: str) -> str:
    """The line of ``elastogen check`` for a joint on a beam."""
    if beam is None or beam.centreline is None:
        return ""
    length = nominal(beam.centreline.length, robot.parameters)
    return f"{joint.name}  {what}, {joint.slide}, elements: {len(beam.centreline.breaks) - 1}, {lower} <= {length:.6g} m"
