"""Elastic coordinates along a motion of the joints: the C against simulations and differences."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen

ARM = {
    "elastogen": 1,
    "name": "soft",
    "parameters": {"ei": 1.0, "rho": 0.2, "hub": 0.1, "c": 0.002},
    "live": ["ei", "rho", "hub", "c"],
    "links": [
        {"name": "base"},
        {"name": "first", "mass": 1.0, "inertia": ["hub", "hub", "hub"],
         "flexible": {"type": "modes", "length": 0.5, "mass_per_length": "rho", "EI": "ei", "damping": {"matrix": [["c"]]},
                      "modes": [{"direction": "y", "shape": "(x/L)**2"}]}},
        {"name": "second", "mass": 0.5, "com": [0.2, 0, 0], "inertia": [0.01, 0.01, 0.01]},
    ],
    "joints": [
        {"name": "j1", "type": "revolute", "child": "first", "axis": [0, 0, 1]},
        {"name": "j2", "type": "revolute", "child": "second", "axis": [0, 0, 1]},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return elastogen.build_model(ARM, outputs=["simulation"], identification=["elastic_states"])


def motion(model, dt, seconds=1.0):
    t = np.arange(0, seconds, dt)
    q, qd, qdd = (np.zeros((len(t), model.nv)) for _ in range(3))
    for k, w in zip(model.driven, (3.0, 4.0), strict=True):
        q[:, k], qd[:, k], qdd[:, k] = 0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t)
    q[0, 1], qd[0, 1] = 0.01, -0.1
    return t, q, qd, qdd


def test_derivatives_are_those_of_the_states(model):
    dt = 2e-3
    _, q, qd, qdd = motion(model, dt)
    found = model.elastic_states(dt, q, qd, qdd, derivatives=True)
    assert not found.F[:, model.elastic].any()  # no drive, and no rounding error either
    h = 1e-5
    for k, name in enumerate(model.parameters):
        value = model.parameters[name]
        ends = [model.elastic_states(dt, q, qd, qdd, parameters={name: value * (1 + s * h)}) for s in (1, -1)]
        for i in range(4):
            slope = (ends[0][i] - ends[1][i]) / (2 * h * value)
            assert np.abs(found[4 + i][:, :, k] - slope).max() <= 1e-6 * np.abs(slope).max() + 1e-9
    for column, of in ((4, q), (5, qd)):
        ends = []
        for sign in (1, -1):
            of[0, 1] += sign * h
            ends.append(model.elastic_states(dt, q, qd, qdd))
            of[0, 1] -= sign * h
        slope = (ends[0].q - ends[1].q) / (2 * h)
        assert np.abs(found.dq[:, :, column] - slope).max() < 1e-6 * np.abs(slope).max()


def test_states_solve_the_equations_of_motion_and_converge_with_the_step(model):
    errors = []
    for dt in (2e-3, 1e-3):
        _, q, qd, qdd = motion(model, dt)
        found = model.elastic_states(dt, q, qd, qdd)
        scale = np.abs(found.qdd).max()
        assert np.abs(model.forward_dynamics(found.q, found.qd, found.F) - found.qdd).max() < 1e-11 * scale
        fine = 5e-5
        _, *states = motion(model, fine)
        exact = model.elastic_states(fine, *states).q[:: round(dt / fine)]
        errors.append(np.abs(found.q - exact[: len(found.q)]).max())
    assert 3.5 < errors[0] / errors[1] < 4.5  # of second order


def test_what_is_wrong_is_said(model):
    with pytest.raises(elastogen.ElastogenError, match="elastic_states: got q of shape"):
        model.elastic_states(1e-3, np.zeros((5, 2)), np.zeros((5, 3)), np.zeros((5, 3)))
    with pytest.raises(elastogen.ElastogenError, match="NaN"):
        model.elastic_states(1e-3, *(np.full((5, 3), np.nan),) * 3)
    with pytest.raises(elastogen.ElastogenError, match="step"):
        model.elastic_states(0.0, *(np.zeros((5, 3)),) * 3)
    with pytest.raises(elastogen.ElastogenError, match="no live parameter"):
        elastogen.build_model({**ARM, "live": []}, identification=["elastic_states"])
