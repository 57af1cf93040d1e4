"""What is shipped: a complete source distribution, a wheel that works outside of the tree, an example that others can build."""

from __future__ import annotations

import email
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.runtime.loop.library import LoopLibrary

pytest.importorskip("build", reason="the packaging tool is not installed: pip install build")
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests", "docs", "examples", "benchmarks", "distributions", "generator", "templates", "build", "runtime", ".ci")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "*.egg-info", "__pycache__", ".*_cache", ".setuptools-build", "dist", "out", "results", "generated"
)
MADE = ("benchmarks/results/all.md", "docs/generated/keys.md")  # by make bench and make docs: no part of a distribution


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
    for name in MADE:
        (copy / name).parent.mkdir()
        (copy / name).write_text("made here")
    return copy


@pytest.fixture(scope="module")
def dist(tree: Path) -> Path:
    """All distributions; ``python -m build`` in the root is the packaging tool although a room has its name."""
    run(sys.executable, "-m", "build", "--no-isolation", cwd=tree)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", "dist", "distributions/runtime", cwd=tree)
    return tree / "dist"


def test_the_source_distribution_is_complete(tree: Path, dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {
        str(path.relative_to(tree))
        for folder in FOLDERS
        for path in (tree / folder).rglob("*")
        if path.is_file() and not any(part.startswith((".setup", "__py")) or part.endswith(".egg-info") for part in path.parts)
    }
    assert expected - names == set(MADE)
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "setup.py", "pyproject.toml"} <= names
    assert {"tests/data/puma560.json", "tests/helpers/fuzz/run.py", "tests/c/loop_checks.c"} <= names


def test_the_wheel_works_outside_of_the_tree(dist: Path, tmp_path: Path) -> None:
    wheel = next(dist.glob("elastogen-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        metadata = email.message_from_bytes(archive.read("elastogen-0.2.0.dist-info/METADATA"))
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


def test_the_wheel_has_every_module(tree: Path, dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("elastogen-*.whl"))) as archive:
        names = set(archive.namelist())
    rooms = [tree / room for room in ("generator", "templates", "build", "runtime")] + [tree / "elastogen"]
    modules = {
        Path("elastogen") / path.relative_to(room if room.name == "elastogen" else tree)
        for room in rooms
        for path in room.rglob("*.py")  # does not follow links
    }
    assert len(modules) > 400
    assert {path.as_posix() for path in modules} <= names


def test_no_file_belongs_to_both_distributions(dist: Path) -> None:
    """So that either may be installed and removed beside the other, in any order."""
    owned = []
    for wheel in sorted(dist.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
            owned.append({line.partition(",")[0] for line in archive.read(record).decode().splitlines()})
    full, runtime = owned
    assert "elastogen/runtime/__init__.py" in full
    assert {"elastogen_runtime.pth", "elastogen_runtime/elastogen/runtime/__init__.py"} <= runtime
    assert not full & runtime


def test_the_metadata_pass_the_index(dist: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    assert run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), cwd=dist).count("PASSED") == 3


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The Python of an environment with numpy, cffi and what these need, as they are installed here, and nothing else."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    python = tmp_path / "bare" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    for name in ("numpy", "cffi", "pycparser"):
        installed = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}:
            (site / top).symlink_to(installed.locate_file(top))
    return python


@pytest.mark.skipif(os.name != "posix", reason="environments of symbolic links")
def test_the_runtime_works_alone(dist: Path, bare: Path, tmp_path: Path, library: LoopLibrary) -> None:
    """With numpy and cffi only: a wheel of a robot, its loop, and advice for what is not there."""
    elastogen.export("two_link", tmp_path / "project", format="python", outputs="inverse_dynamics", cflags="-O0")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ".", cwd=tmp_path / "project")
    wheels = [*dist.glob("elastogen_runtime-*.whl"), *tmp_path.glob("two_link_model-*.whl")]
    assert len(wheels) == 2
    run(*pip, "--python", bare, "install", "-q", "--no-index", *wheels, cwd=tmp_path)  # nothing is missing
    run(*pip, "--python", bare, "check", cwd=tmp_path)
    code = """
        import importlib.util, sys
        import numpy as np
        from two_link_model import model
        import elastogen
        print(*model.inverse_dynamics(*np.full((3, 2), 0.1)))
        loop = elastogen.Loop(elastogen.load_loop(sys.argv[1]), controller="computed_torque")
        loop.step(5)
        print(len(loop.read()))
        for name in ("load", "build_model", "export", "verify"):
            try:
                getattr(elastogen, name)
            except ImportError as error:
                assert f"elastogen.{name}" in str(error) and "pip install elastogen" in str(error), error
            else:
                raise AssertionError(name)
        for heavy in ("sympy", "pydantic", "jinja2", "setuptools", "pip"):
            assert importlib.util.find_spec(heavy) is None, heavy
    """
    printed = run(bare, "-c", textwrap.dedent(code), library.model.extension, cwd=tmp_path).split()
    expected = elastogen.build_model("two_link", outputs="inverse_dynamics").inverse_dynamics(*np.full((3, 2), 0.1))
    assert np.allclose([float(x) for x in printed[:2]], expected, rtol=1e-15)
    assert printed[2] == "5"
    # Where elastogen itself is installed, it is imported: from the path, or (editable) by a finder that comes last.
    for name in ("full", "empty"):
        (tmp_path / name / "elastogen").mkdir(parents=True)
    (tmp_path / "full" / "elastogen" / "__init__.py").write_text("")
    editable = """
        import sys
        from importlib.machinery import PathFinder
        class Editable:
            @staticmethod
            def find_spec(name, path=None, target=None):
                return PathFinder.find_spec(name, ["full"]) if name == "elastogen" else None
    """
    for lines, home in (
        ("import sys; sys.path.append('full')", "full"),
        (f"{textwrap.dedent(editable)}sys.meta_path.append(Editable)", "full"),
        ("import sys; sys.path.insert(0, 'empty')", "elastogen_runtime"),  # a folder that happens to have the name
    ):
        found = run(bare, "-c", f"{lines}\nimport elastogen; print(elastogen.__file__)", cwd=tmp_path).strip()
        assert Path(found).parts[-3:] == (home, "elastogen", "__init__.py")


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
