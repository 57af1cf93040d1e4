"""Writing of emitted files: whole projects, and nothing half-written where the machine fails."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from build_samples import sample_model

from elastogen.build import pipeline
from elastogen.build.files.write import write_files
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot


def test_generate_writes_a_project(tmp_path: Path, derivations: list[Robot]) -> None:
    folder = tmp_path / "deep" / "out"
    files = pipeline.generate(sample_model().robot, folder)
    names = ["CMakeLists.txt", "README.md", "example.c", "sample.c", "sample.h"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert sorted(path.name for path in files.files) == names
    assert (files.header, files.source) == (folder / "sample.h", folder / "sample.c")


def test_generate_replaces_its_files_and_keeps_others(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "sample.h").write_text("old")
    pipeline.generate(sample_model().robot, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert "SAMPLE_NQ" in (tmp_path / "sample.h").read_text()


def test_generate_into_a_file_is_an_error(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(BuildError, match="cannot be written"):
        pipeline.generate(sample_model().robot, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("place", ["new/deep", "."])
def test_writing_that_fails_leaves_everything_as_it_was(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.h").write_text("old")
    written = []

    def fail_second(_: int) -> None:
        written.append(1)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail_second)
    with pytest.raises(BuildError, match=r"No space left on device.*Nothing was left half-written"):
        write_files(tmp_path / place, {"a.h": "new", "b.c": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.h"]
    assert (tmp_path / "a.h").read_text() == "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BuildError, match="Permission denied"):
        write_files(tmp_path, {"a.h": "new"})
