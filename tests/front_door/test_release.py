"""What belongs to a release agrees: versions, changelog, citation."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import environments
import pytest
from packaging.requirements import Requirement
from ruamel.yaml import YAML

import elastogen

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    for fragment in (tmp_path / "changelog.d").glob("*.*.md"):
        fragment.unlink()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nWords.\n\n## 0.1.0 (2026-01-01)\n\n- old\n")
    return tmp_path


def collect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "changelog.d" / "collect.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_fragments_become_a_section(folder: Path) -> None:
    (folder / "changelog.d" / "b.added.md").write_text("New.\nTwo lines.\n")
    (folder / "changelog.d" / "a.fixed.md").write_text("Right now.\n")
    (folder / "changelog.d" / "a.upgrading.md").write_text("Build again.\n")
    assert collect(folder, "0.2.0", "2026-11-18").returncode == 0
    text = (folder / "CHANGELOG.md").read_text()
    assert text == (
        "# Changelog\n\nWords.\n\n## 0.2.0 (2026-11-18)\n\n### Fixed\n\n- Right now.\n\n### Added\n\n- New.\n  Two lines.\n\n"
        "### Upgrading\n\n- Build again.\n\n"
        "## 0.1.0 (2026-01-01)\n\n- old\n"
    )
    assert sorted(path.name for path in (folder / "changelog.d").glob("*.md")) == ["README.md"]


def test_a_prepared_version_gets_more_under_its_headings(folder: Path) -> None:
    before = "# Changelog\n\n## 0.2.0 (2026-01-02)\n\nThe first.\n\n### Fixed\n\n- One\n  thing.\n\n### Upgrading\n\n- Do.\n"
    (folder / "CHANGELOG.md").write_text(f"{before}\n## 0.1.0 (2026-01-01)\n\n### Fixed\n\n- o\n")
    for name, text in {"b.added.md": "New.\n", "a.fixed.md": "Right\nnow.\n", "a.upgrading.md": "Build again.\n"}.items():
        (folder / "changelog.d" / name).write_text(text)
    assert collect(folder, "0.2.0", "2026-01-03").returncode == 0
    assert (folder / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## 0.2.0 (2026-01-03)\n\nThe first.\n\n### Fixed\n\n- One\n  thing.\n- Right\n  now.\n\n"
        "### Upgrading\n\n- Do.\n- Build again.\n\n### Added\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n### Fixed\n\n- o\n"
    )


@pytest.mark.parametrize("arguments", [(), ("0.2", "2026-11-18"), ("0.2.0", "today")])
def test_wrong_versions_and_names_are_refused(folder: Path, arguments: tuple[str, ...]) -> None:
    assert "expected VERSION=" in collect(folder, *arguments).stderr
    (folder / "changelog.d" / "c.misc.md").write_text("No kind.\n")
    assert "c.misc.md" in collect(folder, "0.2.0", "2026-11-18").stderr
    assert "old" in (folder / "CHANGELOG.md").read_text()


def test_fragments_have_names_that_collect_knows() -> None:
    for path in (ROOT / "changelog.d").glob("*.md"):
        assert path.name == "README.md" or re.fullmatch(
            r"[\w-]+\.(security|fixed|added|changed|removed|upgrading)\.md", path.name
        )
        assert path.read_text(encoding="utf-8").strip()


def test_licences_of_all_packages_are_listed() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.")[0]
    page = (ROOT / "docs" / "shipping" / "licences.md").read_text(encoding="utf-8")
    lists = re.findall(r"^[\w-]+ = \[(.*?)\]", project, re.MULTILINE | re.DOTALL)
    named = {name for text in lists for name in re.findall(r'"([A-Za-z][\w.-]*)(?:>=|==)', text)}
    assert {"numpy", "scipy", "pytest", "torch"} <= named
    assert named - {"setuptools"} <= set(re.findall(r"`([\w.-]+)`", page))


def test_constraints_hold_what_tests_need_and_nothing_against_the_bounds() -> None:
    lines = (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {one.name: one for one in (Requirement(line) for line in lines if line and not line.startswith("#"))}
    for needed in environments.required("elastogen", environments.EXTRAS):
        pin = pinned[environments.normal(needed.name)]
        assert pin.marker is not None
        (exactly,) = pin.specifier
        assert exactly.operator == "=="
        assert needed.specifier.contains(exactly.version), f"{needed}, but tests/constraints.txt has {pin}"


def test_every_dependency_has_a_lowest_version() -> None:
    pins = environments.lowest()
    assert {Requirement(pin).name for pin in pins} == {one.name for one in environments.required("elastogen")} | {
        *environments.RUNNERS
    }


def test_versions_agree() -> None:
    project = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project is not None
    assert elastogen.__version__ == project[1] == citation["version"]
    assert f"## {elastogen.__version__} ({citation['date-released']})" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
