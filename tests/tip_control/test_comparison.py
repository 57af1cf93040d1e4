"""Controllers on the same move of a flexible arm's tip: what each promises, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gauged_arms import beam, two_flexible_links

import elastogen
from elastogen.motion import causal_tip_inversion
from elastogen.tip_control.comparison import TipComparison, compare_tip_control

START, GOAL = [0.3, 1.2], [0.45, 1.3]


@pytest.fixture(scope="module")
def found(cache_dir: Path) -> TipComparison:
    """A move of one period of the lowest mode."""
    model = elastogen.build_model(two_flexible_links(1))
    period = 1.0 / float(model.modes([0.3, 0.0, 1.2, 0.0]).hertz[2])
    return compare_tip_control(
        model, START, GOAL, period, sensors=["encoders", "gauge1"], noise={"gauge1": 2e-6}, rate=500.0,
        controllers=["pd", "lqg", "inversion"],
    )  # fmt: skip


def test_lqg_from_encoders_and_a_gauge_leaves_a_twentieth_of_the_vibration(found: TipComparison) -> None:
    assert found["lqg"].residual < 0.05 * found["pd"].residual
    assert found["pd"].residual > 0.05  # of the stroke: there was something to damp


def test_lqg_of_a_stiffer_arm_with_a_load_between_its_links(cache_dir: Path) -> None:
    """With encoders only. About a motion that this arm cannot do, LQG left 13 % of what PD leaves."""
    rows = ((0.48, 0.7119, 36.4, 0.374, 0.2758, 0.0883), (0.6319, 0.5824, 147.96, 0.197, 0.3674, 0.1709))
    links, joints = [], []
    for k, (L, mu, EI, load, hub, motor) in enumerate(rows):
        flexible = {**beam(L, EI, 1), "mass_per_length": mu, "tip": {"mass": load}, "damping": {"ratio": 0.01}}
        links.append({"name": f"l{k}", "mass": hub, "flexible": flexible})
        joints.append({"name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": [0, 0, 1], "motor": {"inertia": motor}})
    arm = {"elastogen": 1, "name": "stiffer", "gravity": [0, 0, 0], "links": [{"name": "base"}, *links], "joints": joints}
    model = elastogen.build_model(arm)
    found = compare_tip_control(model, [0.6, 1.2], [0.62, 1.22], 0.129, controllers=["pd", "lqg"])
    assert found["lqg"].residual < 0.05 * found["pd"].residual
    assert found["pd"].residual > 0.05


def test_inversion_with_sampled_forces_stays_on_the_path(found: TipComparison) -> None:
    assert found["inversion"].error < 1e-2
    assert found["inversion"].residual < 1e-4
    stroke = np.linalg.norm(found.path[-1] - found.path[0])
    away = np.linalg.norm(found["inversion"].tip - found.path, axis=1)
    assert found["inversion"].error == pytest.approx(away[found.t < found.seconds].max() / stroke)


def test_without_preactuation_the_tip_follows_slower_moves(found: TipComparison) -> None:
    """In a move of two periods: nothing moves before the tip, less error than feedforward's, fewer with each round."""
    model, slow = found.model, 2.0 * found.seconds
    errors = {}
    for rounds in (0, 1, 2):
        motion = causal_tip_inversion(model, START, GOAL, slow, rounds=rounds)
        assert motion.before == 0.0
        assert np.abs(motion.F[0]).max() < 1e-6 + np.abs(motion.F).max() * 1e-2
        assert np.allclose(model.forward_kinematics(motion.q)[:, -1, :3, 3], motion.tip, atol=1e-9)
        t = motion.t[1] - motion.t[0]
        q, qd, away = motion.q[0].copy(), np.zeros(4), []  # by these forces alone, RK4
        stroke = float(np.linalg.norm(motion.tip[-1] - motion.tip[0]))
        for k in range(len(motion.t) - 1):
            F = 0.5 * (motion.F[k] + motion.F[k + 1])
            for _ in range(4):
                q, qd = _rk4(model, q, qd, F, t / 4)
            away.append(np.linalg.norm(model.forward_kinematics(q)[-1, :3, 3] - motion.tip[k + 1]) / stroke)
        errors[rounds] = max(away)
    assert errors[1] < 0.3 * errors[0]
    assert errors[2] < 0.6 * errors[1], errors
    for wrong in (3, -1, True, 1.5):
        with pytest.raises(elastogen.ModelError, match="rounds"):
            causal_tip_inversion(model, START, GOAL, slow, rounds=wrong)  # type: ignore[arg-type]


def _rk4(model: elastogen.Model, q: Any, qd: Any, F: Any, h: float) -> tuple[Any, Any]:
    a = model.forward_dynamics(q, qd, F)
    b = model.forward_dynamics(q + h / 2 * qd, qd + h / 2 * a, F)
    c = model.forward_dynamics(q + h / 2 * qd + h * h / 4 * a, qd + h / 2 * b, F)
    d = model.forward_dynamics(q + h * qd + h * h / 2 * b, qd + h * c, F)
    return q + h * qd + h * h / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)


def test_the_page_and_wrong_arguments(found: TipComparison, tmp_path: Path) -> None:
    text = found.page(tmp_path / "tips.html").read_text(encoding="utf-8")
    for word in ("In numbers", "lqg", "inversion", "Distance from the path", "Forces of the drives"):
        assert word in text
    for drive in ("shoulder", "elbow"):
        assert text.count(f"{drive} [N m]") >= 2  # the greatest force, and the forces over time
    assert "[N m, N]" not in text
    assert "lqg" in found.table()
    with pytest.raises(elastogen.ModelError, match="expected one of pd, lqg, inversion"):
        found["shaping"]
    for changed, message in [({"controllers": ["pid"]}, "pid"), ({"rate": -1.0}, "rate"), ({"seconds": 0.0}, "seconds")]:
        with pytest.raises(elastogen.ModelError, match=message):
            compare_tip_control(found.model, **{"start": START, "goal": GOAL, "seconds": 0.3, **changed})
    with pytest.raises(elastogen.ModelError, match="no elastic coordinates"):
        compare_tip_control(elastogen.build_model("two_link"), START, GOAL, 0.3)
