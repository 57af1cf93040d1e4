"""Inertial parameters of a body that exists: log-Cholesky coordinates of its pseudo-inertia.

The pseudo-inertia P = [[S, h], [h^T, m]], with S = int r r^T dm, is positive definite exactly if some mass distribution with
volume has it (Wensing, Kim, Slotine 2018). With P0 = A A^T that of a first guess, P = A U U^T A^T, where U is upper triangular,

    U = exp(a) [[exp(d1), s12, s13, t1], [0, exp(d2), s23, t2], [0, 0, exp(d3), t3], [0, 0, 0, 1]]

(Rucker, Wensing 2022), takes every such P once; the ten numbers (a, d, s, t) are free, without unit, and zero at the guess.
"""

from __future__ import annotations

import numpy as np

from elastogen.identification.measurements.read_table import Array

NAMES = ("mass", "mx", "my", "mz", "Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz")  # in the order of the regressor
SMALLEST_RADIUS = 0.005  # [m] of gyration, of a guess: rods and plates of a description are given so much width
UNKNOWN_RADIUS = 0.05  # [m] the same of bodies that nothing is known of
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def to_matrix(pi: Array) -> Array:
    """The pseudo-inertia (4, 4) of ten parameters m, h, L (about the frame's origin)."""
    P = np.empty((4, 4))
    L = _symmetric(pi[4:])
    P[:3, :3] = 0.5 * np.trace(L) * np.eye(3) - L
    P[:3, 3] = P[3, :3] = pi[1:4]
    P[3, 3] = pi[0]
    return P


def to_parameters(P: Array) -> Array:
    """The inverse."""
    L = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *(L[i, j] for i, j in _PAIRS)])


def _symmetric(six: Array) -> Array:
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def of_body(mass: float, com: Array, inertia: Array) -> Array:
    """The ten parameters of a body whose inertia is given about its centre."""
    L = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.array([mass, *(mass * com), *(L[i, j] for i, j in _PAIRS)])


def to_body(pi: Array) -> tuple[float, Array, Array]:
    """Mass, centre, and inertia about the centre."""
    mass, com = float(pi[0]), pi[1:4] / pi[0]
    return mass, com, _symmetric(pi[4:]) - mass * (com @ com * np.eye(3) - np.outer(com, com))


def is_described(pi: Array, usual_mass: float) -> bool:
    """Whether a description says anything of the body."""
    return bool(pi[0] > 1e-3 * usual_mass)


def guess(pi: Array, usual_mass: float) -> Array:
    """Parameters near the described ones whose pseudo-inertia is positive definite, to start from."""
    if not is_described(pi, usual_mass):
        return to_parameters(0.3 * usual_mass * np.diag([UNKNOWN_RADIUS**2] * 3 + [1.0]))
    mass, com = pi[0], pi[1:4] / pi[0]
    values, vectors = np.linalg.eigh(to_matrix(pi)[:3, :3] - mass * np.outer(com, com))
    least = max(mass * SMALLEST_RADIUS**2, 1e-2 * float(values.max(initial=0.0)))
    P = np.empty((4, 4))
    P[:3, :3] = (vectors * np.maximum(values, least)) @ vectors.T + mass * np.outer(com, com)
    P[:3, 3] = P[3, :3] = mass * com
    P[3, 3] = mass
    return to_parameters(P)


class LogCholesky:
    """The coordinates around a first guess."""

    def __init__(self, first: Array) -> None:
        self.first = first
        self._A = np.linalg.cholesky(to_matrix(first))

    def parameters(self, theta: Array) -> Array:
        """The ten parameters at the coordinates a, d1, d2, d3, s12, s13, s23, t1, t2, t3."""
        AU = self._A @ _factor(theta)
        return to_parameters(AU @ AU.T)

    def slopes(self, theta: Array) -> Array:
        """(10, 10): derivatives of the parameters (rows) by the coordinates (columns)."""
        U, AU = _factor(theta), self._A @ _factor(theta)
        columns = []
        for k in range(10):
            dU = U if k == 0 else np.exp(theta[0]) * _unit(k, theta)
            half = AU @ (self._A @ dU).T
            columns.append(to_parameters(half + half.T))
        return np.column_stack(columns)


_PLACES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))  # of s12, s13, s23, t1, t2, t3


def _factor(theta: Array) -> Array:
    U = np.diag([*np.exp(theta[1:4]), 1.0])
    for value, place in zip(theta[4:], _PLACES, strict=True):
        U[place] = value
    return np.asarray(np.exp(theta[0]) * U)


def _unit(k: int, theta: Array) -> Array:
    dU = np.zeros((4, 4))
    if k < 4:
        dU[k - 1, k - 1] = np.exp(theta[k])
    else:
        dU[_PLACES[k - 4]] = 1.0
    return dU
