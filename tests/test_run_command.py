"""The command ``elastogen run``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from loop_setup import BENDER


def test_the_run_command(bender, capsys, tmp_path: Path) -> None:
    from elastogen.command_line import main

    robot, report = tmp_path / "bender.yaml", tmp_path / "report"
    robot.write_text(json.dumps(BENDER))
    motion = ["--seconds", "0.4", "--rate", "500", "--move-seconds", "0.1", "--shaper", "zv"]
    assert main(["run", str(robot), *motion, "--report", str(report)]) == 0
    printed = capsys.readouterr().out
    assert "lateness" in printed
    assert "status: no fault" in printed
    text = (report / "report.md").read_text()
    assert "| hub |" in text
    assert "worst" in text
    with np.load(report / "records.npz") as data:
        assert len(data["q"]) == len(data["tick"]) > 0
