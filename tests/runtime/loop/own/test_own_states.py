"""Own laws with states: the loop, the simulation and a plain loop in Python compute the same; wrong ones are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_setup import STATUS

import elastogen
from elastogen.runtime.loop.loop import Limits, Loop
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.simulation.laws.sampled_law import SampledLaw

GOAL = [0.5, -0.3]
RATE = 500.0


def extended() -> Any:
    """An integral law, and a filter before a law, on the planar arm."""
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    q_ref, sum_e, smooth, speed, last = (s.input(name, 2) for name in ("q_ref", "sum_e", "smooth", "speed", "F_last"))
    G = s.f.gravity_vector(s.q)
    robot = robot.with_function(
        "pid",
        inputs={"q_ref": 2},
        states={"sum_e": 2},
        initial={"sum_e": [0.1, -0.2]},
        outputs={"F": G + 100 * (q_ref - s.q) - 20 * s.qd + 50 * sum_e, "sum_e_rate": q_ref - s.q},
    )
    robot = robot.with_function(
        "low_pass", states={"smooth": 2}, outputs={"speed": smooth, "smooth_next": smooth + (s.qd - smooth) / 5}
    )
    return robot.with_function(
        "damped",
        inputs={"q_ref": 2, "speed": 2, "F_last": 2},
        outputs={"F": G / 2 + last / 2 + 50 * (q_ref - s.q) - 10 * speed},
    )


@pytest.fixture(scope="module")
def model(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(extended())


def by_hand(model: elastogen.Model, chain: str, cycles: int) -> Any:
    """The laws written down again, with the arm between the samples by a fine RK4."""
    q, qd, h = np.zeros(2), np.zeros(2), 1 / RATE / 20
    sum_e, smooth, last = np.array([0.1, -0.2]), np.zeros(2), np.zeros(2)
    found = []
    for _ in range(cycles):
        found.append(q)
        G = model.gravity_vector(q)
        if chain == "pid":
            F = G + 100 * (GOAL - q) - 20 * qd + 50 * sum_e
            sum_e = sum_e + (GOAL - q) / RATE
        else:
            F = G / 2 + last / 2 + 50 * (GOAL - q) - 10 * smooth
            smooth = smooth + (qd - smooth) / 5
            last = F
        for _ in range(20):
            a = model.forward_dynamics(q, qd, F)
            b = model.forward_dynamics(q + h / 2 * qd, qd + h / 2 * a, F)
            c = model.forward_dynamics(q + h / 2 * qd + h * h / 4 * a, qd + h / 2 * b, F)
            d = model.forward_dynamics(q + h * qd + h * h / 2 * b, qd + h * c, F)
            q, qd = q + h * qd + h * h / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)
    return np.array(found)


def loop_of(model: elastogen.Model, controller: Any, **options: Any) -> Loop:
    plant = Simulated([0.0, 0.0], substeps=20)
    loop = model.loop(controller=controller, rate=RATE, plant=plant, limits=Limits(force=np.inf, velocity=np.inf), **options)
    loop.set_reference(GOAL)
    return loop


@pytest.mark.parametrize("chain", ["pid", "damped"])
def test_loop_and_simulation_compute_the_law(model: elastogen.Model, chain: str) -> None:
    functions = "pid" if chain == "pid" else ["low_pass", "damped"]
    expected = by_hand(model, chain, 200)
    loop = loop_of(model, functions)
    loop.step(200)
    assert loop.read()["q"] == pytest.approx(expected, abs=1e-8)
    law = SampledLaw(functions, rate=RATE, references={"q_ref": lambda t: GOAL})
    done = model.simulate([0, 0], t=np.arange(200) / RATE, F=law, rtol=1e-10, atol=1e-12)
    assert done.q == pytest.approx(expected, abs=1e-8)
    balance = done.kinetic + done.potential - done.work + done.dissipated
    assert np.ptp(balance) < 1e-9


def test_states_begin_anew_at_a_reset(model: elastogen.Model) -> None:
    """The integral of the way to a fault must not push the arm after it."""
    loop = loop_of(model, "pid")
    loop.step(100)
    loop.set_limits(Limits(force=np.inf, velocity=6.0))
    assert isinstance(loop.plant, Simulated)
    loop.plant.qd[1] = 8.0  # somebody strikes the elbow
    loop.step(1500)
    assert loop.phase == "holding"
    assert loop._own[0] != pytest.approx(0.1, abs=1e-3)
    loop.reset()
    loop.step(1)
    assert [loop._own[0], loop._own[1]] == pytest.approx([0.1, -0.2], abs=1e-6)  # held where it is: nothing to add


def test_a_cycle_that_a_reset_tries_does_not_move_the_states(model: elastogen.Model) -> None:
    """It comes again: once tried, and once with its command."""
    loop = loop_of(model, "pid")
    loop.step(100)
    loop._lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(1500)
    assert loop.phase == "holding"
    loop._loop.tripped = 0
    for _ in range(3):
        assert loop._lib.eg_loop_reset(loop._loop) == 0
        loop._loop.phase = 2  # as if that had been refused
    loop._loop.phase = 0
    loop.set_reference(GOAL)
    loop.step(1)
    last = loop.read()[-1]
    assert loop._own[0] == pytest.approx(0.1 + (last["q_ref"][0] - last["q"][0]) / RATE, abs=1e-15)
    assert loop.status


def test_states_begin_anew_when_steps_go_on_after_an_end(model: elastogen.Model) -> None:
    loop = loop_of(model, "pid")
    loop.step(100)
    loop._lib.eg_loop_stop(loop._loop)
    loop.step(1500)
    assert loop.phase == "ended"
    assert loop._own[0] != pytest.approx(0.1, abs=1e-3)
    loop.step(1)
    last = loop.read()[-1]
    assert loop.phase == "running"
    assert loop._own[0] == pytest.approx(0.1 + (last["q_ref"][0] - last["q"][0]) / RATE, abs=1e-15)


def test_states_begin_anew_when_a_law_is_used_again(model: elastogen.Model) -> None:
    loop = loop_of(model, "pid", controllers=["user", "pd_gravity"])
    loop.step(50)
    loop.use("pd_gravity", seconds=0.0)
    loop.step(50)
    loop.use("user", seconds=0.0)
    loop.step(1)
    last = loop.read()[-1]
    expected = model.gravity_vector(last["q"]) + 100 * (GOAL - last["q"]) - 20 * last["qd"] + 50 * np.array([0.1, -0.2])
    assert last["F"] == pytest.approx(expected, abs=1e-9)


def test_wrong_states_are_named_when_a_function_is_added() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    z, F = s.input("z", 2), s.f.gravity_vector(s.q)
    for states, outputs, initial, message in [
        ({"z": 2}, {"F": F + z}, None, "a state with an update"),
        ({"z": 2}, {"F": F, "z_next": z, "z_rate": z}, None, "z_next or z_rate"),
        ({"z": 2}, {"F": F, "z_next": z[0]}, None, r"shape \(2,\)"),
        ({"z": 2}, {"F": F, "z_next": z}, {"z": [1.0]}, "2 finite numbers"),
        ({"z": 2}, {"F": F, "z_next": z}, {"z": [1.0, np.nan]}, "2 finite numbers"),
        ({"z": 2}, {"F": F, "z_next": z}, {"y": 0.0}, "names of states"),
        (["z"], {"F": F, "z_next": z}, None, "a mapping"),
        ({"z": -1}, {"F": F, "z_next": z}, None, "a size"),
    ]:
        with pytest.raises(elastogen.RobotError, match=message):
            robot.with_function("law", outputs=outputs, states=states, initial=initial)  # type: ignore[arg-type]
    with pytest.raises(elastogen.RobotError, match="no input has"):
        robot.with_function("law", inputs={"z": 2}, outputs={"F": F, "z_next": z}, states={"z": 2})


def test_chains_that_do_not_fit_are_named(model: elastogen.Model) -> None:
    with pytest.raises(elastogen.OutputError, match="its input speed is not of"):
        model.loop(controller="damped")
    with pytest.raises(elastogen.OutputError, match="expected an output F"):
        model.loop(controller="low_pass")
    with pytest.raises(elastogen.OutputError, match="no own function 'pidd'"):
        model.loop(controller=["low_pass", "pidd"])
    with pytest.raises(elastogen.OutputError, match="each function once"):
        model.loop(controller=["pid", "pid"])
    for law, message in [
        (SampledLaw("damped", references={"q_ref": GOAL}), "takes speed, which nothing gives"),
        (SampledLaw("low_pass"), "output F"),
        (SampledLaw("pidd"), "has no function 'pidd'"),
        (SampledLaw("pid", rate=0.0, references={"q_ref": GOAL}), "rate"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            model.simulate([0, 0], t=0.1, F=law)
    with pytest.raises(elastogen.ModelError, match="one motion"):
        model.simulate(np.zeros((3, 2)), t=0.1, F=SampledLaw("pid", references={"q_ref": GOAL}))
