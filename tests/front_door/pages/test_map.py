"""docs/architecture.md is a map: what it names is where it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
HEADINGS = (
    "A rigid robot, from file to model",
    "A robot with sliding joints",
    "A floating base",
    "User-defined terms and functions",
    "The real-time loop",
    "An export",
    "A certificate",
)
FILE = r"`((?:generator|build|runtime|templates|elastogen)/[\w/]+\.(?:py|h|c))`"
NAMED = re.compile(FILE + r",\s+`(\w+)`")


def defined_in(path: str) -> set[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    if not path.endswith(".py"):
        return set(re.findall(r"\b(\w+)\([^;{]*\)\n\{", text))
    return {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("heading", HEADINGS)
def test_every_part_names_its_steps(heading: str) -> None:
    assert PAGE.count(f"\n## {heading}\n") == 1
    steps = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert len(NAMED.findall(steps)) >= 2 or len(re.findall(FILE, steps)) >= 4


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(PAGE))))
def test_what_is_named_is_in_its_file(path: str, name: str) -> None:
    assert name in defined_in(path), f"{path} does not define {name}"


def test_the_first_step_is_where_a_model_begins() -> None:
    import elastogen

    path, name = NAMED.findall(PAGE)[0]
    assert (path, name) == ("build/start.py", "build_model")
    assert elastogen.build_model.__module__ == "elastogen.build.start"


def test_files_of_the_map_exist() -> None:
    missing = [path for path in re.findall(FILE, PAGE) if not (ROOT / path).is_file()]
    recipes = {"runtime/loop/laws/bang_bang.py", "templates/loop/control/robot_loop_bang_bang.h"}
    assert set(missing) <= recipes, missing
