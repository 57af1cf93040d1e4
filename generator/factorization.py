"""Factorization of the mass matrix along the tree, M = L^T D L (Featherstone 2008, 6.5), and its solves.

Entry ij of M is zero unless one joint is inward of the other; this factorization, from the tips inward, keeps those zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.graph import Value
from elastogen.generator.vectors import Mat


@dataclass(frozen=True)
class Factorization:
    """L (unit lower triangular, entries only at inward joints), pivots D and their reciprocals."""

    inward: list[list[int]]  # joints inward of each joint, nearest first
    L: Mat
    pivots: list[Value]
    reciprocals: list[Value]

    def solve(self, right: Sequence[Value]) -> list[Value]:
        """M^-1 times a vector."""
        x = list(right)
        n = len(x)
        for k in reversed(range(n)):  # L^T y = b
            for i in self.inward[k]:
                x[i] = x[i] - self.L[k][i] * x[k]
        x = [value * reciprocal for value, reciprocal in zip(x, self.reciprocals, strict=True)]
        for k in range(n):  # L x = y
            for i in self.inward[k]:
                x[k] = x[k] - self.L[k][i] * x[i]
        return x


def factorize(M: Mat, parents: Sequence[int]) -> Factorization:
    """Factor a mass matrix; ``parents`` gives the joint inward of each joint, -1 at the base."""
    n = len(M)
    inward: list[list[int]] = []
    for k in range(n):
        inward.append([parents[k], *inward[parents[k]]] if parents[k] >= 0 else [])
    H = [list(row) for row in M]
    zero = M[0][0].graph.value(0)
    L = [[zero] * n for _ in range(n)]
    reciprocals = [zero] * n
    for k in reversed(range(n)):
        reciprocals[k] = zero if H[k][k].is_zero else 1 / H[k][k]  # a pivot that is always zero: always a failure
        for i in inward[k]:
            L[k][i] = H[k][i] * reciprocals[k]
        for position, i in enumerate(inward[k]):
            for j in inward[k][position:]:
                H[i][j] = H[i][j] - L[k][i] * H[k][j]
                H[j][i] = H[i][j]
    return Factorization(inward, L, [H[k][k] for k in range(n)], reciprocals)
