"""Cubic splines through samples, for reference motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cubic_spline(t: NDArray[Any], x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Velocities and accelerations at the samples ``x`` (n, m) of the cubic spline that starts and ends at rest.

    Continuity of the second derivative at the inner samples gives a tridiagonal system for the velocities.
    """
    n = len(t)
    v = np.zeros_like(x)
    h = np.diff(t)[:, None]
    slope = np.diff(x, axis=0) / h if n > 1 else np.zeros_like(x)
    if n > 2:
        right = 3.0 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
        v[1:-1] = _tridiagonal(h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1], right)
    a = np.zeros_like(x)
    if n > 1:
        a[:-1] = (6.0 * slope - 4.0 * v[:-1] - 2.0 * v[1:]) / h
        a[-1] = (2.0 * v[-2] + 4.0 * v[-1] - 6.0 * slope[-1]) / h[-1]
    return v, a


def _tridiagonal(lower: NDArray[Any], diagonal: NDArray[Any], upper: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Solve row k: lower[k] x[k-1] + diagonal[k] x[k] + upper[k] x[k+1] = right[k]; dominant diagonal, no pivots."""
    d: NDArray[Any] = diagonal.copy()
    b: NDArray[Any] = right.copy()
    for k in range(1, len(d)):
        factor = lower[k] / d[k - 1]
        d[k] -= factor * upper[k - 1]
        b[k] -= factor * b[k - 1]
    b[-1] /= d[-1]
    for k in range(len(d) - 2, -1, -1):
        b[k] = (b[k] - upper[k] * b[k + 1]) / d[k]
    return b
