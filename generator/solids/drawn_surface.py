"""The surface of a reduced solid for drawings: few triangles, how every coordinate moves their corners and strains them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastogen.generator.solids.solid import EDGES, Array, Indices

MOST_TRIANGLES = 3000
RAISED = 0.02  # of the diagonal: how far the brightest corner stands out while triangles are chosen
COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "xz")  # of strains, in this order; shear as in the tensor
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


@dataclass(frozen=True)
class DrawnSurface:
    """Triangles whose corners are nodes of the solid, counterclockwise from outside; all in the axes of the link frame.

    At coordinates x [m] the vertices are at ``vertices + displacements.T @ x`` summed over the first axis.
    """

    vertices: Array  # (v, 3) [m], undeformed
    triangles: Indices  # (t, 3)
    displacements: Array  # (k, v, 3): of the vertices per unit of every coordinate
    strains: Array  # (k, v, 6): per unit of every coordinate, see COMPONENTS

    def moved(self, x: Array) -> Array:
        """Vertices [m] of the deformed solid at the elastic coordinates x."""
        found: Array = self.vertices + np.tensordot(np.asarray(x, float), self.displacements, axes=1)
        return found

    def equivalent_strains(self, x: Array) -> Array:
        """Von Mises' strain sqrt(2/3 e:e), e the deviator, at every vertex: one number for a colour."""
        strain = np.tensordot(np.asarray(x, float), self.strains, axes=1)
        mean = strain[:, :3].mean(axis=1, keepdims=True)
        squares = ((strain[:, :3] - mean) ** 2).sum(axis=1) + 2 * (strain[:, 3:] ** 2).sum(axis=1)
        found: Array = np.sqrt(2 / 3 * squares)
        return found


def drawn_surface(nodes: Array, tetrahedra: Indices, surface: Indices, shapes: Array, most: int) -> DrawnSurface:
    """The surface with at most so many triangles; shapes (n, 3, k) are displacements of the nodes.

    A large surface is simplified by quadrics (fast-simplification, part of the extra ``mesh``), and every corner put on the
    nearest node, so that displacements and strains are those of the finite elements.
    """
    corners, triangles = np.unique(surface[:, :3], return_inverse=True)
    triangles = triangles.reshape(-1, 3).astype(np.int64)
    every = _strains_of_corners(nodes, tetrahedra, shapes)
    if len(triangles) > most:
        corners, triangles = _simplified(nodes, corners, triangles, _sizes(every[corners]), most)
    strains = every[corners]
    return DrawnSurface(
        vertices=nodes[corners],
        triangles=triangles,
        displacements=np.ascontiguousarray(shapes[corners].transpose(2, 0, 1)),
        strains=np.ascontiguousarray(strains.transpose(2, 0, 1)),
    )


def _sizes(strains: Array) -> Array:
    """Of strains (v, 6, k) one number for every corner: the mean over the coordinates of what they do there, up to 1."""
    deviators = strains.copy()
    deviators[:, :3] -= strains[:, :3].mean(axis=1, keepdims=True)
    found = np.sqrt((deviators[:, :3] ** 2).sum(axis=1) + 2 * (deviators[:, 3:] ** 2).sum(axis=1))
    return np.asarray((found / np.maximum(found.max(axis=0), 1e-300)).mean(axis=1))


def _simplified(nodes: Array, corners: Indices, triangles: Indices, colours: Array, most: int) -> tuple[Indices, Indices]:
    """Fewer triangles. Corners stand out by their colours: a flat face with two colours keeps the line between them."""
    import fast_simplification
    from scipy.spatial import cKDTree

    places = nodes[corners]
    sides = np.cross(places[triangles[:, 1]] - places[triangles[:, 0]], places[triangles[:, 2]] - places[triangles[:, 0]])
    normals = np.zeros_like(places)
    for k in range(3):
        np.add.at(normals, triangles[:, k], sides)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    raised = places + RAISED * float(np.linalg.norm(np.ptp(places, axis=0))) * colours[:, None] * normals
    points, faces = fast_simplification.simplify(raised.astype(np.float32), triangles.astype(np.int32), target_count=most)
    nearest = cKDTree(raised).query(points)[1]
    faces = nearest[faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    used, inverse = np.unique(faces[whole], return_inverse=True)
    return corners[used], inverse.reshape(-1, 3).astype(np.int64)


def _strains_of_corners(nodes: Array, tetrahedra: Indices, shapes: Array) -> Array:
    """(n, 6, k): at every corner the mean over its elements of their strains there."""
    count = shapes.shape[2]
    cells = nodes[tetrahedra[:, :4]]
    slopes = np.zeros((len(cells), 4, 3))  # of the barycentric coordinates
    slopes[:, 1:] = np.linalg.inv((cells[:, 1:] - cells[:, :1]).transpose(0, 2, 1))
    slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
    moved = shapes[tetrahedra]  # (t, 10, 3, k)
    total, times = np.zeros((len(nodes), 6, count)), np.zeros(len(nodes))
    for corner in range(4):
        share = np.eye(4)[corner]
        gradients = np.empty((len(cells), 10, 3))
        gradients[:, :4] = (4 * share - 1)[None, :, None] * slopes
        for k, (a, b) in enumerate(EDGES):
            gradients[:, 4 + k] = 4 * (share[a] * slopes[:, b] + share[b] * slopes[:, a])
        H = np.einsum("tab,tack->tcbk", gradients, moved)  # du_c / dx_b
        strain = np.stack([(H[:, a, b] + H[:, b, a]) / 2 for a, b in _PLACES], axis=1)
        np.add.at(total, tetrahedra[:, corner], strain)
        np.add.at(times, tetrahedra[:, corner], 1.0)
    found: Array = total / np.maximum(times, 1.0)[:, None, None]
    return found
