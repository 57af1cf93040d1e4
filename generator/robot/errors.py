"""The exceptions of elastogen: every message names the object, what was given, what was expected, the fix.

Those of a derivation are in generator/derivation_errors.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from elastogen.runtime.interface.error import COMPARED as COMPARED
from elastogen.runtime.interface.error import ElastogenError as ElastogenError
from elastogen.runtime.interface.error import ReadableMessage as ReadableMessage
from elastogen.runtime.interface.error import close_names as close_names
from elastogen.runtime.interface.error import removed_directory as removed_directory
from elastogen.runtime.interface.error import shortened as shortened


class RobotError(ElastogenError):
    """A robot description is wrong.

    ``source`` is the file or object, ``field`` the dotted path inside it, ``given`` the offending value,
    ``expected`` what would be right, ``fix`` what the user can do.
    """

    def __init__(self, source: str, field: str, given: object, expected: str, fix: str = "") -> None:
        self.source, self.field, self.given, self.expected, self.fix = source, field, given, expected, fix
        shown = shortened(given)
        where = f"{source}: {field}" if field else source
        message = f"{where}: got {shown}, expected {expected}."
        super().__init__(f"{message} Fix: {fix}" if fix else message)


@contextmanager
def finite_arithmetic(source: str, field: str) -> Iterator[None]:
    """Report failing arithmetic as a fault of the description, naming what was computed."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as problem:
        raise RobotError(
            source, field, str(problem) or type(problem).__name__, "numbers of which its equations can be computed",
            "look for masses, lengths, stiffnesses and divisors that are zero, and for sizes far from SI units",
        ) from problem  # fmt: skip


class OutputError(ElastogenError):
    """An output (an emitted function) or an option does not exist or was not emitted."""


class BuildError(ElastogenError):
    """Rendering, writing or compiling failed; the message has the compiler's output."""


class RobotWarning(ReadableMessage, UserWarning):
    """A robot description is accepted but looks wrong, for example lengths that were meant in millimetres."""
