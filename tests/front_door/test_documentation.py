"""What the documentation shows is executed: Python runs, robot files load, C is compiled by it, commands are understood."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

import elastogen
from elastogen.command_line import group

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    page.stem: page.read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if "generated" not in page.parts
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    (elastogen [^#\n]+)|`(elastogen [a-z][^`]*)`", re.MULTILINE)
TESTED_BY_SUBJECT = ("closed-forms", "own-functions", "own-terms", "verify")  # run there once, and their results compared
NEEDED = {"bridges": ("casadi", "torch", "jax", "gymnasium", "control", "crocoddyl"), "simulation": ("matplotlib",)}  # extras
KINDS = {
    "python",
    "yaml",
    "yml",
    "xml",
    "c",
    "cmake",
    "py",
}  # yml: a part of a robot file; c and cmake are compiled by the tests of their subject; py needs packages that are no extra


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall(PAGES[page])


def write_descriptions(page: str) -> None:
    """Descriptions of other tools that a page shows, under the name in their first line."""
    for kind, text in blocks(page):
        if kind == "xml":
            named = re.match(r"<!-- ([\w.]+) -->", text)
            assert named, f"{page}: a description without its name"
            Path(named[1]).write_text(text, encoding="utf-8")


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
@pytest.mark.filterwarnings("error::elastogen.ModelWarning")
@pytest.mark.filterwarnings("error::elastogen.runtime.loop.status.LoopWarning")  # no example with gains that diverge
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in TESTED_BY_SUBJECT and any(kind == "python" for kind, _ in blocks(page))]
)
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page, one after the other in one folder; files that it shows are there."""
    for module in NEEDED.get(page, ()):
        pytest.importorskip(module, reason=f"{module} is not installed", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    write_descriptions(page)
    names: dict[str, object] = {"__name__": "page"}
    for kind, text in blocks(page):
        if kind == "c" and (named := re.match(r"/\* (\w+\.c)\b", text)):
            Path(named[1]).write_text(text, encoding="utf-8")
        elif kind == "yaml" and (named := re.search(r"^name: (\w+)", text, re.MULTILINE)):
            Path(f"{named[1]}.yaml").write_text(text, encoding="utf-8")
        elif kind == "python":
            exec(compile(text, f"{page}.md", "exec"), names)


@pytest.mark.parametrize("page", [page for page in PAGES if any(kind in ("yaml", "yml") for kind, _ in blocks(page))])
def test_robot_files_load(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole files load; parts of files are YAML."""
    monkeypatch.chdir(tmp_path)
    write_descriptions(page)
    for kind, text in blocks(page):
        if kind in ("yaml", "yml"):
            reader = YAML(typ="safe", pure=True)
            reader.allow_duplicate_keys = kind == "yml"  # a part may list alternatives
            data = reader.load(text)
            assert isinstance(data, dict | list)
            base = Path(data.get("base_description", "") if isinstance(data, dict) else "")
            if "elastogen" in data and (not base.suffix or base.is_file()):  # a reader's URDF is not here
                assert elastogen.load(data).name == data["name"]


def test_every_block_is_of_a_known_kind() -> None:
    assert {kind for page in PAGES for kind, _ in blocks(page)} <= KINDS
    for page, text in PAGES.items():
        assert text.count("\n```") % 2 == 0, page
        for kind, block in blocks(page):
            assert kind != "py" or compile(block, f"{page}.md", "exec")


def commands() -> list[tuple[str, str]]:
    """All commands that README and docs show."""
    texts = {**PAGES, "README": (ROOT / "README.md").read_text(encoding="utf-8")}
    found = []
    for page, text in texts.items():
        for shown in COMMAND.findall(BLOCK.sub("", text)):
            line = (shown[0] or shown[1]).strip()
            if not re.search(r"[|]|\.\.\.|COMMAND", line):
                found.append((page, line))
    return found


@pytest.mark.parametrize(("page", "line"), commands())
def test_commands_are_understood(page: str, line: str) -> None:
    """Options and arguments are those that the command takes; what a placeholder stands for is left out."""
    name, *words = shlex.split(line.replace("elastogen ", "", 1).split(" > ")[0])
    command = group.get_command(click.Context(group), name)
    assert command is not None, f"{page}: no command {name!r}"
    taken = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= taken | {"--help"}


def test_reference_pages_have_every_key_and_every_public_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    import reference_pages

    reference_pages.write_pages(tmp_path)
    schema = json.loads(reference_pages.SCHEMA.read_text(encoding="utf-8"))
    page = (tmp_path / "robot-file.md").read_text(encoding="utf-8")
    sections = [schema, *(section for section in schema["$defs"].values() if "properties" in section)]
    assert page.count("\n## ") == len(sections)
    for section in sections:
        assert all(f"\n| `{key}` | " in page for key in section["properties"])
    assert "['" not in page  # no Python in the words
    pages = [page.read_text(encoding="utf-8") for page in (tmp_path / "api").glob("*.md")]
    names = [name for page in pages for name in re.findall(r":: elastogen\.(\w+)", page)]
    assert sorted(names) == sorted(name for name in elastogen.__all__ if callable(getattr(elastogen, name)))


def test_every_parameter_of_a_public_function_is_described() -> None:
    functions = {name: getattr(elastogen, name) for name in elastogen.__all__ if inspect.isfunction(getattr(elastogen, name))}
    assert "build_model" in functions
    silent = {
        name: [each for each in inspect.signature(function).parameters if not re.search(rf"\b{each}\b", function.__doc__ or "")]
        for name, function in functions.items()
    }
    assert {name: parameters for name, parameters in silent.items() if parameters} == {}


def test_the_list_of_stable_names_is_that_of_the_package() -> None:
    listed = re.findall(r"`(\w+)`", PAGES["stable-api"].partition("## Python names")[2])
    assert sorted(listed) == sorted(elastogen.__all__)
