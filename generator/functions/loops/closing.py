"""The closed mechanism in one frame assignment: rows of its loops, their elimination, drive forces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from elastogen.generator.algorithms.solving.factorization import Factorization, factorize
from elastogen.generator.functions.mass_and_coriolis import mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.loops.analysis import Choice, LoopAnalysis, analysis_of
from elastogen.generator.loops.elimination import Elimination
from elastogen.generator.loops.rows import LoopRows
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat


def has_loops(robot: Robot) -> bool:
    """Whether the tree is closed by loops."""
    return bool(robot.loops)


FREE = "this mechanism has freedoms without drives: see `elastogen check`"


def forced(robot: Robot) -> bool:
    """Whether drives act on all freedoms of the joints; in a tree they do."""
    return not robot.loops or not analysis_of(robot).unforced


def follows_drives(robot: Robot) -> bool:
    """Whether coordinates without drives follow from the driven ones."""
    if robot.loops:
        return analysis_of(robot).determined
    return not all(velocity.driven for velocity in robot.velocities)


def closed_pivots(variant: Variant) -> list[Value]:
    """The pivots of the loops; none for a tree."""
    return Closing(variant).drive_forces(variant.zeros())[1] if variant.robot.loops else []


class Closing:
    """The closed loops in a frame assignment: J, the bias, and qd = G qd_I for one choice of independent velocities."""

    def __init__(self, variant: Variant, choice: Choice | None = None) -> None:
        self.variant, self.graph = variant, variant.graph
        self.analysis: LoopAnalysis = variant.analysis
        self.choice = choice or self.analysis.choice
        self.loops = LoopRows(variant.robot, variant.mechanism, variant.merge)

    @cached_property
    def elimination(self) -> Elimination:
        """J, factorized."""
        J = self.loops.rows(self.variant.input("q"))
        with self.graph.section("elimination of dependent velocities"):
            return Elimination(J, self.choice)

    @cached_property
    def map(self) -> Mat:
        """G."""
        with self.graph.section("map from the independent velocities"):
            return self.elimination.map()

    @cached_property
    def negative_bias(self) -> list[Value]:
        """-dJ/dt qd, all rows."""
        return [-b for b in self.loops.bias(self.variant.input("q"), self.variant.input("qd"))]

    def accelerations(self, independent: Sequence[Value]) -> list[Value]:
        """All accelerations with closed loops, from the independent ones."""
        right = self.negative_bias
        with self.graph.section("dependent accelerations"):
            return self.elimination.completed(right, independent)

    @cached_property
    def drift(self) -> list[Value]:
        """The accelerations if the independent ones are zero."""
        return self.accelerations([self.graph.value(0)] * len(self.choice.independent))

    def projected(self, forces: Sequence[Value]) -> list[Value]:
        """G^T times forces."""
        elimination = self.elimination
        with self.graph.section("forces on the independent velocities"):
            return elimination.projected(forces)

    def reduced(self, M: Mat) -> Mat:
        """G^T M G."""
        G, n = self.map, self.variant.size
        count, zero = len(self.choice.independent), self.graph.value(0)
        with self.graph.section("reduced mass matrix"):
            MG = [[_sum(zero, [(M[r][k], G[k][c]) for k in range(n)]) for c in range(count)] for r in range(n)]
            result = [[zero] * count for _ in range(count)]
            for r in range(count):
                for c in range(r + 1):
                    result[r][c] = result[c][r] = _sum(zero, [(G[k][r], MG[k][c]) for k in range(n)])
        return result

    def factorized(self) -> Factorization:
        """The reduced mass matrix, factorized."""
        reduced = self.reduced(mass(self.variant))
        with self.graph.section("factorization of the reduced mass matrix"):
            return factorize(reduced, list(range(-1, len(reduced) - 1)))

    # ---- drives

    def drive_forces(self, forces: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """Drive forces equivalent to these forces on all velocities, and pivots.

        Elastic coordinates and a free base, which no drive moves, keep their rows as in a tree. With more drives than
        freedoms, the sum of squares is smallest.
        """
        wanted = self.projected(forces)
        zero = self.graph.value(0)
        result, independent = [zero] * self.variant.size, list(self.choice.independent)
        spare = [k for k in self.analysis.driven if k not in independent]
        pivots: list[Value] = []
        if spare:
            G = self.map
            with self.graph.section("least forces of the drives"):
                rows = [r for r, k in enumerate(independent) if k in self.analysis.driven]
                A = [[G[k][r] for k in spare] for r in rows]
                count = range(len(spare))
                normal = [[_sum(self.graph.value(int(i == j)), [(row[i], row[j]) for row in A]) for j in count] for i in count]
                right = [_sum(zero, [(row[i], wanted[r]) for row, r in zip(A, rows, strict=True)]) for i in count]
                factors = factorize(normal, list(range(-1, len(spare) - 1)))
                pivots = factors.pivots
                for k, value in zip(spare, factors.solve(right), strict=True):
                    result[k] = value
                    wanted = [w - G[k][r] * value for r, w in enumerate(wanted)]
        for k, value in zip(independent, wanted, strict=True):
            result[k] = value
        return result, [*self.elimination.pivots, *pivots]


def _sum(start: Value, products: Sequence[tuple[Value, Value]]) -> Value:
    total = start
    for a, b in products:
        if not a.is_zero and not b.is_zero:
            total = total + a * b
    return total
