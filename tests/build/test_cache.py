"""The cache of compiled models: hits, damage, races, read-only and full disks."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import platformdirs
import pytest
from build_samples import build, entries, leftovers, load_extension

from elastogen.build import pipeline
from elastogen.build.module import cache as cache_module
from elastogen.build.module.cache import Cache
from elastogen.build.module.entry import MANIFEST
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot


def test_a_known_build_neither_derives_nor_compiles(
    tmp_path: Path, derivations: list[Robot], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(tmp_path)
    monkeypatch.setattr(pipeline, "compile_model", lambda *_: pytest.fail("compiled again"))
    assert build(tmp_path) == first
    assert len(derivations) == 1
    assert first.name.startswith(f"_sample_{first.parent.name[:12]}.")
    assert {"sample.c", "sample.h"} <= {path.name for path in first.parent.iterdir()}
    assert not leftovers(tmp_path)


def test_options_lead_to_other_entries(tmp_path: Path, derivations: list[Robot]) -> None:
    paths = {
        build(tmp_path),
        build(tmp_path, precision="float"),
        build(tmp_path, cflags="-O1"),
        build(tmp_path, native=False),
    }
    assert len(paths) == 4
    assert len(entries(tmp_path)) == 4


@pytest.mark.parametrize(
    "damage",
    [
        "truncated_module",
        "missing_source",
        "empty_manifest",
        "no_manifest",
        "foreign_manifest",
        "garbled_note",
        "empty_entry",
    ],
)
def test_a_damaged_entry_is_built_again(damage: str, tmp_path: Path, derivations: list[Robot]) -> None:
    extension = build(tmp_path)
    manifest = extension.parent / MANIFEST
    if damage == "truncated_module":
        os.truncate(extension, 1000)
    elif damage == "missing_source":
        (extension.parent / "sample.c").unlink()
    elif damage == "empty_manifest":
        manifest.write_text("")
    elif damage == "no_manifest":
        manifest.unlink()
    elif damage == "foreign_manifest":
        manifest.write_text('{"files": {}, "extension": "../x"}')
    elif damage == "garbled_note":
        next((tmp_path / "builds").iterdir()).write_text('{"module": "../../etc"}')
    else:
        for path in extension.parent.iterdir():
            path.unlink()
    again = build(tmp_path)
    assert again == extension
    assert Cache(tmp_path).find(again.parent.name) == again
    assert load_extension(again).lib.eg_nparams() == 2
    assert len(entries(tmp_path)) == 1
    assert not leftovers(tmp_path)


BUILD_ONCE = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from build_samples import build, sample_model
from elastogen.build import pipeline
pipeline.derive_model = lambda robot, *given, **options: sample_model()
from pathlib import Path
meeting = Path(sys.argv[3])
(meeting / str(os.getpid())).touch()
deadline = time.monotonic() + 60.0
while len(list(meeting.iterdir())) < 2 and time.monotonic() < deadline:
    time.sleep(0.001)
print(build(Path(sys.argv[2])))
"""


def test_two_processes_at_once_share_one_entry(tmp_path: Path) -> None:
    """Both wait for each other after their imports, and so build at the same time."""
    meeting, folder = tmp_path / "meeting", tmp_path / "cache"
    meeting.mkdir()
    command = [sys.executable, "-c", BUILD_ONCE, str(Path(__file__).parents[1] / "helpers"), str(folder), str(meeting)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], answers
    assert len(list(meeting.iterdir())) == 2
    assert answers[0][0] == answers[1][0]
    assert len(entries(folder)) == 1
    assert not leftovers(folder)


def test_the_loser_of_a_race_takes_the_winners_entry(tmp_path: Path, derivations: list[Robot]) -> None:
    """Another process publishes the same entry while this one compiles."""
    other = tmp_path / "other"
    extension = build(other)
    mine = Cache(tmp_path / "mine")
    key = extension.parent.name

    def make(scratch: Path) -> Path:
        os.rename(extension.parent, mine.directory / "modules" / key)
        (scratch / "late.so").write_text("late")
        return scratch / "late.so"

    assert mine.make(key, make).name == extension.name
    assert not leftovers(tmp_path)


def test_orphans_of_killed_builds_are_removed(tmp_path: Path, derivations: list[Robot]) -> None:
    old, new = tmp_path / "scratch-old", tmp_path / "scratch-new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (1.0, 1.0))
    build(tmp_path)
    assert not old.exists()
    assert new.exists()


def test_cache_directory_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path / "from_environment"))
    assert Cache().directory == tmp_path / "from_environment"
    assert Cache(tmp_path / "given").directory == tmp_path / "given"
    monkeypatch.delenv("ELASTOGEN_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert Cache().directory == Path(platformdirs.user_cache_dir("elastogen"))


def test_a_cache_that_cannot_be_made_is_an_error_with_a_fix(tmp_path: Path, derivations: list[Robot]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match=r"cannot be written.*ELASTOGEN_CACHE_DIR"):
        build(tmp_path / "file" / "cache")


def test_a_read_only_cache_still_serves_what_it_has(tmp_path: Path, derivations: list[Robot], monkeypatch) -> None:
    extension = build(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(cache_module.tempfile, "mkdtemp", refuse)
    assert build(tmp_path) == extension
    with pytest.raises(BuildError, match="Read-only file system"):
        build(tmp_path, precision="float")


def test_an_entry_without_a_note_is_found_by_its_content(tmp_path: Path, derivations: list[Robot]) -> None:
    extension = build(tmp_path)
    shutil.rmtree(tmp_path / "builds")
    (tmp_path / "builds").write_text("in the way of notes")
    assert build(tmp_path) == extension
    assert len(derivations) == 2


def test_a_full_disk_leaves_no_entry(tmp_path: Path, derivations: list[Robot], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(BuildError, match="No space left on device"):
            build(tmp_path)
    assert not entries(tmp_path)
    assert not leftovers(tmp_path)
    assert build(tmp_path).exists()


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    """Entries that were not used for longest go first; what was used within the hour stays."""
    cache = Cache(tmp_path)
    for k, age in enumerate((3000, 9000, 5000)):
        entry = tmp_path / "modules" / f"entry{k}"
        entry.mkdir(parents=True)
        (entry / "data").write_bytes(b"x" * 1000)
        (entry / MANIFEST).write_text(json.dumps({"files": {}, "extension": ""}))
        os.utime(entry / MANIFEST, (time.time() - age,) * 2)
        cache.note_build(f"note{k}", f"entry{k}")
    assert [path.name for path in cache.entries()] == ["entry1", "entry2", "entry0"]
    assert [path.name for path in cache.shrink(2500)] == ["entry1"]
    assert sorted(path.stem for path in tmp_path.glob("builds/*")) == ["note0", "note2"]  # the third led to nothing
    assert [path.name for path in cache.shrink(0)] == ["entry2"]  # entry0 is too young
    assert [path.name for path in cache.entries()] == ["entry0"]


def test_a_wrong_limit_is_reported_before_anything_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTOGEN_CACHE_MIB", "2 GB")
    with pytest.raises(BuildError, match=r"ELASTOGEN_CACHE_MIB: got '2 GB', expected a whole number"):
        Cache(tmp_path).make("key", lambda _: pytest.fail("built"))
