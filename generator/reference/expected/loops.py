"""Expected values of functions of mechanisms with loops."""

from __future__ import annotations

import numpy as np

from elastogen.generator.reference.closed_loops import Closed, LoopSeries
from elastogen.generator.reference.expected.plain import (
    Difference,
    Expectation,
    Found,
    own_terms,
    spin,
    tip_jacobian,
    tree_forces,
)
from elastogen.generator.reference.quantities import Array, Quantities, Sized


def _scaled(found: Array, expected: Array) -> list[Difference]:
    return [(found, expected, max(1e-300, float(np.abs(expected).max(initial=0.0))))]


def _between_directions(of: Quantities, vectors: Array) -> Array:
    """Vectors (..., rows, columns) with products of all columns instead of components of distances.

    The derivation chooses the axes of these components; products of vectors do not depend on them.
    """
    found, start = [], 0
    flat = np.moveaxis(vectors, -2, 0).reshape(vectors.shape[-2], -1)
    for loop in of.of.robot.loops:
        stop = start + loop.kind.rows
        if loop.kind.place == "all":
            found.append((flat[start : start + 3].T @ flat[start : start + 3]).reshape(-1))
            start += 3
        found.append(flat[start:stop].reshape(-1))
        start = stop
    return np.concatenate(found)


def _invariant(of: Quantities, found: Array, expected: Array) -> list[Difference]:
    """Vectors (states, rows, columns)."""
    a, b = (_between_directions(of, vectors) for vectors in (found, expected))
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return [(a, b, max(1.0, size * size))]


def residual(of: Quantities, found: Found) -> list[Difference]:
    """e(q)."""
    return _invariant(of, found[0][..., None], Closed(of).residual[..., None])


def jacobian(of: Quantities, found: Found) -> list[Difference]:
    """de/dq."""
    return _invariant(of, found[0], Closed(of).residual_rows)


def bias(of: Quantities, found: Found) -> list[Difference]:
    """dJ/dt qd."""
    return _invariant(of, found[0][..., None], Closed(of).bias[..., None])


def driven_map(of: Quantities, found: Found) -> list[Difference]:
    """G."""
    return _scaled(found[0], Closed(of).null_space)


def driven_bias(of: Quantities, found: Found) -> list[Difference]:
    """d."""
    closed = Closed(of)
    return [(found[0], closed.drift, max(1.0, float(np.abs(closed.drift).max())))]


def accelerations(of: Quantities) -> Array:
    """Accelerations under forces."""
    closed = Closed(of)
    at_drift = tree_forces(of, closed.drift).value
    return closed.accelerations(of.unloaded(of.at("F")), at_drift, of.mass)


def _constraints(of: Quantities) -> Sized:
    tree, acting = tree_forces(of, accelerations(of)), of.unloaded(of.at("F"))
    size = (tree.size + np.abs(acting)).max(axis=1, keepdims=True)
    return Sized(tree.value - acting, size + np.zeros_like(tree.value))


def constraint_forces(of: Quantities, found: Found) -> list[Difference]:
    """The forces of the loops."""
    expected, some = _constraints(of), ~Closed(of).singular
    return [(found[0][some], expected.value[some], expected.size[some])]


def loop_forces(of: Quantities, found: Found) -> list[Difference]:
    """Forces of a on b do the work of the constraint forces."""
    expected, some = _constraints(of), ~Closed(of).singular
    total, size = work_of_loops(of, found[0])
    return [(total[some], expected.value[some], (expected.size + size)[some])]


def work_of_loops(of: Quantities, wrenches: Array) -> tuple[Array, Array]:
    """Generalized forces of wrenches (states, loops, 6) on b, about a's origin in its axes, and of the opposite on a."""
    count = len(of.at("q"))
    shape = (count, of.n)
    series, names = LoopSeries(of, of.unit, shape), of.of.robot.velocity_names
    total, size = np.zeros((2, *shape))
    for k, loop in enumerate(of.of.robot.loops):
        if not loop.kind.between_frames:
            for name, factor in loop.coefficients.items():
                total[:, names.index(name)] += of.of.number(factor) * wrenches[:, k, 0]
            continue
        a, b = (series.coefficients(end) for end in series.ends(loop))
        R, arm = a[0][..., :3, :3], a[0][..., :3, 3] - b[0][..., :3, 3]
        f, n = (np.einsum("skij,sj->ski", R, wrenches[:, k, part]) for part in (slice(0, 3), slice(3, 6)))
        turns = [spin(T[1][..., :3, :3], T[0][..., :3, :3]) for T in (a, b)]
        v = b[1][..., :3, 3] + np.cross(turns[1], arm) - a[1][..., :3, 3]
        work = (f * v).sum(axis=-1) + (n * (turns[1] - turns[0])).sum(axis=-1)
        total, size = total + work, size + np.abs(f * v).sum(axis=-1) + np.abs(n * (turns[1] - turns[0])).sum(axis=-1)
    return total * of.free, size


def reduced_mass_matrix(of: Quantities, found: Found) -> list[Difference]:
    """G^T M G."""
    G = Closed(of).null_space
    return _scaled(found[0], np.swapaxes(G, -1, -2) @ of.mass @ G)


def reduced_coriolis_vector(of: Quantities, found: Found) -> list[Difference]:
    """G^T (M d + C qd)."""
    closed, c = Closed(of), of.coriolis_vector
    forces = np.einsum("sij,sj->si", of.mass, closed.drift) + c.value
    size = np.einsum("skf,sk->sf", np.abs(closed.null_space), c.size + np.abs(forces))
    return [(found[0], closed.projected(forces), size)]


def reduced_gravity_vector(of: Quantities, found: Found) -> list[Difference]:
    """G^T times the gravity forces."""
    closed, weights, own = Closed(of), of.gravity_vector, own_terms(of)
    value = weights.value + (0 if own is None else own.potential[1] * of.free)
    size = np.einsum("skf,sk->sf", np.abs(closed.null_space), weights.size + np.abs(value))
    return [(found[0], closed.projected(value), size + 1e-300)]


def reduced_jacobian(of: Quantities, found: Found) -> list[Difference]:
    """J_tip G."""
    J = tip_jacobian(of)[0] @ Closed(of).null_space
    return [(found[0], J, max(1.0, float(np.abs(J).max())))]


LOOPS: dict[str, Expectation] = {
    "loop_residual": residual,
    "loop_jacobian": jacobian,
    "loop_bias": bias,
    "driven_map": driven_map,
    "driven_bias": driven_bias,
    "constraint_forces": constraint_forces,
    "loop_forces": loop_forces,
    "reduced_mass_matrix": reduced_mass_matrix,
    "reduced_coriolis_vector": reduced_coriolis_vector,
    "reduced_gravity_vector": reduced_gravity_vector,
    "reduced_jacobian": reduced_jacobian,
}
"""By the names of the catalogue."""
