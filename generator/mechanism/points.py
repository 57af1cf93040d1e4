"""The points of a robot in its mechanism: on beams each is carried by a frame of its own, the section's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TypeAlias

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.bodies.shaped_body import ShapedBody
from elastogen.generator.mechanism.mechanism import Frame, LinkFrame, Mechanism
from elastogen.generator.mechanism.steps import steps
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Interface
from elastogen.generator.robot.placement import product
from elastogen.generator.robot.robot import IDENTITY, Matrix, Point, Robot
from elastogen.generator.sliding.beam_section import BeamSection, Bending, beam_section
from elastogen.generator.sliding.clamped_bodies import clamped_bodies
from elastogen.generator.sliding.section_parts import SectionParts, section_parts
from elastogen.generator.sliding.tip_motion import material_motion
from elastogen.generator.solids.material_points import point_on, stresses_of
from elastogen.generator.solids.sections import can_be_cut, cut
from elastogen.generator.spatial.inertia import Array, Inertia
from elastogen.generator.spatial.vectors import Rotation, combination_scalar

Placed: TypeAlias = "tuple[int, Matrix]"
"""A frame's number (-1: the base) and a pose in it."""


@dataclass(frozen=True)
class PointFrame:
    """A point: its frame, and on a beam the section that carries it."""

    point: Point
    frame: LinkFrame
    offset: Value | None = None  # of its gauge [m]
    section: BeamSection | None = None
    parts: SectionParts | None = None  # of the beam, on both sides
    coordinates: tuple[int, ...] = ()  # indices in q of the section's coordinates, or of the solid's
    strains: tuple[Value, ...] = ()  # of a gauge on a solid, per unit of these coordinates
    stresses: tuple[tuple[Value, ...], ...] = ()  # on a solid: xx, yy, zz, xy, yz, xz in the point's axes, per unit of each
    cut: Callable[[], SolidParts] | None = None  # through the solid, across its x axis

    def bending(self, q: Sequence[Value]) -> Bending:
        """How its beam bends there."""
        assert self.section is not None
        return self.section.bending([q[k] for k in self.coordinates])

    def stress(self, q: Sequence[Value]) -> list[Value]:
        """xx, yy, zz, xy, yz, xz of the solid there, in the point's axes [Pa]."""
        graph, own = self.stresses[0][0].graph, [q[k] for k in self.coordinates]
        return [combination_scalar(graph, own, list(column)) for column in zip(*self.stresses, strict=True)]

    def strain(self, q: Sequence[Value]) -> Value:
        """What its gauge reads."""
        assert self.offset is not None
        assert self.point.strain is not None
        if self.section is not None:
            return self.bending(q).strain(self.point.strain.direction, self.offset)
        return combination_scalar(self.offset.graph, [q[k] for k in self.coordinates], self.strains)


@dataclass(frozen=True)
class SolidParts:
    """What hangs on a plane through a solid: a part of it, and frames of interfaces by their numbers."""

    part: ElasticBody
    frames: tuple[int, ...]
    ahead: bool  # whether that is the side to which the point's x axis points


@dataclass(frozen=True)
class PointedMechanism(Mechanism):
    """A mechanism with points; the frames of sections come after all others."""

    points: tuple[PointFrame, ...] = ()

    @property
    def on_beams(self) -> tuple[PointFrame, ...]:
        """The points on beams."""
        return tuple(point for point in self.points if point.section is not None)

    @property
    def sections(self) -> tuple[PointFrame, ...]:
        """The points whose sections have loads: those on beams, and on solids of elements."""
        return tuple(point for point in self.points if point.section is not None or point.cut is not None)

    @property
    def on_solids(self) -> tuple[PointFrame, ...]:
        """The points on solids of a known material."""
        return tuple(point for point in self.points if point.stresses)

    @property
    def gauges(self) -> tuple[PointFrame, ...]:
        """The points with a strain gauge."""
        return tuple(point for point in self.points if point.offset is not None)


def with_points(
    mechanism: Mechanism,
    robot: Robot,
    lower: Lowering,
    links: Mapping[str, Placed],
    seats: Mapping[str, Placed],
    chosen: Sequence[str] | None = None,
) -> PointedMechanism:
    """The mechanism, in the user's frames, with the robot's points; ``seats`` are those of the joints.

    ``chosen`` names frames that are carried in their place: links, the tip among them, or points.
    """
    frames, found = list(mechanism.frames), []
    held, zero = clamped_bodies(robot), lower.graph.value(0)
    points = {point.name: point for point in robot.points}
    for point in robot.points if chosen is None else [points.get(name, Point(name)) for name in chosen]:
        if chosen is not None and point.name in links:
            frame, seat = links[point.name]
            found.append(PointFrame(point, LinkFrame(point.name, frame, *steps(lower, seat))))
            continue
        frame, seat = seats[point.joint] if point.joint else links[point.link]
        pose = lower.matrix(point.pose)
        body = robot.link(point.link).flexible if point.link else None
        if body is None:
            found.append(PointFrame(point, LinkFrame(point.name, frame, *steps(lower, product(seat, pose)))))
            continue
        elastic, as_clamped = frames[frame].elastic, held[point.link]
        assert elastic is not None
        if body.beam is None:
            found.append(_on_solid(lower, robot, point, body, frame, frames))
            continue
        assert as_clamped is not None
        rotation, (along, *across) = steps(lower, pose)
        section = beam_section(lower, body, as_clamped, point.pose[0][3], len(elastic.coordinates), robot.parameters)
        frames.append(
            Frame(
                point.name, frame, Rotation(()), [along, zero, zero], section.motion, elastic.coordinates,
                Inertia.zero(lower.graph),
            )
        )  # fmt: skip
        carried = LinkFrame(point.name, len(frames) - 1, rotation, [zero, *across])
        offset = None if point.strain is None else lower.value(point.strain.offset)
        joint = next(joint.name for joint in robot.joints if joint.child == point.link)
        parts = section_parts(lower, body, elastic, point.pose[0][3], joint, robot.parameters)
        found.append(PointFrame(point, carried, offset, section, parts, elastic.coordinates))
    plain = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    return PointedMechanism(**{**plain, "frames": tuple(frames), "points": tuple(found)})


def _on_solid(lower: Lowering, robot: Robot, point: Point, body: FlexibleBody, frame: int, frames: list[Frame]) -> PointFrame:
    """A point of a solid, in a further frame; of a body of integrals in the frame where it is clamped."""
    pose = lower.matrix(point.pose)
    elastic = frames[frame].elastic
    assert elastic is not None
    if body.solid is None:
        return PointFrame(point, LinkFrame(point.name, frame, *steps(lower, pose)))
    numbers = numeric(point.pose, robot.parameters)
    material = point_on(body, numbers[:3, 3])
    rows = [tuple(tuple(float(x) for x in row) for row in matrix) for matrix in (material.displacements, material.rotations)]
    motion = material_motion(lower, body, Interface(point.name, IDENTITY, *rows))
    place = [lower.graph.value(float(x)) for x in material.place]
    frames.append(Frame(point.name, frame, Rotation(()), place, motion, elastic.coordinates, Inertia.zero(lower.graph)))
    rotation, position = steps(lower, pose)
    carried = LinkFrame(point.name, len(frames) - 1, rotation, [x - y for x, y in zip(position, place, strict=True)])
    stresses = tuple(
        tuple(lower.graph.value(float(x)) for x in row) for row in stresses_of(body.solid, material.strains, numbers[:3, :3])
    )
    cut_here = partial(_cut, lower, body, point, numbers, frame, tuple(frames)) if can_be_cut(body) else None
    plain = PointFrame(point, carried, coordinates=elastic.coordinates, stresses=stresses, cut=cut_here)
    if point.strain is None:
        return plain
    along = numbers[:3, "xyz".index(point.strain.direction)]
    strains = tuple(lower.graph.value(float(along @ strain @ along)) for strain in material.strains)
    return replace(plain, offset=lower.value(0), strains=strains)


def _cut(lower: Lowering, body: FlexibleBody, point: Point, pose: Array, frame: int, frames: Sequence[Frame]) -> SolidParts:
    found, elastic = cut(body, pose[:3, 3], pose[:3, 0]), frames[frame].elastic
    assert elastic is not None
    names = {f"{point.link}, {name}" for name in found.interfaces}
    beyond = (k for k, each in enumerate(frames) if each.parent == frame and each.label in names)
    return SolidParts(ShapedBody.lowered(lower, found.part, elastic.coordinates), tuple(beyond), found.ahead)
