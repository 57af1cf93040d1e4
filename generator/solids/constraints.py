"""A solid with its interfaces: rigid ones take the place of their nodes, averaging ones are constraints beside them.

A rigid interface (RBE2) moves its nodes as a rigid body: u_S = R q, with six coordinates q in place of the nodes. An
averaging one (RBE3) moves with the mean of its nodes, q = (R^T R)^-1 R^T u_S, and stiffens nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastogen.generator.solids.interfaces import Clamped
from elastogen.generator.solids.solid import Array, Elements, Indices


class Constrained:
    """Mass, stiffness and interfaces over coordinates z: free nodes, then six for every rigid interface that is not clamped."""

    def __init__(self, elements: Elements, clamp: Clamped, seats: Sequence[Clamped]) -> None:
        from scipy.sparse import coo_matrix, eye, kron

        self.elements, self.clamp, self.seats = elements, clamp, tuple(seats)
        count = len(elements.nodes)
        free = np.ones(count, dtype=bool)
        for each in (clamp, *seats):
            if not each.averaging:
                free[each.nodes] = False
        self.free: Indices = np.flatnonzero(np.repeat(free, 3))
        rows, columns, values = [self.free], [np.arange(len(self.free))], [np.ones(len(self.free))]
        size = len(self.free)
        self._own: dict[str, Indices] = {}  # coordinates of rigid interfaces
        for seat in seats:
            if seat.averaging:
                continue
            R = seat.rigid(elements.nodes)
            r, c = np.nonzero(R)
            rows.append(_freedoms(seat.nodes)[r])
            columns.append(size + c)
            values.append(R[r, c])
            self._own[seat.name] = np.arange(size, size + 6)
            size += 6
        place = (np.concatenate(rows), np.concatenate(columns))
        self.T = coo_matrix((np.concatenate(values), place), shape=(3 * count, size)).tocsr()
        mass = kron(elements.mass, eye(3), format="csr")
        self.K = (self.T.T @ elements.stiffness @ self.T).tocsc()
        self.M = (self.T.T @ mass @ self.T).tocsc()
        self.size = size

    def motion(self, seat: Clamped) -> Any:
        """The map from z to the six coordinates of an interface, sparse."""
        from scipy.sparse import coo_matrix, csr_matrix

        if seat.name in self._own:
            own = self._own[seat.name]
            return coo_matrix((np.ones(6), (np.arange(6), own)), shape=(6, self.size)).tocsr()
        R = seat.rigid(self.elements.nodes)
        mean = np.linalg.solve(R.T @ R, R.T)
        picked = self.T[_freedoms(seat.nodes)]
        return csr_matrix(mean) @ picked

    @property
    def clamped_mean(self) -> Any | None:
        """The map from z to what an averaging clamp holds at zero; None where the clamp is rigid."""
        return self.motion(self.clamp) if self.clamp.averaging else None

    def displacements(self, z: Array) -> Array:
        """(n, 3, k) of the nodes for k columns."""
        moved: Array = (self.T @ z).reshape(len(self.elements.nodes), 3, -1)
        return moved


def _freedoms(nodes: Indices) -> Indices:
    found: Indices = (3 * nodes[:, None] + np.arange(3)).ravel()
    return found


class Solver:
    """Solves K z + C^T lambda = f, C z = g, by one sparse factorization."""

    def __init__(self, K: Any, C: Any | None) -> None:
        from scipy.sparse import bmat
        from scipy.sparse.linalg import splu

        self.size = K.shape[0]
        self.scale = float(K.diagonal().mean())
        if C is None or not C.shape[0]:
            self._rows = 0
            symmetric = {"SymmetricMode": True}
            self._factors = splu(K.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=symmetric)
            return
        self._rows = C.shape[0]
        self._factors = splu(bmat([[K, self.scale * C.T], [self.scale * C, None]], format="csc"))

    def __call__(self, f: Array, g: Array | None = None) -> Array:
        """z."""
        if not self._rows:
            found: Array = self._factors.solve(f)
            return found
        below = np.zeros((self._rows, *f.shape[1:])) if g is None else self.scale * g
        solved: Array = self._factors.solve(np.concatenate([f, below]))[: self.size]
        return solved


def lowest(K: Any, M: Any, solve: Solver, count: int) -> tuple[Array, Array]:
    """The lowest eigenvalues and vectors (columns) of K z = w^2 M z under the solver's constraints."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    inverse = LinearOperator(K.shape, matvec=lambda v: solve(np.asarray(v).ravel()), dtype=np.float64)
    start = solve(M @ np.cos(np.arange(K.shape[0]) * 0.7))  # some vector that satisfies the constraints, always the same
    squares, vectors = eigsh(K, k=count, M=M, sigma=0.0, OPinv=inverse, v0=start)
    order = np.argsort(squares)
    return np.maximum(squares[order], 0.0), vectors[:, order]
