"""Compares derived functions with an evaluation straight from the robot's description, at a few random states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from elastogen.generator.program.program import Program
from elastogen.generator.reference.description import Description
from elastogen.generator.reference.more_expectations import ALL_EXPECTATIONS
from elastogen.generator.reference.quantities import Quantities
from elastogen.generator.reference.random_states import one, random_parameters, random_positions, random_rates
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at, selectors

TOLERANCE = 1e-9  # relative to the size of what a number is made of
SMALL = 1e-6  # beside the largest size of a function no smaller ones count: 1e-15 of it is what rounding leaves of a zero
STATES = 2


@dataclass(frozen=True)
class Sample:
    """States with the same elements inside sliding joints, as arguments of programs and as the description sees them."""

    arguments: Mapping[str, Any]
    quantities: Quantities


class SelfCheck:
    """The comparison for one robot; the same states for all functions."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Live parameters at which functions are compared."""
        return random_parameters(self.robot, np.random.default_rng(1))

    @cached_property
    def samples(self) -> list[Sample]:
        """Without sliding joints all states at once; else one by one, each with the elements that are inside."""
        rng = np.random.default_rng(2)
        q = random_positions(self.robot, STATES, rng)
        states = {"q": q, **random_rates(q, self.robot, rng)}
        chosen = selectors(self.robot)
        if not chosen:
            return [Sample(states, Quantities(Description(self.robot, self.parameters, {}), states))]
        found = []
        for k in range(STATES):
            inside = {s.joint: s.element(q[k]) for s in chosen}
            elements = {joint: element for joint, element in inside.items() if element is not None}
            own = one(states, k)
            indicators = indicators_at(chosen, q[k])
            description = Description(self.robot, self.parameters, elements)
            found.append(Sample(own | {INDICATORS: np.array([indicators])}, Quantities(description, own)))
        return found

    def error(self, program: Program, parts: Sequence[tuple[str, int]]) -> float:
        """The largest difference, relative to the sizes; 0 where there is nothing to compare with.

        ``parts`` are the functions that it is fused of, or the function itself, each with the number of its outputs.
        """
        worst = 0.0
        if not any(name in ALL_EXPECTATIONS for name, _ in parts):
            return worst
        for sample in self.samples:
            count = len(sample.arguments["q"])
            with np.errstate(all="ignore"):  # a singular mass matrix is no news
                values = program.evaluate(sample.arguments, self.parameters)
            found = [np.broadcast_to(values[argument.name], (count, *argument.shape)) for argument, _ in program.outputs]
            for name, outputs in parts:
                own, found = found[:outputs], found[outputs:]
                if name in ALL_EXPECTATIONS:
                    with np.errstate(all="ignore"):  # what is not a number is judged below
                        differences = list(ALL_EXPECTATIONS[name](sample.quantities, own))
                    worst = max([worst, *(_relative(*difference) for difference in differences)])
        return worst


def _relative(found: Any, expected: Any, size: Any) -> float:
    """The largest difference relative to the size.

    What is not a number must be none in the description as well. Where the description gives none, as the gradient of an own
    term's root at 0, it cannot judge a number.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        off = np.abs(found - expected)
        sizes = np.nan_to_num(size + np.zeros_like(off), posinf=0.0)
        least = SMALL * sizes.max(initial=0.0)  # a row of zeros has a rounding error, too
        same = (off == 0) | np.isnan(expected)
        ratio = np.where(same, 0.0, off / np.maximum(sizes, least))
    return float(np.nan_to_num(ratio, nan=np.inf).max(initial=0.0))
