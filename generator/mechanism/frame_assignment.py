"""Builds the mechanism of a robot: its moving frames with their joint along z, and the inertia each frame carries.

Fixed joints are merged. Each frame may still be rotated about and shifted along its own joint axis without changing
the motion; ``reframe`` uses this freedom to place frames as modified Denavit-Hartenberg does (x along the common normal
to the next axis), which leaves the fewest non-zero constants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import sympy

from elastogen.generator.bodies import base_regrouping
from elastogen.generator.joints.coupled import CoupledPlan
from elastogen.generator.joints.fixed import FixedPlan
from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.on_beams.sliding import Contact, ContactPlan
from elastogen.generator.mechanism.loops import LoopPlacement, places_on, seat_of
from elastogen.generator.mechanism.mechanism import Frame, LinkFrame, Mechanism, SeparateWindow
from elastogen.generator.mechanism.points import with_points
from elastogen.generator.mechanism.shared_points import Ends, moved_to_loops
from elastogen.generator.mechanism.steps import TINY, steps, unit_pair
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import TIP as TIP_FRAME
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Interface
from elastogen.generator.robot.frames import TIP
from elastogen.generator.robot.moments import pseudo_inertia
from elastogen.generator.robot.placement import inverse, product, transform
from elastogen.generator.robot.robot import IDENTITY, Body, Joint, Link, Matrix, Robot, Scalar, Vector
from elastogen.generator.sliding.clamped_bodies import clamped_bodies
from elastogen.generator.sliding.contact import fixed_line, moving_line
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.sliding.interface_plan import InterfacePlan
from elastogen.generator.sliding.moving_beam import lowered_body
from elastogen.generator.sliding.tip_motion import TipPlan
from elastogen.generator.sliding.window import Window
from elastogen.generator.spatial.inertia import Array, Inertia
from elastogen.generator.spatial.vectors import Symmetric


@dataclass
class _Draft:
    """A frame while the mechanism is being built: placements are 4 x 4 matrices of scalars."""

    label: str
    parent: int
    placement: Matrix  # parent frame -> joint
    plan: MotionPlan
    coordinates: tuple[int, ...]  # its velocities
    extras: tuple[int, ...] = ()  # coordinates beyond them, counted over the robot
    flexible: FlexibleBody | None = None
    deforming: tuple[int, ...] = ()  # coordinates of the flexible body
    window: Window | None = None
    constant: Array = field(default_factory=lambda: np.zeros((4, 4)))  # numeric pseudo-inertia
    live: list[tuple[Matrix, Body]] = field(default_factory=list)  # bodies with live parameters, their poses


class _FrameAssignment:
    """Frames, and the pose of everything the user has named in them."""

    def __init__(self, robot: Robot, lower: Lowering, inside: Indicators, separate: bool) -> None:
        self.robot, self.lower, self.inside = robot, lower, inside
        self.drafts: list[_Draft] = []
        self.windows: list[SeparateWindow] | None = [] if separate else None
        self.beams = clamped_bodies(robot)
        self.size = 0
        self.order: list[int] = []  # of the robot's q: beside each velocity
        self.beyond: list[int] = []  # and further coordinates
        self.links: dict[str, tuple[int, Matrix]] = {robot.links[0].name: (-1, IDENTITY)}
        self.ends = {(name, TIP_FRAME): where for name, where in self.links.items()}  # where further links are attached
        self.seats: dict[str, tuple[int, Matrix]] = {}  # where joints sit, before their motion
        self.own: dict[str, list[int]] = {}  # velocities of each joint
        for joint in robot.joints:
            self._add(joint, replace(robot.link(joint.child), flexible=self.beams[joint.child]))
        self._lead()
        frame, pose = self.ends[robot.tip, TIP_FRAME]
        self.tip = (frame, product(pose, lower.matrix(robot.tool)))

    def _coordinates(self, count: int) -> tuple[int, ...]:
        self.size += count
        return tuple(range(self.size - count, self.size))

    def _draft(
        self, label: str, parent: int, placement: Matrix, plan: MotionPlan, shared: tuple[int, ...] | None = None
    ) -> int:
        """A further frame; ``shared`` are velocities that move other frames, too."""
        draft = _Draft(label, parent, placement, plan, self._coordinates(plan.size) if shared is None else shared)
        start = len(self.order) + len(self.beyond)
        draft.extras = tuple(range(len(self.beyond), len(self.beyond) + plan.extra))
        self.order += range(start, start + plan.size)
        self.beyond += range(start + plan.size, start + plan.size + plan.extra)
        self.drafts.append(draft)
        return len(self.drafts) - 1

    def _add(self, joint: Joint, link: Link) -> None:
        frame, pose = self._slide(joint) if joint.type.rides_parent else self._moved(joint)
        if joint.type.rides_parent:
            self.seats[joint.name] = (frame, pose)
        if link.flexible is not None:
            frame = self._draft(link.name, frame, pose, FixedPlan())
            pose = IDENTITY
        self.links[link.name] = self.ends[link.name, TIP_FRAME] = (frame, pose)
        if link.flexible is not None:
            self.drafts[frame].flexible = link.flexible
            for place in (*link.flexible.interfaces, *places_on(self.robot, link)):
                self._interface(link.name, frame, link.flexible, place)

    def _interface(self, link: str, frame: int, body: FlexibleBody, place: Interface) -> None:
        """The frame of a place of a flexible body; the tip comes first and has the coordinates that the others share."""
        undeformed, label = self.lower.matrix(place.pose), f"{link}, {place.name}"
        shifted = transform(((1, 0, 0), (0, 1, 0), (0, 0, 1)), (undeformed[0][3], undeformed[1][3], undeformed[2][3]))
        if place.name == TIP_FRAME:
            end = self._draft(label, frame, shifted, TipPlan(body))
            moving = (self.size - len(body.coordinates) - 1,) if body.clamp_moves else ()
            self.drafts[frame].deforming = (*moving, *self.drafts[end].coordinates)
            if body.tip_moves:
                self.drafts[end].coordinates = self.drafts[frame].deforming
        else:
            end = self._draft(label, frame, shifted, InterfacePlan(body, place), self.drafts[frame].deforming)
        rotated = tuple(tuple(row[:3]) for row in undeformed[:3])
        self.ends[link, place.name] = (end, transform(rotated, (0, 0, 0)))

    def _moved(self, joint: Joint) -> tuple[int, Matrix]:
        """The last frame of a joint on the end of its parent, and the child's frame in it."""
        frame, pose = self.ends[joint.parent, joint.interface or TIP_FRAME]
        pose = product(pose, self.lower.matrix(joint.before))
        self.seats[joint.name] = (frame, pose)
        plans = joint.type.plans(joint)
        labels = [joint.name] * len(plans)
        if len(plans) > 1:
            labels = [f"{joint.name}, {coordinate.suffix}" for coordinate in joint.type.coordinates]
        if joint.elasticity is not None:
            plans, labels = (*plans, *plans), [*labels, f"{joint.name}, deflection"]
        self.own[joint.name] = []
        for plan, label in zip(plans, labels, strict=True):
            align = IDENTITY if plan.axis is None else _axis_to_z(plan.axis, self.lower)
            frame = self._draft(label, frame, product(pose, align), plan)
            self.own[joint.name] += self.drafts[frame].coordinates
            pose = inverse(align)
        return frame, product(pose, self.lower.matrix(joint.after))

    def _lead(self) -> None:
        """Give coupled frames the coordinates that lead them."""
        names = {
            velocity.name(joint.name): self.own[joint.name][k]
            for joint in self.robot.joints
            for k, velocity in enumerate(joint.type.velocities if joint.name in self.own else ())
        }
        for draft in self.drafts:
            if isinstance(draft.plan, CoupledPlan):
                draft.coordinates = tuple(names[name] for name in draft.plan.leaders)

    def _slide(self, joint: Joint) -> tuple[int, Matrix]:
        """The frame of a joint that slides along its parent, and the child's frame in it."""
        beam, inside, nodal = self.beams[joint.parent], self.inside.of(joint.name), joint.slide == "nodal"
        assert beam is not None  # validated
        parent, _ = self.links[joint.parent]
        deforming = self.drafts[parent].deforming
        moving, nodes = deforming[: -len(beam.coordinates)], deforming[-len(beam.coordinates) :]
        if moving and beam.telescope is not None:
            found = moving_line(self.lower, beam.telescope, inside, nodal)
        else:
            found = fixed_line(self.lower, beam, inside, nodal)
        window = found.window and found.window.of(nodes)
        slots = self._coordinates(window.size) if window is not None and self.windows is not None else ()
        after = self.lower.matrix(joint.after)
        gamma = _rotation_about_z(after)
        plan = ContactPlan()
        frame = self._draft(joint.name, parent, IDENTITY, plan)
        draft = self.drafts[frame]
        draft.coordinates = (*draft.coordinates, *moving, *(nodes[j] for j in found.used), *slots)
        if window is not None and self.windows is not None:
            self.windows.append(SeparateWindow(slots, window))
        else:
            draft.window = window
        count = len(draft.coordinates) + (draft.window.size if draft.window is not None else 0)
        plan.contact = Contact(self.lower.graph, count, found.line, gamma or 0.0)
        return frame, after if gamma is None else IDENTITY

    def reframe(self) -> None:
        """Turn and shift every frame about its own axis, from the tips inwards."""
        drafts, size = self.drafts, self._extent()
        choice: list[Matrix] = [IDENTITY] * len(drafts)
        for index in reversed(range(len(drafts))):
            children = [k for k, draft in enumerate(drafts) if draft.parent == index]
            if children and drafts[index].plan.may_rotate:
                numeric = _numeric(product(drafts[children[0]].placement, choice[children[0]]))
                if numeric is not None:
                    choice[index] = _common_normal(numeric, size)
        for index, draft in enumerate(drafts):
            placement = product(draft.placement, choice[index])
            draft.placement = placement if draft.parent < 0 else product(inverse(choice[draft.parent]), placement)

        def moved(frame: int, pose: Matrix) -> tuple[int, Matrix]:
            return (frame, pose) if frame < 0 else (frame, product(inverse(choice[frame]), pose))

        self.links = {name: moved(*where) for name, where in self.links.items()}
        self.ends = {place: moved(*where) for place, where in self.ends.items()}
        self.seats = {name: moved(*where) for name, where in self.seats.items()}
        self.tip = moved(*self.tip)

    def _extent(self) -> float:
        """The robot's own size [m]: all its offsets, one after the other."""
        poses = [draft.placement for draft in self.drafts] + [pose for _, pose in self.ends.values()]
        columns = [[float(row[3]) for row in pose[:3] if not isinstance(row[3], sympy.Basic)] for pose in poses]
        return float(sum(np.linalg.norm(column) for column in columns))

    def attach(self, frame: int, pose: Matrix, body: Body) -> None:
        """Add a body's inertia to the frame that carries it; bodies of the base do not move."""
        if frame < 0:
            return
        com = (self.lower.scalar(body.com[0]), self.lower.scalar(body.com[1]), self.lower.scalar(body.com[2]))
        body = Body(self.lower.scalar(body.mass), com, self.lower.matrix(body.inertia))
        X, scalars = _numeric(pose), [body.mass, *body.com, *(entry for row in body.inertia for entry in row)]
        if X is None or any(isinstance(scalar, sympy.Basic) for scalar in scalars):
            self.drafts[frame].live.append((pose, body))
            return
        J = pseudo_inertia(float(body.mass), np.array(body.com, dtype=float), np.array(body.inertia, dtype=float))
        self.drafts[frame].constant += X @ J @ X.T

    def meeting(self) -> list[Ends]:
        """Where rigid links meet by loops: of each loop both frames, and its point in them."""
        found: list[Ends] = []
        for loop in self.robot.loops:
            bends = loop.kind.between_frames and any(self.beams.get(end.link) is not None for end in (loop.a, loop.b))
            if loop.kind.place == "all" and not bends:
                (a, A), (b, B) = (seat_of(self.robot, self.lower, self.ends, loop, side) for side in ("a", "b"))
                X, Y = _numeric(A), _numeric(B)
                if X is not None and Y is not None:
                    found.append(((a, X[:, 3]), (b, Y[:, 3])))
        return found


def build_mechanism(
    graph: Graph,
    robot: Robot,
    *,
    reframe: bool,
    regroup: bool,
    elements: Mapping[str, int] = MappingProxyType({}),
    separate: bool = False,
    points: bool = False,
    frames: tuple[str, ...] = (),
    closed: bool = False,
) -> Mechanism:
    """Lay out the mechanism of a robot, with or without optimized frames and base inertial parameters.

    ``elements`` says which element is inside a sliding joint; the others' indicators are inputs. With ``separate`` the slots
    of windows are coordinates of their own: a mass matrix over them has the few entries that a factorization needs. With
    ``points`` it is a PointedMechanism; so it is with ``frames``, which are then its points. ``closed``: where the loops are,
    masses may have gone from link to link (shared_points.py), so that only closed motions have these dynamics.
    """
    inside = Indicators(graph, robot, elements)
    lower = Lowering(graph, robot, inside.symbols)
    frame_assignment = _FrameAssignment(robot, lower, inside, separate)
    if reframe:
        frame_assignment.reframe()
    for link in robot.links:
        frame_assignment.attach(*frame_assignment.links[link.name], link.body)
        frame_assignment.attach(*frame_assignment.ends[link.name, TIP_FRAME], link.tip_body)
    frame_assignment.attach(*frame_assignment.tip, robot.payload)
    joints = [(d.parent, d.plan, _numeric(d.placement)) for d in frame_assignment.drafts]
    inertias = [d.constant for d in frame_assignment.drafts]
    moved = moved_to_loops(joints, inertias, frame_assignment.meeting()) if closed else None
    if moved is not None:
        for draft, J in zip(frame_assignment.drafts, moved, strict=True):
            draft.constant = J
    elif regroup:
        base_regrouping.regroup(joints, inertias)
    named = [*((link.name, frame_assignment.links[link.name]) for link in robot.links[1:]), (TIP, frame_assignment.tip)]
    mechanism = Mechanism(
        graph=graph,
        frames=tuple(_frame(lower, draft, frame_assignment.size) for draft in frame_assignment.drafts),
        link_frames=tuple(LinkFrame(name, frame, *steps(lower, pose)) for name, (frame, pose) in named),
        gravity=[lower.value(component) for component in robot.gravity],
        size=frame_assignment.size,
        order=(*frame_assignment.order, *frame_assignment.beyond),
        separate=tuple(frame_assignment.windows or ()),
    )
    if robot.loops:
        mechanism = replace(mechanism, loops=_loops(frame_assignment, mechanism).chains())
    if frames:
        return with_points(
            mechanism, robot, lower, {**frame_assignment.links, TIP: frame_assignment.tip}, frame_assignment.seats, frames
        )
    return with_points(mechanism, robot, lower, frame_assignment.links, frame_assignment.seats) if points else mechanism


def _loops(frame_assignment: _FrameAssignment, mechanism: Mechanism) -> LoopPlacement:
    def aligned(joint: Joint) -> Matrix:
        """The first axis of a joint along z, as its frame has it."""
        axis = next((plan.axis for plan in joint.type.plans(joint)), None)
        return IDENTITY if axis is None else _axis_to_z(axis, frame_assignment.lower)

    def placed(index: int, placement: Matrix) -> Frame:
        return _frame(
            frame_assignment.lower,
            replace(frame_assignment.drafts[index], placement=placement, flexible=None),
            frame_assignment.size,
        )

    return LoopPlacement(
        frame_assignment.robot,
        frame_assignment.lower,
        mechanism,
        frame_assignment.drafts,
        frame_assignment.links,
        frame_assignment.ends,
        frame_assignment.seats,
        aligned,
        placed,
    )


def _axis_to_z(given: Vector, lower: Lowering) -> Matrix:
    """Rotation whose z column is a joint's axis; a permutation where the axis is a coordinate axis."""
    axis = [lower.scalar(component) for component in given]
    permutations: dict[tuple[Scalar, Scalar, Scalar], Matrix] = {
        (0, 0, 1): ((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0, 0, -1): ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
        (1, 0, 0): ((0, 0, 1), (1, 0, 0), (0, 1, 0)), (-1, 0, 0): ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
        (0, 1, 0): ((0, 1, 0), (0, 0, 1), (1, 0, 0)), (0, -1, 0): ((0, 1, 0), (0, 0, -1), (-1, 0, 0)),
    }  # fmt: skip
    permutation = permutations.get((axis[0], axis[1], axis[2]))
    if permutation is not None:
        return transform(permutation, (0, 0, 0))
    z = np.array([float(component) for component in axis])
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    rotation = np.column_stack([x, np.cross(z, x), z])
    return transform(tuple(tuple(float(e) for e in row) for row in rotation), (0, 0, 0))


def _rotation_about_z(matrix: Matrix) -> float | None:
    """The angle of a rotation about z, or None for anything else."""
    X = _numeric(matrix)
    if X is None or X[2, 2] < 0 or max(np.abs(X[:2, 2]).max(), np.abs(X[:3, 3]).max()) > TINY:
        return None
    return math.atan2(float(X[1, 0]), float(X[0, 0]))


def _numeric(matrix: Matrix) -> Array | None:
    """The matrix as numbers, or None where it depends on live parameters."""
    if any(isinstance(entry, sympy.Basic) for row in matrix for entry in row):
        return None
    return np.array(matrix, dtype=float)


def _common_normal(placement: Array, size: float) -> Matrix:
    """Turn about and shift along z that put x on the common normal to the child's axis.

    Nearly parallel axes may have it kilometres away; shifting inertia there would cancel all its digits. Where its foot is
    farther than ``size`` from the child, x points to the child as it does for parallel axes.
    """
    u, p = placement[:3, 2], placement[:3, 3]
    normal = np.array([-u[1], u[0]])
    sine, height = float(np.linalg.norm(normal)), float(p[2])
    # the foot on our axis: p + t u - h z parallel to the normal
    shift = -float(p[0] * u[0] + p[1] * u[1]) * float(u[2]) / sine**2 if sine > TINY else 0.0
    if sine > TINY and abs(shift) <= size:
        height += shift
    else:
        normal = p[:2] if float(np.hypot(p[0], p[1])) > TINY else np.array([1.0, 0.0])
    c, s = unit_pair(float(normal[0]), float(normal[1]))
    if c < 0 or (c, s) == (0.0, -1.0):
        c, s = -c, -s
    return transform(((c, -s, 0), (s, c, 0), (0, 0, 1)), (0, 0, 0.0 if abs(height) <= TINY else height))


def _frame(lower: Lowering, draft: _Draft, size: int) -> Frame:
    graph = lower.graph
    J = draft.constant
    inertia = Inertia.of_array(graph, np.where(np.abs(J) <= 1e-15 * np.abs(J).max(initial=0.0), 0.0, J))
    for pose, body in draft.live:
        rotation, position = steps(lower, pose)
        tensor = Symmetric.of([[lower.value(entry) for entry in row] for row in body.inertia])
        local = Inertia.of_body(lower.value(body.mass), [lower.value(c) for c in body.com], tensor)
        rotated = replace(local, S=rotation.outward(local.S), P=rotation.outward_symmetric(local.P))
        inertia = inertia + rotated.shifted(position)
    rotation, position = steps(lower, draft.placement)
    motion, rotation = draft.plan.build(lower, rotation)
    elastic = None if draft.flexible is None else lowered_body(lower, draft.flexible, draft.deforming)
    extras = tuple(size + k for k in draft.extras)
    return Frame(
        draft.label, draft.parent, rotation, position, motion, draft.coordinates, inertia, elastic, draft.window, extras
    )
