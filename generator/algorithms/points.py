"""Positions, velocities, accelerations and Jacobians of points on links (000 (63), (79), (80); 003 (3)-(5)).

A point moves with a frame, the link's or that of a beam's section, in which it is at r. Accelerations in base components can
be had in three equal ways, R (a + U r), (R U) r and U_0 (R r); which is cheapest depends on the robot and the points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from elastogen.generator.algorithms.kinematics import Pose, Twist, add_column, local_motions, poses
from elastogen.generator.algorithms.newton_euler import MotionState, Placed, acceleration_operator, outward
from elastogen.generator.mechanism.mechanism import LinkFrame
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, sub, times

WORTH_A_PRODUCT = 3  # points on a frame: 18 products each by R (a + U r), 27 and 9 each by R U


def _still(mechanism: PointedMechanism) -> Twist:
    zero = mechanism.graph.value(0)
    return Twist([zero] * 3, [zero] * 3)


def velocities(mechanism: PointedMechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value]) -> list[Twist]:
    """Velocity of every point and its angular velocity, in base components (000 (79))."""
    zero = mechanism.graph.value(0)
    own, _ = local_motions(mechanism, placed, q, qd, [zero] * mechanism.size)
    found, result = poses(mechanism, placed), []
    for point in mechanism.points:
        frame = point.frame.frame
        if frame < 0:
            result.append(_still(mechanism))
            continue
        with mechanism.graph.section(f"{point.point.name}: velocity"):
            v, omega = own[frame].linear, own[frame].angular
            linear = times(found[frame].R, add(v, cross(omega, point.frame.position)))
            result.append(Twist(linear, times(found[frame].R, omega)))
    return result


class Carriers:
    """The frames that carry points, and the way from their components to the base's: turn by turn near the base, else by R."""

    FEW_TURNS = 2  # 4 products each, against 9 by R

    def __init__(self, mechanism: PointedMechanism, placed: Sequence[Placed], motions: Sequence[MotionState]) -> None:
        self.mechanism, self.motions = mechanism, motions
        self._placed, self._poses = placed, poses(mechanism, placed)

    def axes(self, index: int) -> Mat:
        """R of a frame."""
        return self._poses[index].R

    def in_base(self, index: int, v: Vec) -> Vec:
        """R v."""
        chain, at = [], index
        while at >= 0:
            chain.append(self._placed[at])
            at = chain[-1].group_parent
        if len(chain) > self.FEW_TURNS:
            return times(self.axes(index), v)
        for place in chain:
            v = place.group_rotation.outward(v)
        return v

    def accelerations(self, way: Callable[[int], Callable[[Vec], Vec]]) -> list[Twist]:
        """Of every point; ``way`` gives for a frame the acceleration of its points by their place."""
        ready: dict[int, Callable[[Vec], Vec]] = {}
        result = []
        for point in self.mechanism.points:
            index = point.frame.frame
            if index < 0:
                result.append(_still(self.mechanism))
                continue
            with self.mechanism.graph.section(f"{point.point.name}: acceleration"):
                if index not in ready:
                    ready[index] = way(index)
                result.append(Twist(ready[index](point.frame.position), self.in_base(index, self.motions[index].epsilon)))
        return result


def accelerations_by_frames(carriers: Carriers) -> list[Twist]:
    """R (a + U r) (000 (80))."""
    motions = carriers.motions
    return carriers.accelerations(lambda k: lambda r: carriers.in_base(k, add(motions[k].a, times(motions[k].U, r))))


def accelerations_by_operators(carriers: Carriers) -> list[Twist]:
    """R a + (R U) r where a frame carries enough points for the product to pay, else R (a + U r)."""
    carried = Counter(point.frame.frame for point in carriers.mechanism.points)

    def of(index: int) -> Callable[[Vec], Vec]:
        motion = carriers.motions[index]
        if carried[index] < WORTH_A_PRODUCT:
            return lambda r: carriers.in_base(index, add(motion.a, times(motion.U, r)))
        origin = carriers.in_base(index, motion.a)
        columns = [carriers.in_base(index, list(column)) for column in zip(*motion.U, strict=True)]
        operator = [list(row) for row in zip(*columns, strict=True)]
        return lambda r: add(origin, times(operator, r))

    return carriers.accelerations(of)


def accelerations_in_base(carriers: Carriers) -> list[Twist]:
    """R a + U_0 (R r), with U_0 of the angular velocity and acceleration in base components."""

    def of(index: int) -> Callable[[Vec], Vec]:
        motion = carriers.motions[index]
        origin, omega, epsilon = (carriers.in_base(index, v) for v in (motion.a, motion.omega, motion.epsilon))
        U = acceleration_operator(carriers.mechanism.graph, omega, epsilon)
        return lambda r: add(origin, times(U, carriers.in_base(index, r)))

    return carriers.accelerations(of)


def readings(
    mechanism: PointedMechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value], qdd: Sequence[Value]
) -> list[Vec]:
    """R^T (a - g) of every point: what an accelerometer there reads, in the point's axes."""
    upward = [-g for g in mechanism.gravity]
    motions = outward(mechanism, placed, q, qd, qdd, upward)
    result = []
    for point in mechanism.points:
        index, r = point.frame.frame, point.frame.position
        with mechanism.graph.section(f"{point.point.name}: accelerometer"):
            felt = upward if index < 0 else add(motions[index].a, times(motions[index].U, r))
            result.append(point.frame.rotation.inward(felt))
    return result


def spins(mechanism: PointedMechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value]) -> list[Vec]:
    """R^T omega of every point: what a gyroscope there reads, in the point's axes."""
    zero = mechanism.graph.value(0)
    motions = outward(mechanism, placed, q, qd, [zero] * mechanism.size, [zero] * 3)
    still: Vec = [zero] * 3
    return [
        point.frame.rotation.inward(motions[point.frame.frame].omega if point.frame.frame >= 0 else still)
        for point in mechanism.points
    ]


def jacobian(mechanism: PointedMechanism, found: Sequence[Pose], q: Sequence[Value], link: LinkFrame) -> Mat:
    """Jacobian of a frame in base components: rows v (3), omega (3); columns as in 002 (11)."""
    zero = mechanism.graph.value(0)
    J = [[zero] * mechanism.size for _ in range(6)]
    if link.frame < 0:
        return J
    end = add(found[link.frame].p, times(found[link.frame].R, link.position))
    for index in mechanism.ancestors(link.frame):
        frame = mechanism.frames[index]
        with mechanism.graph.section(f"{link.name}: column of the Jacobian"):
            arm = sub(end, found[index].p)
            for shares, (turn, slide) in zip(frame.shares, base_twists(mechanism, found, q, index), strict=True):
                add_column(J, shares, [*add(slide, cross(turn, arm)), *turn])
    return J


def base_twists(mechanism: PointedMechanism, found: Sequence[Pose], q: Sequence[Value], index: int) -> list[tuple[Vec, Vec]]:
    """Per coordinate of a frame's motion, its unit twist in base components: angular, and linear of the frame's origin."""
    frame, R = mechanism.frames[index], found[index].R
    own = frame.at(q)
    return [(times(R, angular), times(R, frame.motion.to_moved(own, linear))) for angular, linear in frame.motion.twists(own)]


def forces(
    mechanism: PointedMechanism, found: Sequence[Pose], q: Sequence[Value], wrenches: Sequence[tuple[Vec, Vec]]
) -> list[Value]:
    """sum J^T w over the points, for forces and moments in base components; all moments are about the base's origin."""
    graph = mechanism.graph
    zero = graph.value(0)
    force: list[Vec] = [[zero] * 3 for _ in mechanism.frames]
    moment: list[Vec] = [[zero] * 3 for _ in mechanism.frames]
    for point, (f, n) in zip(mechanism.points, wrenches, strict=True):
        index = point.frame.frame
        if index >= 0:
            with graph.section(f"{point.point.name}: wrench"):
                place = add(found[index].p, times(found[index].R, point.frame.position))
                force[index] = add(force[index], f)
                moment[index] = add(moment[index], add(n, cross(place, f)))
    tau: list[Value] = [zero] * mechanism.size
    for index in reversed(range(len(mechanism.frames))):
        frame = mechanism.frames[index]
        with graph.section(f"{frame.label}: force"):
            f = force[index]
            about = sub(moment[index], cross(found[index].p, f))
            own = [dot(turn, about) + dot(slide, f) for turn, slide in base_twists(mechanism, found, q, index)]
            for coordinate, value in frame.spread(own):
                tau[coordinate] = tau[coordinate] + value
            if frame.parent >= 0:
                force[frame.parent] = add(force[frame.parent], f)
                moment[frame.parent] = add(moment[frame.parent], moment[index])
    return tau
