"""Makes the robot from the structure of its file: parses expressions, computes placements, orders joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from elastogen.generator.description.file.fields import ScalarField
from elastogen.generator.description.file.robot_file import (
    DhSection,
    JointSection,
    LinkSection,
    RobotFile,
)
from elastogen.generator.description.files import Files
from elastogen.generator.description.flexible.kinds import FLEXIBLE_KINDS, sliding_types
from elastogen.generator.description.interfaces import seated
from elastogen.generator.description.loops.read import read_loops
from elastogen.generator.description.points import on_nodes, read_points
from elastogen.generator.description.section_values import SectionValues, read_parameters
from elastogen.generator.description.solids.mesh_file import MeshSection
from elastogen.generator.description.solids.mesh_links import MeshLink, with_meshes
from elastogen.generator.joints.kinds import KINDS
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.placement import JointPlacement
from elastogen.generator.robot.robot import (
    IDENTITY,
    Joint,
    Matrix,
    Robot,
    Scalar,
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


def assemble(file: RobotFile, source: str, folder: Path, files: Files) -> Robot:
    """Return the robot that the file describes, not yet validated and with nothing live; paths are relative to ``folder``."""
    made = _Assembly(file, Location(source))
    robot = with_meshes(made.robot(), made.mesh_links(), made.values, folder, files)
    return replace(robot, points=on_nodes(robot, robot.points, made.file.points, made.where.at("points")))


class _Assembly:
    def __init__(self, file: RobotFile, where: Location) -> None:
        self.file, self.where = file, where
        self.parameters = read_parameters(file.parameters, where.at("parameters"))
        self.values = SectionValues(self.parameters)

    def robot(self) -> Robot:
        edges, links = self._edges()
        root, ordered = depth_first(list(links), edges, self.where)
        joints = tuple(self._joints(root, ordered))
        names = [root, *(joint.child for joint in joints)]
        tip = self.file.tip.link or default_tip(root, joints)
        if tip not in links:
            fix = did_you_mean(tip, links, f"known are {', '.join(links)}")
            raise self.where.at("tip", "link").error(tip, "the name of a link", fix)
        telescopic = {joint.child: joint.slide for joint in joints if joint.type.feeds_child}
        made = {
            name: self.values.link(name, section, telescopic.get(name, ""), self.where.at("links", name))
            for name, section in links.items()
        }
        robot = Robot(
            name=self.file.name,
            links=tuple(made[name] for name in names),
            joints=joints,
            gravity=self.values.vector(self.file.gravity, self.where.at("gravity")),
            tip=tip,
            tool=self.values.frame(self.file.tip, self.where.at("tip")),
            payload=self.values.body(self.file.payload, self.where.at("payload")),
            points=read_points(self.file.points, self.values.frame, self.parameters, self.where.at("points")),
            loops=read_loops(self.file.loops, self.values, self.where.at("loops")),
            parameters=self.parameters,
            description=" ".join(self.file.description.split()),
        )
        return seated(robot, self._places())

    def mesh_links(self) -> dict[str, MeshLink]:
        """The links that meshes make flexible."""
        where = self.where.at("links")
        return {
            link.name: MeshLink(link.flexible, where.at(link.name, "flexible"), replaces=False)
            for link in self.file.links
            if isinstance(link.flexible, MeshSection)
        }

    def _places(self) -> dict[str, tuple[Scalar, Location]]:
        """Where joints sit along beams, by their names."""
        found = {}
        for section in self.file.joints:
            here = self.where.at("joints", section.name, "x")
            if section.x is not None:
                found[section.name] = (self.values.scalar(section.x, here), here)
        return found

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
            kind = KINDS[section.type].described(section.own, self.parameters, here)
            place = self._placement(section, kind, at_zero.get(edge.parent, IDENTITY), here)
            turn = None if section.gamma is None else self._turn(section.gamma, here.at("gamma"))
            place = kind.placed(place, turn, lambda edge=edge, here=here: self._child_length(edge, here))  # type: ignore[misc]
            actuation = self.values.actuation(section.motor, section.friction, here)
            limits = self.values.limits(section.limits, here.at("limits"))
            elasticity = self.values.elasticity(section.elasticity, here.at("elasticity"))
            joint = Joint(
                edge.name, kind, edge.parent, edge.child, place.axis, place.before, place.after, limits, actuation, elasticity,
                section.slide, self.values.details(section, kind, here), driven=section.driven,
                interface=section.interface or "",
            )  # fmt: skip
            joints.append(joint)
            if track:
                moved = placement.product(at_zero[edge.parent], place.before)
                start = kind.pose(joint, kind.neutral)
                moved = moved if start in (None, IDENTITY) else placement.product(moved, start)
                at_zero[edge.child] = placement.product(moved, place.after)
        return joints

    def _child_length(self, edge: _Edge, here: Location) -> Scalar:
        """Length of the child of a joint, a beam."""
        beam = next((link.flexible for link in self.file.links if link.name == edge.child), None)
        length = None if beam is None else FLEXIBLE_KINDS[beam.type].length(beam)
        if length is None:
            raise here.at("child").error(
                edge.child, f"a link with flexible: {{type: {sliding_types()}}}", "use a prismatic joint for a rigid link"
            )
        return self.values.scalar(length, self.where.at("links", edge.child, "flexible", "length"))

    def _turn(self, gamma: ScalarField, here: Location) -> Matrix:
        """R(gamma) of paper 003, Table 2."""
        return placement.from_xyz_rpy((0, 0, 0), (0, 0, self.values.scalar(gamma, here)))

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
                placement.unit_axis(self.values.vector(screw.axis, place.at("axis")), place.at("axis")),
                self.values.vector(screw.point, place.at("point")),
                parent_at_zero,
                None if screw.frame is None else self.values.frame(screw.frame, place.at("frame")),
                translates=kind.translates,
            )
        axis = self.values.vector(joint.axis or (0, 0, 1), here.at("axis"))
        if kind.moves:
            axis = placement.unit_axis(axis, here.at("axis"))
        return JointPlacement(before=self.values.frame(section, inside), axis=axis)

    def _dh(self, row: DhSection, here: Location) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        alpha, theta = (
            self.values.scalar(getattr(row, key), here.at(key))
            if getattr(row, f"{key}_deg") is None
            else self.values.degrees(getattr(row, f"{key}_deg"), here.at(f"{key}_deg"))
            for key in ("alpha", "theta")
        )
        if row.alpha_deg is None and row.theta_deg is None:
            placement.warn_of_degrees((alpha, theta), here, "write alpha_deg and theta_deg")
        return self.values.scalar(row.a, here.at("a")), alpha, self.values.scalar(row.d, here.at("d")), theta
