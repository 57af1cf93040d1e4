"""What comes of simulations: files, plots, the command."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from simulated_robots import START

from elastogen import PD, BangBang, BuildError, Model, ModelError, Table, export
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


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file grows beyond a size, as on a disk without space."""
    resource = pytest.importorskip("resource")
    usual, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", ["s.csv", "s.npz", "s.png"])
def test_what_was_there_survives_a_full_disk(arm: Model, name: str, tmp_path: Path) -> None:
    """A file that cannot be completed was left cut off, in place of the one before, behind an OSError."""
    s, target = arm.simulate(START, t=1.0), tmp_path / name
    if name == "s.png":
        pytest.importorskip("matplotlib")
    write = s.plot if name == "s.png" else s.save
    target.write_text("the one before")
    with full_disk(500), pytest.raises(ModelError, match=rf"{name}: cannot be written .*Nothing was left half-written"):
        write(target)
    assert target.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [target]


def test_an_export_without_space_for_its_measurements(tmp_path: Path) -> None:
    """Sizes in a README are left out where nothing can measure; here the C does not fit either, and is reported."""
    with full_disk(500), pytest.raises(BuildError, match="cannot be written"):
        export("two_link", tmp_path / "out", outputs=["gravity_vector"])
    assert not (tmp_path / "out").exists()


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
