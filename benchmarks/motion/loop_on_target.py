"""Instructions of a cycle of the loop and of its parts on a Cortex-M4F: ``python -m benchmarks.motion.loop_on_target``.

Counted by QEMU, which advances its clock by 256 ns with every instruction; single precision, -O2, the longest of 20 cycles.
Needs arm-none-eabi-gcc and qemu-system-arm (``make emulator``).
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import elastogen
from elastogen.build.plain_c.emission import source

ROBOTS: dict[str, tuple[str, ...]] = {"puma560": (), "flexible_two_link": ("encoders",)}  # and their sensors
PARTS = (
    "the loop alone", "PD with gravity compensation", "gravity compensation with friction", "computed torque",
    "state feedback with feedforward", "scheduled feedback, a grid of 5 x 5", "feedforward",
    "the loop alone while it stops", "the observer, encoders only",
)  # fmt: skip
TARGET = ["-std=c99", "-O2", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
TICK, INSTRUCTION = 40, 256  # [ns] of the machine's timer, and by -icount shift=8
EMULATOR = [
    "qemu-system-arm", "-machine", "mps2-an386", "-icount", "shift=8,sleep=off", "-nographic", "-monitor", "none",
    "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel", "count.elf",
]  # fmt: skip


def main() -> None:
    """Count and print Markdown."""
    columns = {name: counted(name, sensors) for name, sensors in ROBOTS.items()}
    print("## Instructions of a cycle on a Cortex-M4F\n")
    print(f"| part of a cycle | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for k, part in enumerate(PARTS):
        cells = [
            str(column[k] - (column[0] if k not in (0, 7) else 0)) if k < len(column) else "" for column in columns.values()
        ]
        print(f"| {part} | {' | '.join(cells)} |")
    print("\nLines but those of the loop alone: beside the loop alone.")


def counted(name: str, sensors: tuple[str, ...]) -> list[int]:
    """Instructions of the longest cycle with each part."""
    robot: Any = elastogen.load(name)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        given = robot.with_sensors(*sensors) if sensors else robot
        elastogen.generate_loop(given, folder, precision="float")
        model = elastogen.build_model(robot)
        defines = [f"-DROBOT={name}", f'-DROBOT_HEADER="{name}_loop.h"', f"-DNV={model.nv}"]
        defines += [f"-DLOOP_MOVE={name.upper()}_LOOP_MOVE", f"-DLOOP_TRIPPED={name.upper()}_LOOP_STATUS_TRIPPED"]
        defines += [f"-DELASTIC={len(model.elastic)}"] if model.elastic else []
        sources = [f"{name}.c", f"{name}_loop.c"]
        if sensors:
            defines += [f"-DREADINGS={len(model.driven)}"]
            sources += [f"{name}_ekf.c"]
        for part in ("board.ld", "board.h"):
            (folder / part).write_text(source(f"size/{part}"), encoding="utf-8")
        program = str(Path(__file__).with_suffix(".c"))
        own = ["-nostartfiles", "-Wl,-T,board.ld", "-Wl,--gc-sections", "-I.", program, *sources, "-lm", "-o", "count.elf"]
        subprocess.run(["arm-none-eabi-gcc", *TARGET, *defines, *own], cwd=folder, check=True)
        done = subprocess.run(EMULATOR, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    ticks = [int(word, 16) for word in re.findall(r"^([0-9a-f]{8})\r?$", done.stdout + done.stderr, re.M)]
    if sensors and ticks.pop() != 0:
        raise SystemExit(f"{name}: the observer stopped the loop")
    return [round(each * TICK / INSTRUCTION) for each in ticks]


if __name__ == "__main__":
    main()
