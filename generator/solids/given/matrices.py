"""Mass and stiffness of a body from another program: nodes, K and M, of which the reduction knows no more than of its own.

K and M are over three displacements of every node (matrix_files.py tells the formats). M must couple each direction with itself
only, equally in all three, as solid elements do; nodes with rotations (shells, beams) are not covered.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.matrix_files import Nodes, read_matrix, read_nodes
from elastogen.generator.solids.materials import Material
from elastogen.generator.solids.solid import Array, Elements, Solid, quadratic_elements
from elastogen.generator.solids.surfaces import check_size

UNITS = {"SI": (1.0, 1.0, 1.0), "mm_t_s": (1e-3, 1e3, 1e3)}
"""Systems of units: lengths [m], masses [kg] and stiffnesses [N/m] of one unit. mm, t, s: forces in N, stresses in MPa."""
EQUAL = 1e-9  # relative: parts of M that differ by less are equal
RIGID = 1e-6  # relative: what a rigid motion may strain
SAME_PLACE = 0.01  # of half an edge: how far nodes may be from those of straight elements
SAME_MATERIAL = 0.02  # relative: by how much K and M may differ from those of the material


@dataclass(frozen=True)
class Matrices:
    """The contents of the files, their units, and their pose in the link."""

    stiffness: bytes
    mass: bytes
    nodes: bytes
    units: str
    pose: tuple[tuple[float, ...], ...]
    where: Location = field(default=Location(""), compare=False)
    endings: tuple[str, str, str] = ("mtx", "mtx", "txt")  # of stiffness, mass, nodes
    freedoms: bytes = b""  # CalculiX: what the rows of its matrices are

    @property
    def plain(self) -> list[Any]:
        """What it is beside the contents, as plain data."""
        sizes = [len(self.stiffness), len(self.mass), len(self.freedoms)]
        return ["matrices", self.units, self.pose, self.endings, *sizes]

    @property
    def data(self) -> bytes:
        """All contents."""
        return self.stiffness + self.mass + self.nodes + self.freedoms

    def elements(self) -> Elements:
        """Nodes and matrices in SI units, in the link frame."""
        length, mass, stiffness = UNITS[self.units]
        pose = np.array(self.pose, dtype=float)
        numbered = read_nodes(self.nodes, self.endings[2], self.where.at("nodes"))
        given = numbered.places
        K, M = self._matrix("stiffness", numbered) * stiffness, self._matrix("mass", numbered) * mass
        loose = np.flatnonzero(M.diagonal()[0::3] == 0)
        if len(loose):  # nodes that no element has
            given = np.delete(given, loose, axis=0)
            freedoms = np.delete(np.arange(M.shape[0]).reshape(-1, 3), loose, axis=0).ravel()
            K, M = K[freedoms][:, freedoms], M[freedoms][:, freedoms]
        one = M[0::3, 0::3]
        largest = abs(one).max()
        same = all(abs(M[k::3, k::3] - one).max() <= EQUAL * largest for k in (1, 2))
        apart = all(abs(M[i::3, j::3]).max() <= EQUAL * largest for i in range(3) for j in range(3) if i != j)
        if not (same and apart):
            fix = "export the consistent or lumped mass of solid elements"
            raise self.where.at("mass").error("directions that are coupled or differ", "M of solid elements", fix)
        nodes = (given * length) @ pose[:3, :3].T + pose[:3, 3]
        check_size(nodes, self.where.at("nodes"))
        self._check_free(K, given * length)
        rotated = self._rotated(K, pose[:3, :3])
        none = np.zeros((0, 6), dtype=np.int64)
        numbers = np.delete(numbered.numbers, loose)
        return Elements(nodes, one.tocsr(), rotated, none, np.zeros((0, 10), dtype=np.int64), numbers)

    def on_tetrahedra(self, given: Elements, solid: Solid, material: Material) -> Elements:
        """The same nodes, K and M with the elements between them, in the order of these: for strains."""
        from scipy.spatial import cKDTree

        made, here = quadratic_elements(solid, material), self.where.at("nodes")
        distance, order = cKDTree(given.nodes).query(made.nodes)
        edges = given.nodes[order[made.tetrahedra[:, 0]]] - given.nodes[order[made.tetrahedra[:, 4]]]
        far = np.flatnonzero(distance > SAME_PLACE * np.linalg.norm(edges, axis=1).max())
        if len(far) or len(given.nodes) != len(made.nodes):
            counts = f"{len(given.nodes)} nodes of matrices, {len(made.nodes)} of the ten-node tetrahedra of the file"
            place = f"; none at [{', '.join(f'{x:.4g}' for x in made.nodes[far[0]])}] m" if len(far) else ""
            fix = "check scale: (0.001 for a file in millimetres); foreshortening and stresses need C3D10, straight ones"
            raise here.error(counts + place, "the same nodes", fix)
        freedoms = (3 * order[:, None] + np.arange(3)).ravel()
        K, M = given.stiffness[freedoms][:, freedoms].tocsc(), given.mass[order][:, order].tocsr()
        strained = np.kron(made.nodes, np.eye(3))  # x_a along direction b: uniform strains
        energies = [np.einsum("ij,ij->j", strained, matrix @ strained) for matrix in (K, made.stiffness)]
        worst = float(max(energies[0] / energies[1], key=lambda ratio: abs(ratio - 1)))
        heavy = float(M.sum() / made.mass.sum())
        for key, ratio in (("stiffness", worst), ("mass", heavy)):
            if abs(ratio - 1) > SAME_MATERIAL:
                fix = "check E, nu, density and units; bodies of several materials have no foreshortening and stresses here"
                raise self.where.at(key).error(f"{ratio:.4g} times that of the file and the material", "the same", fix)
        return replace(made, stiffness=K, mass=M, numbers=given.numbers[order])

    def _matrix(self, name: str, nodes: Nodes) -> Any:
        ending = self.endings[("stiffness", "mass").index(name)]
        found = read_matrix(name, getattr(self, name), ending, self.freedoms, nodes, self.where.at(name))
        if not found.nnz:
            raise self.where.at(name).error("no entries", "a matrix of the body", "export it again")
        if abs(found - found.T).max() > EQUAL * abs(found).max():
            raise self.where.at(name).error("an unsymmetric matrix", "a symmetric matrix of finite numbers", "export it again")
        return (found + found.T) / 2

    def _check_free(self, K: Any, nodes: Array) -> None:
        """Refuse a stiffness that resists rigid motions: of a body that is held already, or of other units or nodes."""
        from elastogen.generator.solids.interfaces import rigid_motions

        R = rigid_motions(nodes - nodes.mean(axis=0))
        R /= np.abs(R).max(axis=0)
        resisted = np.abs(K @ R).max() / abs(K).max()
        if resisted > RIGID:
            raise self.where.at("stiffness").error(
                f"forces of {resisted:.1e} of the largest entry in a rigid motion",
                "the stiffness of a free body",
                "export it without supports; check that nodes and rows are in the same order",
            )

    def _rotated(self, K: Any, rotation: Array) -> Any:
        """K in the axes of the link."""
        from scipy.sparse import block_diag

        if np.allclose(rotation, np.eye(3), rtol=0, atol=0):
            return K.tocsc()
        Q = block_diag([rotation] * (K.shape[0] // 3), format="csr")
        return (Q @ K @ Q.T).tocsc()
