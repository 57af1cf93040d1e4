"""What comes of simulations: files, plots, the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from simulated_robots import START

from elastogen import PD, BangBang, Model, ModelError, Table
from elastogen.command_line import main

# ---- files and plots


def test_files(arm: Model, tmp_path: Path) -> None:
    s = arm.simulate(START, t=1.0, samples=21)
    rows = np.genfromtxt(s.save(tmp_path / "s.csv"), delimiter=",", names=True)
    np.testing.assert_array_equal(rows["q_elbow_rad"], s.q[:, 1])
    np.testing.assert_array_equal(rows["kinetic_J"], s.kinetic)
    stored = np.load(s.save(tmp_path / "s.npz"))
    np.testing.assert_array_equal(stored["qd"], s.qd)
    assert str(stored["status"]) == "OK"
    with pytest.raises(ModelError, match=r"expected '.csv' or '.npz'"):
        s.save(tmp_path / "s.txt")
    with pytest.raises(ModelError, match="one motion"):
        arm.simulate([START, START], t=1.0).save(tmp_path / "s.csv")


def test_plots(arm: Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arm.simulate(START, t=1.0).plot(tmp_path / "s.png")
    assert (tmp_path / "s.png").stat().st_size > 10_000


# ---- the command


def test_the_command(arm: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "forces.csv"
    table.write_text("# t, F\n0,1,0\n0.5,-1,0\n")
    common = ["simulate", "two_link", "--outputs", "simulation", "--seconds", "0.5"]
    times, forces, q0 = [0.0, 0.5], [[1.0, 0.0], [-1.0, 0.0]], [0.1, 0.2]
    inputs = {
        "zero": None, "constant:1,2": [1.0, 2.0], "bangbang:1,2:0.4": BangBang([1.0, 2.0], 0.4),
        f"table:{table}": Table(times, forces), f"linear:{table}": Table(times, forces, "linear"),
        "hold:50:10": PD(q0, 50.0, 10.0),
    }  # fmt: skip
    for kind, F in inputs.items():
        target = tmp_path / "out.csv"
        assert main([*common, "--input", kind, "--q0", "0.1,0.2", "--csv", str(target), "--samples", "11"]) == 0
        rows = np.genfromtxt(target, delimiter=",", names=True)
        same = arm.simulate(q0, t=0.5, samples=11, F=F)
        np.testing.assert_array_equal(rows["q_elbow_rad"], same.q[:, 1])
        np.testing.assert_array_equal(rows["t_s"], same.t)
        assert "energy balance" in capsys.readouterr().out
    assert main([*common, "--input", "constant:1"]) == 2
    assert "expected 2 numbers" in capsys.readouterr().err
    assert main([*common, "--input", "sine:1"]) == 2
    assert "bangbang:A,B" in capsys.readouterr().err
