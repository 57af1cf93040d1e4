"""What the documentation shows is executed: the README's snippets and the examples."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import elastogen

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FUNCTIONS = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "examples", tmp_path / "examples")


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
def test_python_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "arm.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    snippets = blocks("python")
    assert len(snippets) == 6
    exec(compile("\n".join(snippets), "README.md", "exec"), {})
    assert (tmp_path / "out" / "two_link.h").is_file()


def test_the_robot_file_is_the_example() -> None:
    assert blocks("yaml")[0] == (ROOT / "examples" / "arm.yaml").read_text(encoding="utf-8")


def test_the_c_snippet_uses_emitted_names(tmp_path: Path) -> None:
    lines = [line for line in blocks("c")[0].splitlines() if not line.startswith("#")]
    body = "\n    ".join(line for line in lines if line)
    program = '#include "two_link.h"\nint main(void)\n{\n    float q[2] = {0}, qd[2] = {0}, qdd[2] = {0}, F[2];\n'
    elastogen.generate("two_link", tmp_path, precision="float", outputs=["inverse_dynamics"])
    (tmp_path / "main.c").write_text(f"{program}    {body}\n    return F[0] > 0.0F ? 0 : 1;\n}}\n")
    compiler = os.environ.get("CC", "cc")
    run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "two_link.c", "-lm", "-o", "main"], tmp_path)
    run([str(tmp_path / "main")], tmp_path)


def test_the_table_of_speed_is_that_of_the_comparison() -> None:
    """One run, reported in two places; ratios are those of the times."""
    rows = re.findall(r"^\| \w+, [\w ]+ \|.*\|$", README, flags=re.MULTILINE)
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").splitlines()
    assert len(rows) >= 6
    assert set(rows) <= set(page)
    for row in (line for line in page if re.match(r"\| \w+, [\w ]+ \|", line)):
        ours, pinocchio, casadi, *ratios = (float(cell) for cell in row.split("|")[2:-1])
        assert ratios == pytest.approx([pinocchio / ours, casadi / ours], rel=0.02, abs=0.05)


def test_every_documented_function_is_a_method_and_every_method_documented() -> None:
    documented = set(re.findall(r"`(\w+)\([^`]*\)`", FUNCTIONS)) - {"loop"}
    methods = {
        name
        for base in elastogen.Model.__mro__[1:-1]
        for name, value in vars(base).items()
        if callable(value) and not name.startswith("_")
    }
    assert documented == methods - {"frame_velocities_local", "frame_accelerations_local"}


def test_defaults_are_marked(puma560: elastogen.Model) -> None:
    marked = set(re.findall(r"`(\w+)\([^`]*\)` \*", FUNCTIONS))
    assert marked == set(puma560.functions)


def test_import_example(examples: Path) -> None:
    lines = run([sys.executable, "import_model.py"], examples).splitlines()
    energies = [float(match[1]) for line in lines if (match := re.search(r"energy = (\S+) J", line))]
    assert len(energies) == 7
    assert max(energies) - min(energies) < 1e-8


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_example(examples: Path) -> None:
    folder = examples / "build_step"
    run(["cmake", "-S", ".", "-B", "out"], folder)
    run(["cmake", "--build", "out"], folder)
    assert controller_arrives(run([str(folder / "out" / "controller")], folder))


def test_controller_example(examples: Path) -> None:
    folder = examples / "controller"
    commands = re.findall(r"^ \*     (.*)$", (folder / "controller.c").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) == 2
    outputs = [run(["sh", "-c", command], folder) for command in commands]
    assert controller_arrives(outputs[-1])


def controller_arrives(printed: str) -> bool:
    last = [float(word) for word in printed.splitlines()[-1].split("=")[-1].split()]
    return all(abs(got - wanted) < 0.02 for got, wanted in zip(last, (0.5, -0.3, 0.1), strict=True))
