"""A solid of tetrahedra, and what scikit-fem assembles from it: mass and stiffness of quadratic elements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from elastogen.generator.solids.materials import Material

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
FACES = (
    (0, 2, 1),
    (0, 1, 3),
    (1, 2, 3),
    (2, 0, 3),
)  # of a tetrahedron of positive volume, counterclockwise from outside


@dataclass(frozen=True)
class Solid:
    """Straight tetrahedra: corners [m] in the link frame, and four corners for each, in the order of positive volume."""

    corners: Array
    tetrahedra: Indices
    numbers: Indices  # of the corners in the file, from 1

    @staticmethod
    def of(corners: Array, tetrahedra: Indices) -> Solid:
        """Of tetrahedra in any order of their corners; corners that none of them has are left out."""
        used, inverse = np.unique(tetrahedra, return_inverse=True)
        cells = inverse.reshape(-1, 4).astype(np.int64)
        points = np.ascontiguousarray(corners[used], dtype=np.float64)
        rotated = _volumes(points, cells) < 0
        cells[rotated] = cells[rotated][:, [0, 2, 1, 3]]
        return Solid(points, cells, used.astype(np.int64) + 1)

    @property
    def volume(self) -> float:
        """[m^3]."""
        return float(_volumes(self.corners, self.tetrahedra).sum())

    @property
    def smallest(self) -> float:
        """Volume of the flattest element by that of a regular one with its longest edge."""
        a, b, c, d = (self.corners[self.tetrahedra[:, k]] for k in range(4))
        edges = np.stack([b - a, c - a, d - a, c - b, d - b, d - c])
        longest = np.sqrt((edges**2).sum(axis=-1).max(axis=0))
        return float((_volumes(self.corners, self.tetrahedra) / (longest**3 / np.sqrt(72))).min())

    @property
    def diagonal(self) -> float:
        """Of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.corners, axis=0)))

    @cached_property
    def surface(self) -> Indices:
        """Triangles that belong to one tetrahedron, by corners, counterclockwise from outside."""
        all_faces = np.concatenate([self.tetrahedra[:, list(face)] for face in FACES])
        _, first, count = np.unique(np.sort(all_faces, axis=1), axis=0, return_index=True, return_counts=True)
        found: Indices = all_faces[np.sort(first[count == 1])]
        return found

    @property
    def crowded_face(self) -> Array | None:
        """The middle of a face that more than two tetrahedra have [m], if there is one: they cover each other."""
        faces = np.sort(np.concatenate([self.tetrahedra[:, list(face)] for face in FACES]), axis=1)
        unique, count = np.unique(faces, axis=0, return_counts=True)
        same, times = np.unique(np.sort(self.tetrahedra, axis=1), axis=0, return_counts=True)
        found = [*unique[count > 2], *same[times > 1]]
        return self.corners[found[0]].mean(axis=0) if found else None

    @property
    def parts(self) -> int:
        """Number of pieces that do not touch each other."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        a = np.repeat(self.tetrahedra[:, 0], 3)
        b = self.tetrahedra[:, 1:].ravel()
        joined = coo_matrix((np.ones(len(a)), (a, b)), shape=(len(self.corners),) * 2)
        return int(connected_components(joined, directed=False)[0])


def _volumes(corners: Array, tetrahedra: Indices) -> Array:
    a, b, c, d = (corners[tetrahedra[:, k]] for k in range(4))
    found: Array = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6
    return found


@dataclass(frozen=True)
class Elements:
    """Quadratic elements on a solid: their nodes, and the matrices that are left of the continuum.

    The consistent mass matrix is that of one direction, [kg]; all three have the same. Freedoms of the stiffness [N/m] are
    ordered node by node: x, y, z.
    """

    nodes: Array  # (n, 3) [m]
    mass: Any  # (n, n) sparse
    stiffness: Any  # (3n, 3n) sparse
    surface: Indices  # (m, 6): corners of each triangle, then the nodes between 0-1, 1-2, 2-0
    tetrahedra: Indices  # (t, 10): corners, then the nodes between 0-1, 1-2, 0-2, 0-3, 1-3, 2-3
    numbers: Indices  # of the first nodes, the corners, in the file


def quadratic_elements(solid: Solid, material: Material) -> Elements:
    """Assemble: rho int N_i N_j, and the stiffness of an isotropic material, both exact on straight elements."""
    import skfem
    from scipy.sparse import bmat

    rotated = (np.ascontiguousarray(array.T) for array in (solid.corners, solid.tetrahedra))
    mesh = skfem.MeshTet(*rotated, sort_t=False)
    basis = skfem.Basis(mesh, skfem.ElementTetP2(), intorder=4)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis) * material.density
    slopes = {
        (a, b): skfem.BilinearForm(lambda u, v, w, a=a, b=b: u.grad[b] * v.grad[a]).assemble(basis)
        for a in range(3)
        for b in range(3)
    }
    lame = material.E * material.nu / ((1 + material.nu) * (1 - 2 * material.nu))
    shear = material.E / (2 * (1 + material.nu))
    laplace = slopes[0, 0] + slopes[1, 1] + slopes[2, 2]

    def block(a: int, b: int) -> Any:
        """int lambda (div v)(div u) + 2 mu eps(v):eps(u), row direction a, column direction b."""
        crossed = lame * slopes[a, b] + shear * slopes[b, a]
        return crossed + shear * laplace if a == b else crossed

    n = basis.N
    by_direction = bmat([[block(a, b) for b in range(3)] for a in range(3)], format="csr")
    order = np.arange(3 * n).reshape(3, n).T.ravel()  # from direction by direction to node by node
    nodes = np.ascontiguousarray(basis.doflocs.T)
    cells = _ten_nodes(nodes, basis.element_dofs.T.astype(np.int64))
    return Elements(nodes, mass.tocsr(), by_direction[order][:, order].tocsc(), _six_nodes(cells), cells, solid.numbers)


def quadrature(degree: int) -> list[tuple[Array, float]]:
    """Points of a tetrahedron, barycentric, and weights (in all 1) that integrate polynomials of a degree."""
    from skfem.quadrature import get_quadrature
    from skfem.refdom import RefTet

    points, weights = get_quadrature(RefTet, degree)
    return [(np.array([1 - x.sum(), *x]), float(6 * weight)) for x, weight in zip(points.T, weights, strict=True)]


EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


def _ten_nodes(nodes: Array, cells: Indices) -> Indices:
    """The nodes of every element in our order, whatever the library's is: edges are found by their middles."""
    found: Indices = cells.copy()
    for position, (a, b) in enumerate(EDGES):
        middle = (nodes[cells[:, a]] + nodes[cells[:, b]]) / 2
        distance = np.linalg.norm(nodes[cells[:, 4:]] - middle[:, None, :], axis=-1)
        found[:, 4 + position] = cells[np.arange(len(cells)), 4 + distance.argmin(axis=1)]
    return found


def _six_nodes(cells: Indices) -> Indices:
    """The triangles of the surface with the nodes between their corners."""
    between = {frozenset(edge): 4 + k for k, edge in enumerate(EDGES)}
    faces = []
    for face in FACES:
        pairs = ((face[0], face[1]), (face[1], face[2]), (face[2], face[0]))
        faces.append(cells[:, [*face, *(between[frozenset(pair)] for pair in pairs)]])
    all_faces = np.concatenate(faces)
    _, first, count = np.unique(np.sort(all_faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    found: Indices = all_faces[np.sort(first[count == 1])]
    return found
