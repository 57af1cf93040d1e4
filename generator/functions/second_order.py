"""Second derivatives of a weighted sum of inverse or forward dynamics, as solvers of optimal control take them.

With constant weights w this is one Hessian instead of n: of w^T F(q, qd, qdd) or w^T qdd(q, qd, F). F is linear in the
accelerations, so only the blocks (q, q), (q, qd), (qd, qd) and (q, qdd) are not zero. The gradient comes from one pass
backward through Newton-Euler, the blocks from passes forward through that. F(q, qd, qdd(q, qd, F)) = F differentiated twice
gives, with l = M^-1 w,

    d2(w^T qdd)/dx dy = -[ d2(l^T F)/dx dy + d2(l^T F)/(dx dqdd) dqdd/dy + (d2(l^T F)/(dy dqdd) dqdd/dx)^T ],

where l is held fixed on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.functions.catalogue import Derived, Entry, Outputs, flat, unless_closed
from elastogen.generator.functions.derivatives import first_derivatives
from elastogen.generator.functions.dynamics import inverse_dynamics
from elastogen.generator.functions.loops.closing import FREE, forced
from elastogen.generator.functions.loops.dynamics import closed_accelerations
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.differentiate import directional, has_kinks, jacobian, pulled_back, seed
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.dense_matrices import added, mirrored, transposed
from elastogen.generator.spatial.vectors import Mat, product

WEIGHTS = "weights"


@dataclass(frozen=True)
class Blocks:
    """Blocks of the Hessian of w^T F: rows by the first variable, columns by the second."""

    q_q: Mat
    q_qd: Mat
    qd_qd: Mat
    q_qdd: Mat

    @property
    def all(self) -> tuple[Mat, Mat, Mat, Mat]:
        """All blocks in the order of the outputs."""
        return self.q_q, self.q_qd, self.qd_qd, self.q_qdd


def _blocks(variant: Variant, values: Sequence[Value], third: str = "qdd") -> Blocks:
    """The Hessian of w^T F at q, qd, qdd; also of other values that are linear in their third input."""
    graph, mechanism, n = variant.graph, variant.mechanism, variant.size
    q, qd, linear, w = (variant.input(name) for name in ("q", "qd", third, WEIGHTS))
    if has_kinks(graph, values):
        gradient = _gradient_forward(variant, values, w, third)
    else:
        found = pulled_back(graph, values, w, [*q, *qd, *linear])
        m = len(q)
        gradient = mechanism.forces_of(q, found[:m]), found[m : m + n], found[m + n :]
    by_q, by_qd, by_qdd = gradient
    symmetric = len(q) == n  # derivatives along the rotations of a quaternion do not commute
    rows: list[tuple[list[Value], list[Value], list[Value]]] = []
    for k in range(n):
        first = k if symmetric else 0
        along = mechanism.along([*by_q[first:], *by_qd, *by_qdd], q, k)
        own = [graph.value(0)] * first + along[: n - first]
        rows.append((own, along[n - first : 2 * n - first], along[2 * n - first :]))
    q_q = [row[0] for row in rows]
    q_q = mirrored(q_q) if symmetric else transposed(q_q)  # row i: of the derivative along i, the derivatives along all others
    qd_qd = []
    for k in range(n):
        qd_qd.append([graph.value(0)] * k + directional(graph, by_qd[k:], seed(qd[k], graph.one)))
    blocks = (q_q, [row[1] for row in rows], mirrored(qd_qd), [row[2] for row in rows])
    return Blocks(*(variant.masked(block, 0) for block in blocks))


def _gradient_forward(variant: Variant, values: Sequence[Value], w: Sequence[Value], third: str) -> tuple[list[Value], ...]:
    """The gradient by forward passes, where a selection skips values that may be infinite."""
    total = variant.graph.value(0)
    for weight, value in zip(w, values, strict=True):
        total = total + weight * value
    others = (jacobian(variant.graph, [total], variant.input(name))[0] for name in ("qd", third))
    return variant.by_position([total])[0], *others


def inverse_dynamics_second_order(variant: Variant) -> Derived:
    """The blocks of the Hessian of w^T F."""
    found = inverse_dynamics(variant)
    return Derived(tuple(flat(block) for block in _blocks(variant, found.outputs[0]).all), found.pivots)


def closed_forward_second_order(variant: Variant) -> Derived:
    """The blocks of the Hessian of w^T qdd of a mechanism; q moves freely, as if loops could open."""
    qdd, pivots, _ = closed_accelerations(variant)
    return Derived(tuple(flat(block) for block in _blocks(variant, qdd, "F").all), pivots)


@unless_closed(closed_forward_second_order)
def forward_dynamics_second_order(variant: Variant) -> Derived:
    """The blocks of the Hessian of w^T qdd."""
    n = variant.size
    first = first_derivatives(variant)
    weights = first.factors.solve(variant.input(WEIGHTS))
    given = [*variant.input("qdd"), *variant.input(WEIGHTS)]
    blocks = _blocks(variant, inverse_dynamics(variant).outputs[0])
    values = substitute(
        variant.graph, [x for block in blocks.all for x in flat(block)], replacing(given, [*first.qdd, *weights])
    )
    q_q, q_qd, qd_qd, q_qdd = ([values[s : s + n] for s in range(t, t + n * n, n)] for t in range(0, 4 * n * n, n * n))
    with variant.graph.section("second derivatives of the accelerations"):
        mixed = product(q_qdd, first.by_q)
        found = (
            added(q_q, added(mixed, transposed(mixed))),
            added(q_qd, product(q_qdd, first.by_qd)),
            qd_qd,
            product(q_qdd, first.by_force),
        )
        return Derived(tuple([-x for x in flat(block)] for block in found), first.factors.pivots)


def _outputs(letter: str, by: str, what: str, units: str) -> Outputs:
    pairs = (("q", "q"), ("q", "qd"), ("qd", "qd"), ("q", by))
    return lambda v: tuple(
        matrix(f"d2{letter}_d{a}_d{b}", v.size, v.size, units, f"of the weighted {what}, rows by {a}, columns by {b}")
        for a, b in pairs
    )


def _linear(robot: Robot) -> bool:
    """Whether F is linear in the accelerations, as the blocks assume."""
    return not robot.has_load_friction


def _driven(robot: Robot) -> bool:
    """Whether, in addition, drives act on all freedoms, so that inverse dynamics exists."""
    return _linear(robot) and forced(robot)


_WHY = "only for robots without friction.load, whose driving forces are linear in the accelerations"

ENTRIES = (
    Entry("inverse_dynamics_second_order", "Second derivatives of the weighted sum of the driving forces: w^T F.",
          ("q", "qd", "qdd", WEIGHTS), _outputs("F", "qdd", "forces", "unit of w^T F per units of both"),
          (inverse_dynamics_second_order,), "dynamic", default=False, applies=_driven,
          applies_to=f"{_WHY}, and not where {FREE}"),
    Entry("forward_dynamics_second_order", "Second derivatives of the weighted sum of the accelerations: w^T qdd.",
          ("q", "qd", "F", WEIGHTS), _outputs("qdd", "F", "accelerations", "unit of w^T qdd per units of both"),
          (forward_dynamics_second_order,), "dynamic", default=False, applies=_linear, applies_to=_WHY),
)  # fmt: skip
