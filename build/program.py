"""The program behind an emitted function, as an object to look at: counts, text, sparsity, values in many digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.c.tables.pool import Pool
from elastogen.generator.functions.function import Function
from elastogen.generator.program.graph import Op
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.program.program import OperationCount
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.runtime.interface.argument import Argument


class EmittedProgram:
    """What ``model.program(name)`` returns."""

    def __init__(self, robot: Robot, function: Function) -> None:
        self._robot, self._function = robot, function

    @property
    def name(self) -> str:
        """The function's name."""
        return self._function.name

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments, in order: names, shapes, units, meaning."""
        return self._function.inputs

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The results, in order."""
        return self._function.outputs

    @property
    def count(self) -> OperationCount:
        """Exact numbers of operations."""
        return self._function.program.count

    @property
    def text(self) -> str:
        """The body of the C function, in double and with the sines of the C library."""
        live = [parameter.name for parameter in self._robot.live_parameters]
        pool = Pool(self._robot.name, "double")
        body = print_body(self._function.program, self.name, Dialect(self._robot.name, "double", "libm"), live, pool)
        return "\n".join([*(line for part in body.parts for line in part.lines), *body.lines])

    def sparsity(self, output: str, by: str) -> NDArray[np.bool_]:
        """Which elements of an output depend on which of an input, (output size, input size); structural, not numerical."""
        program = self._function.program
        found = {argument.name: (argument, refs) for argument, refs in program.outputs}
        given = {argument.name: argument for argument in program.inputs}
        for word, known in ((output, found), (by, given)):
            if word not in known:
                raise OutputError(f"{self.name}: got {word!r}, expected one of {', '.join(known)}")
        labels = {given[by].element(k): k for k in range(given[by].size)}
        reach: dict[int, int] = {}  # node -> the inputs it depends on, as bits
        for node in program.order:
            own = labels.get(program.graph.label[node]) if program.graph.op[node] is Op.INPUT else None
            reach[node] = 0 if own is None else 1 << own
            for ref in program.graph.operands(node):
                reach[node] |= reach[ref >> 1]
        argument, refs = found[output]
        rows = [[bool(reach[ref >> 1] >> k & 1) for k in range(given[by].size)] for ref in refs]
        return np.array(rows, dtype=bool).reshape(argument.size, given[by].size)

    def evaluate(self, *arguments: Any, parameters: Mapping[str, Any] | None = None, digits: int = 50) -> Any:
        """Values at one state with mpmath numbers of so many digits: an object array, or a tuple of them."""
        if len(arguments) != len(self.inputs):
            names = ", ".join(argument.name for argument in self.inputs) or "nothing"
            raise OutputError(f"{self.name}: got {len(arguments)} arguments, expected {names}")
        given = {argument.name: value for argument, value in zip(self.inputs, arguments, strict=True)}
        for argument in self.inputs:
            shape = np.shape(np.asarray(given[argument.name], dtype=object))
            if shape != argument.shape:
                raise OutputError(f"{self.name}: {argument.name} has shape {shape}, expected {argument.shape}")
        if self._function.selectors:
            inside = indicators_at(self._function.selectors, [float(x) for x in given["q"]])
            if inside is None:
                raise OutputError(f"{self.name}: a sliding joint is out of its range at this q")
            given[INDICATORS] = inside
        live = {parameter.name: parameter.value for parameter in self._robot.live_parameters}
        unknown = set(parameters or {}) - set(live)
        if unknown:
            raise OutputError(
                f"{self.name}: no live parameter {sorted(unknown)[0]!r}, expected one of {', '.join(live) or 'none'}"
            )
        results = tuple(
            many_digits.evaluate(self._function.program, given, {**live, **(parameters or {})}, digits=digits).values()
        )
        return results if len(results) > 1 else results[0]
