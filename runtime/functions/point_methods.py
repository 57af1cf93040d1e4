"""Methods of a model: points and sensors on its links."""

from __future__ import annotations

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues


class PointMethods(Evaluation):
    """Where the points of a robot are, how they move and what sensors in them read; every method does all points at once.

    Points are in the order of ``point_names``. Positions, velocities and accelerations are in base components, without
    gravity; six-vectors have the linear part first. Sensors read in the axes of their own frame.
    """

    def point_positions(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Positions of all points in the base frame, (..., n_points, 3), [m]."""
        return self._evaluate("point_positions", (q,), out, parameters)

    def point_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v, omega) of all points in base components, (..., n_points, 6)."""
        return self._evaluate("point_velocities", (q, qd), out, parameters)

    def point_accelerations(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Accelerations (dv/dt, domega/dt) of all points in base components, without gravity, (..., n_points, 6)."""
        return self._evaluate("point_accelerations", (q, qd, qdd), out, parameters)

    def point_jerks(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        q3: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Time derivatives of :meth:`point_accelerations`, linear, then angular, (..., n_points, 6), [m/s^3], [rad/s^3]."""
        return self._evaluate("point_jerks", (q, qd, qdd, q3), out, parameters)

    def point_jacobians(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobians of all points in base components, (v, omega) = J qd, (..., n_points, 6, nq)."""
        return self._evaluate("point_jacobians", (q,), out, parameters)

    def point_jacobian_rates(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Time derivatives of :meth:`point_jacobians`: accelerations are J qdd + dJ/dt qd, (..., n_points, 6, nq)."""
        return self._evaluate("point_jacobian_rates", (q, qd), out, parameters)

    def point_forces(
        self, q: ArrayLike, wrenches: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized forces sum J^T w of wrenches on the points, (..., nq), [N m] or [N].

        ``wrenches`` is (..., n_points, 6) in base components: force [N], then moment [N m].
        """
        return self._evaluate("point_forces", (q, wrenches), out, parameters)

    def point_strains(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Strains that the gauges read, -offset w''(x), plus u' where a link stretches, (..., n_gauges)."""
        return self._evaluate("point_strains", (q,), out, parameters)

    def point_curvatures(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Curvatures w'' in y and in z of the beams at the points on them, (..., n_points_on_beams, 2), [1/m].

        Exactly at a node of finite elements that of the inner element.
        """
        return self._evaluate("point_curvatures", (q,), out, parameters)

    def accelerometers(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return what accelerometers in all points read, R^T (a - g) in their own axes, (..., n_points, 3), [m/s^2]."""
        return self._evaluate("accelerometers", (q, qd, qdd), out, parameters)

    def gyroscopes(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Return what gyroscopes in all points read, R^T omega in their own axes, (..., n_points, 3), [rad/s]."""
        return self._evaluate("gyroscopes", (q, qd), out, parameters)
