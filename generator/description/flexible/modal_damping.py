"""Damping that gives the clamped modes of a flexible body the ratios asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.beams.damping_parts import DampingParts
from elastogen.generator.beams.natural_frequencies import Array, clamped_modes, naming_heavy_tips
from elastogen.generator.beams.piecewise import ROUNDING, to_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Matrix

UNCOUPLED = 1e-10  # of what two coordinates have themselves


@dataclass(frozen=True)
class ModalDamping:
    """A damping matrix, and the same by parts."""

    matrix: Matrix
    parts: DampingParts

    def cheaper_parts(self, springs: int) -> DampingParts | None:
        """The parts where they take fewer multiplications than the entries, of which beta K takes ``springs``."""
        by_parts = springs + sum(2 * np.count_nonzero(vector) for _, vector in self.parts.modal)
        return self.parts if by_parts < np.count_nonzero(np.array(self.matrix)) else None

    def scaled(self, factor: float) -> ModalDamping:
        """All of it times a factor."""
        matrix = tuple(tuple(to_scalar(factor * entry) if entry != 0 else 0 for entry in row) for row in self.matrix)
        root = float(np.sqrt(factor))
        modal = tuple((sign, tuple(root * entry for entry in vector)) for sign, vector in self.parts.modal)
        return ModalDamping(matrix, DampingParts(factor * self.parts.internal, modal))


def by_ratios(ratios: list[float], mass: Array, stiffness: Array, where: Location) -> ModalDamping:
    """Return D = M X diag(2 zeta_i w_i) X^T M.

    Of ratios for the lowest k modes only, those above have zeta_i = zeta_k w_i / w_k, as internal friction of a material
    gives them: with beta = 2 zeta_k / w_k, D = beta K + sum_(i<k) (2 zeta_i w_i - beta w_i^2) M x_i x_i^T M.
    """
    zeta, every = np.array(ratios), len(ratios) == len(mass)
    with naming_heavy_tips(where):
        w, left = (array[..., : len(zeta)] for array in _ordered_modes(mass, stiffness))
        if not w[-1] > 0:
            raise np.linalg.LinAlgError
    beta = float(2 * zeta[-1] / w[-1])
    excess = 2 * zeta * w - beta * w**2
    excess[np.abs(excess) <= ROUNDING * (2 * zeta * w + beta * w**2)] = 0
    damping = (left * (2 * zeta * w)) @ left.T if every else beta * stiffness + (left * excess) @ left.T
    damping = (damping + damping.T) / 2
    if every:  # zeros beside rounding errors; the sum of parts has none
        size = np.sqrt(np.diag(damping))
        damping[np.abs(damping) <= ROUNDING * np.outer(size, size)] = 0
    modal = tuple((int(np.sign(e)), _scaled(left[:, i], e)) for i, e in enumerate(excess) if e != 0)
    return ModalDamping(tuple(tuple(to_scalar(float(entry)) for entry in row) for row in damping), DampingParts(beta, modal))


def _scaled(vector: Array, excess: float) -> tuple[float, ...]:
    """v with v v^T = |excess| (M x)(M x)^T, its largest entry positive."""
    scaled = np.sqrt(abs(excess)) * np.where(np.abs(vector) <= ROUNDING * np.abs(vector).max(), 0.0, vector)
    return tuple(float(entry) + 0.0 for entry in scaled * np.sign(vector[np.argmax(np.abs(vector))]))  # no -0.0


def _coupled(matrix: Array) -> NDArray[np.bool_]:
    """Entries that are more than rounding errors of modes being orthogonal to each other with their tip."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    return np.asarray(np.abs(matrix) > UNCOUPLED * np.outer(size, size))


def _ordered_modes(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """Frequencies, lowest first, and M x of the modes x.

    Coordinates that nothing couples have modes of their own: those of bending in y and in z, where both bend alike and any
    combination would be a mode, too, and those that are modes themselves, whose damping is diagonal then to the last bit.
    """
    n = len(mass)
    frequencies, left = np.zeros(n), np.zeros((n, n))
    coupled = _coupled(mass) | _coupled(stiffness)
    waiting, done = list(range(n)), 0
    while waiting:
        group, reached = [waiting[0]], 0
        while reached < len(group):
            group += [j for j in waiting if coupled[group[reached], j] and j not in group]
            reached += 1
        group.sort()
        waiting = [j for j in waiting if j not in group]
        own = np.ix_(group, group)
        w, shapes = clamped_modes(mass[own], stiffness[own])
        frequencies[done : done + len(group)] = w
        left[np.ix_(group, range(done, done + len(group)))] = mass[own] @ shapes
        done += len(group)
    order = sorted(range(n), key=lambda i: (float(f"{frequencies[i]:.9g}"), i))
    return frequencies[order], left[:, order]
