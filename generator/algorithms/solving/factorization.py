"""Factorization of the mass matrix along the tree, M = L^T D L (Featherstone 2008, 6.5), and its solves.

Entry ij of M is zero unless one joint is inward of the other; this factorization, from the tips inward, keeps those zeros.

Where a joint slides along a beam, what it carries meets two nodes of the beam, others for every element. The slots of that
window (mechanism.SeparateWindow) are coordinates here. When all further out is eliminated, their rows are added to those of the
nodes that are in the slots, which keeps the band of the beam's own block.

Inside a beam any order of elimination will do. The nodes that only the beam itself moves have numbers for their rows: they
go first, from the root outward, and take no operation with them but those with what is inward of the beam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from elastogen.generator.mechanism.mechanism import SeparateWindow
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat


@dataclass(frozen=True)
class Factorization:
    """L (unit lower triangular, entries only at inward coordinates), pivots D and their reciprocals."""

    outward: list[int]  # all coordinates, each behind those inward of it
    inward: list[list[int]]  # coordinates inward of each one, nearest first
    L: Mat
    pivots: list[Value]
    reciprocals: list[Value]
    actual: list[int]  # the robot's own coordinates
    windows: Mapping[int, SeparateWindow]  # by their outermost slot
    free: Mapping[int, Value]

    def solve(self, right: Sequence[Value]) -> list[Value]:
        """Return M^-1 times a vector over the robot's coordinates."""
        zero = self.L[0][0].graph.value(0)
        x = [zero] * len(self.L)
        for k, value in zip(self.actual, right, strict=True):
            x[k] = value
        for k in reversed(self.outward):  # L^T y = b
            if k in self.windows:
                for slot, v in enumerate(self.windows[k].coordinates):
                    for i, share in self.windows[k].window.shares(slot):
                        x[i] = x[i] + _freed(share, i, self.free) * x[v]
            for i in self.inward[k]:
                x[i] = x[i] - self.L[k][i] * x[k]
        x = [value * reciprocal for value, reciprocal in zip(x, self.reciprocals, strict=True)]
        for k in self.outward:  # L x = y
            if k in self.windows:
                for v, value in zip(self.windows[k].coordinates, self.windows[k].window.gather(x), strict=True):
                    x[v] = value
            for i in self.inward[k]:
                x[k] = x[k] - self.L[k][i] * x[i]
        return [x[k] for k in self.actual]

    def inverse(self) -> Mat:
        """M^-1, symmetric: half of it, each entry from those further inward (Takahashi, Fagan and Chen 1973).

        L M^-1 = D^-1 L^-T is upper triangular with D^-1 on the diagonal, so that entry kc with c before k is
        -sum_i L_ki (M^-1)_ic over the coordinates i inward of k, and kk has 1/D_k more. Not where there are windows.
        """
        n, zero = len(self.L), self.L[0][0].graph.value(0)
        X = [[zero] * n for _ in range(n)]
        for position, k in enumerate(self.outward):
            for c in self.outward[: position + 1]:
                total = self.reciprocals[k] if c == k else zero
                for i in self.inward[k]:
                    total = total - self.L[k][i] * X[i][c]
                X[k][c] = X[c][k] = total
        return X


def factorize(
    M: Mat,
    parents: Sequence[int],
    separate: Sequence[SeparateWindow] = (),
    free: Mapping[int, Value] = MappingProxyType({}),
    bodies: Sequence[Sequence[int]] = (),
) -> Factorization:
    """Factor a mass matrix; ``parents`` gives the coordinate inward of each coordinate, -1 at the base.

    ``free`` is 0 for a coordinate that is clamped, so that nothing is added to its row. ``bodies`` are the elastic
    coordinates of each flexible body, in order.
    """
    n = len(M)
    outward, parents = list(range(n)), list(parents)
    for body in bodies:
        _numbers_outermost(M, body, outward, parents)
    inward: list[list[int]] = [[] for _ in range(n)]
    for k in outward:
        inward[k] = [parents[k], *inward[parents[k]]] if parents[k] >= 0 else []
    H = [list(row) for row in M]
    zero = M[0][0].graph.value(0)
    L = [[zero] * n for _ in range(n)]
    reciprocals = [zero] * n
    windows = {max(window.coordinates): window for window in separate}
    slots = {k for window in separate for k in window.coordinates}
    for k in reversed(outward):
        if k in windows:
            _fold(H, windows[k], inward[min(windows[k].coordinates)], free)
        if k in slots:
            continue
        reciprocals[k] = zero if H[k][k].is_zero else 1 / H[k][k]  # a pivot that is always zero: always a failure
        for i in inward[k]:
            L[k][i] = H[k][i] * reciprocals[k]
        coupled = [i for i in inward[k] if not L[k][i].is_zero]
        for position, i in enumerate(coupled):
            for j in coupled[position:]:
                H[i][j] = H[i][j] - L[k][i] * H[k][j]
                H[j][i] = H[i][j]
    actual = [k for k in range(n) if k not in slots]
    return Factorization(outward, inward, L, [H[k][k] for k in actual], reciprocals, actual, windows, free)


def _numbers_outermost(M: Mat, body: Sequence[int], outward: list[int], parents: list[int]) -> None:
    """Put the coordinates of a body whose rows are numbers after its others, the one nearest to the root last."""
    first, last = body[0], body[-1]
    others = [k for k in range(len(M)) if k not in body]
    is_chain = all(parents[k] == k - 1 for k in range(first + 1, last + 1)) and len(body) == last - first + 1
    if not is_chain or any(parents[k] in body[:-1] for k in others):
        return
    inward = [parents[first]]
    while inward[-1] >= 0:
        inward.append(parents[inward[-1]])
    beyond = [k for k in others if k not in inward]
    numbers = [k for k in body if all(M[k][j].constant is not None for j in body) and all(M[k][j].is_zero for j in beyond)]
    if len(numbers) == len(body):
        return  # whatever the order, there is nothing to compute
    chain = [*(k for k in body if k not in numbers), *reversed(numbers)]
    for k in others:
        if parents[k] == last:
            parents[k] = chain[-1]
    for inner, k in pairwise([parents[first], *chain]):
        parents[k] = inner
    outward[outward.index(first) : outward.index(last) + 1] = chain


def _fold(H: Mat, separate: SeparateWindow, inward: Sequence[int], free: Mapping[int, Value]) -> None:
    """Add the rows and columns of the slots to those of their coordinates: H becomes S^T H S with v = S u."""
    window, slots = separate.window, separate.coordinates
    for a, v in enumerate(slots):
        for b, w in enumerate(slots):
            for i, j, share in window.pair_shares(a, b):
                H[i][j] = H[i][j] + _freed(_freed(share, i, free), j, free) * H[v][w]
        for i, share in window.shares(a):
            for x in inward:
                if not H[v][x].is_zero:
                    added = _freed(share, i, free) * H[v][x]
                    H[i][x] = H[i][x] + added
                    H[x][i] = H[x][i] + added  # both on the diagonal


def _freed(share: Value, index: int, free: Mapping[int, Value]) -> Value:
    return share * free[index] if index in free else share
