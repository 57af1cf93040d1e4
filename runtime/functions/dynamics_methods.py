"""Methods of a model: equation of motion, energies, derivatives, and the form linear in the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, ParameterValues, Quadruple, Triple
from elastogen.runtime.functions.frames.framed_evaluation import FramedEvaluation, Wrenches, act

OnFailure: TypeAlias = Literal["raise", "nan"]


class DynamicsMethods(FramedEvaluation):
    """The equation of motion M(q) qdd + C(q, qd) qd + D qd + Q_e(q) + G(q) + friction = F and its parts.

    Q_e = dU/dq are the elastic forces: K q where K is constant. D qd + friction are :meth:`friction_forces`.

    Shapes: ``q``, ``qd``, ``qdd`` are (..., nq) in [rad] or [m] per coordinate, with time derivatives; forces
    ``F`` are (..., nq) in [N m] or [N]; ``...`` are batch axes that broadcast. Functions that factorize M
    take ``on_failure``: "raise" a ModelError, or fill the failed states with "nan".
    """

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Mass matrix M(q), symmetric, (..., nq, nq)."""
        return self._evaluate("mass_matrix", (q,), out, parameters)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Matrix C(q, qd) of Coriolis and centrifugal terms by Christoffel symbols, (..., nq, nq).

        dM/dt - 2 C is skew-symmetric.
        """
        return self._evaluate("coriolis_matrix", (q, qd), out, parameters)

    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Coriolis and centrifugal forces C(q, qd) qd, (..., nq), [N m] or [N]."""
        return self._evaluate("coriolis_vector", (q, qd), out, parameters)

    def stiffness_matrix(
        self, q: ArrayLike | None = None, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Stiffness matrix K, (nq, nq): the strain energy is 1/2 q^T K q; zero in the rows of rigid joints.

        With telescopic joints K depends on q, and K q lacks the elastic force along the slide: see :meth:`elastic_forces`.
        """
        return self._evaluate_at("stiffness_matrix", q, out, parameters)

    def damping_matrix(
        self, q: ArrayLike | None = None, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Damping matrix D, (nq, nq): viscous friction and structural damping. With telescopic joints it depends on q."""
        return self._evaluate_at("damping_matrix", q, out, parameters)

    def elastic_forces(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Elastic forces Q_e(q) = dU/dq, (..., nq), [N m] or [N], U the strain energy.

        Q_e = K q where K is constant; along the slide of a telescopic link there is 1/2 q^T (dK/dd) q beside it.
        """
        return self._evaluate("elastic_forces", (q,), out, parameters)

    def gravity_vector(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Gravity forces G(q) = dV/dq, (..., nq), [N m] or [N]: what the drives carry at rest."""
        return self._evaluate("gravity_vector", (q,), out, parameters)

    def inertia_forces(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Generalized inertia forces M(q) qdd + C(q, qd) qd, (..., nq), [N m] or [N]."""
        return self._evaluate("inertia_forces", (q, qd, qdd), out, parameters)

    def friction_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Forces of friction and damping D qd + dry friction, (..., nq), [N m] or [N]; their power is lost.

        Friction that grows with load is apart, in :meth:`load_friction_forces`.
        """
        return self._evaluate("friction_forces", (q, qd), out, parameters)

    def load_friction_forces(
        self, qd: ArrayLike, F: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Friction that grows with the loads that driving forces F hold (..., nq), part of F; robots with ``friction.load``."""
        return self._evaluate("load_friction_forces", (qd, F), out, parameters)

    def payload_forces(
        self, q: ArrayLike, wrench: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized forces Q_SU = J^T wrench of a wrench on the tip, (..., nq), [N m] or [N].

        ``wrench`` is (..., 6) in tip components, the load on the tip: force [N], then moment [N m].
        """
        return self._evaluate("payload_forces", (q, wrench), out, parameters)

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

    def elastic_inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
        on_failure: OnFailure = "raise",
    ) -> tuple[Array, Array]:
        """Driving forces for given joint accelerations at the present elastic state, and all accelerations.

        Of ``qdd`` only the joints' entries are read; no force acts on the elastic coordinates, whose accelerations follow.
        """
        result = self._evaluate("elastic_inverse_dynamics", (q, qd, qdd), out, parameters, on_failure)
        return cast("tuple[Array, Array]", result)

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

    def mass_matrix_solve(
        self,
        q: ArrayLike,
        b: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
        on_failure: OnFailure = "raise",
    ) -> Array:
        """M(q)^-1 b for a vector b of shape (..., nq), without forming the inverse; (..., nq)."""
        return self._evaluate("mass_matrix_solve", (q, b), out, parameters, on_failure)

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Kinetic energy 1/2 qd^T M(q) qd, (...), [J]."""
        return self._evaluate("kinetic_energy", (q, qd), out, parameters)

    def potential_energy(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Potential energy V(q) of gravity and elasticity, (...), [J]; zero height is the base's origin."""
        return self._evaluate("potential_energy", (q,), out, parameters)

    def strain_energy(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Strain energy U(q) of flexible links and joints, (...), [J]; part of :meth:`potential_energy`."""
        return self._evaluate("strain_energy", (q,), out, parameters)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
    ) -> Triple:
        """Return derivatives (dF/dq, dF/dqd, dF/dqdd) of :meth:`inverse_dynamics`, each (..., nq, nq).

        ``out`` is a tuple of three arrays. Row i, column j: force i by coordinate j.
        """
        return cast(Triple, self._evaluate("inverse_dynamics_derivatives", (q, qd, qdd), out, parameters))

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        F: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
        on_failure: OnFailure = "raise",
    ) -> Triple:
        """Return derivatives (dqdd/dq, dqdd/dqd, dqdd/dF) of :meth:`forward_dynamics`, each (..., nq, nq).

        ``out`` is a tuple of three arrays. dqdd/dF is the inverse of the mass matrix.
        """
        return cast(Triple, self._evaluate("forward_dynamics_derivatives", (q, qd, F), out, parameters, on_failure))

    def inverse_dynamics_second_order(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weights: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
    ) -> Quadruple:
        """Return second derivatives of weights^T F by (q, q), (q, qd), (qd, qd) and (q, qdd), each (..., nq, nq).

        All others are zero: F is linear in qdd. Rows by the first variable, columns by the second. With quaternions in q,
        derivatives by q are along the velocities: entry ij of the first is the derivative along j of that along i.
        ``weights`` = eye(nq) gives those of all forces, (nq, nq, nq).
        """
        return cast(Quadruple, self._evaluate("inverse_dynamics_second_order", (q, qd, qdd, weights), out, parameters))

    def forward_dynamics_second_order(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        F: ArrayLike,
        weights: ArrayLike,
        *,
        out: Sequence[Array] | None = None,
        parameters: ParameterValues = None,
        on_failure: OnFailure = "raise",
    ) -> Quadruple:
        """Return second derivatives of weights^T qdd by (q, q), (q, qd), (qd, qd) and (q, F), each (..., nq, nq).

        All others are zero. Rows and columns as those of :meth:`inverse_dynamics_second_order`.
        """
        given = (q, qd, F, weights)
        return cast(Quadruple, self._evaluate("forward_dynamics_second_order", given, out, parameters, on_failure))

    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Regressor Y: inverse_dynamics = Y(q, qd, qdd) @ inertial_parameters, (..., nq, n_inertial)."""
        return self._evaluate("regressor", (q, qd, qdd), out, parameters)

    def inertial_parameters(self, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Parameters that the regressor multiplies, (n_inertial,).

        Per link and per tip of a flexible link: m [kg], m c_x, m c_y, m c_z [kg m], and the inertia about the origin of its
        frame, L_xx, L_xy, L_xz, L_yy, L_yz, L_zz [kg m^2]. Then per flexible link its mass per length and its stiffnesses
        EI_z, EI_y, GJ, EA in the directions that it has, at the clamp, and 1 for its damping; per flexible joint stiffness and
        damping; the numbers of the drives. Of damping and drives only what the robot has.
        """
        return self._evaluate("inertial_parameters", (), out, parameters)

    def base_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Array | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Regressor of the base parameters: inverse_dynamics = Y_B @ base_parameters, (..., nq, n_base)."""
        return self._evaluate("base_regressor", (q, qd, qdd), out, parameters)

    def base_parameters(self, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Return the base parameters, the combinations that motion and forces can identify, (n_base,)."""
        return self._evaluate("base_parameters", (), out, parameters)
