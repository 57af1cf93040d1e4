"""What is shipped: a complete source distribution, a wheel that works outside of the tree, an example that others can build."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build", reason="the packaging tool is not installed: pip install build")
ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*.egg-info", "__pycache__", ".*_cache", ".setuptools-build", "dist", "out")


def run(*command: str | Path, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, in which tools may leave what they like."""
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=LEFT_OUT)
    return copy


@pytest.fixture(scope="module")
def dist(tree: Path) -> Path:
    """Both distributions; ``python -m build`` in the root is the packaging tool although a room has its name."""
    run(sys.executable, "-m", "build", "--no-isolation", cwd=tree)
    return tree / "dist"


def test_the_source_distribution_is_complete(tree: Path, dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {
        str(path.relative_to(tree))
        for folder in ("tests", "docs", "examples", "benchmarks", "generator", "templates", "build", "runtime", ".ci")
        for path in (tree / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert not expected - names
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "setup.py", "pyproject.toml"} <= names
    assert {"tests/data/puma560.json", "tests/helpers/fuzz/run.py", "tests/c/loop_checks.c"} <= names


def test_the_wheel_works_outside_of_the_tree(dist: Path, tmp_path: Path) -> None:
    wheel = next(dist.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        metadata = email.message_from_bytes(archive.read("elastogen-0.1.0.dist-info/METADATA"))
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert any(requirement.startswith("sympy") for requirement in metadata.get_all("Requires-Dist", []))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import elastogen;"
        "print(elastogen.__file__, *(p.name for p in elastogen.generate('par_table3', 'c', outputs='inverse_dynamics').files))"
    )
    home, *files = run(sys.executable, "-c", code, cwd=tmp_path).split()
    assert home.startswith(str(tmp_path))
    assert "par_table3.c" in files


def test_the_metadata_pass_the_index(dist: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    assert run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), cwd=dist).count("PASSED") == 2


def test_the_example_builds_a_wheel(tree: Path, tmp_path: Path) -> None:
    example = tree / "examples" / "build_step"
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ".", cwd=example)
    wheel = next(tmp_path.glob("arm_model-1.0-*.whl"))
    assert not wheel.name.endswith("-none-any.whl")  # it belongs to one platform
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        metadata = email.message_from_bytes(archive.read("arm_model-1.0.dist-info/METADATA"))
    assert "elastogen" in metadata.get_all("Requires-Dist", [])
    code = "from arm_model import model; print(model.nq, *(path.name for path in model.c_files))"
    assert run(sys.executable, "-c", code, cwd=tmp_path / "site").split() == ["3", "arm.h", "arm.c"]
