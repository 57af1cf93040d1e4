"""Names of functions by subject, and choices of live parameters, for tests of any rigid robot."""

from __future__ import annotations

PHYSICS = ("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "inertia_forces", "inverse_dynamics",
           "forward_dynamics", "mass_matrix_solve", "kinetic_energy", "potential_energy", "damping_matrix")  # fmt: skip
KINEMATICS = (
    "forward_kinematics", "jacobian", "jacobian_tip", "jacobian_rate", "jacobian_rate_tip", "frame_velocities",
    "frame_velocities_local", "frame_accelerations", "frame_accelerations_local", "payload_forces",
)  # fmt: skip
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
LINEAR = ("inverse_dynamics", "regressor", "inertial_parameters", "base_regressor", "base_parameters")
LIVE = {
    "constant": (),
    "gravity and payload live": ("gravity", "payload"),
    "inertial numbers and drives live": ("links", "payload", "joints.*.motor", "joints.*.friction", "gravity"),
    "lengths live": ("joints.*.placement.xyz", "tip.xyz", "payload.mass"),
}
