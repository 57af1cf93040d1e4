"""Small motions about a configuration: natural frequencies, mode shapes and state-space matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime import real_numbers
from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.functions.quaternions import commutators
from elastogen.runtime.functions.singular import why_singular
from elastogen.runtime.real_numbers import real_array

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Modes:
    """Natural frequencies and shapes of M qdd + K q = 0 about a configuration.

    ``frequencies`` [rad/s] ascend; one that is 0 within rounding errors, as of a rigid motion, is 0; an unstable direction
    (negative stiffness) has a negative entry, -sqrt(|w^2|). Column k of ``shapes`` is the mode of frequencies[k] over the free
    coordinates ``coordinates``, with shapes^T M shapes = 1. Of a robot with loops they are motions that keep these closed.
    """

    frequencies: Array
    shapes: Array
    coordinates: tuple[int, ...]

    @property
    def hertz(self) -> Array:
        """Return the frequencies in Hz."""
        result: Array = self.frequencies / (2.0 * np.pi)
        return result


@dataclass(frozen=True)
class Linearization:
    """d/dt (dq, dqd) = A (dq, dqd) + B dF about an operating point; the columns of B belong to ``driven``.

    With floating and spherical joints dq is a displacement along the velocities, ``model.difference`` of two configurations,
    and dq' = dqd - [qd, dq]: seen from a frame that rotates, a displacement turns back.
    """

    A: Array
    B: Array
    driven: tuple[int, ...]
    coordinates: tuple[int, ...] | None = None  # of a robot with loops: the independent velocities that dq and dqd belong to

    def __iter__(self) -> Iterator[Array]:
        """Allow ``A, B = model.linearize(...)``."""
        return iter((self.A, self.B))

    def __repr__(self) -> str:
        return f"Linearization(A {self.A.shape}, B {self.B.shape}, driven={self.driven})"


PADE_NORM = 5.371920351148152  # up to which the approximant is exact to double precision
PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
BALANCINGS = 20  # rounds, at most
SQUARINGS = 30  # each doubles the rounding errors


@dataclass(frozen=True, eq=False)
class DiscreteLinearization:
    """The step (dq, dqd) after dt = A (dq, dqd) + B dF, with dF held; the columns of B belong to ``driven``."""

    A: Array
    B: Array
    dt: float  # [s]
    driven: tuple[int, ...]
    coordinates: tuple[int, ...] | None = None  # as of :class:`Linearization`

    def __iter__(self) -> Iterator[Array]:
        """Allow ``A, B = model.discrete_linearization(...)``."""
        return iter((self.A, self.B))

    def __repr__(self) -> str:
        return f"DiscreteLinearization(A {self.A.shape}, B {self.B.shape}, dt={self.dt:g}, driven={self.driven})"


def held_step(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """exp(A dt) and its integral over dt times B: x' = A x + B u from sample to sample with u held; leading axes are batches.

    The block matrix X = [[A, B], [0, 0]] dt is balanced by powers of 2, since metres of a stiff link and its velocities differ
    by many orders. Padé's approximant of order 13 (N. J. Higham, The Scaling and Squaring Method for the Matrix Exponential
    Revisited, SIAM J. Matrix Anal. Appl. 26, 2005) of X / 2^s, whose norm is at most 5.4, is squared s times. NaN where A or
    B is not finite, or where so many squarings would leave no digits.
    """
    size, inputs = A.shape[-1], B.shape[-1]
    X = np.zeros((*A.shape[:-2], size + inputs, size + inputs))
    X[..., :size, :size], X[..., :size, size:] = A * dt, B * dt
    scale = np.append(_balance(np.abs(A).reshape(-1, size, size).max(axis=0, initial=0.0)), np.ones(inputs))
    X *= scale / scale[:, None]
    norm = float(np.abs(X[..., :size]).sum(axis=-2).max(initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(max(norm, 1e-30) / PADE_NORM)))) if np.isfinite(norm) else 0
    if not np.isfinite(norm) or squarings > SQUARINGS:
        return np.full_like(A, np.nan), np.full_like(B, np.nan)
    X /= 2.0**squarings
    one = np.broadcast_to(np.eye(size + inputs), X.shape)
    X2 = X @ X
    X4 = X2 @ X2
    X6 = X4 @ X2
    b = PADE
    odd = X @ (X6 @ (b[13] * X6 + b[11] * X4 + b[9] * X2) + b[7] * X6 + b[5] * X4 + b[3] * X2 + b[1] * one)
    even = X6 @ (b[12] * X6 + b[10] * X4 + b[8] * X2) + b[6] * X6 + b[4] * X4 + b[2] * X2 + b[0] * one
    result = np.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        result = result @ result
    result = result * scale[:, None] / scale
    return result[..., :size, :size], result[..., :size, size:]


def _balance(sizes: Array) -> Array:
    """Powers of 2, d, which make rows and columns of diag(1/d) A diag(d) of one size, from the sizes of A's entries."""
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    np.fill_diagonal(sizes, 0.0)
    d = np.ones(len(sizes))
    for _ in range(BALANCINGS):
        before = d.copy()
        for k in range(len(d)):
            column, row = sizes[:, k].sum(), sizes[k].sum()
            factor = 2.0 ** np.round(0.5 * np.log2(row / column)) if row > 0.0 and column > 0.0 else 1.0
            sizes[:, k] *= factor
            sizes[k] /= factor
            d[k] *= factor
        if np.array_equal(d, before):
            break
    return d


class LinearAnalysis(Evaluation):
    """Methods for small motions about a configuration; they need outputs beyond the default ones and name them if missing."""

    _metadata: Metadata
    driven: Any
    nq: Any
    dtype: Any
    nv: Any

    def modes(self, q: ArrayLike, *, joints: str = "free", gravity: bool = False, parameters: ParameterValues = None) -> Modes:
        """Natural frequencies and mode shapes at rest in the configuration q.

        ``joints`` are "free" (rigid motions have frequency 0) or "locked" (only elastic coordinates move). The stiffness is K,
        or with ``gravity`` K + dG/dq, for which the output ``inverse_dynamics_derivatives`` is needed. Loops stay closed;
        "locked" are then the drives.
        """
        one_of("modes: joints", joints, ("free", "locked"))
        flag("modes: gravity", gravity)
        try:
            q = real_array(q)
        except (TypeError, ValueError):
            raise ModelError(f"modes: q={q!r}, expected {self.nq} real numbers.") from None
        if q.shape != (self.nq,):
            raise ModelError(f"modes: q has shape {q.shape}, expected ({self.nq},): one configuration at a time.")
        if not np.isfinite(q).all():
            raise ModelError(f"modes: q={q.tolist()}, expected finite numbers.")
        M = np.asarray(self._evaluate("mass_matrix", [q], None, parameters), dtype=float)
        zero = np.zeros(self.nv)
        K = (
            self._evaluate("inverse_dynamics_derivatives", [q, zero, zero], None, parameters)[0]
            if gravity
            else self._evaluate_at("stiffness_matrix", q, None, parameters)
        )
        if self._metadata.loops is not None:
            return self._closed_modes(q, M, np.asarray(K, dtype=float), joints == "locked", gravity, parameters)
        elastic = self._metadata.elastic_coordinates
        kept = [k for k in range(self.nv) if joints == "free" or elastic[k]]
        if not kept:
            raise ModelError("modes: with joints='locked' nothing moves. Fix: joints='free', or a robot with elastic parts.")
        block = np.ix_(kept, kept)
        try:
            L = np.linalg.cholesky(M[block])
        except np.linalg.LinAlgError:
            names = [self._metadata.velocity_names[k] for k in kept]
            why = why_singular(M[block].astype(self.dtype), names)
            raise ModelError(
                f"modes: the mass matrix is not positive definite; likely cause: {why}. Fix: correct it."
            ) from None
        return self._solved(L, np.asarray(K, dtype=float)[block], np.eye(len(kept)), tuple(kept))

    def _solved(self, L: Any, K: Any, basis: Any, coordinates: tuple[int, ...]) -> Modes:
        """Return the modes of L L^T and K, given in the columns of a basis."""
        reduced = np.linalg.solve(L, np.linalg.solve(L, K).T)
        squares, vectors = np.linalg.eigh(0.5 * (reduced + reduced.T))
        shapes = np.linalg.solve(L.T, vectors)
        # Rigid motions, up to rounding errors: of eigenvalues, in double, and of the entries of K, in the model's precision.
        # In float the latter alone count: a part of the greatest eigenvalue would cover the lowest modes of a link.
        entries = np.sum(np.abs(shapes) * (np.abs(K) @ np.abs(shapes)), axis=0)
        noise = len(K) * EPS * np.abs(squares).max() + 4.0 * float(np.finfo(self.dtype).eps) * entries
        squares[np.abs(squares) <= noise] = 0.0
        return Modes(np.sign(squares) * np.sqrt(np.abs(squares)), basis @ shapes, coordinates)

    def _closed_modes(self, q: Any, M: Any, K: Any, locked: bool, gravity: bool, parameters: ParameterValues) -> Modes:
        """Return the modes of a closed mechanism, in a basis of the motions that keep its loops closed."""
        loops = self._metadata.loops
        assert loops is not None
        if gravity and set(self.driven) - set(loops.independent):
            raise ModelError("modes: gravity=True of an over-actuated mechanism depends on how its drives share their forces.")
        e, J = (
            np.asarray(self._evaluate(name, [q], None, parameters), dtype=float) for name in ("loop_residual", "loop_jacobian")
        )
        if np.abs(e).max() > (1e-6 if self.dtype == np.float64 else 1e-3):
            raise ModelError(f"modes: the loops are open by {np.abs(e).max():.3g} at q. Fix: q = model.close_loops(q).")
        if locked:
            J = np.vstack([J, np.eye(self.nv)[list(self.driven)]])
        _, sizes, V = np.linalg.svd(J)
        basis = V[int((sizes > 1e-6 * sizes[0]).sum()) :].T
        if not basis.shape[1]:
            raise ModelError("modes: with joints='locked' nothing moves. Fix: joints='free', or a robot with elastic parts.")
        L = np.linalg.cholesky(basis.T @ M @ basis)
        return self._solved(L, basis.T @ K @ basis, basis, tuple(range(self.nv)))

    def linearize(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike, *, parameters: ParameterValues = None) -> Linearization:
        """State-space matrices about (q, qd, F) for control design; needs the output ``forward_dynamics_derivatives``.

        Of a batch of operating points they have its leading axes. Of a robot with loops dq and dqd are those of the
        independent velocities, ``coordinates`` of the result.
        """
        blocks = self._evaluate("forward_dynamics_derivatives", [q, qd, F], None, parameters)
        by_q, by_qd, by_F = (np.asarray(block, dtype=float) for block in blocks)
        if self._metadata.loops is not None:
            return self._closed_linearization(q, qd, by_q, by_qd, by_F, parameters)
        n, batch = self.nv, by_q.shape[:-2]
        rates = np.broadcast_to(np.asarray(qd, dtype=float), (*batch, n)).reshape(-1, n)
        A, B = np.zeros((*batch, 2 * n, 2 * n)), np.zeros((*batch, 2 * n, len(self.driven)))
        A[..., :n, :n] = -np.array([commutators(self._metadata, rate) for rate in rates]).reshape(*batch, n, n)
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:] = by_q, by_qd
        B[..., n:, :] = by_F[..., list(self.driven)]
        return Linearization(A, B, self.driven)

    def discrete_linearization(
        self, q: ArrayLike, qd: ArrayLike, F: ArrayLike, dt: float, *, parameters: ParameterValues = None
    ) -> DiscreteLinearization:
        """The step of the linearized robot over ``dt`` [s] with forces held, for MPC and observers: A_d = exp(A dt), and B_d.

        A and B are those of :meth:`linearize` about (q, qd, F), a motion as well as rest; of a batch of operating points they
        have its leading axes. Exact for the linearized robot, no Euler step.
        """
        step = real_numbers.number("discrete_linearization: dt", dt, "a positive number of seconds")
        if step <= 0.0:
            raise ModelError(f"discrete_linearization: dt: got {dt!r}, expected a positive number of seconds.")
        found = self.linearize(q, qd, F, parameters=parameters)
        if not (np.isfinite(found.A).all() and np.isfinite(found.B).all()):
            raise ModelError("discrete_linearization: no numbers about this state, expected finite q, qd, F and parameters.")
        with np.errstate(over="ignore", invalid="ignore"):
            A, B = held_step(found.A, found.B, step)
        if not (np.isfinite(A).all() and np.isfinite(B).all()):
            raise ModelError(
                f"discrete_linearization: dt={step:g} s, in which the linearized robot goes beyond all numbers, or beyond "
                "their digits. Fix: a smaller dt."
            )
        return DiscreteLinearization(A, B, step, found.driven, found.coordinates)

    def _closed_linearization(
        self, q: ArrayLike, qd: ArrayLike, by_q: Array, by_qd: Array, by_F: Array, parameters: ParameterValues
    ) -> Linearization:
        """Linearize in the independent velocities, for each operating point of a batch."""
        loops = self._metadata.loops
        assert loops is not None
        batch = by_q.shape[:-2]
        places, rates = (
            np.broadcast_to(np.asarray(x, dtype=np.float64), (*batch, size)).reshape(-1, size)
            for x, size in ((q, self.nq), (qd, self.nv))
        )
        blocks = zip(places, rates, *(block.reshape(-1, *block.shape[-2:]) for block in (by_q, by_qd, by_F)), strict=True)
        found = [self._closed_about(list(loops.independent), parameters, *point) for point in blocks]
        A, B = (np.array([pair[k] for pair in found]).reshape(*batch, *found[0][k].shape) for k in (0, 1))
        return Linearization(A, B, self.driven, tuple(loops.independent))

    def _closed_about(
        self, inside: list[int], parameters: ParameterValues, q: Array, rate: Array, by_q: Array, by_qd: Array, by_F: Array
    ) -> tuple[Array, Array]:
        """Return A and B of dq = G dq_I, dq' = dqd - [qd, dq] and dqd = G dqd_I + P dq_I, for J dqd = -(dJ along dq) qd."""
        others = [k for k in range(self.nv) if k not in inside]
        J = np.asarray(self._evaluate("loop_jacobian", [q], None, parameters), dtype=float)
        inverse = np.linalg.pinv(J[:, others], rcond=1e-9)

        def bias(v: Array) -> Array:
            return np.asarray(self._evaluate("loop_bias", [q, v], None, parameters), dtype=float)

        count = len(inside)
        G, P = np.zeros((self.nv, count)), np.zeros((self.nv, count))
        G[inside] = np.eye(count)
        G[others] = -inverse @ J[:, inside]
        turns = commutators(self._metadata, np.asarray(rate, dtype=np.float64)) @ G  # [qd, dq]
        for k in range(count):  # dJ qd along dq is the polar form of the bias, which is quadratic, and half of J [dq, qd]
            P[others, k] = -inverse @ ((bias(rate + G[:, k]) - bias(rate - G[:, k])) / 4.0 - J @ turns[:, k] / 2.0)
        A, B = np.zeros((2 * count, 2 * count)), np.zeros((2 * count, len(self.driven)))
        A[:count, :count], A[:count, count:] = -turns[inside], np.eye(count)
        A[count:, :count] = by_q[inside] @ G + by_qd[inside] @ P
        A[count:, count:] = by_qd[inside] @ G
        B[count:] = by_F[np.ix_(inside, list(self.driven))]
        return A, B
