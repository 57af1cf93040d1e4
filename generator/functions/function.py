"""One function of a robot, ready to emit, and what callers need to know of functions and models, new or compiled before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from elastogen.generator.beams.natural_frequencies import CriticalRate
from elastogen.generator.beams.slopes import LinkSlopes
from elastogen.generator.joints.on_beams.selector import Selector
from elastogen.generator.loops.analysis import LoopAnalysis
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.runtime.interface.argument import Argument


class Signature(Protocol):
    """What callers know of an emitted function, new or compiled before."""

    @property
    def name(self) -> str:
        """Its name without the robot's prefix."""

    @property
    def brief(self) -> str:
        """One sentence about it."""

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Its arguments."""

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """Its results."""

    @property
    def can_fail(self) -> bool:
        """Whether it returns a status."""

    @property
    def count(self) -> OperationCount:
        """Its operations."""

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The sliding joints on whose elements it depends."""

    @property
    def has_kinks(self) -> bool:
        """Whether it has no derivative where it switches between formulas."""


@dataclass(frozen=True)
class CompiledFunction:
    """A function of a model that was compiled before; its program is unknown."""

    name: str
    brief: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    can_fail: bool
    count: OperationCount
    selectors: tuple[Selector, ...] = ()
    has_kinks: bool = False


class Composition(Protocol):
    """How C composes a function of others: see composed/composition.py."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions of the model, by name."""

    @property
    def newton_euler(self) -> Function:
        """M qdd + C qd, and G times a weight."""

    @property
    def replaces(self) -> bool:
        """Whether it takes the place of the program."""

    def count(self, name: str) -> OperationCount:
        """Operations of a function, with those of all its calls."""


@dataclass(frozen=True)
class Function:
    """One function to emit: its name, one sentence with its equation, and its program.

    If it depends on the element inside a sliding joint, ``selectors`` find that element at a state, and the program has the
    indicators of all elements as a further input (elements_inside.py), which the emitted function computes. With a
    ``composition`` C calls other functions instead of the program.
    """

    name: str
    brief: str
    program: Program
    selectors: tuple[Selector, ...] = ()
    composition: Composition | None = None

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments of the emitted function: all inputs but the indicators."""
        return tuple(argument for argument in self.program.inputs if argument.name != INDICATORS)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The results of the emitted function."""
        return tuple(argument for argument, _ in self.program.outputs)

    @property
    def can_fail(self) -> bool:
        """Whether the emitted function returns a status instead of nothing."""
        return bool(self.program.pivots or self.selectors)

    @property
    def has_kinks(self) -> bool:
        """Whether it has no derivative where it switches between formulas."""
        return self.program.has_kinks or any(len(s.elements) > 1 and not s.smooth for s in self.selectors)

    @property
    def count(self) -> OperationCount:
        """Operations of the emitted function."""
        return self.program.count if self.composition is None else self.composition.count(self.name)

    def evaluate(
        self, arguments: Mapping[str, Any], parameters: Mapping[str, float] | None = None, dtype: type = float
    ) -> dict[str, Any]:
        """Evaluate in Python and numpy, at one state; NaN where a joint is out of its range."""
        if not self.selectors:
            return self.program.evaluate(arguments, parameters, dtype)
        inside = indicators_at(self.selectors, arguments["q"])
        if inside is None:
            return {argument.name: np.full(argument.shape, np.nan) for argument in self.outputs}
        return self.program.evaluate({**arguments, INDICATORS: inside}, parameters, dtype)


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model, whether its functions are new or were compiled before."""

    robot: Robot
    functions: tuple[Signature, ...]
    frame_names: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    velocity_names: tuple[str, ...]
    velocity_units: tuple[str, ...]  # of the displacements whose rates they are
    elastic_coordinates: tuple[bool, ...]  # which velocities are elastic
    driven: tuple[bool, ...]  # which velocities a drive acts on
    critical_rates: tuple[CriticalRate, ...]  # of flexible links without foreshortening
    slopes: tuple[LinkSlopes, ...]  # of flexible links
    selectors: tuple[Selector, ...] = ()  # of the sliding joints
    point_names: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()  # those that were chosen
    loops: LoopAnalysis | None = None  # of a robot with loops
