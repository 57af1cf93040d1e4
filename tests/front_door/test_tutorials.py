"""Tutorials are executed, with the assertions in their text, and draw what they say; the documentation has no warnings."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
DOCS_TOOLS = ("sphinx", "myst_parser", "sphinx_gallery")


@pytest.mark.filterwarnings("error::elastogen.ModelWarning")
@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
@pytest.mark.parametrize("script", TUTORIALS, ids=lambda script: script.stem)
def test_a_tutorial_runs_and_draws(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    if "dask" in script.read_text(encoding="utf-8"):
        pytest.importorskip("dask.distributed")
    monkeypatch.chdir(shutil.copytree(script.parent, tmp_path / "tutorials", ignore=shutil.ignore_patterns("__pycache__")))
    before = sorted(Path().iterdir())
    plt.close("all")
    try:
        runpy.run_path(script.name, run_name="__main__")
        panels = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes]
    finally:
        plt.close("all")
    assert sorted(Path().iterdir()) == before, "a tutorial leaves nothing behind"
    shown = [axes for axes in panels if axes.axison]
    assert shown, "a tutorial has a picture"
    for axes in shown:
        assert axes.has_data(), "no empty panel"
        assert axes.get_ylabel()
        for words in (axes.get_xlabel(), axes.get_ylabel()):
            assert "  " not in words


def test_every_subject_has_its_tutorial_and_asserts_what_it_says() -> None:
    assert [script.stem.partition("_")[2] for script in TUTORIALS] == [
        "urdf_arm", "flexible_arm", "planar_robot", "own_control_law", "identify_payload", "monte_carlo", "satellite",
        "identify_arm", "identify_flexible_arm",
    ]  # fmt: skip
    for script in TUTORIALS:
        text = script.read_text(encoding="utf-8")
        assert len(re.findall(r"^ *assert ", text, re.MULTILINE)) >= 3, script.name
        assert text.startswith('"""\n'), script.name


@pytest.mark.skipif(any(find_spec(name) is None for name in DOCS_TOOLS), reason="no Sphinx: pip install 'elastogen[docs]'")
def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    """Every page, reference and tutorial; the tutorials' scripts are executed by the test above."""
    docs = shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("generated", "__pycache__"))
    for room in ("elastogen", "generator"):
        (tmp_path / room).symlink_to(ROOT / room)
    options = ["-q", "-W", "--keep-going", "-D", "plot_gallery=0", "-b", "html"]
    command = [sys.executable, "-m", "sphinx", *options, str(docs), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    written = {path.relative_to(tmp_path / "html").as_posix() for path in (tmp_path / "html").rglob("*.html")}
    assert {page.relative_to(docs).with_suffix(".html").as_posix() for page in docs.rglob("*.md")} - {"README.html"} <= written
    assert {
        "generated/api/index.html",
        "generated/api/Model.html",
        "generated/robot-file.html",
        "generated/tutorials/index.html",
    } <= written
    assert {f"generated/tutorials/{script.stem}.html" for script in TUTORIALS} <= written
