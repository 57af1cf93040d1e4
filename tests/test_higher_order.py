"""Dynamics beyond second order: acceleration energies, rates of forces, and the identities between them.

The partial derivatives of time derivatives that the identities need come from Taylor series with one dual direction
(generator/taylor.py), not from the code under test.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import comb, factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flexible_reference import CASES, TIPS, constant, power, robot_of
from plain_programs import PlainPrograms, program
from robots_for_tests import Programs, difference_quotient, random_axis, random_body, random_pose, relative_error

import elastogen
from elastogen.generator import affine, taylor
from elastogen.generator.arguments import MOTION, input_argument
from elastogen.generator.beam_integrals import Beam, Mode, beam_body
from elastogen.generator.derivation import CATALOGUE
from elastogen.generator.differentiate import jacobian
from elastogen.generator.program import Argument, Program
from elastogen.generator.robot import Actuation, Body, Joint, JointElasticity, JointType, Link, Robot
from elastogen.generator.taylor import along, derivative_name

EXACT = 1e-11


def catalan(p: int) -> int:
    return comb(2 * p, p) // (p + 1)


PRINTED = (0, 1, 2, 5, 9, 14)  # Delta_p of 000 (115)


# ---- random chains with bending, torsion and extension modes


def random_chain(seed: int, links: int, most_modes: int) -> Robot:
    """R and T joints; every link rigid or a beam with up to ``most_modes`` modes in any direction."""
    rng = np.random.default_rng((seed, 31))
    made, joints = [Link("base")], []
    for number in range(1, links + 1):
        kind = (JointType.REVOLUTE, JointType.PRISMATIC)[int(rng.random() < 0.35)]
        name, count = f"link{number}", int(rng.integers(0, most_modes + 1))
        joints.append(
            Joint(
                f"j{number}", kind, made[-1].name, name, axis=random_axis(rng), before=random_pose(rng)
            )
        )  # fmt: skip
        if count == 0:
            made.append(Link(name, random_body(rng)))
            continue
        curves = {direction: constant(float(rng.uniform(20, 60))) for direction in ("y", "z", "torsion", "extension")}
        density = constant(float(rng.uniform(0.5, 2)))
        beam = Beam(
            round(float(rng.uniform(0.4, 1.0)), 3),
            density,
            curves,
            inertia_y=constant(0.002),
            inertia_z=constant(0.003),
            rotary_inertia=bool(rng.random() < 0.5),
            foreshortening=bool(rng.random() < 0.3),
        )
        modes, used = [], {}
        for k in range(count):
            direction = ("y", "z", "y", "torsion", "extension")[rng.integers(5)]
            used[direction] = used.get(direction, 0) + 1
            first = 1 if direction in ("torsion", "extension") else 2
            modes.append(Mode(f"m{k}", direction, power(first + used[direction] - 1)))
        made.append(Link(name, flexible=beam_body(beam, modes), tip_body=random_body(rng)))
    return Robot(
        f"chain{seed}",
        tuple(made),
        tuple(joints),
        gravity=tuple(float(g) for g in rng.normal(scale=5, size=3)),
        tip=made[-1].name,
        tool=random_pose(rng),
        payload=random_body(rng) if rng.random() < 0.3 else Body(),
    )


def random_motion(robot: Robot, seed: int, orders: int) -> np.ndarray:
    """Time derivatives 0, 1, ... of the coordinates; deflections are small, as those of beams are."""
    rng = np.random.default_rng((seed, 77))
    scale = np.array([0.1 if coordinate.elastic else 1.0 for coordinate in robot.coordinates])
    return scale * rng.uniform(-1, 1, (orders, len(scale)))


class Energies(PlainPrograms):
    """Energies of any order as programs, in trace form."""

    def energy(self, p: int) -> Program:
        names = [derivative_name(k) for k in range(p + 2)]
        value = affine.energy(self.variant.mechanism, [self.variant.input(name) for name in names], p)
        inputs = [Argument(name, (self.size,), "", "") for name in names]
        return program(self.variant.graph, inputs, [(Argument("E", (), "", ""), [value])])

    @property
    def forces(self) -> Program:
        """Inertia forces M qdd + C qd."""
        q, qd, qdd = (self.variant.input(name) for name in MOTION[:3])
        values = self.variant.forces(q, qd, qdd, self.variant.zeros(3))
        inputs = [input_argument(name, self.size) for name in MOTION[:3]]
        return program(self.variant.graph, inputs, [(Argument("Q", (self.size,), "", ""), values)])


# ---- the reference


@cache
def reference_robot(case: int, tip: str) -> Robot:
    return robot_of(CASES[case], TIPS[tip])


@cache
def reference_programs(case: int, tip: str, way: int) -> PlainPrograms:
    return PlainPrograms(reference_robot(case, tip), way)


@pytest.mark.parametrize("tip", TIPS)
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("way", [0, 1], ids=["explicit", "trace"])
def test_acceleration_energies_of_the_reference(case: int, tip: str, way: int) -> None:
    if way == 0 and tip == "linear" and case != 2:
        pytest.skip("linear tips have the trace form only")
    programs = reference_programs(case, tip, way)
    states = CASES[case]["states"]
    x = {name: np.array([state["derivatives"][k] for state in states]) for k, name in enumerate(MOTION)}
    for p in range(1, 5):
        expected = np.array([state[tip]["acceleration_energy"][str(p)] for state in states])
        found = programs(f"acceleration_energy_{p}", **x)
        assert np.max(np.abs(found / expected - 1)) < EXACT


@pytest.mark.parametrize("tip", TIPS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_inertia_force_rates_of_the_reference(case: int, tip: str) -> None:
    programs, states = reference_programs(case, tip, 0), CASES[case]["states"]
    x = {name: np.array([state["derivatives"][k] for state in states]) for k, name in enumerate(MOTION)}
    for k, name in enumerate(("inertia_forces", "inertia_force_rate_1", "inertia_force_rate_2")):
        expected = np.array([state[tip]["inertia_force_rate"][str(k)] for state in states])
        assert relative_error(programs(name, **x), expected) < EXACT


def test_emitted_programs_of_a_flexible_robot() -> None:
    """Optimized as they are emitted: other frames, base parameters, common factors taken out."""
    names = ["acceleration_energy_1", "acceleration_energy_2", "inertia_force_rate_1"]
    programs, state = Programs(reference_robot(2, "exp"), names), CASES[2]["states"][0]
    x = {name: np.array(state["derivatives"][k]) for k, name in enumerate(MOTION)}
    for p in (1, 2):
        expected = state["exp"]["acceleration_energy"][str(p)]
        assert relative_error(programs(f"acceleration_energy_{p}", **x), expected) < EXACT
    assert relative_error(programs(names[-1], **x), np.array(state["exp"]["inertia_force_rate"]["1"])) < EXACT


# ---- rates along motions


def trajectory(size: int, seed: int, elastic: np.ndarray) -> Any:
    """q(t) = a + b t + c t^2 + d sin(w t + f) and its derivatives of any order."""
    rng = np.random.default_rng((seed, 5))
    a, b, c, d, f = rng.uniform(-0.6, 0.6, (5, size)) * np.where(elastic, 0.2, 1.0)
    w = rng.uniform(0.5, 1.5, size)

    def derivative(t: float, order: int) -> np.ndarray:
        power = (a + b * t + c * t**2, b + 2 * c * t, 2 * c)
        return (power[order] if order < 3 else 0 * a) + d * w**order * np.sin(w * t + f + order * np.pi / 2)

    return derivative


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_time_derivatives_along_a_motion(seed: int) -> None:
    """With gravity, stiffness, damping and friction; poses too. Differences of order 8 of the rate below."""
    robot = random_chain(seed + 60, 2, 1)
    programs = PlainPrograms(robot)
    q = trajectory(programs.size, seed, np.array([c.elastic for c in robot.coordinates]))

    def at(t: float) -> dict[str, np.ndarray]:
        return {name: q(t, k) for k, name in enumerate(MOTION)}

    chains = (
        ("inverse_dynamics", *(f"inverse_dynamics_rate_{k}" for k in (1, 2, 3))),
        ("inertia_forces", *(f"inertia_force_rate_{k}" for k in (1, 2, 3))),
        ("forward_kinematics", *(f"transform_rate_{k}" for k in (1, 2, 3, 4))),
    )
    for chain in chains:
        for lower, upper in pairwise(chain):
            slope = difference_quotient(lambda s, lower=lower: programs(lower, **at(0.3 + s)))
            assert relative_error(programs(upper, **at(0.3)), slope) < 1e-9, upper


def test_taylor_series_of_the_forces_are_the_emitted_rates() -> None:
    robot = random_chain(64, 2, 2)
    energies, motion = Energies(robot), random_motion(robot, 1, 6)
    series = along(energies.forces, motion, 3)["Q"]
    x = dict(zip(MOTION, motion, strict=True))
    for k in (1, 2, 3):
        assert relative_error(energies(f"inertia_force_rate_{k}", **x), series[k]) < EXACT


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
    kinds = {joint.type for robot in robots for joint in robot.joints}
    assert kinds == {JointType.REVOLUTE, JointType.PRISMATIC}
    assert [any(c.elastic for c in robot.coordinates) for robot in robots] == [False, True, True]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("more", [1, 2])
def test_general_identity_with_catalan_weights(name: str, k: int, more: int) -> None:
    assert relative_error(by_weights(name, k, k + more, catalan), forces_of(name)[k - 1]) < EXACT


@pytest.mark.parametrize("name", SMALL)
def test_the_printed_weights_hold_up_to_k_3_and_fail_from_k_4_on(name: str) -> None:
    """000 (115) prints Delta_p = p(p+1)/2 - delta_p = 1, 2, 5, 9, 14; the fourth Catalan number is 14."""
    wrong = {
        k: relative_error(by_weights(name, k, k + 1, PRINTED.__getitem__), forces_of(name)[k - 1]) for k in range(1, 6)
    }
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
    momentum, slope = (
        taylor.evaluate(kinetic, {"q": x[0], "qd": x[1]}, 1)["E"] for x in (by_velocity, by_position)
    )
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
    (energy,) = CATALOGUE["acceleration_energy_1"].ways[0](variant).outputs[0]
    (slopes,) = jacobian(variant.graph, [energy], variant.input("qdd"))
    inputs = [input_argument(name, programs.size) for name in MOTION[:3]]
    appell = program(variant.graph, inputs, [(Argument("Q", (programs.size,), "", ""), slopes)])
    assert relative_error(appell.evaluate(x)["Q"], programs("inertia_forces", **x)) < 1e-10


def test_the_random_chains_are_varied() -> None:
    robots = [random_chain(*case) for case in CHAINS]
    kinds = {joint.type for robot in robots for joint in robot.joints}
    assert kinds == {JointType.REVOLUTE, JointType.PRISMATIC}
    counts = {
        0 if link.flexible is None else len(link.flexible.coordinates) for robot in robots for link in robot.links[1:]
    }
    assert counts >= {0, 1, 2, 3, 4}
    assert {len(robot.joints) for robot in robots} == {1, 2, 3, 4}


# ---- what it is for


def test_torque_rates_are_the_feedforward_of_elastic_joints() -> None:
    """A motion of the links determines that of the drives: theta = q + F / k, with F'' in the rotor's acceleration."""
    rng = np.random.default_rng(9)
    stiffness, rotor, ratio = 300.0, 2e-4, 80.0
    robot = random_chain(91, 3, 0)
    motor = Actuation(motor_inertia=rotor, gear_ratio=ratio)
    spring = JointElasticity(stiffness)
    joints = tuple(replace(joint, elasticity=spring, actuation=motor) for joint in robot.joints)
    elastic = PlainPrograms(replace(robot, joints=joints))
    rigid, motion = PlainPrograms(robot), rng.uniform(-1, 1, (5, 3))
    x = dict(zip(MOTION, motion, strict=False))
    names = ("inverse_dynamics", "inverse_dynamics_rate_1", "inverse_dynamics_rate_2")
    forces = [rigid(name, **x) for name in names]
    state = {}
    for order, name in enumerate(MOTION[:3]):
        deflection = -forces[order] / stiffness
        state[name] = np.stack([motion[order] - deflection, deflection], axis=1).ravel()  # drive, deflection, drive, ...
    torques = elastic("inverse_dynamics", **state)
    drive_acceleration = state["qdd"][::2]
    assert np.max(np.abs(torques[1::2])) < 1e-11 * np.max(np.abs(torques))  # springs need no force
    assert relative_error(torques[::2], forces[0] + rotor * ratio**2 * drive_acceleration) < EXACT


# ---- what the documentation shows is executed

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.filterwarnings("ignore::elastogen.generator.errors.RobotWarning")
def test_snippets_of_the_documentation_run() -> None:
    text = (ROOT / "docs" / "acceleration-energies.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert len(snippets) == 2
    names: dict[str, Any] = {"elastogen": elastogen}
    for snippet in snippets:
        exec(snippet, names)
    assert names["torque"].shape == names["q"].shape


def test_the_example_shows_the_erratum() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "catalan_identity.py"))
    dynamics = example["Dynamics"](elastogen.load(example["FLEXIBLE"]), seed=3)
    assert dynamics.error(4, 5, example["CATALAN"]) < EXACT
    assert dynamics.error(4, 5, example["PRINTED"]) > 1e-2
