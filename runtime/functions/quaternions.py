"""Quaternions in the positions of a model: made unit before they reach the compiled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def unit_quaternions(q: ArrayLike, starts: Sequence[int]) -> Any:
    """q with unit quaternions; what is no array of numbers stays, for the checks behind to name it."""
    array = np.asarray(q)
    if array.dtype.kind not in "iuf" or array.ndim < 1 or array.shape[-1] < max(starts) + 4:
        return q
    array = np.array(array, dtype=np.result_type(array.dtype, np.float32))
    for start in starts:
        part = array[..., start : start + 4]
        part /= np.linalg.norm(part, axis=-1, keepdims=True)
    return array
