"""Rows of contacts: Jacobian, bias, a mask of the active ones, and the contact forces.

A row whose pivot is below ``REDUNDANT`` times its diagonal follows from the rows before it and carries no force.
These choices do not count as kinks: a mask is data, and rows become dependent at singular states only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms import kinematics, point_accelerations, points, sheared_kinematics
from elastogen.generator.algorithms.newton_euler import Placed, outward, place
from elastogen.generator.algorithms.solving.factorization import Factorization
from elastogen.generator.functions.catalogue import unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, combination_scalar

REDUNDANT = 1e-6  # pivot over diagonal; in single precision A has six digits


def _placed(variant: Variant) -> list[Placed]:
    """The frames, with those of contacts inside a beam."""
    return place(variant.pointed, variant.input("q"), merge=variant.merge)


def _sheared_jacobians(variant: Variant) -> list[Mat]:
    q = variant.input("q")
    found = kinematics.poses(variant.pointed, _placed(variant))
    at = [kinematics.link_pose(variant.pointed, found, point.frame) for point in variant.pointed.points]
    return [sheared_kinematics.jacobian(variant.graph, each, q) for each in at]


@unless_sheared(_sheared_jacobians)
def _jacobians(variant: Variant) -> list[Mat]:
    q = variant.input("q")
    found = kinematics.poses(variant.pointed, _placed(variant))
    return [points.jacobian(variant.pointed, found, q, point.frame) for point in variant.pointed.points]


@dataclass(frozen=True)
class ContactRows:
    """The rows of all contacts: contact, component and Jacobian row of each."""

    of: list[tuple[int, int]]
    J: Mat
    active: list[Value]  # per row: 1 or 0

    @classmethod
    def made(cls, variant: Variant) -> ContactRows:
        """The rows of a robot's contacts, and the input with the active ones."""
        contacts, flags = variant.robot.contacts, variant.input("active", len(variant.robot.contacts))
        of = [(k, component) for k, contact in enumerate(contacts) for component in range(contact.rows)]
        jacobians = [[variant.free(row) for row in J] for J in _jacobians(variant)]
        return cls(of, [jacobians[k][component] for k, component in of], [flags[k] for k, _ in of])

    def times(self, values: Sequence[Value]) -> list[Value]:
        """J times a vector over the velocities."""
        return [combination_scalar(values[0].graph, row, values) for row in self.J]

    def forces(self, count: int, values: Sequence[Value]) -> list[Value]:
        """Force and moment of every contact, (contacts, 6)."""
        found = [values[0].graph.value(0)] * (6 * count)
        for (k, component), value in zip(self.of, values, strict=True):
            found[6 * k + component] = value
        return found


def _differentiated_bias(variant: Variant, rows: ContactRows) -> list[Value]:
    q, qd = variant.input("q"), variant.input("qd")
    return time_derivative(variant.graph, rows.times(qd), [(q, variant.mechanism.rates(q, qd))])


def contact_bias(variant: Variant, rows: ContactRows) -> list[Value]:
    """dJ/dt qd of every row: accelerations of the frames where qdd = 0."""
    if variant.mechanism.has_linear_tips:
        return _differentiated_bias(variant, rows)
    q, qd, zeros = variant.input("q"), variant.input("qd"), variant.zeros()
    placed = _placed(variant)
    motions = outward(variant.pointed, placed, q, qd, zeros, variant.zeros(3))
    carriers = point_accelerations.Carriers(variant.pointed, placed, motions, q, qd, zeros)
    twists = point_accelerations.FORMULATIONS[0](carriers)
    return [(*twists[k].linear, *twists[k].angular)[component] for k, component in rows.of]


def carried_forces(
    variant: Variant, rows: ContactRows, factors: Factorization, right: Sequence[Value]
) -> tuple[list[Value], Mat]:
    """Solve A lambda = right for the active rows (0 for others); also return the columns of M^-1 J^T."""
    with variant.graph.section("inertia at the contacts"):
        columns = [factors.solve(row) for row in rows.J]
        A = [[combination_scalar(variant.graph, row, column) for column in columns] for row in rows.J]
    with variant.graph.section("forces of the contacts"):
        return solved_rows(variant, A, rows.active, right), columns


def solved_rows(
    variant: Variant, A: Mat, active: Sequence[Value], right: Sequence[Value], least: Sequence[Value] | None = None
) -> list[Value]:
    """Solve A x = b by A = L D L^T; inactive and dependent rows have x = 0.

    ``least`` are the smallest pivots of the rows: a smaller one is rounding.
    """
    n, graph = len(A), variant.graph
    zero = graph.value(0)
    L = [[zero] * n for _ in range(n)]
    reciprocals: list[Value] = []
    H = [[A[r][c] if c <= r else zero for c in range(n)] for r in range(n)]
    for k in range(n):
        independent = graph.choose(REDUNDANT * A[k][k] - H[k][k], active[k], 0, smooth=True)
        if least is not None:
            independent = graph.choose(least[k] - H[k][k], independent, 0, smooth=True)
        pivot = graph.choose(0.5 - independent, H[k][k], 1, smooth=True)
        reciprocals.append(independent / pivot)
        for r in range(k + 1, n):
            L[r][k] = H[r][k] * reciprocals[k]
        for r in range(k + 1, n):
            for c in range(k + 1, r + 1):
                H[r][c] = H[r][c] - L[r][k] * H[c][k]
    y = list(right)
    for k in range(n):
        for c in range(k):
            y[k] = y[k] - L[k][c] * y[c]
    x = [value * reciprocal for value, reciprocal in zip(y, reciprocals, strict=True)]
    for k in reversed(range(n)):
        for r in range(k + 1, n):
            x[k] = x[k] - L[r][k] * x[r]
    return x


def moved(start: Sequence[Value], columns: Mat, carried: Sequence[Value]) -> list[Value]:
    """The start plus the effect of the contacts, M^-1 J^T lambda."""
    found = list(start)
    for column, value in zip(columns, carried, strict=True):
        found = [x + c * value for x, c in zip(found, column, strict=True)]
    return found


def impact(variant: Variant, rows: ContactRows, v: Sequence[Value]) -> list[Value]:
    """The change of velocities v in an impact: -(v + e n (n . v)); rotations stop."""
    contacts = variant.robot.contacts
    restitution = variant.input("restitution", len(contacts))
    normal: dict[int, Value] = {}
    for (k, component), value in zip(rows.of, v, strict=True):
        if component < 3:
            normal[k] = normal.get(k, variant.graph.value(0)) + contacts[k].normal[component] * value
    return [
        -(value + restitution[k] * normal[k] * contacts[k].normal[component]) if component < 3 else -value
        for (k, component), value in zip(rows.of, v, strict=True)
    ]
