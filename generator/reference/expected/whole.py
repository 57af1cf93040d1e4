"""Expected partial derivatives, momenta, and rates of energies and forces."""

from __future__ import annotations

import numpy as np

from elastogen.generator.reference.expected.plain import (
    Difference,
    Expectation,
    Found,
    driving_forces,
    frame_motion,
    jacobian,
    jacobian_rate,
)
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Array, Quantities, Sized
from elastogen.generator.reference.whole_robot import (
    MOTION,
    by_differences,
    center_of_mass,
    energy_rate,
    has_series,
    inertia_force_rate,
    inverse_dynamics_rate,
    momentum,
    through_joints,
)

MOST_BY_DIFFERENCES = 2  # highest rate: beyond it too few digits are left


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


def energy_rates(order: int, rate: int) -> Expectation:
    """d^rate/dt^rate of an acceleration energy."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        if through_joints(of):
            names = MOTION[: order + 2]
            values = by_differences(
                of, order + rate + 2, rate, lambda at: at.energy(at.along(*names), order + 1, at.at(names[-1]))
            )
            return _one(found[0], values)
        return _one(found[0], energy_rate(of, order, rate))

    return check


def force_rates(rate: int) -> Expectation:
    """d^rate/dt^rate of the inertia forces."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        if through_joints(of) and rate > MOST_BY_DIFFERENCES:
            return []
        if through_joints(of):
            return _one(found[0], by_differences(of, rate + 3, rate, lambda at: at.inertia_forces))
        return _one(found[0], inertia_force_rate(of, rate))

    return check


def all_force_rates(rate: int) -> Expectation:
    """d^rate/dt^rate of the driving forces."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        if rate > MOST_BY_DIFFERENCES and not has_series(of):
            return []
        return _one(found[0], inverse_dynamics_rate(of, rate, driving_forces))

    return check


WHOLE: dict[str, Expectation] = {
    "transform_partials": transform_partials,
    "center_of_mass": centre,
    "center_of_mass_jacobian": centre_jacobian,
    "centroidal_momentum": momentum_of(1),
    "centroidal_momentum_rate": momentum_of(2),
    "centroidal_momentum_matrix": momentum_matrix,
    **{f"acceleration_energy_rate_{p}_{r}": energy_rates(p, r) for p in range(4) for r in (1, 2)},
    **{f"inertia_force_rate_{r}": force_rates(r) for r in range(1, 5)},
    **{f"inverse_dynamics_rate_{r}": all_force_rates(r) for r in range(1, 5)},
    "exponential_jacobian": jacobian,
    "exponential_jacobian_rate": jacobian_rate,
    "exponential_velocities": frame_motion(1, local=False),
    "exponential_accelerations": frame_motion(2, local=False),
}
"""By the names of the catalogue."""
