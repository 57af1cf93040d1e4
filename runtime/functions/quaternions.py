"""Quaternions in the positions of a model are normalized before they reach compiled functions; brackets of velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.metadata import Metadata


def unit_quaternions(q: ArrayLike, starts: Sequence[int]) -> Any:
    """Return q with unit quaternions; anything but an array of numbers is returned as it is, and refused later."""
    array = np.asarray(q)
    if array.dtype.kind not in "iuf" or array.ndim < 1 or array.shape[-1] < max(starts) + 4:
        return q
    array = np.array(array, dtype=np.result_type(array.dtype, np.float32))
    for start in starts:
        part = array[..., start : start + 4]
        length = np.linalg.norm(part, axis=-1, keepdims=True)
        if not length.all():
            raise ModelError(
                f"q[{start}] to q[{start + 3}] are 0, expected a unit quaternion. Fix: 0, 0, 0, 1 is the identity."
            )
        part /= length
    return array


def coordinates_beside(metadata: Metadata) -> list[list[int]]:
    """Return the coordinates that belong to each velocity; the last one of a rotation has two, z and w."""
    found: list[list[int]] = []
    place = 0
    for _ in metadata.velocity_names:
        ends = place - 2 in metadata.quaternions
        found.append([place, place + 1] if ends else [place])
        place += 2 if ends else 1
    return found


def velocity_beside(metadata: Metadata) -> list[int]:
    """Return for every coordinate the velocity that belongs to it."""
    return [k for k, places in enumerate(coordinates_beside(metadata)) for _ in places]


def elastic_positions(metadata: Metadata) -> list[bool]:
    """Return for every coordinate whether it is elastic."""
    return [metadata.elastic_coordinates[k] for k in velocity_beside(metadata)]


def commutators(metadata: Metadata, qd: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ad(qd): columns are the brackets [qd, e_k] of velocities in moving frames, (nv, nv); zero where qd = dq/dt."""
    n = len(metadata.velocity_names)
    result = np.zeros((n, n))
    for number, start in enumerate(metadata.quaternions):
        turn = slice(start - number, start - number + 3)  # every quaternion before has one number more than its velocities
        spin = _skew(qd[turn])
        result[turn, turn] = spin
        if f"{metadata.coordinate_names[start].rpartition('.')[0]}.vx" in metadata.velocity_names:  # floating
            slide = slice(turn.start - 3, turn.start)
            result[slide, slide], result[slide, turn] = spin, _skew(qd[slide])
    return result


def _skew(v: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
