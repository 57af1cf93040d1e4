"""Newton-Euler, Lagrange and Appell compared: equations, operations, times, and differences."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastogen.build.files.render import render_model
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import compile_cached, module_key
from elastogen.generator.closed_form.functions import with_live_parameters
from elastogen.generator.closed_form.notation import coordinate_letter
from elastogen.generator.closed_form.steps.recursion import Recursion, recursion_of
from elastogen.generator.closed_form.steps.write import markdown_stages
from elastogen.generator.closed_form.symbols import with_numbers
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.functions.derivation import derive_function, derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.higher.formulations import PRINCIPLES, Principle
from elastogen.generator.functions.variants import SYMPY, VariantFamily
from elastogen.generator.program.program import OperationCount
from elastogen.generator.reference.self_check import SelfCheck
from elastogen.generator.robot.errors import finite_arithmetic
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.model.loader import load_model
from elastogen.runtime.model.timing import time_functions

MOST_SHOWN = 200  # equations of a principle on a page: about five pages


@dataclass(frozen=True)
class PrincipleRow:
    """The results of one principle."""

    name: str
    formula: str  # LaTeX
    equations: int
    """Numbered equations with named intermediates: see ``derive --steps``."""
    count: OperationCount
    derivation_seconds: float
    evaluation_seconds: float
    """One evaluation of the compiled C."""
    difference: float
    """The largest difference from Newton-Euler at random states, relative to the largest force."""


@dataclass(frozen=True)
class Formulations:
    """Q = M qdd + C qd + G of one robot by three principles."""

    robot: str
    rows: tuple[PrincipleRow, ...]
    recursions: tuple[Recursion | None, ...]  # of what is short enough to be read
    notes: tuple[str, ...] = ()

    def table(self) -> str:
        """Return the results as a table for a terminal."""
        heads = ("equations", "mul", "add", "all", "derived", "in C", "difference")
        lines = [
            f"{'principle':<14} {' '.join(f'{head:>{n}}' for head, n in zip(heads, (9, 7, 7, 7, 9, 10, 11), strict=True))}"
        ]
        for row in self.rows:
            lines.append(
                f"{row.name:<14} {row.equations:>9} {row.count.mul:>7} {row.count.add:>7} {row.count.total:>7} "
                f"{row.derivation_seconds:>7.3f} s {row.evaluation_seconds * 1e9:>7.0f} ns {row.difference:>11.1e}"
            )
        return "\n".join([f"{self.robot}: Q = M qdd + C qd + G", *lines, *self.notes])

    def page(self) -> str:
        """Return Markdown with the table, the principle of each row, and its equations if they are short enough to read."""
        texts = [
            f"# {self.robot}: forces of inertia and weight by three principles",
            "Q = M qdd + C qd + G, without friction and elastic forces. Operations are those of the emitted C, in the "
            "description's own frames; differences are from Newton-Euler at random states, relative to the largest force.",
            "\n".join([
                "| principle | equations | mul | add | all operations | derived [s] | in C [ns] | largest difference |",
                "|---|---|---|---|---|---|---|---|",
                *(f"| {row.name} | {row.equations} | {row.count.mul} | {row.count.add} | {row.count.total} | "
                  f"{row.derivation_seconds:.3f} | {row.evaluation_seconds * 1e9:.0f} | {row.difference:.1e} |"
                  for row in self.rows),
            ]),
            *self.notes,
        ]  # fmt: skip
        for row, found in zip(self.rows, self.recursions, strict=True):
            texts += [f"## {row.name}", f"$$ {row.formula} $$"]
            texts += [f"Its {row.equations} equations are too long to be read."] if found is None else markdown_stages(found)
        return "\n\n".join(texts) + "\n"


def formulations(
    robot: RobotSource,
    *,
    compiler: str | None = None,
    cflags: Sequence[str] | str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Formulations:
    """Derive, compile, evaluate and time the forces of inertia and weight by Newton-Euler, Lagrange and Appell.

    For a robot with loops they are those of its tree. ``compiler``, ``cflags`` and ``cache_dir`` are those of ``build_model``.
    Raises RobotError or BuildError.
    """
    options = BuildOptions.checked(compiler=compiler, cflags=cflags, cache_dir=cache_dir)
    find_toolchain(options.compile)  # refused before anything is derived
    loaded = load(robot)
    functions, seconds = [], []
    for principle in PRINCIPLES:
        with finite_arithmetic(loaded.name, principle.entry.name):
            start = time.process_time()
            functions.append(derive_function(VariantFamily(loaded), principle.entry))
            seconds.append(time.process_time() - start)
    evaluations = _timed(loaded, functions, options)
    differences = _differences(loaded, functions)
    readable = with_numbers(loaded, only_zeros=True)
    found = [_recursion(readable, principle) for principle in PRINCIPLES]
    rows = tuple(
        PrincipleRow(p.name, p.formula, r.count, f.program.count, s, evaluation, difference)
        for p, r, f, s, evaluation, difference in zip(
            PRINCIPLES, found, functions, seconds, evaluations, differences, strict=True
        )
    )
    notes = ("The robot has loops: these are the forces of its tree.",) if loaded.loops else ()
    shown = tuple(recursion if recursion.count <= MOST_SHOWN else None for recursion in found)
    return Formulations(loaded.name, rows, shown, notes)


def _recursion(robot: Robot, principle: Principle) -> Recursion:
    family = VariantFamily(with_live_parameters(robot), derivation=SYMPY)
    return recursion_of(robot, family, principle.entry, coordinate_letter(robot))


def _timed(robot: Robot, functions: Sequence[Function], options: BuildOptions) -> list[float]:
    """Return the seconds of one evaluation in C."""
    derivation = replace(derive_model(robot, ("inertia_forces",)), functions=tuple(functions))
    model, toolchain = render_model(derivation, options.emit), find_toolchain(options.compile)
    path = compile_cached(model, module_key(model, toolchain), safe_cache(options.cache_dir), toolchain, options)
    return [timing.c_seconds for timing in time_functions(load_model(path), [function.name for function in functions])]


def _differences(robot: Robot, functions: Sequence[Function]) -> list[float]:
    """Return differences from the first, relative to its largest entry."""
    check = SelfCheck(robot)
    worst = [0.0] * len(functions)
    for sample in check.samples:
        values = [function.program.evaluate(sample.arguments, check.parameters)["Q"] for function in functions]
        size = float(np.abs(values[0]).max(initial=0.0)) or 1.0
        worst = [
            max(known, float(np.abs(value - values[0]).max(initial=0.0)) / size)
            for known, value in zip(worst, values, strict=True)
        ]
    return worst
