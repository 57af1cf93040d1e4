"""The loop without an operating system."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from loop_setup import BENDER, run_checks

import elastogen
from elastogen.runtime.loop.controllers import stiffness_by_columns


def test_the_step_runs_in_a_timer_signal(checks) -> None:
    _, numbers = run_checks(checks, "checks", "interrupt")
    assert numbers == {"taken": 50, "status": 0}


@pytest.mark.parametrize("robot", ["two_link", BENDER], ids=["rigid", "flexible"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_accept_the_loop_without_an_operating_system(precision, robot, tmp_path: Path) -> None:
    files = elastogen.generate_loop(robot, tmp_path, precision=precision)
    name = files.source.stem
    for compiler in COMPILERS:
        _accepts(compiler, name, tmp_path)
    if shutil.which("g++"):
        (tmp_path / "user.cpp").write_text(f'#include "{name}_loop_thread.h"\n')
        command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "user.cpp"]
        assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    lines = (tmp_path / f"{name}_loop.c").read_text().splitlines()
    included = {line.split()[1] for line in lines if line.startswith("#include")}
    assert included == {f'"{name}_loop.h"', "<float.h>"}


def _accepts(compiler: str, name: str, folder: Path) -> None:
    """Without a warning; the loop then needs no symbol of others, and has no data that change."""
    for extra, source in ((["-ffreestanding", "-DNO_POSIX"], f"{name}_loop.c"), ([], f"{name}_loop_thread.c")):
        command = [compiler, *WARNINGS, *extra, "-O2", "-c", source, "-o", f"{source}.o"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    listing = subprocess.run(["nm", f"{name}_loop.c.o"], cwd=folder, capture_output=True, text=True, check=True)
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


# On an emulated microcontroller, in its timer interrupt.

CORTEX_M = Path(__file__).parents[2] / "c" / "cortex_m"
EXAMPLE = Path(__file__).parents[3] / "examples" / "timer_interrupt"
ARM = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
MISSING = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm") if not shutil.which(tool)]
EMULATED = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{' and '.join(MISSING)} not found: apt-get install --no-install-recommends gcc-arm-none-eabi "
    "libnewlib-arm-none-eabi qemu-system-arm",
)
CYCLES = 1300
FIELDS = ("cycle", "status", "reference", "saturated", "lost", "torn")


def documented_program() -> str:
    """The program for a timer interrupt in the documentation."""
    text = (Path(__file__).parents[3] / "docs" / "running" / "real-time-loop.md").read_text(encoding="utf-8")
    return next(block for block in re.findall(r"```c\n(.*?)```", text, flags=re.S) if "SysTick_Handler" in block)


def write_program(folder: Path, robot, main: str, substeps: int, initial, **settings: str) -> str:
    """All sources of a program; returns the robot's name."""
    files = elastogen.generate_loop(robot, folder, precision="float")
    for path in (*CORTEX_M.iterdir(), *(EXAMPLE / name for name in ("startup.c", "target.c", "link.ld"))):
        shutil.copy(path, folder)
    (folder / "main.c").write_text(main)
    settings = {
        "COORDINATES": str(len(initial)), "SUBSTEPS": f"{substeps}u", "CYCLES": f"{CYCLES}u",
        "INITIAL": braces(initial), **settings,
    }  # fmt: skip
    (folder / "settings.h").write_text("".join(f"#define {name} {value}\n" for name, value in settings.items()))
    return files.source.stem


def braces(values) -> str:
    """Numbers as C initializer, exactly."""
    if np.ndim(values) > 0:
        return "{ " + ", ".join(braces(value) for value in values) + " }"
    return f"{float(np.float32(values)).hex()}f"


def run_program(folder: Path, name: str, compiler: str, own: list[str], flags: list[str], command: list[str]) -> list[str]:
    """Compile a program and return what it prints, one line for each cycle."""
    defines = [f"-DROBOT={name}", f'-DROBOT_HEADER="{name}_loop.h"']
    sources = ["main.c", "board.c", *own, f"{name}.c", f"{name}_loop.c"]
    call = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", *defines, *flags, *sources, "-lm", "-o", "program"]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    return [line for line in (done.stdout + done.stderr).splitlines() if re.fullmatch(r"([0-9a-f]{8} )+", line)]


def on_the_host(folder: Path, name: str) -> list[str]:
    return run_program(folder, name, "gcc", ["host.c"], ["-O2", "-ffp-contract=off"], ["./program"])


def on_the_target(folder: Path, name: str, level: str) -> list[str]:
    """The emulator counts instructions instead of time, so that a run does not depend on how busy the machine is."""
    flags = [*ARM, level, "-nostartfiles", "-Wl,-T,link.ld", "-Wl,--gc-sections"]
    command = [
        "qemu-system-arm", "-machine", "mps2-an386", "-icount", "shift=5,sleep=off", "-nographic", "-monitor", "none",
        "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel", "program",
    ]  # fmt: skip
    return run_program(folder, name, "arm-none-eabi-gcc", ["startup.c", "target.c"], flags, command)


def decoded(lines: list[str], n: int) -> dict[str, np.ndarray]:
    """Counts, and q, qd, q_ref, qd_ref, F, of the cycles."""
    words = np.array([[int(word, 16) for word in line.split()] for line in lines], dtype=np.uint32)
    values = np.ascontiguousarray(words[:, len(FIELDS) :]).view(np.float32).reshape(len(lines), 5, n)
    parts = {name: values[:, k] for k, name in enumerate(("q", "qd", "q_ref", "qd_ref", "F"))}
    return {**{name: words[:, k] for k, name in enumerate(FIELDS)}, **parts}


@pytest.fixture(scope="module")
def rigid_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rigid")
    name = write_program(folder, "two_link", documented_program(), 1, [0.1, 0.2])
    return folder, name, on_the_host(folder, name)


@pytest.fixture(scope="module")
def flexible_program(tmp_path_factory, bender):
    folder = tmp_path_factory.mktemp("flexible")
    compliance, q = np.linalg.inv(stiffness_by_columns(bender, np.zeros(3))[1:, 1:]), np.zeros(3)
    for _ in range(20):  # at rest under its weight
        q[1:] -= compliance @ bender.inverse_dynamics(q, np.zeros(3), np.zeros(3))[1:]
    main = (CORTEX_M / "flexible_main.c").read_text()
    name = write_program(folder, BENDER, main, 2, q, COMPLIANCE=braces(compliance))
    return folder, name, on_the_host(folder, name)


@EMULATED
def test_the_example_runs_by_the_commands_that_it_names(tmp_path: Path) -> None:
    """The arm is where it was sent, and the program is that of the documentation."""
    text = (EXAMPLE / "main.c").read_text()
    assert text.split("*/\n", 1)[1] == documented_program()
    for path in EXAMPLE.iterdir():
        shutil.copy(path, tmp_path)
    elastogen.generate_loop("two_link", tmp_path / "generated", precision="float")
    commands = re.findall(r"^ \*     ((?:arm-none|qemu).*?[^\\])\n", text, flags=re.M | re.S)
    assert len(commands) == 2
    for command in commands:
        line = re.sub(r"\\\n \* *", "", command)
        done = subprocess.run(line, cwd=tmp_path, shell=True, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    rows = [[int(word) for word in line.split()] for line in (done.stdout + done.stderr).splitlines()[1:]]
    assert [row[0] for row in rows] == [0, 100, 200, 300, 400, 500]
    assert abs(rows[-1][1] - 500) <= 2
    assert abs(rows[-1][2] + 300) <= 2
    assert not any(row[-1] for row in rows)


def test_the_documented_program_moves_the_arm(rigid_program) -> None:
    records = decoded(rigid_program[2], 2)
    assert records["cycle"].tolist() == list(range(CYCLES))
    assert not any(records[field].any() for field in ("status", "lost", "torn"))
    np.testing.assert_allclose(records["q_ref"][-1], [0.5, -0.3])
    np.testing.assert_allclose(records["q"][-1], [0.5, -0.3], atol=2e-3)


def test_the_flexible_program_moves_the_arm_there_and_back(flexible_program) -> None:
    records = decoded(flexible_program[2], 3)
    assert not any(records[field].any() for field in ("status", "lost", "torn"))
    assert records["reference"].tolist() == [1] * 651 + [2] * (CYCLES - 651)
    assert records["q_ref"][650, 0] == np.float32(0.4)
    assert np.abs(records["q"] - records["q_ref"])[:, 0].max() < 0.01
    assert np.ptp(records["q"][:, 1]) > 0.01  # it bends


@EMULATED
@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize("program", ["rigid_program", "flexible_program"])
def test_a_timer_interrupt_of_a_microcontroller_computes_the_same_bits(request, program: str, level: str) -> None:
    folder, name, expected = request.getfixturevalue(program)
    printed = on_the_target(folder, name, level)
    assert len(printed) == len(expected) == CYCLES
    assert printed == expected
