"""Evaluation of programs with mpmath numbers: the meaning of a program to any number of digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np

from elastogen.generator.program.graph import Op
from elastogen.generator.program.interpret import Arithmetic, interpret
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import Program

DIGITS = 50


def arithmetic(context: Any) -> Arithmetic:
    """Return the numbers of an mpmath context, for example one with ``dps`` = 50; constants are exactly the doubles."""
    own = {Op.ABS: "fabs", Op.POW: "power"}
    chosen = {Op.MIN: min, Op.MAX: max, Op.SELECT: lambda decides, x, y: x if decides < 0 else y}
    functions = {op: getattr(context, own.get(op, known.name)) for op, known in ELEMENTARY.items() if op not in chosen}
    return Arithmetic(context.mpf, functions | chosen)


def evaluate(
    program: Program,
    arguments: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    digits: int = DIGITS,
) -> dict[str, Any]:
    """Return the outputs at one state as object arrays of mpmath numbers; inputs and parameters may be such numbers, too."""
    context = mpmath.mp.clone()
    context.dps = digits
    environment = {name: context.mpf(value) for name, value in (parameters or {}).items()}
    for argument in program.inputs:
        flat = np.asarray(arguments[argument.name], dtype=object).reshape(argument.size)
        environment |= {argument.element(k): context.mpf(value) for k, value in enumerate(flat)}
    read = interpret(program.graph, program.order, environment, arithmetic(context)).read
    answers = {}
    for argument, refs in program.outputs:
        values = np.empty(argument.size, dtype=object)
        values[:] = [read(ref) for ref in refs]
        answers[argument.name] = values.reshape(argument.shape)
    return answers
