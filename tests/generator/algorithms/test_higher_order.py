"""Dynamics beyond second order: the identities between acceleration energies and rates of forces.

The partial derivatives of time derivatives that the identities need come from Taylor series with one dual direction
(generator/program/taylor.py), not from the code under test.
"""

from __future__ import annotations

from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from flexible_chains import EXACT, Energies, random_chain, random_motion
from plain_programs import PlainPrograms, program
from robots_for_tests import relative_error

from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.joints import kinds
from elastogen.generator.program import taylor
from elastogen.generator.program.arguments import MOTION, input_argument
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.program import Program
from elastogen.generator.program.taylor import along
from elastogen.runtime.interface.argument import Argument


def catalan(p: int) -> int:
    return comb(2 * p, p) // (p + 1)


PRINTED = (0, 1, 2, 5, 9, 14)  # Delta_p of 000 (115)


# ---- identities

SMALL = {"RT rigid": (11, 2, 0), "R, bending": (14, 1, 2), "two links, modes": (18, 2, 1)}


@cache
def small(name: str) -> Energies:
    seed, links, modes = SMALL[name]
    return Energies(random_chain(seed, links, modes))


@cache
def energy_of(name: str, p: int) -> Program:
    return small(name).energy(p)


@cache
def forces_of(name: str) -> np.ndarray:
    """Q, Q', Q'', ... of order 0..4."""
    return along(small(name).forces, motion_of(name), 4)["Q"]


@cache
def motion_of(name: str) -> np.ndarray:
    return random_motion(small(name).robot, sorted(SMALL).index(name), 14)


def by_weights(name: str, k: int, m: int, weights: Any) -> np.ndarray:
    """(k-1)! m! / (m+k-1)! d/dq^(m) sum_p w_p D^(m+k-1-2p) E^(p): 000 (115)."""
    total = 0.0
    for p in range(1, k + 1):
        outer = m + k - 1 - 2 * p
        total = total + weights(p) * along(energy_of(name, p), motion_of(name), outer, vary=m)["E"][outer]
    return total * factorial(k - 1) * factorial(m) / factorial(m + k - 1)


def test_the_small_chains_are_varied() -> None:
    robots = [small(name).robot for name in SMALL]
    found = {joint.type for robot in robots for joint in robot.joints}
    assert found == {kinds.REVOLUTE, kinds.PRISMATIC}
    assert [any(c.elastic for c in robot.coordinates) for robot in robots] == [False, True, True]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("more", [1, 2])
def test_general_identity_with_catalan_weights(name: str, k: int, more: int) -> None:
    assert relative_error(by_weights(name, k, k + more, catalan), forces_of(name)[k - 1]) < EXACT


@pytest.mark.parametrize("name", SMALL)
def test_the_printed_weights_hold_up_to_k_3_and_fail_from_k_4_on(name: str) -> None:
    """000 (115) prints Delta_p = p(p+1)/2 - delta_p = 1, 2, 5, 9, 14; the fourth Catalan number is 14."""
    wrong = {k: relative_error(by_weights(name, k, k + 1, PRINTED.__getitem__), forces_of(name)[k - 1]) for k in range(1, 6)}
    assert all(wrong[k] < EXACT for k in (1, 2, 3))
    assert all(wrong[k] > 1e-4 for k in (4, 5))


def test_catalan_weights_solve_the_triangular_system() -> None:
    """The condition of the proof, free of m and k: sum_p w_p (-1)^(n-p) C(p+1, n-p) = 1 for n = 1, else 0."""
    for n in range(1, 12):
        total = sum(catalan(p) * (-1) ** (n - p) * comb(p + 1, n - p) for p in range(1, n + 1))
        assert total == (n == 1)


@pytest.mark.parametrize("name", SMALL)
def test_forces_without_outer_time_derivatives(name: str) -> None:
    """Q = dE1/dq'', Q' = dE2/dq''' + 1/2 dE1/dq', Q'' = dE3/dq'''' + 2/3 dE2/dq'' + dE1/dq."""
    forces = forces_of(name)

    def partial(p: int, order: int) -> np.ndarray:
        return along(energy_of(name, p), motion_of(name), 0, vary=order)["E"][0]

    assert relative_error(partial(1, 2), forces[0]) < EXACT
    assert relative_error(partial(2, 3) + partial(1, 1) / 2, forces[1]) < EXACT
    assert relative_error(partial(3, 4) + 2 * partial(2, 2) / 3 + partial(1, 0), forces[2]) < EXACT


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("m", range(1, 5))
def test_mangeron_deleanu_113(name: str, m: int) -> None:
    """(1/m) [ d E_C^(m) / dq^(m) - (m+1) dE_C/dq ] = Q, E_C^(m) the m-th time derivative of the kinetic energy."""
    kinetic, motion = energy_of(name, 0), motion_of(name)
    upper = along(kinetic, motion, m, vary=m)["E"][m]
    lower = along(kinetic, motion, 0, vary=0)["E"][0]
    assert relative_error((upper - (m + 1) * lower) / m, forces_of(name)[0]) < EXACT


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("m", [3, 4])
def test_first_rate_of_the_forces_114(name: str, m: int) -> None:
    """1/(m+1) d/dq^(m) [ 2 E2^(m-3) + E1^(m-1) ] = Q'."""
    motion = motion_of(name)
    second = along(energy_of(name, 2), motion, m - 3, vary=m)["E"][m - 3]
    first = along(energy_of(name, 1), motion, m - 1, vary=m)["E"][m - 1]
    assert relative_error((2 * second + first) / (m + 1), forces_of(name)[1]) < EXACT


# ---- Lagrange, Appell, Newton-Euler

CHAINS = [(seed, 1 + seed % 3, (0, 1, 2, 4, 2)[seed % 5]) for seed in range(30)]
CHAINS += [(90, 4, 1), (91, 4, 0), (92, 4, 1), (93, 4, 4), (94, 4, 3)]


def lagrange(energies: Energies, motion: np.ndarray) -> np.ndarray:
    """d/dt dT/dqd - dT/dq: T(q(t), qd(t) + eps e_i) to first order in t, and T(q + eps e_i, qd)."""
    n, kinetic = energies.size, energies.energy(0)
    jets = np.zeros((2, n, n, 2, 2))  # q and qd, direction i, coordinate, dual part, order in t
    jets[0, :, :, 0], jets[1, :, :, 0] = motion[:2].T, motion[1:3].T
    by_velocity, by_position = jets.copy(), jets.copy()
    by_velocity[1, range(n), range(n), 1, 0] = by_position[0, range(n), range(n), 1, 0] = 1.0
    momentum, slope = (taylor.evaluate(kinetic, {"q": x[0], "qd": x[1]}, 1)["E"] for x in (by_velocity, by_position))
    return momentum[:, 1, 1] - slope[:, 1, 0]


@pytest.mark.parametrize(("seed", "links", "modes"), CHAINS)
def test_lagrange_is_appell_is_newton_euler(seed: int, links: int, modes: int) -> None:
    robot = random_chain(seed, links, modes)
    energies, motion = Energies(robot), random_motion(robot, seed, 3)
    forces = energies("inertia_forces", **dict(zip(MOTION, motion, strict=False)))
    appell = along(energies.energy(1), motion, 0, vary=2)["E"][0]
    assert relative_error(appell, forces) < 1e-10
    assert relative_error(lagrange(energies, motion), forces) < 1e-10


def test_appell_from_the_explicit_form_by_differentiation_of_the_graph() -> None:
    """The same once more with forward differentiation of the emitted derivation itself."""
    robot = random_chain(3, 2, 1)
    programs, motion = PlainPrograms(robot), random_motion(robot, 2, 3)
    variant = programs.variant
    x = dict(zip(MOTION, motion, strict=False))
    programs("acceleration_energy_1", **x)
    (energy,) = CATALOGUE["acceleration_energy_1"].formulations[0](variant).outputs[0]
    (slopes,) = jacobian(variant.graph, [energy], variant.input("qdd"))
    inputs = [input_argument(name, programs.size, programs.size) for name in MOTION[:3]]
    appell = program(variant.graph, inputs, [(Argument("Q", (programs.size,), "", ""), slopes)])
    assert relative_error(appell.evaluate(x)["Q"], programs("inertia_forces", **x)) < 1e-10


def test_the_random_chains_are_varied() -> None:
    robots = [random_chain(*case) for case in CHAINS]
    found = {joint.type for robot in robots for joint in robot.joints}
    assert found == {kinds.REVOLUTE, kinds.PRISMATIC}
    counts = {0 if link.flexible is None else len(link.flexible.coordinates) for robot in robots for link in robot.links[1:]}
    assert counts >= {0, 1, 2, 3, 4}
    assert {len(robot.joints) for robot in robots} == {1, 2, 3, 4}
