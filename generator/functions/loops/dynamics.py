"""Dynamics of closed mechanisms: M qdd + c + ... = F + J^T lambda with J qdd + dJ/dt qd = 0, by constraint embedding.

With qd = G qd_I and the accelerations d where qdd_I = 0, all forces are projected: G^T M G qdd_I = G^T (F - tau(q, qd, d)),
where tau is the inverse dynamics of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms import kinematics
from elastogen.generator.functions.catalogue import Derived, Formulation, flat
from elastogen.generator.functions.loops.closing import Closing
from elastogen.generator.functions.mass_and_coriolis import mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.loops.analysis import Choice
from elastogen.generator.mechanism.mechanism import LinkFrame
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Vec


def tree_forces(variant: Variant, qdd: Sequence[Value]) -> list[Value]:
    """Inverse dynamics of the tree."""
    q, qd = variant.input("q"), variant.input("qd")
    forces = variant.forces(q, qd, qdd, variant.mechanism.gravity)
    return [f + r for f, r in zip(forces, variant.resistances(q, qd), strict=True)]


def closed_inverse_dynamics(variant: Variant) -> Derived:
    """Drive forces."""
    return closed_drive_forces(variant, tree_forces(variant, variant.input("qdd")))


def closed_drive_forces(variant: Variant, tree: Sequence[Value]) -> Derived:
    """Drive forces from the driving forces of the tree."""
    F, pivots = Closing(variant).drive_forces(tree)
    return Derived((variant.loaded(F, variant.input("qd")),), pivots)


def closed_inverse_dynamics_of_drives(variant: Variant) -> Derived:
    """Drive forces and all accelerations, from the accelerations of the drives, if these determine the motion."""
    closing, qdd = Closing(variant), variant.input("qdd")
    moving = closing.accelerations([qdd[k] for k in closing.choice.independent])
    F, pivots = closing.drive_forces(tree_forces(variant, moving))
    return Derived((variant.loaded(F, variant.input("qd")), moving), pivots)


def _acting(variant: Variant) -> list[Value]:
    """F without load friction."""
    return variant.unloaded(variant.input("F"), variant.input("qd"))


def closed_accelerations(
    variant: Variant,
    sparse: bool = True,
    at_drift: bool = True,
    given: Sequence[Value] | None = None,
    choice: Choice | None = None,
) -> tuple[list[Value], list[Value], Closing]:
    """Accelerations and pivots, by the sparse choice or the drives, with the drift in the forces or as M times it.

    ``given`` are the forces (default F); ``choice`` is another choice of independent velocities.
    """
    closing = Closing(variant, choice or (variant.analysis.sparse if sparse else variant.analysis.choice))
    if at_drift:
        forces = tree_forces(variant, closing.drift)
    else:
        M, drift = mass(variant), closing.drift
        forces = tree_forces(variant, variant.zeros())
        for r, row in enumerate(M):
            for entry, value in zip(row, drift, strict=True):
                if not entry.is_zero and not value.is_zero:
                    forces[r] = forces[r] + entry * value
    acting = _acting(variant) if given is None else given
    right = closing.projected([f - t for f, t in zip(acting, forces, strict=True)])
    factors = closing.factorized()
    with variant.graph.section("solution for the accelerations"):
        independent = factors.solve(right)
    return closing.accelerations(independent), [*closing.elimination.pivots, *factors.pivots], closing


def closed_forward_dynamics(sparse: bool, at_drift: bool) -> Formulation:
    """One formulation of the accelerations."""

    def formulation(variant: Variant) -> Derived:
        qdd, pivots, _ = closed_accelerations(variant, sparse, at_drift)
        return Derived((qdd,), pivots)

    return formulation


FORWARD: tuple[Formulation, ...] = tuple(
    closed_forward_dynamics(sparse, at_drift) for sparse in (True, False) for at_drift in (True, False)
)
"""Equal formulations, of which the cheapest is kept."""


def closed_inverse_derivatives(variant: Variant) -> Derived:
    """dF/dq, dF/dqd, dF/dqdd of the drives' forces, by differentiation; q moves freely, as if loops could open."""
    found = closed_inverse_dynamics(variant)
    (F,) = found.outputs
    blocks = (variant.by_position(F), *(jacobian(variant.graph, F, variant.input(name)) for name in ("qd", "qdd")))
    return Derived(tuple(flat(block) for block in blocks), found.pivots)


def closed_forward_derivatives(variant: Variant) -> Derived:
    """d qdd/dq, d qdd/dqd, d qdd/dF, likewise."""
    qdd, pivots, _ = closed_accelerations(variant)
    blocks = (variant.by_position(qdd), *(jacobian(variant.graph, qdd, variant.input(name)) for name in ("qd", "F")))
    return Derived(tuple(flat(block) for block in blocks), pivots)


def _constraint_forces(variant: Variant) -> tuple[list[Value], list[Value], Closing]:
    qdd, pivots, closing = closed_accelerations(variant)
    tau = tree_forces(variant, qdd)
    return [t - f for t, f in zip(tau, _acting(variant), strict=True)], pivots, closing


def constraint_forces(variant: Variant) -> Derived:
    """J^T lambda."""
    forces, pivots, _ = _constraint_forces(variant)
    return Derived((forces,), pivots)


def loop_forces(variant: Variant) -> Derived:
    """Force and moment of a on b, in frame a; zero for rows that are left out."""
    forces, pivots, closing = _constraint_forces(variant)
    with variant.graph.section("forces in the loops"):
        multipliers = closing.elimination.multipliers(forces)
    zero = variant.graph.value(0)
    values = [multipliers.get(row, zero) for row in range(len(closing.analysis.rows))]
    return Derived((flat(closing.loops.wrenches(variant.input("q"), values)),), pivots)


def loop_loads(variant: Variant) -> tuple[list[tuple[LinkFrame, Vec, Vec]], list[Value]]:
    """Forces of the loops on the links if only drives act, and pivots."""
    closing = Closing(variant)
    tree = tree_forces(variant, variant.input("qdd"))
    F, pivots = closing.drive_forces(tree)
    with variant.graph.section("forces in the loops"):
        multipliers = closing.elimination.multipliers([t - f for t, f in zip(tree, F, strict=True)])
    zero = variant.graph.value(0)
    values = [multipliers.get(row, zero) for row in range(len(closing.analysis.rows))]
    return closing.loops.loads(variant.input("q"), values), pivots


# ---- in the driven coordinates


def driven_map(variant: Variant) -> Derived:
    """G."""
    closing = Closing(variant)
    return Derived((flat(closing.map),), closing.elimination.pivots)


def driven_bias(variant: Variant) -> Derived:
    """d: the accelerations if the driven ones are zero."""
    closing = Closing(variant)
    return Derived((closing.drift,), closing.elimination.pivots)


def reduced_mass_matrix(variant: Variant) -> Derived:
    """G^T M G."""
    closing = Closing(variant)
    return Derived((flat(closing.reduced(mass(variant))),), closing.elimination.pivots)


def reduced_coriolis_vector(variant: Variant) -> Derived:
    """G^T (M d + C qd)."""
    closing = Closing(variant)
    forces = variant.forces(variant.input("q"), variant.input("qd"), closing.drift, variant.zeros(3))
    return Derived((closing.projected(forces),), closing.elimination.pivots)


def reduced_gravity_vector(variant: Variant) -> Derived:
    """G^T times the gravity forces of the tree."""
    closing = Closing(variant)
    q, zeros = variant.input("q"), variant.zeros()
    weights = variant.forces(q, zeros, zeros, variant.mechanism.gravity)
    forces = [g + own for g, own in zip(weights, variant.own_potential_forces(q), strict=True)]
    return Derived((closing.projected(forces),), closing.elimination.pivots)


def reduced_jacobian(variant: Variant) -> Derived:
    """J_tip G."""
    closing = Closing(variant)
    q = variant.input("q")
    J = kinematics.jacobian(variant.mechanism, kinematics.poses(variant.mechanism, variant.place(q)), q)
    G, zero = closing.map, variant.graph.value(0)
    with variant.graph.section("Jacobian by the driven velocities"):
        rows = []
        for row in J:
            values = [zero] * len(closing.choice.independent)
            for entry, shares in zip(row, G, strict=True):
                if not entry.is_zero:
                    values = [v + entry * share for v, share in zip(values, shares, strict=True)]
            rows.append(values)
    return Derived((flat(rows),), closing.elimination.pivots)
