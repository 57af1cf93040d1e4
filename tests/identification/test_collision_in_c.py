"""The emitted collision detector, against its equations in plain numpy; what it refuses; strict compilers; in the loop."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from loop_setup import finish, run_free
from numpy.typing import NDArray

import elastogen
from elastogen.runtime.loop.plants import Simulated

OUTPUTS = ["mass_matrix", "coriolis_matrix", "inverse_dynamics", "forward_dynamics"]
DT, GAIN, FLOOR, MARGIN = 2e-3, 60.0, 0.3, 1.3


def build(robot: Any, precision: str = "double") -> elastogen.Model:
    return elastogen.build_model(robot, outputs=OUTPUTS, identification=["external_forces"], precision=precision)


def states(model: elastogen.Model, rows: int = 40) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """States and forces that belong to no motion: every one of them counts."""
    rng = np.random.default_rng(5)
    q = rng.uniform(-0.1, 0.1, (rows, model.nq))
    if model.nq > model.nv:  # a quaternion
        q[:, 3:7] += [1.0, 0.0, 0.0, 0.0]
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, rng.uniform(-0.3, 0.3, (rows, model.nv)), rng.uniform(-2.0, 2.0, (rows, model.nv))


def expected(
    model: elastogen.Model, q: Any, qd: Any, F: Any, uncertain: dict[str, float]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Estimate, threshold and collisions by the equations of robot_collision_detector.h."""
    r, d, s, before = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
    forces, thresholds = [], []
    for k in range(len(q)):
        momentum = model.mass_matrix(q[k]) @ qd[k]
        C = model.coriolis_matrix(q[k], qd[k])
        known = (C + C.T) @ qd[k] - model.inverse_dynamics(q[k], qd[k], np.zeros(model.nv))
        if k == 0:
            s = momentum
        else:
            rate = F[k] + (before + known) / 2
            r = GAIN * (momentum - s - DT * rate) / (1 + GAIN * DT)
            s = s + DT * (rate + r)
        before = known
        spread = np.zeros(model.nv)
        for name, by in uncertain.items():
            shown = []
            for changed in (by, -by):
                qdd = model.forward_dynamics(q[k], qd[k], F[k], parameters={name: model.parameters[name] + changed})
                shown.append(np.abs(model.inverse_dynamics(q[k], qd[k], qdd) - F[k]))
            spread += np.maximum(*shown)
        d = (d + DT * GAIN * spread) / (1 + DT * GAIN)
        forces.append(r)
        thresholds.append(FLOOR + MARGIN * d)
    return np.array(forces), np.array(thresholds), np.abs(forces) > np.array(thresholds)


CRAFT = {
    "elastogen": 1,
    "name": "craft",
    "gravity": [0, 0, -9.81],
    "parameters": {"robot_load": {"value": 0.5, "unit": "kg"}},
    "live": ["robot_load"],
    "joints": [
        {"name": "body", "type": "floating", "parent": "base", "child": "hull"},
        {"name": "a", "type": "revolute", "parent": "hull", "child": "arm", "axis": [0, 1, 0]},
    ],
    "links": [
        {"name": "hull", "mass": 4.0, "com": [0.1, 0, 0], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.3}},
        {"name": "arm", "mass": "robot_load", "com": [0.15, 0, 0.02], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}},
    ],
}
CASES = {
    "rigid": ("two_link", {"payload_mass": 0.2, "payload_com_x": 0.01}),
    "flexible": ("flexible_two_link", {"payload_mass": 0.01}),
    "free base": (CRAFT, {"robot_load": 0.1}),
    "certain": ("two_link", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_computes_its_equations(case: str) -> None:
    robot, uncertain = CASES[case]
    model = build(robot)
    model.parameters[next(iter(uncertain), "payload_mass")] = 0.6  # it follows live parameters
    given = states(model)
    detector = model.collision_detector(DT, GAIN, uncertain=uncertain, floor=FLOOR, margin=MARGIN)
    found = detector.update(*given)
    force, threshold, hit = expected(model, *given, uncertain)
    scale = np.abs(force).max()
    np.testing.assert_allclose(found.force, force, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(found.threshold, threshold, rtol=1e-9)
    np.testing.assert_array_equal(found.hit, hit)
    assert found.hit.any()
    assert not found.hit.all()
    detector.reset()
    single = [detector.update(*row) for row in zip(*given, strict=True)]
    np.testing.assert_array_equal(np.vstack([each.threshold for each in single]), found.threshold)
    np.testing.assert_array_equal(np.vstack([each.hit for each in single]), found.hit)


def test_floats_compute_the_same() -> None:
    uncertain = {"payload_mass": 0.2}
    model, single = build("two_link"), build("two_link", "float")
    given = states(model)
    found, rounded = (
        each.collision_detector(DT, GAIN, uncertain=uncertain, floor=FLOOR, margin=MARGIN).update(*given)
        for each in (model, single)
    )
    assert rounded.threshold.dtype == np.float32
    np.testing.assert_allclose(rounded.threshold, found.threshold, rtol=2e-4)
    np.testing.assert_allclose(rounded.force, found.force, rtol=0, atol=2e-4 * np.abs(found.force).max())


def test_what_is_wrong_is_said_and_changes_nothing() -> None:
    model = build("two_link")
    q, qd, F = states(model, 4)

    def detector() -> Any:
        return model.collision_detector(DT, GAIN, uncertain={"payload_mass": 0.2}, floor=FLOOR)

    tried, other = detector(), detector()
    for each in (tried, other):
        each.update(q[:2], qd[:2], F[:2])
    for wrong in ([np.nan, 0.0], [np.inf, 0.0], [1e31, 0.0]):
        for place in range(3):
            row = [q[2], qd[2], F[2]]
            row[place] = np.array(wrong)
            with pytest.raises(elastogen.ModelError, match="collision_detector: NaN"):
                tried.update(*row)
    sound = tried._options.copy()
    names = list(model.parameters)
    places = {"gain": 0, "floor": 2, "margin": 4, "uncertain": 5 + names.index("payload_mass")}
    for place, values in {  # what Python refuses before, a C program may write
        "gain": (-1.0, np.nan, np.inf),
        "floor": (0.0, -1.0, np.nan, np.inf),
        "margin": (-1.0, np.nan, np.inf),
        "uncertain": (-0.1, np.nan, np.inf),
    }.items():
        for value in values:
            tried._options[places[place]] = value
            with pytest.raises(elastogen.ModelError, match="collision_detector: an option"):
                tried.update(q[2], qd[2], F[2])
            tried._options[:] = sound
    for dt in (0.0, -DT, np.nan, np.inf):
        tried.dt = dt
        with pytest.raises(elastogen.ModelError, match="collision_detector: an option"):
            tried.update(q[2], qd[2], F[2])
    tried.dt = DT
    tried._options[places["uncertain"]] = 1e3  # less of it leaves no mass matrix that could be
    with pytest.raises(elastogen.ModelError, match="no numbers"):
        tried.update(q[2], qd[2], F[2])
    tried._options[:] = sound
    for name in ("force", "threshold", "hit"):  # nothing left a trace
        np.testing.assert_array_equal(*(getattr(each.update(q[2:3], qd[2:3], F[2:3]), name) for each in (tried, other)))
    with pytest.raises(elastogen.ModelError, match="collision_detector: got q of shape"):
        tried.update(q[:, :1], qd, F)
    with pytest.raises(elastogen.ModelError, match="as many of each"):
        tried.update(q, qd[:2], F)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_accept_it_without_heap(compiler: str, tmp_path: Path) -> None:
    for precision in ("double", "float"):
        folder = tmp_path / precision
        elastogen.generate("two_link", folder, outputs=OUTPUTS, precision=precision, identification=["external_forces"])
        command = [compiler, *WARNINGS, "-O2", "-c", "-I.", "two_link_collision_detector.c"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "two_link_collision_detector.c" in (folder / "CMakeLists.txt").read_text()
        if shutil.which("nm"):
            table = subprocess.run(
                ["nm", "two_link_collision_detector.o"], cwd=folder, capture_output=True, text=True, check=True
            ).stdout
            external = [line.split()[-1] for line in table.splitlines() if " T " in line or " U " in line]
            assert all(name.lstrip("_").startswith("two_link_") for name in external)  # no malloc
            assert not any(f" {kind} " in table for kind in "BDC")


IN_THE_LOOP = """
#include "two_link_collision_detector.h"
static two_link_collision_detector_t detector; /* zeros: it has not begun */
static two_link_real_t last[TWO_LINK_NV];
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    static const two_link_collision_options_t options = {
        .gain = {60.0, 60.0}, .floor = {0.3, 0.3}, .margin = 1.3, .uncertain = {.payload_mass = 0.2}};
    two_link_params_t wrong = *view->p;
    int status;
    (void)context;
    wrong.payload_mass += 1.0;
    status = two_link_collision_detector_update(&detector, &options, &wrong, view->period, view->q, view->qd, last);
    two_link_gravity_vector(view->p, view->q, F);
    for (int i = 0; i < TWO_LINK_NV; ++i) {
        F[i] *= (status == TWO_LINK_COLLISION_DETECTOR_HIT) ? 0.5 : 1.0;
        last[i] = F[i];
    }
    return status < 0;
}
"""


def test_a_controller_in_the_loop_calls_it() -> None:
    """A load that the detector's model has and the robot has not is a collision; C and Python say the same."""
    library = elastogen.build_loop("two_link", controller_source=IN_THE_LOOP, identification=["external_forces"])
    records = finish(*run_free(library, 60, controller="user", plant=Simulated([0.4, 0.2], [0.5, -0.3]), rate=1000.0))
    model = build("two_link")
    model.parameters["payload_mass"] += 1.0
    driven = np.vstack([np.zeros(2), records["F"][:-1]])
    detector = model.collision_detector(1e-3, 60.0, uncertain={"payload_mass": 0.2}, floor=0.3, margin=1.3)
    hit = detector.update(records["q"], records["qd"], driven).hit.any(axis=1)
    gravity = library.model.gravity_vector(records["q"])
    np.testing.assert_allclose(records["F"], np.where(hit[:, None], 0.5, 1.0) * gravity, rtol=1e-9, atol=1e-12)
    assert 0 < np.count_nonzero(hit) < len(hit)
