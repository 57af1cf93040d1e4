"""Pose, velocity, acceleration and Jacobians of the chosen frames, all at once, in three references.

The twist of a frame is its linear velocity v, then its angular velocity omega, by reference

- aligned: of its origin p, in base axes (Pinocchio's LOCAL_WORLD_ALIGNED);
- local: of its origin, in its own axes (LOCAL);
- base: of what it carries past the base's origin, v + p x omega, in base axes (WORLD).

Jacobians give these twists, twist = J qd; rates and accelerations are the time derivatives of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from elastogen.generator.algorithms import kinematics, point_accelerations, points, sheared_kinematics
from elastogen.generator.algorithms.kinematics import Pose, Twist
from elastogen.generator.algorithms.newton_euler import outward
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Outputs, flat, unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.mechanism.points import PointFrame
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, add, cross, sub, times
from elastogen.runtime.interface.argument import Argument

ALIGNED, LOCAL, BASE = REFERENCES = ("aligned", "local", "base")
FRAMES = "frames"


def _carriers(variant: Variant) -> list[Pose]:
    return kinematics.poses(variant.mechanism, variant.place(variant.input("q")))


def _poses(variant: Variant) -> list[Pose]:
    mechanism, found = variant.pointed, _carriers(variant)
    return [kinematics.link_pose(mechanism, found, point.frame) for point in mechanism.points]


def pose(variant: Variant) -> Derived:
    """Origin and rotation matrix of every frame (000 (3))."""
    found = _poses(variant)
    return Derived((flat([each.p for each in found]), [value for each in found for value in flat(each.R)]))


def _referred(reference: str, at: Pose, twist: Twist) -> Twist:
    """An aligned twist, converted to another reference."""
    if reference == BASE:
        return Twist(add(twist.linear, cross(at.p, twist.angular)), twist.angular)
    if reference == LOCAL:
        rows = kinematics.project(at.R, [[value] for value in (*twist.linear, *twist.angular)])
        return Twist([row[0] for row in rows[:3]], [row[0] for row in rows[3:]])
    return twist


# ---- Jacobians


def _sheared_jacobians(variant: Variant, reference: str) -> list[Mat]:
    result = []
    for at in _poses(variant):
        J = sheared_kinematics.jacobian(variant.graph, at, variant.input("q"))
        columns = [_referred(reference, at, Twist(list(column[:3]), list(column[3:]))) for column in zip(*J, strict=True)]
        result.append([list(row) for row in zip(*((*twist.linear, *twist.angular) for twist in columns), strict=True)])
    return result


def _jacobian_about_base(variant: Variant, found: Sequence[Pose], point: PointFrame) -> Mat:
    """Unit twists of the joints about the base's origin, which do not depend on the frame."""
    mechanism, q = variant.pointed, variant.input("q")
    J = [variant.zeros() for _ in range(6)]
    for index in mechanism.ancestors(point.frame.frame):
        with variant.graph.section(f"{point.point.name}: column of the Jacobian"):
            twists = points.base_twists(mechanism, found, q, index)
            for shares, (turn, slide) in zip(mechanism.frames[index].shares, twists, strict=True):
                kinematics.add_column(J, shares, [*add(slide, cross(found[index].p, turn)), *turn])
    return J


def _aligned_jacobian(variant: Variant, found: Sequence[Pose], point: PointFrame) -> Mat:
    return points.jacobian(variant.pointed, found, variant.input("q"), point.frame)


def _local_jacobian(variant: Variant, found: Sequence[Pose], point: PointFrame) -> Mat:
    """From the frame inward (002 (12))."""
    q = variant.input("q")
    return kinematics.jacobian_in_tip(variant.mechanism, variant.place(q), q, point.frame)


def _rotated_jacobian(variant: Variant, found: Sequence[Pose], point: PointFrame) -> Mat:
    """The aligned one, rotated."""
    at = kinematics.link_pose(variant.mechanism, found, point.frame)
    return kinematics.project(at.R, _aligned_jacobian(variant, found, point))


_JACOBIANS: dict[str, tuple[Callable[[Variant, Sequence[Pose], PointFrame], Mat], ...]] = {
    ALIGNED: (_aligned_jacobian,),
    LOCAL: (_local_jacobian, _rotated_jacobian),
    BASE: (_jacobian_about_base,),
}


def _jacobians(variant: Variant, reference: str, formulation: int) -> list[Mat]:
    @unless_sheared(partial(_sheared_jacobians, reference=reference))
    def derive(variant: Variant) -> list[Mat]:
        found, one = _carriers(variant), _JACOBIANS[reference][formulation]
        return [[variant.free(row) for row in one(variant, found, point)] for point in variant.pointed.points]

    return derive(variant)


def _jacobian(reference: str, formulation: int, *, rate: bool) -> Formulation:
    def derive(variant: Variant) -> Derived:
        values = [value for J in _jacobians(variant, reference, formulation) for value in flat(J)]
        if rate:
            q = variant.input("q")
            values = time_derivative(variant.graph, values, [(q, variant.mechanism.rates(q, variant.input("qd")))])
        return Derived((values,))

    return derive


def pose_and_jacobian(variant: Variant) -> Derived:
    """Both at once, the Jacobian aligned."""
    return Derived((*pose(variant).outputs, *_jacobian(ALIGNED, 0, rate=False)(variant).outputs))


# ---- velocities and accelerations


def _sheared_twists(variant: Variant, reference: str, *, acceleration: bool) -> Derived:
    """Where linear tips make frames non-orthogonal, by differentiation of the poses."""
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    seeds = {x.ref >> 1: rate.ref for x, rate in zip(motion[0], motion[1], strict=True)}
    values: list[Value] = []
    for at in _poses(variant):
        twist = _referred(reference, at, sheared_kinematics.velocity(variant.graph, at, seeds))
        values += [*twist.linear, *twist.angular]
    return Derived((time_derivative(variant.graph, values, list(pairwise(motion))) if acceleration else values,))


def _velocities(variant: Variant, reference: str) -> list[Twist]:
    q, qd = variant.input("q"), variant.input("qd")
    placed = variant.place(q)
    if reference == ALIGNED:
        return points.velocities(variant.pointed, placed, q, qd)
    own, _ = kinematics.local_motions(variant.mechanism, placed, q, qd, variant.zeros())
    return [_of_point(variant, reference, point, own) for point in variant.pointed.points]


def _of_point(variant: Variant, reference: str, point: PointFrame, own: Sequence[Twist]) -> Twist:
    """The velocity of a frame, from that of its moving frame in the frame's own components."""
    link = point.frame
    if link.frame < 0:
        return Twist(variant.zeros(3), variant.zeros(3))
    with variant.graph.section(f"{link.name}: velocity"):
        if reference == LOCAL:
            return kinematics.link_twist_local(link, own[link.frame])
        carrier = _carriers(variant)[link.frame]
        return _referred(BASE, carrier, kinematics.in_base(carrier, own[link.frame]))


def _accelerations(variant: Variant, reference: str) -> list[Twist]:
    q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
    placed, zero = variant.place(q), variant.zeros(3)
    own, motions = kinematics.local_motions(variant.mechanism, placed, q, qd, qdd)
    carriers, result = _carriers(variant), []
    for point in variant.pointed.points:
        link = point.frame
        if link.frame < 0:
            result.append(Twist(zero, zero))
            continue
        velocity, motion = own[link.frame], motions[link.frame]
        with variant.graph.section(f"{link.name}: acceleration"):
            if reference == LOCAL:  # d/dt (R^T v) = R^T a - omega x v, in local components
                twist, total = kinematics.link_twist_local(link, velocity), kinematics.link_acceleration_local(link, motion)
                result.append(Twist(sub(total.linear, cross(twist.angular, twist.linear)), total.angular))
            else:  # d/dt (v + p x omega) = a + v x omega + p x epsilon, of the frame that carries it
                at = carriers[link.frame]
                linear = times(at.R, add(motion.a, cross(velocity.linear, velocity.angular)))
                result.append(_referred(BASE, at, Twist(linear, times(at.R, motion.epsilon))))
    return result


def _velocity(reference: str) -> Formulation:
    @unless_sheared(partial(_sheared_twists, reference=reference, acceleration=False))
    def derive(variant: Variant) -> Derived:
        return _values(_velocities(variant, reference))

    return derive


def _acceleration(reference: str) -> tuple[Formulation, ...]:
    sheared = unless_sheared(partial(_sheared_twists, reference=reference, acceleration=True))
    if reference != ALIGNED:
        return (sheared(lambda variant: _values(_accelerations(variant, reference))),)

    def aligned(variant: Variant, formulation: Callable[[point_accelerations.Carriers], list[Twist]]) -> Derived:
        q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
        placed = variant.place(q)
        motions = outward(variant.mechanism, placed, q, qd, qdd, variant.zeros(3))
        return _values(formulation(point_accelerations.Carriers(variant.pointed, placed, motions, q, qd, qdd)))

    return tuple(sheared(partial(aligned, formulation=formulation)) for formulation in point_accelerations.FORMULATIONS)


def _values(found: Sequence[Twist]) -> Derived:
    return Derived(([value for twist in found for value in (*twist.linear, *twist.angular)],))


# ---- entries

_ROWS = "linear (3), angular (3)"
_MEANINGS = {
    ALIGNED: "of the origin, in base axes",
    LOCAL: "of the origin, in the frame's own axes",
    BASE: "of what it carries past the base's origin, in base axes",
}


def _pose_outputs(v: Variant) -> tuple[Argument, ...]:
    n = len(v.pointed.points)
    return (
        matrix("r", n, 3, "m", "per chosen frame: its origin in the base frame"),
        Argument("R", (n, 3, 3), "1", "per chosen frame: rotation matrix, its axes are the columns"),
    )


def _jacobian_output(name: str, unit: str) -> Outputs:
    return lambda v: (Argument(name, (len(v.pointed.points), 6, v.size), unit, f"per chosen frame: rows {_ROWS}"),)


def _twist_output(name: str, unit: str) -> Outputs:
    return lambda v: (matrix(name, len(v.pointed.points), 6, unit, f"per chosen frame: {_ROWS}"),)


def in_reference(name: str, reference: str) -> str:
    """The name in C of a function in a reference; "aligned" has no suffix."""
    return name if reference == ALIGNED else f"{name}_{reference}"


def _entry(
    name: str, brief: str, inputs: tuple[str, ...], outputs: Outputs, formulations: Sequence[Formulation], default: bool
) -> Entry:
    return Entry(name, brief, inputs, outputs, tuple(formulations), FRAMES, explore=True, default=default)


def _entries(reference: str) -> tuple[Entry, ...]:
    meaning, named, default = _MEANINGS[reference], partial(in_reference, reference=reference), reference == ALIGNED
    formulations = range(len(_JACOBIANS[reference]))
    return (
        _entry(named("frame_jacobian"), f"Jacobians of the chosen frames: twist = J qd, {meaning}.", ("q",),
               _jacobian_output("J", "m, 1 or m/rad"), [_jacobian(reference, k, rate=False) for k in formulations], default),
        _entry(named("frame_jacobian_rate"), f"Time derivatives of the Jacobians of the chosen frames, {meaning}.",
               ("q", "qd"), _jacobian_output("Jd", "1/s, m/s"), [_jacobian(reference, k, rate=True) for k in formulations],
               default),
        _entry(named("frame_velocity"), f"Velocities of the chosen frames, {meaning}.", ("q", "qd"),
               _twist_output("v", "m/s, rad/s"), [_velocity(reference)], default),
        _entry(named("frame_acceleration"),
               f"Time derivatives of the velocities of the chosen frames {meaning}; gravity is not included.",
               ("q", "qd", "qdd"), _twist_output("a", "m/s^2, rad/s^2"), _acceleration(reference), default),
    )  # fmt: skip


ENTRIES = (
    _entry("frame_pose", "Poses of the chosen frames in the base frame.", ("q",), _pose_outputs, [pose], True),
    _entry(
        "frame_pose_and_jacobian",
        "Poses of the chosen frames and their Jacobians, twist = J qd of the origin in base axes.",
        ("q",),
        lambda v: (*_pose_outputs(v), *_jacobian_output("J", "m, 1 or m/rad")(v)),
        [pose_and_jacobian],
        True,
    ),
    *(entry for reference in REFERENCES for entry in _entries(reference)),
)
