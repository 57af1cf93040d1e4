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
from elastogen.generator.program.graph import Op
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
    known: dict[str, Array] = {name: _constant(value, width) for name, value in (parameters or {}).items()}
    batch = 1
    for argument in program.inputs:
        flat = np.asarray(inputs[argument.name], dtype=float).reshape((-1, argument.size, 2, width))
        batch = max(batch, len(flat))
        known.update({argument.element(k): flat[:, k] for k in range(argument.size)})
    result: dict[int, Array] = {}
    circular: dict[int, tuple[Array, Array]] = {}

    def read(ref: int) -> Array:
        return -result[ref >> 1] if ref & 1 else result[ref >> 1]

    for node in program.order:
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op is Op.CONSTANT:
            result[node] = _constant(graph.number[node], width)
        elif op is Op.INPUT:
            result[node] = known[graph.label[node]]
        elif op is Op.ADD:
            result[node] = read(a) + read(b)
        elif op is Op.MUL:
            result[node] = _multiply(read(a), read(b))
        elif op is Op.DIV:
            result[node] = _divide(read(a), read(b))
        elif op in (Op.SIN, Op.COS):
            if a not in circular:
                circular[a] = _sine_and_cosine(read(a))
            result[node] = circular[a][0 if op is Op.SIN else 1]
        else:
            result[node] = _root(read(a)) if op is Op.SQRT else _tanh(read(a))
    answers = {}
    for argument, refs in program.outputs:
        jets = [np.broadcast_to(read(ref), (batch, 2, width)) for ref in refs]
        answers[argument.name] = np.stack(jets, axis=1).reshape((batch, *argument.shape, 2, width))
    return answers


# ---- arithmetic of jets; a coefficient is a dual number (..., 2)


def _constant(value: float, width: int) -> Array:
    jet = np.zeros((1, 2, width))
    jet[0, 0, 0] = value
    return jet


def _dual(a: Array, b: Array) -> Array:
    """Product of dual numbers."""
    return np.stack([a[..., 0] * b[..., 0], a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]], axis=-1)


def _convolution(a: Array, b: Array, k: int, first: int = 0, weight: bool = False) -> Array:
    """Coefficient k of a product, sum over i >= first of (i) a_i b_(k-i)."""
    left, right = a[..., first : k + 1], b[..., k - first :: -1] if k > first else b[..., : k - first + 1]
    if weight:
        left = left * np.arange(first, k + 1)
    value = (left[..., 0, :] * right[..., 0, :]).sum(axis=-1)
    slope = (left[..., 0, :] * right[..., 1, :] + left[..., 1, :] * right[..., 0, :]).sum(axis=-1)
    return np.stack([value, slope], axis=-1)


def _multiply(a: Array, b: Array) -> Array:
    shape = np.broadcast_shapes(a.shape, b.shape)
    result = np.empty(shape)
    for k in range(shape[-1]):
        result[..., k] = _convolution(a, b, k)
    return result


def _reciprocal(b: Array) -> Array:
    """1 / b for dual numbers."""
    return np.stack([1 / b[..., 0], -b[..., 1] / b[..., 0] ** 2], axis=-1)


def _divide(a: Array, b: Array) -> Array:
    result: Array = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    inverse = _reciprocal(b[..., 0])
    for k in range(result.shape[-1]):
        rest = np.broadcast_to(a[..., k], result[..., 0].shape)
        if k:
            rest = rest - _convolution(b, result, k, first=1)
        result[..., k] = _dual(rest, inverse)
    return result


def _sine_and_cosine(u: Array) -> tuple[Array, Array]:
    """k s_k = sum_i i u_i c_(k-i), k c_k = -sum_i i u_i s_(k-i)."""
    s, c = np.zeros(u.shape), np.zeros(u.shape)
    s[..., 0, 0], c[..., 0, 0] = np.sin(u[..., 0, 0]), np.cos(u[..., 0, 0])
    s[..., 1, 0], c[..., 1, 0] = u[..., 1, 0] * c[..., 0, 0], -u[..., 1, 0] * s[..., 0, 0]
    for k in range(1, u.shape[-1]):
        s[..., k] = _convolution(u, c, k, first=1, weight=True) / k
        c[..., k] = -_convolution(u, s, k, first=1, weight=True) / k
    return s, c


def _root(u: Array) -> Array:
    """y^2 = u: 2 y_0 y_k = u_k - sum over 0 < i < k of y_i y_(k-i)."""
    y = np.zeros(u.shape)
    y[..., 0, 0] = np.sqrt(u[..., 0, 0])
    y[..., 1, 0] = u[..., 1, 0] / (2 * y[..., 0, 0])
    half = _reciprocal(2 * y[..., 0])
    for k in range(1, u.shape[-1]):
        y[..., k] = _dual(u[..., k] - _convolution(y, y, k), half)  # y_k is still zero in the sum
    return y


def _tanh(u: Array) -> Array:
    """y' = (1 - y^2) u': k y_k = sum_i i u_i w_(k-i), w = 1 - y^2."""
    y, w = np.zeros(u.shape), np.zeros(u.shape)
    y[..., 0, 0] = np.tanh(u[..., 0, 0])
    w[..., 0, 0] = 1 - y[..., 0, 0] ** 2
    y[..., 1, 0] = u[..., 1, 0] * w[..., 0, 0]
    w[..., 1, 0] = -2 * y[..., 0, 0] * y[..., 1, 0]
    for k in range(1, u.shape[-1]):
        y[..., k] = _convolution(u, w, k, first=1, weight=True) / k
        w[..., k] = -_convolution(y, y, k)
    return y
