"""Methods of a model about its loops: closure, maps from the drives, forces; and the search for closed configurations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.functions.metadata import LoopsInfo, Metadata
from elastogen.runtime.real_numbers import real_array

STEPS, STARTS = 60, 12  # of Newton at most, and how often it starts again, displaced
LONGEST = 0.5  # largest change of a coordinate in one step [rad or m]
STIFF = 1e-4  # weight of elastic coordinates: joints close loops, links bend only where they must


class LoopMethods(Evaluation):
    """Functions of robots with loops; J, e and the bias have a row for every row of a loop, redundant ones too."""

    _metadata: Metadata
    nq: Any
    nv: Any
    dtype: Any
    driven: Any
    integrate: Any

    @property
    def loops(self) -> LoopsInfo | None:
        """What is known of the robot's loops: names, rows, independent velocities; None for a tree."""
        return self._metadata.loops

    def close_loops(
        self,
        q: ArrayLike,
        held: Sequence[str | int] | None = None,
        *,
        tolerance: float | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return the nearest configuration (..., nq) in which all loops are closed.

        ``held`` are velocities, by names or indices, whose coordinates stay as they are: by default those of the independent
        drives; ``held=[]`` moves everything. Where two links in a plane close each loop and just the independent coordinates
        are held, explicit formulas give it (``closed_configuration``). Elsewhere Newton's steps have a bound, and where they
        get stuck, as from a loop that is open by exactly pi, they start again from a displaced configuration. ``tolerance``
        is that of the residuals, by default 1e-12 in double and 2e-6 in single precision, more where loops contradict each
        other by rounding. ModelError with the remaining gap where the loops cannot be closed.
        """
        info = self._known_loops("close_loops")
        start = "Fix: give one number for each of model.coordinate_names; model.loops.start is a closed configuration."
        try:
            given = real_array(q)
        except (TypeError, ValueError):
            raise ModelError(f"{self._name}.close_loops: q={q!r}, expected {self.nq} real numbers. {start}") from None
        if given.ndim < 1 or given.shape[-1] != self.nq:
            raise ModelError(f"{self._name}.close_loops: q has shape {given.shape}, expected (..., {self.nq}). {start}")
        if not np.isfinite(given).all():
            raise ModelError(f"{self._name}.close_loops: q={given.tolist()}, expected finite numbers. {start}")
        free = np.setdiff1d(np.arange(self.nv), self._held(held, info))
        single = self.dtype == np.float32
        limit = max(2e-6 if single else 1e-12, 2.0 * self._rounding(info)) if tolerance is None else tolerance
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 1:
            fix = "Fix: leave it out, or give the largest residual that counts as closed, for example 1e-9."
            raise ModelError(f"{self._name}.close_loops: tolerance={tolerance!r}, expected a number between 0 and 1. {fix}")
        found = np.empty(given.shape, dtype=self.dtype)
        left = np.ones(given.shape[:-1], dtype=bool)
        if "closed_configuration" in self._kernels and {*range(self.nv)} - {*free.tolist()} == {*info.independent}:
            found[...] = self._evaluate("closed_configuration", (given,), None, parameters)
            e = np.asarray(self._evaluate("loop_residual", (found,), None, parameters), dtype=float)
            left = ~(np.abs(e).max(axis=-1, initial=0.0) <= limit)
        for index in np.argwhere(left):
            found[tuple(index)] = self._closed(given[tuple(index)], free, limit, parameters, info)
        return found

    def _why_singular(self, q: NDArray[Any], values: NDArray[Any]) -> str:
        """The likely cause of a failed factorization: loops that lose rank, drives that do not determine them, or masses."""
        info = self._metadata.loops
        if info is None or "loop_jacobian" not in self._kernels:
            return super()._why_singular(q, values)
        given = dict(zip(self._parameters, values, strict=True))
        J = np.asarray(self._kernels["loop_jacobian"].batch((q,), None, given), dtype=float)
        small = 1e-5 if self.dtype == np.float64 else 1e-3
        rank = int((np.linalg.svd(J, compute_uv=False) > small).sum())
        if rank < info.rank:
            return f"a singular configuration: the loops have rank {rank} here instead of {info.rank}"
        others = [k for k in range(self.nv) if k not in info.independent]
        if int((np.linalg.svd(J[:, others], compute_uv=False) > small).sum()) < info.rank:
            names = ", ".join(self._metadata.velocity_names[k] for k in info.independent)
            return f"a singular configuration: {names} do not determine the motion of the loops here"
        return super()._why_singular(q, values)

    def _rounding(self, info: LoopsInfo) -> float:
        """What the loops of the description are open by where they close best; zero but for rounded numbers in a file."""
        e = self._evaluate("loop_residual", (np.array(info.start),), None, dict(self._parameters.nominal))
        return float(np.abs(np.asarray(e, dtype=float)).max(initial=0.0))

    def _known_loops(self, method: str) -> LoopsInfo:
        if self._metadata.loops is None:
            raise ModelError(f"{self._name}.{method}: this robot has no loops. Fix: add `loops:` to its description.")
        return self._metadata.loops

    def _held(self, held: Sequence[str | int] | None, info: LoopsInfo) -> NDArray[np.intp]:
        if held is None:
            return np.array([k for k in self.driven if k in info.independent], dtype=np.intp)
        names = list(self._metadata.velocity_names)
        found, fix = [], f"Fix: for example held=[{names[0]!r}], or held=[] to move everything."
        if isinstance(held, (str, bytes)) or not hasattr(held, "__iter__"):
            raise ModelError(
                f"{self._name}.close_loops: held={held!r}, expected a list of names or indices of velocities. {fix}"
            )
        for each in held:
            known = each in names if isinstance(each, str) else isinstance(each, (int, np.integer)) and 0 <= each < self.nv
            if not known or isinstance(each, bool):
                expected = f"velocities: {', '.join(names)}, or 0 to {self.nv - 1}"
                raise ModelError(f"{self._name}.close_loops: held has {each!r}, expected {expected}. {fix}")
            found.append(names.index(each) if isinstance(each, str) else int(each))
        return np.array(found, dtype=np.intp)

    def _closed(
        self, q: NDArray[Any], free: NDArray[np.intp], limit: float, parameters: ParameterValues, info: LoopsInfo
    ) -> NDArray[Any]:
        """One configuration; displaced starts, each further away, follow a fixed sequence."""
        generator = np.random.default_rng(0)
        weights = np.where(self._metadata.elastic_coordinates, STIFF, 1.0)[free]
        best, gap = q, np.inf
        for start in range(STARTS):
            v = np.zeros(self.nv)
            v[free] = 0.15 * start * generator.normal(size=len(free)) * weights
            found, left = self._newton(np.asarray(self.integrate(q, v), dtype=float), free, weights, limit, parameters)
            if left < gap:
                best, gap = found, left
            if gap <= limit:
                return best
        e = np.abs(np.asarray(self._evaluate("loop_residual", (best,), None, parameters), dtype=float))
        worst = info.rows[int(np.argmax(e))]
        names = [self._metadata.velocity_names[k] for k in range(self.nv) if k not in free]
        holding = f" with {', '.join(names)} held" if names else ""
        raise ModelError(
            f"{self._name}.close_loops: the loops stay open by {gap:.3g} ({worst}) from q={np.round(q, 6).tolist()}{holding}. "
            "Fix: start nearer to a closed configuration, hold fewer coordinates (held=[]), or correct the lengths."
        )

    def _newton(
        self, q: NDArray[Any], free: NDArray[np.intp], weights: NDArray[Any], limit: float, parameters: ParameterValues
    ) -> tuple[NDArray[Any], float]:
        """Least squares of least steps, each shortened until the residual decreases."""

        def residual(q: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(self._evaluate("loop_residual", (q,), None, parameters), dtype=float)

        e = residual(q)
        for _ in range(STEPS):
            if np.abs(e).max() <= limit * 1e-2:
                break
            J = np.asarray(self._evaluate("loop_jacobian", (q,), None, parameters), dtype=float)[:, free] * weights
            step = np.zeros(self.nv)
            step[free] = -weights * np.linalg.lstsq(J, e, rcond=1e-9 if self.dtype == np.float64 else 1e-5)[0]
            step *= min(1.0, LONGEST / max(np.abs(step).max(), 1e-300))
            for _ in range(10):
                moved = np.asarray(self.integrate(q, step), dtype=float)
                ahead = residual(moved)
                if ahead @ ahead < e @ e:
                    break
                step *= 0.5
            else:
                break
            q, e = moved, ahead
        return q, float(np.abs(e).max())
