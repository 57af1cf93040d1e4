"""The recipe for a new format in docs/architecture.md: one module, one entry, and what reads the registry knows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from added_kinds.listing_format import FORMAT
from click.testing import CliRunner

import elastogen
from elastogen.build.export.registry import FORMATS
from elastogen.commands.code.export import command

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, FORMAT.name, FORMAT)


@pytest.mark.usefixtures("added")
def test_a_new_format_is_exported(tmp_path: Path) -> None:
    written = elastogen.export("two_link", tmp_path / "out", format="listing", outputs="mass_matrix")
    assert (tmp_path / "out" / "LIST").read_text() == "two_link.h\ntwo_link.c\n"
    assert {path.name for path in written.files} == {"two_link.h", "two_link.c", "LIST", "README.md", "two_link_functions.json"}
    assert "(format `listing`)" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.usefixtures("added")
def test_what_a_new_format_does_not_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(elastogen.OutputError, match=r"format 'listing': got loop=True, which it does not take"):
        elastogen.export("two_link", tmp_path / "out", format="listing", loop=True)
    assert not (tmp_path / "out").exists()


def test_the_command_line_reads_the_registry() -> None:
    help_text = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert f"[{'|'.join(FORMATS)}]" in help_text
    done = CliRunner().invoke(command, ["two_link", "nowhere", "--format", "listing"])
    assert done.exit_code == 2
    assert "'listing' is not one of 'c'," in done.output


def test_every_entry_has_a_module_and_a_row_of_documentation() -> None:
    page = (ROOT / "docs" / "shipping" / "export.md").read_text(encoding="utf-8")
    for name, entry in FORMATS.items():
        assert callable(entry._own("files")), name
        assert not entry.chooses or callable(entry._own("outputs")), name
        assert f"`{name}`" in page, f"{name}: docs/shipping/export.md has no row for it"
    modules = {path.stem for path in (ROOT / "build" / "export" / "formats").glob("*.py")} - {"__init__"}
    assert modules == set(FORMATS)
