"""Points and sensors on links, all points of a robot at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from elastogen.generator.algorithms import kinematics, point_accelerations, points, sheared_kinematics
from elastogen.generator.algorithms.kinematics import Pose, Twist
from elastogen.generator.algorithms.newton_euler import outward
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Outputs, flat, unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix, vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat, Vec, combination_scalar
from elastogen.runtime.interface.argument import Argument

Accelerations = Callable[[point_accelerations.Carriers], list[Twist]]


def _frames(variant: Variant) -> list[Pose]:
    return kinematics.poses(variant.mechanism, variant.place(variant.input("q")))


def _poses(variant: Variant) -> list[Pose]:
    mechanism, found = variant.pointed, _frames(variant)
    return [kinematics.link_pose(mechanism, found, point.frame) for point in mechanism.points]


def positions(variant: Variant) -> Derived:
    """r_0 of every point (000 (63))."""
    return Derived((flat([pose.p for pose in _poses(variant)]),))


def _twists(found: Sequence[Twist]) -> Derived:
    return Derived(([value for twist in found for value in (*twist.linear, *twist.angular)],))


@unless_sheared(lambda variant: _twists(_sheared(variant, acceleration=False)))
def velocities(variant: Variant) -> Derived:
    """Linear, then angular velocities in base components."""
    q, qd = variant.input("q"), variant.input("qd")
    return _twists(points.velocities(variant.pointed, variant.place(q), q, qd))


def _accelerations(formulation: Accelerations) -> Formulation:
    @unless_sheared(lambda variant: _twists(_sheared(variant, acceleration=True)))
    def derive(variant: Variant) -> Derived:
        q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
        placed = variant.place(q)
        motions = outward(variant.mechanism, placed, q, qd, qdd, variant.zeros(3))
        return _twists(formulation(point_accelerations.Carriers(variant.pointed, placed, motions, q, qd, qdd)))

    return derive


def jerks(variant: Variant) -> Derived:
    """Rates of the accelerations: third derivatives of the points, second ones of omega."""
    accelerations = _accelerations(point_accelerations.FORMULATIONS[0])(variant).outputs[0]
    motion = [variant.input(name) for name in ("q", "qd", "qdd", "q3")]
    return Derived((time_derivative(variant.graph, accelerations, variant.mechanism.in_time(motion)),))


def _sheared(variant: Variant, *, acceleration: bool) -> list[Twist]:
    """Velocities or accelerations by differentiation of the poses, for linear tips, whose frames are not orthogonal."""
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    seeds = {x.ref >> 1: rate.ref for x, rate in zip(motion[0], motion[1], strict=True)}
    found = []
    for pose in _poses(variant):
        twist = sheared_kinematics.velocity(variant.graph, pose, seeds)
        if acceleration:
            rates = time_derivative(variant.graph, [*twist.linear, *twist.angular], list(pairwise(motion)))
            twist = Twist(rates[:3], rates[3:])
        found.append(twist)
    return found


def _in_own_axes(variant: Variant, vectors: Sequence[Vec]) -> Derived:
    """R^T v for every point."""
    rows = [kinematics.project(pose.R, [[x] for x in v] * 2)[:3] for pose, v in zip(_poses(variant), vectors, strict=True)]
    return Derived(([row[0] for three in rows for row in three],))


def _sheared_accelerometers(variant: Variant) -> Derived:
    g = variant.mechanism.gravity
    felt = [[a - b for a, b in zip(t.linear, g, strict=True)] for t in _sheared(variant, acceleration=True)]
    return _in_own_axes(variant, felt)


@unless_sheared(_sheared_accelerometers)
def accelerometers(variant: Variant) -> Derived:
    """R^T (a - g)."""
    q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
    return Derived((flat(points.readings(variant.pointed, variant.place(q), q, qd, qdd)),))


@unless_sheared(lambda variant: _in_own_axes(variant, [twist.angular for twist in _sheared(variant, acceleration=False)]))
def gyroscopes(variant: Variant) -> Derived:
    """R^T omega."""
    q, qd = variant.input("q"), variant.input("qd")
    return Derived((flat(points.spins(variant.pointed, variant.place(q), q, qd)),))


def _sheared_jacobians(variant: Variant) -> list[Mat]:
    return [sheared_kinematics.jacobian(variant.graph, pose, variant.input("q")) for pose in _poses(variant)]


@unless_sheared(_sheared_jacobians)
def _jacobians(variant: Variant) -> list[Mat]:
    q = variant.input("q")
    found = _frames(variant)
    mechanism = variant.pointed
    return [[variant.free(row) for row in points.jacobian(mechanism, found, q, point.frame)] for point in mechanism.points]


def jacobians(variant: Variant) -> Derived:
    """J of every point."""
    return Derived(([value for J in _jacobians(variant) for value in flat(J)],))


def jacobian_rates(variant: Variant) -> Derived:
    """dJ/dt of every point."""
    values = jacobians(variant).outputs[0]
    q = variant.input("q")
    return Derived((time_derivative(variant.graph, values, [(q, variant.mechanism.rates(q, variant.input("qd")))]),))


def _sheared_forces(variant: Variant) -> Derived:
    w = variant.input("wrenches", 6 * len(variant.pointed.points))
    rows = [row for J in _jacobians(variant) for row in J]
    return Derived(([combination_scalar(variant.graph, list(column), w) for column in zip(*rows, strict=True)],))


@unless_sheared(_sheared_forces)
def forces(variant: Variant) -> Derived:
    """sum J^T w."""
    q, count = variant.input("q"), len(variant.pointed.points)
    w = variant.input("wrenches", 6 * count)
    wrenches = [(w[6 * k : 6 * k + 3], w[6 * k + 3 : 6 * k + 6]) for k in range(count)]
    return Derived((variant.free(points.forces(variant.pointed, _frames(variant), q, wrenches)),))


def strains(variant: Variant) -> Derived:
    """-offset w''(x) + u' of every gauge."""
    q, values = variant.input("q"), []
    for gauge in variant.pointed.gauges:
        assert gauge.offset is not None
        assert gauge.point.strain is not None
        with variant.graph.section(f"{gauge.point.name}: strain"):
            values.append(gauge.strain(q))
    return Derived((values,))


def stresses(variant: Variant) -> Derived:
    """Hooke's law for the strains of every point on a solid."""
    q, values = variant.input("q"), []
    for point in variant.pointed.on_solids:
        with variant.graph.section(f"{point.point.name}: stress"):
            values += point.stress(q)
    return Derived((values,))


def von_mises(variant: Variant) -> Derived:
    """sqrt(1/2 ((xx - yy)^2 + (yy - zz)^2 + (zz - xx)^2) + 3 (xy^2 + yz^2 + xz^2)) of every point on a solid."""
    q, values = variant.input("q"), []
    for point in variant.pointed.on_solids:
        with variant.graph.section(f"{point.point.name}: stress"):
            xx, yy, zz, xy, yz, xz = point.stress(q)
            a, b, c = xx - yy, yy - zz, zz - xx
            values.append(variant.graph.sqrt(0.5 * (a * a + b * b + c * c) + 3 * (xy * xy + yz * yz + xz * xz)))
    return Derived((values,))


def _on_solid(robot: Robot) -> bool:
    bodies = [robot.link(point.link).flexible for point in robot.points if point.link]
    return any(body is not None and body.solid is not None and "E" in body.solid.report for body in bodies)


def curvatures(variant: Variant) -> Derived:
    """w'' in y and in z."""
    q, values = variant.input("q"), []
    for point in variant.pointed.on_beams:
        with variant.graph.section(f"{point.point.name}: curvature"):
            bending = point.bending(q)
            values += [bending.y, bending.z]
    return Derived((values,))


def _on_beam(robot: Robot) -> bool:
    return any(point.link and robot.link(point.link).flexible is not None for point in robot.points)


def _per_point(name: str, width: int, unit: str, doc: str) -> Outputs:
    return lambda v: (matrix(name, len(v.pointed.points), width, unit, f"per point, in the order of `points`: {doc}"),)


def _per_coordinate(name: str, unit: str) -> Outputs:
    return lambda v: (Argument(name, (len(v.pointed.points), 6, v.size), unit, "per point: linear (3), angular (3) rows"),)


_TWIST = "linear (3), angular (3)"
_POINTS = "only for robots with points: add `points:` to the robot's description"
_SOLIDS = "only for robots with points on links by meshes of a known material: add `points:` on one"
_NEEDS = {
    "point_strains": (
        lambda robot: any(point.strain is not None for point in robot.points),
        "only for robots with strain gauges: add `strain: {offset: ...}` to a point on a beam",
    ),
    "point_stresses": (_on_solid, _SOLIDS),
    "von_mises": (_on_solid, _SOLIDS),
    "point_curvatures": (_on_beam, "only for robots with points on beams: add `points:` on a flexible link"),
}

ENTRIES = tuple(
    Entry(name, brief, inputs, outputs, formulations, "points", explore=True, default=False,
          applies=_NEEDS.get(name, (lambda robot: bool(robot.points), ""))[0],
          applies_to=_NEEDS.get(name, (None, _POINTS))[1])
    for name, brief, inputs, outputs, formulations in (
        ("point_positions", "Positions of all points in the base frame.", ("q",),
         _per_point("r", 3, "m", "x, y, z"), (positions,)),
        ("point_velocities", "Velocities of all points in base components.", ("q", "qd"),
         _per_point("v", 6, "m/s, rad/s", _TWIST), (velocities,)),
        ("point_accelerations", "Accelerations of all points in base components, without gravity.", ("q", "qd", "qdd"),
         _per_point("a", 6, "m/s^2, rad/s^2", _TWIST),
         tuple(map(_accelerations, point_accelerations.FORMULATIONS))),
        ("point_jerks", "Third time derivatives of all points in base components (000 (111)).", ("q", "qd", "qdd", "q3"),
         _per_point("j", 6, "m/s^3, rad/s^3", _TWIST), (jerks,)),
        ("point_jacobians", "Jacobians of all points in base components: twists = J qd.", ("q",),
         _per_coordinate("J", "m, 1 or m/rad"), (jacobians,)),
        ("point_jacobian_rates", "Time derivatives of the Jacobians of all points: accelerations = J qdd + dJ/dt qd.",
         ("q", "qd"), _per_coordinate("Jd", "1/s, m/s"), (jacobian_rates,)),
        ("point_forces", "Generalized forces sum J^T w of wrenches at the points, in base components.", ("q", "wrenches"),
         lambda v: (vector("Q", v.size, "N m or N", "generalized forces of the wrenches"),), (forces,)),
        ("point_strains", "Strains that the gauges read: -offset w''(x), plus u' where a link stretches.", ("q",),
         lambda v: (Argument("strain", (len(v.pointed.gauges),), "1", "per gauge, in the order of `points`"),), (strains,)),
        ("point_curvatures", "Curvatures w'' of the beams at the points on them.", ("q",),
         lambda v: (matrix("curvature", len(v.pointed.on_beams), 2, "1/m", "per point on a beam: in y, in z"),), (curvatures,)),
        ("point_stresses", "Stresses at the points on solids, in their own axes.", ("q",),
         lambda v: (matrix("stress", len(v.pointed.on_solids), 6, "Pa", "per point on a solid: xx, yy, zz, xy, yz, xz"),),
         (stresses,)),
        ("von_mises", "Equivalent stresses of von Mises at the points on solids.", ("q",),
         lambda v: (Argument("stress", (len(v.pointed.on_solids),), "Pa", "per point on a solid, in the order of `points`"),),
         (von_mises,)),
        ("accelerometers", "Readings R^T (a - g) of accelerometers in all points, in their own axes.", ("q", "qd", "qdd"),
         _per_point("reading", 3, "m/s^2", "x, y, z of its frame"), (accelerometers,)),
        ("gyroscopes", "Readings R^T omega of gyroscopes in all points, in their own axes.", ("q", "qd"),
         _per_point("reading", 3, "rad/s", "x, y, z of its frame"), (gyroscopes,)),
    )
)  # fmt: skip
