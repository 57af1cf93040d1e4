"""Regressor, reactions, derivatives and forces under wrenches of closed mechanisms."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, null_space, random_mechanism, residuals
from test_loop_descriptions import FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.program.numbers.many_digits import evaluate


def _driven(seed: int, joints: int, loops: list[str], **how: Any) -> tuple[Any, Any]:
    """A random mechanism with drives on all joints."""
    file, q = random_mechanism(seed, joints, loops, **how)
    for joint in file["joints"]:
        joint["driven"] = True
    return elastogen.load(file), q


def _state(robot: Any, q: Any, seed: int) -> tuple[Any, Any]:
    """Velocities and accelerations that keep loops closed."""
    J, rng = jacobian(robot, q), np.random.default_rng(seed)
    N = null_space(J)
    qd = N @ rng.normal(size=N.shape[1])
    M = np.eye(len(qd))
    return qd, gauss(J, 2 * residuals(robot, q, qd).c, M, rng.normal(size=len(qd)))


@pytest.fixture(scope="module", params=["planar", "spatial"])
def mechanism(request: pytest.FixtureRequest) -> Any:
    if request.param == "planar":
        robot, q = _driven(2, 6, ["revolute", "distance"], planar=True, kinds=("revolute", "prismatic"))
    else:
        robot, q = _driven(14, 8, ["universal", "distance"], kinds=("revolute", "prismatic"))
    names = ("inverse_dynamics", "regressor", "inertial_parameters", "base_regressor", "base_parameters", "joint_reactions")
    programs = {f.name: f.program for f in derive_model(robot, names).functions}
    qd, qdd = _state(robot, q, 1)
    return robot, programs, {"q": q, "qd": qd, "qdd": qdd}


def _value(programs: Any, name: str, **state: Any) -> Any:
    (answer,) = programs[name].evaluate(state).values()
    return answer


def test_regressors_give_the_forces_of_the_drives(mechanism: Any) -> None:
    _, programs, state = mechanism
    F = _value(programs, "inverse_dynamics", **state)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(F).max()}
    Y = _value(programs, "regressor", **state)
    np.testing.assert_allclose(Y @ _value(programs, "inertial_parameters"), F, **close)
    Y_b = _value(programs, "base_regressor", **state)
    assert Y_b.shape[1] < Y.shape[1]
    np.testing.assert_allclose(Y_b @ _value(programs, "base_parameters"), F, **close)


def test_reactions_along_the_joints_are_the_forces_of_the_drives(mechanism: Any) -> None:
    """A free-body sum of all beyond a joint: whatever its loops carry, along its axis only the drive acts."""
    robot, programs, state = mechanism
    F = _value(programs, "inverse_dynamics", **state)
    reactions = _value(programs, "joint_reactions", **state)
    for k, (joint, reaction) in enumerate(zip(robot.moving_joints, reactions, strict=True)):
        axis = np.array([float(c) for c in joint.axis])
        along = axis @ (reaction[3:] if joint.type.name == "revolute" else reaction[:3])
        # the axis is fixed in the link, whose origin is on it
        assert abs(along - F[k]) < 1e-9 * np.abs(F).max()


def test_derivatives_against_differences_in_50_digits() -> None:
    robot = elastogen.load(FOUR_BAR)
    names = ("forward_dynamics", "forward_dynamics_derivatives", "inverse_dynamics", "inverse_dynamics_derivatives")
    programs = {f.name: f.program for f in derive_model(robot, names).functions}
    q = np.array(analysis_of(robot).start)
    qd, qdd = _state(robot, q, 3)
    given = {"forward": {"q": q, "qd": qd, "F": np.array([1.3, 0.2, -0.4])}, "inverse": {"q": q, "qd": qd, "qdd": qdd}}
    for which, state in given.items():
        found = programs[f"{which}_dynamics_derivatives"].evaluate(state)
        for block, by in zip(found.values(), state, strict=True):
            np.testing.assert_allclose(block, _differences(programs[f"{which}_dynamics"], state, by), rtol=1e-12, atol=1e-12)


def _differences(program: Any, state: Any, by: str) -> Any:
    """Central differences in 50 digits."""
    h, columns = mpmath.mpf(10) ** -17, []
    for k in range(3):
        sides = []
        for shift in (h, -h):
            moved = {name: [mpmath.mpf(float(x)) for x in values] for name, values in state.items()}
            with mpmath.workdps(50):
                moved[by][k] += shift
            sides.append(next(iter(evaluate(program, moved).values())))
        columns.append([float((a - b) / (2 * h)) for a, b in zip(*sides, strict=True)])
    return np.array(columns).T


def test_second_derivatives_against_differences_in_50_digits() -> None:
    """Blocks of the weighted sums, and Hessians over all inputs, beside differences of first derivatives."""
    robot = elastogen.load(FOUR_BAR)
    w, q = np.array([0.7, -1.1, 0.4]), np.array(analysis_of(robot).start)
    qd, qdd = _state(robot, q, 3)
    given = {"forward": {"q": q, "qd": qd, "F": np.array([1.3, 0.2, -0.4])}, "inverse": {"q": q, "qd": qd, "qdd": qdd}}
    names = [f"{which}_dynamics_{kind}" for which in given for kind in ("derivatives", "second_order", "hessian")]
    programs = {f.name: f.program for f in derive_model(robot, names).functions}
    for which, state in given.items():
        first, names = programs[f"{which}_dynamics_derivatives"], list(state)
        expected = np.block([[_weighted_differences(first, state, row, by, w) for by in names] for row in range(3)])
        scale = np.abs(expected).max()
        second = programs[f"{which}_dynamics_second_order"].evaluate({**state, "weights": w})
        places = ((0, 0), (0, 1), (1, 1), (0, 2))
        for block, (r, c) in zip(second.values(), places, strict=True):
            np.testing.assert_allclose(block, expected[3 * r : 3 * r + 3, 3 * c : 3 * c + 3], atol=1e-12 * scale)
        (hessian,) = programs[f"{which}_dynamics_hessian"].evaluate({**state, "output_weights": w}).values()
        np.testing.assert_allclose(hessian, expected, atol=1e-12 * scale)


def _weighted_differences(program: Any, state: Any, row: int, by: str, w: Any) -> Any:
    """Rows of w^T times a block of first derivatives, differentiated by an input, in 50 digits."""
    h, columns = mpmath.mpf(10) ** -17, []
    for k in range(3):
        sides = []
        for shift in (h, -h):
            moved = {name: [mpmath.mpf(float(x)) for x in values] for name, values in state.items()}
            with mpmath.workdps(50):
                moved[by][k] += shift
                block = list(evaluate(program, moved).values())[row]
                sides.append([mpmath.fsum(mpmath.mpf(float(w[i])) * block[i][c] for i in range(3)) for c in range(3)])
        with mpmath.workdps(50):
            columns.append([float((a - b) / (2 * h)) for a, b in zip(*sides, strict=True)])
    return np.array(columns).T


def test_wrenches_act_on_closed_mechanisms() -> None:
    robot = elastogen.load(FOUR_BAR)
    names = ("forward_dynamics", "forward_dynamics_with_wrenches", "inverse_dynamics_with_wrenches", "frame_forces")
    programs = {f.name: f.program for f in derive_model(robot, names, frames=["rocker"]).functions}
    q = np.array(analysis_of(robot).start)
    qd, qdd = _state(robot, q, 3)
    wrenches, F = np.array([[1.0, 2, 0, 0, 0, 0.3]]), np.array([0.4, 0, 0])
    pushed = _value(programs, "forward_dynamics_with_wrenches", q=q, qd=qd, F=F, wrenches=wrenches)
    more = _value(programs, "frame_forces", q=q, wrenches=wrenches)
    np.testing.assert_allclose(pushed, _value(programs, "forward_dynamics", q=q, qd=qd, F=F + more), rtol=1e-11)
    drives = _value(programs, "inverse_dynamics_with_wrenches", q=q, qd=qd, qdd=qdd, wrenches=wrenches)
    again = _value(programs, "forward_dynamics_with_wrenches", q=q, qd=qd, F=drives, wrenches=wrenches)
    np.testing.assert_allclose(again, qdd, rtol=1e-10)
