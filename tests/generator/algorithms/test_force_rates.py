"""Acceleration energies and rates of forces against references, along motions, and in use."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flexible_chains import EXACT, Energies, random_chain, random_motion
from flexible_reference import CASES, TIPS, robot_of
from plain_programs import PlainPrograms
from robots_for_tests import Programs, difference_quotient, relative_error

import elastogen
from elastogen.generator.program.arguments import MOTION
from elastogen.generator.program.taylor import along
from elastogen.generator.robot.robot import Actuation, JointElasticity, Robot

# ---- against the reference


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
    x = {name: np.array([state["derivatives"][k] for state in states]) for k, name in enumerate(MOTION[:6])}
    for p in range(1, 5):
        expected = np.array([state[tip]["acceleration_energy"][str(p)] for state in states])
        found = programs(f"acceleration_energy_{p}", **x)
        assert np.max(np.abs(found / expected - 1)) < EXACT


@pytest.mark.parametrize("tip", TIPS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_inertia_force_rates_of_the_reference(case: int, tip: str) -> None:
    programs, states = reference_programs(case, tip, 0), CASES[case]["states"]
    x = {name: np.array([state["derivatives"][k] for state in states]) for k, name in enumerate(MOTION[:6])}
    for k, name in enumerate(("inertia_forces", "inertia_force_rate_1", "inertia_force_rate_2")):
        expected = np.array([state[tip]["inertia_force_rate"][str(k)] for state in states])
        assert relative_error(programs(name, **x), expected) < EXACT


def test_emitted_programs_of_a_flexible_robot() -> None:
    """Optimized as they are emitted: other frames, base parameters, common factors taken out."""
    names = ["acceleration_energy_1", "acceleration_energy_2", "inertia_force_rate_1"]
    programs, state = Programs(reference_robot(2, "exp"), names), CASES[2]["states"][0]
    x = {name: np.array(state["derivatives"][k]) for k, name in enumerate(MOTION[:6])}
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
        return {name: q(t, k) for k, name in enumerate(MOTION[:6])}

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
    x = dict(zip(MOTION, motion, strict=False))
    for k in (1, 2, 3):
        assert relative_error(energies(f"inertia_force_rate_{k}", **x), series[k]) < EXACT


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

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
def test_snippets_of_the_documentation_run() -> None:
    text = (ROOT / "docs" / "equations" / "acceleration-energies.md").read_text(encoding="utf-8")
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
