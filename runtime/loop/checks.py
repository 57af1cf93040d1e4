"""Arguments of a loop, checked one by one: what was given, what was expected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened


def number(what: str, given: object, least: float, most: float, expected: str) -> float:
    """A real number from ``least`` to ``most``, both included; ``expected`` says so in words."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
        if least <= value <= most:
            return value
    raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.")


def whole(what: str, given: object, least: int, most: int, expected: str) -> int:
    """A whole number from ``least`` to ``most``, both included."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and least <= int(given) <= most:
        return int(given)
    raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.")


def instance(what: str, given: object, kind: type[Any], expected: str) -> Any:
    """An object of a class."""
    if isinstance(given, kind):
        return given
    raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.")
