"""A test that is emitted with the files: every function at one state, compared with numbers that Python computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.build.files.contexts import BundleContext, Identity
from elastogen.build.files.templating import fill
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function

CHECK = "tests/check.c"
SHAKE = 1e-12  # relative change of all inputs that the tolerance of a double covers; that of a float: what rounding changes
FLOOR = {"double": 1e-9, "float": 1e-4}  # least tolerance, relative to the largest number of an array
MOST = 0.05  # beyond this, relative, the state is too badly conditioned for a check
PER_LINE = 6


@dataclass(frozen=True)
class KnownArray:
    """An argument of a function: a given input, or an expected output."""

    name: str
    shape: tuple[int, ...]
    values: str  # lines of numbers between commas, row by row
    is_output: bool
    tolerance: str = ""  # absolute

    @property
    def size(self) -> int:
        """Return how many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class KnownCase:
    """A function with the numbers of one call, in the order of its arguments in C."""

    name: str
    returns: str
    arrays: tuple[KnownArray, ...]


@dataclass(frozen=True)
class KnownNumbersContext:
    """For ``bundle/check.c.j2`` and its like in Python and MATLAB."""

    identity: Identity
    cases: tuple[KnownCase, ...]
    left_out: tuple[str, ...]  # functions without finite numbers at this state, or whose digits are lost in rounding


def known_numbers(derivation: ModelDerivation, about: BundleContext, template: str = "bundle/check.c.j2") -> str:
    """The text of the test, in C or as another template has it.

    Numbers have ten digits, so that the last bits of a machine's sine do not show.
    """
    functions = {f"{about.identity.name}_{function.name}": function for function in derivation.functions}
    parameters = {parameter.name: parameter.value for parameter in derivation.robot.live_parameters}
    cases, left_out = [], []
    for document in about.functions:
        name = document.prototype.name
        if name not in functions:  # a variant with given elements
            continue
        found = _numbers(functions[name], parameters, about.identity.real)
        if found is None:
            left_out.append(name)
        else:
            arrays = tuple(found[argument.name] for argument in document.arguments)
            cases.append(KnownCase(name, document.prototype.returns, arrays))
    return fill(template, KnownNumbersContext(about.identity, tuple(cases), tuple(left_out)))


def _numbers(function: Function, parameters: Mapping[str, float], real: str) -> dict[str, KnownArray] | None:
    inputs: dict[str, Any] = {
        argument.name: np.array([round(0.1 * (1 + k % 9), 1) for k in range(argument.size)]).reshape(argument.shape)
        for argument in function.inputs
    }
    with np.errstate(all="ignore"):
        results = function.evaluate(inputs, parameters)
        if real == "float":
            shaken = function.evaluate(inputs, parameters, np.float32)
        else:
            shaken = function.evaluate({name: value * (1.0 + SHAKE) for name, value in inputs.items()}, parameters)
    found = {name: KnownArray(name, value.shape, _lines(np.ravel(value), 1), False) for name, value in inputs.items()}
    for argument in function.outputs:
        value, other = (np.ravel(np.asarray(x[argument.name], dtype=float)) for x in (results, shaken))
        largest = float(np.max(np.abs(value)))
        if not math.isfinite(largest) or not np.all(np.isfinite(other)) or largest > (1e30 if real == "float" else 1e300):
            return None
        allowed = max(FLOOR[real] * (largest or 1.0), 10.0 * float(np.max(np.abs(other - value))))
        if allowed > MOST * (largest or 1.0):
            return None
        decimals = 10 - math.ceil(math.log10(largest or 1.0))
        digits = f"{10.0 ** math.ceil(math.log10(allowed)):.0e}"
        found[argument.name] = KnownArray(argument.name, argument.shape, _lines(value, decimals), True, digits)
    return found


def _lines(values: Any, decimals: int) -> str:
    texts = [repr(float(round(float(value), decimals)) + 0.0) for value in values]
    return (",\n" + 8 * " ").join(", ".join(texts[k : k + PER_LINE]) for k in range(0, len(texts), PER_LINE))
