"""Instructions of a cycle of the loop and of its parts on a Cortex-M4F: ``python -m benchmarks.motion.loop_on_target``.

Counted by QEMU, which advances its clock by 256 ns with every instruction; single precision, -O2, the longest of 20 cycles.
Needs arm-none-eabi-gcc and qemu-system-arm (``make emulator``).
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import elastogen
from elastogen import laws
from elastogen.build.export.size import model_size
from elastogen.build.plain_c.emission import source

ROBOTS: dict[str, tuple[str, ...]] = {"puma560": (), "flexible_two_link": ("encoders",)}  # and their sensors
PARTS = {  # in the order of loop_on_target.c, and whether the loop alone is subtracted
    "the loop alone": False,
    "PD with gravity compensation": True,
    "gravity compensation with friction": True,
    "computed torque": True,
    "state feedback with feedforward": True,
    "scheduled feedback, a grid of 5 x 5": True,
    "feedforward": True,
    "the loop alone while it stops": False,
    "momentum observer": False,
    "collision detector, one uncertain parameter": False,
    "exact discretization for a period": False,
    "the observer, encoders only": True,
}
LAWS: dict[str, Callable[[Any], Any]] = {
    "cartesian_impedance": lambda robot: laws.cartesian_impedance(robot, 400.0, 40.0),
    "cartesian_impedance, with a posture": lambda robot: laws.cartesian_impedance(
        robot, 400.0, 40.0, posture_stiffness=10.0, posture_damping=2.0
    ),
    "admittance": lambda robot: laws.admittance(robot, 2.0, 40.0, 400.0, 1000.0),
    "pi_law": lambda robot: laws.pi_law(robot, 100.0, 50.0, 10.0),
    "notch": lambda robot: laws.notch(robot, 40.0, 1000.0),
    "disturbance_observer": lambda robot: laws.disturbance_observer(robot, 50.0, 1000.0),
    "lqi": lambda robot: laws.lqi(robot, np.full((drives(robot), 2 * len(robot.velocities)), 0.1), np.eye(drives(robot))),
}
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
    for k, (part, is_beside) in enumerate(PARTS.items()):
        cells = [str(column[k] - is_beside * column[0]) if k < len(column) else "" for column in columns.values()]
        print(f"| {part}{', beside the loop alone' * is_beside} | {' | '.join(cells)} |")
    for part, law in LAWS.items():
        print(f"| {part} | {' | '.join(called(law, name) for name in ROBOTS)} |")


def drives(robot: Any) -> int:
    """Number of driven velocities."""
    return sum(velocity.driven for velocity in robot.velocities)


def with_law(law: Callable[[Any], Any], name: str) -> Any:
    """Return a robot with a law as its last function, or None where the law is not for such robots."""
    try:
        return law(elastogen.load(name))
    except elastogen.ModelError:
        return None


def called(law: Callable[[Any], Any], name: str) -> str:
    """Instructions of one call of a law that is a function of the robot."""
    robot = with_law(law, name)
    if robot is None:
        return ""
    own = robot.functions[-1].name
    sizes = model_size(robot, outputs=[own], precision="float", target="cortex-m4f")
    return str(next(each.executed for each in sizes.functions if each.name == own))


def counted(name: str, sensors: tuple[str, ...]) -> list[int]:
    """Instructions of the longest cycle with each part."""
    robot: Any = elastogen.load(name)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        given = robot.with_sensors(*sensors) if sensors else robot
        elastogen.generate_loop(given, folder, precision="float", identification="external_forces")
        model = elastogen.build_model(robot)
        defines = [f"-DROBOT={name}", f'-DROBOT_HEADER="{name}_loop.h"', f"-DNV={model.nv}"]
        defines += [f'-DDETECTOR_HEADER="{name}_collision_detector.h"']
        defines += [f"-DLOOP_MOVE={name.upper()}_LOOP_MOVE", f"-DLOOP_TRIPPED={name.upper()}_LOOP_STATUS_TRIPPED"]
        defines += [f"-DELASTIC={len(model.elastic)}"] if model.elastic else []
        sources = [f"{name}{part}.c" for part in ("", "_loop", "_momentum_observer", "_collision_detector")]
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
    if not all(ticks):
        raise SystemExit(f"{name}: a part beside the loop failed")
    return [round(each * TICK / INSTRUCTION) for each in ticks]


if __name__ == "__main__":
    main()
