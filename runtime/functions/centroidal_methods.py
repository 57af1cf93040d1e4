"""Methods of a model about the robot as a whole: centre of mass and momentum."""

from __future__ import annotations

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues


class CentroidalMethods(Evaluation):
    """Of all bodies that move, in base components; the mass of a fixed base link does not count."""

    def center_of_mass(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Centre of mass, (..., 3) [m]."""
        return self._evaluate("center_of_mass", (q,), out, parameters)

    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the centre of mass, (..., 3, nv): its velocity is J qd."""
        return self._evaluate("center_of_mass_jacobian", (q,), out, parameters)

    def centroidal_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Linear momentum [kg m/s], then angular momentum about the centre of mass [kg m^2/s], (..., 6)."""
        return self._evaluate("centroidal_momentum", (q, qd), out, parameters)

    def centroidal_momentum_matrix(
        self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Matrix A of the centroidal momentum A qd, (..., 6, nv)."""
        return self._evaluate("centroidal_momentum_matrix", (q,), out, parameters)

    def centroidal_momentum_rate(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Rate of the centroidal momentum, the force [N] and moment [N m] that the motion needs, (..., 6)."""
        return self._evaluate("centroidal_momentum_rate", (q, qd, qdd), out, parameters)
