"""Identification on motions of real robots, which lie beside the project: see their README there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import bilinear, lfilter

import elastogen

pytest.importorskip("scipy")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no measured data in {DATA}")
JOINTS = [f"{name}_joint" for name in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
PUBLISHED = dict(zip(JOINTS, (14.87, 13.26, 11.13, 10.62, 11.03, 11.47), strict=True))
COLUMNS = {"time": 1, "q": "2-7", "qd": "8-13", "current": "14-19", "current_command": "20-25", "F_command": "26-31"}


def ur10e(name):
    return DATA / "ur10e" / f"excitation_{name}.csv.gz"


def consistent(found):
    from elastogen.identification.equations.pseudo_inertia import to_matrix

    count = sum(estimate.name.endswith(".mass") for estimate in found.estimates)
    return all(np.linalg.eigvalsh(to_matrix(found.fit.z[10 * k : 10 * k + 10]))[0] > 0 for k in range(count))


@pytest.mark.parametrize(
    "gains", [pytest.param(PUBLISHED, id="published", marks=pytest.mark.nightly), pytest.param(None, id="commanded")]
)
def test_a_ur10e_predicts_other_runs_and_weighs_its_load(gains, tmp_path):
    how = {"columns": COLUMNS, "gains": gains, "cutoff": 10.0}
    others = [ur10e("50s_14_harmonics"), ur10e("40s_12_harmonics")]
    robot = DATA / "ur10e" / "ur10e.urdf"
    found = elastogen.identify(robot, ur10e("50s_12_harmonics"), validate=others, **how)
    assert consistent(found)
    assert {"load", "stribeck"} < set(found.parameters)  # by the run that it is trained on
    assert all(run.held < 0.045 for run in found.validated)
    assert all(run.total < 0.053 for run in found.validated)
    assert all(run.moving < 0.03 for run in found.validated)
    path = found.save(tmp_path / "ur10e.yaml")
    loaded = elastogen.identify(path, ur10e("50s_14_harmonics_load"), parameters=["payload"], **how)
    assert consistent(loaded)
    if gains is None:  # with the published gains every joint for itself says 3.1 kg
        assert loaded["payload.mass"].value == pytest.approx(2.805, rel=0.03)


def test_a_panda_predicts_the_rest_of_its_run():
    robot = DATA / "panda" / "panda7.urdf"
    with np.load(DATA / "panda" / "excitation.npz") as archive:
        run = {"time": archive["time"].ravel(), "q": archive["positions"], "qd": archive["velocity"], "F": archive["torques"]}
    cut = int(0.8 * len(run["time"]))
    first, rest = ({key: value[part] for key, value in run.items()} for part in (slice(None, cut), slice(cut, None)))
    found = elastogen.identify(robot, first, validate=rest, cutoff=10.0)
    assert consistent(found)
    springs = {e.name for e in found.estimates if e.name.endswith(".spring")}  # by what it is trained on
    assert springs == {f"joints.panda_joint{k}.spring" for k in (3, 4, 6)}
    assert found.validated[0].total < 0.011  # of a fifth of a short run; nothing of it was seen


def quanser_run():
    """A run of Quanser's arm, and the maker's constants."""
    from benchmarks.tool import quanser

    constants = json.loads((DATA / "quanser" / "constants.json").read_text())
    return quanser.measured(DATA / "quanser", constants), constants


def test_two_flexible_links_of_quanser():
    """The maker's decoupled equations leave 45 and 83 % (65 and 90 % of K b with his constants); half of it is the target.

    Each half of the run is judged by a model, and by lags of the gauges, that the other half alone has given.
    """
    from benchmarks.tool import quanser

    run, constants = quanser_run()
    halves = quanser.halves(run)
    for fitted, judged in (halves, halves[::-1]):
        assert quanser.decoupled(judged, constants)[0] > 0.45
        assert quanser.decoupled(judged, constants)[1] > 0.83
        found = quanser.identified(fitted, constants)
        first, second = quanser.coupled(judged, found, constants)
        assert first < 0.225
        assert second < 0.415
        predicted = found.validate(judged)[0].channels  # by simulation along the joints' motion
        assert predicted["point.gauge1"] < 0.25
        assert predicted["point.gauge2"] < 0.3


def test_stiffness_and_damping_of_quanser_have_error_bars_and_a_step_agrees():
    from benchmarks.tool import quanser

    run, constants = quanser_run()
    found = quanser.identified(run, constants)
    for link, blade in (("first", 2.6905), ("second", 0.46141)):
        estimate = found[f"links.{link}.flexible.EI"]
        assert estimate.determined_by == "data"
        assert abs(estimate.value - blade) < 3 * estimate.standard_error  # of the steel blade's dimensions
        assert found[f"links.{link}.flexible.damping.matrix.0.0"].standard_error > 0
    step = quanser.stepped(DATA / "quanser")  # another file; the second link was not recorded
    assert quanser.coupled(step, found, constants)[0] < 0.5 * quanser.decoupled(step, constants)[0]
    alone = elastogen.identify(
        quanser.robot(constants),
        step,
        parameters=("EI", "links.second.mass", "sensor_lag", "sensor_offset"),
        cutoff=quanser.CUTOFF,
    )
    lags = [each["point.gauge1.sensor_lag"] for each in (found, alone)]  # two files, one amplifier
    assert abs(lags[0].value - lags[1].value) < 2.576 * np.hypot(lags[0].standard_error, lags[1].standard_error)


def test_an_observer_of_encoders_predicts_the_strains_of_quanser():
    """By the model of the first 7 s, in the other 7 s, from currents and encoders; behind the lag of the gauges' amplifiers."""
    from benchmarks.tool import quanser

    whole, constants = quanser_run()
    first = {name: values[:3500] for name, values in whole.items()}
    found = elastogen.identify(quanser.robot(constants), first, parameters=quanser.NUMBERS, cutoff=quanser.CUTOFF)
    run = {name: values[3500:] for name, values in whole.items()}
    step = float(np.median(np.diff(run["time"])))
    model = elastogen.build_model(found.robot.with_sensors("encoders"), outputs=["estimation"])
    begin = np.array([run["q.shoulder"][0], 0.0, run["q.elbow"][0], 0.0])
    ekf = model.ekf(begin, np.zeros(4), force=[5.0, 1.0], noise={"rad": 2e-4})
    forces = np.zeros((len(run["time"]), 4))
    forces[:, 0], forces[:, 2] = run["F.shoulder"], run["F.elbow"]
    encoders = np.column_stack([run["q.shoulder"], run["q.elbow"]])
    bent = []
    for k in range(1, len(encoders)):
        ekf.step(forces[k - 1], encoders[k], step)
        bent.append(ekf.q[[1, 3]].copy())
    for k, length in enumerate((constants["L1"], constants["L2"])):
        name = f"point.gauge{k + 1}"
        lag = found.sensors["sensor_lag"][name]
        b, a = bilinear([1.0], [lag**2 / 4, lag, 1.0], fs=1 / step)
        predicted = lfilter(b, a, np.array(bent)[:, k] / length)[500:]
        measured = (run[name][1:] - found.sensors["sensor_offset"][name])[500:]
        assert np.sqrt(np.mean((predicted - measured) ** 2) / np.mean(measured**2)) < 0.25
        assert np.corrcoef(predicted, measured)[0, 1] > 0.97
