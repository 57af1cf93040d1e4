"""Acceleration energies, and time derivatives of forces and transformations."""

from __future__ import annotations

from collections.abc import Callable

from elastogen.generator.algorithms import affine
from elastogen.generator.algorithms.acceleration_energy import acceleration_energy
from elastogen.generator.functions.catalogue import Derived, Entry, unless_sheared
from elastogen.generator.functions.dynamics import inverse_dynamics, kinetic_energy
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import MOTION, scalar, vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.own.terms import TIME
from elastogen.runtime.interface.argument import Argument

HIGHEST_ENERGY, HIGHEST_RATE, HIGHEST_TRANSFORM_RATE = 4, 4, 4
RATED_ENERGIES, ENERGY_RATES = range(4), (1, 2)  # orders p and k of d^k E^(p)/dt^k


def _motion(variant: Variant, count: int) -> list[list[Value]]:
    return [variant.input(name) for name in MOTION[:count]]


def _energy_by_trace(p: int) -> Callable[[Variant], Derived]:
    """E^(p) from 4 x 4 matrices (002 (19), 000 (49) as corrected)."""
    return lambda variant: _with_drives(variant, affine.energy(variant.mechanism, _motion(variant, p + 2), p), p)


def _energy_by_bodies(p: int) -> Callable[[Variant], Derived]:
    """E^(p) in body components (000 (53)-(56))."""

    @unless_sheared(_energy_by_trace(p))
    def derive(variant: Variant) -> Derived:
        motion = _motion(variant, p + 2)
        energy = acceleration_energy(variant.mechanism, variant.place(motion[0]), motion, p)
        return _with_drives(variant, energy, p)

    return derive


def _with_drives(variant: Variant, energy: Value, p: int) -> Derived:
    """A rotor's energy of order p is 1/2 I (q^(p+1))^2."""
    for drive, rate in zip(variant.drives, variant.input(MOTION[p + 1]), strict=True):
        energy = energy + 0.5 * drive.inertia * rate * rate
    return Derived(([energy],))


def _energy_rate(p: int, k: int) -> Callable[[Variant], Derived]:
    """d^k/dt^k E^(p) (000 (49), (50), k >= 1); p = 0 is the kinetic energy."""

    def derive(variant: Variant) -> Derived:
        energy = kinetic_energy(variant) if p == 0 else _energy_by_bodies(p)(variant)
        return Derived((_rate(variant, list(energy.outputs[0]), k, p + 2),))

    return derive


def _rate(variant: Variant, values: list[Value], k: int, depends_on: int = 3) -> list[Value]:
    """Time derivative of order k of values that depend on the first ones of q, qd, qdd, ..."""
    motion = _motion(variant, depends_on + k)
    chain = variant.mechanism.in_time(motion)
    if TIME in variant.nominal:  # own terms may depend on it
        chain.append(([variant.graph.input(TIME)], [variant.graph.value(1)]))
    for _ in range(k):
        values = time_derivative(variant.graph, values, chain)
    return values


def _inertia_force_rate(k: int) -> Callable[[Variant], Derived]:
    """d^k/dt^k (M qdd + C qd)."""

    def derive(variant: Variant) -> Derived:
        q, qd, qdd = _motion(variant, 3)
        return Derived((_rate(variant, variant.forces(q, qd, qdd, variant.zeros(3)), k),))

    return derive


def _inverse_dynamics_rate(k: int) -> Callable[[Variant], Derived]:
    """d^k/dt^k F."""
    return lambda variant: Derived((_rate(variant, list(inverse_dynamics(variant).outputs[0]), k),))


def _transform_rate(k: int) -> Callable[[Variant], Derived]:
    """d^k/dt^k T_i0 of all link frames."""

    def derive(variant: Variant) -> Derived:
        rates = affine.link_transform_rates(variant.mechanism, _motion(variant, k + 1), k)
        return Derived(([value for matrix in rates for row in matrix for value in row],))

    return derive


_UNITS = ("N m/s or N/s", "N m/s^2 or N/s^2", "N m/s^3 or N/s^3", "N m/s^4 or N/s^4")

ENTRIES = (
    *(
        Entry(f"acceleration_energy_{p}", f"Acceleration energy of order {p}: 1/2 int |d^{p + 1}r/dt^{p + 1}|^2 dm.",
              MOTION[: p + 2], lambda v, p=p: (scalar("E", f"J/s^{2 * p}", "energy"),),  # type: ignore[misc]
              (_energy_by_bodies(p), _energy_by_trace(p)), "dynamic", default=False)
        for p in range(1, HIGHEST_ENERGY + 1)
    ),
    *(
        Entry(f"acceleration_energy_rate_{p}_{k}",
              f"Time derivative of order {k} of the {f'acceleration energy of order {p}' if p else 'kinetic energy'}.",
              MOTION[: p + k + 2], lambda v, p=p, k=k: (scalar("E", f"J/s^{2 * p + k}", "rate of the energy"),),  # type: ignore[misc]
              (_energy_rate(p, k),), "dynamic", default=False)
        for p in RATED_ENERGIES for k in ENERGY_RATES
    ),
    *(
        Entry(f"inertia_force_rate_{k}", f"Time derivative of order {k} of the inertia forces M qdd + C qd.",
              MOTION[: k + 3], lambda v, k=k: (vector("Q", v.size, _UNITS[k - 1], "rate of the inertia forces"),),  # type: ignore[misc]
              (_inertia_force_rate(k),), "dynamic", default=False)
        for k in range(1, HIGHEST_RATE + 1)
    ),
    *(
        Entry(f"inverse_dynamics_rate_{k}", f"Time derivative of order {k} of the driving forces.",
              MOTION[: k + 3], lambda v, k=k: (vector("F", v.size, _UNITS[k - 1], "rate of the driving forces"),),  # type: ignore[misc]
              (_inverse_dynamics_rate(k),), "dynamic", default=False)
        for k in range(1, HIGHEST_RATE + 1)
    ),
    *(
        Entry(f"transform_rate_{k}", f"Time derivative of order {k} of the poses T_i0 of every link frame, the tip last.",
              MOTION[: k + 1],
              lambda v, k=k: (Argument("T", (v.frame_count, 4, 4), f"1/s^{k}, m/s^{k}",  # type: ignore[misc]
                                       "derivatives of homogeneous transformations"),),
              (_transform_rate(k),), "kinematic", default=False)
        for k in range(1, HIGHEST_TRANSFORM_RATE + 1)
    ),
)  # fmt: skip
