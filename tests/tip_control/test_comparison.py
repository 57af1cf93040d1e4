"""Controllers on the same move of a flexible arm's tip: what each promises, and the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gauged_arms import two_flexible_links

import elastogen
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


def test_inversion_with_sampled_forces_stays_on_the_path(found: TipComparison) -> None:
    assert found["inversion"].error < 1e-2
    assert found["inversion"].residual < 1e-4
    stroke = np.linalg.norm(found.path[-1] - found.path[0])
    away = np.linalg.norm(found["inversion"].tip - found.path, axis=1)
    assert found["inversion"].error == pytest.approx(away[found.t < found.seconds].max() / stroke)


def test_the_page_and_wrong_arguments(found: TipComparison, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    text = found.page(tmp_path / "tips.html").read_text(encoding="utf-8")
    for word in ("In numbers", "lqg", "inversion", "Distance from the path", "Forces of the drives"):
        assert word in text
    assert "lqg" in found.table()
    with pytest.raises(elastogen.ModelError, match="expected one of pd, lqg, inversion"):
        found["shaping"]
    for changed, message in [({"controllers": ["pid"]}, "pid"), ({"rate": -1.0}, "rate"), ({"seconds": 0.0}, "seconds")]:
        with pytest.raises(elastogen.ModelError, match=message):
            compare_tip_control(found.model, **{"start": START, "goal": GOAL, "seconds": 0.3, **changed})
    with pytest.raises(elastogen.ModelError, match="no elastic coordinates"):
        compare_tip_control(elastogen.build_model("two_link"), START, GOAL, 0.3)
