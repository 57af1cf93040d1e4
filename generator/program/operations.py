"""The operations that programs are made of, with the names and costs of elementary functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

import numpy as np


class Op(IntEnum):
    """The operation of a node."""

    CONSTANT = 0
    INPUT = 1
    ADD = 2  # a + b; the edge of b may be negated
    MUL = 3
    DIV = 4
    SIN = 5
    COS = 6
    SQRT = 7
    TANH = 8
    EXP = 9
    LOG = 10
    ASIN = 11
    ACOS = 12
    ATAN = 13
    SINH = 14
    COSH = 15
    ASINH = 16
    ACOSH = 17
    ATANH = 18
    ABS = 19
    ATAN2 = 20  # angle of the point x = b, y = a
    POW = 21  # a^b, a >= 0
    MIN = 22
    MAX = 23
    SELECT = 24  # b where a < 0, else c
    ERF = 25
    FLOOR = 26


class Parity(Enum):
    """How a function changes when its argument changes sign."""

    ODD = "odd"
    EVEN = "even"
    NEITHER = "neither"


@dataclass(frozen=True)
class Elementary:
    """A function of one or two arguments: its name in math.h (and mpmath), its values, its cost in additions."""

    name: str
    parity: Parity
    number: Callable[..., float]
    array: Callable[..., Any]
    cost: float
    arguments: int = 1


def _function(name: str, number: Callable[..., float], array: Callable[..., Any], cost: float = 20.0) -> Elementary:
    return Elementary(name, Parity.NEITHER, number, array, cost)


def _odd(name: str, number: Callable[..., float], array: Callable[..., Any], cost: float = 20.0) -> Elementary:
    return Elementary(name, Parity.ODD, number, array, cost)


def _even(name: str, number: Callable[..., float], array: Callable[..., Any], cost: float = 20.0) -> Elementary:
    return Elementary(name, Parity.EVEN, number, array, cost)


def _of_two(name: str, number: Callable[..., float], array: Callable[..., Any], cost: float) -> Elementary:
    return Elementary(name, Parity.NEITHER, number, array, cost, arguments=2)


ELEMENTARY: dict[Op, Elementary] = {
    Op.SIN: _odd("sin", math.sin, np.sin, 10.0),
    Op.COS: _even("cos", math.cos, np.cos, 10.0),
    Op.SQRT: _function("sqrt", math.sqrt, np.sqrt, 10.0),
    Op.TANH: _odd("tanh", math.tanh, np.tanh),
    Op.EXP: _function("exp", math.exp, np.exp),
    Op.LOG: _function("log", math.log, np.log),
    Op.ASIN: _odd("asin", math.asin, np.arcsin),
    Op.ACOS: _function("acos", math.acos, np.arccos),
    Op.ATAN: _odd("atan", math.atan, np.arctan),
    Op.SINH: _odd("sinh", math.sinh, np.sinh),
    Op.COSH: _even("cosh", math.cosh, np.cosh),
    Op.ASINH: _odd("asinh", math.asinh, np.arcsinh),
    Op.ACOSH: _function("acosh", math.acosh, np.arccosh),
    Op.ATANH: _odd("atanh", math.atanh, np.arctanh),
    Op.ABS: _even("fabs", math.fabs, np.abs, 1.0),
    Op.ERF: _odd("erf", math.erf, np.vectorize(math.erf, otypes=[float])),
    Op.FLOOR: _function("floor", lambda x: float(math.floor(x)), np.floor, 2.0),
    Op.ATAN2: _of_two("atan2", math.atan2, np.arctan2, 30.0),
    Op.POW: _of_two("pow", math.pow, np.power, 40.0),
    Op.MIN: _of_two("fmin", min, np.fmin, 1.0),
    Op.MAX: _of_two("fmax", max, np.fmax, 1.0),
}
SELECTION = "select"  # what SELECT is called in counts; in C it is the operator ?:
COST: dict[Op, float] = {
    Op.ADD: 1.0, Op.MUL: 1.0, Op.DIV: 8.0, Op.SELECT: 2.0, **{op: known.cost for op, known in ELEMENTARY.items()}
}  # fmt: skip  # rough time in units of an addition, to choose between derivations of the same thing
COUNTED_ALONE = (Op.SIN, Op.COS, Op.SQRT, Op.TANH)  # have fields of their own in an OperationCount


def takes_sign(op: Op) -> bool:
    """Whether an elementary function of -x is neither plus nor minus that of x."""
    return ELEMENTARY[op].parity is Parity.NEITHER


KINKS = frozenset((Op.SELECT, Op.MIN, Op.MAX, Op.ABS))  # they choose between formulas
