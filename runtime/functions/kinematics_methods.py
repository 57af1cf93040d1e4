"""Methods of a model: positions, velocities and accelerations of its frames."""

from __future__ import annotations

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues


class KinematicsMethods(Evaluation):
    """Where the frames of a robot are and how they move.

    Shapes: ``q``, ``qd``, ``qdd`` are (..., nq) in [rad] or [m] per coordinate, with time derivatives; dots
    are batch axes that broadcast. Six-vectors have the linear part first: [m/s] then [rad/s], or [m/s^2] then
    [rad/s^2].
    Frames are in the order of ``frame_names``, the tip frame last.
    """

    def forward_kinematics(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Homogeneous transformations T_0i(q) of all frames in the base frame, (..., n_frames, 4, 4), [m]."""
        return self._evaluate("forward_kinematics", (q,), out, parameters)

    def jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the tip in the base frame, (v, omega) = J(q) qd, (..., 6, nq)."""
        return self._evaluate("jacobian", (q,), out, parameters)

    def jacobian_tip(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the tip in tip components, (v, omega) = J(q) qd, (..., 6, nq)."""
        return self._evaluate("jacobian_tip", (q,), out, parameters)

    def jacobian_rate(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Time derivative dJ/dt of :meth:`jacobian`: accelerations are J qdd + dJ/dt qd, (..., 6, nq)."""
        return self._evaluate("jacobian_rate", (q, qd), out, parameters)

    def jacobian_rate_tip(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return :meth:`jacobian_rate` in tip components: dJ/dt of the base frame, projected, (..., 6, nq)."""
        return self._evaluate("jacobian_rate_tip", (q, qd), out, parameters)

    def frame_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v_i, omega_i) of all frames in base axes, (..., n_frames, 6)."""
        return self._evaluate("frame_velocities", (q, qd), out, parameters)

    def frame_velocities_local(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v_i, omega_i) of every frame in its own axes, (..., n_frames, 6)."""
        return self._evaluate("frame_velocities_local", (q, qd), out, parameters)

    def frame_accelerations(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Accelerations (dv_i/dt, domega_i/dt) of all frames in base axes, (..., n_frames, 6)."""
        return self._evaluate("frame_accelerations", (q, qd, qdd), out, parameters)

    def frame_accelerations_local(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Accelerations of all frames, each in its own axes, (..., n_frames, 6)."""
        return self._evaluate("frame_accelerations_local", (q, qd, qdd), out, parameters)
