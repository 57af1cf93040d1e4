"""One function of a robot, ready to emit: a program with a name, and the elements of sliding joints that it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.generator.joints.on_beams.selector import Selector
from elastogen.generator.program.program import Program
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.runtime.interface.argument import Argument


@dataclass(frozen=True)
class Function:
    """One function to emit: its name, what it is for (one sentence, with the equation) and its program.

    Where they depend on the element inside a sliding joint, ``selectors`` say which one counts at a state, and the program has
    the indicators of all elements as a further input (elements_inside.py), which the emitted function computes.
    """

    name: str
    brief: str
    program: Program
    selectors: tuple[Selector, ...] = ()

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

    def evaluate(
        self, arguments: Mapping[str, Any], parameters: Mapping[str, float] | None = None, dtype: type = float
    ) -> dict[str, Any]:
        """Evaluate in plain Python and numpy, at one state; NaN where a joint is out of its range."""
        if not self.selectors:
            return self.program.evaluate(arguments, parameters, dtype)
        inside = indicators_at(self.selectors, arguments["q"])
        if inside is None:
            return {argument.name: np.full(argument.shape, np.nan) for argument in self.outputs}
        return self.program.evaluate({**arguments, INDICATORS: inside}, parameters, dtype)
