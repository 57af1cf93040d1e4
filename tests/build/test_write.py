"""Writing of emitted files: whole projects, nothing half-written where the machine fails, nothing of others replaced."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build_samples import sample_model

from elastogen.build import pipeline
from elastogen.build.files import write
from elastogen.build.files.manifest import MANIFEST
from elastogen.build.files.write import write_files
from elastogen.command_line import main
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot

NAMES = ["CMakeLists.txt", "README.md", "examples/example.c", "sample.c", "sample.h", "sample_functions.json", "tests/check.c"]


def everything(folder: Path) -> dict[str, str]:
    """Name and text of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_generate_writes_a_project(tmp_path: Path, derivations: list[Robot]) -> None:
    folder = tmp_path / "deep" / "out"
    files = pipeline.generate(sample_model().robot, folder)
    assert sorted(everything(folder)) == sorted([*NAMES, MANIFEST])
    assert sorted(path.relative_to(folder).as_posix() for path in files.files) == NAMES
    assert (files.header, files.source) == (folder / "sample.h", folder / "sample.c")
    assert sorted(json.loads((folder / MANIFEST).read_text())["files"]) == NAMES
    assert folder.stat().st_mode == tmp_path.joinpath("deep").stat().st_mode  # as any new folder, not private


def test_generate_replaces_its_files_and_keeps_others(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    write_files(tmp_path, {"sample.h": "old"})
    pipeline.generate(sample_model().robot, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert "SAMPLE_NQ" in (tmp_path / "sample.h").read_text()


def test_files_of_others_are_refused_by_name(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "README.md").write_text("my thesis")
    (tmp_path / "CMakeLists.txt").write_text("my build")
    with pytest.raises(BuildError, match=r"holds CMakeLists.txt, README.md, not written by elastogen.*force=True"):
        pipeline.generate(sample_model().robot, tmp_path)
    assert everything(tmp_path) == {"README.md": "my thesis", "CMakeLists.txt": "my build"}
    pipeline.generate(sample_model().robot, tmp_path, force=True)
    assert "SAMPLE_NQ" in (tmp_path / "sample.h").read_text()
    assert "my thesis" not in (tmp_path / "README.md").read_text()


def test_edited_files_are_refused_by_name(tmp_path: Path, derivations: list[Robot]) -> None:
    pipeline.generate(sample_model().robot, tmp_path)
    pipeline.generate(sample_model().robot, tmp_path)
    with (tmp_path / "examples" / "example.c").open("a") as stream:
        stream.write("/* my change */\n")
    before = everything(tmp_path)
    with pytest.raises(BuildError, match=r"holds examples/example.c, not written"):
        pipeline.generate(sample_model().robot, tmp_path, precision="float")
    assert everything(tmp_path) == before


def test_the_command_line_keeps_the_readme_of_the_user(
    tmp_path: Path, derivations: list[Robot], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("mine")
    assert main(["generate", "two_link", "."]) == 2
    assert "README.md" in capsys.readouterr().err
    assert everything(tmp_path) == {"README.md": "mine"}
    assert main(["generate", "two_link", ".", "--force"]) == 0
    assert "mine" not in Path("README.md").read_text()


def test_same_bytes_links_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("same")
    write_files(tmp_path, {"a.h": "same"})  # nothing would be lost
    precious = tmp_path / "precious.txt"
    precious.write_text("same")
    (tmp_path / "link.h").symlink_to(precious)
    with pytest.raises(BuildError, match=r"holds link\.h"):
        write_files(tmp_path, {"link.h": "same"})
    write_files(tmp_path, {"link.h": "new"}, force=True)
    assert precious.read_text() == "same"
    (tmp_path / "folder.h" / "inside").mkdir(parents=True)
    for force in (False, True):
        with pytest.raises(BuildError, match=r"folder\.h|Is a directory"):
            write_files(tmp_path, {"folder.h": "new", "a.h": "new"}, force=force)
        assert (tmp_path / "folder.h" / "inside").is_dir()
        assert (tmp_path / "a.h").read_text() == "same"


def test_a_manifest_of_somebody_else_is_kept(tmp_path: Path) -> None:
    for text in ("not json", "[1]", '{"files": 3}'):
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(BuildError, match="is not a manifest of elastogen"):
            write_files(tmp_path, {"a.h": "new"})
        assert everything(tmp_path) == {MANIFEST: text}


def test_what_is_out_of_date_goes_with_the_next_writing(tmp_path: Path) -> None:
    """Unless somebody changed it, or another writer wrote it, too."""
    folder = tmp_path / "out"
    write_files(folder, {"a.c": "1", "a_loop.c": "1", "a_ik.c": "1", "both.h": "1"}, by="c a")
    write_files(folder, {"b.c": "1", "both.h": "1"}, by="c b")
    (folder / "a_ik.c").write_text("mine")
    write_files(folder, {"a.c": "2"}, by="c a")
    assert {name: text for name, text in everything(folder).items() if name != MANIFEST} == {
        "a.c": "2", "a_ik.c": "mine", "b.c": "1", "both.h": "1",
    }  # fmt: skip
    write_files(folder, {"b.c": "2"}, by="c b")  # in a folder with a changed file: one after the other
    assert "both.h" not in everything(folder)


def test_files_that_appear_while_an_export_is_written_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of own files is exchanged as a whole; what a compiler puts into the old one meanwhile comes along."""
    folder = tmp_path / "out"
    write_files(folder, {"a.c": "1", "src/b.c": "1"}, by="test")
    original = write.exchange

    def late(new: Path, old: Path) -> bool:
        (folder / "src" / "b.o").write_text("compiled")
        return original(new, old)

    monkeypatch.setattr(write, "exchange", late)
    write_files(folder, {"a.c": "2"}, by="test")
    texts = everything(folder)
    assert texts.pop(MANIFEST)
    assert texts == {"a.c": "2", "src/b.o": "compiled"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_somebody_works_in_stays_the_same_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write_files(folder, {"src/a.c": "1"}, by="test")
    number = folder.stat().st_ino
    monkeypatch.chdir(folder / "src")
    write_files(folder, {"src/a.c": "2"}, by="test")
    assert folder.stat().st_ino == number
    monkeypatch.chdir(tmp_path)
    if sys.platform == "linux":  # another process, a shell for example
        command = [sys.executable, "-c", "import sys; print('here', flush=True); sys.stdin.read()"]
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
            assert shell.stdout is not None
            shell.stdout.readline()
            write_files(folder, {"src/a.c": "3"}, by="test")
            assert folder.stat().st_ino == number
    assert Path("out/src/a.c").read_text() in ("2", "3")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root writes into folders of others as they are"
)
def test_a_folder_of_somebody_else_stays_theirs(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_files(folder, {"a.c": "1"}, by="test")
    os.chown(folder, 1234, 1234)
    write_files(folder, {"a.c": "2"}, by="test")
    assert (folder.stat().st_uid, folder.stat().st_gid) == (1234, 1234)
    assert (folder / "a.c").read_text() == "2"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed")
def test_whoever_works_in_a_folder_that_is_gone_writes_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for text in ("1", "2"):
        write_files(tmp_path / "out", {"a.c": text}, by="test")
    monkeypatch.chdir(tmp_path)
    assert Path("out/a.c").read_text() == "2"


def test_several_sets_of_files_share_a_folder(tmp_path: Path) -> None:
    write_files(tmp_path / "out", {"a.h": "1", "src/a.c": "1"})
    write_files(tmp_path / "out", {"b.h": "2", "src/b.c": b"2"})
    write_files(tmp_path / "out", {"a.h": "3", "src/a.c": "3"})
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["files"].keys() == {"a.h", "b.h", "src/a.c", "src/b.c"}


@pytest.mark.parametrize("name", ["/etc/a", "../a", "a/../../b", ".", MANIFEST, "a\\b"])
def test_no_file_leaves_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(BuildError, match="expected a path below the directory"):
        write_files(tmp_path / "out", {name: "new"})
    assert not list(tmp_path.iterdir())


def test_generate_into_a_file_is_an_error(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(BuildError, match="cannot be written"):
        pipeline.generate(sample_model().robot, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("place", ["new/deep", "."])
def test_writing_that_fails_leaves_everything_as_it_was(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"a.h": "old"})
    before = everything(tmp_path)
    written = []

    def fail_second(_: int) -> None:
        written.append(1)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail_second)
    with pytest.raises(BuildError, match=r"No space left on device.*Nothing was left half-written"):
        write_files(tmp_path / place, {"a.h": "new", "b.c": "new"})
    assert everything(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.h", MANIFEST]


STEPS = ((os, "fsync"), (os, "replace"), (os, "rename"), (shutil, "copy2"))
OLD, NEW = {"a.h": "old", "src/a.c": "old", "src/z.c": "old"}, {"a.h": "new", "src/a.c": "new", "more/b.c": "new"}


def interrupted(monkeypatch: pytest.MonkeyPatch, at: int, stop: Callable[[], None]) -> list[int]:
    """Let ``stop`` happen before the step ``at`` of the next writing; the list has one entry per step that was reached."""
    reached: list[int] = []

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            reached.append(1)
            if len(reached) == at:
                stop()
            return function(*arguments, **options)

        return step

    for module, name in STEPS:
        monkeypatch.setattr(module, name, wrap(getattr(module, name)))
    return reached


@pytest.mark.parametrize(("foreign", "steps"), [((), 4), (("mine.txt",), 11)])
def test_an_update_that_fails_at_any_step_is_undone(tmp_path: Path, foreign: tuple[str, ...], steps: int) -> None:
    """A folder of its own files is exchanged in one step; where others have files, one file after the other is replaced."""

    def stop() -> None:
        raise KeyboardInterrupt

    for at in range(1, 100):
        folder = tmp_path / str(at)
        write_files(folder, OLD, by="test")
        for name in foreign:
            (folder / name).write_text("mine")
        before = everything(folder)
        with pytest.MonkeyPatch.context() as patch:
            reached = interrupted(patch, at, stop)
            try:
                write_files(folder, NEW, by="test")
            except KeyboardInterrupt:
                assert everything(folder) == before, f"step {at}"
                assert sorted(path.name for path in folder.iterdir()) == ["a.h", MANIFEST, *foreign, "src"]
                assert not list(tmp_path.glob(".*"))
                continue
        assert len(reached) >= steps
        assert everything(folder).keys() == {*NEW, *foreign, MANIFEST}  # what is out of date is gone
        return
    raise AssertionError("the update never ended")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BuildError, match="Permission denied"):
        write_files(tmp_path, {"a.h": "new"})
