"""Poses, velocities, accelerations and Jacobians of frames (paper 000 (3), (22)-(28); 002 (11)-(13); 004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.newton_euler import MotionState, Placed, outward
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, combination, cross, sub, times


@dataclass(frozen=True)
class Pose:
    """Rotation and origin of a frame in the base frame."""

    R: Mat
    p: Vec

    @property
    def transform(self) -> Mat:
        """Return T_i0 as four rows."""
        zero = self.p[0].graph.value(0)
        rows = [[*row, origin] for row, origin in zip(self.R, self.p, strict=True)]
        return [*rows, [zero, zero, zero, zero.graph.value(1)]]

    def column(self, axis: int) -> Vec:
        """Return the unit vector of an axis of this frame in base components."""
        return [row[axis] for row in self.R]


@dataclass(frozen=True)
class Twist:
    """Linear velocity (or acceleration) of a frame's origin and its angular velocity (or acceleration)."""

    linear: Vec
    angular: Vec


def base_pose(mechanism: Mechanism) -> Pose:
    """Return the base frame itself."""
    one, zero = mechanism.graph.value(1), mechanism.graph.value(0)
    return Pose([[one, zero, zero], [zero, one, zero], [zero, zero, one]], [zero] * 3)


def poses(mechanism: Mechanism, placed: Sequence[Placed]) -> list[Pose]:
    """Return T_i0 of every moving frame by the product of transformations."""
    base = base_pose(mechanism)
    found: list[Pose] = []
    for frame, place_ in zip(mechanism.frames, placed, strict=True):
        with mechanism.graph.section(f"{frame.label}: pose"):
            parent = found[frame.parent] if frame.parent >= 0 else base
            root = found[place_.group_parent] if place_.group_parent >= 0 else base
            R = place_.group_rotation.after(root.R)
            found.append(Pose(R, add(parent.p, times(parent.R, place_.position))))
    return found


def link_pose(mechanism: Mechanism, found: Sequence[Pose], link: LinkFrame) -> Pose:
    """Return T_i0 of a frame of the user."""
    carrier = found[link.frame] if link.frame >= 0 else base_pose(mechanism)
    return Pose(link.rotation.after(carrier.R), add(carrier.p, times(carrier.R, link.position)))


def jacobian(mechanism: Mechanism, found: Sequence[Pose], q: Sequence[Value]) -> Mat:
    """Return the Jacobian of the tip in base components: rows v (3), omega (3); columns as in 002 (11)."""
    zero = mechanism.graph.value(0)
    J = [[zero] * mechanism.size for _ in range(6)]
    tip = mechanism.link_frames[-1]
    if tip.frame < 0:
        return J
    end = link_pose(mechanism, found, tip)
    for index in mechanism.ancestors(tip.frame):
        frame = mechanism.frames[index]
        with mechanism.graph.section(f"{frame.label}: column of the Jacobian"):
            arm = sub(end.p, found[index].p)
            for shares, (angular, linear) in zip(frame.shares, frame.motion.twists(frame.at(q)), strict=True):
                turn, slide = times(found[index].R, angular), times(found[index].R, frame.motion.to_moved(frame.at(q), linear))
                add_column(J, shares, [*add(slide, cross(turn, arm)), *turn])
    return J


def jacobian_in_tip(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], tip: LinkFrame) -> Mat:
    """Return the Jacobian of a frame, the tip, in its own components (002 (12)), from the tip inward."""
    zero = mechanism.graph.value(0)
    J = [[zero] * mechanism.size for _ in range(6)]
    if tip.frame < 0:
        return J
    # rows of B: components in the tip frame of a vector given in the current frame; arm: from there to the tip
    B = [tip.rotation.outward(row) for row in base_pose(mechanism).R]
    arm = times(B, tip.position)
    for index in mechanism.ancestors(tip.frame):
        frame = mechanism.frames[index]
        with mechanism.graph.section(f"{frame.label}: column of the Jacobian"):
            for shares, (angular, linear) in zip(frame.shares, frame.motion.twists(frame.at(q)), strict=True):
                turn, slide = times(B, angular), times(B, frame.motion.to_moved(frame.at(q), linear))
                add_column(J, shares, [*add(slide, cross(turn, arm)), *turn])
            B = [placed[index].rotation.outward(row) for row in B]
            arm = add(arm, times(B, placed[index].position))
    return J


def add_column(J: Mat, shares: Sequence[tuple[int, Value]], column: Sequence[Value]) -> None:
    """Add a column that belongs to shares of coordinates."""
    for coordinate, share in shares:
        for row, value in enumerate(column):
            J[row][coordinate] = J[row][coordinate] + share * value


def project(R: Mat, J: Mat) -> Mat:
    """Rows of a 6-row matrix in the components of a frame with orientation R: [R^T 0; 0 R^T] J (002 (13))."""
    columns = [list(column) for column in zip(*R, strict=True)]
    rotated: Mat = []
    for block in (J[:3], J[3:]):
        parts = [times(columns, list(column)) for column in zip(*block, strict=True)]
        rotated += [list(row) for row in zip(*parts, strict=True)]
    return rotated


def local_motions(
    mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value], qdd: Sequence[Value]
) -> tuple[list[Twist], list[MotionState]]:
    """Velocities, and accelerations as seen by Newton-Euler, of the moving frames in their own components."""
    graph = mechanism.graph
    zero = graph.value(0)
    motions = outward(mechanism, placed, q, qd, qdd, [zero] * 3)
    velocities: list[Twist] = []
    for index, (frame, place_) in enumerate(zip(mechanism.frames, placed, strict=True)):
        with graph.section(f"{frame.label}: velocity of the origin"):
            parent = velocities[frame.parent] if frame.parent >= 0 else Twist([zero] * 3, [zero] * 3)
            carried = frame.rotation.inward(add(parent.linear, cross(parent.angular, place_.position)))
            twists = frame.motion.twists(frame.at(q))
            slide = combination(graph, frame.own(qd), [linear for _, linear in twists])
            linear = frame.motion.origin_velocity(frame.at(q), carried, slide)
            velocities.append(Twist(linear, motions[index].omega))
    return velocities, motions


def link_twist_local(link: LinkFrame, velocity: Twist) -> Twist:
    """Return the velocity of a frame of the user in its own components."""
    linear = add(velocity.linear, cross(velocity.angular, link.position))
    return Twist(link.rotation.inward(linear), link.rotation.inward(velocity.angular))


def link_acceleration_local(link: LinkFrame, motion: MotionState) -> Twist:
    """Return the acceleration of a frame of the user in its own components."""
    linear = add(motion.a, times(motion.U, link.position))
    return Twist(link.rotation.inward(linear), link.rotation.inward(motion.epsilon))


def in_base(pose: Pose, twist: Twist) -> Twist:
    """Convert to base components."""
    return Twist(times(pose.R, twist.linear), times(pose.R, twist.angular))
