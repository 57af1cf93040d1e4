"""Real numbers that users give: numpy would also take text, truth values, None as NaN, and the real part of complex ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened


def real_array(given: object, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of integers or floats as floats; ValueError or TypeError for anything else, as of numpy itself."""
    array = np.asarray(given)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"got dtype {array.dtype}, expected real numbers")
    return array.astype(dtype, copy=False)


def numbers(what: str, given: object, expected: str = "real numbers") -> NDArray[np.float64]:
    """An array of real numbers, none of them NaN; ModelError for anything else."""
    try:
        values = real_array(given)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.") from error
    if np.isnan(values).any():
        raise ModelError(f"{what}: got NaN, expected numbers.")
    return values


def finite(what: str, given: object, expected: str = "finite real numbers") -> NDArray[np.float64]:
    """An array of finite real numbers; ModelError for anything else."""
    values = numbers(what, given, expected)
    if not np.isfinite(values).all():
        raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.")
    return values


def number(what: str, given: object, expected: str = "a finite real number") -> float:
    """One finite real number; ModelError for anything else."""
    value = finite(what, given, expected)
    if value.ndim:
        raise ModelError(f"{what}: got {shortened(given)}, expected {expected}.")
    return float(value)
