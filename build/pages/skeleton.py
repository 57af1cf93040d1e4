"""What is drawn of a robot: nodes on its links and joints, lines through them, marks where joints are.

The nodes are points of a copy of the robot, so that one emitted function, ``point_positions``, gives all of them for every kind
of link and joint, in Python and in the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.elastic_skins import ElasticSkin, elastic_skin
from elastogen.build.pages.meshes import Mesh, load_meshes
from elastogen.build.pages.page_text import script_json
from elastogen.generator.joints.kinds import FIXED
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.robot import IDENTITY, Joint, Link, Matrix, Point, Robot

BEAM_NODES = 13  # along a flexible link
TIP = "drawn_tip"
MARKS = 0.07  # of the size: radius of the largest mark, that of the base
WIDTH = {"rigid": 0.05, "beam": 0.035}  # of solids, in parts of the robot's size
SECTIONS: dict[tuple[str, ...], tuple[float, float]] = {("y",): (0.35, 1.0), ("z",): (1.0, 0.35)}
"""Halves of the section that a beam is drawn with, in y and z, by the directions it bends in."""
FORCE_UNITS = {"rad": "N m", "m": "N"}


@dataclass(frozen=True)
class Line:
    """A line through nodes; ``kind`` is "rigid" or "beam"."""

    nodes: tuple[int, ...]
    kind: str
    sides: tuple[int, ...] = ()  # of a beam: nodes one metre along z of each section
    section: tuple[float, float] = (1.0, 1.0)  # of a beam: halves of its sides in y and z, in parts of its width


@dataclass(frozen=True)
class Mark:
    """The sign of a joint at a node; ``kind`` is "turn" or "slide"."""

    node: int
    kind: str
    axis: int = -1  # a node one metre along the axis; -1: it has no single one
    force: int = -1  # place of its force among the velocities; -1: it has no single one
    unit: str = ""  # of its force


@dataclass(frozen=True)
class Skeleton:
    """A robot whose points are the nodes of its drawing, and what is drawn through them."""

    robot: Robot
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    tip: int
    frames: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Links with the nodes at the origin of their frame and one metre along y and z."""
    meshes: tuple[tuple[Mesh, tuple[int, ...]], ...] = ()
    """With the same three nodes of their links."""
    skins: tuple[tuple[ElasticSkin, tuple[int, ...]], ...] = ()
    """Surfaces that bend, with the nodes of their places."""
    note: str = ""
    """What there is to say about the meshes."""

    def meshes_json(self) -> str:
        """The meshes for the viewer, once for all drawings of a page."""
        skins = [skin.plain(nodes) for skin, nodes in self.skins]
        return script_json([*(mesh.plain(nodes) for mesh, nodes in self.meshes), *skins])

    @property
    def drawn_nodes(self) -> NDArray[np.intp]:
        """The nodes that are places on the robot, and not directions."""
        directions = {node for _, nodes in self.frames for node in nodes[1:]}
        directions |= {node for line in self.lines for node in line.sides} | {mark.axis for mark in self.marks}
        return np.array([k for k in range(len(self.robot.points)) if k not in directions])

    @property
    def on_beams(self) -> list[int]:
        """The nodes that beams carry, directions among them."""
        return [k for k, point in enumerate(self.robot.points) if point.link and _is_beam(self.robot.link(point.link))]

    def carriers(self) -> list[int]:
        """For every node the place among ``frames`` of the rigid link that carries it; -1: a beam, or what slides."""
        rigid = {nodes[0]: k for k, (_, nodes) in enumerate(self.frames)}
        frames = {point.link: rigid[k] for k, point in enumerate(self.robot.points) if point.link and k in rigid}
        parents = {joint.name: "" if joint.type.rides_parent else joint.parent for joint in self.robot.joints}
        links = [point.link or parents[point.joint] for point in self.robot.points]
        return [frames.get(link, -1) if link and self.robot.link(link).flexible is None else -1 for link in links]

    @property
    def bent_nodes(self) -> NDArray[np.intp]:
        """Rows of ``point_curvatures`` that belong to the nodes of the beams, line after line."""
        rows = {node: row for row, node in enumerate(self.on_beams)}
        return np.array([rows[node] for line in self.lines if line.kind == "beam" for node in line.nodes], dtype=np.intp)

    def scene(self, positions: NDArray[Any]) -> str:
        """The drawing as JSON for the viewer; ``positions`` (n, nodes, 3) tell where the robot moves."""
        places = np.asarray(positions, dtype=float)[..., self.drawn_nodes, :].reshape(-1, 3)
        places = places[np.all(np.isfinite(places), axis=1)]
        places = np.concatenate([places, self._mesh_corners(np.asarray(positions, dtype=float), self.meshes)])
        low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(3), np.ones(3))
        size = max(float(np.linalg.norm(high - low)) / 2, 1e-6)
        up, planar = self._up(), bool(high[2] - low[2] < 1e-9 * size)
        floor = float(min((places @ up).min(), 0.0)) if len(places) else 0.0
        data = {
            "lines": self._lines(size),
            "joints": [
                {"node": mark.node, "kind": mark.kind, "axis": mark.axis, "force": mark.force, "unit": mark.unit}
                for mark in self.marks
            ],
            "frames": [{"name": name, "nodes": nodes} for name, nodes in self.frames],
            "tip": self.tip,
            "base": self._base(np.asarray(positions, dtype=float)),
            "planar": planar,
            "size": size,
            "center": [float(x) for x in (low + high) / 2],
            "half": [float(x) + MARKS * size for x in (high - low) / 2],
            "up": [float(x) for x in up],
            "floor": floor - 0.06 * size if floor < 0 or planar else floor,
        }
        return script_json(data)

    def _lines(self, size: float) -> list[dict[str, Any]]:
        found, first = [], 0
        for line in self.lines:
            width = WIDTH[line.kind] * size
            section = [half * width for half in line.section]
            found.append(
                {
                    "nodes": line.nodes,
                    "kind": line.kind,
                    "width": width,
                    "sides": line.sides,
                    "section": section,
                    "first": first,
                }
            )
            first += len(line.nodes) if line.kind == "beam" else 0
        return found

    def _mesh_corners(
        self, positions: NDArray[np.float64], meshes: Sequence[tuple[Mesh, tuple[int, ...]]]
    ) -> NDArray[np.float64]:
        """Corners of the boxes around meshes in the first picture: links reach farther than their joints."""
        found = [np.zeros((0, 3))]
        nodes = positions.reshape(-1, positions.shape[-2], 3)[0]
        for mesh, (origin, along_y, along_z) in meshes:
            y, z = nodes[along_y] - nodes[origin], nodes[along_z] - nodes[origin]
            low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
            corners = np.array([[x, v, w] for x in (low[0], high[0]) for v in (low[1], high[1]) for w in (low[2], high[2])])
            found.append(nodes[origin] + corners @ np.stack([np.cross(y, z), y, z]))
        return np.concatenate(found)

    def _base(self, positions: NDArray[np.float64]) -> list[float] | None:
        """Where a fixed base ends below; None where it is not fixed."""
        base, up = self.robot.links[0].name, self._up()
        if len(self.robot.velocities) != len(self.robot.coordinates):
            return None
        node = next(k for k, point in enumerate(self.robot.points) if point.link == base)
        place = positions.reshape(-1, positions.shape[-2], 3)[0, node]
        shown = [one for one in self.meshes if one[0].link == base]
        if shown:
            place = place + up * ((self._mesh_corners(positions, shown) - place) @ up).min()
        return [float(x) for x in place]

    def _up(self) -> NDArray[np.float64]:
        """Against the weight; z where there is none."""
        weight = np.array([float(nominal(x, self.robot.parameters)) for x in self.robot.gravity])
        size = float(np.linalg.norm(weight))
        return -weight / size if size > 0 else np.array([0.0, 0.0, 1.0])


def skeleton(robot: Robot) -> Skeleton:
    """Lay out the drawing of a robot."""
    return _Drawing(robot).skeleton()


def _is_beam(link: Link) -> bool:
    return link.flexible is not None and link.flexible.beam is not None


def _has_surface(link: Link) -> bool:
    """Whether the link is drawn by its own deforming solid."""
    return link.flexible is not None and link.flexible.solid is not None and link.flexible.solid.drawn is not None


def _skin(link: Link) -> ElasticSkin | None:
    return None if link.flexible is None or link.flexible.solid is None else elastic_skin(link.flexible.solid)


class _Drawing:
    def __init__(self, robot: Robot) -> None:
        end = Joint(TIP, FIXED, robot.tip, TIP, before=robot.tool)
        self.robot = replace(robot, joints=(*robot.joints, end), links=(*robot.links, Link(TIP)), tip=TIP, tool=IDENTITY)
        self.rates = {velocity.name: k for k, velocity in enumerate(robot.velocities)}
        self.units = {velocity.name: FORCE_UNITS.get(velocity.unit, "") for velocity in robot.velocities}
        self.points: list[Point] = []
        self.lines: list[Line] = []
        self.marks: list[Mark] = []

    def skeleton(self) -> Skeleton:
        """Draw link after link, from the base outward."""
        origins = {link.name: self._node(link=link.name) for link in self.robot.links}
        ends = {link.name: self._beam(link, origins[link.name]) for link in self.robot.links}
        for joint in self.robot.joints:
            if not self._guides(joint):
                self._joint(joint, self._seat(joint, ends[joint.parent]), origins[joint.child])
        for loop in self.robot.loops:
            if loop.kind.between_frames:
                self._loop(loop, ends)
        meshes = load_meshes([look for look in self.robot.looks if look.link in origins and look.role == "visual"])
        skins = [(skin, self._places(link, skin)) for link in self.robot.links if (skin := _skin(link)) is not None]
        frames = {link.name: self._axes(link, origins[link.name]) for link in self.robot.links if self._has_axes(link)}
        robot = replace(self.robot, points=tuple(self.points))
        placed = tuple((mesh, frames[mesh.link]) for mesh in meshes.found if mesh.link in frames)
        named = tuple(("tip" if name == TIP else name, nodes) for name, nodes in frames.items())
        return Skeleton(robot, tuple(self.lines), tuple(self.marks), origins[TIP], named, placed, tuple(skins), meshes.note)

    def _has_axes(self, link: Link) -> bool:
        """Bodies of meshes and of given integrals have no points away from their material."""
        return link.flexible is None or _is_beam(link)

    def _places(self, link: Link, skin: ElasticSkin) -> tuple[int, ...]:
        return tuple(self._node(link=link.name, xyz=(float(x), float(y), float(z))) for x, y, z in skin.places)

    def _axes(self, link: Link, origin: int) -> tuple[int, ...]:
        """Nodes that tell how a link's frame is rotated; one along x would be on another section of a beam."""
        return (origin, *(self._node(link=link.name, xyz=xyz) for xyz in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))

    def _beam(self, link: Link, start: int) -> int:
        """The line of a flexible link; returns the node at its end, that of the frame where there is no beam."""
        if link.flexible is None or link.flexible.beam is None:
            return start
        length = float(nominal(link.flexible.tip_pose[0][3], self.robot.parameters))
        places = [length * k / (BEAM_NODES - 1) for k in range(BEAM_NODES)]
        nodes = (start, *(self._node(link=link.name, xyz=(x, 0.0, 0.0)) for x in places[1:]))
        sides = tuple(self._node(link=link.name, xyz=(x, 0.0, 1.0)) for x in places)
        bends = tuple(sorted({mode.direction for mode in link.flexible.beam.modes} & {"y", "z"}))
        self.lines.append(Line(nodes, "beam", sides, SECTIONS.get(bends, (0.6, 0.6))))
        return nodes[-1]

    def _seat(self, joint: Joint, end: int) -> int:
        """The node on the parent that a joint sits on: the end, or a place along a beam."""
        body = self.robot.link(joint.parent).flexible
        x = None if body is None or joint.type.rides_parent else body.interface(joint.interface).x
        if not joint.interface or x is None:
            return end
        return self._node(link=joint.parent, xyz=(float(nominal(x, self.robot.parameters)), 0.0, 0.0))

    def _joint(self, joint: Joint, end: int, child: int) -> None:
        """From the end of the parent to the joint, and on to the child; what is on a beam or a solid sits there."""
        place = self._node(joint=joint.name)
        apart = joint.type.rides_parent or _has_surface(self.robot.link(joint.parent))
        nodes = (place, child) if apart else (end, place, child)
        self.lines.append(Line(nodes, "rigid"))
        if joint.type.moves:
            self.marks.append(self._mark(joint, place))

    def _mark(self, joint: Joint, place: int) -> Mark:
        kind = "turn" if joint.type.rotating else "slide"
        if joint.type.rides_parent or len(joint.type.velocities) != 1:
            return Mark(place, kind)
        x, y, z = (float(nominal(entry, self.robot.parameters)) for entry in joint.axis)
        axis = self._node(joint=joint.name, xyz=(x, y, z))
        return Mark(place, kind, axis, self.rates.get(joint.name, -1), self.units.get(joint.name, ""))

    def _guides(self, joint: Joint) -> bool:
        """Whether a joint of a mechanism only counts the freedoms of a link that loops hold: there is nothing to see."""
        if not self.robot.loops or joint.has_drives or not joint.type.moves:
            return False
        inner = {one.parent for one in self.robot.joints} - {self.robot.links[0].name}
        bare = [name in inner and self._weightless(self.robot.link(name)) for name in (joint.parent, joint.child)]
        return any(bare) or len(joint.type.velocities) == 6

    def _weightless(self, link: Link) -> bool:
        return link.flexible is None and float(nominal(link.body.mass, self.robot.parameters)) == 0.0

    def _loop(self, loop: ClosedLoop, ends: dict[str, int]) -> None:
        """From both links to where a loop joins them; a distance is a rod between the two places."""
        places = [self._loop_end(end, ends) for end in (loop.a, loop.b)]
        if loop.type == "distance":
            self.lines.append(Line((places[0], places[1]), "rigid"))
        else:
            self.marks.append(Mark(places[0], "slide" if loop.kind.place == "across" else "turn"))

    def _loop_end(self, end: LoopEnd, ends: dict[str, int]) -> int:
        link = self.robot.links[0] if end.link == WORLD else self.robot.link(end.link)
        if link.flexible is not None and (end.x is None or not _is_beam(link)):
            return ends[link.name]
        x, y, z = (float(nominal(row[3], self.robot.parameters)) for row in end.pose[:3])
        along = 0.0 if end.x is None else float(nominal(end.x, self.robot.parameters))
        place = self._node(link=link.name, xyz=(x + along, y, z))
        if link.flexible is None:
            self.lines.append(Line((ends[link.name], place), "rigid"))
        return place

    def _node(self, *, link: str = "", joint: str = "", xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> int:
        x, y, z = xyz
        pose: Matrix = ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))
        self.points.append(Point(f"node_{len(self.points)}", link, joint, pose))
        return len(self.points) - 1
