"""Numbers of the joints alone, for a robot that has elastic coordinates too: these are at rest, and nothing drives them.

One rule for initial states, constant and switched forces, tables, references and gains, in Python and on the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def for_all(values: NDArray[Any], elastic: Sequence[bool]) -> NDArray[Any]:
    """Values (..., number of joints) as (..., len(elastic)), zero where ``elastic``; others stay as they are."""
    joints = [k for k, of_link in enumerate(elastic) if not of_link]
    if len(joints) == len(elastic) or values.ndim < 1 or values.shape[-1] != len(joints):
        return values
    found = np.zeros((*values.shape[:-1], len(elastic)), dtype=values.dtype)
    found[..., joints] = values
    return found


def or_joints(elastic: Sequence[bool]) -> str:
    """What else is taken, for messages: ", or 2 of the joints"; nothing where all coordinates are of joints."""
    joints = sum(not of_link for of_link in elastic)
    return "" if joints == len(elastic) else f", or {joints} of the joints"
