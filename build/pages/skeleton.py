"""What is drawn of a robot: nodes on its links and joints, lines through them, marks where joints are.

The nodes are points of a copy of the robot, so that one emitted function, ``point_positions``, gives all of them for every kind
of link and joint, in Python and in the page.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.meshes import Mesh, load_meshes
from elastogen.generator.joints.kinds import FIXED
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import IDENTITY, Joint, Link, Matrix, Point, Robot

BEAM_NODES = 13  # along a flexible link
TIP = "drawn_tip"
WIDTH = {"rigid": 0.03, "beam": 0.022}  # of lines, in parts of the robot's size


@dataclass(frozen=True)
class Line:
    """A line through nodes; ``kind`` is "rigid" or "beam"."""

    nodes: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Mark:
    """The sign of a joint at a node; ``kind`` is "turn" or "slide"."""

    node: int
    kind: str


@dataclass(frozen=True)
class Skeleton:
    """A robot whose points are the nodes of its drawing, and what is drawn through them."""

    robot: Robot
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    tip: int
    meshes: tuple[tuple[Mesh, tuple[int, ...]], ...] = ()
    """With the nodes at the origin of the link's frame and one metre along its axes."""
    note: str = ""
    """What there is to say about the meshes."""

    def meshes_json(self) -> str:
        """The meshes for the viewer, once for all drawings of a page."""
        return json.dumps([mesh.plain(nodes) for mesh, nodes in self.meshes])

    @property
    def drawn_nodes(self) -> NDArray[np.intp]:
        """The nodes that are places on the robot, and not the directions of a mesh."""
        directions = {node for _, nodes in self.meshes for node in nodes[1:]}
        return np.array([k for k in range(len(self.robot.points)) if k not in directions])

    def scene(self, positions: NDArray[Any]) -> str:
        """The drawing as JSON for the viewer; ``positions`` (n, nodes, 3) tell where the robot moves."""
        places = np.asarray(positions, dtype=float)[..., self.drawn_nodes, :].reshape(-1, 3)
        places = places[np.all(np.isfinite(places), axis=1)]
        low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(3), np.ones(3))
        radius = max(float(np.linalg.norm(high - low)) / 2, 1e-6)
        lines = [{"nodes": line.nodes, "kind": line.kind, "width": WIDTH[line.kind] * radius} for line in self.lines]
        data = {
            "lines": lines,
            "joints": [{"node": mark.node, "kind": mark.kind} for mark in self.marks],
            "tip": self.tip,
            "planar": bool(high[2] - low[2] < 1e-9 * radius),
            "radius": radius,
            "center": [float(x) for x in (low + high) / 2],
        }
        return json.dumps(data)


def skeleton(robot: Robot) -> Skeleton:
    """Lay out the drawing of a robot."""
    return _Drawing(robot).skeleton()


class _Drawing:
    def __init__(self, robot: Robot) -> None:
        end = Joint(TIP, FIXED, robot.tip, TIP, before=robot.tool)
        self.robot = replace(robot, joints=(*robot.joints, end), links=(*robot.links, Link(TIP)), tip=TIP, tool=IDENTITY)
        self.points: list[Point] = []
        self.lines: list[Line] = []
        self.marks: list[Mark] = []

    def skeleton(self) -> Skeleton:
        """Draw link after link, from the base outward."""
        origins = {link.name: self._node(link=link.name) for link in self.robot.links}
        ends = {link.name: self._beam(link, origins[link.name]) for link in self.robot.links}
        for joint in self.robot.joints:
            self._joint(joint, self._seat(joint, ends[joint.parent]), origins[joint.child])
        meshes = load_meshes([look for look in self.robot.looks if look.link in origins and look.role == "visual"])
        axes = {link: (origins[link], *self._axes(link)) for link in dict.fromkeys(mesh.link for mesh in meshes.found)}
        robot = replace(self.robot, points=tuple(self.points))
        placed = tuple((mesh, axes[mesh.link]) for mesh in meshes.found)
        return Skeleton(robot, tuple(self.lines), tuple(self.marks), origins[TIP], placed, meshes.note)

    def _axes(self, link: str) -> tuple[int, ...]:
        """Nodes one metre along the axes of a link's frame: they tell how it is turned."""
        return tuple(self._node(link=link, xyz=xyz) for xyz in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    def _beam(self, link: Link, start: int) -> int:
        """The line of a flexible link; returns the node at its end, that of the frame where there is no beam."""
        if link.flexible is None or link.flexible.beam is None:
            return start
        length = float(nominal(link.flexible.tip_pose[0][3], self.robot.parameters))
        along = [self._node(link=link.name, xyz=(length * k / (BEAM_NODES - 1), 0.0, 0.0)) for k in range(1, BEAM_NODES)]
        self.lines.append(Line((start, *along), "beam"))
        return along[-1]

    def _seat(self, joint: Joint, end: int) -> int:
        """The node on the parent that a joint sits on: the end, or a place along a beam."""
        body = self.robot.link(joint.parent).flexible
        x = None if body is None or joint.type.rides_parent else body.interface(joint.interface).x
        if not joint.interface or x is None:
            return end
        return self._node(link=joint.parent, xyz=(float(nominal(x, self.robot.parameters)), 0.0, 0.0))

    def _joint(self, joint: Joint, end: int, child: int) -> None:
        """From the end of the parent to the joint, and on to the child; what slides along a beam sits on it."""
        place = self._node(joint=joint.name)
        nodes = (place, child) if joint.type.rides_parent else (end, place, child)
        self.lines.append(Line(nodes, "rigid"))
        if joint.type.moves:
            self.marks.append(Mark(place, "turn" if joint.type.rotating else "slide"))

    def _node(self, *, link: str = "", joint: str = "", xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> int:
        x, y, z = xyz
        pose: Matrix = ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))
        self.points.append(Point(f"node_{len(self.points)}", link, joint, pose))
        return len(self.points) - 1
