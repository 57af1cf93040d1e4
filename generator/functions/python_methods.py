"""Functions of the catalogue that are methods of a model: the help text of each.

``python -m elastogen.build.python_methods`` (``make methods``) joins this with the catalogue's inputs: data of which the
runtime makes the methods, and a stub for editors and mypy. Methods that do more than call their function are in
``runtime/functions``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PythonMethod:
    """A method's help, results, and arguments beside the inputs of its function."""

    doc: str
    results: int = 1  # arrays that it returns
    on_failure: bool = False  # whether it factorizes, and takes "raise" or "nan"
    constant: bool = False  # whether q is left out for most robots


METHODS: dict[str, PythonMethod] = {
    "forward_kinematics": PythonMethod(
        """Homogeneous transformations T_0i(q) of all frames in the base frame, (..., n_frames, 4, 4), [m].
        """,
    ),
    "jacobian": PythonMethod("Jacobian of the tip in the base frame, (v, omega) = J(q) qd, (..., 6, nq)."),
    "jacobian_tip": PythonMethod("Jacobian of the tip in tip components, (v, omega) = J(q) qd, (..., 6, nq)."),
    "jacobian_rate": PythonMethod(
        "Time derivative dJ/dt of :meth:`jacobian`: accelerations are J qdd + dJ/dt qd, (..., 6, nq)."
    ),
    "jacobian_rate_tip": PythonMethod(
        """Return :meth:`jacobian_rate` in tip components: dJ/dt of the base frame, projected, (..., 6, nq).
        """,
    ),
    "frame_velocities": PythonMethod("Velocities (v_i, omega_i) of all frames in base axes, (..., n_frames, 6)."),
    "frame_velocities_local": PythonMethod("Velocities (v_i, omega_i) of every frame in its own axes, (..., n_frames, 6)."),
    "frame_accelerations": PythonMethod("Accelerations (dv_i/dt, domega_i/dt) of all frames in base axes, (..., n_frames, 6)."),
    "frame_accelerations_local": PythonMethod("Accelerations of all frames, each in its own axes, (..., n_frames, 6)."),
    "point_positions": PythonMethod("Positions of all points in the base frame, (..., n_points, 3), [m]."),
    "point_velocities": PythonMethod("Velocities (v, omega) of all points in base components, (..., n_points, 6)."),
    "point_accelerations": PythonMethod(
        """Accelerations (dv/dt, domega/dt) of all points in base components, without gravity, (..., n_points, 6).
        """,
    ),
    "point_jerks": PythonMethod(
        """Time derivatives of :meth:`point_accelerations`, linear, then angular, (..., n_points, 6), [m/s^3], [rad/s^3].
        """,
    ),
    "point_jacobians": PythonMethod("Jacobians of all points in base components, (v, omega) = J qd, (..., n_points, 6, nq)."),
    "point_jacobian_rates": PythonMethod(
        """Time derivatives of :meth:`point_jacobians`: accelerations are J qdd + dJ/dt qd, (..., n_points, 6, nq).
        """,
    ),
    "point_forces": PythonMethod(
        """Generalized forces sum J^T w of wrenches on the points, (..., nq), [N m] or [N].

        ``wrenches`` is (..., n_points, 6) in base components: force [N], then moment [N m].
        """,
    ),
    "point_strains": PythonMethod(
        "Strains that the gauges read, -offset w''(x), plus u' where a link stretches, (..., n_gauges)."
    ),
    "point_stresses": PythonMethod(
        """Stresses at the points on solids, in their own axes, (..., n_points_on_solids, 6), [Pa].

        xx, yy, zz, xy, yz, xz by Hooke's law with the mesh's material.
        """,
    ),
    "von_mises": PythonMethod("Equivalent stresses of von Mises at the points on solids, (..., n_points_on_solids), [Pa]."),
    "point_curvatures": PythonMethod(
        """Curvatures w'' in y and in z of the beams at the points on them, (..., n_points_on_beams, 2), [1/m].

        Exactly at a node of finite elements that of the inner element.
        """,
    ),
    "accelerometers": PythonMethod(
        """Return what accelerometers in all points read, R^T (a - g) in their own axes, (..., n_points, 3), [m/s^2].
        """,
    ),
    "gyroscopes": PythonMethod(
        """Return what gyroscopes in all points read, R^T omega in their own axes, (..., n_points, 3), [rad/s].
        """,
    ),
    "mass_matrix": PythonMethod("Mass matrix M(q), symmetric, (..., nq, nq)."),
    "coriolis_matrix": PythonMethod(
        """Matrix C(q, qd) of Coriolis and centrifugal terms by Christoffel symbols, (..., nq, nq).

        dM/dt - 2 C is skew-symmetric.
        """,
    ),
    "coriolis_vector": PythonMethod("Coriolis and centrifugal forces C(q, qd) qd, (..., nq), [N m] or [N]."),
    "stiffness_matrix": PythonMethod(
        """Stiffness matrix K, (nq, nq): the strain energy is 1/2 q^T K q; zero in the rows of rigid joints.

        With telescopic joints K depends on q, and K q lacks the elastic force along the slide: see :meth:`elastic_forces`.
        """,
        constant=True,
    ),
    "damping_matrix": PythonMethod(
        """Damping matrix D, (nq, nq): viscous friction and structural damping. With telescopic joints it depends on q.
        """,
        constant=True,
    ),
    "elastic_forces": PythonMethod(
        """Elastic forces Q_e(q) = dU/dq, (..., nq), [N m] or [N], U the strain energy.

        Q_e = K q where K is constant; along the slide of a telescopic link there is 1/2 q^T (dK/dd) q beside it.
        """,
    ),
    "gravity_vector": PythonMethod("Gravity forces G(q) = dV/dq, (..., nq), [N m] or [N]: what the drives carry at rest."),
    "inertia_forces": PythonMethod("Generalized inertia forces M(q) qdd + C(q, qd) qd, (..., nq), [N m] or [N]."),
    "friction_forces": PythonMethod(
        """Forces of friction and damping D qd + dry friction, (..., nq), [N m] or [N]; their power is lost.

        Friction that grows with load is apart, in :meth:`load_friction_forces`.
        """,
    ),
    "load_friction_forces": PythonMethod(
        """Friction that grows with the loads that driving forces F hold (..., nq), part of F; robots with ``friction.load``.
        """,
    ),
    "payload_forces": PythonMethod(
        """Generalized forces Q_SU = J^T wrench of a wrench on the tip, (..., nq), [N m] or [N].

        ``wrench`` is (..., 6) in tip components, the load on the tip: force [N], then moment [N m].
        """,
    ),
    "elastic_inverse_dynamics": PythonMethod(
        """Driving forces for given joint accelerations at the present elastic state, and all accelerations.

        Of ``qdd`` only the joints' entries are read; no force acts on the elastic coordinates, whose accelerations follow.
        """,
        results=2,
        on_failure=True,
    ),
    "mass_matrix_solve": PythonMethod(
        "M(q)^-1 b for a vector b of shape (..., nq), without forming the inverse; (..., nq).", on_failure=True
    ),
    "kinetic_energy": PythonMethod("Kinetic energy 1/2 qd^T M(q) qd, (...), [J]."),
    "potential_energy": PythonMethod(
        "Potential energy V(q) of gravity and elasticity, (...), [J]; zero height is the base's origin."
    ),
    "strain_energy": PythonMethod(
        "Strain energy U(q) of flexible links and joints, (...), [J]; part of :meth:`potential_energy`."
    ),
    "inverse_dynamics_derivatives": PythonMethod(
        """Return derivatives (dF/dq, dF/dqd, dF/dqdd) of :meth:`inverse_dynamics`, each (..., nq, nq).

        ``out`` is a tuple of three arrays. Row i, column j: force i by coordinate j.
        """,
        results=3,
    ),
    "forward_dynamics_derivatives": PythonMethod(
        """Return derivatives (dqdd/dq, dqdd/dqd, dqdd/dF) of :meth:`forward_dynamics`, each (..., nq, nq).

        ``out`` is a tuple of three arrays. dqdd/dF is the inverse of the mass matrix.
        """,
        results=3,
        on_failure=True,
    ),
    "inverse_dynamics_second_order": PythonMethod(
        """Return second derivatives of weights^T F by (q, q), (q, qd), (qd, qd) and (q, qdd), each (..., nq, nq).

        All others are zero: F is linear in qdd. Rows by the first variable, columns by the second. With quaternions in q,
        derivatives by q are along the velocities: entry ij of the first is the derivative along j of that along i.
        ``weights`` = eye(nq) gives those of all forces, (nq, nq, nq).
        """,
        results=4,
    ),
    "forward_dynamics_second_order": PythonMethod(
        """Return second derivatives of weights^T qdd by (q, q), (q, qd), (qd, qd) and (q, F), each (..., nq, nq).

        All others are zero. Rows and columns as those of :meth:`inverse_dynamics_second_order`.
        """,
        results=4,
        on_failure=True,
    ),
    "regressor": PythonMethod("Regressor Y: inverse_dynamics = Y(q, qd, qdd) @ inertial_parameters, (..., nq, n_inertial)."),
    "inertial_parameters": PythonMethod(
        """Parameters that the regressor multiplies, (n_inertial,).

        Per link and per tip of a flexible link: m [kg], m c_x, m c_y, m c_z [kg m], and the inertia about the origin of its
        frame, L_xx, L_xy, L_xz, L_yy, L_yz, L_zz [kg m^2]. Then per flexible link its mass per length and its stiffnesses
        EI_z, EI_y, GJ, EA in the directions that it has, at the clamp, and 1 for its damping; per flexible joint stiffness and
        damping; the numbers of the drives. Of damping and drives only what the robot has.
        """,
    ),
    "base_regressor": PythonMethod(
        "Regressor of the base parameters: inverse_dynamics = Y_B @ base_parameters, (..., nq, n_base)."
    ),
    "base_parameters": PythonMethod(
        "Return the base parameters, the combinations that motion and forces can identify, (n_base,)."
    ),
    "joint_reactions": PythonMethod(
        """Return what the inner link exerts on everything outside of each joint, drive included, (..., n_joints, 6).

        About the origin of the link's frame, behind the joint's motion, and in its components.
        """,
    ),
    "joint_reactions_base": PythonMethod("Return :meth:`joint_reactions` in base components, (..., n_joints, 6)."),
    "link_resultants": PythonMethod(
        """Return inertia force and moment of what moves with each joint's link, without gravity, (..., n_joints, 6).

        About the origin of the link's frame and in its components; links on fixed joints and the payload belong to it.
        """,
    ),
    "section_loads": PythonMethod(
        """Return what the inner part of a link exerts on all beyond, at the points on beams and solids, (..., points, 6).

        Normal force and shears in y and z [N], torque and bending moments about y and z [N m]: about the centre of the
        section and in its axes. Behind the mouth of a telescopic joint, a section carries what is behind it. Solids are cut
        by the plane across the point's x axis; their loads are about the point.
        """,
    ),
    "kinetic_energy_parts": PythonMethod(
        """Kinetic energies by link and component, (..., n_joints, 6), [J]; their sum is :meth:`kinetic_energy`.

        Columns: translation of the mass centres, rotation about them, their couplings with the deformation, centrifugal
        terms (none here), deformation, drive. Rows: the links behind the moving joints.
        """,
    ),
    "center_of_mass": PythonMethod("Centre of mass, (..., 3) [m]."),
    "center_of_mass_jacobian": PythonMethod("Jacobian of the centre of mass, (..., 3, nv): its velocity is J qd."),
    "centroidal_momentum": PythonMethod(
        "Linear momentum [kg m/s], then angular momentum about the centre of mass [kg m^2/s], (..., 6)."
    ),
    "centroidal_momentum_matrix": PythonMethod("Matrix A of the centroidal momentum A qd, (..., 6, nv)."),
    "centroidal_momentum_rate": PythonMethod(
        """Rate of the centroidal momentum, the force [N] and moment [N m] that the motion needs, (..., 6).
        """,
    ),
    "loop_residual": PythonMethod(
        """Residuals of the loops, (..., rows) [m, 1]: zero where they are closed; 2 where directions are rotated by pi.
        """,
    ),
    "loop_jacobian": PythonMethod("Derivatives of the residuals along the velocities, (..., rows, nv): J qd = 0."),
    "loop_bias": PythonMethod("dJ/dt qd, (..., rows): J qdd + this = 0."),
    "ground_motion": PythonMethod(
        """Distances of the ground's points from it and their rates, two arrays (..., points) [m, m/s]: negative in it.""",
    ),
    "closed_configuration": PythonMethod(
        """Configuration (..., nq) by explicit formulas, where two links close each loop; the independent coordinates stay.

        ``close_loops`` takes it where it closes. Of the two solutions it is the nearer one; where the links are too short,
        they are stretched towards each other.
        """,
    ),
    "driven_map": PythonMethod("G of qd = G qd_driven, (..., nv, drives); where the drives determine the motion."),
    "driven_bias": PythonMethod("Accelerations (..., nv) where those of the drives are zero: qdd = G qdd_driven + this."),
    "constraint_forces": PythonMethod(
        """Forces of the loops J^T lambda, (..., nv): M qdd + C qd + ... = F + this; unique also where rows are redundant.
        """,
    ),
    "forward_dynamics_by_other_coordinates": PythonMethod(
        """Accelerations (..., nv) by a second choice of independent velocities.

        ``forward_dynamics`` calls it where its own choice does not determine the motion, as in a leg that is stretched.
        """,
    ),
    "loop_forces": PythonMethod(
        """Force [N] and moment [N m] that b gets from a, (..., loops, 6), about the origin of a, in its axes.

        Along rows that are redundant there is none: only the other rows carry. Of a gear the first number is its multiplier.
        """,
    ),
    "reduced_mass_matrix": PythonMethod("Mass matrix in the driven coordinates, G^T M G, (..., drives, drives)."),
    "reduced_coriolis_vector": PythonMethod("Coriolis and centrifugal forces in the driven coordinates, (..., drives)."),
    "reduced_gravity_vector": PythonMethod("Gravity forces in the driven coordinates, (..., drives)."),
    "reduced_jacobian": PythonMethod(
        "Jacobian of the tip by the driven velocities, (..., 6, drives), linear rows first, base frame."
    ),
}
