"""Simulations that fail or are interrupted: what is reported and what is kept; wrong options, missing functions."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from simulated_robots import PENDULUM, START

import elastogen
from elastogen import PD, Model, ModelError, SimulationError
from elastogen.runtime.simulation import progress_bar, simulator

# ---- failures and interruption


def test_a_singular_mass_matrix_is_reported(pendulum: Model) -> None:
    for method in ("tsit5", "rk4", "generalized_alpha"):
        with pytest.raises(SimulationError, match=r"failed at t = 0 s: the mass matrix") as caught:
            pendulum.simulate([0.0], t=1.0, parameters={"m": 0.0, "Izz": 0.0}, method=method)
        assert caught.value.simulation.status == "SINGULAR"
        assert len(caught.value.simulation.t) == 1


def test_steps_too_long_for_stiff_gains_are_reported() -> None:
    """Wherever the last sample is: still near the start, or so far out that M is not finite."""
    model = elastogen.build_model("two_link", outputs=["simulation", "mass_matrix"])
    for kp, kd in ((1e7, 1e5), (1e3, 1e5)):
        with pytest.raises(SimulationError, match=r"likely cause: steps too long .*fix: a smaller step=") as caught:
            model.simulate([0.4, 0.2], t=0.3, F=PD([0.45, 0.25], kp, kd), method="rk4")
        assert caught.value.simulation.status in ("SINGULAR", "NOT_FINITE")


@pytest.mark.parametrize(
    ("method", "status", "F"),
    [
        ("rk4", "NOT_FINITE", lambda t, q, qd: np.array([np.nan if t > 0.5 else 1.0])),
        ("tsit5", "NOT_FINITE", lambda t, q, qd: np.array([np.nan if t > 0.5 else 1.0])),
        ("tsit5", "STEP_TOO_SMALL", lambda t, q, qd: np.array([abs(0.5 - t) ** -1.5])),
        ("generalized_alpha", "NEWTON", lambda t, q, qd: -1e16 * (q if t > 0.5 else 0 * q)),
    ],
)  # fmt: skip
def test_failures_keep_what_was_done(pendulum: Model, method: Any, status: str, F: Any) -> None:
    t = np.linspace(0, 1, 101)
    s = pendulum.simulate([0.1], t=t, F=F, method=method, on_failure="keep")
    assert s.status == status
    assert not s.ok
    assert s.time_reached == pytest.approx(0.5, abs=5e-3)
    assert 45 <= len(s.t) <= 51
    for array in (s.q, s.qd, s.F, s.kinetic, s.work):
        assert len(array) == len(s.t)
        assert np.isfinite(array).all()


def test_failures_in_a_batch_leave_the_others(pendulum: Model) -> None:
    options: Any = {"t": np.linspace(0, 1, 11), "parameters": {"Izz": [0.2, 0.0], "m": [1.0, 0.0]}}
    s = pendulum.simulate([0.1], on_failure="keep", **options)
    assert s.status.tolist() == ["OK", "SINGULAR"]
    assert np.isfinite(s.q[0]).all()
    assert np.isfinite(s.q[1, 0]).all()
    assert np.isnan(s.q[1, 1:]).all()
    with pytest.raises(SimulationError, match=r"motion 1 \(the first of 1 of 2\)"):
        pendulum.simulate([0.1], **options)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="Ctrl-C goes to the main thread")
@pytest.mark.parametrize("batch", [False, True])
def test_ctrl_c_keeps_what_is_done(
    arm: Model, batch: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the bar shows that 100 s of the motions are done, so that it never comes before they began."""

    class Impatient(progress_bar.ProgressBar):
        def show(self, part: float, more: str = "") -> None:
            super().show(part, more)
            if part > 1e-3:
                _thread.interrupt_main()

    monkeypatch.setattr(progress_bar, "PATIENCE", 0.0)
    monkeypatch.setattr(simulator, "ProgressBar", Impatient)
    q0 = np.stack([START, -START, 2 * START]) if batch else START
    s = arm.simulate(q0, t=np.linspace(0, 1e5, 100_001), method="rk4", step=1e-3, energy=False, progress=True)
    assert s.interrupted
    assert not s.ok
    assert "simulating [" in capsys.readouterr().err
    if batch:
        done = np.isfinite(s.q).all(axis=-1)  # motion, sample
        assert s.q.shape == (3, 100_001, 2)
        assert done.sum() > 90
        assert done.sum(axis=1).max() < 100_000
        assert s.status.tolist() == ["CANCELLED"] * 3
        assert (s.time_reached >= [s.t[row].max(initial=0.0) for row in done]).all()
    else:
        assert 90 < len(s.t) < 100_000
        assert np.isfinite(s.q).all()
        assert s.time_reached >= s.t[-1]


# ---- missing functions and wrong options


def test_missing_functions_are_named() -> None:
    bare = elastogen.build_model(PENDULUM, outputs="mass_matrix")
    with pytest.raises(ModelError, match=r"built without forward_dynamics. Fix: .*outputs="):
        bare.simulate([0.0], t=1.0)
    plain = elastogen.build_model(PENDULUM, outputs="forward_dynamics")
    with pytest.raises(ModelError, match="built without inverse_dynamics, inverse_dynamics_derivatives"):
        plain.simulate([0.0], t=1.0, method="generalized_alpha")
    with pytest.raises(ModelError, match="built without gravity_vector"):
        plain.simulate([0.0], t=1.0, F=PD([0.0], 1, 1))
    s = plain.simulate([0.1], t=1.0)
    assert s.kinetic is None
    assert "energy" not in s.report()
    with pytest.raises(ModelError, match="no kinetic"):
        _ = s.balance


def test_a_default_model_builds_what_a_method_needs(pendulum: Model) -> None:
    model = elastogen.build_model(PENDULUM)
    model.parameters["m"] = 2.0
    s = model.simulate([0.1], t=0.5, method="generalized_alpha")
    same = pendulum.simulate([0.1], t=0.5, method="generalized_alpha", parameters={"m": 2.0})
    np.testing.assert_array_equal(s.q, same.q)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": [0, 0]}, "increasing times"), ({"t": -1.0}, "positive number"), ({"t": "now"}, "expected a number"),
        ({"method": "euler"}, "method='euler', expected 'rk4', 'tsit5' or 'gen"), ({"step": 0}, "step=0, expected a positive"),
        ({"rho_inf": 2}, "rho_inf=2"), ({"on_failure": "nan"}, "'raise' or 'keep'"),
        ({"qd0": [1]}, r"qd0 has shape \(1,\)"), ({"q0": "home"}, "q0='home'"), ({"q0": np.zeros((0, 2))}, "empty"),
        ({"samples": 1}, "samples=1, expected a whole"), ({"samples": -3}, "at least 2"), ({"samples": 2.7}, "samples=2.7"),
        ({"samples": None}, "samples=None"), ({"samples": "3"}, "samples='3'"), ({"samples": True}, "samples=True"),
        ({"samples": 10**13}, "not fit into memory"), ({"t": True}, "t=True, expected"), ({"method": ["rk4"]}, "method="),
        ({"step": "1e-3"}, "step='1e-3', expected a positive"), ({"rtol": "x"}, "rtol='x'"), ({"atol": [1.0]}, "atol="),
        ({"max_step": True}, "max_step=True"), ({"rho_inf": None}, "rho_inf=None"),
        ({"step": 1e-300, "method": "rk4"}, "step=1e-300, expected at least 2.2e-16 s: with less the time stands still"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(arm: Model, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=f"two_link.simulate: .*{message}"):
        arm.simulate(**{"q0": START, "t": 1.0, **options})


def test_an_exception_of_a_signal_handler_ends_the_simulation_at_once(arm: Model) -> None:
    """Whatever a handler raises, not only KeyboardInterrupt, comes out before the long motion is over."""

    class AlarmError(Exception):
        pass

    def ring(*_: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    begin = time.process_time()
    try:
        with pytest.raises(AlarmError):
            arm.simulate([0.1, 0.2], t=1e7, method="rk4", step=1e-4, samples=10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - begin < 30  # the whole motion would take hours


def test_a_tolerance_below_all_arithmetic_ends(two_link: Model) -> None:
    """Its first step was 0, and so were all others."""
    found = two_link.simulate([0.0, 0.0], t=0.01, atol=1e-300)
    np.testing.assert_allclose(found.q, two_link.simulate([0.0, 0.0], t=0.01).q, rtol=1e-7, atol=1e-12)
