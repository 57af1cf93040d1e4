"""The examples of drives: compiled and run as their comments say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import elastogen

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_cia402_drives_over_a_bus_that_fails(tmp_path: Path) -> None:
    """Enabled through the states, moved in their units across a wrap of the counter; a pulled cable is a fault of sensors."""
    elastogen.generate_loop("two_link", tmp_path / "generated")
    sources = [EXAMPLES / "ethercat" / name for name in ("main.c", "cia402.c")]
    sources += [tmp_path / "generated" / name for name in ("two_link.c", "two_link_loop.c")]
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'generated'}", f"-I{EXAMPLES / 'ethercat'}"]
    done = subprocess.run(
        ["gcc", *flags, *map(str, sources), "-lm", "-o", "cell"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = subprocess.run(["./cell"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    assert re.search(r"^enabled_after [4-9]$", text, flags=re.M), text  # disabled, ready, switched on, enabled
    moved = re.search(r"^moved (\S+) (\S+) status 0$", text, flags=re.M)
    assert moved is not None, text
    assert abs(float(moved[1]) - 0.5) < 2e-3
    assert abs(float(moved[2]) + 0.4) < 2e-3
    assert "pulled status 1 phase 3 drive_error 8130" in text  # STATUS_READ, ended
    assert "refused 1" in text
    assert re.search(r"^enabled_again [4-9]$", text, flags=re.M), text
    assert "reset 0" in text
    held = re.search(r"^held (\S+) status 0 phase 0$", text, flags=re.M)
    assert held is not None, text
    assert abs(float(held[1])) < 0.01
