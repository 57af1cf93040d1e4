"""Mass and stiffness of a body from another program: nodes, K and M, of which the reduction knows no more than of its own.

K and M are over three displacements of every node (matrix_files.py tells the formats). M must couple each direction with itself
only, equally in all three, as solid elements do; nodes with rotations (shells, beams) are not covered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.matrix_files import Nodes, read_matrix, read_nodes
from elastogen.generator.solids.solid import Array, Elements
from elastogen.generator.solids.surfaces import check_size

UNITS = {"SI": (1.0, 1.0, 1.0), "mm_t_s": (1e-3, 1e3, 1e3)}
"""Systems of units: lengths [m], masses [kg] and stiffnesses [N/m] of one unit. mm, t, s: forces in N, stresses in MPa."""
EQUAL = 1e-9  # relative: parts of M that differ by less are equal
RIGID = 1e-6  # relative: what a rigid motion may strain


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
