"""Mass matrix and Coriolis matrix, each in several formulations."""

from __future__ import annotations

from elastogen.generator.algorithms.composite_bodies import mass_matrix_by_composites, mass_matrix_by_unit_accelerations
from elastogen.generator.algorithms.coriolis import coriolis_matrix as christoffel
from elastogen.generator.algorithms.newton_euler import outward
from elastogen.generator.functions.catalogue import Derived, Formulation, flat, unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.spatial.vectors import Mat, add, dot

LARGEST_TRIED = 10  # coordinates up to which both formulations of the Coriolis matrix are compared


def _mass_by_differentiation(variant: Variant) -> Mat:
    """M(q) as the derivative of the inertia forces by qdd."""
    qdd = variant.input("qdd")
    forces = variant.forces(variant.input("q"), variant.zeros(), qdd, variant.zeros(3))
    return variant.masked(jacobian(variant.graph, forces, qdd), 1)


@unless_sheared(_mass_by_differentiation)
def mass(variant: Variant) -> Mat:
    """M(q) by composite bodies; where tips are linear, as the derivative of the inertia forces by qdd."""
    return variant.with_drive_inertia(
        mass_matrix_by_composites(variant.mechanism, variant.place(variant.input("q")), variant.input("q"))
    )


def mass_matrix(variant: Variant) -> Derived:
    """M(q) by composite bodies."""
    return Derived((flat(mass(variant)),))


@unless_sheared(mass_matrix)
def mass_matrix_by_columns(variant: Variant) -> Derived:
    """M(q) by unit accelerations."""
    M = mass_matrix_by_unit_accelerations(variant.mechanism, variant.input("q"), variant.moment)
    return Derived((flat(variant.with_drive_inertia(M)),))


def coriolis_vector(variant: Variant) -> Derived:
    """C qd: forces without acceleration and gravity."""
    q, qd = variant.input("q"), variant.input("qd")
    return Derived((variant.forces(q, qd, variant.zeros(), variant.zeros(3)),))


def coriolis_matrix(variant: Variant) -> Derived:
    """Christoffel matrix from composite bodies."""
    q, qd = variant.input("q"), variant.input("qd")
    placed = variant.place(q)
    if not variant.mechanism.moves_by_screws:
        return coriolis_matrix_by_differentiation(variant)
    motions = outward(variant.mechanism, placed, q, qd, variant.zeros(), variant.zeros(3))
    return Derived((flat(christoffel(variant.mechanism, placed, [motion.omega for motion in motions], qd)),))


def coriolis_matrix_by_differentiation(variant: Variant) -> Derived:
    """C = 1/2 dc/dqd: the Coriolis vector c is quadratic in qd, with the Christoffel symbols as coefficients."""
    c = coriolis_vector(variant).outputs[0]
    rows = jacobian(variant.graph, c, variant.input("qd"))
    rotated = _rotating_frames(variant)
    if rotated:
        rows = [add(row, more) for row, more in zip(rows, rotated, strict=True)]
    return Derived(([0.5 * value for row in rows for value in variant.free(row)],))


def coriolis_formulations(variant: Variant) -> tuple[Formulation, ...]:
    """Differentiation works for every robot; composite bodies for rigid ones, and are cheaper for large ones."""
    if not variant.mechanism.moves_by_screws:
        return (coriolis_matrix_by_differentiation,)
    return (coriolis_matrix, coriolis_matrix_by_differentiation) if variant.size <= LARGEST_TRIED else (coriolis_matrix,)


def _rotating_frames(variant: Variant) -> Mat:
    """M S(qd): with quasi-velocities int J_i . dJ_j/dt dm is 1/2 (dc_i/dqd_j + (M S)_ij).

    The fields X_j of the velocities do not commute, dJ_j/dt - dJ_k/dt = dr[X_k, X_j]: S has their commutators. Empty without
    quasi-velocities.
    """
    qd, zero = variant.input("qd"), variant.graph.value(0)
    found = [(frame, S) for frame in variant.mechanism.frames if (S := frame.motion.structure(frame.own(qd))) is not None]
    if not found:
        return []
    M = mass(variant)
    result = [[zero] * variant.size for _ in range(variant.size)]
    for frame, S in found:
        for row in range(variant.size):
            for c, j in enumerate(frame.coordinates):
                result[row][j] = dot([M[row][k] for k in frame.coordinates], [line[c] for line in S])
    return result
