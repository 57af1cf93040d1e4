"""Paths and links that the documentation names exist, and the pictures are what their sources draw."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/[!g]*/*.md"),
        ROOT / "benchmarks" / "README.md",
        *ROOT.glob("examples/**/*.md"),
    ]
)
TOPS = "generator|templates|build|runtime|elastogen|tests|benchmarks|examples|docs"
FILE = re.compile(rf"(?<![\w/.])(?:{TOPS})/[\w/-]+\.(?:py|md|j2|yaml)\b")
PATH = re.compile(rf"(?<![\w/.<])(?:{TOPS})/[\w./*<>-]+")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = (  # not there before a command, or the reader of a recipe, makes it
    "benchmarks/results", "examples/example.c", "runtime/loop/laws/bang_bang.py",
    "templates/loop/control/robot_loop_bang_bang.h",
    "tests/check.c", "tests/test_numbers.py",
)  # fmt: skip


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose(page: Path) -> str:
    """The page without fenced blocks, in which paths are those of a user's own project."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_exist(page: Path) -> None:
    missing = []
    for named in PATH.findall(prose(page)):
        path = named.rstrip(".")
        if not path.startswith(MADE) and not ("<" in path or any(ROOT.glob(path))):
            missing.append(path)
    assert not missing


def test_comments_and_docstrings_name_files_that_exist() -> None:
    missing = []
    for folder in ("generator", "templates", "build", "runtime", "elastogen", "benchmarks", "examples"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".py", ".j2", ".yaml") and not file.is_symlink():
                for named in re.findall(
                    rf"(?<![\w/.])(?:{TOPS})/[\w/-]+\.(?:py|md|j2|yaml)\b", file.read_text(encoding="utf-8")
                ):
                    if not named.startswith(MADE) and not (ROOT / named).exists():
                        missing.append(f"{file.relative_to(ROOT)}: {named}")
    assert not missing


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    named = set(LINK.findall(contents))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert pages - {"README.md", "index.md"} <= named


def test_the_picture_is_drawn_from_its_source() -> None:
    source = ROOT / "docs" / "pictures" / "pipeline.py"
    spec = importlib.util.spec_from_file_location("pipeline_picture", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert source.with_suffix(".svg").read_text(encoding="utf-8") == module.draw(), "run make pictures"
    assert [path for path in module.named_paths() if not (ROOT / path).exists()] == []
