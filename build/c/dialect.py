"""Choices that the printed text depends on besides the program, and the declarations of arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.program.program import Extent
from elastogen.runtime.interface.argument import Argument


@dataclass(frozen=True)
class Dialect:
    """Choices that the printed text depends on besides the program."""

    prefix: str  # the robot's name: begins every symbol
    real: str  # "double" or "float"
    sincos: str  # "fast": <prefix>_sincos for many angles at once; "libm": sin and cos, one by one
    lanes: bool = False  # whether a number is a vector of several states: see files/lanes.py

    def all_lanes(self, number: str) -> str:
        """Return a literal in a place that needs a number of the real type."""
        return f"{self.prefix.upper()}_ALL({number})" if self.lanes else number

    @property
    def real_type(self) -> str:
        """Return the type of every number."""
        return f"{self.prefix}_real_t"

    @property
    def params_type(self) -> str:
        """Return the type of the live parameters."""
        return f"{self.prefix}_params_t"

    @property
    def failure(self) -> str:
        """Return the status of a function whose pivot is not positive."""
        return f"{self.prefix.upper()}_ERROR_NOT_POSITIVE_DEFINITE"


def parameter_list(inputs: Sequence[Argument], outputs: Sequence[Argument], dialect: Dialect) -> tuple[str, ...]:
    """Return the parameters of an emitted function: live parameters, inputs, outputs."""
    read = (f"const {array_parameter(argument, dialect)}" for argument in inputs)
    written = (array_parameter(argument, dialect) for argument in outputs)
    return (f"const {dialect.params_type} *p", *read, *written)


def array_parameter(argument: Argument, dialect: Dialect) -> str:
    """Declare an array as a parameter of a function."""
    return f"{dialect.real_type} {argument.name}[{size_text(argument, dialect)}]"


def size_text(argument: Argument, dialect: Dialect) -> str:
    """Return the number of elements of an array in terms of the header's macros, if there are any: ``6 * ARM_NQ``."""
    if dialect.lanes:
        return str(argument.size)
    known = [f"{dialect.prefix.upper()}_{extent.macro}" for extent in argument.shape if isinstance(extent, Extent)]
    number = math.prod(length for length in argument.shape if not isinstance(length, Extent))
    return " * ".join([*([str(number)] if number != 1 or not known else []), *known])
