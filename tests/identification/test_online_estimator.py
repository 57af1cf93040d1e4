"""Payload and friction while a robot moves: the emitted recursive least squares against the robot that made the forces."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

import elastogen

ARM = {
    "elastogen": 1,
    "name": "carrier",
    "gravity": [0, 0, -9.81],
    "links": [
        {"name": "base"},
        {"name": "turret", "mass": 3.0, "com": [0, 0, 0.1], "inertia": [0.02, 0.02, 0.02]},
        {"name": "upper", "mass": 2.0, "com": [0.2, 0, 0], "inertia": [0.01, 0.03, 0.03]},
        {"name": "fore", "mass": 1.0, "com": [0.15, 0, 0.02], "inertia": [0.01, 0.02, 0.02]},
    ],
    "joints": [
        {"name": "a", "type": "revolute", "child": "turret", "axis": [0, 0, 1]},
        {"name": "b", "type": "revolute", "child": "upper", "axis": [0, 1, 0], "placement": {"xyz": [0.1, 0, 0.3]},
         "friction": {"viscous": 0.3, "coulomb": 0.4, "coulomb_velocity": 0.05}},
        {"name": "c", "type": "revolute", "child": "fore", "axis": [0, 1, 0], "placement": {"xyz": [0.4, 0, 0]}},
    ],
    "tip": {"link": "fore", "xyz": [0.3, 0, 0], "rpy": [0.2, 0.4, -0.3]},
}  # fmt: skip
LOAD = {"mass": 1.2, "com": [0.03, -0.02, 0.05], "inertia": [0.004, 0.005, 0.003]}


def motion(seconds=8.0, dt=1e-3):
    t = np.arange(0, seconds, dt)
    q, qd, qdd = (np.zeros((len(t), 3)) for _ in range(3))
    rng = np.random.default_rng(2)
    for k in range(3):
        for w in (1.1, 2.3, 3.9, 5.3):
            a, p = 0.8 * rng.uniform(0.4, 1) / w, rng.uniform(0, 6)
            q[:, k] += a * np.sin(w * t + p)
            qd[:, k] += a * w * np.cos(w * t + p)
            qdd[:, k] -= a * w * w * np.sin(w * t + p)
    return q, qd, qdd


@pytest.fixture(scope="module")
def model():
    return elastogen.build_model(ARM, outputs=["inverse_dynamics"], identification=["payload", "friction"])


def forces(q, qd, qdd, load=LOAD, friction=None):
    robot = {**ARM, "payload": load} if load else dict(ARM)
    F = elastogen.build_model(robot, outputs=["inverse_dynamics"]).inverse_dynamics(q, qd, qdd)
    return F if friction is None else F + friction(qd)


def test_a_load_and_friction_are_found(model):
    q, qd, qdd = motion()
    F = forces(q, qd, qdd, friction=lambda v: v * [0.5, 0.0, 0.2] + np.array([0.0, 0.3, 0.0]))
    rng = np.random.default_rng(0)
    estimator = model.online_estimator(1e-3, noise=0.05, uncertainty=3.0, bandwidth=200.0)
    found = estimator.update(q, qd, F + 0.05 * rng.normal(size=F.shape))
    value = dict(zip(estimator.names, found.theta[-1], strict=True))
    assert value["payload.m"] == pytest.approx(1.2, rel=0.01)
    for axis, com in zip("xyz", LOAD["com"], strict=True):
        assert value[f"payload.m{axis}"] == pytest.approx(1.2 * com, abs=0.006)
    assert value["a.viscous"] == pytest.approx(0.5, abs=0.02)
    assert value["c.viscous"] == pytest.approx(0.2, abs=0.02)
    assert value["b.offset"] == pytest.approx(0.3, abs=0.05)
    assert value["b.coulomb"] == pytest.approx(0.0, abs=0.05)
    assert found.deviation[-1, 0] < 0.02 * found.deviation[100, 0] + 0.02


def test_it_is_the_least_squares_of_all_rows(model):
    """Without forgetting, against a solution of all equations at once by numpy, with the estimator's own filter."""
    q, qd, qdd = motion(1.0)
    F, dt, w = forces(q, qd, qdd), 1e-3, 80.0
    share, x = w * dt / (1 + w * dt), [q[0].copy(), qd[0].copy(), F[0].copy()]
    states = []
    for k in range(1, len(q)):
        before = x[1].copy()
        x = [old + share * (new[k] - old) for old, new in zip(x, (q, qd, F), strict=True)]
        states.append((x[0], x[1], (x[1] - before) / dt, x[2]))
    Q, V, A, T = (np.array(column) for column in zip(*states, strict=True))
    base = forces(Q, V, A, load=None)
    unit = forces(Q, V, A, load={"mass": 1.0, "inertia": [1e-3] * 3}) - base
    left = T - base
    prior = np.array([2.0] * 10 + [0.0] * 9)
    estimator = model.online_estimator(dt, noise=0.1, uncertainty=prior, bandwidth=w)
    theta = estimator.update(q, qd, F).theta[-1]
    assert np.all(theta[10:] == 0)  # what is certain stays
    inertia = np.diag([1e-3] * 3)
    regressor = elastogen.build_model(ARM, outputs=["regressor", "inertial_parameters"])
    from elastogen.generator.functions.composed.payload_columns import carrier_names, payload_columns

    robot = elastogen.load(ARM)
    part = payload_columns(robot, carrier_names(robot))
    Y = regressor.regressor(Q, V, A)[:, :, : len(part)] @ part
    ten = np.array([1.0, 0, 0, 0, *inertia[np.triu_indices(3)]])
    assert np.abs(Y @ ten - unit).max() < 1e-9 * np.abs(unit).max()  # columns are those of a load in the tip frame
    rows = np.vstack([Y.reshape(-1, 10) / 0.1, np.eye(10) / 2.0])
    expected = np.linalg.lstsq(rows, np.append(left.ravel() / 0.1, np.zeros(10)), rcond=None)[0]
    assert theta[:10] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_it_forgets_a_load_that_was_put_down(model):
    q, qd, qdd = motion()
    half = len(q) // 2
    F = np.concatenate([forces(q[:half], qd[:half], qdd[:half]), forces(q[half:], qd[half:], qdd[half:], load=None)])
    how = {"noise": 0.05, "uncertainty": [2.0] * 10 + [0.0] * 9, "bandwidth": 200.0}
    forgetting = model.online_estimator(1e-3, memory=0.5, **how).update(q, qd, F).theta[:, 0]
    keeping = model.online_estimator(1e-3, **how).update(q, qd, F).theta[:, 0]
    assert forgetting[half - 1] == pytest.approx(1.2, rel=0.02)
    assert abs(forgetting[-1]) < 0.03
    assert keeping[-1] > 0.3


def test_a_robot_at_rest_stays_certain(model):
    q, qd, qdd = motion(2.0)
    F = forces(q, qd, qdd)
    estimator = model.online_estimator(1e-3, noise=0.05, uncertainty=1.0, memory=0.2)
    estimator.update(q, qd, F)
    still = forces(np.tile(q[-1], (20000, 1)), np.zeros((20000, 3)), np.zeros((20000, 3)))
    found = estimator.update(np.tile(q[-1], (20000, 1)), np.zeros((20000, 3)), still)
    assert np.all(found.deviation <= 1.0 + 1e-12)
    assert np.all(np.isfinite(found.theta))


def test_what_is_wrong_is_said_and_changes_nothing(model):
    with pytest.raises(elastogen.ElastogenError, match="identification"):
        elastogen.build_model("two_link", outputs=["inverse_dynamics"]).online_estimator(1e-3)
    for wrong in ({"noise": 0.0}, {"uncertainty": -1.0}, {"bandwidth": 0.0}, {"memory": -1.0}, {"noise": [1.0, 2.0]}):
        with pytest.raises(elastogen.ElastogenError, match="online_estimator: got"):
            model.online_estimator(1e-3, **wrong)
    q, qd, qdd = motion(0.1)
    F = forces(q, qd, qdd)
    one, other = (model.online_estimator(1e-3) for _ in range(2))
    for estimator in (one, other):
        estimator.update(q[:50], qd[:50], F[:50])
    with pytest.raises(elastogen.ElastogenError, match="NaN"):
        one.update(q[50] * np.nan, qd[50], F[50])
    assert np.array_equal(one.update(q[50:], qd[50:], F[50:]).theta, other.update(q[50:], qd[50:], F[50:]).theta)
    with pytest.raises(elastogen.ElastogenError, match="quaternions"):
        elastogen.build_model(elastogen.load("two_link", base="floating"), identification=["payload"])


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kinds", [["payload"], ["friction"], ["payload", "friction"]], ids="+".join)
def test_strict_compilers_accept_the_estimator(compiler, kinds, tmp_path):
    for precision in ("double", "float"):
        folder = tmp_path / precision
        elastogen.generate(ARM, folder, outputs=["inverse_dynamics"], precision=precision, identification=kinds)
        command = [compiler, *WARNINGS, "-O2", "-c", "-I.", "carrier_online_estimator.c"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
