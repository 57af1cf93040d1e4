"""Methods of a model that call one emitted function each. Written from the catalogue by ``make methods``."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from elastogen.runtime.functions.evaluation import Array, Evaluation, OnFailure, ParameterValues, Quadruple, Triple

def methods(rows: list[dict[str, object]]) -> dict[str, object]: ...

class CatalogueMethods(Evaluation):
    def forward_kinematics(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Homogeneous transformations T_0i(q) of all frames in the base frame, (..., n_frames, 4, 4), [m]."""

    def jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the tip in the base frame, (v, omega) = J(q) qd, (..., 6, nq)."""

    def jacobian_tip(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the tip in tip components, (v, omega) = J(q) qd, (..., 6, nq)."""

    def jacobian_rate(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Time derivative dJ/dt of :meth:`jacobian`: accelerations are J qdd + dJ/dt qd, (..., 6, nq)."""

    def jacobian_rate_tip(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return :meth:`jacobian_rate` in tip components: dJ/dt of the base frame, projected, (..., 6, nq)."""

    def frame_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v_i, omega_i) of all frames in base axes, (..., n_frames, 6)."""

    def frame_velocities_local(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v_i, omega_i) of every frame in its own axes, (..., n_frames, 6)."""

    def frame_accelerations(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Accelerations (dv_i/dt, domega_i/dt) of all frames in base axes, (..., n_frames, 6)."""

    def frame_accelerations_local(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Accelerations of all frames, each in its own axes, (..., n_frames, 6)."""

    def point_positions(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Positions of all points in the base frame, (..., n_points, 3), [m]."""

    def point_velocities(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Velocities (v, omega) of all points in base components, (..., n_points, 6)."""

    def point_accelerations(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Accelerations (dv/dt, domega/dt) of all points in base components, without gravity, (..., n_points, 6)."""

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

    def point_jacobians(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobians of all points in base components, (v, omega) = J qd, (..., n_points, 6, nq)."""

    def point_jacobian_rates(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Time derivatives of :meth:`point_jacobians`: accelerations are J qdd + dJ/dt qd, (..., n_points, 6, nq)."""

    def point_forces(
        self, q: ArrayLike, wrenches: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized forces sum J^T w of wrenches on the points, (..., nq), [N m] or [N].

        ``wrenches`` is (..., n_points, 6) in base components: force [N], then moment [N m].
        """

    def point_strains(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Strains that the gauges read, -offset w''(x), plus u' where a link stretches, (..., n_gauges)."""

    def point_stresses(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Stresses at the points on solids, in their own axes, (..., n_points_on_solids, 6), [Pa].

        xx, yy, zz, xy, yz, xz by Hooke's law with the mesh's material.
        """

    def von_mises(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Equivalent stresses of von Mises at the points on solids, (..., n_points_on_solids), [Pa]."""

    def point_curvatures(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Curvatures w'' in y and in z of the beams at the points on them, (..., n_points_on_beams, 2), [1/m].

        Exactly at a node of finite elements that of the inner element.
        """

    def accelerometers(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return what accelerometers in all points read, R^T (a - g) in their own axes, (..., n_points, 3), [m/s^2]."""

    def gyroscopes(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Return what gyroscopes in all points read, R^T omega in their own axes, (..., n_points, 3), [rad/s]."""

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Mass matrix M(q), symmetric, (..., nq, nq)."""

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Matrix C(q, qd) of Coriolis and centrifugal terms by Christoffel symbols, (..., nq, nq).

        dM/dt - 2 C is skew-symmetric.
        """

    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Coriolis and centrifugal forces C(q, qd) qd, (..., nq), [N m] or [N]."""

    def stiffness_matrix(
        self, q: ArrayLike | None = None, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Stiffness matrix K, (nq, nq): the strain energy is 1/2 q^T K q; zero in the rows of rigid joints.

        With telescopic joints K depends on q, and K q lacks the elastic force along the slide: see :meth:`elastic_forces`.
        """

    def damping_matrix(
        self, q: ArrayLike | None = None, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Damping matrix D, (nq, nq): viscous friction and structural damping. With telescopic joints it depends on q."""

    def elastic_forces(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Elastic forces Q_e(q) = dU/dq, (..., nq), [N m] or [N], U the strain energy.

        Q_e = K q where K is constant; along the slide of a telescopic link there is 1/2 q^T (dK/dd) q beside it.
        """

    def gravity_vector(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Gravity forces G(q) = dV/dq, (..., nq), [N m] or [N]: what the drives carry at rest."""

    def inertia_forces(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized inertia forces M(q) qdd + C(q, qd) qd, (..., nq), [N m] or [N]."""

    def friction_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Forces of friction and damping D qd + dry friction, (..., nq), [N m] or [N]; their power is lost.

        Friction that grows with load is apart, in :meth:`load_friction_forces`.
        """

    def load_friction_forces(
        self, qd: ArrayLike, F: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Friction that grows with the loads that driving forces F hold (..., nq), part of F; robots with ``friction.load``."""

    def payload_forces(
        self, q: ArrayLike, wrench: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Generalized forces Q_SU = J^T wrench of a wrench on the tip, (..., nq), [N m] or [N].

        ``wrench`` is (..., 6) in tip components, the load on the tip: force [N], then moment [N m].
        """

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

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Kinetic energy 1/2 qd^T M(q) qd, (...), [J]."""

    def potential_energy(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Potential energy V(q) of gravity and elasticity, (...), [J]; zero height is the base's origin."""

    def strain_energy(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Strain energy U(q) of flexible links and joints, (...), [J]; part of :meth:`potential_energy`."""

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

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Regressor Y: inverse_dynamics = Y(q, qd, qdd) @ inertial_parameters, (..., nq, n_inertial)."""

    def inertial_parameters(self, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Parameters that the regressor multiplies, (n_inertial,).

        Per link and per tip of a flexible link: m [kg], m c_x, m c_y, m c_z [kg m], and the inertia about the origin of its
        frame, L_xx, L_xy, L_xz, L_yy, L_yz, L_zz [kg m^2]. Then per flexible link its mass per length and its stiffnesses
        EI_z, EI_y, GJ, EA in the directions that it has, at the clamp, and 1 for its damping; per flexible joint stiffness and
        damping; the numbers of the drives. Of damping and drives only what the robot has.
        """

    def base_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Regressor of the base parameters: inverse_dynamics = Y_B @ base_parameters, (..., nq, n_base)."""

    def base_parameters(self, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Return the base parameters, the combinations that motion and forces can identify, (n_base,)."""

    def joint_reactions(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return what the inner link exerts on everything outside of each joint, drive included, (..., n_joints, 6).

        About the origin of the link's frame, behind the joint's motion, and in its components.
        """

    def joint_reactions_base(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return :meth:`joint_reactions` in base components, (..., n_joints, 6)."""

    def link_resultants(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return inertia force and moment of what moves with each joint's link, without gravity, (..., n_joints, 6).

        About the origin of the link's frame and in its components; links on fixed joints and the payload belong to it.
        """

    def section_loads(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Return what the inner part of a link exerts on all beyond, at the points on beams and solids, (..., points, 6).

        Normal force and shears in y and z [N], torque and bending moments about y and z [N m]: about the centre of the
        section and in its axes. Behind the mouth of a telescopic joint, a section carries what is behind it. Solids are cut
        by the plane across the point's x axis; their loads are about the point.
        """

    def kinetic_energy_parts(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Kinetic energies by link and component, (..., n_joints, 6), [J]; their sum is :meth:`kinetic_energy`.

        Columns: translation of the mass centres, rotation about them, their couplings with the deformation, centrifugal
        terms (none here), deformation, drive. Rows: the links behind the moving joints.
        """

    def center_of_mass(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Centre of mass, (..., 3) [m]."""

    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the centre of mass, (..., 3, nv): its velocity is J qd."""

    def centroidal_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Linear momentum [kg m/s], then angular momentum about the centre of mass [kg m^2/s], (..., 6)."""

    def centroidal_momentum_matrix(
        self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Matrix A of the centroidal momentum A qd, (..., 6, nv)."""

    def centroidal_momentum_rate(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Rate of the centroidal momentum, the force [N] and moment [N m] that the motion needs, (..., 6)."""

    def loop_residual(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Residuals of the loops, (..., rows) [m, 1]: zero where they are closed; 2 where directions are rotated by pi."""

    def loop_jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Derivatives of the residuals along the velocities, (..., rows, nv): J qd = 0."""

    def loop_bias(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """dJ/dt qd, (..., rows): J qdd + this = 0."""

    def ground_motion(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Distances of the ground's points from it and their rates, two arrays (..., points) [m, m/s]: negative in it."""

    def closed_configuration(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Configuration (..., nq) by explicit formulas, where two links close each loop; the independent coordinates stay.

        ``close_loops`` takes it where it closes. Of the two solutions it is the nearer one; where the links are too short,
        they are stretched towards each other.
        """

    def driven_map(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """G of qd = G qd_driven, (..., nv, drives); where the drives determine the motion."""

    def driven_bias(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Accelerations (..., nv) where those of the drives are zero: qdd = G qdd_driven + this."""

    def constraint_forces(
        self, q: ArrayLike, qd: ArrayLike, F: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Forces of the loops J^T lambda, (..., nv): M qdd + C qd + ... = F + this; unique also where rows are redundant."""

    def forward_dynamics_by_other_coordinates(
        self, q: ArrayLike, qd: ArrayLike, F: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Accelerations (..., nv) by a second choice of independent velocities.

        ``forward_dynamics`` calls it where its own choice does not determine the motion, as in a leg that is stretched.
        """

    def loop_forces(
        self, q: ArrayLike, qd: ArrayLike, F: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Force [N] and moment [N m] that b gets from a, (..., loops, 6), about the origin of a, in its axes.

        Along rows that are redundant there is none: only the other rows carry. Of a gear the first number is its multiplier.
        """

    def reduced_mass_matrix(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Mass matrix in the driven coordinates, G^T M G, (..., drives, drives)."""

    def reduced_coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None
    ) -> Array:
        """Coriolis and centrifugal forces in the driven coordinates, (..., drives)."""

    def reduced_gravity_vector(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Gravity forces in the driven coordinates, (..., drives)."""

    def reduced_jacobian(self, q: ArrayLike, *, out: Array | None = None, parameters: ParameterValues = None) -> Array:
        """Jacobian of the tip by the driven velocities, (..., 6, drives), linear rows first, base frame."""
