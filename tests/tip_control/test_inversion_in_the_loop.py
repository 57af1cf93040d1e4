"""Tables with forces in the real-time loop: the tip of a flexible arm follows its path; forces that do not fit are named."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from gauged_arms import two_flexible_links

import elastogen
from elastogen.motion import tip_inversion
from elastogen.runtime.loop.controllers import StateFeedback
from elastogen.runtime.loop.loop import Limits
from elastogen.runtime.loop.plants import Simulated

RATE = 2000.0


@pytest.fixture(scope="module")
def arm(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links(1))


def test_the_tip_follows_in_the_loop(arm: elastogen.Model) -> None:
    period = 1.0 / float(arm.modes([0.3, 0.0, 1.2, 0.0]).hertz[2])
    motion = tip_inversion(arm, [0.3, 1.2], [0.45, 1.3], period)
    table = motion.sampled(1.0 / RATE)
    held = 0.5 * (table.F + np.vstack([table.F[1:], table.F[-1:]]))  # the mean of what a period holds
    K = np.zeros((2, 8))
    K[0, 0], K[0, 4], K[1, 2], K[1, 6] = 5.0, 1.0, 1.0, 0.2  # PD of the joints
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a slow stop: the arm has soft links
        loop = arm.loop(
            controller=StateFeedback(K=K, feedforward=False), rate=RATE, plant=Simulated(table.q[0]), limits=Limits(jump=np.inf)
        )
    loop.follow(table.q, table.qd, table.qdd, held)
    loop.step(len(table.t))
    assert loop.status
    records = loop.read()
    tip = arm.forward_kinematics(records["q"])[:, -1, :3, 3]
    stroke = np.linalg.norm(table.tip[-1] - table.tip[0])
    assert np.abs(tip - table.tip).max() < 1e-3 * stroke
    loop.step(100)  # the last row is held, with its force
    assert np.abs(arm.forward_kinematics(loop.read()["q"][-1])[-1, :3, 3] - table.tip[-1]).max() < 1e-3 * stroke


def test_rows_of_forces_are_those_of_the_records(arm: elastogen.Model) -> None:
    rows = 20
    q, zero = np.tile([0.3, 0.0, 1.2, 0.0], (rows, 1)), np.zeros((rows, 4))
    F = np.zeros((rows, 4))
    F[:, 0], F[:, 2] = 1e-6 * np.arange(rows), -2e-6 * np.arange(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop = arm.loop(controller=StateFeedback(K=np.zeros((2, 8)), feedforward=False), plant=Simulated(q[0]))
    for more in ({}, {"qddd": zero, "qdddd": zero}):  # three orders, and five
        loop.follow(q, zero, zero, F, **more)
        loop.step(rows + 3)
        found = loop.read()["F"][-(rows + 3) :]
        assert found[:rows] == pytest.approx(F, abs=1e-12)
        assert found[rows:] == pytest.approx(np.tile(F[-1], (3, 1)), abs=1e-12)
    loop.follow(q, zero, zero, [1e-6, 0.0, 0.0, 0.0])
    loop.step(3)
    assert loop.read()["F"][-1] == pytest.approx([1e-6, 0, 0, 0], abs=1e-12)
    with pytest.raises(elastogen.ModelError, match=r"F has shape \(5, 4\), expected \(20, 4\)"):
        loop.follow(q, zero, zero, F[:5])
    with pytest.raises(elastogen.ModelError, match="F"):
        loop.follow(q, zero, zero, np.full((rows, 4), np.nan))
    loop.set_limits(Limits(force=1e-6))
    with pytest.raises(elastogen.ModelError, match=r"F of elbow is .* in row 1"):
        loop.follow(q, zero, zero, F)
