"""Arithmetic of truncated Taylor series in time whose coefficients are dual numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.graph import Op
from elastogen.generator.program.interpret import Arithmetic
from elastogen.generator.program.operations import ELEMENTARY

Array = npt.NDArray[np.float64]


class Jet:
    """Coefficients (..., 2, order + 1): of t^0, t^1, ..., each with its derivative along a direction."""

    __slots__ = ("data",)

    def __init__(self, data: Array) -> None:
        self.data = data

    @classmethod
    def constant(cls, value: float, width: int) -> Jet:
        """Return a number as a jet."""
        data = np.zeros((1, 2, width))
        data[0, 0, 0] = value
        return cls(data)

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.data + other.data)

    def __neg__(self) -> Jet:
        return Jet(-self.data)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.data - other.data)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(_multiply(self.data, other.data))

    def __truediv__(self, other: Jet) -> Jet:
        return Jet(_divide(self.data, other.data))

    @property
    def leading(self) -> Array:
        """Return the value at t = 0, with axes that broadcast against the coefficients."""
        return self.data[..., 0:1, 0:1]


def sine_and_cosine(x: Jet) -> tuple[Jet, Jet]:
    """Return both, since each needs the other."""
    sine, cosine = _sine_and_cosine(x.data)
    return Jet(sine), Jet(cosine)


def arithmetic(width: int) -> Arithmetic:
    """Return the arithmetic of series with ``width`` coefficients."""
    one = Jet.constant(1.0, width)

    def root(x: Jet) -> Jet:
        return Jet(_root(x.data))

    slopes: dict[Op, Callable[[Jet], Jet]] = {  # of functions whose derivative is algebraic
        Op.LOG: lambda x: one / x,
        Op.ASIN: lambda x: one / root(one - x * x),
        Op.ACOS: lambda x: -one / root(one - x * x),
        Op.ATAN: lambda x: one / (one + x * x),
        Op.ASINH: lambda x: one / root(one + x * x),
        Op.ACOSH: lambda x: one / root(x * x - one),
        Op.ATANH: lambda x: one / (one - x * x),
        Op.ERF: lambda x: Jet.constant(2 / math.sqrt(math.pi), width) * Jet(_exponential((-(x * x)).data)),
    }

    def integrated(op: Op) -> Callable[[Jet], Jet]:
        return lambda x: Jet(_integral(ELEMENTARY[op].array(x.data[..., 0, 0]), [(slopes[op](x).data, x.data)]))

    def angle(y: Jet, x: Jet) -> Jet:
        square = x * x + y * y
        start = np.arctan2(y.data[..., 0, 0], x.data[..., 0, 0])
        return Jet(_integral(start, [((x / square).data, y.data), ((-y / square).data, x.data)]))

    def exponential(x: Jet) -> Jet:
        return Jet(_exponential(x.data))

    def power(x: Jet, y: Jet) -> Jet:
        return exponential(y * integrated(Op.LOG)(x))

    def floor(x: Jet) -> Jet:
        data = np.zeros_like(x.data)
        data[..., 0, 0] = np.floor(x.data[..., 0, 0])
        return Jet(data)

    def select(decides: Jet, x: Jet, y: Jet) -> Jet:
        return Jet(np.where(decides.leading < 0.0, x.data, y.data))

    return Arithmetic(
        lambda value: Jet.constant(value, width),
        {
            **{op: integrated(op) for op in slopes},
            Op.SIN: lambda x: Jet(_sine_and_cosine(x.data)[0]),
            Op.COS: lambda x: Jet(_sine_and_cosine(x.data)[1]),
            Op.SINH: lambda x: Jet(0.5 * (_exponential(x.data) - _exponential(-x.data))),
            Op.COSH: lambda x: Jet(0.5 * (_exponential(x.data) + _exponential(-x.data))),
            Op.SQRT: root,
            Op.TANH: lambda x: Jet(_tanh(x.data)),
            Op.EXP: exponential,
            Op.ATAN2: angle,
            Op.POW: power,
            Op.FLOOR: floor,
            Op.ABS: lambda x: select(x, -x, x),
            Op.MIN: lambda x, y: select(x - y, x, y),
            Op.MAX: lambda x, y: select(y - x, x, y),
            Op.SELECT: select,
        },
    )


# ---- recursions for the coefficients; a coefficient is a dual number (..., 2)


def _dual(a: Array, b: Array) -> Array:
    """Multiply dual numbers."""
    return np.stack([a[..., 0] * b[..., 0], a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]], axis=-1)


def _convolution(a: Array, b: Array, k: int, first: int = 0, weight: bool = False) -> Array:
    """Return coefficient k of a product, sum over i >= first of (i) a_i b_(k-i)."""
    left, right = a[..., first : k + 1], b[..., k - first :: -1] if k > first else b[..., : k - first + 1]
    if weight:
        left = left * np.arange(first, k + 1)
    value = (left[..., 0, :] * right[..., 0, :]).sum(axis=-1)
    slope = (left[..., 0, :] * right[..., 1, :] + left[..., 1, :] * right[..., 0, :]).sum(axis=-1)
    return np.stack([value, slope], axis=-1)


def _multiply(a: Array, b: Array) -> Array:
    width = a.shape[-1]
    result: Array = a[..., :1, :1] * b
    result[..., 1, :] += a[..., 1, :1] * b[..., 0, :]
    for i in range(1, width):
        result[..., i:] += a[..., :1, i : i + 1] * b[..., : width - i]
        result[..., 1, i:] += a[..., 1, i : i + 1] * b[..., 0, : width - i]
    return result


def _reciprocal(b: Array) -> Array:
    """Return 1 / b for dual numbers."""
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


def _exponential(u: Array) -> Array:
    """y' = y u': k y_k = sum_i i u_i y_(k-i)."""
    y = np.zeros(u.shape)
    y[..., 0, 0] = np.exp(u[..., 0, 0])
    y[..., 1, 0] = u[..., 1, 0] * y[..., 0, 0]
    for k in range(1, u.shape[-1]):
        y[..., k] = _convolution(u, y, k, first=1, weight=True) / k
    return y


def _integral(start: Array, terms: list[tuple[Array, Array]]) -> Array:
    """Return y with the value ``start`` and y' = sum of w u' over the terms (w, u)."""
    shape = np.broadcast_shapes(*(array.shape for pair in terms for array in pair))
    y = np.zeros(shape)
    y[..., 0, 0] = start
    for w, u in terms:
        y[..., 1, 0] += w[..., 0, 0] * u[..., 1, 0]
        for k in range(1, shape[-1]):
            y[..., k] += _convolution(u, w, k, first=1, weight=True) / k
    return y
