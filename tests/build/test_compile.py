"""Compiling: the extension module, its batches, and every way in which a compiler can fail."""

from __future__ import annotations

import json
import platform
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_samples import (
    LIVE,
    NAMES,
    Recipe,
    build,
    call,
    compiled,
    entries,
    leftovers,
    model_of,
    random_program,
    sample_model,
    sample_robot,
)

import elastogen
from elastogen.build.module import compile as compile_module
from elastogen.build.module.compile import X86_FLAGS, find_toolchain
from elastogen.build.options import BuildOptions, CompileOptions
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot

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
    function = sample_model().functions[1]
    x0, x1 = np.ones((4, 3)), np.ones((4, 4))
    x0[1], x1[1] = np.nan, np.nan
    z0, z1 = np.full((4, 5), np.nan), np.full((4, 6), np.nan)
    params = np.array(list(LIVE.values()))
    p = [module.ffi.from_buffer("eg_real_t *", array, require_writable=True) for array in (params, x0, x1, z0, z1)]
    assert module.lib.eg_batch_may_fail(p[0], 0, 0, p[1], 3, p[2], 4, p[3], p[4]) == 0
    assert np.isnan(z0).all()
    single = [call(module, function, {"x0": x0[k], "x1": x1[k]}, LIVE)[0] for k in range(4)]
    assert [status != 0 for status in single] == [False, True, False, False]
    assert module.lib.eg_batch_may_fail(p[0], 0, 4, p[1], 3, p[2], 4, p[3], p[4]) == 1
    assert z0.any(axis=1).tolist() == [True, False, True, True]
    x0[:], x1[:] = np.nan, np.nan
    assert module.lib.eg_batch_may_fail(p[0], 0, 4, p[1], 3, p[2], 4, p[3], p[4]) == 4
    assert not z0.any()


def test_module_without_parameters(tmp_path: Path) -> None:
    model = model_of(random_program(2, Recipe(20, live=())), robot=sample_robot(live={}))
    extension = compiled(model, tmp_path)
    assert extension.lib.eg_nparams() == 0
    arguments = {"x0": np.ones(3), "x1": np.ones(4)}
    _, results = call(extension, model.functions[0], arguments, {})
    np.testing.assert_allclose(results["z0"], model.functions[0].program.evaluate(arguments)["z0"], atol=1e-14)


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
def test_compiler_failures_are_reported_and_leave_nothing(
    action: str, words: str, tmp_path: Path, derivations: list[Robot], fake_compiler: Any
) -> None:
    with pytest.raises(BuildError, match=words):
        build(tmp_path / "cache", compiler=fake_compiler(action), timeout=0.5)
    assert not entries(tmp_path / "cache")
    assert not leftovers(tmp_path / "cache")


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_compilers_end_with_a_build_that_is_killed(tmp_path: Path, fake_compiler: Any) -> None:
    action = f"sleep 300 & echo $! $$ > {tmp_path}/started.part; mv {tmp_path}/started.part {tmp_path}/started; wait"
    code = (
        "import sys; from pathlib import Path; from elastogen.build.module.compilers import run_compiler\n"
        "run_compiler([sys.argv[1], 'x.c'], Path(sys.argv[2]), None, 'sample')"
    )
    build = subprocess.Popen([sys.executable, "-c", code, fake_compiler(action), str(tmp_path)])
    started = tmp_path / "started"
    for _ in range(600):
        if started.exists():
            break
        time.sleep(0.05)
    processes = [int(number) for number in started.read_text().split()]
    assert all(map(_lives, processes))
    build.kill()
    build.wait()
    for _ in range(600):
        if not any(map(_lives, processes)):
            break
        time.sleep(0.05)
    assert not any(map(_lives, processes))


def test_a_compiler_that_hangs_is_stopped_by_default() -> None:
    assert BuildOptions.checked().compile.timeout == 1800.0
    assert BuildOptions.checked(timeout=None).compile.timeout is None


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
    monkeypatch.setattr(compile_module, "has_zig", lambda: False)
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


@pytest.mark.parametrize(
    ("version", "machine", "expected"),
    [
        ("cc (Debian 12.2.0-14+deb12u1) 12.2.0", "x86_64", ("-march=native", *X86_FLAGS)),
        ("x86_64-linux-gnu-gcc-13 (Ubuntu 13.2.0-4ubuntu3) 13.2.0", "x86_64", ("-march=native", *X86_FLAGS)),
        ("Debian clang version 14.0.6", "x86_64", ("-march=native",)),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2023.2.0 (2023.2.0.20230622)", "x86_64", ("-march=native",)),
        ("gcc (GCC) 13.2.1 20230801", "aarch64", ("-mcpu=native",)),
    ],
)
def test_only_gcc_for_x86_takes_its_flags(
    version: str, machine: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_module, "_version", lambda *_: version)
    monkeypatch.setattr(compile_module.platform, "machine", lambda: machine)
    flags = find_toolchain(CompileOptions()).flags
    assert flags[-len(expected) :] == expected


def test_verbose_prints_the_command(tmp_path: Path, derivations: list[Robot], capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, verbose=True)
    captured = capsys.readouterr()
    assert "-std=c99" in captured.err
    assert not captured.out


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the fused instructions of x86 are looked for")
@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("objdump")), reason="no gcc or no objdump")
def test_gcc_fuses_nothing_with_the_documented_flags(tmp_path: Path) -> None:
    """gcc 12 made a vfmsubadd of this robot's Coriolis matrix with contraction off: one bit of C[25] was another."""
    files = elastogen.generate("rpb_table3", tmp_path, outputs=["coriolis_matrix"])
    flags = ["-O2", "-std=c99", "-ffp-contract=off", "-march=x86-64-v3"]
    subprocess.run(["gcc", *flags, "-c", str(files.source), "-o", "model.o"], cwd=tmp_path, check=True)
    text = subprocess.run(["objdump", "-d", "model.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "vmulpd" in text or "vmulsd" in text
    assert not re.findall(r"vfn?m(?:add|sub)\w*", text)
