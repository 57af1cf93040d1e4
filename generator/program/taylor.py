"""Programs evaluated along a motion: truncated Taylor series in time, with one more derivative by a direction.

A jet is an array (..., 2, order + 1): the coefficients of t^0, t^1, ... of a quantity and, in the second row, those of
its derivative along a direction (a dual number, eps^2 = 0). With q(t) + eps t^m / m! in place of q(t), the second row
of a quantity's series gives the partial derivative of its time derivatives by q^(m), exactly, without differentiating
the graph: what the identities between energies and forces of higher order need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.arguments import MOTION
from elastogen.generator.program.interpret import interpret
from elastogen.generator.program.numbers.jets import Jet, arithmetic
from elastogen.generator.program.program import Program

Array = npt.NDArray[np.float64]


def derivative_name(order: int) -> str:
    """The argument that holds the time derivative of q of that order: q, qd, qdd, q3, q4, ..."""
    return MOTION[order] if order < 3 else f"q{order}"


def along(
    program: Program,
    derivatives: Sequence[Any],
    order: int,
    *,
    vary: int | None = None,
    parameters: Mapping[str, float] | None = None,
) -> dict[str, Array]:
    """Time derivatives of order 0..order of a program's outputs along a motion, (order + 1, *shape).

    ``derivatives`` are q, qd, qdd, ... at one instant, (nq,) each; those that are not given are zero. With ``vary`` = m
    the results are instead the partial derivatives of those by q_i^(m): (order + 1, *shape, nq).
    """
    n = len(derivatives[0])
    directions = 1 if vary is None else n
    count = max([len(derivatives), *(_order(a.name) + order + 1 for a in program.inputs), (vary or 0) + 1])
    motion = np.zeros((directions, n, 2, count))
    for k, row in enumerate(derivatives):
        motion[:, :, 0, k] = row
    if vary is not None:
        motion[range(n), range(n), 1, vary] = 1.0
    weights = np.array([1.0 / factorial(k) for k in range(order + 1)])
    inputs = {a.name: motion[..., (s := _order(a.name)) : s + order + 1] * weights for a in program.inputs}
    results = {}
    for name, jets in evaluate(program, inputs, order, parameters).items():
        series = jets[..., 0 if vary is None else 1, :] / weights  # (directions, *shape, order + 1)
        moved = np.moveaxis(np.moveaxis(series, -1, 0), 1, -1)
        results[name] = moved[..., 0] if vary is None else moved
    return results


def _order(name: str) -> int:
    return MOTION.index(name) if name in MOTION else int(name[1:])


def evaluate(
    program: Program, inputs: Mapping[str, Array], order: int, parameters: Mapping[str, float] | None = None
) -> dict[str, Array]:
    """The outputs of a program as jets (batch, *shape, 2, order + 1), from inputs of the same form."""
    graph, width = program.graph, order + 1
    known: dict[str, Jet] = {name: Jet.constant(value, width) for name, value in (parameters or {}).items()}
    batch = 1
    for argument in program.inputs:
        flat = np.asarray(inputs[argument.name], dtype=float).reshape((-1, argument.size, 2, width))
        batch = max(batch, len(flat))
        known.update({argument.element(k): Jet(flat[:, k]) for k in range(argument.size)})
    read = interpret(graph, program.order, known, arithmetic(width)).read
    answers = {}
    for argument, refs in program.outputs:
        jets = [np.broadcast_to(read(ref).data, (batch, 2, width)) for ref in refs]
        answers[argument.name] = np.stack(jets, axis=1).reshape((batch, *argument.shape, 2, width))
    return answers
