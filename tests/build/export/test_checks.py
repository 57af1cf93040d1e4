"""The check that an export brings: its functions against numbers computed without its C, by the tool that builds the export."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from c_compilers import WARNINGS

import elastogen

ROOT = Path(__file__).resolve().parents[3]
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
OUTPUTS = ["inverse_dynamics", "forward_dynamics", "mass_matrix"]
SLIDER = {
    "elastogen": 1,
    "name": "slider",
    "planar": {
        "links": [
            {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 1.0, "elements": 2},
            {"joint": "Pa", "gamma": 0.3, "rigid": True, "length": 0.2, "mass": 0.1, "inertia": 0.001},
        ]
    },
}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spoiled(text: str) -> str:
    """The text of a check in C at another second angle, so that the expected numbers are wrong."""
    changed, times = re.subn(r"(given_q\[2\] = \{\s*0\.1, )0\.2", r"\g<1>0.21", text)
    assert times >= len(OUTPUTS)
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


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
def test_checks_of_units(tmp_path: Path, version: str) -> None:
    """As the README says, with the sources out of the archive."""
    elastogen.export("two_link", tmp_path, format=version, cflags="-O0")
    with zipfile.ZipFile(tmp_path / "two_link.fmu") as archive:
        archive.extractall(tmp_path / "unit")
    (command,) = re.findall(r"^ +(cc .*) && ./check$", (tmp_path / "README.md").read_text(), re.M)
    run(*command.split(), cwd=tmp_path)
    functions = re.fullmatch(r"0 of (\d+) functions failed\n", run("./check", cwd=tmp_path))
    assert functions is not None
    assert int(functions[1]) >= 6  # dynamics, kinematics and Jacobian with their tangents
    check = tmp_path / "tests" / "check.c"
    check.write_text(spoiled(check.read_text()))
    run(*command.split(), cwd=tmp_path)
    failed = subprocess.run(["./check"], cwd=tmp_path, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "two_link_forward_dynamics_tangent: " in failed.stdout


@pytest.mark.parametrize(("robot", "precision"), [("two_link", "double"), (SLIDER, "float")])
def test_checks_in_python(tmp_path: Path, robot: str | dict[str, object], precision: str) -> None:
    """Of the built project: by pytest and alone; stacks of matrices, and a robot whose functions choose their elements."""
    outputs = [*OUTPUTS, "forward_kinematics"]
    elastogen.export(robot, tmp_path, format="python", outputs=outputs, precision=precision)
    setup = (tmp_path / "setup.py").read_text()
    (tmp_path / "setup.py").write_text(setup.replace('"-O2"', '"-O0"'))
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{ROOT}"}
    alone = [sys.executable, "tests/test_numbers.py"]
    done = subprocess.run(alone, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "0 of 4 functions failed\n"), done.stdout + done.stderr
    by_pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(by_pytest, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    test = tmp_path / "tests" / "test_numbers.py"
    text, times = re.subn(r'"q": \[0\.1, 0\.2', '"q": [0.1, 0.23', test.read_text())
    assert times == 4
    test.write_text(text)
    done = subprocess.run(alone, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "4 of 4 functions failed"), done.stdout + done.stderr
    assert "mass_matrix: M[0]: got " in done.stdout
    assert "tests/test_numbers.py" in (tmp_path / "README.md").read_text()


@pytest.mark.skipif(
    OCTAVE is None or shutil.which("mkoctfile") is None,
    reason="Octave with mkoctfile is not installed: apt-get install octave-dev",
)
def test_checks_in_octave(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, format="mex", outputs=[*OUTPUTS, "forward_kinematics", "jacobian"])
    octave = [str(OCTAVE), "--no-gui", "--quiet", "--norc", "--eval", "exit(check_two_link())"]
    done = subprocess.run(octave, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["0 of 5 functions failed"]), done.stdout + done.stderr
    check = tmp_path / "check_two_link.m"
    text, times = re.subn(r"given_q = by_columns\(\[0\.1, 0\.2\]", "given_q = by_columns([0.1, 0.21]", check.read_text())
    assert times == 5
    check.write_text(text)
    done = subprocess.run(octave, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (5, ["5 of 5 functions failed"]), done.stdout + done.stderr
    assert "check_two_link" in (tmp_path / "README.md").read_text()
