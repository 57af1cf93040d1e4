"""Loops that two links close explicitly: against circles that meet, and against Newton's method."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from test_loop_descriptions import FOUR_BAR

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.loops.analysis import analysis_of


def explicit(file: dict[str, Any]) -> Any:
    robot = elastogen.load(file)
    programs = {f.name: f.program for f in derive_model(robot, ["closed_configuration", "loop_residual"]).functions}
    close, residual = programs["closed_configuration"], programs["loop_residual"]
    return lambda q: close.evaluate({"q": np.asarray(q)})["closed"], lambda q: np.abs(residual.evaluate({"q": q})["e"]).max()


def test_a_four_bar_is_where_two_circles_meet() -> None:
    """Crank 0.2, coupler 0.8, rocker 0.6, pivots 0.7 apart; by the law of cosines, on both sides."""
    close, gap = explicit(FOUR_BAR)
    for drive in np.linspace(-3.0, 3.0, 13):
        elbow = 0.2 * np.exp(1j * drive)
        line = 0.7 - elbow
        inner = math.acos((0.8**2 + abs(line) ** 2 - 0.6**2) / (2 * 0.8 * abs(line)))
        for side in (1, -1):
            coupler = np.angle(line) + side * inner
            rocker = np.angle(elbow + 0.8 * np.exp(1j * coupler) - 0.7)
            expected = np.array([drive, coupler - drive, rocker])
            start = expected + np.array([0.0, 0.2, -0.1])
            found = close(start)
            np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * expected), rtol=0, atol=1e-13)
            assert np.abs(found - start).max() < math.pi
            assert gap(found) < 1e-14


def test_both_angles_on_one_side_and_a_drive_at_the_other() -> None:
    file = copy.deepcopy(FOUR_BAR)
    for joint, driven in zip(file["joints"], (False, False, True), strict=True):
        joint["driven"] = driven
    file["joints"][1]["axis"] = [0, 0, -1]
    robot = elastogen.load(file)
    (links,) = analysis_of(robot).two_links
    assert links.series
    assert (links.angles, links.signs) == ((0, 1), (1, -1))
    close, gap = explicit(file)
    known = np.array([state[0] for state in analysis_of(robot).samples])
    known = known[np.abs(np.sin(known[:, 1])) > 0.4]  # further from the other solution than what follows
    assert len(known) > 20
    moved = known + np.random.default_rng(3).normal(scale=0.1, size=known.shape) * [1, 1, 0]
    np.testing.assert_allclose(np.exp(1j * close(moved)), np.exp(1j * known), rtol=0, atol=1e-9)
    assert gap(close(moved)) < 1e-14


def parallelograms(rocker: float = 0.2) -> dict[str, Any]:
    """Two parallelograms, the second on the coupler of the first."""
    body = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02]}

    def joint(name: str, parent: str, xyz: list[float]) -> dict[str, Any]:
        return {"name": name, "type": "revolute", "parent": parent, "child": f"{name}_link", "placement": {"xyz": xyz},
                "driven": name in ("one", "two")}  # fmt: skip

    names = ("one", "one_coupler", "one_rocker", "two", "two_coupler", "two_rocker")
    return {
        "elastogen": 1, "name": "lift", "gravity": [0, -9.81, 0],
        "links": [{"name": "frame"}, *({"name": f"{name}_link", **body} for name in names)],
        "joints": [
            joint("one", "frame", [0, 0, 0]), joint("one_coupler", "one_link", [0.2, 0, 0]),
            joint("one_rocker", "frame", [0.5, 0, 0]), joint("two", "one_coupler_link", [0, 0, 0]),
            joint("two_coupler", "two_link", [0.2, 0, 0]), joint("two_rocker", "one_coupler_link", [0.5, 0, 0]),
        ],
        "loops": [
            {"name": f"{name}_pin", "type": "revolute", "a": {"link": f"{name}_coupler_link", "xyz": [0.5, 0, 0]},
             "b": {"link": f"{name}_rocker_link", "xyz": [rocker, 0, 0]}} for name in ("two", "one")
        ],
    }  # fmt: skip


def test_parallelograms_on_each_other_close_one_after_the_other() -> None:
    close, gap = explicit(parallelograms())
    names = elastogen.load(parallelograms()).coordinate_names
    for a, b in ((0.7, 0.4), (1.2, -0.8), (2.0, 2.5)):
        expected = {"one": a, "one_coupler": -a, "one_rocker": a, "two": b, "two_coupler": -b, "two_rocker": b}
        off = {"one_coupler": 0.2, "one_rocker": -0.1, "two_coupler": -0.1, "two_rocker": 0.2}
        found = close([expected[name] + off.get(name, 0.0) for name in names])
        np.testing.assert_allclose(found, [expected[name] for name in names], rtol=0, atol=1e-13)
        assert gap(found) < 1e-14


def test_close_loops_takes_it_where_the_drives_are_held() -> None:
    outputs = ["closed_configuration", "loop_residual", "loop_jacobian"]
    model: Any = elastogen.build_model(FOUR_BAR, outputs=outputs, cflags="-O0")
    newton: Any = elastogen.build_model(FOUR_BAR, outputs=outputs[1:], cflags="-O0")
    starts = np.array([[d, 0.5, 1.0] for d in np.linspace(-0.5, 1.0, 5)]).reshape(5, 1, 3)
    found = model.close_loops(starts)
    np.testing.assert_allclose(found, newton.close_loops(starts), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(found, model.closed_configuration(starts))
    with pytest.raises(elastogen.ModelError, match="stay open by"):
        model.close_loops(starts[0, 0], held=["drive", "elbow"])


@pytest.mark.parametrize("name", ["delta", "slider_crank"])
def test_others_have_no_such_function(name: str) -> None:
    robot = elastogen.load(name)
    assert analysis_of(robot).two_links == ()
    with pytest.raises(elastogen.OutputError, match="two links in a plane"):
        derive_model(robot, ["closed_configuration"])
