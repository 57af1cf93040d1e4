"""Compiling, caching and writing: results, and every way in which the machine can fail."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_samples import LIVE, Recipe, SampleModel, call, compiled, load_extension, model_of, random_program

from elastogen.build import cache as cache_module
from elastogen.build import compile as compile_module
from elastogen.build import pipeline
from elastogen.build.cache import MANIFEST, Cache
from elastogen.build.compile import find_toolchain
from elastogen.build.options import BuildOptions, CompileOptions
from elastogen.build.write import write_files
from elastogen.generator.errors import BuildError
from elastogen.generator.robot import Robot

NAMES = ["simple", "may_fail"]


def sample_model() -> SampleModel:
    return model_of(random_program(21, Recipe(25)), random_program(22, Recipe(25, pivots=1)), names=NAMES)


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> list[Robot]:
    """Let the pipeline derive the sample model; the list tells how often it did."""
    seen: list[Robot] = []

    def derive(robot: Robot, outputs: object = None) -> SampleModel:
        seen.append(robot)
        return sample_model()

    monkeypatch.setattr(pipeline, "derive_model", derive)
    return seen


def build(folder: Path, **options: Any) -> Path:
    return pipeline.build_extension(sample_model().robot, BuildOptions.checked(cache_dir=folder, **options))


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "modules").iterdir()) if (folder / "modules").exists() else []


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("scratch-*"))


# ---- the extension module


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return compiled(sample_model(), tmp_path_factory.mktemp("module"))


def test_module_tells_what_it_is(module: Any) -> None:
    data = json.loads(module.ffi.string(module.lib.eg_metadata()))
    assert [function["name"] for function in data["functions"]] == NAMES
    values = np.zeros(2)
    module.lib.eg_params_default(module.ffi.from_buffer("eg_real_t *", values))
    assert module.lib.eg_nparams() == 2
    assert values.tolist() == list(LIVE.values())
    assert module.ffi.sizeof("eg_params_t") == 16


@pytest.mark.parametrize("params_stride", [0, 2])
@pytest.mark.parametrize("stride", [0, 4])
def test_batches_equal_single_calls(module: Any, params_stride: int, stride: int) -> None:
    function = sample_model().functions[0]
    rng = np.random.default_rng(3)
    n = 5
    x0, x1, params = rng.normal(size=(n, 3)), rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
    z0, z1 = np.full((n, 5), np.nan), np.full((n, 6), np.nan)
    p = [module.ffi.from_buffer("eg_real_t *", array, require_writable=True) for array in (params, x0, x1, z0, z1)]
    failures = module.lib.eg_batch_simple(p[0], params_stride, n, p[1], 3, p[2], stride, p[3], p[4])
    assert failures == 0
    for k in range(n):
        live = dict(zip(LIVE, params[k if params_stride else 0], strict=True))
        _, expected = call(module, function, {"x0": x0[k], "x1": x1[k if stride else 0]}, live)
        np.testing.assert_array_equal(z0[k], expected["z0"])
        np.testing.assert_array_equal(z1[k], expected["z1"].ravel())


def test_batches_count_failures(module: Any) -> None:
    x0, x1 = np.ones((4, 3)), np.ones((4, 4))
    x0[1], x1[2] = np.nan, np.nan
    z0, z1 = np.full((4, 5), np.nan), np.full((4, 6), np.nan)
    params = np.array([np.nan, np.nan])
    p = [module.ffi.from_buffer("eg_real_t *", array, require_writable=True) for array in (params, x0, x1, z0, z1)]
    assert module.lib.eg_batch_may_fail(p[0], 0, 0, p[1], 3, p[2], 4, p[3], p[4]) == 0
    x0[:], x1[:] = np.nan, np.nan
    assert module.lib.eg_batch_may_fail(p[0], 0, 4, p[1], 3, p[2], 4, p[3], p[4]) == 4
    assert not z0.any()


def test_module_without_parameters(tmp_path: Path) -> None:
    from build_samples import sample_robot

    model = model_of(random_program(2, Recipe(20, live=())), robot=sample_robot(live={}))
    extension = compiled(model, tmp_path)
    assert extension.lib.eg_nparams() == 0
    arguments = {"x0": np.ones(3), "x1": np.ones(4)}
    _, results = call(extension, model.functions[0], arguments, {})
    np.testing.assert_allclose(results["z0"], model.functions[0].program.evaluate(arguments)["z0"], atol=1e-14)


# ---- cache


def test_a_known_build_neither_derives_nor_compiles(tmp_path: Path, derivations: list[Robot]) -> None:
    first = build(tmp_path)
    started = time.perf_counter()
    assert build(tmp_path) == first
    assert time.perf_counter() - started < 0.1
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
import sys, time
sys.path.insert(0, sys.argv[1])
from test_build import build, sample_model
from elastogen.build import pipeline
pipeline.derive_model = lambda robot, outputs=None: sample_model()
from pathlib import Path
time.sleep(max(0.0, float(sys.argv[3]) - time.time()))
print(build(Path(sys.argv[2])))
"""


def test_two_processes_at_once_share_one_entry(tmp_path: Path) -> None:
    start = str(time.time() + 2.0)
    command = [sys.executable, "-c", BUILD_ONCE, str(Path(__file__).parent), str(tmp_path), start]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], answers
    assert answers[0][0] == answers[1][0]
    assert len(entries(tmp_path)) == 1
    assert not leftovers(tmp_path)


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
    assert "elastogen" in str(Cache().directory)


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


def test_an_entry_without_a_note_is_found_by_its_content(tmp_path: Path, derivations: list[Robot], monkeypatch) -> None:
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


# ---- compilers that fail


@pytest.fixture
def fake_compiler(tmp_path: Path) -> Any:
    def make(action: str) -> str:
        script = tmp_path / "fake-cc"
        script.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo fake 1.0; exit 0; fi\n{action}\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return make


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (
            "echo 'sample.c:1: error: the compiler is cross' >&2; exit 3",
            r"returned 3.\n(.|\n)*the compiler is cross",
        ),
        ("kill -9 $$", "killed by a signal .SIGKILL"),
        (
            "echo 'cc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
            "killed by a signal .Killed",
        ),
        ("sleep 30", "took longer than timeout=0.5 s"),
        ("exit 0", "cannot be written|did not make"),
    ],
)
def test_compiler_failures_are_told_and_leave_nothing(
    action: str, words: str, tmp_path: Path, derivations: list[Robot], fake_compiler: Any
) -> None:
    with pytest.raises(BuildError, match=words):
        build(tmp_path / "cache", compiler=fake_compiler(action), timeout=0.5)
    assert not entries(tmp_path / "cache")
    assert not leftovers(tmp_path / "cache")


def test_flags_that_the_compiler_refuses_are_in_its_words(tmp_path: Path, derivations: list[Robot]) -> None:
    with pytest.raises(BuildError, match="--no-such-flag"):
        build(tmp_path, cflags="--no-such-flag")


def test_a_missing_compiler_is_one_sentence_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BuildError, match=r"'nocc' \(compiler=\) was not found.*apt-get install gcc"):
        find_toolchain(CompileOptions(compiler="nocc"))
    monkeypatch.setenv("CC", "nocc -g")
    with pytest.raises(BuildError, match=r"'nocc -g' \(\$CC\) was not found"):
        find_toolchain(CompileOptions())
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"no C compiler found.*apt-get install gcc"):
        find_toolchain(CompileOptions())


def test_missing_python_headers_are_one_sentence_with_the_package(
    tmp_path: Path, derivations: list[Robot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_module.sysconfig, "get_path", lambda _: str(tmp_path / "nowhere"))
    with pytest.raises(BuildError, match=r"Python.h is missing.*apt-get install python3-dev"):
        build(tmp_path)


def test_compile_options_become_flags() -> None:
    flags = find_toolchain(CompileOptions(native=False, fp_contract="fast", cflags=("-g",))).flags
    assert "-ffp-contract=fast" in flags
    assert "-march=native" not in flags
    assert flags[-1] == "-g"
    assert "-ffp-contract=off" in find_toolchain(CompileOptions()).flags


def test_verbose_prints_the_command(
    tmp_path: Path, derivations: list[Robot], capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, verbose=True)
    captured = capsys.readouterr()
    assert "-std=c99" in captured.err
    assert not captured.out


# ---- generate


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
def test_writing_that_fails_leaves_everything_as_it_was(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
