"""The command ``elastogen run``: live view, report, plots."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from loop_setup import BENDER

from elastogen.command_line import main
from elastogen.runtime.loop.loop import Loop

FAILING = """
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    (void)context;
    F[0] = F[1] = 0.0;
    return view->tick >= 20u;
}
"""


def test_the_run_command(bender, capsys, tmp_path: Path) -> None:
    robot, report = tmp_path / "bender.yaml", tmp_path / "report"
    robot.write_text(json.dumps(BENDER))
    motion = ["--seconds", "0.4", "--rate", "500", "--move-seconds", "0.1", "--shaper", "zv"]
    motion += ["--controller", "computed_torque", "--kp", "400", "--kd", "40"]
    assert main(["run", str(robot), *motion, "--report", str(report)]) == 0
    printed = capsys.readouterr().out
    assert "lateness" in printed
    assert "status: no fault" in printed
    text = (report / "report.md").read_text()
    assert "| hub |" in text
    assert "worst" in text
    with np.load(report / "records.npz") as data:
        assert len(data["q"]) == len(data["tick"]) > 0


def test_a_fault_is_reported_and_fails_the_command(capsys, tmp_path: Path) -> None:
    source, report = tmp_path / "failing.c", tmp_path / "report"
    source.write_text(FAILING)
    options = ["--controller", "user", "--controller-source", str(source), "--seconds", "5", "--report", str(report)]
    assert main(["run", "two_link", *options]) != 0
    printed = capsys.readouterr()
    assert "the controller failed" in printed.out
    assert "a fault stopped the loop: the controller failed" in printed.err
    assert "- status: the controller failed" in (report / "report.md").read_text()
    with np.load(report / "records.npz") as data:
        cycles = data["cycle"].tolist()
        assert cycles == list(range(len(cycles)))
        assert 0 < np.count_nonzero(data["status"] == 0) <= 20  # fewer where the machine was late and periods were skipped
        assert set(data["status"].tolist()) == {0, 6}


def test_a_motion_that_diverges_names_the_coordinate_and_the_options(library, capsys) -> None:
    gains = ["--controller", "pd_gravity", "--kp", "1000000,1", "--kd", "10000,0.1"]
    assert main(["run", "two_link", "--rate", "1000", "--seconds", "5", *gains]) != 0
    message = capsys.readouterr().err
    assert "diverged (shoulder). Fix: smaller --kp and --kd for shoulder" in message


def test_the_live_view_fits_one_screen(library, tmp_path: Path) -> None:
    """On a terminal, each picture replaces the last one and is no larger than the terminal."""
    keyboard, terminal = pty.openpty()
    command = [sys.executable, "-m", "elastogen.command_line", "run", "two_link", "--rate", "1000", "--seconds", "1"]
    environment = {**os.environ, "COLUMNS": "72", "LINES": "12", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=terminal, stderr=subprocess.PIPE, env=environment, cwd=tmp_path)
    os.close(terminal)
    shown = b""
    try:
        while block := os.read(keyboard, 65536):
            shown += block
    except OSError:
        pass  # the program has ended
    finally:
        os.close(keyboard)
    assert process.wait(timeout=60) == 0, process.stderr.read().decode() if process.stderr else ""
    pictures = shown.decode().replace("\r\n", "\n").split("\x1b[H\x1b[2J")[1:]
    assert pictures
    for picture in pictures[:-1]:  # the last one is followed by the summary
        lines = picture.rstrip("\n").split("\n")
        assert len(lines) <= 12
        assert max(map(len, lines)) < 72
        for text in ("two_link  computed_torque  1000 Hz", "overruns", "lateness", "execution", "shoulder", "elbow"):
            assert text in picture
    assert re.search(r"cycles \d+ at 1000 Hz", pictures[-1])
    assert "status: no fault" in pictures[-1]


def test_the_live_view_survives_nan(library) -> None:
    from elastogen.commands.motion.run import _bar

    assert _bar(0.0).index("|") == 12
    assert _bar(100.0)[-1] == _bar(-100.0)[0] == "|"
    assert "|" not in _bar(float("nan"))
    assert {len(_bar(x)) for x in (0.0, 9.0, float("inf"), float("nan"))} == {24}


@pytest.fixture(scope="module")
def ran(library):
    """A loop that has run, and its records."""
    loop = Loop(library, rate=1000, free_running=True, telemetry=1 << 12, keep="oldest")
    loop.move_to([0.5, -0.5], 0.3)
    loop.start(cycles=500)
    loop.wait(timeout=30)
    return loop, loop.read()


def test_plots_show_the_records(ran) -> None:
    pytest.importorskip("matplotlib")
    from elastogen.commands.motion.run_report import tracking_figure

    loop, records = ran
    figure = tracking_figure(loop, records)
    assert [axes.get_ylabel() for axes in figure.axes] == ["q [rad]", "q - q_ref [rad]", "F [N m]"]
    assert figure.axes[-1].get_xlabel() == "t [s]"
    assert figure.axes[0].get_title() == "two_link, computed_torque at 1000 Hz"
    assert [line.get_label() for line in figure.axes[0].lines][2:] == ["shoulder reference", "elbow reference"]
    colours = [line.get_color() for line in figure.axes[0].lines]
    assert colours[:2] == colours[2:]  # a reference has its joint's colour
    assert colours[0] != colours[1]
    expected = (np.hstack([records["q"], records["q_ref"]]), records["q"] - records["q_ref"], records["F"])
    for axes, values in zip(figure.axes, expected, strict=True):
        assert [line.get_label() for line in axes.lines][:2] == ["shoulder", "elbow"]
        assert len(axes.get_legend().get_texts()) == len(axes.lines) == values.shape[1]
        for k, line in enumerate(axes.lines):
            np.testing.assert_array_equal(line.get_xdata(), records["tick"] / 1000.0)
            np.testing.assert_array_equal(line.get_ydata(), values[:, k])


def test_plots_show_the_timing(ran) -> None:
    pytest.importorskip("matplotlib")
    from elastogen.commands.motion.run_report import timing_figure

    loop, _ = ran
    figure = timing_figure(loop)
    assert [axes.get_xlabel() for axes in figure.axes] == ["lateness [us]", "execution [us]"]
    assert figure.get_suptitle() == "two_link, computed_torque at 1000 Hz, 500 cycles"
    for axes, times in zip(figure.axes, (loop.statistics().lateness, loop.statistics().execution), strict=True):
        counts, edges, _ = axes.patches[0].get_data()
        assert counts.sum() == times.number == 500
        np.testing.assert_allclose(edges, np.maximum(times.histogram()[0], 1e-9) * 1e6)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_plots_are_pictures_in_the_report(ran, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    from elastogen.commands.motion.run_report import write_report

    paths = write_report(*ran, tmp_path)
    assert [path.name for path in paths] == ["report.md", "records.npz", "tracking.png", "timing.png"]
    for path in paths[2:]:
        picture = imread(path)
        assert min(picture.shape[:2]) > 500
        assert picture.std() > 0.02  # not blank
        assert f"![{path.stem}]({path.name})" in paths[0].read_text()


LIMP = """
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    (void)context;
    (void)view;
    F[0] = F[1] = 0.0;
    return 0;
}
"""


def test_a_move_that_ends_far_off_fails_the_command(capsys, tmp_path: Path) -> None:
    source = tmp_path / "limp.c"
    source.write_text(LIMP)
    options = ["--controller", "user", "--controller-source", str(source), "--seconds", "0.7", "--move-seconds", "0.2"]
    assert main(["run", "two_link", *options]) != 0
    assert re.search(r"a move of 0\.5 rad ended \d.* rad off \((shoulder|elbow)\)", capsys.readouterr().err)


def test_joint_limits_end_the_run(capsys, tmp_path: Path) -> None:
    text = json.loads(json.dumps(LIMITED))
    robot = tmp_path / "limited.yaml"
    robot.write_text(json.dumps(text))
    loose = ["--controller", "pd_gravity", "--kp", "100", "--kd", "0.1", "--move-seconds", "0.02", "--amplitude", "0.19"]
    assert main(["run", str(robot), "--seconds", "3", *loose]) != 0  # it swings beyond its goal
    printed = capsys.readouterr()
    assert "a position left its limits (hinge)" in printed.err
    for option, value, place in (("--amplitude", "0.5", "0.8"), ("--q0", "0.6", "0.6")):  # before anything moves
        assert main(["run", str(robot), "--seconds", "3", option, value]) != 0
        printed = capsys.readouterr()
        assert f"{option}: hinge would be at {place} rad, expected 0.1 to 0.5 rad" in printed.err
        assert "status" not in printed.out
    assert main(["run", str(robot), "--seconds", "0.6", "--move-seconds", "0.3"]) == 0  # the default move stays inside


LIMITED = {
    "elastogen": 1,
    "name": "limited",
    "links": [{"name": "base"}, {"name": "bar", "mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.01, 0.05, 0.05]}],
    "joints": [
        {"name": "hinge", "type": "revolute", "child": "bar", "axis": [0, 0, 1], "limits": {"lower": 0.1, "upper": 0.5}}
    ],
}
