"""Arguments of a loop, checked one by one: what was given, what was expected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError


def number(what: str, given: object, least: float, most: float, expected: str) -> float:
    """A real number from ``least`` to ``most``, both included; ``expected`` says so in words."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
        if least <= value <= most:
            return value
    raise ModelError(f"{what}: got {given!r}, expected {expected}.")


def whole(what: str, given: object, least: int, most: int, expected: str) -> int:
    """A whole number from ``least`` to ``most``, both included."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and least <= int(given) <= most:
        return int(given)
    raise ModelError(f"{what}: got {given!r}, expected {expected}.")


def flag(what: str, given: object) -> bool:
    """True or False."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise ModelError(f"{what}: got {given!r}, expected True or False.")


def choice(what: str, given: object, names: tuple[str, ...]) -> str:
    """One of some names."""
    if isinstance(given, str) and given in names:
        return given
    raise ModelError(f"{what}: got {given!r}, expected one of {', '.join(names)}.")


def instance(what: str, given: object, kind: type[Any], expected: str) -> Any:
    """An object of a class."""
    if isinstance(given, kind):
        return given
    raise ModelError(f"{what}: got {given!r}, expected {expected}.")


def numbers(what: str, given: object, expected: str = "real numbers") -> NDArray[np.float64]:
    """An array of real numbers, none of them NaN; no text, no complex numbers."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "iuf":
            raise TypeError
        values: NDArray[np.float64] = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: got {given!r}, expected {expected}.") from error
    if np.isnan(values).any():
        raise ModelError(f"{what}: got NaN, expected numbers.")
    return values


def finite(what: str, given: object, expected: str = "finite real numbers") -> NDArray[np.float64]:
    """An array of finite real numbers."""
    values = numbers(what, given, expected)
    if not np.isfinite(values).all():
        raise ModelError(f"{what}: got {given!r}, expected {expected}.")
    return values
