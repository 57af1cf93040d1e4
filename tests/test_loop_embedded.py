"""The loop without an operating system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from loop_setup import BENDER, COMPILERS, WARNINGS, run_checks

import elastogen


def test_the_step_runs_in_a_timer_signal(checks) -> None:
    _, numbers = run_checks(checks, "checks", "interrupt")
    assert numbers == {"taken": 50, "status": 0}


@pytest.mark.parametrize("robot", ["two_link", BENDER], ids=["rigid", "flexible"])
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_accept_the_loop_without_an_operating_system(compiler, precision, robot, tmp_path: Path) -> None:
    files = elastogen.generate_loop(robot, tmp_path, precision=precision)
    name = files.source.stem
    for extra, source in ((["-ffreestanding", "-DNO_POSIX"], f"{name}_loop.c"), ([], f"{name}_loop_thread.c")):
        command = [compiler, *WARNINGS, *extra, "-O2", "-c", source, "-o", f"{source}.o"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    if shutil.which("g++"):
        (tmp_path / "user.cpp").write_text(f'#include "{name}_loop_thread.h"\n')
        command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "user.cpp"]
        assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    lines = (tmp_path / f"{name}_loop.c").read_text().splitlines()
    included = {line.split()[1] for line in lines if line.startswith("#include")}
    assert included == {f'"{name}_loop.h"', "<float.h>"}
    listing = subprocess.run(["nm", f"{name}_loop.c.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in listing.stdout.splitlines()]
    assert all(symbol.startswith(name) or symbol in ("memcpy", "memset") for kind, symbol in symbols if kind in "UT")
    assert not [symbol for kind, symbol in symbols if kind in "BbDdC"], "data that changes"


@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="no compiler for Cortex-M")
def test_a_microcontroller_can_have_the_loop(tmp_path: Path) -> None:
    elastogen.generate_loop("two_link", tmp_path, precision="float")
    flags = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-O2", "-ffreestanding", "-c"]
    command = ["arm-none-eabi-gcc", *WARNINGS, *flags, "two_link_loop.c", "-o", "loop.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listing = subprocess.run(["arm-none-eabi-nm", "-u", "loop.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "__atomic" not in listing.stdout
