"""Elimination of the dependent velocities by the rows of loops, as a straight-line program of known pattern.

With J = L U in the order of the pivots (dependent columns D, independent ones I), J qd = 0 gives qd = G qd_I, where
G_D = -U_D^-1 U_I. Entries that are zero cost nothing: each local loop is a small system of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.loops.analysis import Choice
from elastogen.generator.program.graph import Op, Value
from elastogen.generator.spatial.vectors import Mat

SINGULAR = 1e-6  # of its usual size: a pivot below this is none


class Elimination:
    """J factorized in the order of the pivots of a choice."""

    def __init__(self, J: Mat, choice: Choice, singular: float = SINGULAR) -> None:
        self.choice, self.size = choice, len(J[0])
        graph = J[0][0].graph
        self.graph, self.zero = graph, graph.value(0)
        order = [pivot.row for pivot in choice.pivots]
        self.U: dict[int, list[Value]] = {row: list(J[row]) for row in order}
        self.L: dict[tuple[int, int], Value] = {}
        self.reciprocals: list[Value] = []
        self.pivots: list[Value] = []  # that must be positive
        for k, pivot in enumerate(choice.pivots):
            p = self.U[pivot.row][pivot.column]
            if p.constant is None:
                self.pivots.append(graph.elementary(Op.ABS, p) - singular * pivot.size)
            reciprocal = 1 / p
            self.reciprocals.append(reciprocal)
            for row in order[k + 1 :]:
                entry = self.U[row][pivot.column]
                if not entry.is_zero:
                    factor = entry * reciprocal
                    self.L[row, pivot.row] = factor
                    self.U[row] = [x - factor * y for x, y in zip(self.U[row], self.U[pivot.row], strict=True)]
                    self.U[row][pivot.column] = self.zero

    def reduced(self, right: Sequence[Value]) -> dict[int, Value]:
        """L^-1 times values of all rows."""
        found = {pivot.row: right[pivot.row] for pivot in self.choice.pivots}
        for pivot in self.choice.pivots:
            for row in found:
                if (row, pivot.row) in self.L:
                    found[row] = found[row] - self.L[row, pivot.row] * found[pivot.row]
        return found

    def completed(self, right: Sequence[Value], independent: Sequence[Value]) -> list[Value]:
        """The velocities with these independent ones, for which J v is what the values of the rows say."""
        v = [self.zero] * self.size
        for k, value in zip(self.choice.independent, independent, strict=True):
            v[k] = value
        wanted = self.reduced(right)
        for pivot, reciprocal in reversed(list(zip(self.choice.pivots, self.reciprocals, strict=True))):
            total = wanted[pivot.row]
            for k, entry in enumerate(self.U[pivot.row]):
                if k != pivot.column and not entry.is_zero and not v[k].is_zero:
                    total = total - entry * v[k]
            v[pivot.column] = total * reciprocal
        return v

    def map(self) -> Mat:
        """G: all velocities by the independent ones, rows over all velocities."""
        count, one = len(self.choice.independent), self.graph.value(1)
        G = [[self.zero] * count for _ in range(self.size)]
        for c, k in enumerate(self.choice.independent):
            G[k][c] = one
        for pivot, reciprocal in reversed(list(zip(self.choice.pivots, self.reciprocals, strict=True))):
            total = [self.zero] * count
            for k, entry in enumerate(self.U[pivot.row]):
                if k != pivot.column and not entry.is_zero:
                    total = [t - entry * g for t, g in zip(total, G[k], strict=True)]
            G[pivot.column] = [t * reciprocal for t in total]
        return G

    def _multiplied(self, forces: Sequence[Value]) -> list[Value]:
        """U_D^-T times the forces on dependent velocities: in the order of the pivots."""
        found: list[Value] = []
        for k, (pivot, reciprocal) in enumerate(zip(self.choice.pivots, self.reciprocals, strict=True)):
            total = forces[pivot.column]
            for before, value in zip(self.choice.pivots[:k], found, strict=True):
                entry = self.U[before.row][pivot.column]
                if not entry.is_zero:
                    total = total - entry * value
            found.append(total * reciprocal)
        return found

    def projected(self, forces: Sequence[Value]) -> list[Value]:
        """G^T times forces on all velocities: what they are on the independent ones."""
        y = self._multiplied(forces)
        found = []
        for k in self.choice.independent:
            total = forces[k]
            for pivot, value in zip(self.choice.pivots, y, strict=True):
                entry = self.U[pivot.row][k]
                if not entry.is_zero:
                    total = total - entry * value
            found.append(total)
        return found

    def multipliers(self, forces: Sequence[Value]) -> dict[int, Value]:
        """lambda by rows, with J_D^T lambda the forces on dependent velocities."""
        y = {pivot.row: value for pivot, value in zip(self.choice.pivots, self._multiplied(forces), strict=True)}
        for pivot in reversed(self.choice.pivots):
            for (row, column), factor in self.L.items():
                if column == pivot.row:
                    y[column] = y[column] - factor * y[row]
        return y
