"""Functions of a robot in its plain layout, evaluated without optimization: quick to derive, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastogen.generator.functions.derivation import CATALOGUE, FRAMED
from elastogen.generator.functions.own.functions import own_entries
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.program.substitute import extract
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicated, indicators_at, selectors
from elastogen.runtime.interface.argument import Argument


class PlainPrograms:
    """``programs("mass_matrix", q=q)``; ``way`` chooses among the derivations of a function.

    Functions of ``frames`` are derived in their layout of that number.
    """

    def __init__(self, robot: Robot, formulation: int = 0, frames: tuple[str, ...] = (), frame_assignment: int = 0) -> None:
        self.robot, self.formulation, self.frame_assignment = robot, formulation, frame_assignment
        self.family = VariantFamily(robot, frames=frames)
        self.variant = self.family.plain()
        self.size = self.variant.size
        self._programs: dict[str, Program] = {}
        self._selectors = selectors(robot)
        self._indicated = len(indicated(self._selectors))

    def __call__(self, name: str, **arguments: Any) -> Any:
        if name not in self._programs:
            known = CATALOGUE | FRAMED
            entry = known[name] if name in known else own_entries(self.family, CATALOGUE)[name]
            apart = entry.frame_assignment in ("points", "physical", "frames", "loaded")
            variants = self.family.frame_assignments(entry.frame_assignment) if apart else [self.variant]
            variant = variants[self.frame_assignment % len(variants)]
            closed = entry.formulations_for if self.robot.loops else None  # others are of the tree without the loops
            ways = entry.formulations if closed is None else closed(variant)
            derived = ways[self.formulation % len(ways)](variant)
            points = len(variant.pointed.points) if apart else 0
            names = entry.inputs or (("q",) if self.robot.terms else ())  # tangents of own terms
            nq, nv = variant.positions, self.size
            inputs = [entry.own_inputs.get(key) or input_argument(key, nq, nv, points) for key in names]
            if self._indicated:
                inputs.append(Argument(INDICATORS, (self._indicated,), "", "elements inside sliding joints"))
            outputs = list(zip(entry.outputs(variant), derived.outputs, strict=True))
            self._programs[name] = program(self.variant.graph, inputs, outputs)
        if self._indicated:
            arguments[INDICATORS] = indicators_at(self._selectors, arguments["q"])
        wanted = {argument.name: arguments[argument.name] for argument in self._programs[name].inputs}
        parameters = {parameter.name: parameter.value for parameter in self.robot.live_parameters}
        results = tuple(self._programs[name].evaluate(wanted, parameters).values())
        return results if len(results) > 1 else results[0]

    def counted(self, name: str) -> OperationCount:
        """Operations of a function that has been called."""
        return self._programs[name].count


def program(graph: Graph, inputs: Sequence[Argument], outputs: Sequence[tuple[Argument, Sequence[Value]]]) -> Program:
    """A program of values, in a graph of its own."""
    small, refs = extract(graph, [value.ref for _, values in outputs for value in values])
    sizes = np.cumsum([0, *(len(values) for _, values in outputs)])
    parts = [(argument, refs[a:b]) for (argument, _), a, b in zip(outputs, sizes, sizes[1:], strict=False)]
    return Program(small, inputs, parts)
