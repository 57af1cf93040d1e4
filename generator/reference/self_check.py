"""Compares derived functions with an evaluation straight from the robot's description, at a few random states."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from elastogen.generator.loops.analysis import MOTIONS, analysis_of
from elastogen.generator.program.program import Program
from elastogen.generator.reference.closed_loops import OpenChoiceError
from elastogen.generator.reference.description import Description
from elastogen.generator.reference.directions import CONFIGURATIONS, direction, tangential
from elastogen.generator.reference.expected.plain import Expectation
from elastogen.generator.reference.expected.registry import Asked, expectation_of
from elastogen.generator.reference.quantities import Quantities
from elastogen.generator.reference.random_states import one, random_parameters, random_positions, random_rates
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at, selectors

Array = npt.NDArray[np.float64]
TOLERANCE = 1e-9  # relative to the terms in a number
SMALL = 1e-6  # least size relative to the largest of a function: rounding leaves 1e-15 of a zero
STATES = 2
MASK = "active"  # of contacts: three of four
OPEN = ("loop_residual", "loop_jacobian", "loop_bias")  # compared where loops are open


@dataclass(frozen=True)
class Sample:
    """States with the same elements inside sliding joints, as arguments of programs and for the description."""

    arguments: Mapping[str, Any]
    quantities: Quantities


class SelfCheck:
    """The comparison for one robot; the same states for all functions."""

    def __init__(self, robot: Robot, frames: Sequence[str] = (), inputs: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """``frames`` are those of the functions of frames, ``inputs`` those of functions that own ones may call."""
        self.robot, self.frames, self.inputs = robot, tuple(frames), dict(inputs or {})

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Live parameters of the comparison: near their values, or for mechanisms, whose loops they close, the values."""
        if self.robot.loops:
            return {p.name: p.value for p in self.robot.live_parameters}
        return random_parameters(self.robot, np.random.default_rng(1))

    @cached_property
    def samples(self) -> list[Sample]:
        """All states at once; with sliding joints one by one, each with its elements inside."""
        rng = np.random.default_rng(2)
        return self._sampled(random_positions(self.robot, STATES, rng), rng)

    @cached_property
    def moved_samples(self) -> list[Sample]:
        """States near the first ones."""
        rng = np.random.default_rng(3)
        q = random_positions(self.robot, STATES, np.random.default_rng(2))
        return self._sampled(q + 0.02 * (random_positions(self.robot, STATES, rng) - q), rng, skipped=MOTIONS)

    @cached_property
    def open_samples(self) -> list[Sample]:
        """States with open loops, where residuals are not zero."""
        rng = np.random.default_rng(4)
        return self._sampled(random_positions(self.robot, STATES, rng), rng, closed=False)

    def _sampled(self, q: Array, rng: np.random.Generator, *, closed: bool = True, skipped: int = 0) -> list[Sample]:
        """States at these positions; for mechanisms closed ones of the analysis, except the first few."""
        states = {"q": q, **random_rates(q, self.robot, rng)}
        if self.robot.loops and closed:  # closed, with velocities and accelerations that keep them so
            known = analysis_of(self.robot).samples
            motions = (known[skipped:] or known)[:STATES]
            states |= {name: np.array([motion[k] for motion in motions]) for k, name in enumerate(("q", "qd", "qdd"))}
            q = states["q"]
            states |= {name: values[: len(q)] for name, values in states.items()}
        chosen = selectors(self.robot)
        through = any(link.flexible is not None and link.flexible.clamp_moves for link in self.robot.links)
        if not chosen and not through:
            description = Description(self.robot, self.parameters, {})
            return [Sample(states, Quantities(description, states, self.frames))]
        found = []
        for k in range(len(q)):
            inside = {s.joint: s.element(q[k]) for s in chosen}
            elements = {joint: element for joint, element in inside.items() if element is not None}
            own = one(states, k)
            indicators = {INDICATORS: np.array([indicators_at(chosen, q[k])])} if chosen else {}
            description = Description(self.robot, self.parameters, elements)
            found.append(Sample(own | indicators, Quantities(description, own, self.frames)))
        return found

    def error(self, program: Program, parts: Sequence[tuple[Asked, int]], *, primary: bool = False) -> float:
        """The largest difference, relative to the sizes; 0 where there is nothing to compare with.

        ``parts`` are the functions in it, or the function itself, each with its number of outputs; all of them are compared, or
        the ``primary`` ones. Nearby states replace those without a number, as the gradient of an own term's root at 0.
        """
        expectations = [
            (expectation_of(self.robot, asked, self.inputs) if asked.primary(self.robot) or not primary else None, outputs)
            for asked, outputs in parts
        ]
        if all(expectation is None for expectation, _ in expectations):
            return 0.0
        try:
            worst, open_numbers = self._worst(program, expectations, self._samples_for(parts))
            if open_numbers and worst <= TOLERANCE:
                worst = max(worst, self._worst(program, expectations, self.moved_samples)[0])
        except (ValueError, TypeError, LookupError, AttributeError) as problem:  # of the comparison itself
            names = ", ".join(asked.name for asked, _ in parts)
            text = f"{self.robot.name}: {names} could not be compared with the description ({problem!r}); please report it"
            warnings.warn(text, RobotWarning, stacklevel=2)
            return 0.0
        return worst

    def between(self, program: Program, other: Program, parts: Sequence[tuple[Asked, int]]) -> float:
        """The largest difference of two programs at the same states, relative to the largest number; NaN must agree."""
        worst = 0.0
        for sample in self._samples_for(parts):
            arguments = {**sample.arguments, **self._further(program, sample.arguments, len(sample.arguments["q"]))}
            with np.errstate(all="ignore"):
                ours, theirs = (each.evaluate(arguments, self.parameters) for each in (program, other))
            for argument, _ in program.outputs:
                a, b = (np.asarray(each[argument.name], dtype=np.float64) for each in (ours, theirs))
                size = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), 1e-300)
                worst = max(worst, _relative(a, b, size) if (np.isnan(a) == np.isnan(b)).all() else np.inf)
        return worst

    def _samples_for(self, parts: Sequence[tuple[Asked, int]]) -> list[Sample]:
        samples = self.open_samples if any(asked.name in OPEN for asked, _ in parts) else self.samples
        return samples[:1] if any(asked.takes_differences for asked, _ in parts) else samples

    def _worst(
        self, program: Program, expectations: Sequence[tuple[Expectation | None, int]], samples: Sequence[Sample]
    ) -> tuple[float, bool]:
        worst, open_numbers = 0.0, False
        for sample in samples:
            count = len(sample.arguments["q"])
            arguments = {**sample.arguments, **self._further(program, sample.arguments, count)}
            of = sample.quantities
            if len(arguments) > len(sample.arguments):
                of = of.elsewhere({name: value for name, value in arguments.items() if name != INDICATORS})
            with np.errstate(all="ignore"):  # a singular mass matrix is no news
                values = program.evaluate(arguments, self.parameters)
            found = [np.broadcast_to(values[argument.name], (count, *argument.shape)) for argument, _ in program.outputs]
            for expectation, outputs in expectations:
                own, found = found[:outputs], found[outputs:]
                if expectation is not None:
                    try:
                        with np.errstate(all="ignore"):  # what is no number is judged below
                            differences = list(expectation(of, own))
                    except OpenChoiceError:
                        continue
                    except np.linalg.LinAlgError:  # equations of the description that have no solution here
                        open_numbers = True
                        continue
                    worst = max([worst, *(_relative(*difference) for difference in differences)])
                    open_numbers |= any(np.isnan(expected).any() for _, expected, _ in differences)
        return worst, open_numbers

    def _further(self, program: Program, known: Mapping[str, Any], count: int) -> dict[str, Array]:
        """Values of further inputs: of own functions, weights, wrenches, changes."""
        found = {}
        for argument in program.inputs:
            if argument.name not in known:
                rng = np.random.default_rng(crc32(argument.name.encode()))
                change = argument.name.startswith("d") and argument.name[1:] in known
                shape = (count, *argument.shape)
                found[argument.name] = direction(shape, rng) if change else rng.uniform(-1, 1, shape)
                if change and argument.name[1:] in CONFIGURATIONS:
                    at = known[argument.name[1:]]
                    found[argument.name] = tangential(found[argument.name], at, self.robot.quaternions)
                if argument.name == MASK:
                    found[MASK] = (found[MASK] > -0.5).astype(np.float64)
        return found


def _relative(found: Any, expected: Any, size: Any) -> float:
    """The largest difference relative to the size.

    NaN must be NaN in the description too. Where the description has none, as the gradient of an own term's root at 0, a number
    is not judged.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        off = np.abs(found - expected)
        sizes = np.nan_to_num(size + np.zeros_like(off), posinf=0.0)
        least = SMALL * sizes.max(initial=0.0)  # a row of zeros has a rounding error, too
        same = (off == 0) | np.isnan(expected)
        ratio = np.where(same, 0.0, off / np.maximum(sizes, least))
    return float(np.nan_to_num(ratio, nan=np.inf).max(initial=0.0))
