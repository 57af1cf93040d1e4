"""Generalized forces of inertia and weight by three principles of mechanics, as papers 000 to 002 compare them.

All give Q = M qdd + C qd + G. Newton and Euler sum forces and moments over the bodies (000 (96)), Lagrange differentiates the
kinetic energy, Appell the acceleration energy (000 (104)-(106), 002 (28)). For quasi-velocities (quaternions), Lagrange's
equations have the terms of Boltzmann and Hamel, whose coefficients follow from the motion itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastogen.generator.functions.catalogue import Derived, Entry, Formulation
from elastogen.generator.functions.dynamics import kinetic_energy
from elastogen.generator.functions.higher import energies_and_rates
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.differentiate import jacobian, time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.program.interpret import DOUBLES, interpret
from elastogen.generator.reference.random_states import random_positions
from elastogen.runtime.interface.argument import Argument

_ENERGY = next(entry for entry in energies_and_rates.ENTRIES if entry.name == "acceleration_energy_1")
_NONE = 1e-9  # a smaller coefficient is zero: all others are integers


@dataclass(frozen=True)
class Principle:
    """One formulation: its name, its formula in LaTeX, and its derivation."""

    name: str
    formula: str
    entry: Entry


def newton_euler(variant: Variant) -> Derived:
    """Q by forces and moments of all bodies, summed inward."""
    q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
    return Derived((variant.forces(q, qd, qdd, variant.mechanism.gravity),))


def lagrange(variant: Variant) -> Derived:
    """Q = d/dt dE/dqd - dE/dq + dV/dq."""
    graph, mechanism = variant.graph, variant.mechanism
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    energy = list(kinetic_energy(variant).outputs[0])
    with graph.section("momenta: the kinetic energy by the velocities"):
        momenta = jacobian(graph, energy, motion[1])[0]
    with graph.section("rates of the momenta"):
        rates = time_derivative(graph, momenta, mechanism.in_time(motion))
    with graph.section("the kinetic energy by the coordinates"):
        slopes = variant.by_position(energy)[0]
    with graph.section("momenta in moving frames (Boltzmann, Hamel)"):
        for (k, j, row), factor in _structure(variant).items():
            rates[k] = rates[k] + factor * motion[1][j] * momenta[row]
    return Derived((variant.free(_sum(_difference(rates, slopes), weights(variant))),))


def appell(variant: Variant) -> Derived:
    """Q = dS/dqdd + dV/dq, S the acceleration energy."""
    (energy,) = _ENERGY.formulations[0](variant).outputs
    with variant.graph.section("the energy of the accelerations by the accelerations"):
        forces = jacobian(variant.graph, list(energy), variant.input("qdd"))[0]
    return Derived((variant.free(_sum(forces, weights(variant))),))


def weights(variant: Variant) -> list[Value]:
    """dV/dq of the weights."""
    with variant.graph.section("weights"):
        return variant.forces(variant.input("q"), variant.zeros(), variant.zeros(), variant.mechanism.gravity)


def _sum(x: Sequence[Value], y: Sequence[Value]) -> list[Value]:
    return [a + b for a, b in zip(x, y, strict=True)]


def _difference(x: Sequence[Value], y: Sequence[Value]) -> list[Value]:
    return [a - b for a, b in zip(x, y, strict=True)]


def _structure(variant: Variant) -> dict[tuple[int, int, int], float]:
    """c with [X_k, X_j] = sum_l c[k, j, l] X_l, X_k the motion of the coordinates with the k-th velocity alone.

    They are zero unless there are quasi-velocities, and constant: found numerically at one configuration.
    """
    graph, mechanism, n = variant.graph, variant.mechanism, int(variant.size)
    q = variant.input("q")
    if len(q) == n:
        return {}
    somewhere = random_positions(variant.robot, 1, np.random.default_rng(1))[0]
    place = {**variant.nominal, **{f"q[{k}]": float(value) for k, value in enumerate(somewhere)}}
    fields = [mechanism.along(q, q, k) for k in range(n)]
    pairs = [(k, j) for k in range(n) for j in range(n) if k != j]
    turns = [_difference(mechanism.along(fields[j], q, k), mechanism.along(fields[k], q, j)) if k < j else [] for k, j in pairs]
    refs = [value.ref for values in (*fields, *turns) for value in values]
    read = interpret(graph, graph.cone(refs), place, DOUBLES).read
    basis = np.array([[float(read(value.ref)) for value in field] for field in fields]).T
    found: dict[tuple[int, int, int], float] = {}
    for (k, j), turn in zip(pairs, turns, strict=True):
        if turn:
            change = np.array([float(read(value.ref)) for value in turn])
            factors = np.linalg.lstsq(basis, change, rcond=None)[0]
            for row in np.flatnonzero(np.abs(factors) > _NONE):
                found[k, j, int(row)] = float(np.round(factors[row], 12))
                found[j, k, int(row)] = -float(np.round(factors[row], 12))
    return found


def _entry(name: str, brief: str, formulation: Formulation) -> Entry:
    def outputs(variant: Variant) -> tuple[Argument, ...]:
        return (Argument("Q", (variant.size,), "N m or N", "generalized forces of inertia and weight"),)

    return Entry(name, brief, ("q", "qd", "qdd"), outputs, (formulation,), "plain", default=False)


PRINCIPLES = (
    Principle(
        "Newton-Euler", r"Q_j = \hat{z}_j \cdot \sum_{i \ge j} (n_i + p_{ji} \times f_i)",
        _entry("forces_by_newton_euler", "Forces of inertia and weight by Newton and Euler.", newton_euler),
    ),
    Principle(
        "Lagrange",
        r"Q_j = \frac{d}{dt}\frac{\partial E_C}{\partial \dot q_j} - \frac{\partial E_C}{\partial q_j}"
        r" + \frac{\partial V}{\partial q_j}",
        _entry("forces_by_lagrange", "Forces of inertia and weight by Lagrange's equations.", lagrange),
    ),
    Principle(
        "Appell", r"Q_j = \frac{\partial E_A^{(1)}}{\partial \ddot q_j} + \frac{\partial V}{\partial q_j}",
        _entry("forces_by_appell", "Forces of inertia and weight from the energy of the accelerations.", appell),
    ),
)  # fmt: skip
"""The principles, the recursive one first."""
