"""Contacts of robots with loops, on the independent velocities of the closed mechanism, qd = G qd_I.

With M_r = G^T M G, J_r = J G and accelerations qdd_0 without contacts, which keep the loops closed,

    (J_r M_r^-1 J_r^T) lambda = -(J qdd_0 + dJ/dt qd),   qdd = qdd_0 + G M_r^-1 J_r^T lambda,

so that loops and contacts hold at once. A direction that a loop holds already is a row of J_r that is zero but for rounding,
which is judged by the sizes of the products in its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elastogen.generator.algorithms.solving.factorization import factorize
from elastogen.generator.functions.catalogue import Derived
from elastogen.generator.functions.frames.contact_rows import ContactRows, contact_bias, impact, moved, solved_rows
from elastogen.generator.functions.loops.closing import Closing
from elastogen.generator.functions.loops.dynamics import closed_accelerations, tree_forces
from elastogen.generator.functions.mass_and_coriolis import mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.graph import Op, Value
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.spatial.vectors import Mat, combination_scalar

ROUNDED = 1e-12  # relative to its products, squared: a smaller row is rounding, in single precision too
SINGULAR = 1e-9  # relative to its diagonal: a smaller pivot counts as zero


def _on_independent(rows: ContactRows, closing: Closing) -> tuple[ContactRows, Mat]:
    """The rows by independent velocities, and the sizes of the products in every entry."""
    graph, G = closing.graph, closing.map
    columns = [list(column) for column in zip(*G, strict=True)]
    with graph.section("rows of the contacts by the independent velocities"):
        J = [[combination_scalar(graph, row, column) for column in columns] for row in rows.J]
        sizes = [[_size(row, column) for column in columns] for row in rows.J]
    return replace(rows, J=J), sizes


def _size(row: Sequence[Value], column: Sequence[Value]) -> Value:
    """The sum of the magnitudes of products."""
    graph = row[0].graph
    total = graph.value(0)
    for a, b in zip(row, column, strict=True):
        if not a.is_zero and not b.is_zero:
            total = total + graph.elementary(Op.ABS, a * b)
    return total


class _Touching:
    """A closed mechanism and the rows of its contacts on the independent velocities."""

    def __init__(self, variant: Variant, closing: Closing) -> None:
        self.variant, self.closing = variant, closing
        self.rows = ContactRows.made(variant)
        self.reduced, self.sizes = _on_independent(self.rows, closing)
        self.factors = closing.factorized()
        self.pivots = [*closing.elimination.pivots, *self.factors.pivots]

    def added(self, right: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """The lambda that changes the rows by the right side, and its effect on the independent velocities."""
        variant, graph = self.variant, self.variant.graph
        diagonal = [self.closing.reduced(mass(variant))[c][c] for c in range(len(self.closing.choice.independent))]
        with graph.section("inertia at the contacts"):
            columns = [self.factors.solve(row) for row in self.reduced.J]
            A = [[combination_scalar(graph, row, column) for column in columns] for row in self.reduced.J]
            inverse = [1 / entry for entry in diagonal]
            squares = [[size * size for size in sizes] for sizes in self.sizes]
            least = [combination_scalar(graph, square, inverse) * ROUNDED for square in squares]
        with graph.section("forces of the contacts"):
            carried = solved_rows(variant, A, self.rows.active, right, least)
            return carried, moved(variant.zeros(len(diagonal)), columns, carried)

    def forces(self, carried: Sequence[Value]) -> list[Value]:
        """Force and moment of every contact."""
        return self.rows.forces(len(self.variant.robot.contacts), carried)


def contact_dynamics(variant: Variant) -> Derived:
    """Accelerations that keep loops closed and active contacts at rest, and the contact forces."""
    free, pivots, closing = closed_accelerations(variant)
    touching = _Touching(variant, closing)
    right = [-(x + b) for x, b in zip(touching.rows.times(free), contact_bias(variant, touching.rows), strict=True)]
    carried, change = touching.added(right)
    with variant.graph.section("accelerations"):
        moving = [free[k] + value for k, value in zip(closing.choice.independent, change, strict=True)]
        qdd = closing.accelerations(moving)
    return Derived((qdd, touching.forces(carried)), [*pivots, *touching.pivots])


def contact_impulse(variant: Variant) -> Derived:
    """Velocities after an impact, with closed loops, and its impulses."""
    closing = Closing(variant, variant.analysis.sparse)
    touching, qd = _Touching(variant, closing), variant.input("qd")
    carried, change = touching.added(impact(variant, touching.rows, touching.rows.times(qd)))
    after = list(qd)
    with variant.graph.section("velocities after the impact"):
        for k, row in enumerate(closing.map):
            after[k] = qd[k] + combination_scalar(variant.graph, row, change)
    return Derived((after, touching.forces(carried)), touching.pivots)


def contact_inverse_dynamics(variant: Variant) -> Derived:
    """Drive forces, and the smallest contact forces that balance all coordinates without drives."""
    closing, graph = Closing(variant), variant.graph
    rows = ContactRows.made(variant)
    reduced, _ = _on_independent(rows, closing)
    tree = tree_forces(variant, variant.input("qdd"))
    wanted, velocities = closing.projected(tree), variant.robot.velocities
    independent = closing.choice.independent
    free = [r for r, k in enumerate(independent) if not velocities[k].driven and not velocities[k].elastic]
    spare = [k for k in closing.analysis.driven if k not in independent]
    if any(not closing.map[k][r].is_zero for k in spare for r in free):
        raise OutputError(
            f"contact_inverse_dynamics: {variant.robot.name} has more drives than its loops leave freedoms, and these act on "
            "what the contacts carry: the split is open. Fix: write driven: false on a joint, or use contact_dynamics"
        )
    with graph.section("forces of the contacts"):
        own = [[row[r] * flag for r in free] for row, flag in zip(reduced.J, rows.active, strict=True)]
        columns = [list(column) for column in zip(*own, strict=True)]
        N = [[combination_scalar(graph, r, c) for c in columns] for r in columns]
        factors = factorize(N, list(range(-1, len(free) - 1))) if free else None
        x = factors.solve([wanted[r] for r in free]) if factors is not None else []
        carried = [combination_scalar(graph, row, x) if x else graph.value(0) for row in own]
    with graph.section("forces of the drives"):
        pushed = [combination_scalar(graph, [row[k] for row in rows.J], carried) for k in range(variant.size)]
        F, pivots = closing.drive_forces([t - p for t, p in zip(tree, pushed, strict=True)])
        for r in free:  # what is left there is rounding
            F[independent[r]] = graph.value(0)
    if factors is not None:
        pivots = [*pivots, *(pivot - SINGULAR * N[k][k] for k, pivot in enumerate(factors.pivots))]
    return Derived((variant.loaded(F, variant.input("qd")), rows.forces(len(variant.robot.contacts), carried)), pivots)
