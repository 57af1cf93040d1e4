"""Dependencies point one way: elastogen -> build -> generator, elastogen and build -> runtime, never back."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("generator", "templates", "build", "runtime")
MAY_IMPORT = {
    "generator": {"generator"},
    "templates": set(),
    "build": {"build", "generator", "templates", "runtime"},
    "runtime": {"runtime"},
}
FRONT_DOOR = "elastogen"  # the package itself: only its __version__ may be used from inside a room


def imported_modules(path: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room: str) -> None:
    modules = sorted((ROOT / room).glob("*.py"))
    assert modules
    for path in modules:
        for module in imported_modules(path, f"elastogen.{room}"):
            parts = module.split(".")
            if parts[0] != "elastogen" or parts[1:] in ([], ["__version__"]):
                continue
            assert parts[1] in MAY_IMPORT[room], f"{room}/{path.name} imports {module}"


def test_the_front_door_is_only_read_for_its_version() -> None:
    for room in ROOMS:
        for path in (ROOT / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    assert node.value.id != FRONT_DOOR or node.attr == "__version__", f"{room}/{path.name}"


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_is_cheap() -> None:
    assert not {"sympy", "numpy", "pydantic", "jinja2"} & loaded_after("import elastogen")


def test_the_runtime_needs_numpy_only() -> None:
    loaded = loaded_after("import elastogen.runtime")
    assert not {"sympy", "pydantic", "jinja2", "elastogen.generator", "elastogen.build"} & loaded


def test_public_names_exist() -> None:
    code = "import elastogen\nfor name in elastogen.__all__: getattr(elastogen, name)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("folder", [*ROOMS, "elastogen"])
def test_modules_stay_readable(folder: str) -> None:
    for path in (ROOT / folder).glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, f"{path.name} is too long: split it"
