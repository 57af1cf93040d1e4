"""Design of observers: against python-control and the filter in C, what is not seen by name, the page and the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gauged_arms import two_flexible_links

import elastogen
from elastogen.observers.design import ObserverDesign, design_observer

PLACE = np.array([0.3, 0.0, 1.2, 0.0])
SENSORS = ["encoders", "gauge1"]


@pytest.fixture(scope="module")
def arm(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links(1))


@pytest.fixture(scope="module")
def design(arm: elastogen.Model) -> ObserverDesign:
    return design_observer(arm, SENSORS, q=PLACE, rate=500.0, noise={"gauge1": 2e-6}, force=[0.05, 0.02])


def test_the_gain_is_that_of_python_control(arm: elastogen.Model, design: ObserverDesign) -> None:
    control = pytest.importorskip("control")
    zero = np.zeros(4)
    A = arm.discrete_linearization(PLACE, zero, zero, 1 / 500).A
    whole = np.zeros((12, 12))
    whole[:8, :8] = arm.linearize(PLACE, zero, zero).A
    whole[4:8, 8:] = np.linalg.inv(arm.mass_matrix(PLACE))
    from scipy.linalg import expm

    B = expm(whole / 500)[:8, 8:]
    H = arm.measurement(PLACE, zero, zero, sensors=SENSORS).H
    L, P, poles = control.dlqe(A, B, H, np.diag(design.force**2), np.diag(design.noise**2))
    assert A @ design.gain == pytest.approx(L, rel=1e-6, abs=1e-6 * np.abs(L).max())
    assert np.sort(np.abs(design.poles)) == pytest.approx(np.sort(np.abs(poles)), rel=1e-7)
    assert P.shape == (8, 8)


def test_vibrations_next_to_the_unit_circle_have_an_observer() -> None:
    """Two flexible links by their encoders: SciPy's ordered Schur form fails; the steady equations hold."""
    from scipy.linalg import expm

    model = elastogen.build_model(
        elastogen.load("flexible_two_link").with_sensors("encoders"), outputs=["default", "estimation"]
    )
    found, n = design_observer(model), model.nv
    zero, eye = np.zeros(n), np.eye(2 * n)
    whole = np.zeros((3 * n, 3 * n))
    whole[: 2 * n, : 2 * n] = model.linearize(found.q, zero, found.hold).A
    whole[n : 2 * n, 2 * n :] = np.linalg.inv(model.mass_matrix(found.q))
    A, B = (part := expm(whole / found.rate)[: 2 * n])[:, : 2 * n], part[:, 2 * n :] * found.force
    H = model.measurement(found.q, zero, found.hold).H
    before = A @ found.covariance @ A.T + B @ B.T
    K = np.linalg.solve(H @ before @ H.T + np.diag(found.noise**2), H @ before).T
    size = np.sqrt(np.diag(found.covariance))
    assert (eye - K @ H) @ before / np.outer(size, size) == pytest.approx(found.covariance / np.outer(size, size), abs=1e-6)
    assert np.abs(np.linalg.eigvals(A @ (eye - found.gain @ H))).max() < 1.0  # only one solution has both


@pytest.mark.parametrize("seed", range(6))
def test_doubled_steps_solve_the_equation_that_scipy_solves(seed: int) -> None:
    from scipy.linalg import solve_discrete_are

    from elastogen.observers.design import _doubled

    rng = np.random.default_rng(seed)
    A, C, half = rng.normal(size=(6, 6)), rng.normal(size=(2, 6)), rng.normal(size=(6, 3))
    A /= np.abs(np.linalg.eigvals(A)).max() * (0.8 if seed % 2 else 1.2)  # also with motions that grow
    Q = half @ half.T
    expected = solve_discrete_are(A, C.T, Q, np.eye(2))
    assert _doubled(A, C.T @ C, Q) == pytest.approx(expected, rel=1e-8, abs=1e-9 * np.abs(expected).max())


def test_the_filter_in_c_tends_to_the_steady_one(arm: elastogen.Model, design: ObserverDesign) -> None:
    ekf = design.filter(PLACE, np.zeros(4))
    readings = arm.measurement(PLACE, np.zeros(4), np.zeros(4), sensors=SENSORS).y
    ekf.run(np.zeros(4), np.tile(readings, (20000, 1)), 1 / 500)
    assert ekf.covariance == pytest.approx(design.covariance, rel=1e-8, abs=1e-10 * np.abs(design.covariance).max())


def test_more_sensors_see_more(arm: elastogen.Model, design: ObserverDesign) -> None:
    alone = design_observer(arm, "encoders", q=PLACE, rate=500.0, force=[0.05, 0.02])
    many = design_observer(arm, ["encoders", "gauge1", "gauge2", "imu"], q=PLACE, rate=500.0, force=[0.05, 0.02])
    assert (many.errors < design.errors).all()
    assert (design.errors < alone.errors * (1 + 1e-9)).all()
    lowest = next(mode for mode in design.modes if mode.hertz > 0)
    assert lowest.hertz == pytest.approx(arm.modes(PLACE).hertz[2])
    assert lowest.observable
    assert design.settling > 0
    assert "gauge1.strain" in design.table()


def test_what_nobody_sees_is_named_before_anything_runs(arm: elastogen.Model) -> None:
    with pytest.raises(elastogen.ModelError, match=r"the motion of (shoulder|elbow) \(a rigid one\) is seen by no sensor"):
        design_observer(arm, ["gauge1", "gauge2"], q=PLACE)
    with pytest.raises(elastogen.ModelError, match=r"the motion of (the velocity of )?shoulder"):
        design_observer(arm, ["elbow", "gauge1", "imu.gyroscope"], q=PLACE)
    bare = two_flexible_links(1)
    for link in bare["links"][1:]:
        link["flexible"]["damping"] = {"ratio": 0.0}
        link["flexible"]["modes"].append({"direction": "z", "eigenfunction": 1})  # out of the plane: no encoder sees it
    undamped = elastogen.build_model({**bare, "name": "undamped", "gravity": [0, 0, 0]})
    with pytest.raises(elastogen.ModelError, match=r"\.z1 \(at [\d.]+ Hz\) is seen by no sensor"):
        design_observer(undamped, ["encoders", "gauge1"])


def test_rates_that_cannot_follow_a_vibration_are_named(arm: elastogen.Model) -> None:
    """Half of the rate must be above the vibrations that forces lift above the noise; others may be beyond."""
    first, second = arm.modes(PLACE).hertz[2:4]
    for rate in (3.0, 1.9 * first):
        with pytest.raises(elastogen.ModelError, match=rf"rate={rate:g} Hz cannot follow .* at {first:.3g} Hz"):
            design_observer(arm, SENSORS, q=PLACE, rate=rate)
    with pytest.raises(elastogen.ModelError, match=rf"at {second:.3g} Hz.*Fix: rate=\d+") as caught:
        design_observer(arm, SENSORS, q=PLACE, rate=1.9 * second)
    enough = float(re.findall(r"Fix: rate=([\d.]+)", str(caught.value))[0])
    assert 2.0 * second < enough < 2.1 * second + 2.0
    assert design_observer(arm, SENSORS, q=PLACE, rate=enough).rate == enough
    quiet = {"rad": 10.0, "gauge1": 10.0}  # no sensor reads so much
    assert design_observer(arm, SENSORS, q=PLACE, rate=1.9 * second, noise=quiet).rate == 1.9 * second


def test_wrong_arguments_are_named(arm: elastogen.Model) -> None:
    for changed, message in [
        ({"rate": 0.0}, "rate"),
        ({"q": [0.0]}, r"expected \(4,\)"),
        ({"force": [1.0, 2.0, 3.0]}, "force"),
        ({"noise": {"candela": 1.0}}, "candela"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            design_observer(arm, SENSORS, **changed)
    with pytest.raises(elastogen.RobotError, match="gauge7"):
        design_observer(arm, ["encoders", "gauge7"])


def test_the_page_and_the_command(design: ObserverDesign, tmp_path: Path) -> None:
    written = design.page(tmp_path / "observer.html").read_text(encoding="utf-8")
    for text in ("What is seen", "gauge1.strain", "How errors decay", "A vibration", "estimated"):
        assert text in written
    file = tmp_path / "gauged.yaml"
    file.write_text(json.dumps(two_flexible_links(1)), encoding="utf-8")
    words = ["observer", str(file), "--sensors", "encoders,gauge1", "--at", "0.3,0,1.2,0", "--rate", "500"]
    words += ["--noise", "gauge1=2e-6", "--force", "0.05,0.02", "--json"]
    done = subprocess.run([sys.executable, "-m", "elastogen", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert np.array(json.loads(done.stdout)["gain"]) == pytest.approx(design.gain, rel=1e-6)
    words[3] = "encoders,gauge9"
    done = subprocess.run([sys.executable, "-m", "elastogen", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "gauge9" in done.stderr
