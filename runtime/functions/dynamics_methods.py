"""Methods of a model: the equation of motion under wrenches on frames."""

from __future__ import annotations

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, OnFailure, ParameterValues
from elastogen.runtime.functions.frames.framed_evaluation import FramedEvaluation, Wrenches, act


class DynamicsMethods(FramedEvaluation):
    """Dynamics under wrenches on frames; shapes and equation as in ``catalogue_methods``."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return the forces F of a motion, (..., nq), [N m] or [N].

        F = M(q) qdd + C(q, qd) qd + D qd + Q_e(q) + G(q) + friction - sum J^T w. ``wrenches`` w on frames are those of
        :meth:`frame_forces`.
        """
        if wrenches is not None and act(wrenches):
            return self._under_wrenches("inverse_dynamics_with_wrenches", (q, qd, qdd), wrenches, out, parameters)
        return self._evaluate("inverse_dynamics", (q, qd, qdd), out, parameters)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        F: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        parameters: ParameterValues = None,
        on_failure: OnFailure = "raise",
    ) -> Array:
        """Accelerations under forces F, the inverse of :meth:`inverse_dynamics`, (..., nq).

        qdd = M(q)^-1 (F + sum J^T w - C(q, qd) qd - D qd - Q_e(q) - G(q) - friction), with wrenches w on frames.
        """
        if wrenches is not None and act(wrenches):
            given = (q, qd, F)
            return self._under_wrenches("forward_dynamics_with_wrenches", given, wrenches, out, parameters, on_failure)
        return self._evaluate("forward_dynamics", (q, qd, F), out, parameters, on_failure)
