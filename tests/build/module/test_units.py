"""Functions that are compiled in units while others are derived: the same bits, and nothing survives a failure."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_samples import build, entries, leftovers, sample_model
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.build import pipeline
from elastogen.build.c import body
from elastogen.build.module import units
from elastogen.build.module.compile import command_for, find_toolchain
from elastogen.build.module.compilers import Compilers
from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.robot.robot import Robot

OPTIMIZED = "-O1"  # without it, one call of the compiler does


def test_units_compute_the_bits_of_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions in pieces, whole ones that share a unit, in single precision, in the order that is chosen there."""
    monkeypatch.setattr(body, "LONGEST_WHOLE_BODY", 15)
    monkeypatch.setattr(units, "LINES", 20)
    names = ("inverse_dynamics", "forward_dynamics", "gravity_vector", "friction_forces")
    robot = quietly_loaded("scara")
    started: list[str] = []
    start = Compilers.start
    monkeypatch.setattr(
        Compilers, "start", lambda self, command, folder: started.append(command[-1]) or start(self, command, folder)
    )
    apart = elastogen.build_model(robot, outputs=names, precision="float", cache_dir=tmp_path, cflags=OPTIMIZED)
    assert len([unit for unit in started if unit.startswith("eg_unit")]) > 4
    assert "scara_simulate.c" in started
    whole = elastogen.build_model(robot, outputs=names, precision="float", cache_dir=tmp_path, cflags="-O0")
    rng = np.random.default_rng(5)
    q, qd, x = rng.normal(size=(3, 20, apart.nq))
    for name, arguments in zip(names, ((q, qd, x), (q, qd, x), (q,), (q, qd)), strict=True):
        np.testing.assert_array_equal(getattr(apart, name)(*arguments), getattr(whole, name)(*arguments), err_msg=name)
    assert {path.name for path in next(iter(entries(tmp_path))).iterdir()} >= {"scara.c", "scara.h"}
    assert not leftovers(tmp_path)


@pytest.fixture
def compiler(tmp_path: Path) -> Any:
    """A compiler that does something of its own for the units of functions, and makes empty files of all others."""

    def make(action: str, other: str = 'for last; do :; done; touch "${last%.c}.o"') -> str:
        script = tmp_path / "fake-cc"
        lines = ["#!/bin/sh", 'if [ "$1" = --version ]; then echo fake 1.0; exit 0; fi']
        lines += [f'case "$*" in *eg_unit*.c) {action};; *) {other};; esac']
        script.write_text("\n".join(lines) + "\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return make


def test_the_unit_that_fails_is_named_and_nothing_is_left(tmp_path: Path, derivations: list[Robot], compiler: Any) -> None:
    with pytest.raises(BuildError, match=r"(?s)compiling sample failed: the compiler returned 3.*-c eg_unit1\.c.*it is cross"):
        build(tmp_path / "cache", compiler=compiler("echo it is cross >&2; exit 3"), cflags=OPTIMIZED)
    assert not entries(tmp_path / "cache")
    assert not leftovers(tmp_path / "cache")


def test_compilers_that_still_write_are_ended_first(tmp_path: Path, derivations: list[Robot], compiler: Any) -> None:
    """A unit fails while another compiler keeps making files beside the module."""
    fails = 'while [ -z "$(ls ../scratch-*/made1 2>&-)" ]; do sleep 0.01; done; exit 3'
    writes = 'i=0; while :; do i=$((i+1)); echo > "made$i"; done'
    with pytest.raises(BuildError, match="the compiler returned 3"):
        build(tmp_path / "cache", compiler=compiler(fails, writes), cflags=OPTIMIZED, timeout=60)
    assert not leftovers(tmp_path / "cache")


def test_an_interrupt_while_functions_are_derived_ends_the_compilers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: Any
) -> None:
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    command = compiler(f"echo $$ > {pids}; exec sleep 600")
    monkeypatch.setattr(units, "LINES", 0)  # every function at once
    pid = 0

    def derive(robot: Robot, outputs: object, frames: object, derived: Any, **options: Any) -> None:
        nonlocal pid
        model = sample_model()
        derived(model, model.functions[0])
        pid = int(pids.read_text())  # waits for the compiler
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "derive_model", derive)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "cache", compiler=command, cflags=OPTIMIZED)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not entries(tmp_path / "cache")
    assert not leftovers(tmp_path / "cache")


def test_flags_of_the_user_win_over_those_of_a_unit() -> None:
    options = CompileOptions(cflags=("-O0", "-O3"))
    command = command_for(find_toolchain(options), options, "-O1")
    assert [flag for flag in command if flag.startswith("-O")] == ["-O2", "-O1", "-O0", "-O3"]
    assert options.optimizes
    assert not CompileOptions(cflags=("-O3", "-O0")).optimizes
