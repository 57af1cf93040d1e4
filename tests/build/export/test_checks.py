"""The check that an export brings: its functions against numbers computed without its C, by the tool that builds the export."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from c_compilers import WARNINGS

import elastogen

OUTPUTS = ["inverse_dynamics", "forward_dynamics", "mass_matrix"]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spoiled(text: str) -> str:
    """The text of a check in C at another second angle, so that the expected numbers are wrong."""
    changed, times = re.subn(r"(given_q\[2\] = \{\s*0\.1, )0\.2", r"\g<1>0.21", text)
    assert times == len(OUTPUTS)
    return changed


@pytest.mark.parametrize("kind", ["c", "header only", "cpp", "shared", "platformio", "arduino", "zephyr"])
def test_checks_in_c(tmp_path: Path, kind: str) -> None:
    """With the strict flags; and the check sees numbers that are others."""
    form, only = ("c", {"header_only": True}) if kind == "header only" else (kind, {})
    elastogen.export("two_link", tmp_path, format=form, outputs=OUTPUTS, **only)
    model = [path for path in tmp_path.rglob("*.c") if path.parent.name not in ("tests", "examples")]
    model += tmp_path.glob("libtwo_link.*")
    include = [f"-I{tmp_path / folder}" for folder in (".", "src", "include")]
    command = ["cc", *WARNINGS, *include, "tests/check.c", *model, "-lm", f"-Wl,-rpath,{tmp_path}", "-o", "check"]
    run(*command, cwd=tmp_path)
    assert run("./check", cwd=tmp_path) == "0 of 3 functions failed\n"
    check = tmp_path / "tests" / "check.c"
    check.write_text(spoiled(check.read_text()))
    run(*command, cwd=tmp_path)
    failed = subprocess.run(["./check"], cwd=tmp_path, capture_output=True, text=True)
    assert (failed.returncode, failed.stdout.splitlines()[-1]) == (1, "3 of 3 functions failed")
    assert "tests/check.c" in (tmp_path / "README.md").read_text()
