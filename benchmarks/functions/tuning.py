"""What the choices of printing and compiling are worth: each lever alone, against the default.

A lever is a list of compiler flags, or values of the constants that the printer of C works with.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from benchmarks.race.kernels import FUNCTIONS, Race
from benchmarks.race.orders import few_live_values, without_branches
from benchmarks.race.ours import derived, our_kernels, rendered, toolchain
from benchmarks.race.robots import TITLES, MissingPeerError, load_subject
from benchmarks.race.tables import table
from elastogen.build.c import body as c_body
from elastogen.build.c import expression as c_expression
from elastogen.build.c import split as c_split
from elastogen.build.module.compile import GCC_FLAGS, X86_FLAGS
from elastogen.generator.functions.derivation import ModelDerivation


@dataclass(frozen=True)
class Lever:
    """One thing that differs from a default build."""

    label: str
    flags: tuple[str, ...] = ()  # added last
    without: tuple[str, ...] = ()  # flags left out
    sincos: str = "fast"
    constants: dict[str, int] = field(default_factory=dict)
    reordered: bool = False  # see benchmarks.race.orders
    straight: bool = False  # isomorphic branches one after the other
    compiler: str = ""


LEVERS = (
    Lever("default"),
    Lever("sincos of libm", sincos="libm"),
    Lever("-O1", ("-O1",)),
    Lever("-O3", ("-O3",)),
    Lever("fused multiply-add", ("-ffp-contract=fast",)),
    Lever("fused multiply-add, -O3", ("-ffp-contract=fast", "-O3")),
    Lever("with -ftree-ter", without=("-fno-tree-ter",)),
    Lever("-fno-math-errno", ("-fno-math-errno",)),
    Lever("with moves to integer registers", without=X86_FLAGS),
    Lever("with -ftree-slp-vectorize", without=("-fno-tree-slp-vectorize",)),
    Lever("with memset for runs of zeros", without=("-fno-tree-loop-distribute-patterns",)),
    Lever("-fno-tree-vectorize", ("-fno-tree-vectorize",)),
    Lever("-fno-schedule-insns2", ("-fno-schedule-insns2",)),
    Lever("parts not marked noinline", ("-Dnoinline=unused",)),
    Lever("parts up to 100 statements", constants={"LONGEST_PART": 100, "SHORTEST_PART": 60}),
    Lever("parts up to 250 statements", constants={"LONGEST_PART": 250, "SHORTEST_PART": 150}),
    Lever("parts up to 400 statements", constants={"LONGEST_PART": 400, "SHORTEST_PART": 300}),
    Lever("whole up to 200 statements", constants={"LONGEST_WHOLE_BODY": 200}),
    Lever("1 operation per statement", constants={"OPERATIONS_PER_STATEMENT": 1}),
    Lever("20 operations per statement", constants={"OPERATIONS_PER_STATEMENT": 20}),
    Lever("statements ordered for few live values", reordered=True),
    Lever("isomorphic branches one after the other", straight=True),
    Lever("clang", compiler="clang", without=GCC_FLAGS + X86_FLAGS),
)


@contextmanager
def _constants(values: dict[str, int]) -> Iterator[None]:
    with ExitStack() as stack:
        for name, value in values.items():
            for module in (c_body, c_expression, c_split):
                if hasattr(module, name):
                    stack.enter_context(patch.object(module, name, value))
        yield


def compiler_command(lever: Lever) -> tuple[str, ...]:
    """Compiler and flags of a lever."""
    chosen = toolchain()
    flags = tuple(flag for flag in chosen.flags if flag not in lever.without)
    return (*((lever.compiler,) if lever.compiler else chosen.command), *flags, *lever.flags)


def measure(robot: str, derivation: ModelDerivation, work: Path, rounds: int, levers: tuple[Lever, ...]) -> list[list[str]]:
    """One row for each lever: the shortest time of each function, and how many times that of the default it is."""
    size = len(derivation.coordinate_names)
    races = {name: Race(name, size, work) for name in FUNCTIONS}
    levers = tuple(lever for lever in levers if not lever.compiler or shutil.which(lever.compiler))
    for lever in levers:
        with _constants(lever.constants):
            printed = few_live_values(derivation) if lever.reordered else derivation
            text = rendered(without_branches(printed) if lever.straight else printed, lever.sincos)
        kernels = our_kernels(text, size, work, lever.label, compiler_command(lever))
        for name, race in races.items():
            race.add(kernels[name])
    for race in races.values():
        race.run(rounds)
    rows = []
    for number, lever in enumerate(levers):
        cells = []
        for race in races.values():
            kernel = race.kernels[number]
            cells.append(f"{kernel.times.shortest * 1e9:.0f} ({kernel.paired_ratio(race.kernels[0]):.2f})")
        rows.append([TITLES[robot], lever.label, *cells])
    return rows


def report(robots: list[str], work: Path, rounds: int, levers: tuple[Lever, ...] = LEVERS) -> list[str]:
    """Table of all levers."""
    rows = []
    for robot in robots:
        try:
            subject = load_subject(robot, work)
        except MissingPeerError as reason:
            return ["## Levers", "", f"- Left out: {reason}", ""]
        rows += measure(robot, derived(subject.robot), work, rounds, levers)
    header = ["robot", "lever", *(name.replace("_", " ") for name in FUNCTIONS)]
    return [
        "## Levers",
        "",
        "Shortest CPU time in ns (median over the rounds of the time by that of the default):",
        "",
        *table(header, rows),
        "",
    ]
