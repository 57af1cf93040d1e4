"""Functions of higher order beside inverse dynamics, 7-joint arms: ``python -m benchmarks.functions.higher_order``.

Targets: dQ/dt within 3 times and d2Q/dt2 within 6 times the time of inverse dynamics, the acceleration energy E^(1) within
twice the time of kinetic energy and inverse dynamics together.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.race import machine
from benchmarks.race.chains import chain
from benchmarks.race.kernels import HERE, STATES, Kernel, load_kernel, shared_library
from benchmarks.race.ours import toolchain
from benchmarks.race.robots import MissingPeerError, load_subject
from benchmarks.race.tables import nanoseconds, table, verdict
from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.program.arguments import MOTION
from elastogen.generator.robot.robot import Robot

RESULTS = HERE.parent / "results"
NAMES = (
    "inverse_dynamics", "kinetic_energy", "inertia_forces", "inertia_force_rate_1", "inertia_force_rate_2",
    "inertia_force_rate_3", "inverse_dynamics_rate_1", "inverse_dynamics_rate_2",
    *(f"acceleration_energy_{p}" for p in range(1, 5)),
)  # fmt: skip
TARGETS = {  # function: (most times, of the sum of these)
    "inertia_force_rate_1": (3.0, ("inverse_dynamics",)),
    "inverse_dynamics_rate_1": (3.0, ("inverse_dynamics",)),
    "inertia_force_rate_2": (6.0, ("inverse_dynamics",)),
    "inverse_dynamics_rate_2": (6.0, ("inverse_dynamics",)),
    "acceleration_energy_1": (2.0, ("inverse_dynamics", "kinetic_energy")),
}


@dataclass(frozen=True)
class Measured:
    """One function of one robot."""

    function: Function
    kernel: Kernel


def kernels(robot: Robot, work: Path) -> dict[str, Measured]:
    """The emitted functions with the flags of a build."""
    model = derive_model(robot, NAMES)
    text = render_model(model, EmitOptions(NAMES, "double", "fast"))
    size = len(robot.coordinate_names)
    adapters = f'#include <stddef.h>\n#include "{text.name}.h"\n'
    for function in model.functions:
        width = sum(argument.size for argument, _ in function.program.outputs)
        inputs = "".join(f", in[{MOTION.index(a.name)}] + k * {size}" for a in function.program.inputs)
        adapters += (
            f"void kernel_{function.name}(void *context, size_t n, const double *const *in, double *const *out, "
            "size_t keep)\n{\n    (void)context;\n    for (size_t k = 0; k < n; ++k) {\n"
            f"        {text.name}_{function.name}(&{text.name}_params_nominal{inputs}, out[0] + keep * k * {width});\n"
            "    }\n}\n"
        )
    flags = [flag for flag in (*toolchain().command, *toolchain().flags) if flag != "-fvisibility=hidden"]
    library = shared_library(work, f"higher-{text.name}", {**text.c_files, "adapter.c": adapters}, flags)
    return {f.name: Measured(f, load_kernel(f.name, library, f.name)) for f in model.functions}


def measure(robot: Robot, work: Path, rounds: int) -> dict[str, Measured]:
    """Time all functions in turn, a block of about 0.2 ms each."""
    size = len(robot.coordinate_names)
    motion = np.random.default_rng(4).uniform(-1.0, 1.0, (len(MOTION), STATES, size))
    motion[0] *= np.pi
    output = np.zeros(STATES * size)
    source = {"clock.c": (HERE / "clock.c").read_text()}
    clock = ctypes.CDLL(str(shared_library(work, "clock", source, ["cc", "-O2", "-std=c99"]))).seconds_per_call
    clock.restype = ctypes.c_double
    inputs = (ctypes.c_void_p * len(MOTION))(*(rows.ctypes.data for rows in motion))
    outputs = (ctypes.c_void_p * 1)(output.ctypes.data)
    found = kernels(robot, work)

    def seconds(kernel: Kernel, repeats: int) -> float:
        address, count = ctypes.c_void_p(kernel.address), ctypes.c_size_t(STATES)
        return float(clock(address, None, count, inputs, outputs, ctypes.c_size_t(repeats)))

    repeats = {
        name: max(1, round(2e-4 / (STATES * min(seconds(one.kernel, 2) for _ in range(5))))) for name, one in found.items()
    }
    for _ in range(rounds):
        for name, one in found.items():
            one.kernel.samples.append(seconds(one.kernel, repeats[name]))
    return found


def report(robot: Robot, title: str, work: Path, rounds: int) -> list[str]:
    """The table of one robot."""
    found = measure(robot, work, rounds)
    rows = []
    for name, one in found.items():
        count = one.function.program.count
        most, base = TARGETS.get(name, (None, ("inverse_dynamics",)))
        sums = [sum(sample) for sample in zip(*(found[other].kernel.samples for other in base), strict=True)]
        ratio = float(np.median([a / b for a, b in zip(one.kernel.samples, sums, strict=True)]))
        operations = f"{count.mul} / {count.add}"
        reached = "-" if most is None else verdict(ratio <= most)
        rows.append(
            [name, operations, nanoseconds(one.kernel.times), f"{ratio:.2f}", "-" if most is None else f"{most:g}", reached]
        )
    header = [title, "mul / add", "ns, shortest (median)", "times the reference", "target", "reached"]
    return [*table(header, rows), ""]


def robots(work: Path) -> dict[str, Robot]:
    """A generic chain, and the Panda where its description is installed."""
    found = {"generic 7R chain": chain(7)}
    with contextlib.suppress(MissingPeerError):
        found["Panda"] = load_subject("panda", work).robot
    return found


def main() -> None:
    """Measure, print the report and write it into ``benchmarks/results``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.functions.higher_order", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="measurements of each time")
    arguments = parser.parse_args()
    work = RESULTS / "work"
    work.mkdir(parents=True, exist_ok=True)
    subjects = robots(work)
    lines = ["# Dynamics of higher order", "", *machine.describe(machine.pin_to_one_core()), ""]
    lines += ["Reference: inverse dynamics; for acceleration_energy_1 inverse dynamics plus kinetic energy.", ""]
    for title, robot in subjects.items():
        lines += report(robot, title, work, arguments.rounds)
    text = "\n".join(lines)
    (RESULTS / "higher_order.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
