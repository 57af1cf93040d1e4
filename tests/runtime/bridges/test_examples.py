"""The examples of the bridges run and do what they say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "bridges"
NUMBER = r"(-?[\d.]+)"


def printed(name: str, module: str, capsys: pytest.CaptureFixture[str]) -> str:
    pytest.importorskip(module, reason=f"{module} is not installed: make bridges", exc_type=ImportError)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_the_arm_swings_up(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(rf"ends at \[\s*{NUMBER}\s+{NUMBER}\s*\]", printed("swing_up", "casadi", capsys))
    assert found is not None
    assert float(found[1]) == pytest.approx(1.5708, abs=1e-3)
    assert float(found[2]) == pytest.approx(0.0, abs=1e-3)


def test_the_flexible_arm_comes_to_rest(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed("flexible_mpc", "casadi", capsys)
    found = re.search(rf"at {NUMBER} rad, the beam's mode at {NUMBER}, at most {NUMBER}", text)
    assert found is not None
    hub, mode, most = map(float, found.groups())
    assert hub == pytest.approx(0.3, abs=2e-3)
    assert abs(mode) < 0.1 * most


def test_the_estimator_becomes_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """What it writes is built and run in tests/build/export/test_ros2.py."""
    monkeypatch.setattr("sys.argv", ["ros2_estimator.py", str(tmp_path / "arm")])
    runpy.run_path(str(EXAMPLES / "ros2_estimator.py"), run_name="__main__")
    assert (tmp_path / "arm" / "src" / "estimator.cpp").is_file()
    assert capsys.readouterr().out.startswith("written to ")


def test_the_policy_learns(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed("policy_gradient", "torch", capsys)
    found = re.search(rf"{NUMBER} before, {NUMBER} after .*\n.* end {NUMBER} rad", text)
    assert found is not None
    before, after, distance = map(float, found.groups())
    assert after < 0.01 * before
    assert distance < 0.1
