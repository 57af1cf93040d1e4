"""Places where independent velocities do not determine the motion: another choice at run time, or an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, null_space, residuals
from scipy.integrate import solve_ivp

import elastogen

OUTPUTS = ["forward_dynamics", "loop_residual", "loop_jacobian", "mass_matrix"]
BODY = {"mass": 1.0, "com": [0.2, 0.01, 0], "inertia": [0.01, 0.02, 0.02]}


def _models(robot: elastogen.Robot) -> tuple[Any, Any]:
    """The mechanism, and its tree, whose equations Gauss' principle starts from."""
    tree = replace(robot, name="tree", loops=())
    return (
        elastogen.build_model(robot, outputs=OUTPUTS, cflags="-O0"),
        elastogen.build_model(tree, outputs=["inverse_dynamics"], cflags="-O0"),
    )


def _expected(robot: elastogen.Robot, models: Any, q: Any, qd: Any, F: Any) -> Any:
    closed, tree = models
    forces = F - tree.inverse_dynamics(q, qd, 0 * qd)
    return gauss(jacobian(robot, q), 2 * residuals(robot, q, qd).c, closed.mass_matrix(q), forces)


@pytest.fixture(scope="module")
def five_bar() -> Any:
    robot = elastogen.load("five_bar")
    return robot, _models(robot)


def test_legs_that_are_stretched(five_bar: Any) -> None:
    """A straight elbow: the point of the loop does not determine the leg, and yet the mechanism moves on."""
    robot, models = five_bar
    closed, rng = models[0], np.random.default_rng(1)
    left = closed.close_loops([1.2, 0.0, 1.5, 0.5], held=["left", "left_elbow"])
    right = closed.close_loops([1.8, 0.5, 1.9, 0.0], held=["right", "right_elbow"])
    usual = closed.close_loops([2.0, -1.0, 1.0, 1.0])
    assert left[1] == 0.0
    assert right[3] == 0.0
    states = np.array([left, usual, right, left])
    N = [null_space(jacobian(robot, q)) for q in states]
    qd = np.array([n @ rng.normal(size=2) for n in N])
    F = rng.normal(size=(4, 4))
    found = closed.forward_dynamics(states, qd, F)
    for q, v, f, a in zip(states, qd, F, found, strict=True):
        expected = _expected(robot, models, q, v, f)
        np.testing.assert_allclose(a, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_motion_through_a_stretched_leg(five_bar: Any) -> None:
    """A motion back from a straight elbow, and forth again through it, beside SciPy on Gauss' principle."""
    robot, models = five_bar
    closed = models[0]
    q = closed.close_loops([1.2, 0.0, 1.5, 0.5], held=["left", "left_elbow"])
    J = closed.loop_jacobian(q)
    N = null_space(J)
    qd = N @ np.linalg.lstsq(N[[1]], [4.0], rcond=None)[0]  # the elbow goes through
    backward = closed.simulate(q, -qd, t=[0.0, 0.01], rtol=1e-10, atol=1e-12)
    start_q, start_qd = backward.q[-1], -backward.qd[-1]
    assert start_q[1] < 0
    forward = closed.simulate(start_q, start_qd, t=np.linspace(0, 0.02, 21), rtol=1e-10, atol=1e-12)
    assert forward.q[0, 1] < 0 < forward.q[-1, 1]

    def rates(_: float, y: Any) -> Any:
        return np.concatenate([y[4:], _expected(robot, models, y[:4], y[4:], np.zeros(4))])

    other = solve_ivp(rates, (0, 0.02), np.concatenate([start_q, start_qd]), "DOP853", rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(forward.q[-1], other.y[:4, -1], atol=1e-9)
    assert np.abs(closed.loop_residual(forward.q)).max() < 1e-11


def parallelogram(cranks: int) -> elastogen.Robot:
    """Equal cranks side by side on one coupler: flat at zero, where they may go on as a parallelogram or otherwise."""
    links: list[dict[str, Any]] = [{"name": "frame"}, {"name": "crank0", **BODY}, {"name": "coupler", **BODY}]
    joints: list[dict[str, Any]] = [
        {"name": "drive", "type": "revolute", "parent": "frame", "child": "crank0"},
        {"name": "elbow", "type": "revolute", "parent": "crank0", "child": "coupler", "placement": {"xyz": [0.4, 0, 0]},
         "driven": False},
    ]  # fmt: skip
    loops = []
    for k in range(1, cranks):
        links.append({"name": f"crank{k}", **BODY})
        joints.append({"name": f"pivot{k}", "type": "revolute", "parent": "frame", "child": f"crank{k}", "driven": False,
                       "placement": {"xyz": [0.3 * k, 0, 0]}})  # fmt: skip
        loops.append({"name": f"pin{k}", "type": "revolute", "a": {"link": "coupler", "xyz": [0.3 * k, 0, 0]},
                      "b": {"link": f"crank{k}", "xyz": [0.4, 0, 0]}})  # fmt: skip
    file = {"elastogen": 1, "name": "parallel", "gravity": [0, -9.81, 0], "links": links, "joints": joints, "loops": loops}
    return elastogen.load(file)


@pytest.mark.parametrize("cranks", [2, 4])
def test_parallel_cranks_flat_and_raised(cranks: int) -> None:
    robot = parallelogram(cranks)
    models = _models(robot)
    n, F = cranks + 1, np.array([1.0, *([0.0] * cranks)])
    for angle in (0.7, -2.0, 1e-2):
        q = np.array([angle, -angle, *([angle] * (cranks - 1))])
        qd = np.array([1.5, -1.5, *([1.5] * (cranks - 1))])
        expected = _expected(robot, models, q, qd, F)
        found = models[0].forward_dynamics(q, qd, F)
        np.testing.assert_allclose(found, expected, rtol=1e-7 / abs(angle), atol=1e-8 * np.abs(expected).max())
    for flat in (0.0, 1e-10):
        q = np.array([flat, -flat, *([flat] * (cranks - 1))])
        with pytest.raises(elastogen.ModelError, match=r"rank \d here instead of \d"):
            models[0].forward_dynamics(q, np.zeros(n), F)


def test_loops_that_leave_nothing_to_move_are_refused() -> None:
    file = {
        "elastogen": 1, "name": "truss", "links": [{"name": "frame"}, {"name": "left", **BODY}, {"name": "right", **BODY}],
        "joints": [
            {"name": "a", "type": "revolute", "parent": "frame", "child": "left"},
            {"name": "b", "type": "revolute", "parent": "frame", "child": "right", "placement": {"xyz": [0.5, 0, 0]}},
        ],
        "loops": [{"name": "top", "type": "revolute", "a": {"link": "left", "xyz": [0.4, 0, 0]},
                   "b": {"link": "right", "xyz": [0.4, 0, 0]}}],
    }  # fmt: skip
    with pytest.raises(elastogen.RobotError, match=r"2 independent rows on 2 velocities.*leave out a loop"):
        elastogen.build_model(file)


@pytest.mark.parametrize("method", ["rk4", "generalized_alpha"])
def test_a_motion_into_a_singular_configuration_names_it(method: str) -> None:
    """A parallelogram whose steps end exactly where it is flat and its loop loses rank."""
    body = {"mass": 1.3, "com": [0.1, 0.02, 0], "inertia": [0.01, 0.02, 0.03]}
    hinge = {"type": "revolute", "driven": False}
    file = {
        "elastogen": 1,
        "name": "parallelogram",
        "gravity": [0, 0, 0],
        "links": [{"name": "frame"}, *({"name": name, **body} for name in ("crank", "coupler", "rocker"))],
        "joints": [
            {"name": "drive", "type": "revolute", "parent": "frame", "child": "crank"},
            {"name": "elbow", "child": "coupler", "placement": {"xyz": [0.3, 0, 0]}, **hinge},
            {"name": "pivot", "parent": "frame", "child": "rocker", "placement": {"xyz": [0.5, 0, 0]}, **hinge},
        ],
        "loops": [
            {"type": "revolute", "a": {"link": "coupler", "xyz": [0.5, 0, 0]}, "b": {"link": "rocker", "xyz": [0.3, 0, 0]}}
        ],
    }
    model: Any = elastogen.build_model(file, outputs=["default", "simulation"], cflags="-O0")
    q = model.close_loops([0.7, -0.7, 0.7])
    qd = model.driven_map(q) @ [-2.0]
    with pytest.raises(
        elastogen.ModelError, match=r"at t = 0\.3[45].* s: the (closed mechanism|loops) cannot.*a singular config"
    ):
        model.simulate(q, qd, t=1.0, samples=201, method=method, step=1e-3)
    passed = model.simulate(q, qd, t=1.0, samples=101)  # no step of it ends there
    np.testing.assert_allclose(passed.kinetic, passed.kinetic[0], rtol=1e-8)
