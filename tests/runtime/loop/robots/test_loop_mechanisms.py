"""The loop on robots with closed loops: drives follow, weights are held by the drives alone, loops stay closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loop_setup import finish, run_free

import elastogen
from elastogen.command_line import main
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.plants import Simulated

DRIVES = [0, 2]


@pytest.fixture(scope="module")
def five_bar() -> Any:
    return elastogen.build_loop("five_bar", cflags="-O0")


def test_computed_torque_makes_errors_of_drives_linear(five_bar: Any) -> None:
    """kp = 100, kd = 20: e(t) = e0 (1 + 10 t) exp(-10 t), whatever the mechanism is."""
    start = five_bar.model.close_loops(np.full(4, 0.4))
    loop, cycles = run_free(
        five_bar, 2000, rate=4000, controller=ComputedTorqueLaw(100, 20), plant=Simulated([0.4, 0.0, 0.4, 0.0])
    )
    goal = start + np.array([0.2, 0.0, -0.1, 0.0])  # passive joints have no reference
    loop.set_reference(goal)
    records = finish(loop, cycles)
    t = np.arange(len(records)) / 4000
    np.testing.assert_allclose(records["q"][0], start, atol=1e-9)  # the plant was assembled first
    expected = goal[DRIVES] - np.outer((1 + 10 * t) * np.exp(-10 * t), [0.2, -0.1])
    np.testing.assert_allclose(records["q"][:, DRIVES], expected, atol=5e-4)
    assert np.abs(five_bar.model.loop_residual(records["q"])).max() < 1e-10
    rates = np.einsum("sij,sj->si", five_bar.model.loop_jacobian(records["q"]), records["qd"])
    assert np.abs(rates).max() < 1e-10


def test_drives_alone_hold_the_weights(five_bar: Any) -> None:
    start = five_bar.model.close_loops(np.full(4, 0.4))
    loop, cycles = run_free(five_bar, 500, controller=PDGravity(kp=0, kd=0), plant=Simulated(start))
    loop.set_reference(start)
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["q"], np.tile(start, (len(records), 1)), atol=1e-9)
    assert np.abs(records["F"][:, DRIVES]).max() > 0.01
    assert not records["F"][:, [1, 3]].any()


def test_gains_of_mechanisms_are_given(five_bar: Any) -> None:
    with pytest.raises(ModelError, match=r"five_bar: pd_gravity: got no gains.*Fix: PDGravity\(kp="):
        run_free(five_bar, 10, controller=PDGravity(), plant=Simulated(np.full(4, 0.4)))


def test_computed_torque_has_gains_of_its_own(five_bar: Any) -> None:
    """Errors of the drives are decoupled by it: kp = w^2 and kd = 2 w with w = 20 rad/s, whatever the mechanism is."""
    loop, cycles = run_free(five_bar, 10, controller=ComputedTorqueLaw(), plant=Simulated(np.full(4, 0.4)))
    assert len(finish(loop, cycles)) == 10
    np.testing.assert_allclose(loop.tuning.bandwidths, 20.0)


def test_the_command_moves_mechanisms(capsys: pytest.CaptureFixture[str]) -> None:
    """From its closed start, which is not zero, to a goal that is closed as well."""
    assert main(["run", "five_bar", "--rate", "500", "--seconds", "0.3"]) == 0
    assert "status: no fault" in capsys.readouterr().out
    assert main(["run", "five_bar", "--rate", "500", "--seconds", "0.1", "--q0", "0.4,0.4"]) == 0
    assert "status: no fault" in capsys.readouterr().out


def test_drives_that_do_not_determine_the_motion_are_refused() -> None:
    with pytest.raises(elastogen.OutputError, match="slider_crank: got a mechanism with 5 freedoms, of which drives"):
        elastogen.build_loop("slider_crank")
