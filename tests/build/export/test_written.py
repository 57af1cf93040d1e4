"""What exports write: whole or not at all, wherever a process is killed, and the same bytes everywhere."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import elastogen
from elastogen.build import pipeline
from elastogen.build.export import export as export_module
from elastogen.build.export import project, registry
from elastogen.build.export.fmu import unit
from elastogen.build.export.formats import shared
from elastogen.build.files.exchange import exchange
from elastogen.build.files.manifest import MANIFEST, sum_of
from elastogen.build.files.write import SCRATCH, write_files
from elastogen.build.module.cache import Cache
from elastogen.generator.functions.derivation import ModelDerivation, derive_model

Files = dict[str, str | bytes]
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed that were forked")
EVENTS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.chmod", "ctypes.dlsym", "tempfile.mkdtemp"}
OUTPUTS = ["mass_matrix", "forward_dynamics"]
STEPS = {"fmu3": 1, "cmake": 11}  # of the moments; few for the other formats


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a killed process loses nothing that the system has


def killed(at: int, action: Callable[[], Any]) -> bool:
    """Run ``action`` in a process that kills itself before its ``at``-th operation on files; whether it came to that."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, _: tuple[Any, ...]) -> None:
            nonlocal count
            if event in EVENTS:
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        with contextlib.suppress(BaseException):
            sys.addaudithook(hook)
            action()
            os._exit(0)
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def moments(action: Callable[[], Any], prepare: Callable[[], Any], step: int) -> Iterator[int]:
    """Prepare and kill at operation 1, 1 + step, ... until the action comes to its end; that one counts, too."""
    at, is_killed = 1, True
    while is_killed:
        prepare()
        is_killed = killed(at, action)
        yield at
        at += step


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_whole(found: dict[str, bytes]) -> bool:
    """Whether files are those of their manifest."""
    manifest = json.loads(found[MANIFEST])
    return "replacing" not in manifest and manifest["files"] == {n: sum_of(d) for n, d in found.items() if n != MANIFEST}


def exported() -> dict[str, Files]:
    """What every format writes of a robot (with a stand-in for what a compiler would make), and ``generate``."""
    files: dict[str, Files] = {}
    with pytest.MonkeyPatch.context() as patch:

        def keep(directory: Path, given: Files, **_: object) -> list[Path]:
            assert not directory.parent.exists()  # nothing was written before all is known
            files[directory.name] = dict(given)
            return [directory / name for name in given]

        for module in (export_module, pipeline):
            patch.setattr(module, "write_files", keep)
        known: dict[object, ModelDerivation] = {}  # formats with the same functions share them

        def derive_once(robot: elastogen.Robot, outputs: object, frames: object, **options: Any) -> ModelDerivation:
            if outputs not in known:
                known[outputs] = derive_model(robot, outputs, frames, **options)  # type: ignore[arg-type]
            return known[outputs]

        for module in (project, pipeline):
            patch.setattr(module, "derive_model", derive_once)
        for module in (shared, unit):
            patch.setattr(module, "compile_shared", lambda *_, **__: b"a library")
        patch.setattr(export_module, "at_hand", lambda *_, **__: None)
        robot = elastogen.load("two_link")
        for kind, chosen in registry.FORMATS.items():
            elastogen.export(robot, Path("nowhere") / kind, format=kind, outputs=None if chosen.chooses else OUTPUTS)
        elastogen.generate(robot, Path("nowhere") / "generate", outputs=OUTPUTS)
    return files


def sums(files: dict[str, Files]) -> dict[str, list[str]]:
    """Names and sums, in their order."""
    data = {kind: {n: d if isinstance(d, bytes) else d.encode() for n, d in each.items()} for kind, each in files.items()}
    return {kind: [f"{name} {sum_of(content)}" for name, content in each.items()] for kind, each in data.items()}


@pytest.fixture(scope="module")
def written() -> dict[str, Files]:
    return exported()


ELSEWHERE = """
import json, os, sys, time
os.umask(0o077)
time.time = lambda: 4e8  # 1982
sys.path[:0] = sys.argv[1:]
from test_written import exported, sums
print(json.dumps(sums(exported())))
"""


def test_every_format_has_the_same_bytes_everywhere(tmp_path: Path, written: dict[str, Files]) -> None:
    """In another process with another order of sets, another folder, other permissions and another time."""
    folders = [str(Path(__file__).parent), str(Path(elastogen.__file__).resolve().parents[1])]
    environment = {**os.environ, "PYTHONHASHSEED": "20", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    command = [sys.executable, "-c", ELSEWHERE, *folders]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == sums(written)


@FORKS
@pytest.mark.parametrize("start", ["nothing", "old", "beside others"])
@pytest.mark.parametrize("kind", [*registry.FORMATS, "generate"])
def test_a_killed_export_leaves_the_old_or_the_new_one(
    tmp_path: Path, written: dict[str, Files], kind: str, start: str
) -> None:
    """Every operation of one format, some of all others; a second export needs no force and leaves no scratch."""
    new, by = written[kind], f"{kind} two_link"
    old = {name: f"old {name}" for name in [*list(new)[::2], "src/outdated.c"]}
    kept, folder = tmp_path / "kept", tmp_path / "all" / "out"
    write_files(kept, old, by=by)
    (tmp_path / "all").mkdir()
    if start == "old" and not (exchange(kept, tmp_path / "all") and exchange(kept, tmp_path / "all")):
        pytest.skip("this file system cannot exchange two folders in one step")
    if start == "beside others":
        (kept / "mine.txt").write_text("mine")
    before = contents(kept) if start != "nothing" else {}

    def prepare() -> None:
        shutil.rmtree(tmp_path / "all", ignore_errors=True)
        folder.parent.mkdir()
        if start != "nothing":
            shutil.copytree(kept, folder)

    prepare()
    write_files(folder, new, by=by)
    after = contents(folder)
    assert "src/outdated.c" not in after
    count = 0
    for at in moments(lambda: write_files(folder, new, by=by), prepare, STEPS.get(kind, 37)):
        count = at
        found = contents(folder)
        if start == "beside others":
            there = {n: d for n, d in found.items() if not n.startswith(SCRATCH)}
            assert all(data in (before.get(name), after.get(name)) or name == MANIFEST for name, data in there.items()), at
            assert found["mine.txt"] == b"mine"
            unfinished = "replacing" in json.loads(there[MANIFEST])
            assert unfinished or there in (before, after), at
        else:
            assert found in (before, after), at
            assert not found or is_whole(found), at
        write_files(folder, new, by=by)
        assert contents(folder.parent) == {f"out/{name}": data for name, data in after.items()}, at
    assert count > len(new)


@FORKS
def test_a_killed_build_leaves_no_entry_or_a_whole_one(tmp_path: Path) -> None:
    """Its scratch goes with the next build: at once where it held its lock, else when it is old."""
    folder = tmp_path / "cache"

    def build(scratch: Path) -> Path:
        for name in ("a.c", "a.so"):
            (scratch / name).write_text(name)
        return scratch / "a.so"

    def make() -> Path:
        cache = Cache(folder)
        made = cache.make("entry", build)
        cache.write_note("builds", "note", {"module": "entry"})
        return made

    found = []
    for at in moments(make, lambda: shutil.rmtree(folder, ignore_errors=True), 1):
        entry, note = Cache(folder).find("entry"), Cache(folder).read_note("builds", "note")
        assert note in (None, {"module": "entry"})
        found.append(entry is not None)
        for path in [*folder.glob("scratch-*"), *folder.glob("*/scratch-*")]:
            if not (path / "lock").exists():
                os.utime(path, (1.0, 1.0))
        assert make().read_text() == "a.so", at
        assert Cache(folder).make("other", build).exists()
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*")} - {"modules/entry/lock"}
        files = {f"modules/{entry}/{name}" for entry in ("entry", "other") for name in ("a.c", "a.so", "manifest.json")}
        assert left == {"modules", "builds", "builds/note.json", "modules/entry", "modules/other", *files}
    assert found == sorted(found)  # from some moment on it is there
    assert len(found) > 15


def test_long_texts_stand_on_one_line(tmp_path: Path) -> None:
    """Texts are wrapped for comments of C; other files have them as they were written."""
    words = "twice 2*m of the " + "long " * 30 + "arm"
    robot = elastogen.load(
        {
            "elastogen": 1, "name": "wordy", "description": words,
            "parameters": {"m": {"value": 1, "unit": "kg", "doc": words}},
            "live": ["m"], "links": [{"name": "a", "mass": "m", "com": [1, 0, 0]}],
            "joints": [{"name": "j", "type": "revolute", "child": "a", "axis": [0, 1, 0]}],
        }
    )  # fmt: skip
    elastogen.export(robot, tmp_path, format="mex", outputs=["gravity_vector"])
    readme = (tmp_path / "README.md").read_text().splitlines()
    assert words in readme
    assert f"- `m` = 1.0: {words} [kg]" in readme
    assert f"%   m: {words} [kg]" in (tmp_path / "+wordy" / "parameters.m").read_text().splitlines()
