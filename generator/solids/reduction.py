"""Craig and Bampton's reduction of a solid, and then the eigenvectors with what it carries.

A basis of six static shapes for every interface and of modes with all interfaces held represents the solid under any load
there; of its eigenvectors with the robot's own bodies on the interfaces the lowest are kept as coordinates. Modes of the solid
alone would miss what a load does: eight of them are 19 % off in the fifth frequency of a loaded link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.generator.solids.constraints import Constrained, Solver, lowest
from elastogen.generator.solids.interfaces import Clamped, rigid_motions
from elastogen.generator.solids.materials import Material
from elastogen.generator.solids.solid import EDGES, Array, Elements, quadrature

if TYPE_CHECKING:
    from elastogen.generator.solids.given.results import GivenShapes

CLAMPED_MODES = 10  # with all interfaces held, beyond as many as coordinates are wanted
EQUAL = 1e-6  # frequencies that are this near, relatively, belong to one plane of shapes
MOST_MODES = 60


@dataclass(frozen=True)
class Reduced:
    """A solid in few coordinates: displacements of all nodes, motions of the interfaces, stiffness; frequencies [rad/s]."""

    shapes: Array  # (n, 3, k): of the nodes by every coordinate, the largest of length 1
    second: Array  # (n, 3, p): by the products of every pair of coordinates, where foreshortening is wanted
    motions: dict[str, Array]  # by interface (k + p, 6): shift and rotation per unit of every coordinate and product
    stiffness: Array  # (k, k) [N/m]
    frequencies: Array  # of the reduced solid with its loads
    full: Array  # of all elements with the same loads; empty where they were not asked for
    effective_masses: Array  # (k, 3): parts of the solid's and the loads' mass that shake with each, along x, y, z


def reduced(
    elements: Elements,
    clamp: Clamped,
    seats: Sequence[Clamped],
    loads: Mapping[str, Array],
    count: int | None,
    below: float | None,
    exact: bool = True,
    shortened: Material | None = None,
    given: GivenShapes | None = None,
) -> Reduced:
    """Reduce to ``count`` coordinates, or to all modes ``below`` a frequency [rad/s]; loads: 6 x 6 inertias at interfaces.

    ``shortened`` is the material of a solid whose foreshortening is wanted, ``given`` a basis in place of Craig and Bampton's.
    """
    from scipy.sparse import csr_matrix

    solid = Constrained(elements, clamp, seats)
    wanted = min(count or MOST_MODES, MOST_MODES)
    if given is None:
        basis = _craig_bampton(solid, min(wanted + CLAMPED_MODES, solid.size - 2))
        K = basis.T @ (solid.K @ basis)
    else:
        basis, K = given.fields[solid.free], given.stiffness
    motion = {seat.name: solid.motion(seat) for seat in seats}
    carried = sum((motion[name].T @ csr_matrix(load) @ motion[name] for name, load in loads.items()), start=0 * solid.M)
    M = basis.T @ (solid.M @ basis) + basis.T @ (carried @ basis)
    squares, vectors = _eigenvectors(K, M)
    kept = min(wanted, len(squares)) if count is not None else int(np.sum(squares < (below or 0.0) ** 2))
    kept = max(kept, 1)
    z, square = settled(basis @ vectors[:, :kept], squares[:kept], motion)
    shapes = solid.displacements(z)
    size = np.linalg.norm(shapes, axis=1).max(axis=0)
    z, shapes = z / size, shapes / size
    stiffness = square / np.outer(size, size)
    full = _full(solid, carried, kept) if exact else np.zeros(0)
    second = np.zeros((solid.size, 0)) if shortened is None else _second_order(solid, shapes, shortened)
    motions = {name: np.asarray((motion[name] @ np.hstack([z, second])).T) for name in motion}
    effective = _effective(solid, carried, z)
    moved = solid.displacements(second) if second.shape[1] else np.zeros((*shapes.shape[:2], 0))
    return Reduced(shapes, moved, motions, stiffness, np.sqrt(squares[:kept]), full, effective)


def pairs(count: int) -> list[tuple[int, int]]:
    """The products of coordinates that second-order fields belong to."""
    return [(j, k) for j in range(count) for k in range(j, count)]


def _second_order(solid: Constrained, shapes: Array, material: Material) -> Array:
    """Displacements b_jk that go with x_j x_k so that the second-order strain x_j x_k sym(H_j^T H_k) costs the least energy.

    H are gradients of the shapes; for j = k it is half of it. By Betti's theorem -f . b_jk is what a load f adds to the
    stiffness through the stresses that it makes: the geometric stiffness of all static load cases at once. Of a slender beam
    it is the shortening of its axis.
    """
    elements, found = solid.elements, pairs(shapes.shape[2])
    corners = elements.nodes[elements.tetrahedra[:, :4]]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    slopes = np.zeros((len(corners), 4, 3))  # of the barycentric coordinates
    slopes[:, 1:] = np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1))
    slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
    lame = material.E * material.nu / ((1 + material.nu) * (1 - 2 * material.nu))
    shear = material.E / (2 * (1 + material.nu))
    moved = shapes[elements.tetrahedra]  # (t, 10, 3, k)
    forces = np.zeros((3 * len(elements.nodes), len(found)))
    for share, weight in quadrature(3):
        gradients = np.empty((len(corners), 10, 3))
        gradients[:, :4] = (4 * share - 1)[None, :, None] * slopes
        for k, (a, b) in enumerate(EDGES):
            gradients[:, 4 + k] = 4 * (share[a] * slopes[:, b] + share[b] * slopes[:, a])
        H = np.einsum("tab,tack->tkcb", gradients, moved)  # du_c / dx_b
        for number, (j, k) in enumerate(found):
            strain = H[:, j].transpose(0, 2, 1) @ H[:, k]
            strain = (strain + strain.transpose(0, 2, 1)) / (4 if j == k else 2)
            mean = np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
            stress = (lame * mean + 2 * shear * strain) * (weight * volume)[:, None, None]
            nodal = gradients @ stress  # (t, 10, 3)
            for direction in range(3):
                forces[direction::3, number] += np.bincount(
                    elements.tetrahedra.ravel(), nodal[:, :, direction].ravel(), minlength=len(elements.nodes)
                )
    return -Solver(solid.K, solid.clamped_mean)(np.asarray(solid.T.T @ forces))


def _craig_bampton(solid: Constrained, modes: int) -> Array:
    """Static shapes of unit motions of the interfaces, and modes with all of them held."""
    from scipy.sparse import vstack

    inner = np.arange(len(solid.free))
    clamped = solid.clamped_mean
    averaging = [solid.motion(seat) for seat in solid.seats if seat.averaging]
    rows = [*([] if clamped is None else [clamped]), *averaging]
    C = None if not rows else vstack(rows).tocsr()[:, inner]
    K, M = solid.K[inner][:, inner].tocsc(), solid.M[inner][:, inner].tocsc()
    solve = Solver(K, C)
    columns = []
    outer = np.arange(len(inner), solid.size)
    if len(outer):
        static = np.zeros((solid.size, len(outer)))
        static[outer] = np.eye(len(outer))
        static[inner] = solve(np.asarray(-solid.K[inner][:, outer].todense()))
        columns.append(static)
    first = 0 if clamped is None else 6
    for k in range(len(averaging)):
        g = np.zeros((0 if C is None else C.shape[0], 6))
        g[first + 6 * k : first + 6 * k + 6] = np.eye(6)
        static = np.zeros((solid.size, 6))
        static[inner] = solve(np.zeros((len(inner), 6)), g)
        columns.append(static)
    _, held = lowest(K, M, solve, min(modes, len(inner) - 2))
    dynamic = np.zeros((solid.size, held.shape[1]))
    dynamic[inner] = held
    found = np.hstack([*columns, dynamic])
    scaled: Array = found / np.sqrt(np.einsum("ij,ij->j", found, solid.M @ found))
    return scaled


def _eigenvectors(K: Array, M: Array) -> tuple[Array, Array]:
    from scipy.linalg import eigh

    squares, vectors = eigh((K + K.T) / 2, (M + M.T) / 2)
    return np.maximum(squares, 0.0), vectors


def _full(solid: Constrained, carried: Any, count: int) -> Array:
    """The frequencies of all elements with the loads: what the reduction is judged by."""
    solve = Solver(solid.K, solid.clamped_mean)
    squares, _ = lowest(solid.K, (solid.M + carried).tocsc(), solve, min(count, solid.size - 2))
    found: Array = np.sqrt(squares)
    return found


def settled(z: Array, squares: Array, motion: Mapping[str, Any]) -> tuple[Array, Array]:
    """Shapes with signs, and within planes of equal frequencies with directions, that do not depend on the eigensolver."""
    z, K = z.copy(), np.diag(squares)
    moved = np.vstack([np.asarray(matrix @ z) for matrix in motion.values()]) if motion else z
    start = 0
    while start < len(squares):
        end = start + 1
        while end < len(squares) and squares[end] <= squares[start] * (1 + 2 * EQUAL):
            end += 1
        if end - start > 1:
            Q = np.linalg.qr(moved[:, start:end].T)[0]
            z[:, start:end], K[start:end, start:end] = z[:, start:end] @ Q, Q.T @ K[start:end, start:end] @ Q
            moved[:, start:end] = moved[:, start:end] @ Q
        start = end
    for k in range(z.shape[1]):
        largest = moved[:, k][np.argmax(np.abs(moved[:, k]) > 0.5 * np.abs(moved[:, k]).max())]
        if largest < 0:
            z[:, k] *= -1
            K[k] *= -1
            K[:, k] *= -1
    return z, K


def _effective(solid: Constrained, carried: Any, z: Array) -> Array:
    """(phi^T M r)^2 / (phi^T M phi) over the mass that can shake, for shifts r along x, y, z."""
    M = solid.M + carried
    shift = np.zeros((solid.size, 3))
    inner = solid.free
    nodes = rigid_motions(np.zeros((len(solid.elements.nodes), 3)))[:, :3]
    shift[: len(inner)] = nodes[inner]
    place = len(inner)
    for seat in solid.seats:
        if not seat.averaging:
            shift[place : place + 3] = np.eye(3)
            place += 6
    excited = z.T @ (M @ shift)
    own = np.einsum("ij,ij->j", z, M @ z)
    total = np.einsum("ij,ij->j", shift, M @ shift)
    found: Array = excited**2 / own[:, None] / total
    return found
