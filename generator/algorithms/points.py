"""Positions, velocities, accelerations and Jacobians of points on links (000 (63), (79), (80); 003 (3)-(5)).

A point moves with a frame, the link's or that of a beam's section, in which it is at r. Accelerations in base components are in
point_accelerations.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms.kinematics import Pose, Twist, add_column, local_motions, poses
from elastogen.generator.algorithms.newton_euler import Placed, outward
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, sub, times


def still(mechanism: PointedMechanism) -> Twist:
    """Of a point of the base."""
    zero = mechanism.graph.value(0)
    return Twist([zero] * 3, [zero] * 3)


def velocities(mechanism: PointedMechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value]) -> list[Twist]:
    """Return velocity and angular velocity of every point in base components (000 (79))."""
    zero = mechanism.graph.value(0)
    own, _ = local_motions(mechanism, placed, q, qd, [zero] * mechanism.size)
    found, result = poses(mechanism, placed), []
    for point in mechanism.points:
        frame = point.frame.frame
        if frame < 0:
            result.append(still(mechanism))
            continue
        with mechanism.graph.section(f"{point.point.name}: velocity"):
            v, omega = own[frame].linear, own[frame].angular
            linear = times(found[frame].R, add(v, cross(omega, point.frame.position)))
            result.append(Twist(linear, times(found[frame].R, omega)))
    return result


def readings(
    mechanism: PointedMechanism, placed: Sequence[Placed], q: Sequence[Value], qd: Sequence[Value], qdd: Sequence[Value]
) -> list[Vec]:
    """Return R^T (a - g) of every point: the reading of an accelerometer there, in the point's axes."""
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
    """Return R^T omega of every point: the reading of a gyroscope there, in the point's axes."""
    zero = mechanism.graph.value(0)
    motions = outward(mechanism, placed, q, qd, [zero] * mechanism.size, [zero] * 3)
    still: Vec = [zero] * 3
    return [
        point.frame.rotation.inward(motions[point.frame.frame].omega if point.frame.frame >= 0 else still)
        for point in mechanism.points
    ]


def jacobian(mechanism: Mechanism, found: Sequence[Pose], q: Sequence[Value], link: LinkFrame) -> Mat:
    """Return the Jacobian of a frame in base components: rows v (3), omega (3); columns as in 002 (11)."""
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


def base_twists(mechanism: Mechanism, found: Sequence[Pose], q: Sequence[Value], index: int) -> list[tuple[Vec, Vec]]:
    """Return for each coordinate of a frame's motion its unit twist in base components: angular, and linear of the origin."""
    frame, R = mechanism.frames[index], found[index].R
    own = frame.at(q)
    return [(times(R, angular), times(R, frame.motion.to_moved(own, linear))) for angular, linear in frame.motion.twists(own)]


def forces(
    mechanism: PointedMechanism, found: Sequence[Pose], q: Sequence[Value], wrenches: Sequence[tuple[Vec, Vec]]
) -> list[Value]:
    """Return sum J^T w over the points for forces and moments in base components; all moments are about the base's origin."""
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
            for coordinate, value in frame.scatter(own):
                tau[coordinate] = tau[coordinate] + value
            if frame.parent >= 0:
                force[frame.parent] = add(force[frame.parent], f)
                moment[frame.parent] = add(moment[frame.parent], moment[index])
    return tau
