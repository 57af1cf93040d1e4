"""Own terms and laws that depend on the time, in the loop: the plant and the controller know it, cycle by cycle."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sympy
from c_compilers import COMPILERS, WARNINGS
from loop_setup import finish

import elastogen
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.loop.controllers import ComputedTorqueLaw
from elastogen.runtime.loop.plants import Simulated

PERIOD, CYCLES = 1e-2, 40


@pytest.fixture(scope="module")
def shaken_robot() -> Robot:
    """Two links whose base is shaken, with a law that knows the time as well."""
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    robot = robot.with_terms(name="shaken", forces={"shoulder": 30 * sympy.sin(20 * s.t), "tip": sympy.Matrix([0, 9 * s.t, 0])})
    law = sympy.Matrix([20 * sympy.cos(9 * s.t) - 3 * s.qd[0], -2 * s.qd[1]])
    return robot.with_function("law", outputs={"F": law})


@pytest.fixture(scope="module")
def shaken(shaken_robot: Robot) -> elastogen.Model:
    return elastogen.build_model(shaken_robot, outputs=["law", "forward_dynamics", "inverse_dynamics"])


def by_hand(model: elastogen.Model, q: np.ndarray, method: str, substeps: int) -> np.ndarray:
    """The same cycles in Python: the command is held, the state goes on by the method at the right times."""
    h = PERIOD / substeps
    state = np.array([q, np.zeros(2)])
    rows = [state[0]]
    for tick in range(CYCLES - 1):
        F = np.ravel(model.evaluate("law", qd=state[1], parameters={"time": tick * PERIOD}))

        def rate(x: np.ndarray, t: float, F: np.ndarray = F) -> np.ndarray:
            return np.array([x[1], model.forward_dynamics(x[0], x[1], F, parameters={"time": t})])

        for k in range(substeps):
            t = tick * PERIOD + k * h
            k1 = rate(state, t)
            if method == "semi_implicit":
                qd = state[1] + h * k1[1]
                state = np.array([state[0] + h * qd, qd])
                continue
            k2 = rate(state + h / 2 * k1, t + h / 2)
            k3 = rate(state + h / 2 * k2, t + h / 2)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(state + h * k3, t + h))
        rows.append(state[0])
    return np.array(rows)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_plant_and_law_know_the_time(shaken: elastogen.Model, method: str) -> None:
    q = np.array([0.2, -0.3])
    plant = Simulated(q, method=method, substeps=3)
    loop = shaken.loop(controller="law", plant=plant, rate=1 / PERIOD, free_running=True, keep="oldest")
    np.testing.assert_allclose(finish(loop, CYCLES)["q"], by_hand(shaken, q, method, 3), rtol=1e-11, atol=1e-12)


def test_the_model_of_a_controller_knows_it(shaken: elastogen.Model) -> None:
    q = np.array([0.2, -0.3])
    law = ComputedTorqueLaw(kp=100, kd=20)
    loop = shaken.loop(controller=law, plant=Simulated(q, substeps=3), rate=1 / PERIOD, free_running=True, keep="oldest")
    loop.move_to(q, 0.1)
    for tick, row in enumerate(finish(loop, CYCLES)):
        a = 100 * (q - row["q"]) - 20 * row["qd"]
        F = shaken.inverse_dynamics(row["q"], row["qd"], a, parameters={"time": tick * PERIOD})
        np.testing.assert_allclose(row["F"], F, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_emitted_loop_is_clean(shaken_robot: Robot, precision: str, tmp_path: Path) -> None:
    elastogen.generate_loop(shaken_robot, tmp_path, precision=precision)
    text = (tmp_path / "two_link_loop.c").read_text()
    assert "plant->p.time" in text
    for compiler in COMPILERS:
        subprocess.run([compiler, *WARNINGS, "-fsyntax-only", tmp_path / "two_link_loop.c"], check=True)


def test_a_loop_without_time_says_nothing_of_it(tmp_path: Path) -> None:
    elastogen.generate_loop("two_link", tmp_path)
    assert "p.time" not in (tmp_path / "two_link_loop.c").read_text()


def test_the_plant_takes_the_steps_of_a_simulation() -> None:
    """The same method from the same C: bit for bit, with the command held."""
    model = elastogen.build_model("two_link", outputs=["forward_dynamics", "inverse_dynamics", "gravity_vector"])
    plant = Simulated(np.array([0.2, -0.3]), np.array([1.0, -2.0]), method="rk4", substeps=4)
    period = 1 / 128  # a quarter of it has no rounding error
    loop = model.loop(
        controller=ComputedTorqueLaw(kp=100, kd=20), plant=plant, rate=1 / period, free_running=True, keep="oldest"
    )
    rows = finish(loop, CYCLES)
    for row, after in pairwise(rows):
        motion = model.simulate(row["q"], row["qd"], t=[0.0, period], F=row["F"], method="rk4", step=period / 4, energy=False)
        np.testing.assert_array_equal(motion.q[-1], after["q"])
        np.testing.assert_array_equal(motion.qd[-1], after["qd"])


@pytest.mark.nightly
def test_the_benchmark_of_a_cycle_is_not_stopped() -> None:
    """Its plant that does nothing gives measurements that no check takes for those of a dead sensor."""
    from benchmarks.motion.loop import NOTHING, ROBOT, STILL, costs

    library = elastogen.build_loop(ROBOT, controller_source=NOTHING, plant_source=STILL)
    assert sum(line.startswith("| ") for line in costs(library, 1000)) == 6
