"""Sizes of elements that nobody gave: halved until the frequencies stay, judged by the meshes that come of it."""

import numpy as np
import pytest
from mesh_arms import described, written

import elastogen
from elastogen.generator.solids import request

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
pytest.importorskip("netgen", reason="netgen-mesher is not installed: pip install 'elastogen[mesh]'")


def report_of(folder, **flexible):
    return written(folder, described(**flexible)).links[1].flexible.solid.report


@pytest.mark.nightly
def test_frequencies_move_by_no_more_than_expected_at_half_the_size(folder, monkeypatch):
    monkeypatch.setattr(request, "FIRST_COUNT", 100)
    monkeypatch.setattr(request, "CONVERGED", 0.05)
    found = report_of(folder, size=None)
    finer = report_of(folder, size=found["size"] / 2)
    assert finer["elements"] > 3 * found["elements"]
    assert np.abs(np.array(found["frequencies"]) / finer["frequencies"] - 1).max() <= found["ahead"] < 0.05


def test_meshes_that_are_no_finer_settle_nothing():
    """As on the Panda's link 3: 3064 elements and then, at half the size, 1450, whose frequencies had moved by 0.9 %."""
    settling = request._Settling()
    for count in (3064, 1450, 1450):
        settling.add(count, np.array([1.0, 2.0]))
        assert not settling.done
        assert settling.report["settling"] is None
    settling.add(1600, np.array([0.995, 1.99]))  # 0.5 %, by elements of 0.97 of the size
    assert settling.report["coarser"] == 1450
    assert not settling.done


def test_what_is_ahead_is_right_where_errors_go_with_the_size():
    """Frequencies 1 + h / 20, of h = 1, 1/2 and 1/4."""
    frequencies, settling = 1 + np.array([1, 0.5, 0.25]) / 20, request._Settling()
    for count, frequency in zip((1000, 8000), frequencies, strict=False):
        settling.add(count, np.array([frequency]))
    assert settling.report["moved"] == pytest.approx(frequencies[0] / frequencies[1] - 1)
    assert settling.report["ahead"] == pytest.approx(frequencies[1] / frequencies[2] - 1, rel=0.02)
    assert not settling.done


def test_what_does_not_settle_has_as_many_elements_as_may_be(folder, monkeypatch):
    """From 54 elements halving leads beyond 700: a mesh between them is taken; the warning has a number that is enough."""
    for name, number in (("FIRST_COUNT", 60), ("MOST_ELEMENTS", 700)):
        monkeypatch.setattr(request, name, number)
    with pytest.warns(elastogen.RobotWarning, match=r"\d+ elements: frequencies moved by .*%.*give elements: ") as reported:
        found = report_of(folder, size=None)
    assert 400 < found["elements"] <= 700
    wanted = int(float(str(reported[0].message).split("give elements: ")[1].split(",")[0]))
    assert wanted == pytest.approx(found["elements"] * (found["ahead"] / 0.01) ** 3, rel=0.06)
    assert f"elements: {found['elements']} says" in str(reported[0].message)
