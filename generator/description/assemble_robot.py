"""From the structure of a robot file to the robot: expressions parsed, placements made, joints ordered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from elastogen.generator.description.file.fields import BodySection, FrameSection, ScalarField, VectorField
from elastogen.generator.description.file.robot_file import (
    DhSection,
    ElasticitySection,
    JointSection,
    LimitsSection,
    LinkSection,
    RobotFile,
)
from elastogen.generator.description.flexible.assemble import flexible_body
from elastogen.generator.description.flexible.kind import DescribedLink
from elastogen.generator.description.flexible.kinds import FLEXIBLE_KINDS, sliding_types
from elastogen.generator.description.points import read_points
from elastogen.generator.joints.kinds import KINDS
from elastogen.generator.robot import placement
from elastogen.generator.robot.expressions import parse_scalar
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.names import check_parameter_name
from elastogen.generator.robot.placement import JointPlacement
from elastogen.generator.robot.robot import (
    IDENTITY,
    Actuation,
    Body,
    Joint,
    JointElasticity,
    Limits,
    Link,
    Matrix,
    Parameter,
    Robot,
    Scalar,
    Vector,
)
from elastogen.generator.robot.tree import default_tip, depth_first

DEFAULT_BASE = "base"


@dataclass(frozen=True)
class _Edge:
    """A joint of the file with its parent and child filled in."""

    section: JointSection
    parent: str
    child: str

    @property
    def name(self) -> str:
        return self.section.name


def assemble(file: RobotFile, source: str) -> Robot:
    """Return the robot that the file describes, not yet validated and with nothing live."""
    return _Assembly(file, Location(source)).robot()


class _Assembly:
    def __init__(self, file: RobotFile, where: Location) -> None:
        self.file, self.where = file, where
        self.parameters = self._parameters()

    def robot(self) -> Robot:
        edges, links = self._edges()
        root, ordered = depth_first(list(links), edges, self.where)
        joints = tuple(self._joints(root, ordered))
        names = [root, *(joint.child for joint in joints)]
        tip = self.file.tip.link or default_tip(root, joints)
        if tip not in links:
            fix = did_you_mean(tip, links, "name one of the file's links")
            raise self.where.at("tip", "link").error(tip, "the name of a link", fix)
        telescopic = {joint.child: joint.slide for joint in joints if joint.type.feeds_child}
        made = {
            name: self._link(name, section, telescopic.get(name, ""), self.where.at("links", name))
            for name, section in links.items()
        }
        return Robot(
            name=self.file.name,
            links=tuple(made[name] for name in names),
            joints=joints,
            gravity=self._vector(self.file.gravity, self.where.at("gravity")),
            tip=tip,
            tool=self._frame(self.file.tip, self.where.at("tip")),
            payload=self._body(self.file.payload, self.where.at("payload")),
            points=read_points(self.file.points, self._frame, self.parameters, self.where.at("points")),
            parameters=self.parameters,
            description=" ".join(self.file.description.split()),
        )

    def _parameters(self) -> dict[str, Parameter]:
        parameters = {}
        for name, section in self.file.parameters.items():
            here = self.where.at("parameters", name)
            check_parameter_name(name, here)
            value = self._constant(section.value, here.at("value"))
            parameters[name] = Parameter(name, value, section.unit, " ".join(section.doc.split()))
        return parameters

    def _edges(self) -> tuple[list[_Edge], dict[str, LinkSection | None]]:
        """Fill in the parents and children a serial chain may leave out, and the links if none is listed."""
        listed = [link.name for link in self.file.links]
        links: dict[str, LinkSection | None] = {}
        for link in self.file.links:
            if link.name in links:
                raise self.where.at("links", link.name).error(link.name, "link names that occur once", "rename one")
            links[link.name] = link
        if not self.file.joints:
            raise self.where.at("joints").error([], "at least one joint that moves", "add a revolute or prismatic joint")
        given = {joint.child for joint in self.file.joints if joint.child}
        base_listed = (
            bool(listed)
            and listed[0] not in given
            and (len(listed) > len(self.file.joints) or self.file.joints[0].parent == listed[0])
        )
        previous = listed[0] if base_listed else DEFAULT_BASE
        following = listed[1:] if base_listed else listed
        edges = []
        for i, joint in enumerate(self.file.joints):
            child = joint.child or (following[i] if i < len(following) else f"link{i + 1}")
            edges.append(_Edge(joint, joint.parent or previous, child))
            previous = child
        for edge in edges:
            if not listed:
                links.setdefault(edge.child, None)
            if not listed or edge.parent == DEFAULT_BASE:
                links.setdefault(edge.parent, None)
        return edges, links

    def _joints(self, root: str, edges: list[_Edge]) -> list[Joint]:
        at_zero: dict[str, Matrix] = {root: IDENTITY}  # link frames in the base frame, all coordinates zero
        track = any(edge.section.placement.screw is not None for edge in edges)
        joints = []
        for edge in edges:
            section, here = edge.section, self.where.at("joints", edge.name)
            kind = KINDS[section.type]
            place = self._placement(section, kind, at_zero.get(edge.parent, IDENTITY), here)
            turn = None if section.gamma is None else self._turn(section.gamma, here.at("gamma"))
            place = kind.placed(place, turn, lambda edge=edge, here=here: self._child_length(edge, here))  # type: ignore[misc]
            if track:
                moved = placement.product(at_zero[edge.parent], place.before)
                at_zero[edge.child] = placement.product(moved, place.after)
            actuation = Actuation(
                motor_inertia=self._scalar(section.motor.inertia, here.at("motor", "inertia")),
                gear_ratio=self._scalar(section.motor.gear_ratio, here.at("motor", "gear_ratio")),
                viscous=self._scalar(section.friction.viscous, here.at("friction", "viscous")),
                coulomb=self._scalar(section.friction.coulomb, here.at("friction", "coulomb")),
                coulomb_velocity=self._scalar(section.friction.coulomb_velocity, here.at("friction", "coulomb_velocity")),
            )
            limits = self._limits(section.limits, here.at("limits"))
            joints.append(
                Joint(
                    edge.name,
                    kind,
                    edge.parent,
                    edge.child,
                    place.axis,
                    place.before,
                    place.after,
                    limits,
                    actuation,
                    self._elasticity(section.elasticity, here.at("elasticity")),
                    section.slide,
                    self._details(section, kind, here),
                )
            )
        return joints

    def _child_length(self, edge: _Edge, here: Location) -> Scalar:
        """Length of the child of a joint, a beam."""
        beam = next((link.flexible for link in self.file.links if link.name == edge.child), None)
        length = None if beam is None else FLEXIBLE_KINDS[beam.type].length(beam)
        if length is None:
            raise here.at("child").error(
                edge.child, f"a link with flexible: {{type: {sliding_types()}}}", "use a prismatic joint for a rigid link"
            )
        return self._scalar(length, self.where.at("links", edge.child, "flexible", "length"))

    def _turn(self, gamma: ScalarField, here: Location) -> Matrix:
        """R(gamma) of paper 003, Table 2."""
        return placement.from_xyz_rpy((0, 0, 0), (0, 0, self._scalar(gamma, here)))

    def _details(self, section: JointSection, kind: JointKind, here: Location) -> dict[str, Scalar | Vector]:
        """The numbers that only joints of this kind have."""
        found: dict[str, Scalar | Vector] = {}
        for key in kind.keys:
            given, inside = section.own.get(key.name, key.default), here.at(key.name)
            assert given is not None  # the section has checked it
            if isinstance(given, tuple):
                found[key.name] = placement.unit_axis(self._vector(given, inside), inside)
            else:
                found[key.name] = self._scalar(given, inside)
        return found

    def _placement(self, joint: JointSection, kind: JointKind, parent_at_zero: Matrix, here: Location) -> JointPlacement:
        section, inside = joint.placement, here.at("placement")
        convention = next((c for c in ("dh", "mdh", "screw") if getattr(section, c) is not None), "")
        if convention and joint.axis is not None:
            raise here.at("axis").error(joint.axis, f"no axis: {convention} defines it", "remove axis")
        if section.dh is not None:
            return placement.from_standard_dh(*self._dh(section.dh, inside.at("dh")))
        if section.mdh is not None:
            return placement.from_modified_dh(*self._dh(section.mdh, inside.at("mdh")))
        if section.screw is not None:
            screw, place = section.screw, inside.at("screw")
            return placement.from_screw(
                placement.unit_axis(self._vector(screw.axis, place.at("axis")), place.at("axis")),
                self._vector(screw.point, place.at("point")),
                parent_at_zero,
                None if screw.frame is None else self._frame(screw.frame, place.at("frame")),
                translates=kind.translates,
            )
        axis = self._vector(joint.axis or (0, 0, 1), here.at("axis"))
        if kind.moves:
            axis = placement.unit_axis(axis, here.at("axis"))
        return JointPlacement(before=self._frame(section, inside), axis=axis)

    def _dh(self, row: DhSection, here: Location) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        alpha, theta = (
            self._scalar(getattr(row, key), here.at(key))
            if getattr(row, f"{key}_deg") is None
            else _radians(self._scalar(getattr(row, f"{key}_deg"), here.at(f"{key}_deg")))
            for key in ("alpha", "theta")
        )
        if row.alpha_deg is None and row.theta_deg is None:
            placement.warn_of_degrees((alpha, theta), here, "write alpha_deg and theta_deg")
        return self._scalar(row.a, here.at("a")), alpha, self._scalar(row.d, here.at("d")), theta

    def _frame(self, section: FrameSection, here: Location) -> Matrix:
        if section.matrix is not None:
            rows = tuple(
                tuple(self._scalar(entry, here.at("matrix", i, j)) for j, entry in enumerate(row))
                for i, row in enumerate(section.matrix)
            )
            return placement.from_matrix(rows, here.at("matrix"))
        if section.rpy_deg is not None:
            roll, pitch, yaw = self._vector(section.rpy_deg, here.at("rpy_deg"))
            rpy: Vector = (_radians(roll), _radians(pitch), _radians(yaw))
        else:
            rpy = self._vector(section.rpy or (0, 0, 0), here.at("rpy"))
            placement.warn_of_degrees(rpy, here.at("rpy"), "write rpy_deg")
        return placement.from_xyz_rpy(self._vector(section.xyz or (0, 0, 0), here.at("xyz")), rpy)

    def _link(self, name: str, section: LinkSection | None, telescopic: str, here: Location) -> Link:
        body = self._body(section, here)
        if section is None or section.flexible is None:
            return Link(name, body)
        given, inside = section.flexible, here.at("flexible")
        tip_body = self._body(given.tip, inside.at("tip"))
        frame = FLEXIBLE_KINDS[given.type].tip_frame(given)
        tip_pose = IDENTITY if frame is None else self._frame(frame, inside.at("tip_frame"))
        made = flexible_body(DescribedLink(given, tip_body, tip_pose, self.parameters, inside), telescopic)
        return Link(name, body, made, tip_body)

    def _elasticity(self, section: ElasticitySection | None, here: Location) -> JointElasticity | None:
        if section is None:
            return None
        stiffness = self._scalar(section.stiffness, here.at("stiffness"))
        return JointElasticity(stiffness, self._scalar(section.damping, here.at("damping")))

    def _body(self, section: BodySection | None, here: Location) -> Body:
        if section is None:
            return Body()
        mass = self._scalar(section.mass, here.at("mass"))
        com = self._vector(section.com, here.at("com"))
        inertia: Matrix = tuple(self._vector(row, here.at("inertia")) for row in section.inertia)
        if section.inertia_about == "frame":
            inertia = _moved_to_com(inertia, mass, com)
        return Body(mass, com, inertia)

    def _limits(self, section: LimitsSection, here: Location) -> Limits:
        values: Mapping[str, float | None] = {
            key: None if getattr(section, key) is None else self._constant(getattr(section, key), here.at(key))
            for key in ("lower", "upper", "velocity", "effort")
        }
        return Limits(**values)

    def _scalar(self, given: ScalarField, here: Location) -> Scalar:
        return parse_scalar(given, self.parameters, here)

    def _constant(self, given: ScalarField, here: Location) -> float:
        return float(parse_scalar(given, {}, here))

    def _vector(self, given: VectorField, here: Location) -> Vector:
        x, y, z = (self._scalar(entry, here.at(i)) for i, entry in enumerate(given))
        return (x, y, z)


def _radians(degrees: Scalar) -> Scalar:
    return degrees * sympy.pi / 180 if isinstance(degrees, sympy.Expr) else math.radians(degrees)


def _moved_to_com(inertia: Matrix, mass: Scalar, com: Vector) -> Matrix:
    """Return the inertia about the centre of mass of one about the frame's origin (Steiner)."""
    square = com[0] * com[0] + com[1] * com[1] + com[2] * com[2]
    return tuple(
        tuple(inertia[i][j] - mass * ((square if i == j else 0) - com[i] * com[j]) for j in range(3)) for i in range(3)
    )
