"""The loop on flexible arms: input shaping, feedforward, state feedback."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import BENDER, finish

import elastogen
from elastogen.build.start import build_loop
from elastogen.runtime.loop.controllers import (
    ComputedTorqueLaw,
    Feedforward,
    PDGravity,
    StateFeedback,
    closed_loop,
    lqr,
    vibrations,
)
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.motion import shaping


def residual(model, controller, shaper, rate=2000):
    """Amplitude of the elastic coordinates after a fast move has ended."""
    loop = model.loop(controller=controller, rate=rate, free_running=True, shaper=shaper, telemetry=1 << 14, keep="oldest")
    loop.move_to([0.3], 0.25)
    loop.start(seconds=2.0)
    assert loop.wait(timeout=60)
    records = loop.read()
    end = int((0.25 + (shaper.duration if shaper else 0.0)) * rate) + 2
    return float(np.abs(records["q"][end : end + rate, 1:]).max())


def without_gravity(model):
    model.parameters.update(gravity_x=0.0, gravity_y=0.0, gravity_z=0.0)
    return model


@pytest.fixture
def weightless(bender):
    yield without_gravity(bender)
    bender.parameters.reset()


def test_input_shaping_takes_the_vibration_away(weightless) -> None:
    zero = np.zeros(3)
    model = weightless
    clamped = float(model.modes(zero, joints="locked").frequencies[0])
    lin = model.linearize(zero, zero, zero)
    kp, kd = 4000.0, 100.0
    pd = vibrations(closed_loop(lin.A, lin.B, [[kp, 0, 0, kd, 0, 0]]))[0]
    for controller, mode in (
        (ComputedTorqueLaw(10000, 200), (clamped, 0.01)),
        (PDGravity(kp, kd), pd),
        (Feedforward(kp, kd), pd),
    ):
        plain = residual(model, controller, None)
        assert plain > 0.05
        assert residual(model, controller, shaping.zv(*mode)) < plain / 10
        assert residual(model, controller, shaping.zvd(*mode)) < plain / 10
    off = (1.15 * clamped, 0.01)  # ZVD forgives a wrong frequency
    controller = ComputedTorqueLaw(10000, 200)
    assert residual(model, controller, shaping.zvd(*off)) < 0.5 * residual(model, controller, shaping.zv(*off))


def test_moves_of_flexible_arms_continue_jerk_and_snap(bender) -> None:
    loop = bender.loop(rate=1000, free_running=True, telemetry=4096, keep="oldest")
    loop.move_to([1.0], 0.8)
    loop.step(300)
    loop.move_to([-0.5], 1.0)
    loop.step(1100)
    records = loop.read()
    s = np.arange(300) / 800
    rest_to_rest = s**5 * (126 + s * (-420 + s * (540 + s * (-315 + s * 70))))
    np.testing.assert_allclose(records["q_ref"][:300, 0], rest_to_rest, atol=1e-12)
    assert records["q_ref"][-1, 0] == -0.5
    snap = np.diff(records["qd_ref"][:, 0], n=3) / 1e-9
    assert np.abs(np.diff(snap)).max() < 0.06 * np.abs(snap).max()  # a jump would be of the size of the snap


def test_shapers_by_their_equations() -> None:
    for design, count in ((shaping.zv, 2), (shaping.zvd, 3)):
        shaper = design(10.0, 0.05)
        assert len(shaper.times) == count
        assert shaper.gains.sum() == pytest.approx(1)
        assert shaper.residual(10.0, 0.05) < 1e-12
    both = shaping.zv(10.0) @ shaping.zvd(37.0, 0.1)
    assert both.residual(10.0) < 1e-12
    assert both.residual(37.0, 0.1) < 1e-12
    delays, gains = both.taps(1e-3)
    assert gains.sum() == pytest.approx(1)
    assert (gains * delays).sum() * 1e-3 == pytest.approx((both.gains * both.times).sum())
    with pytest.raises(elastogen.ModelError, match="frequency"):
        shaping.zv(0.0)


def test_lqr_stabilizes_a_flexible_arm(weightless) -> None:
    model = weightless
    zero = np.zeros(3)
    lin = model.linearize(zero, zero, zero)
    Q, R = np.array([1000.0, 100.0, 100.0, 1.0, 1.0, 1.0]), np.array([1e-2])
    K = lqr(lin.A, lin.B, Q, R)
    poles = closed_loop(lin.A, lin.B, K)
    assert poles.real.max() < -0.5
    P_residual = riccati_residual(lin.A, lin.B, np.diag(Q), np.diag(R), K)
    assert P_residual < 1e-6
    loop = model.loop(
        controller=StateFeedback(K=K), rate=5000, free_running=True, telemetry=1 << 15, plant=Simulated([0.2, 0.05, 0.0])
    )
    loop.set_reference([0.0])
    loop.start(seconds=4.0)
    assert loop.wait(timeout=60)
    records = loop.read()
    assert np.abs(records["q"][-500:]).max() < 1e-3


def riccati_residual(A, B, Q, R, K):
    """How far the Lyapunov solution of the closed loop is from the Riccati equation, relative."""
    from scipy.linalg import solve_continuous_are

    expected = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))
    return float(np.abs(K - expected).max() / np.abs(expected).max())


def test_a_rigid_controller_meets_a_flexible_robot(library, bender) -> None:
    """The plant may be the loop of another robot: here joints that the controller does not know to be flexible."""
    rigid = {
        "elastogen": 1, "name": "stiff", "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}, {"name": "bar", "mass": 0.8, "com": [0.6, 0, 0], "inertia": [0, 0.1, 0.1]}],
        "joints": [{"name": "hub", "type": "revolute", "child": "bar", "axis": [0, 0, 1], "motor": {"inertia": 0.1}}],
    }  # fmt: skip
    flexible = build_loop(BENDER)
    plant = Simulated(library=flexible, measured=[0])
    loop = Loop(build_loop(rigid), plant=plant, free_running=True, controller=PDGravity(400, 40))
    loop.move_to([0.5], 0.5)
    records = finish(loop, 3000)
    assert loop.status
    assert records["q"][-1, 0] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(elastogen.ModelError, match="measured="):
        Loop(build_loop(rigid), plant=Simulated(library=flexible))


def test_a_delay_beyond_the_memory_is_the_longest_that_there_is(weightless) -> None:
    """Whoever writes the block of numbers may ask for more; nothing outside of the memory is read."""
    found = []
    for more in (-1, 0, 1, 1 << 30):
        loop = weightless.loop(controller=Feedforward(4000, 100), rate=1000, shaper=shaping.zv(20.0, 0.0), telemetry=1024)
        loop.move_to([0.3], 0.05)
        loop.tuning._block.tap_delay[1] = loop._delay_rows + more
        loop.tuning.publish(loop._loop)
        loop.step(300)
        found.append(loop.read()["q_ref"])
    assert np.ptp(found[0]) > 0.1
    for longer in found[1:]:
        np.testing.assert_array_equal(longer, found[0])
