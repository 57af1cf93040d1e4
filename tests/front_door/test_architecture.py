"""Dependencies point one way: between the rooms, and between the sub-rooms of a room."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from elastogen.build.stamps import ROOMS_THAT_SHAPE_CODE, sources

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("generator", "templates", "build", "runtime")
MAY_IMPORT = {
    "generator": {"generator"},
    "templates": set(),
    "build": {"build", "generator", "templates", "runtime"},
    "runtime": {"runtime"},
}
INTERFACE = {  # for who derives a function and who calls it, who reads an experiment and who integrates it; the root of errors
    "elastogen.runtime.interface.argument.Argument",
    "elastogen.runtime.interface.channel.Channel",
    "elastogen.runtime.interface.error.COMPARED",
    "elastogen.runtime.interface.error.ElastogenError",
    "elastogen.runtime.interface.error.ReadableMessage",
    "elastogen.runtime.interface.error.close_names",
    "elastogen.runtime.interface.error.removed_directory",
    "elastogen.runtime.interface.error.shortened",
    "elastogen.runtime.interface.euler_sets.EULER_SETS",
    "elastogen.runtime.interface.integrators.DEFAULT",
    "elastogen.runtime.interface.integrators.names",
    "elastogen.runtime.interface.provided.provided",
}
ORDER = {  # of the sub-rooms and the modules beside them: each imports only from itself and from what stands before it
    "generator": (
        "stages", "derivation_errors", "program", "robot", "beams", "solids", "spatial", "joints", "bodies", "sliding",
        "mechanism", "description", "algorithms", "loops", "reference", "functions", "closed_form",
    ),
    "build": (
        "options", "stamps", "user_code", "request", "identity", "python_methods", "c", "program", "plain_c",
        "files", "known_numbers", "module", "known", "pipeline", "linking", "loop",
        "export", "bridges", "start", "pages", "forms",
    ),
    "runtime": (
        "interface", "errors", "real_numbers", "joints_only", "choices", "whole_files", "functions", "online", "motion",
        "simulation",
        "bridges", "model", "loop",
    ),
}  # fmt: skip
FRONT_DOOR = "elastogen"  # the package itself: only its __version__ may be used from inside a room
MOST_FILES = 16  # in a folder; beyond about a dozen it wants sub-folders
LONGEST = 400  # lines of a module


def modules(room: str) -> list[Path]:
    """All modules of a room and of its sub-rooms."""
    found = sorted((ROOT / room).rglob("*.py"))
    assert found
    return found


def imported_modules(path: Path, *, types: bool = True) -> Iterator[str]:
    """Names that a module imports, in functions and by a text "module:name" too; ``types`` for type checkers too."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    package = ["elastogen", *path.relative_to(ROOT).parent.parts]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"elastogen(\.\w+)+(:\w+)?", str(node.value)):
            yield str(node.value).replace(":", ".")
        if types or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            nodes += ast.iter_child_nodes(node)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_between_rooms_point_one_way(room: str) -> None:
    for path in modules(room):
        for module in imported_modules(path):
            parts = module.split(".")
            if parts[0] != "elastogen" or parts[1:] in ([], ["__version__"]) or (room == "generator" and module in INTERFACE):
                continue
            assert parts[1] in MAY_IMPORT[room], f"{path.relative_to(ROOT)} imports {module}"


def upward(room: str) -> dict[str, set[str]]:
    """What modules import of sub-rooms that stand after their own."""
    order, found = ORDER[room], dict[str, set[str]]()
    for path in modules(room):
        home = path.relative_to(ROOT / room).with_suffix("").parts[0]
        if home == "__init__":
            continue
        for module in imported_modules(path, types=False):
            parts = module.split(".")
            if parts[:2] == ["elastogen", room] and len(parts) > 2:
                assert parts[2] in order, f"{path.relative_to(ROOT)} imports {module}"
                if order.index(parts[2]) > order.index(home):
                    found.setdefault(path.relative_to(ROOT).as_posix(), set()).add(module)
    return found


@pytest.mark.parametrize("room", ORDER)
def test_imports_between_sub_rooms_point_one_way(room: str) -> None:
    named = {p.stem for p in (ROOT / room).iterdir() if not p.name.startswith("__")}
    assert set(ORDER[room]) == named, "a new sub-room: place it"
    assert not upward(room)


def test_the_front_door_is_only_read_for_its_version() -> None:
    for room in ROOMS:
        for path in modules(room):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    assert node.value.id != FRONT_DOOR or node.attr == "__version__", path.relative_to(ROOT)


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_is_cheap() -> None:
    assert not {"sympy", "numpy", "pydantic", "jinja2"} & loaded_after("import elastogen")


def test_the_runtime_needs_numpy_only() -> None:
    loaded = loaded_after("import elastogen.runtime")
    assert not {"sympy", "pydantic", "jinja2", "elastogen.generator", "elastogen.build"} & loaded


def test_the_interface_imports_nothing_of_the_package() -> None:
    for path in modules("runtime/interface"):
        assert not [module for module in imported_modules(path) if module.startswith("elastogen")], path.relative_to(ROOT)


def test_public_names_exist() -> None:
    code = """if True:
        import elastogen
        from elastogen.runtime.interface import provided
        for name in elastogen.__all__: getattr(elastogen, name)
        for purpose in provided._PLACES: assert callable(provided.provided(purpose))
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("folder", [*ROOMS, "elastogen", "tests", "benchmarks"])
def test_modules_and_folders_stay_readable(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".j2", ".c", ".h")]
    assert files
    for path in files:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= LONGEST, f"{path.relative_to(ROOT)} has {lines} lines: split it"
    if folder in (*ROOMS, "tests"):
        for place in {path.parent for path in files}:
            count = sum(path.parent == place and path.stem != "__init__" for path in files)
            assert count <= MOST_FILES, f"{place.relative_to(ROOT)} has {count} files"


def test_pytest_looks_into_every_folder(pytestconfig: pytest.Config) -> None:
    skipped = pytestconfig.getini("norecursedirs")
    for folder in (path for path in (ROOT / "tests").rglob("*") if path.is_dir() and path.name != "__pycache__"):
        assert not any(fnmatch(folder.name, pattern) for pattern in skipped), folder.relative_to(ROOT)


def test_the_cache_key_covers_sub_rooms(tmp_path: Path) -> None:
    room = tmp_path / "room"
    (room / "deep" / "deeper").mkdir(parents=True)
    (room / "top.py").write_text("a = 1\n")
    (room / "deep" / "deeper" / "body.c.j2").write_text("x\n")
    (room / "deep" / "deeper" / "notes.txt").write_text("not a source\n")
    before = list(sources([room]))
    assert before == ["room/deep/deeper/body.c.j2", "x\n", "room/top.py", "a = 1\n"]
    (room / "deep" / "deeper" / "body.c.j2").write_text("y\n")
    assert list(sources([room])) != before
    (room / "deep" / "deeper" / "body.c.j2").rename(room / "deep" / "body.c.j2")
    assert next(iter(sources([room]))) == "room/deep/body.c.j2"


def test_the_cache_key_covers_every_room() -> None:
    read = set(sources(ROOT / room for room in ROOMS_THAT_SHAPE_CODE))
    for room in ("generator", "templates", "build", "runtime/interface"):
        for path in (ROOT / room).rglob("*"):
            if path.suffix in (".py", ".j2", ".c", ".h"):
                assert path.relative_to((ROOT / room).parent).as_posix() in read
