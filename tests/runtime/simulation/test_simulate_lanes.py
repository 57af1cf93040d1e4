"""Motions of a batch in lanes: several at once in vectors, with the bits of one after the other."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import numpy as np
import pytest
from simulated_robots import PENDULUM

import elastogen
from elastogen import PD, BangBang, ComputedTorque, Model, ModelError, Simulation, SimulationError, Stops, Table, Waypoints
from elastogen.runtime.simulation.simulator import Simulator

ARM: dict[str, Any] = {
    **PENDULUM,
    "name": "limited_arm",
    "links": [*PENDULUM["links"], {"name": "tip", "mass": "m", "com": [0.2, 0, 0], "inertia": [0, "Izz", "Izz"]}],
    "joints": [
        {**PENDULUM["joints"][0], "limits": {"lower": -1.5, "upper": 1.0}},
        {
            "name": "elbow",
            "type": "revolute",
            "parent": "rod",
            "child": "tip",
            "axis": [0, 0, 1],
            "placement": {"xyz": [0.8, 0, 0]},
        },
    ],
}
FREE: dict[str, Any] = {
    "elastogen": 1,
    "name": "free_arm",
    "base": "floating",
    "gravity": [0, 0, 0],
    "links": [
        {"name": "hub", "mass": 4.0, "inertia": [1, 2, 3]},
        {"name": "arm", "mass": 1.0, "com": [0.3, 0, 0], "inertia": [0, 0.1, 0.1]},
    ],
    "joints": [
        {
            "name": "j", "type": "revolute", "parent": "hub", "child": "arm", "axis": [0, 1, 0],
            "limits": {"lower": -9, "upper": 0.1},
        }
    ],
}  # fmt: skip
SAMPLES = ("q", "qd", "F", "kinetic", "potential", "work", "dissipated")
COUNTERS = ("time_reached", "steps", "rejections", "evaluations", "factorizations")
METHODS = pytest.mark.parametrize("method", ["rk4", "generalized_alpha"])
pytestmark = pytest.mark.filterwarnings("ignore::elastogen.ModelWarning")


@pytest.fixture(scope="module", params=["double", "float"])
def limited_arm(request: pytest.FixtureRequest) -> Model:
    return elastogen.build_model(ARM, outputs="simulation", precision=request.param, lanes=True)


@pytest.fixture(scope="module")
def free_arm() -> Model:
    return elastogen.build_model(FREE, outputs="simulation", lanes=True)


def assert_same_bits(model: Model, monkeypatch: pytest.MonkeyPatch, *state: Any, **options: Any) -> Simulation:
    """Simulate in lanes and one after the other; return the motions."""
    given: dict[str, Any] = {"t": 0.3, "samples": 13, "step": 2e-3, "on_failure": "keep", **options}
    lanes = model.simulate(*state, **given)
    with monkeypatch.context() as patch:
        patch.setattr(Simulator, "_in_lanes", lambda *_: False)
        single = model.simulate(*state, **given)
    assert lanes.status.tolist() == single.status.tolist()
    for name in (*SAMPLES, *COUNTERS):
        assert getattr(lanes, name).tobytes() == getattr(single, name).tobytes(), name
    assert lanes.limits_passed == single.limits_passed
    return lanes


@METHODS
def test_lanes_have_the_bits_of_single_motions(limited_arm: Model, method: Any, monkeypatch: pytest.MonkeyPatch, rng) -> None:
    """Full and partial vectors, one and several threads; the reference is what a single motion gives by itself, too."""
    for number in (2, 3, 8, 9, 17):
        q0, qd0 = rng.uniform(-1, 1, (2, number, 2))
        s = assert_same_bits(limited_arm, monkeypatch, q0, qd0, method=method, threads=1 + number % 3)
        assert s.ok
    one = limited_arm.simulate(q0[-1], qd0[-1], t=0.3, samples=13, step=2e-3, method=method)
    assert one.q.tobytes() == s.q[-1].tobytes()
    assert np.ptp(s.q[:, -1], axis=0).min() > 0.1


@METHODS
def test_every_kind_of_force_and_parameters_of_each_motion(
    limited_arm: Model, method: Any, monkeypatch: pytest.MonkeyPatch, rng
) -> None:
    q0, m = rng.uniform(-1, 1, (7, 1, 2)), np.array([0.5, 1.0, 2.0])
    reference = Waypoints([0.0, 0.1, 0.25], rng.normal(size=(3, 2)))
    t = [0.05, 0.111, 0.2]
    for F in (
        [1.0, -0.0], Table(t, rng.normal(size=(3, 2))), Table(t, rng.normal(size=(3, 2)), "linear"), BangBang([1.0, 0.2], 0.2),
        PD(reference, 20.0, [3.0, 1.0]), ComputedTorque(reference, 100.0, 20.0),
        PD([0.1, 0.2], 9.0, 1.0, actuated=[True, False]),
    ):  # fmt: skip
        s = assert_same_bits(limited_arm, monkeypatch, q0, F=F, method=method, parameters={"m": m})
        assert s.q.shape == (7, 3, 13, 2)
        assert np.ptp(s.kinetic[0, :, -1]) > 0


@METHODS
def test_a_failure_stops_its_own_lane(limited_arm: Model, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without inertia; NaN from the start; so fast that numbers overflow on the way. The others go on to the end."""
    q0, qd0, mass = np.full((6, 2), 0.3), np.zeros((6, 2)), np.full(6, 1.5)
    q0[1, 0], qd0[3], mass[4] = np.nan, (1e3, 1e154 if limited_arm.dtype == np.float64 else 1e18), 0.0
    parameters = {"m": mass, "Izz": np.where(mass > 0, 0.2, 0.0)}
    s = assert_same_bits(limited_arm, monkeypatch, q0, qd0, method=method, parameters=parameters, F=[0.1, 0.2])
    assert s.status[[0, 2, 5]].tolist() == ["OK"] * 3
    assert s.status[1] == "NOT_FINITE"
    assert s.status[3] != "OK"
    assert np.isfinite(s.q[[0, 2, 5]]).all()
    assert np.isnan(s.q[3, -1]).all()
    assert s.status[4] == "SINGULAR"
    with pytest.raises(SimulationError, match=r"motion 1 \(the first of"):
        limited_arm.simulate(q0, qd0, t=0.3, method=method, parameters=parameters)


def test_a_lane_that_halves_its_steps_goes_on_alone(limited_arm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blow after some steps, which some of the light arms among heavy ones cannot take in one step."""
    blow, masses = Table([0.0, 0.35], [[0.0, 0.0], [300.0, -900.0]]), np.full(48, 1e5)
    masses[::2] = np.geomspace(0.3, 10.0, 24)
    options: dict[str, Any] = {"t": np.linspace(0.0, 0.6, 7), "step": 0.1, "parameters": {"m": masses}}
    s = assert_same_bits(limited_arm, monkeypatch, [0.1, 0.2], F=blow, method="generalized_alpha", **options)
    assert s.rejections[::2].max() > 0
    assert s.rejections[1::2].tolist() == [0] * 24


@METHODS
@pytest.mark.parametrize("stops", ["report", "end", "ignore", Stops(1e4, 10.0)])
def test_limits_in_lanes(limited_arm: Model, method: Any, stops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Springs are a function of each motion: one after the other, silently."""
    qd0 = np.linspace(-6.0, 6.0, 22).reshape(11, 2)
    s = assert_same_bits(limited_arm, monkeypatch, [0.1, 0.0], qd0, method=method, stops=stops)
    assert 0 < len(s.limits_passed) < 11 or stops == "ignore"
    assert ("LIMIT" in s.status) == (stops == "end")


@METHODS
def test_quaternions_in_lanes(free_arm: Model, method: Any, monkeypatch: pytest.MonkeyPatch, rng) -> None:
    q0 = np.concatenate([rng.normal(size=(9, 7)), np.zeros((9, 1))], axis=1)
    s = assert_same_bits(free_arm, monkeypatch, q0, rng.normal(size=(9, 7)), method=method, F=rng.normal(size=7))
    np.testing.assert_allclose(np.linalg.norm(s.q[..., 3:7], axis=-1), 1.0, rtol=1e-14)
    assert s.limits_passed


def test_ctrl_c_ends_all_lanes(limited_arm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    wait, calls = concurrent.futures.wait, iter(["interrupted"])

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if next(calls, None):
            raise KeyboardInterrupt
        return wait(*arguments, **options)

    monkeypatch.setattr(concurrent.futures, "wait", interrupted)
    s = limited_arm.simulate(np.zeros((11, 2)), t=np.linspace(0, 1e6, 101), method="rk4", step=1e-3)
    assert s.status.tolist() == ["CANCELLED"] * 11
    assert s.interrupted
    assert np.isnan(s.q[:, -1]).all()


def test_steps_by_error_and_functions_of_the_caller_stay_scalar(limited_arm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def force(t: float, q: Any, qd: Any) -> Any:
        seen.append(t)
        return -0.1 * qd

    q0 = np.array([[0.1, 0.2], [0.3, -0.2], [0.5, 0.4]])
    assert_same_bits(limited_arm, monkeypatch, q0, F=force, method="rk4")
    assert len(seen) > 6 * 4 * 150
    assert_same_bits(limited_arm, monkeypatch, q0, method="tsit5", step=None)


@pytest.mark.parametrize("wrong", [0, -2, 1.5, "2", True])
def test_wrong_threads_are_refused(limited_arm: Model, wrong: Any) -> None:
    with pytest.raises(ModelError, match="threads="):
        limited_arm.simulate(np.zeros((3, 2)), t=0.1, threads=wrong)
    with pytest.raises(ModelError, match=r"do not broadcast.*q0 \(3,\).*parameters \(2,\)"):
        limited_arm.simulate(np.zeros((3, 2)), t=0.1, parameters={"m": [1.0, 2.0]})
