"""First-order bounds of the rounding errors of a program: what floating point numbers can do to it at a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elastogen.generator.program.graph import Op
from elastogen.generator.program.interpret import Arithmetic, interpret
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import Program

_SLOPE: dict[Op, Any] = {
    Op.SIN: np.cos, Op.COS: np.sin, Op.SQRT: lambda x: 0.5 / np.sqrt(x), Op.TANH: lambda x: 1 / np.cosh(x) ** 2, Op.EXP: np.exp,
    Op.LOG: lambda x: 1 / x, Op.ASIN: lambda x: 1 / np.sqrt(1 - x * x), Op.ACOS: lambda x: 1 / np.sqrt(1 - x * x),
    Op.ATAN: lambda x: 1 / (1 + x * x), Op.SINH: np.cosh, Op.COSH: np.sinh, Op.ASINH: lambda x: 1 / np.sqrt(1 + x * x),
    Op.ACOSH: lambda x: 1 / np.sqrt(x * x - 1), Op.ATANH: lambda x: 1 / (1 - x * x), Op.ABS: np.sign,
    Op.ERF: lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x), Op.FLOOR: lambda x: 0.0,
}  # fmt: skip


class Rounded:
    """A value, and a bound of its error in units of half an ulp of 1."""

    __slots__ = ("error", "value")

    def __init__(self, value: float, error: float) -> None:
        self.value, self.error = value, error

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __add__(self, other: Rounded) -> Rounded:
        total = self.value + other.value
        return Rounded(total, self.error + other.error + abs(total))

    def __mul__(self, other: Rounded) -> Rounded:
        product = self.value * other.value
        return Rounded(product, abs(self.value) * other.error + abs(other.value) * self.error + abs(product))

    def __truediv__(self, other: Rounded) -> Rounded:
        quotient = self.value / other.value
        return Rounded(quotient, (self.error + abs(quotient) * other.error) / abs(other.value) + abs(quotient))


def _function(op: Op) -> Any:
    def apply(x: Rounded) -> Rounded:
        value = float(ELEMENTARY[op].array(x.value))
        return Rounded(value, abs(float(_SLOPE[op](x.value))) * x.error + 4 * abs(value))  # a good library: 2 ulp

    return apply


def _angle(y: Rounded, x: Rounded) -> Rounded:
    value, square = float(np.arctan2(y.value, x.value)), x.value**2 + y.value**2
    return Rounded(value, (abs(x.value) * y.error + abs(y.value) * x.error) / square + 4 * abs(value))


def _power(x: Rounded, y: Rounded) -> Rounded:
    value = float(np.power(x.value, y.value))
    slope = abs(y.value * value / x.value) if x.value else 0.0
    return Rounded(value, slope * x.error + abs(value * np.log(abs(x.value) or 1.0)) * y.error + 4 * abs(value))


_ROUNDED = Arithmetic(
    lambda number: Rounded(number, abs(number)),
    {
        **{op: _function(op) for op in _SLOPE},
        Op.ATAN2: _angle,
        Op.POW: _power,
        Op.MIN: lambda x, y: x if x.value < y.value else y,
        Op.MAX: lambda x, y: y if x.value < y.value else x,
        Op.SELECT: lambda decides, x, y: x if decides.value < 0 else y,
    },
)


def bounds(program: Program, arguments: Mapping[str, Any], parameters: Mapping[str, float]) -> dict[str, Any]:
    """For every output, bounds of the errors of its entries in units of half an ulp of 1 (2^-53 for double)."""
    environment = {name: Rounded(value, abs(value)) for name, value in parameters.items()}
    for argument in program.inputs:
        flat = np.asarray(arguments[argument.name], dtype=float).reshape(argument.size)
        environment |= {argument.element(k): Rounded(float(x), 0.0) for k, x in enumerate(flat)}
    with np.errstate(all="ignore"):
        read = interpret(program.graph, program.order, environment, _ROUNDED).read
    return {a.name: np.array([read(ref).error for ref in refs]).reshape(a.shape) for a, refs in program.outputs}
