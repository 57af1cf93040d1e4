"""Mass and stiffness of a body from another program: nodes, K and M, of which the reduction knows no more than of its own.

K and M are Matrix Market files over three displacements of every node, in the order of the nodes. M must couple each
direction with itself only, in all three alike, as solid elements do; nodes with rotations (shells, beams) are not covered.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.solid import Array, Elements
from elastogen.generator.solids.surfaces import check_size

UNITS = {"SI": (1.0, 1.0, 1.0), "mm_t_s": (1e-3, 1e3, 1e3)}
"""Systems of units: lengths [m], masses [kg] and stiffnesses [N/m] of one unit. mm, t, s: forces in N, stresses in MPa."""
ALIKE = 1e-9  # relative: parts of M that differ by less are equal
RIGID = 1e-6  # relative: what a rigid motion may strain


@dataclass(frozen=True)
class Matrices:
    """The contents of the three files, their units, and their pose in the link."""

    stiffness: bytes
    mass: bytes
    nodes: bytes
    units: str
    pose: tuple[tuple[float, ...], ...]
    where: Location = field(default=Location(""), compare=False)

    @property
    def plain(self) -> list[Any]:
        """What it is beside the contents, as plain data."""
        return ["matrices", self.units, self.pose, len(self.stiffness), len(self.mass)]

    @property
    def data(self) -> bytes:
        """All contents."""
        return self.stiffness + self.mass + self.nodes

    def elements(self) -> Elements:
        """Nodes and matrices in SI units, in the link frame."""
        length, mass, stiffness = UNITS[self.units]
        pose = np.array(self.pose, dtype=float)
        given = self._nodes()
        K, M = self._matrix("stiffness") * stiffness, self._matrix("mass") * mass
        for name, matrix in (("stiffness", K), ("mass", M)):
            if matrix.shape != (3 * len(given),) * 2:
                expected = f"{3 * len(given)} rows and columns, three for each of {len(given)} nodes"
                raise self.where.at(name).error(f"{matrix.shape[0]} x {matrix.shape[1]}", expected, "leave out rotations")
        one = M[0::3, 0::3]
        largest = abs(one).max()
        same = all(abs(M[k::3, k::3] - one).max() <= ALIKE * largest for k in (1, 2))
        apart = all(abs(M[i::3, j::3]).max() <= ALIKE * largest for i in range(3) for j in range(3) if i != j)
        if not (same and apart):
            fix = "export the consistent or lumped mass of solid elements"
            raise self.where.at("mass").error("directions that are coupled or differ", "M of solid elements", fix)
        nodes = (given * length) @ pose[:3, :3].T + pose[:3, 3]
        check_size(nodes, self.where.at("nodes"))
        self._check_free(K, given * length)
        rotated = self._rotated(K, pose[:3, :3])
        none = np.zeros((0, 6), dtype=np.int64)
        numbers = np.arange(1, len(nodes) + 1)
        return Elements(nodes, one.tocsr(), rotated, none, np.zeros((0, 10), dtype=np.int64), numbers)

    def _nodes(self) -> Array:
        try:
            text = self.nodes.decode("utf-8-sig").replace(",", " ")
            found = np.loadtxt(io.StringIO(text), comments="#", ndmin=2)
        except (UnicodeDecodeError, ValueError) as problem:
            fix = "one node a line: x y z, or number x y z"
            raise self.where.at("nodes").error(str(problem)[:100], "a table of numbers", fix) from None
        if found.shape[1] not in (3, 4) or not len(found) or not np.isfinite(found).all():
            fix = "one node a line: x y z, or number x y z"
            raise self.where.at("nodes").error(f"{found.shape[1]} columns", "three coordinates of every node", fix)
        return found[:, -3:]

    def _matrix(self, name: str) -> Any:
        from scipy.io import mmread

        try:
            found = mmread(io.BytesIO(getattr(self, name))).tocsr()
        except (ValueError, OSError, AttributeError, IndexError, TypeError) as problem:
            fix = "scipy.io.mmwrite writes such a file"
            raise self.where.at(name).error(str(problem)[:100], "a sparse Matrix Market file", fix) from None
        if not np.isfinite(found.data).all() or abs(found - found.T).max() > ALIKE * abs(found).max():
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
