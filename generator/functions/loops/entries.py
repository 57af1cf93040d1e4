"""Functions that only robots with loops have."""

from __future__ import annotations

from elastogen.generator.functions.catalogue import Derived, Entry, Outputs, flat
from elastogen.generator.functions.loops import dynamics
from elastogen.generator.functions.loops.by_legs import forward_dynamics_by_other_coordinates
from elastogen.generator.functions.loops.closing import Closing, has_loops
from elastogen.generator.functions.variants import Variant
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.loops.rows import row_names
from elastogen.generator.loops.two_links import closed_configuration as by_two_links
from elastogen.generator.program.arguments import matrix, vector
from elastogen.generator.robot.robot import Robot


def loop_residual(variant: Variant) -> Derived:
    """e(q)."""
    return Derived((Closing(variant).loops.residuals(variant.input("q")),))


def loop_jacobian(variant: Variant) -> Derived:
    """J = de/dq."""
    return Derived((flat(Closing(variant).loops.rows(variant.input("q"), of_residuals=True)),))


def loop_bias(variant: Variant) -> Derived:
    """dJ/dt qd."""
    return Derived((Closing(variant).loops.bias(variant.input("q"), variant.input("qd")),))


def explicit(robot: Robot) -> bool:
    """Whether explicit formulas close all loops."""
    return has_loops(robot) and bool(analysis_of(robot).two_links)


def closed_configuration(variant: Variant) -> Derived:
    """q with the angles that close the loops."""
    q = by_two_links(Closing(variant).loops, variant.analysis.two_links, variant.input("q"))
    return Derived((variant.mechanism.in_robot_order(q),))


def determined(robot: Robot) -> bool:
    """Whether the drives of a mechanism determine its motion."""
    return has_loops(robot) and analysis_of(robot).determined


def _count(v: Variant) -> int:
    return len(v.analysis.choice.independent)


def _rows(name: str, unit: str, doc: str) -> Outputs:
    return lambda v: (vector(name, len(row_names(v.robot)), unit, doc),)


_FORCE, _ACC = "N m or N", "rad/s^2 or m/s^2"
_LOOPS = "only for robots with loops: add `loops:`"
_DETERMINED = "only for robots with loops whose drives determine the motion: see `elastogen check`"

ENTRIES = (
    Entry("loop_residual", "Residuals of the loops: zero where they are closed.", ("q",),
          _rows("e", "m, 1", "per row: gaps, products of directions (2 where rotated by pi)"), (loop_residual,), "kinematic",
          applies=has_loops, applies_to=_LOOPS),
    Entry("loop_jacobian", "Rows of the loops: derivatives of the residuals, J qd = 0.", ("q",),
          lambda v: (matrix("J", len(row_names(v.robot)), v.size, "m, 1", "rows of the loops, redundant ones too"),),
          (loop_jacobian,), "kinematic", applies=has_loops, applies_to=_LOOPS),
    Entry("loop_bias", "Accelerations of the loops without qdd: dJ/dt qd, so that J qdd + this = 0.", ("q", "qd"),
          _rows("b", "m/s^2, 1/s^2", "per row"), (loop_bias,), "kinematic", applies=has_loops, applies_to=_LOOPS),
    Entry("closed_configuration",
          "Configuration that closes all loops by explicit formulas, with the independent coordinates as they are.",
          ("q",), lambda v: (vector("closed", v.positions, "rad or m", "open where the links are too short"),),
          (closed_configuration,), "kinematic", applies=explicit,
          applies_to="only for robots whose loops are closed by two links in a plane each"),
    Entry("driven_map", "Map from the driven velocities to all: qd = G(q) qd_driven.", ("q",),
          lambda v: (matrix("G", v.size, _count(v), "1, m, 1/m", "columns of the independent drives"),),
          (dynamics.driven_map,), "kinematic", applies=determined, applies_to=_DETERMINED),
    Entry("driven_bias", "Accelerations where those of the drives are zero: qdd = G qdd_driven + this.", ("q", "qd"),
          lambda v: (vector("d", v.size, _ACC, "accelerations of curvature"),),
          (dynamics.driven_bias,), "kinematic", applies=determined, applies_to=_DETERMINED),
    Entry("constraint_forces", "Forces of the loops J^T lambda: M qdd + C qd + ... = F + this.", ("q", "qd", "F"),
          lambda v: (vector("Q", v.size, _FORCE, "forces of the loops on all velocities"),),
          (dynamics.constraint_forces,), "dynamic", applies=has_loops, applies_to=_LOOPS),
    Entry("forward_dynamics_by_other_coordinates",
          "Accelerations by a second choice of independent velocities: forward_dynamics calls it where its own fails.",
          ("q", "qd", "F"), lambda v: (vector("qdd", v.size, _ACC, "accelerations"),),
          (forward_dynamics_by_other_coordinates,), "dynamic", applies=has_loops, applies_to=_LOOPS, default=False),
    Entry("loop_forces", "Force and moment that b gets from a in each loop, about the origin of a, in its axes.",
          ("q", "qd", "F"),
          lambda v: (matrix("wrench", len(v.robot.loops), 6, "N, N m",
                            "per loop: force (3), moment (3); of a gear its multiplier; none along redundant rows"),),
          (dynamics.loop_forces,), "dynamic", applies=has_loops, applies_to=_LOOPS, default=False),
    Entry("reduced_mass_matrix", "Mass matrix in the driven coordinates, G^T M G.", ("q",),
          lambda v: (matrix("M", _count(v), _count(v), "kg m^2, kg m, kg", "reduced mass matrix"),),
          (dynamics.reduced_mass_matrix,), "dynamic", applies=determined, applies_to=_DETERMINED),
    Entry("reduced_coriolis_vector", "Coriolis and centrifugal forces in the driven coordinates, G^T (M d + C qd).",
          ("q", "qd"), lambda v: (vector("c", _count(v), _FORCE, "Coriolis and centrifugal forces"),),
          (dynamics.reduced_coriolis_vector,), "dynamic", applies=determined, applies_to=_DETERMINED),
    Entry("reduced_gravity_vector", "Gravity forces in the driven coordinates.", ("q",),
          lambda v: (vector("G", _count(v), _FORCE, "forces that balance the weights"),),
          (dynamics.reduced_gravity_vector,), "dynamic", applies=determined, applies_to=_DETERMINED),
    Entry("reduced_jacobian", "Jacobian of the tip by the driven velocities, base frame.", ("q",),
          lambda v: (matrix("J", 6, _count(v), "m, 1", "rows linear (3), angular (3)"),),
          (dynamics.reduced_jacobian,), "kinematic", applies=determined, applies_to=_DETERMINED),
)  # fmt: skip
