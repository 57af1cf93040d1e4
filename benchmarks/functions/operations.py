"""Operation counts: PUMA 560 beside the literature, and growth with the number of joints."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import elastogen
from benchmarks.race.chains import chain
from benchmarks.race.tables import table, verdict
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.program import OperationCount
from elastogen.generator.robot.robot import Body, Robot

PUMA_TARGETS = {"inverse_dynamics": (203, 150, 10), "mass_matrix": (138, 85, 8)}
GROWTH = (5, 10, 20, 40, 60, 80, 100)
DAMPED = 1.3  # inverse dynamics of two links of 20 elements with damping ratios, beside those without damping


def puma() -> Robot:
    """PUMA 560 with constant gravity and without payload."""
    robot = elastogen.load("puma560")
    constant = {name: replace(parameter, live=False) for name, parameter in robot.parameters.items()}
    return replace(robot, parameters=constant, payload=Body(), gravity=(0, 0, -9.81))


def count(robot: Robot, function: str) -> OperationCount:
    """Operations of one function."""
    return derive_model(robot, (function,)).functions[0].program.count


def elements(more: dict[str, Any]) -> Robot:
    """Two revolute joints in a plane, each with a beam of 20 elements, and ``more`` keys of the beams."""
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.4, "EI": 2.0, "elements": 20, **more}
    planar = {"links": [beam, beam], "gravity": [0, -9.81], "payload": {"mass": 0.2}}
    return elastogen.load({"elastogen": 1, "name": "beams", "planar": planar})


def damping(quick: bool) -> list[str]:
    """Operations of inverse dynamics with damping by ratios, beside those without."""
    forms: dict[str, dict[str, Any]] = {"none": {}, "ratios: [0.01, 0.02]": {"damping": {"ratios": [0.01, 0.02]}}}
    if not quick:
        one = {"damping": {"ratio": 0.01}}
        forms |= {"ratios: [0.01]": {"damping": {"ratios": [0.01]}}, "ratio: 0.01": one}
        forms["ratio: 0.01, reduce_to: 40 (all modes)"] = {**one, "reduce_to": 40}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)  # the upper modes of any mesh are not those of the beam
        counts = {form: count(elements(given), "inverse_dynamics") for form, given in forms.items()}
    free, rows = counts["none"], []
    for form, found in counts.items():
        times = (found.mul + found.add) / (free.mul + free.add)
        target = form not in ("none", "ratio: 0.01")  # one ratio for all modes of nodal coordinates is a full matrix
        wanted = [f"{DAMPED}", verdict(times <= DAMPED)] if target else ["", ""]
        rows.append([form, str(found.mul), str(found.add), f"{times:.2f}", *wanted])
    words = "Inverse dynamics of two links of 20 elements each, by the damping of the links:"
    return [words, "", *table(["damping", "mul", "add", "times as many", "target", "reached"], rows), ""]


def report(quick: bool) -> list[str]:
    """Tables of counts."""
    robot, rows = puma(), []
    for function, target in PUMA_TARGETS.items():
        found = count(robot, function)
        numbers = (found.mul, found.add, found.sincos)
        reached = all(number <= most for number, most in zip(numbers, target, strict=True))
        rows.append([function.replace("_", " "), _triple(numbers), _triple(target), verdict(reached)])
    words = "PUMA 560, constant gravity, no payload: multiplications / additions / sines and cosines"
    lines = ["## Operations", "", words, ""]
    lines += [*table(["function", "elastogen", "target", "reached"], rows), ""]
    sizes = GROWTH[:4] if quick else GROWTH
    counts = [count(chain(size), "inverse_dynamics") for size in sizes]
    rows = [
        [str(size), str(found.mul), str(found.add), f"{(found.mul + found.add) / size:.1f}"]
        for size, found in zip(sizes, counts, strict=True)
    ]
    totals = [found.mul + found.add for found in counts]
    pairs = list(zip(totals, sizes, strict=True))
    slopes = [(b - a) / (n - m) for (a, m), (b, n) in pairwise(pairs)][1:]
    linear = max(slopes) <= 1.01 * slopes[0]
    lines += [
        "Inverse dynamics of a generic chain (inertia tensors full, axes in turn about z, y and x):", "",
        *table(["joints", "mul", "add", "operations per joint"], rows), "",
        f"Each further joint adds {min(slopes):.1f} to {max(slopes):.1f} operations; linear: {verdict(linear)}.", "",
    ]  # fmt: skip
    return lines + damping(quick)


def _triple(numbers: tuple[int, ...]) -> str:
    return " / ".join(str(number) for number in numbers)
