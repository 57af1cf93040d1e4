"""What the printed text depends on besides the program, and how arguments are declared in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.program.program import Extent
from elastogen.runtime.interface.argument import Argument


@dataclass(frozen=True)
class Dialect:
    """What the printed text depends on besides the program."""

    prefix: str  # the robot's name: begins every symbol
    real: str  # "double" or "float"
    sincos: str  # "fast": <prefix>_sincos for many angles at once; "libm": sin and cos, one by one
    lanes: bool = False  # whether a number is a vector of several states: see files/lanes.py

    def all_lanes(self, number: str) -> str:
        """A literal where a number of the real type is needed."""
        return f"{self.prefix.upper()}_ALL({number})" if self.lanes else number

    @property
    def real_type(self) -> str:
        """The type of every number."""
        return f"{self.prefix}_real_t"

    @property
    def params_type(self) -> str:
        """The type of the live parameters."""
        return f"{self.prefix}_params_t"

    @property
    def failure(self) -> str:
        """The status of a function whose pivot is not positive."""
        return f"{self.prefix.upper()}_ERROR_NOT_POSITIVE_DEFINITE"


def parameter_list(inputs: Sequence[Argument], outputs: Sequence[Argument], dialect: Dialect) -> tuple[str, ...]:
    """The parameters of an emitted function: live parameters, inputs, outputs."""
    read = (f"const {array_parameter(argument, dialect)}" for argument in inputs)
    written = (array_parameter(argument, dialect) for argument in outputs)
    return (f"const {dialect.params_type} *p", *read, *written)


def array_parameter(argument: Argument, dialect: Dialect) -> str:
    """An array as a parameter of a function."""
    return f"{dialect.real_type} {argument.name}[{size_text(argument, dialect)}]"


def size_text(argument: Argument, dialect: Dialect) -> str:
    """The number of elements of an array, by the macros of the header where it has any: ``6 * ARM_NQ``."""
    if dialect.lanes:
        return str(argument.size)
    known = [f"{dialect.prefix.upper()}_{extent.macro}" for extent in argument.shape if isinstance(extent, Extent)]
    number = math.prod(length for length in argument.shape if not isinstance(length, Extent))
    return " * ".join([*([str(number)] if number != 1 or not known else []), *known])
