"""The mechanism behind a robot: moving frames with their joint along z, and the inertia each frame carries.

Fixed joints are merged. Each frame may still be turned about and shifted along its own joint axis without changing
the motion; ``reframe`` uses this freedom to place frames as modified Denavit-Hartenberg does (x along the common normal
to the next axis), which leaves the fewest non-zero constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import sympy

from elastogen.generator import base_regrouping
from elastogen.generator.graph import Graph, Value
from elastogen.generator.inertia import Array, Inertia, pseudo_inertia
from elastogen.generator.joint_motion import JointMotion, Prismatic, Revolute
from elastogen.generator.lowering import Lowering
from elastogen.generator.placement import inverse, product, transform
from elastogen.generator.robot import IDENTITY, Body, Joint, JointType, Matrix, Robot, Scalar
from elastogen.generator.vectors import Matrix3, Rotation, Symmetric, Turn, Vec

TINY = 1e-13  # constants of a placement below this [-, m] are rounding errors of our own and become exact zeros


@dataclass(frozen=True)
class Frame:
    """A moving frame: ``rotation`` and ``position`` lead from the parent frame to the joint, ``motion`` from there."""

    joint: str
    parent: int  # index of the parent frame, -1 for the base
    rotation: Rotation
    position: Vec  # in the parent frame [m]
    motion: JointMotion
    inertia: Inertia


@dataclass(frozen=True)
class LinkFrame:
    """A frame of the user: pose (rotation, position) in the moving frame ``frame`` (-1: in the base)."""

    name: str
    frame: int
    rotation: Rotation
    position: Vec


@dataclass(frozen=True)
class Mechanism:
    """Frames in coordinate order, every parent before its children."""

    graph: Graph
    frames: tuple[Frame, ...]
    link_frames: tuple[LinkFrame, ...]  # every link but the base, then the tip
    gravity: Vec  # [m/s^2] in the base frame

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.frames)

    def is_parallel_to_parent(self, index: int) -> bool:
        """Whether a frame and its parent turn about axes of the same direction."""
        frame = self.frames[index]
        if frame.parent < 0:
            return False
        both_turn = isinstance(frame.motion, Revolute) and isinstance(self.frames[frame.parent].motion, Revolute)
        return both_turn and all(isinstance(turn, Turn) and turn.c.constant == 1.0 for turn in frame.rotation.steps)

    def ancestors(self, index: int) -> list[int]:
        """The frame itself and the frames between it and the base, from the frame inwards."""
        chain = []
        while index >= 0:
            chain.append(index)
            index = self.frames[index].parent
        return chain


@dataclass
class _Draft:
    """A frame while the mechanism is being laid out: placements are 4 x 4 matrices of scalars."""

    joint: Joint
    parent: int
    placement: Matrix  # parent frame -> joint
    constant: Array  # numeric 4 x 4 pseudo-inertia
    live: list[tuple[Matrix, Body]]  # bodies with live parameters and their poses


def build_mechanism(graph: Graph, robot: Robot, *, reframe: bool, regroup: bool) -> Mechanism:
    """Lay out the mechanism of a robot, with or without optimized frames and base inertial parameters."""
    lower = Lowering(graph, robot)
    drafts: list[_Draft] = []
    pose_of: dict[str, tuple[int, Matrix]] = {robot.links[0].name: (-1, IDENTITY)}
    for joint in robot.joints:
        parent, pose = pose_of[joint.parent]
        before = product(pose, lower.matrix(joint.before))
        after = lower.matrix(joint.after)
        if joint.type is JointType.FIXED:
            pose_of[joint.child] = (parent, product(before, after))
        else:
            align = _axis_to_z(joint, lower)
            pose_of[joint.child] = (len(drafts), product(inverse(align), after))
            drafts.append(_Draft(joint, parent, product(before, align), np.zeros((4, 4)), []))
    tip_frame, tip_pose = pose_of[robot.tip]
    pose_of[""] = (tip_frame, product(tip_pose, lower.matrix(robot.tool)))
    if reframe:
        _reframe(drafts, pose_of)
    for link in robot.links:
        _attach(drafts, *pose_of[link.name], _lowered(lower, link.body))
    _attach(drafts, *pose_of[""], _lowered(lower, robot.payload))
    if regroup:
        base_regrouping.regroup(
            [(d.parent, d.joint.type.is_rotation, _numeric(d.placement)) for d in drafts], [d.constant for d in drafts]
        )
    names = [*(link.name for link in robot.links[1:]), ""]
    return Mechanism(
        graph=graph,
        frames=tuple(_frame(lower, draft) for draft in drafts),
        link_frames=tuple(
            LinkFrame(name or "tip", pose_of[name][0], *_steps(lower, pose_of[name][1])) for name in names
        ),
        gravity=[lower.value(component) for component in robot.gravity],
    )


def _axis_to_z(joint: Joint, lower: Lowering) -> Matrix:
    """Rotation whose z column is the joint's axis; a permutation where the axis is a coordinate axis."""
    axis = [lower.scalar(component) for component in joint.axis]
    exact_columns: dict[tuple[Scalar, Scalar, Scalar], Matrix] = {
        (0, 0, 1): ((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0, 0, -1): ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
        (1, 0, 0): ((0, 0, 1), (1, 0, 0), (0, 1, 0)), (-1, 0, 0): ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
        (0, 1, 0): ((0, 1, 0), (0, 0, 1), (1, 0, 0)), (0, -1, 0): ((0, 1, 0), (0, 0, -1), (-1, 0, 0)),
    }  # fmt: skip
    exact = exact_columns.get((axis[0], axis[1], axis[2]))
    if exact is not None:
        return transform(exact, (0, 0, 0))
    z = np.array([float(component) for component in axis])
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    rotation = np.column_stack([x, np.cross(z, x), z])
    return transform(tuple(tuple(float(e) for e in row) for row in rotation), (0, 0, 0))


def _numeric(matrix: Matrix) -> Array | None:
    """The matrix as numbers, or None where it depends on live parameters."""
    if any(isinstance(entry, sympy.Basic) for row in matrix for entry in row):
        return None
    return np.array(matrix, dtype=float)


def _reframe(drafts: list[_Draft], pose_of: dict[str, tuple[int, Matrix]]) -> None:
    """Turn and shift every frame about its own axis, from the tips inwards."""
    choice: list[Matrix] = [IDENTITY] * len(drafts)
    for index in reversed(range(len(drafts))):
        children = [k for k, draft in enumerate(drafts) if draft.parent == index]
        if children:
            numeric = _numeric(product(drafts[children[0]].placement, choice[children[0]]))
            if numeric is not None:
                choice[index] = _common_normal(numeric)
    for index, draft in enumerate(drafts):
        placement = product(draft.placement, choice[index])
        draft.placement = placement if draft.parent < 0 else product(inverse(choice[draft.parent]), placement)
    for name, (frame, pose) in pose_of.items():
        if frame >= 0:
            pose_of[name] = (frame, product(inverse(choice[frame]), pose))


def _common_normal(placement: Array) -> Matrix:
    """Turn about and shift along z that put x on the common normal to the child's axis."""
    u, p = placement[:3, 2], placement[:3, 3]
    normal = np.array([-u[1], u[0]])
    sine = float(np.linalg.norm(normal))
    if sine > 1e-9:
        normal /= sine
        # the foot on our axis: p + t u - h z parallel to the normal
        t = -(p[0] * u[0] + p[1] * u[1]) / sine**2
        height = float(p[2] + t * u[2])
    else:
        length = float(np.hypot(p[0], p[1]))
        normal = p[:2] / length if length > TINY else np.array([1.0, 0.0])
        height = float(p[2])
    if normal[0] < -TINY or (abs(normal[0]) <= TINY and normal[1] < 0):
        normal = -normal
    c, s = _round(float(normal[0])), _round(float(normal[1]))
    return transform(((c, -s, 0), (s, c, 0), (0, 0, 1)), (0, 0, _round(height)))


def _round(number: float) -> float:
    """``number`` without rounding errors around 0, 1 and -1."""
    nearest = round(number)
    return float(nearest) if abs(nearest) <= 1 and abs(number - nearest) <= TINY else number


def _lowered(lower: Lowering, body: Body) -> Body:
    com = (lower.scalar(body.com[0]), lower.scalar(body.com[1]), lower.scalar(body.com[2]))
    return Body(lower.scalar(body.mass), com, lower.matrix(body.inertia))


def _attach(drafts: list[_Draft], frame: int, pose: Matrix, body: Body) -> None:
    """Add a body's inertia to the frame that carries it; bodies of the base do not move."""
    if frame < 0:
        return
    X, scalars = _numeric(pose), [body.mass, *body.com, *(entry for row in body.inertia for entry in row)]
    if X is None or any(isinstance(scalar, sympy.Basic) for scalar in scalars):
        drafts[frame].live.append((pose, body))
        return
    J = pseudo_inertia(float(body.mass), np.array(body.com, dtype=float), np.array(body.inertia, dtype=float))
    drafts[frame].constant += X @ J @ X.T


def _frame(lower: Lowering, draft: _Draft) -> Frame:
    graph = lower.graph
    J = draft.constant
    inertia = Inertia.of_array(graph, np.where(np.abs(J) <= 1e-15 * np.abs(J).max(initial=0.0), 0.0, J))
    for pose, body in draft.live:
        rotation, position = _steps(lower, pose)
        tensor = Symmetric.of([[lower.value(entry) for entry in row] for row in body.inertia])
        local = Inertia.of_body(lower.value(body.mass), [lower.value(c) for c in body.com], tensor)
        turned = replace(local, S=rotation.outward(local.S), P=rotation.outward_symmetric(local.P))
        inertia = inertia + turned.shifted(position)
    rotation, position = _steps(lower, draft.placement)
    motion: JointMotion
    if draft.joint.type.is_rotation:
        steps, last = rotation.steps[:-1], rotation.steps[-1]
        if isinstance(last, Turn):
            motion, rotation = Revolute(graph, last), Rotation(steps)
        else:
            motion = Revolute(graph, Turn(2, graph.value(1), graph.value(0)))
    else:
        motion = Prismatic(graph)
    return Frame(draft.joint.name, draft.parent, rotation, position, motion, inertia)


def _steps(lower: Lowering, pose: Matrix) -> tuple[Rotation, Vec]:
    """A pose as turns about z, x, z (few operations: right angles fold away) and a position."""
    graph = lower.graph
    position = [_length(graph, lower, row[3]) for row in pose[:3]]
    if any(isinstance(entry, sympy.Basic) for row in pose[:3] for entry in row[:3]):
        rows = [[lower.value(entry) for entry in row[:3]] for row in pose[:3]]
        return Rotation((Matrix3(rows), Turn(2, graph.value(1), graph.value(0)))), position
    R = np.array([row[:3] for row in pose[:3]], dtype=float)
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine <= TINY:
        phi, alpha = (1.0, 0.0), (float(R[2, 2]), 0.0)
        theta = (float(R[0, 0]), float(-R[0, 1]))
    else:
        phi = (-float(R[1, 2]) / sine, float(R[0, 2]) / sine)
        alpha = (float(R[2, 2]), sine)
        if phi[0] < -TINY or (abs(phi[0]) <= TINY and phi[1] < 0):
            phi, alpha = (-phi[0], -phi[1]), (alpha[0], -sine)
        theta = (float(R[2, 1]) / alpha[1], float(R[2, 0]) / alpha[1])
    turns = [
        Turn(axis, graph.value(_round(c)), graph.value(_round(s)))
        for axis, (c, s) in zip((2, 0, 2), (phi, alpha, theta), strict=True)
    ]
    return Rotation(tuple(turns)), position


def _length(graph: Graph, lower: Lowering, scalar: Scalar) -> Value:
    if isinstance(scalar, sympy.Basic):
        return lower.value(scalar)
    return graph.value(0.0 if abs(scalar) <= TINY else float(scalar))
