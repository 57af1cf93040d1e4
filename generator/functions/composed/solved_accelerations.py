"""Derivatives of forward dynamics from those of inverse dynamics: a third of the operations of differentiating the solution.

With z the positions, velocities and live parameters, and a = qdd(z, F), the equation T(z, a) = F holds, where T is inverse
dynamics, linear in a. Differentiated once and twice, with M l = w for weights w,

    da/dz = -M^-1 dT/dz,   da/dF = M^-1,   d(w^T a)/dz = -d(l^T T)/dz,   d(w^T a)/dF = l,
    d2(w^T a)/dz dz = -[ d2(l^T T)/dz dz + B da/dz + (B da/dz)^T ],   d2(w^T a)/dz dF = -B da/dF,   B = d2(l^T T)/dz da,

where the right-hand sides hold l fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elastogen.generator.functions.catalogue import Derived, Formulation, flat
from elastogen.generator.functions.derivatives import FirstDerivatives, first_derivatives_by
from elastogen.generator.functions.dynamics import acceleration, unloaded_forces
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.differentiate import directional, jacobian, seed, weighted_gradient
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.spatial.dense_matrices import added, mirrored, transposed
from elastogen.generator.spatial.vectors import Mat, product


def is_solved(variant: Variant) -> bool:
    """Whether the accelerations solve an equation of this form: no loops, quaternions, or elements of a beam to choose."""
    plain = variant.mechanism.order == tuple(range(variant.size)) and not variant.clamped and variant.separate is None
    return plain and not variant.robot.loops and not variant.has_load_friction


Values = Callable[[Variant], list[Value]]


def solved_formulations(variant: Variant, kind: str, parameters: Values, weights: Values) -> tuple[Formulation, ...]:
    """Ways to ``_sensitivity``, ``_adjoint`` or ``_hessian`` by q, qd, F and the parameters behind them."""
    made = _Solved(parameters, weights)
    if kind == "_adjoint":
        return (made.adjoint,)
    from_first = made.jacobian if kind == "_sensitivity" else made.hessian
    return tuple(_behind(first, from_first) for first in first_derivatives_by(variant))


def _behind(first: Callable[[Variant], FirstDerivatives], rest: Callable[[Variant, FirstDerivatives], Derived]) -> Formulation:
    return lambda variant: rest(variant, first(variant))


@dataclass(frozen=True)
class _Solved:
    """Derivatives by these parameters, for these weights."""

    parameters: Values
    weights: Values

    def jacobian(self, variant: Variant, first: FirstDerivatives) -> Derived:
        """All first derivatives."""
        rows = zip(first.by_q, first.by_qd, first.by_force, self._by_parameters(variant, first), strict=True)
        return Derived(([value for parts in rows for part in parts for value in part],), first.factors.pivots)

    def _by_parameters(self, variant: Variant, first: FirstDerivatives) -> Mat:
        """One column for each parameter."""
        columns = []
        for parameter in self.parameters(variant):
            slope = [row[0] for row in jacobian(variant.graph, unloaded_forces(variant), [parameter])]
            at = substitute(variant.graph, slope, replacing(variant.input("qdd"), first.qdd))
            columns.append([-x for x in first.factors.solve(at)])
        return transposed(columns) if columns else [[] for _ in range(variant.size)]

    def adjoint(self, variant: Variant) -> Derived:
        """The gradient of the weighted sum."""
        graph, q, qd, w = variant.graph, variant.input("q"), variant.input("qd"), self.weights(variant)
        qdd, factors = acceleration(variant)
        multipliers = factors.solve(w)
        gradient = weighted_gradient(graph, unloaded_forces(variant), w, [*q, *qd, *self.parameters(variant)])
        at = substitute(graph, gradient, replacing([*variant.input("qdd"), *w], [*qdd, *multipliers]))
        split = 2 * variant.size
        return Derived(([*(-x for x in at[:split]), *multipliers, *(-x for x in at[split:])],), factors.pivots)

    def hessian(self, variant: Variant, first: FirstDerivatives) -> Derived:
        """The Hessian of the weighted sum."""
        graph, n, w, qdd = variant.graph, variant.size, self.weights(variant), variant.input("qdd")
        z = [*variant.input("q"), *variant.input("qd"), *self.parameters(variant)]
        gradient = weighted_gradient(graph, unloaded_forces(variant), w, [*z, *qdd])
        rows = []  # of the derivative along z_k: by z from k on, and by the accelerations
        for k, x in enumerate(z):
            rows.append([graph.value(0)] * k + directional(graph, gradient[k:], seed(x, graph.one)))
        given = replacing([*qdd, *w], [*first.qdd, *first.factors.solve(w)])
        values = substitute(graph, flat(rows), given)
        size = len(z) + n
        rows = [values[k * size : (k + 1) * size] for k in range(len(z))]
        own, mixed = mirrored([row[: len(z)] for row in rows]), [row[len(z) :] for row in rows]
        with graph.section("second derivatives of the accelerations"):
            by_z = [[*a, *b, *c] for a, b, c in zip(first.by_q, first.by_qd, self._by_parameters(variant, first), strict=True)]
            moved = product(mixed, by_z)
            z_z, z_F = added(own, added(moved, transposed(moved))), product(mixed, first.by_force)
        F_z, F_F = transposed(z_F), [[graph.value(0)] * n for _ in range(n)]
        whole = [[*r[: 2 * n], *f, *r[2 * n :]] for r, f in zip(z_z, z_F, strict=True)]
        forces = [[*r[: 2 * n], *f, *r[2 * n :]] for r, f in zip(F_z, F_F, strict=True)]
        result = [*whole[: 2 * n], *forces, *whole[2 * n :]]
        return Derived(([-x for x in flat(result)],), first.factors.pivots)
