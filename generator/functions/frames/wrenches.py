"""Wrenches on the chosen frames: their generalized forces, and inverse and forward dynamics under them.

A wrench is a force at the origin of its frame, then a moment, in base components. With it the equation of motion is
M qdd + C qd + D qd + Q_e + G + friction = F + sum J^T w.
"""

from __future__ import annotations

from elastogen.generator.algorithms import kinematics, points, sheared_kinematics
from elastogen.generator.algorithms.newton_euler import Load, place
from elastogen.generator.functions import dynamics
from elastogen.generator.functions.catalogue import Derived, Entry, unless_sheared
from elastogen.generator.functions.loops.closing import FREE, forced
from elastogen.generator.functions.loops.dynamics import closed_accelerations, closed_drive_forces
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import vector
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import combination_scalar

FRAMES = "loaded"


def _loads(variant: Variant) -> list[Load]:
    carried = variant.pointed.points
    w = variant.input("wrenches", 6 * len(carried))
    return [Load(point.frame, w[6 * k : 6 * k + 3], w[6 * k + 3 : 6 * k + 6]) for k, point in enumerate(carried)]


def _sheared_forces(variant: Variant) -> list[Value]:
    """sum J^T w where linear tips shear frames."""
    mechanism, q = variant.pointed, variant.input("q")
    found = kinematics.poses(mechanism, place(mechanism, q, merge=variant.merge))
    poses = [kinematics.link_pose(mechanism, found, point.frame) for point in mechanism.points]
    rows = [row for at in poses for row in sheared_kinematics.jacobian(variant.graph, at, q)]
    w = [value for load in _loads(variant) for value in (*load.force, *load.moment)]
    return variant.free([combination_scalar(variant.graph, list(column), w) for column in zip(*rows, strict=True)])


@unless_sheared(_sheared_forces)
def _forces(variant: Variant) -> list[Value]:
    """sum J^T w in base components."""
    mechanism, q = variant.pointed, variant.input("q")
    found = kinematics.poses(mechanism, place(mechanism, q, merge=variant.merge))
    wrenches = [(load.force, load.moment) for load in _loads(variant)]
    return variant.free(points.forces(mechanism, found, q, wrenches))


@unless_sheared(_sheared_forces)
def _forces_inward(variant: Variant) -> list[Value]:
    """The same by a recursion from frame to frame, as in Newton-Euler."""
    zeros = variant.zeros()
    still = variant.forces(variant.input("q"), zeros, zeros, variant.zeros(3), _loads(variant))
    return [-f for f in still]


def frame_forces(variant: Variant) -> Derived:
    """sum J^T w."""
    return Derived((_forces(variant),))


def frame_forces_inward(variant: Variant) -> Derived:
    """sum J^T w, inward."""
    return Derived((_forces_inward(variant),))


def _relieved(variant: Variant) -> Derived:
    rows = zip(dynamics.unloaded_forces(variant), _sheared_forces(variant), strict=True)
    return Derived((variant.loaded([f - w for f, w in rows], variant.input("qd")),))


@unless_sheared(_relieved)
def inverse_dynamics(variant: Variant) -> Derived:
    """F, with the wrenches inside the Newton-Euler recursion."""
    if variant.robot.loops:
        return closed_drive_forces(variant, dynamics.unloaded_forces(variant, _loads(variant)))
    return Derived((dynamics.driving_forces(variant, _loads(variant)),))


def closed_forward_dynamics(variant: Variant) -> Derived:
    """For robots with loops: the wrenches add to F."""
    acting = variant.unloaded(variant.input("F"), variant.input("qd"))
    given = [f + w for f, w in zip(acting, _forces(variant), strict=True)]
    qdd, pivots, _ = closed_accelerations(variant, given=given)
    return Derived((qdd,), pivots)


def _accelerating_with_shear(variant: Variant) -> list[Value]:
    forces = zip(dynamics.accelerating_forces(variant), _sheared_forces(variant), strict=True)
    return [f + w for f, w in forces]


@unless_sheared(_accelerating_with_shear)
def _accelerating(variant: Variant) -> list[Value]:
    return dynamics.accelerating_forces(variant, _loads(variant))


def forward_dynamics(variant: Variant) -> Derived:
    """M^-1 (F + sum J^T w - bias) by factorization along the tree."""
    qdd, factors = dynamics.solution(variant, _accelerating(variant))
    return Derived((qdd,), factors.pivots)


def forward_dynamics_by_articulated_bodies(variant: Variant) -> Derived:
    """The same without M."""
    return dynamics.solution_by_articulated_bodies(variant, _accelerating(variant))


_FORCE = "N m or N"

ENTRIES = (
    Entry("frame_forces", "Generalized forces sum J^T w of wrenches on the chosen frames.", ("q", "wrenches"),
          lambda v: (vector("Q", v.size, _FORCE, "generalized forces of the wrenches"),),
          (frame_forces, frame_forces_inward), FRAMES, explore=True),
    Entry("inverse_dynamics_with_wrenches",
          "Driving forces F = M qdd + C qd + D qd + Q_e + G + friction - sum J^T w under wrenches on the chosen frames.",
          ("q", "qd", "qdd", "wrenches"), lambda v: (vector("F", v.size, _FORCE, "driving forces"),),
          (inverse_dynamics,), FRAMES, explore=True, largest=100, finalists=4, applies=forced, applies_to=FREE),
    Entry("forward_dynamics_with_wrenches",
          "Accelerations qdd for given driving forces F and wrenches on the chosen frames.", ("q", "qd", "F", "wrenches"),
          lambda v: (vector("qdd", v.size, "rad/s^2 or m/s^2", "accelerations"),), (forward_dynamics,), FRAMES,
          formulations_for=dynamics.solving_formulations(
              forward_dynamics, forward_dynamics_by_articulated_bodies, lambda v: (closed_forward_dynamics,))),
)  # fmt: skip
