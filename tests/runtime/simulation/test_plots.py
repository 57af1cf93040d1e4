"""What plots show: panels, labels, lines and their data; not pixels."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import BangBang, Comparison, ModelError, Simulation
from elastogen.commands.motion import run_report
from elastogen.runtime.loop.status import LoopStatus

pytest.importorskip("matplotlib")
OUTPUTS = ("simulation", "forward_kinematics", "mass_matrix", "stiffness_matrix", "damping_matrix")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return elastogen.compare_with_rigid("par_table3", build={"outputs": OUTPUTS}, t=3.0, samples=601)


def lines_of(axes: Any) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata(), dtype=float) for line in axes.lines}


def test_a_comparison_draws_figures_4_to_9(comparison: Comparison, tmp_path: Path) -> None:
    figure = comparison.plot(tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(panels) == [
        "(a) Driving torques: joint2", "(b) Driving forces: joint1", "(c) Joint angles", "(d) Joint displacements",
        "(e) Tip deflection: link2, y", "(f) Tip slope: link2, about z", "(g) End-effector, x", "(h) End-effector, y",
        "(i) Path of the end-effector", "(j) Deviation, flexible minus rigid",
    ]  # fmt: skip
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    assert labels == [
        ("t [s]", "F [N m]"), ("t [s]", "F [N]"), ("t [s]", "q [rad]"), ("t [s]", "q [m]"), ("t [s]", "deflection [mm]"),
        ("t [s]", "slope [mrad]"), ("t [s]", "x [m]"), ("t [s]", "y [m]"), ("x [m]", "y [m]"), ("t [s]", "deviation [mm]"),
    ]  # fmt: skip
    a, b, c, d, e, f, g, h, i, j = (lines_of(axes) for axes in figure.axes)
    flexible, rigid = comparison.flexible, comparison.rigid
    expected = {
        "torque": (a["joint2"], flexible.F[:, 1]),
        "force": (b["joint1"], flexible.F[:, 0]),
        "angle": (c["joint2, flexible"], flexible.q[:, 1]),
        "rigid angle": (c["joint2, rigid"], rigid.q[:, 1]),
        "slide": (d["joint1, flexible"], flexible.q[:, 0]),
        "rigid slide": (d["joint1, rigid"], rigid.q[:, 0]),
        "deflection": (e["link2, y"], 1e3 * flexible.q[:, -2]),
        "slope": (f["link2, about z"], 1e3 * flexible.q[:, -1]),
        "x": (g["flexible"], comparison.flexible_tip[:, 0, 3]),
        "y": (h["rigid"], comparison.rigid_tip[:, 1, 3]),
        "path": (i["flexible"], comparison.flexible_tip[:, 1, 3]),
        "deviation": (j["x"], 1e3 * comparison.deviation[:, 0]),
    }
    for name, (drawn, values) in expected.items():
        np.testing.assert_allclose(drawn[:, 1], values, atol=1e-15, err_msg=name)
    assert set(i) == {"flexible", "rigid", "start"}
    assert i["start"].tolist() == [[pytest.approx(0.0), pytest.approx(1.0)]]
    assert figure.axes[0].get_xlim() == (0.0, 0.75)  # the time of the forces
    assert figure.axes[2].get_xlim() == (0.0, 3.0)
    for axes in figure.axes[2:]:
        low, high = axes.get_ylim()
        data = np.concatenate([xy[:, 1] for xy in lines_of(axes).values()])
        assert low < data.min() < data.max() < high


def test_nothing_in_a_comparison_overlaps(comparison: Comparison) -> None:
    """No title, label or legend of a panel reaches into another panel, and no legend covers lines."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = comparison.plot()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    frames = [axes.get_window_extent(renderer) for axes in figure.axes]
    whole = [axes.get_tightbbox(renderer) for axes in figure.axes]
    for k, box in enumerate(whole):
        assert not any(box.overlaps(frame) for n, frame in enumerate(frames) if n != k), figure.axes[k].get_title(loc="left")
    for axes, frame in zip(figure.axes, frames, strict=True):
        legend = axes.get_legend()
        if legend is not None:
            assert legend.get_window_extent(renderer).y0 >= frame.y1 - 1
        ticks = [label.get_window_extent(renderer) for label in axes.get_xticklabels()]
        inside = [box for box in ticks if frame.x0 - 1 <= (box.x0 + box.x1) / 2 <= frame.x1 + 1]
        assert all(left.x1 < right.x0 for left, right in pairwise(inside))


def test_robots_in_space_with_many_lines() -> None:
    """Two flexible links that bend both ways and an odd number of panels."""
    beam = {"type": "modes", "length": 0.5, "mass_per_length": 0.8, "EI": 30, "tip": {"mass": 0.2},
            "modes": [{"direction": direction, "eigenfunction": 1} for direction in "yz"]}  # fmt: skip
    joint = {"type": "revolute", "motor": {"inertia": 0.1}}
    data = {
        "elastogen": 1, "name": "spatial", "gravity": [0, 0, 0],
        "links": [{"name": "base"}, {"name": "upper", "flexible": beam}, {"name": "lower", "flexible": beam}],
        "joints": [{"name": "turn", **joint, "child": "upper"},
                   {"name": "lift", **joint, "child": "lower", "axis": [0, -1, 0]}],
    }  # fmt: skip
    needed = ("forward_dynamics", "forward_kinematics")
    force = [1.0, 0, 0, 0.5, 0, 0]
    c = elastogen.compare_with_rigid(data, build={"outputs": needed}, t=0.5, F=BangBang(force, 0.2))
    figure = c.plot()
    titles = [axes.get_title(loc="left")[4:] for axes in figure.axes]
    assert titles == ["Driving torques", "Joint angles", "Tip deflection", "Tip slope", "End-effector, x", "End-effector, y",
                      "End-effector, z", "Path of the end-effector", "Deviation, flexible minus rigid"]  # fmt: skip
    assert list(lines_of(figure.axes[2])) == ["upper, y", "upper, z", "lower, y", "lower, z"]
    assert list(lines_of(figure.axes[1])) == ["turn, flexible", "turn, rigid", "lift, flexible", "lift, rigid"]
    width = [axes.get_subplotspec().colspan for axes in figure.axes]
    assert [len(columns) for columns in width] == [1] * 8 + [2]
    assert c.report().count("largest tip deflection") == 4


@pytest.fixture(scope="module")
def swing() -> Simulation:
    return elastogen.build_model("two_link", outputs="simulation").simulate([0.5, 0.3], t=1.0, samples=21, F=[1.0, -2.0])


def test_a_simulation_draws_its_samples(swing: Simulation, tmp_path: Path) -> None:
    figure = swing.plot(tmp_path / "swing.png")
    assert (tmp_path / "swing.png").read_bytes().startswith(b"\x89PNG")
    assert [axes.get_ylabel() for axes in figure.axes] == ["q [rad]", "qd [rad/s]", "F [N m]", "energy [J]"]
    assert figure.axes[-1].get_xlabel() == "t [s]"
    assert figure.axes[0].get_title() == "two_link, tsit5"
    for axes, values in zip(figure.axes, (swing.q, swing.qd, swing.F), strict=False):
        drawn = lines_of(axes)
        assert list(drawn) == ["shoulder", "elbow"]
        for k, xy in enumerate(drawn.values()):
            np.testing.assert_array_equal(xy, np.stack([swing.t, values[:, k]], axis=1))
        assert axes.get_xlim() == (0.0, 1.0)
    for axes in (figure.axes[0], figure.axes[3]):
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines_of(axes))
    energies = lines_of(figure.axes[3])
    assert list(energies) == ["kinetic", "potential", "work"]
    np.testing.assert_array_equal(energies["work"][:, 1], swing.work)


def test_a_panel_shows_one_unit_and_none_is_empty(swing: Simulation) -> None:
    """An angle and a length, without forces, and the angle at rest."""
    columns = np.stack([np.zeros_like(swing.t), np.sin(swing.t)], axis=1)
    mixed = replace(swing, coordinate_units=("rad", "m"), velocity_units=("rad", "m"), q=columns, qd=columns, F=0 * columns)
    figure = mixed.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["q [m]", "qd [m/s]", "energy [J]"]
    assert list(lines_of(figure.axes[0])) == ["elbow"]
    both = replace(mixed, q=columns + 1, kinetic=None, potential=None, work=None, dissipated=None)
    assert [axes.get_ylabel() for axes in both.plot().axes] == ["q [rad]", "q [m]", "qd [m/s]"]
    rest = replace(both, q=0 * columns, qd=0 * columns)
    assert [axes.get_ylabel() for axes in rest.plot().axes] == ["q"]


def test_batches_are_not_drawn() -> None:
    model = elastogen.build_model("two_link", outputs="simulation")
    with pytest.raises(ModelError, match=r"two_link: got a batch of shape \(2,\)"):
        model.simulate(np.zeros((2, 2)), t=0.1).plot()


# ---- the report of a run


class Timing:
    """Statistics of a loop: a histogram as telemetry gives it."""

    least, most, mean = 1e-6, 9e-6, 3e-6

    def histogram(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([1e-6, 2e-6, 4e-6, 8e-6]), np.array([5, 20, 3])

    def percentile(self, percent: float) -> float:
        return 4e-6


@pytest.fixture
def run() -> tuple[Any, np.ndarray]:
    records = np.zeros(50, dtype=[("tick", "u8"), *((name, "f8", (2,)) for name in ("q", "q_ref", "F"))])
    records["tick"] = np.arange(50)
    records["q"] = np.sin(np.arange(50))[:, None] * [1, 2]
    records["q_ref"] = records["q"] + [0.1, -0.2]
    records["F"] = records["q"] ** 2
    statistics = SimpleNamespace(lateness=Timing(), execution=Timing(), cycles=50, overruns=0, skipped=0, saturations=0, lost=0)
    model = SimpleNamespace(
        name="arm", coordinate_names=("a", "b"), coordinate_units=("rad", "m"), driven=(0, 1), driven_coordinates=(0, 1),
        velocity_names=("a", "b"), metadata=SimpleNamespace(velocity_units=("rad", "m")),
    )  # fmt: skip
    controller = SimpleNamespace(name="PDGravity")
    status = LoopStatus(0, "OK", "")
    loop = SimpleNamespace(model=model, rate=100.0, statistics=lambda: statistics, controller=controller, status=status)
    loop.errors = lambda read: read["q"] - read["q_ref"]
    return loop, records


def test_a_report_holds_its_plots(run: tuple[Any, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, records = run
    written = run_report.write_report(loop, records, tmp_path)
    assert [path.name for path in written] == ["report.md", "records.npz", "tracking.png", "timing.png"]
    assert "![tracking](tracking.png)" in written[0].read_text()
    monkeypatch.setattr(run_report, "find_spec", lambda name: None)
    written = run_report.write_report(loop, records, tmp_path / "plain")
    assert [path.name for path in written] == ["report.md", "records.npz"]
    assert "pip install 'elastogen[plot]'" in written[0].read_text()


def test_without_matplotlib_the_extra_is_named(
    comparison: Comparison, swing: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for drawn in (comparison, swing):
        with pytest.raises(ModelError, match=r"plots need matplotlib. Fix: pip install 'elastogen\[plot\]'"):
            drawn.plot()
