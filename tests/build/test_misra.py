"""The list of deviations from MISRA C:2012 is what cppcheck finds."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import elastogen

PAGE = Path(__file__).resolve().parents[2] / "docs" / "shipping" / "misra.md"
PARTS = {"": "model", "_simulate": "simulate", "_loop": "loop"}


def documented() -> set[tuple[str, str]]:
    rows = re.findall(r"^\| (\d+\.\d+) \| (?:advisory|required|mandatory) \| ([\w, ]+) \|", PAGE.read_text(), re.M)
    return {(rule, part) for rule, parts in rows for part in parts.split(", ")}


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed: apt-get install cppcheck")
def test_deviations_are_documented(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, loop=True, outputs="simulation", cflags="-O0")
    sources = [f"two_link{part}.c" for part in PARTS]
    command = ["cppcheck", "--addon=misra", "--std=c99", "--quiet", "--suppress=missingIncludeSystem", *sources]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "misra" not in done.stderr:
        pytest.skip("cppcheck has no MISRA addon here")
    found = {
        (rule, PARTS[part]) for part, rule in re.findall(r"^two_link(\w*)\.[ch]:.*misra-c2012-(\d+\.\d+)\]", done.stderr, re.M)
    }
    assert found
    assert found - documented() == set()
    version = subprocess.run(["cppcheck", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if version.startswith("2.10"):  # others find a little more or less
        assert documented() - found == set()
