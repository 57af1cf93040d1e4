"""Kinematic functions of the catalogue."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from elastogen.generator.algorithms import kinematics, sheared_kinematics
from elastogen.generator.algorithms.kinematics import Pose, Twist
from elastogen.generator.functions.catalogue import Derived, Entry, Outputs, flat, unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat
from elastogen.runtime.interface.argument import Argument


def _poses(variant: Variant) -> list[Pose]:
    return kinematics.poses(variant.mechanism, variant.place(variant.input("q")))


def _link_poses(variant: Variant) -> list[Pose]:
    found = _poses(variant)
    return [kinematics.link_pose(variant.mechanism, found, link) for link in variant.mechanism.link_frames]


def forward_kinematics(variant: Variant) -> Derived:
    """T_i0 of every link frame and the tip."""
    return Derived(([value for pose in _link_poses(variant) for value in flat(pose.transform)],))


def _sheared_jacobian(variant: Variant) -> Mat:
    return sheared_kinematics.jacobian(variant.graph, _link_poses(variant)[-1], variant.input("q"))


@unless_sheared(_sheared_jacobian)
def _jacobian(variant: Variant) -> Mat:
    q = variant.input("q")
    return [variant.free(row) for row in kinematics.jacobian(variant.mechanism, _poses(variant), q)]


def jacobian(variant: Variant) -> Derived:
    """Tip Jacobian in base components."""
    return Derived((flat(_jacobian(variant)),))


@unless_sheared(lambda variant: Derived((flat(kinematics.project(_link_poses(variant)[-1].R, _jacobian(variant))),)))
def jacobian_tip(variant: Variant) -> Derived:
    """Tip Jacobian in tip components."""
    q = variant.input("q")
    rows = kinematics.jacobian_in_tip(variant.mechanism, variant.place(q), q, variant.mechanism.link_frames[-1])
    return Derived((flat([variant.free(row) for row in rows]),))


def _rate(variant: Variant) -> Mat:
    J, q = flat(_jacobian(variant)), variant.input("q")
    rate = time_derivative(variant.graph, J, [(q, variant.mechanism.rates(q, variant.input("qd")))])
    n = variant.size
    return [rate[row * n : (row + 1) * n] for row in range(6)]


def jacobian_rate(variant: Variant) -> Derived:
    """Time derivative of the tip Jacobian in base components."""
    return Derived((flat(_rate(variant)),))


def jacobian_rate_tip(variant: Variant) -> Derived:
    """The same in tip components: R^T dJ/dt as in 002 (13), not the derivative of the projected Jacobian."""
    tip = _link_poses(variant)[-1]
    return Derived((flat(kinematics.project(tip.R, _rate(variant))),))


def _twists(variant: Variant, *, acceleration: bool, local: bool) -> Derived:
    sheared = partial(_sheared_twists, acceleration=acceleration, local=local)
    return unless_sheared(sheared)(partial(_rigid_twists, acceleration=acceleration, local=local))(variant)


def _rigid_twists(variant: Variant, *, acceleration: bool, local: bool) -> Derived:
    q, qd = variant.input("q"), variant.input("qd")
    qdd = variant.input("qdd") if acceleration else variant.zeros()
    placed = variant.place(q)
    velocities, motions = kinematics.local_motions(variant.mechanism, placed, q, qd, qdd)
    poses = [] if local else _link_poses(variant)
    zero = variant.zeros(3)
    values: list[Value] = []
    for number, link in enumerate(variant.mechanism.link_frames):
        if link.frame < 0:
            twist = Twist(zero, zero)
        elif acceleration:
            twist = kinematics.link_acceleration_local(link, motions[link.frame])
        else:
            twist = kinematics.link_twist_local(link, velocities[link.frame])
        if not local:
            twist = kinematics.in_base(poses[number], twist)
        values += [*twist.linear, *twist.angular]
    return Derived((values,))


def _sheared_twists(variant: Variant, *, acceleration: bool, local: bool) -> Derived:
    """Velocities or accelerations from the poses; local components are projections on the frame's axes."""
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    chain = list(pairwise(motion))
    seeds = {x.ref >> 1: rate.ref for x, rate in zip(motion[0], motion[1], strict=True)}
    values: list[Value] = []
    for pose in _link_poses(variant):
        twist = sheared_kinematics.velocity(variant.graph, pose, seeds)
        components = [*twist.linear, *twist.angular]
        if acceleration:
            components = time_derivative(variant.graph, components, chain)
        if local:
            columns = kinematics.project(pose.R, [[component] for component in components])
            components = [row[0] for row in columns]
        values += components
    return Derived((values,))


def _frames(name: str, width: tuple[int, ...], unit: str, doc: str) -> Outputs:
    return lambda v: (Argument(name, (v.frame_count, *width), unit, doc),)


def _jacobian_output(name: str, doc: str) -> Outputs:
    return lambda v: (matrix(name, 6, v.size, "m, 1 or m/rad", doc),)


_LINEAR_FIRST = "rows: linear (3), angular (3)"
_PER_FRAME = "per frame: linear (3), angular (3)"

ENTRIES = tuple(
    Entry(name, brief, inputs, outputs, (formulation,), "kinematic", explore=True, default=default)
    for name, brief, inputs, outputs, formulation, default in (
        ("forward_kinematics", "Poses T_i0 of every link frame, the tip last, in the base frame.", ("q",),
         _frames("T", (4, 4), "1, m", "homogeneous transformations"), forward_kinematics, True),
        ("jacobian", "Tip Jacobian in base components: tip twist = J qd.", ("q",),
         _jacobian_output("J", _LINEAR_FIRST), jacobian, True),
        ("jacobian_tip", "Tip Jacobian in tip components.", ("q",),
         _jacobian_output("J", _LINEAR_FIRST), jacobian_tip, False),
        ("jacobian_rate", "Time derivative of the tip Jacobian in base components.", ("q", "qd"),
         _jacobian_output("Jd", _LINEAR_FIRST), jacobian_rate, False),
        ("jacobian_rate_tip", "Time derivative of the base-frame tip Jacobian, projected on the tip frame.", ("q", "qd"),
         _jacobian_output("Jd", _LINEAR_FIRST), jacobian_rate_tip, False),
        ("frame_velocities", "Velocities of every link frame, the tip last, in base components.", ("q", "qd"),
         _frames("v", (6,), "m/s, rad/s", _PER_FRAME),
         lambda v: _twists(v, acceleration=False, local=False), False),
        ("frame_velocities_local", "Velocities of every link frame, the tip last, each in its own components.",
         ("q", "qd"), _frames("v", (6,), "m/s, rad/s", _PER_FRAME),
         lambda v: _twists(v, acceleration=False, local=True), False),
        ("frame_accelerations", "Accelerations of every link frame, the tip last, in base components.",
         ("q", "qd", "qdd"), _frames("a", (6,), "m/s^2, rad/s^2", _PER_FRAME),
         lambda v: _twists(v, acceleration=True, local=False), False),
        ("frame_accelerations_local", "Accelerations of every link frame, the tip last, each in its own components.",
         ("q", "qd", "qdd"), _frames("a", (6,), "m/s^2, rad/s^2", _PER_FRAME),
         lambda v: _twists(v, acceleration=True, local=True), False),
    )
)  # fmt: skip
