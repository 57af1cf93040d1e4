"""Counts the instructions of one call on an emulated Cortex-M4F.

QEMU advances its clock by 1024 ns with every instruction, whatever the machine that it runs on does: the ticks of the timer
around a call, less those around a call that does nothing, are its instructions, exactly. Loops and branches take the course
that the state asks for, so that several states are tried and the longest course counts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elastogen.build.files.contexts import Prototype
from elastogen.build.files.templating import fill
from elastogen.build.module.compile import Toolchain
from elastogen.build.plain_c.emission import source

EMULATOR = "qemu-system-arm"
MACHINES = {"cortex-m4f": "mps2-an386"}  # by the names of --target
STATES = 3
TICK, INSTRUCTION = 40, 1024  # [ns] of the machine's timer, and by -icount shift=10
SECONDS = 120


@dataclass(frozen=True)
class CountedCall:
    """A function and the arguments to call it with."""

    number: int
    name: str
    returns: str
    parameters: str
    arrays: tuple[str, ...]  # sizes of the arguments behind the parameters of the robot


@dataclass(frozen=True)
class CountingContext:
    """For ``size/count.c.j2``."""

    name: str
    calls: tuple[CountedCall, ...]
    states: int


def executed(
    robot: str, prototypes: Sequence[Prototype], toolchain: Toolchain, target: str | None, folder: Path
) -> dict[str, int]:
    """Return the instructions of one call by function name; none if the target cannot be emulated.

    ``folder`` has the model's sources and ``model.o``.
    """
    if target not in MACHINES or shutil.which(EMULATOR) is None:
        return {}
    calls = tuple(_call(number, prototype) for number, prototype in enumerate(prototypes))
    context = CountingContext(robot, calls, STATES)
    (folder / "count.c").write_text(fill("size/count.c.j2", context), encoding="utf-8")
    (folder / "board.ld").write_text(source("size/board.ld"), encoding="utf-8")
    own = ["-w", "-nostartfiles", "-Wl,-T,board.ld", "-Wl,--gc-sections", "count.c", "model.o", "-lm", "-o", "count.elf"]
    if _run([*toolchain.command, *toolchain.flags, *own], folder) is None:  # no C library for the target
        return {}
    printed = _run(
        [EMULATOR, "-machine", MACHINES[target], "-icount", "shift=10,sleep=off", "-nographic", "-monitor", "none",
         "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel", "count.elf"], folder,
    )  # fmt: skip
    ticks = [int(word, 16) for word in re.findall(r"^([0-9a-f]{8})\r?$", printed or "", re.M)]
    if len(ticks) != 2 * STATES * len(calls):
        return {}
    rows = [ticks[start : start + 2 * STATES] for start in range(0, len(ticks), 2 * STATES)]
    most = [max(map(_instructions, row[::2], row[1::2])) for row in rows]
    return {call.name: count for call, count in zip(calls, most, strict=True)}


def not_executed(target: str | None) -> str:
    """Return the reason why calls were not counted, if ``executed`` found nothing."""
    if target not in MACHINES:
        return f"counted for {' and '.join(MACHINES)} only, by {EMULATOR}"
    if shutil.which(EMULATOR) is None:
        return f"not counted: {EMULATOR} was not found. Fix: apt-get install {EMULATOR}"
    return f"not counted: {EMULATOR} did not run the model, or the compiler has no C library for {target}"


def _instructions(call: int, idle: int) -> int:
    """Convert ticks to instructions; a call that does nothing has one instruction, its return."""
    return round((call - idle) * TICK / INSTRUCTION) + 1


def _call(number: int, prototype: Prototype) -> CountedCall:
    sizes = [found[1] for text in prototype.parameters[1:] if (found := re.search(r"\[(.+)\]$", text))]
    return CountedCall(number, prototype.name, prototype.returns, ", ".join(prototype.parameters), tuple(sizes))


def _run(command: list[str], folder: Path) -> str | None:
    """Return the output of a command; None if it fails or does not end."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None
