"""What functions beyond the plain equations of motion must give: partial derivatives, momenta, rates, matrix exponentials."""

from __future__ import annotations

import numpy as np

from elastogen.generator.reference.expectations import (
    EXPECTATIONS,
    Difference,
    Expectation,
    Found,
    frame_motion,
    jacobian,
    jacobian_rate,
)
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Array, Quantities, Sized
from elastogen.generator.reference.whole_robot import center_of_mass, energy_rate, inertia_force_rate, momentum
from elastogen.runtime.interface.euler_sets import EULER_SETS


def _one(found: Array, expected: Sized) -> list[Difference]:
    return [(found, expected.value, expected.size)]


def transform_partials(of: Quantities, found: Found) -> list[Difference]:
    """dT/dq_j of every frame."""

    def slope(pose: MatrixSeries) -> Array:
        value = pose.values[1] if pose.width > 1 else np.zeros((4, 4))
        return np.broadcast_to(value, (len(of.at("q")), of.n, 4, 4))

    frames = [*(of.unit.links[link.name] for link in of.of.robot.links[1:]), of.unit.tip]
    expected = np.stack([slope(pose) for pose in frames], axis=1)
    return [(found[0], expected, max(1.0, float(np.abs(expected).max())))]


def centre(of: Quantities, found: Found) -> list[Difference]:
    """The centre of mass."""
    return _one(found[0], center_of_mass(of.moving))


def centre_jacobian(of: Quantities, found: Found) -> list[Difference]:
    """Its partial derivatives."""
    each = center_of_mass(of.unit, 1)
    largest = np.abs(each.value).max(axis=(1, 2), keepdims=True) + np.zeros_like(each.value)
    return [(found[0], np.swapaxes(each.value, -1, -2), np.swapaxes(each.size + largest, -1, -2))]


def momentum_of(order: int) -> Expectation:
    """Momentum, or its rate."""
    return lambda of, found: _one(found[0], momentum(of.moving, order))


def momentum_matrix(of: Quantities, found: Found) -> list[Difference]:
    """Momenta of unit velocities."""
    each = momentum(of.unit, 1)
    return [(found[0], np.swapaxes(each.value, -1, -2), np.swapaxes(each.size + np.zeros_like(each.value), -1, -2))]


def _through_joints(of: Quantities) -> bool:
    """Whether beams slide through joints: integrals over points that are fixed in the material have other rates there."""
    return any(of.of.moving_beam(joint.child) is not None for joint in of.of.robot.joints)


def energy_rates(order: int, rate: int) -> Expectation:
    """d^rate/dt^rate of an acceleration energy; not of beams that slide through joints."""
    return lambda of, found: [] if _through_joints(of) else _one(found[0], energy_rate(of, order, rate))


def force_rates(rate: int) -> Expectation:
    """d^rate/dt^rate of the inertia forces; not of beams that slide through joints."""
    return lambda of, found: [] if _through_joints(of) else _one(found[0], inertia_force_rate(of, rate))


ALL_EXPECTATIONS: dict[str, Expectation] = {
    **EXPECTATIONS,
    "transform_partials": transform_partials,
    "center_of_mass": centre,
    "center_of_mass_jacobian": centre_jacobian,
    "centroidal_momentum": momentum_of(1),
    "centroidal_momentum_rate": momentum_of(2),
    "centroidal_momentum_matrix": momentum_matrix,
    **{f"acceleration_energy_rate_{p}_{r}": energy_rates(p, r) for p in range(4) for r in (1, 2)},
    **{f"inertia_force_rate_{r}": force_rates(r) for r in range(1, 5)},
    "exponential_jacobian": jacobian,
    "exponential_jacobian_rate": jacobian_rate,
    "exponential_velocities": frame_motion(1, local=False),
    "exponential_accelerations": frame_motion(2, local=False),
}
"""By the names of the catalogue."""

_NO_POINTS = "not compared yet: the description has no poses of points and of chosen frames"
_NO_LOOPS = "not compared yet: the description has no loops"
_NO_DERIVATIVES = "not compared yet: the description has no derivatives of forces"
_NO_PARAMETERS = "not compared yet: it is a factor, of which only products are forces or motions"
_NO_FREE_BODIES = "not compared yet: the description has no forces between bodies"
_PARTS = "not compared yet: only the sum of the parts is known here"
NOT_COMPARED: dict[str, str] = {
    **dict.fromkeys(
        (
            *(f"point_{what}" for what in ("positions", "velocities", "accelerations", "jerks", "jacobians", "jacobian_rates")),
            *(
                "point_forces",
                "point_strains",
                "point_stresses",
                "von_mises",
                "point_curvatures",
                "accelerometers",
                "gyroscopes",
            ),
            *("frame_pose", "frame_pose_and_jacobian", "frame_forces"),
            *("inverse_dynamics_with_wrenches", "forward_dynamics_with_wrenches"),
            *(
                f"frame_{what}{reference}"
                for what in ("jacobian", "jacobian_rate", "velocity", "acceleration")
                for reference in ("", "_local", "_base")
            ),
        ),
        _NO_POINTS,
    ),
    **dict.fromkeys(
        (
            *("loop_residual", "loop_jacobian", "loop_bias", "driven_map", "driven_bias", "constraint_forces", "loop_forces"),
            "forward_dynamics_by_other_coordinates",
            *("reduced_mass_matrix", "reduced_coriolis_vector", "reduced_gravity_vector", "reduced_jacobian"),
        ),
        _NO_LOOPS,
    ),
    **dict.fromkeys(("contact_dynamics", "contact_impulse", "contact_inverse_dynamics"), _NO_POINTS),
    **dict.fromkeys(
        (
            *(f"{which}_dynamics_{what}" for which in ("inverse", "forward") for what in ("derivatives", "second_order")),
            *(f"inverse_dynamics_rate_{r}" for r in range(1, 5)),
            *("transform_second_partials", "acceleration_matrix", "exponential_second_differentials"),
        ),
        _NO_DERIVATIVES,
    ),
    **dict.fromkeys(
        (
            *("regressor", "inertial_parameters", "base_regressor", "base_parameters"),
            *("jacobian_coriolis", "jacobian_coriolis_tip", "jacobian_centrifugal", "jacobian_centrifugal_tip"),
            *("coriolis_coefficients", "centrifugal_coefficients", "joint_operators", "exponential_operators"),
            *("exponential_arguments", "exponential_factors", "exponential_transfer_factors"),
            *("exponential_transforms", "exponential_differentials", "exponential_inverses", "exponential_partial_products"),
            *("link_inertia_matrices", "element_mass_matrices", "element_stiffness_matrices", "element_shapes"),
        ),
        _NO_PARAMETERS,
    ),
    **dict.fromkeys(
        ("joint_reactions", "joint_reactions_base", "link_resultants", "section_loads", "load_friction_forces"), _NO_FREE_BODIES
    ),
    **dict.fromkeys(
        ("elastic_inverse_dynamics", "driving_forces", "driving_forces_by_coefficients"),
        "not compared yet: it is composed of other functions",
    ),
    **dict.fromkeys(("kinetic_energy_parts", *(f"acceleration_energy_parts_{p}" for p in range(1, 5))), _PARTS),
    **dict.fromkeys(
        ("integrate", "difference", "motion_on_path", "start_of_path", "neutral", "random_configuration"),
        "not compared yet: it is about coordinates alone",
    ),
    **dict.fromkeys(
        (f"operational_vector_{angles}" for angles in EULER_SETS), "not compared yet: it has angles for the rotation"
    ),
}
"""Every other function of the catalogue, and why nothing is compared."""
