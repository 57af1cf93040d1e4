"""Positions with quaternions, in the loop's arguments: made unit, and beside the velocities that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.quaternions import coordinates_beside, unit_quaternions
from elastogen.runtime.model.model import Model


def unit_positions(model: Model, what: str, q: NDArray[Any]) -> NDArray[Any]:
    """Positions with their quaternions made unit; one that is zero has no direction."""
    quaternions = model.metadata.quaternions
    for start in quaternions:
        if not np.linalg.norm(q[..., start : start + 4], axis=-1).all():
            names = ", ".join(model.coordinate_names[start : start + 4])
            raise ModelError(
                f"{model.name}: {what}: {names} are 0, expected a unit quaternion. Fix: 0, 0, 0, 1 is the identity."
            )
    if not quaternions:
        return q
    unit: NDArray[Any] = unit_quaternions(q, quaternions).astype(q.dtype)
    return unit


def positions_of(model: Model, velocities: Sequence[int]) -> list[int]:
    """Indices in q of the coordinates beside some velocities; a quaternion comes with its three velocities, in their order."""
    places = coordinates_beside(model.metadata)
    found = [place for k in velocities for place in places[k]]
    for start in model.metadata.quaternions:
        whole = list(range(start, start + 4))
        at = next((k for k, place in enumerate(found) if place in whole), None)
        if at is not None and found[at : at + 4] != whole:
            raise ModelError(
                f"{model.name}: got the velocities {list(velocities)}, expected all three of a rotation in order, or none."
            )
    return found
