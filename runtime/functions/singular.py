"""Why a mass matrix could not be factorized: missing or negative inertia, or lost accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def why_singular(M: NDArray[Any], names: Sequence[str]) -> str:
    """The likely cause of a pivot that is not positive, with its coordinate, and the fix; M in the precision of the model.

    M is scaled to a unit diagonal first, so that units and the scales of shape functions do not count. Its pivots are those of
    the elimination from the tips inward, in double precision.
    """
    precision = float(np.finfo(M.dtype).eps)
    M = M.astype(float)
    if not np.isfinite(M).all():
        return "NaN or infinity in the mass matrix: the state or a live parameter is not finite, or too large"
    diagonal = np.diag(M)
    low = int(np.argmin(diagonal))
    if diagonal[low] <= 0:
        kind = "a link without inertia" if diagonal[low] == 0 else "a negative inertia"
        return f"{kind}: M[{low}][{low}] = {diagonal[low]:.3g}, what {names[low]} moves"
    scale = 1.0 / np.sqrt(diagonal)
    scaled = M * np.outer(scale, scale)
    values, vectors = np.linalg.eigh(scaled)
    pivots = _pivots(scaled)
    bad = int(np.argmin(pivots))
    noise = 4 * len(M) * precision  # rounding errors of M itself move its eigenvalues by this much
    place = f"the pivot of {names[bad]} is {pivots[bad]:.2g} of its M[{bad}][{bad}]"
    if values[0] < -noise:
        return f"a link without inertia, or with a negative one: {place}, no inertia resists {_motion(vectors[:, 0], names)}"
    if values[0] <= noise:
        return (
            f"a link without inertia, or shapes that are nearly the same: {place}, {_motion(vectors[:, 0], names)} is a motion "
            f"without inertia within the precision of {precision:.1g}"
        )
    return (
        f"lost accuracy, no inertia is missing: {place}, the condition of M with unit diagonal is {values[-1] / values[0]:.2g} "
        f"in a precision of {precision:.1g}; precision 'double', fewer elements or reduced modes keep more digits"
    )


def condition(M: NDArray[Any]) -> float:
    """Return the condition number of a mass matrix scaled to a unit diagonal; infinite if it is not positive definite."""
    diagonal = np.diag(M).astype(float)
    if not (np.isfinite(M).all() and (diagonal > 0).all()):
        return float("inf")
    values = np.linalg.eigvalsh(M / np.sqrt(np.outer(diagonal, diagonal)))
    return float(values[-1] / values[0]) if values[0] > 0 else float("inf")


def _pivots(M: NDArray[Any]) -> NDArray[Any]:
    """Return the pivots of the elimination from the last coordinate to the first; those after a failed pivot are unknown."""
    H = M.copy()
    for k in reversed(range(len(H))):
        if H[k, k] <= 0:
            H[:k, :k] = np.inf
            break
        H[:k, :k] -= np.outer(H[:k, k], H[k, :k]) / H[k, k]
    pivots: NDArray[Any] = np.diag(H).copy()
    return pivots


def _motion(direction: NDArray[Any], names: Sequence[str]) -> str:
    """Return the coordinates that take part in a motion, the largest first."""
    order = np.argsort(-np.abs(direction), kind="stable")
    return " with ".join(names[k] for k in order[:3] if abs(direction[k]) > 0.1)
