"""The options of a test run: ``--quick`` leaves out what took long, ``--clean-tree`` finds what was left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
SLOW_AND_QUICK = """
import time
import pytest

@pytest.fixture(scope="module")
def long_fixture():
    time.sleep(0.2)

def test_quick(): pass
def test_slow(): time.sleep(0.1)
def test_slow_fixture(long_fixture): pass
def test_failing_slowly():
    time.sleep(0.1)
    assert False
def test_leaves_a_file():
    open("left.txt", "w").close()
"""

NOTES = ".pytest_cache/v/elastogen/seconds"
IDLE = {"long_fixture": 1.5, "test_slow": 0.6, "test_failing_slowly": 0.0}  # seconds; all else takes next to none


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of its own, with the two plugins and one test file."""
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {PLUGINS}\n")
    (tmp_path / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["quick_run", "clean_tree"]\n')
    (tmp_path / "test_some.py").write_text(SLOW_AND_QUICK)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    return tmp_path


def outcome(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:hypothesispytest", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def notes_of(folder: Path) -> dict[str, float]:
    """What a run noted: seconds by the names of tests and fixtures."""
    noted: dict[str, float] = json.loads((folder / NOTES).read_text())
    return {name.rpartition("::")[2]: seconds for name, seconds in noted.items()}


def note(folder: Path, seconds: dict[str, float]) -> None:
    """Let the notes be those of a machine that has nothing else to do."""
    path = folder / NOTES
    path.write_text(json.dumps({name: seconds.get(name.rpartition("::")[2], 0.001) for name in json.loads(path.read_text())}))


def test_runs_learn_what_is_quick_and_see_what_is_left(tree: Path) -> None:
    code, printed = outcome(tree, "-n", "2", "--clean-tree")  # notes of the workers' fixtures arrive
    assert "4 passed" in printed
    assert "1 failed" in printed
    assert printed.rindex("files left in the tree") < printed.rindex("left.txt")
    assert code == 1
    (tree / "left.txt").unlink()
    noted = notes_of(tree)
    assert noted["test_slow"] >= 0.1
    assert noted["long_fixture"] >= 0.2
    assert noted["test_failing_slowly"] == 0.0
    note(tree, IDLE)
    code, printed = outcome(tree, "--quick", "--quick-seconds", "0.5")
    assert "2 passed" in printed
    assert "1 failed" in printed  # what failed is run again, however long it takes
    assert "2 deselected" in printed
    note(tree, IDLE)
    code, printed = outcome(tree, "-n", "2", "--quick", "--quick-seconds", "0.5")  # two processes have twice the time
    assert "3 passed" in printed
    assert "1 failed" in printed


def test_a_file_left_behind_fails_a_run(tree: Path) -> None:
    only = ("-k", "leaves_a_file")
    assert outcome(tree, *only)[0] == 0
    (tree / "left.txt").unlink()
    assert outcome(tree, *only, "--clean-tree")[0] == 1
    assert outcome(tree, *only, "--clean-tree")[0] == 0  # it was there before
