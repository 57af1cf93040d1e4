"""External forces from the generalized momentum, against forces that a simulated robot felt."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from loop_setup import finish, run_free

import elastogen
from elastogen.runtime.loop.plants import Simulated

SETS = ["mass_matrix", "forward_dynamics"]


def moved(model, force, dt, steps, gain):
    """A motion by fourth order steps under drives F(t) and external forces: states, drives."""
    driven = np.isin(np.arange(model.nv), model.driven)
    q, qd = 0.3 * driven, np.zeros(model.nv)
    states, drives = [(q, qd)], [np.zeros(model.nv)]
    for k in range(steps):
        F = gain * np.sin(2.0 * k * dt + np.arange(model.nv)) * driven

        def rate(q, qd, F=F, k=k):
            push = np.linalg.solve(model.mass_matrix(q), force(k * dt))  # no part of it is a load of the drives
            return model.forward_dynamics(q, qd, F) + push

        k1 = rate(q, qd)
        k2 = rate(q + dt / 2 * qd, qd + dt / 2 * k1)
        k3 = rate(q + dt / 2 * (qd + dt / 2 * k1), qd + dt / 2 * k2)
        k4 = rate(q + dt * (qd + dt / 2 * k2), qd + dt * k3)
        q, qd = q + dt * (qd + dt / 6 * (k1 + k2 + k3)), qd + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append((q, qd))
        drives.append(F)
    return np.array([s[0] for s in states]), np.array([s[1] for s in states]), np.array(drives)


def filtered(force, gain, dt):
    """What dr/dt = gain (F_ext - r) gives, each step solved exactly for the force of its middle."""
    r, found, decay = np.zeros_like(force[0]), [np.zeros_like(force[0])], np.exp(-gain * dt)
    for f in force:
        r = f + (r - f) * decay
        found.append(r)
    return np.array(found)


ROUGH = {
    "elastogen": 1,
    "name": "rubbing",
    "gravity": [0, 0, -9.81],
    "joints": [
        {"name": "a", "type": "revolute", "parent": "base", "child": "one", "axis": [0, 1, 0],
         "friction": {"viscous": 0.3, "coulomb": 0.4, "coulomb_velocity": 0.05, "load": 0.1, "load_width": 0.2, "offset": 0.1}},
        {"name": "b", "type": "revolute", "parent": "one", "child": "two", "axis": [0, 1, 0],
         "placement": {"xyz": [0.4, 0, 0]}},
    ],
    "links": [
        {"name": "one", "mass": 2.0, "com": [0.2, 0, 0], "inertia": {"xx": 0.01, "yy": 0.03, "zz": 0.03}},
        {"name": "two", "mass": 1.0, "com": [0.15, 0, 0.02], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("robot", "drive", "push"),
    [("two_link", 3.0, 2.0), ("flexible_two_link", 0.2, 0.05), (ROUGH, 2.0, 1.0)],
    ids=["rigid", "flexible", "load friction"],
)
def test_the_estimate_is_the_force_behind_its_low_pass(robot, drive, push):
    dt, steps, gain = 5e-4, 600, 40.0
    model = elastogen.build_model(robot, outputs=SETS, identification=["external_forces"])

    def force(t):
        return push * (t > 0.1) * np.cos(3.0 * t + np.arange(model.nv))

    q, qd, F = moved(model, force, dt, steps, drive)
    observer = model.momentum_observer(dt, gain)
    found = observer.update(q, qd, F)
    expected = filtered(np.array([force(k * dt) for k in range(steps)]), gain, dt)
    step_error = gain * dt  # a step that is implicit in the estimate is of first order
    assert np.abs(found - expected).max() < 1.5 * step_error * push
    assert np.abs(found[-1] - force(steps * dt)).max() < 0.12 * push  # the low pass follows 3 rad/s
    observer.reset()
    single = [observer.update(*state) for state in zip(q[:50], qd[:50], F[:50], strict=True)]
    assert np.array_equal(found[:50], single)


def test_what_is_wrong_is_said_and_changes_nothing():
    with pytest.raises(elastogen.ElastogenError, match="identification"):
        elastogen.build_model("two_link", outputs=SETS).momentum_observer(1e-3)
    with pytest.raises(elastogen.ElastogenError, match="identification: got 'forces'"):
        elastogen.build_model("two_link", identification=["forces"])
    with pytest.raises(elastogen.ElastogenError, match="closed loops"):
        elastogen.build_model("five_bar", identification="external_forces")
    model = elastogen.build_model("two_link", outputs=SETS, identification=["external_forces"])
    for wrong in ({"dt": 0.0}, {"dt": float("nan")}, {"dt": 1e-3, "gain": -1.0}, {"dt": 1e-3, "gain": [1.0, 2.0, 3.0]}):
        with pytest.raises(elastogen.ElastogenError, match="momentum_observer: got"):
            model.momentum_observer(**wrong)
    observer = model.momentum_observer(1e-3)
    with pytest.raises(elastogen.ElastogenError, match="expected"):
        observer.update([0, 0, 0], [0, 0], [0, 0])
    observer.update([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    before = observer.update([0.1, 0.2], [0.0, 0.0], [1.0, 0.0])
    with pytest.raises(elastogen.ElastogenError, match="NaN"):
        observer.update([0.1, np.nan], [0.0, 0.0], [1.0, 0.0])
    other = model.momentum_observer(1e-3)
    other.update([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    assert np.array_equal(other.update([0.1, 0.2], [0.0, 0.0], [1.0, 0.0]), before)
    after = [o.update([0.1, 0.2], [0.0, 0.1], [1.0, 0.0]) for o in (observer, other)]
    assert np.array_equal(*after)  # the NaN left no trace


@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_accept_the_observer(compiler, tmp_path):
    for precision in ("double", "float"):
        folder = tmp_path / precision
        elastogen.generate("two_link", folder, outputs=SETS, precision=precision, identification=["external_forces"])
        command = [compiler, *WARNINGS, "-O2", "-c", "-I.", "two_link_momentum_observer.c"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "two_link_momentum_observer.c" in (folder / "CMakeLists.txt").read_text()
        if shutil.which("nm"):
            table = subprocess.run(
                ["nm", "two_link_momentum_observer.o"], cwd=folder, capture_output=True, text=True, check=True
            )
            external = [line.split()[-1] for line in table.stdout.splitlines() if " T " in line or " U " in line]
            assert all(name.lstrip("_").startswith("two_link_") for name in external)
            assert not any(f" {kind} " in table.stdout for kind in "BDC")


IN_THE_LOOP = """
#include "two_link_momentum_observer.h"
static two_link_momentum_observer_t observer;
static two_link_real_t last[TWO_LINK_NV];
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    static const two_link_real_t gain[TWO_LINK_NV] = {50.0, 80.0};
    two_link_params_t wrong = *view->p;
    int status;
    (void)context;
    wrong.payload_mass += 1.0;
    status = two_link_momentum_observer_update(&observer, &wrong, gain, view->period, view->q, view->qd, last);
    two_link_gravity_vector(view->p, view->q, F);
    for (int i = 0; i < TWO_LINK_NV; ++i) {
        F[i] -= 0.1 * observer.force[i];
        last[i] = F[i];
    }
    return status;
}
"""


def test_a_controller_in_the_loop_calls_it():
    """A load that the observer's model has and the robot has not is an external force; C and Python say the same."""
    library = elastogen.build_loop("two_link", controller_source=IN_THE_LOOP, identification=["external_forces"])
    records = finish(*run_free(library, 60, controller="user", plant=Simulated([0.4, 0.2], [0.5, -0.3]), rate=1000.0))
    model = elastogen.build_model("two_link", outputs=SETS, identification=["external_forces"])
    model.parameters["payload_mass"] += 1.0
    driven = np.vstack([np.zeros(2), records["F"][:-1]])
    force = model.momentum_observer(1e-3, [50.0, 80.0]).update(records["q"], records["qd"], driven)
    expected = library.model.gravity_vector(records["q"]) - 0.1 * force
    np.testing.assert_allclose(records["F"], expected, rtol=1e-9, atol=1e-12)
    assert np.abs(force[-1]).max() > 0.5


@pytest.mark.parametrize("robot", ["two_link", "puma560"])
def test_constant_forces_are_found_while_the_arm_moves(robot):
    """3 N m and -1.5 N m at a rate of 1 kHz, to 1e-5 of it."""
    model = elastogen.build_model(
        robot, outputs=["forward_dynamics", "inverse_dynamics", "mass_matrix"], identification=["external_forces"]
    )
    dt, pushed = 1e-3, np.zeros(model.nv)
    pushed[:2] = 3.0, -1.5
    q, qd, F = np.full(model.nv, 0.4), np.zeros(model.nv), np.zeros(model.nv)
    observer, found = model.momentum_observer(dt, 50.0), []
    for k in range(600):
        found.append(observer.update(q, qd, F))
        F = model.inverse_dynamics(q, qd, 400.0 * (0.4 + 0.2 * np.sin(4.0 * k * dt) - q) - 40.0 * qd)
        k1 = model.forward_dynamics(q, qd, F + pushed)
        k2 = model.forward_dynamics(q + dt / 2 * qd, qd + dt / 2 * k1, F + pushed)
        k3 = model.forward_dynamics(q + dt / 2 * qd + dt**2 / 4 * k1, qd + dt / 2 * k2, F + pushed)
        k4 = model.forward_dynamics(q + dt * qd + dt**2 / 2 * k2, qd + dt * k3, F + pushed)
        q, qd = q + dt * qd + dt**2 / 6 * (k1 + k2 + k3), qd + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert np.abs(qd).max() > 0.3  # it moves
    np.testing.assert_allclose(np.reshape(found[-100:], (100, -1)), np.tile(pushed, (100, 1)), rtol=0, atol=3e-5)
