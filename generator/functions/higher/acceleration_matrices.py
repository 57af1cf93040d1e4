"""The matrices of paper 002: A_ij, A_ijk, J_B, J_C, M, V, D, B, C, Q_m."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.generator.algorithms import kinematics
from elastogen.generator.algorithms.acceleration_matrices import AccelerationMatrices, joint_operators, pairs
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Outputs, flat
from elastogen.generator.functions.dynamics import payload_forces
from elastogen.generator.functions.kinematics import forward_kinematics, jacobian
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix, vector
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat, Vec
from elastogen.runtime.interface.argument import Argument


def _kept(variant: Variant, *coordinates: int) -> Value:
    """1, or 0 if one of the coordinates is clamped."""
    product = variant.graph.value(1)
    for k in coordinates:
        product = product * (1 - variant.clamped[k]) if k in variant.clamped else product
    return product


def _matrices(variant: Variant) -> AccelerationMatrices:
    return AccelerationMatrices(variant.mechanism, variant.input("q"))


# ---- kinematics


def joint_operator(variant: Variant) -> Derived:
    """U_i (9)."""
    return Derived(([value for U in joint_operators(variant.mechanism) for value in flat(U)],))


def transform_partials(variant: Variant) -> Derived:
    """A_ij (10) of every frame of the user."""
    found, zero = _matrices(variant), variant.zeros(16)
    values: list[Value] = []
    for link in variant.mechanism.link_frames:
        T = found.link_transform(link)
        for a in range(variant.size):
            kept = _kept(variant, a)
            values += [x * kept for x in T.first[a].flat] if a in T.first else zero
    return Derived((values,))


def transform_second_partials(variant: Variant) -> Derived:
    """A_ijk (10) of every frame of the user."""
    found, zero = _matrices(variant), variant.zeros(16)
    values: list[Value] = []
    for link in variant.mechanism.link_frames:
        T = found.link_transform(link)
        for a in range(variant.size):
            for b in range(variant.size):
                bend, kept = T.second_by(a, b), _kept(variant, a, b)
                values += zero if bend is None else [x * kept for x in bend.flat]
    return Derived((values,))


def _terms(variant: Variant, *, coriolis: bool, own: bool) -> Derived:
    """J_B or J_C of the tip, in frame 0 or projected on the tip's axes."""
    J, n = jacobian(variant).outputs[0], variant.size
    angular = [[J[row * n + column] for row in (3, 4, 5)] for column in range(n)]
    columns = _matrices(variant).jacobian_terms(angular)[0 if coriolis else 1]
    chosen = pairs(n) if coriolis else [(k,) for k in range(n)]
    factors = [_kept(variant, *coordinates) for coordinates in chosen]
    rows: Mat = [[x * kept for x, kept in zip(row, factors, strict=True)] for row in zip(*columns, strict=True)]
    if own:
        T = forward_kinematics(variant).outputs[0][-16:]
        rows = kinematics.project([list(T[4 * r : 4 * r + 3]) for r in range(3)], rows)
    return Derived((flat(rows),))


# ---- dynamics


def trace_mass_matrix(variant: Variant) -> Derived:
    """M (21)."""
    return Derived((flat(variant.with_drive_inertia(_matrices(variant).mass)),))


def trace_coriolis_vector(variant: Variant) -> Derived:
    """V (22)."""
    return Derived((variant.free(_matrices(variant).V(variant.input("qd"))),))


def acceleration_matrix(variant: Variant) -> Derived:
    """D (22)."""
    return Derived((flat(variant.masked(_matrices(variant).D(variant.input("qd")), 0)),))


def coriolis_coefficients(variant: Variant) -> Derived:
    """B (22)."""
    return Derived((flat(_kept_coefficients(variant, _matrices(variant).B(), pairs(variant.size))),))


def centrifugal_coefficients(variant: Variant) -> Derived:
    """C (22)."""
    single = [(k,) for k in range(variant.size)]
    return Derived((flat(_kept_coefficients(variant, _matrices(variant).C(), single)),))


def _kept_coefficients(variant: Variant, rows: Mat, columns: Sequence[tuple[int, ...]]) -> Mat:
    return [[x * _kept(variant, i, *columns[k]) for k, x in enumerate(row)] for i, row in enumerate(rows)]


def _by_vector(found: AccelerationMatrices, qd: Sequence[Value]) -> Vec:
    return found.V(qd)


def _by_coefficients(found: AccelerationMatrices, qd: Sequence[Value]) -> Vec:
    """B [qd qd] + C [qd^2]."""
    products = [qd[j] * qd[m] for j, m in pairs(found.size)]
    squares = [rate * rate for rate in qd]
    result = []
    for coriolis, centrifugal in zip(found.B(), found.C(), strict=True):
        total = found.graph.value(0)
        for x, y in zip((*coriolis, *centrifugal), (*products, *squares), strict=True):
            total = total + x * y
        result.append(total)
    return result


def _driving_forces(velocity_forces: Callable[[AccelerationMatrices, Sequence[Value]], Vec]) -> Formulation:
    """Q_m (29), (30) = dm^2 {[M qdd + V] dtheta + tau Q_g} + tau s(dm) Q_SU.

    The switch s = (-1)^dm (1 - dm) / (1 + 3 dm) is 1, 1, 0 for dm = -1, 0, 1; it is computed as 1 - dm (dm + 1) / 2.
    """

    def derive(variant: Variant) -> Derived:
        found, qdd = _matrices(variant), variant.input("qdd")
        (dm,), (dtheta,), (tau,) = (variant.input(name, 1) for name in ("delta_m", "delta_theta", "tau"))
        M, bias = variant.with_drive_inertia(found.mass), velocity_forces(found, variant.input("qd"))
        own, load = dm * dm, tau * (1 - dm * (dm + 1) * 0.5)
        rows = zip(M, bias, found.weight(variant.mechanism.gravity), payload_forces(variant).outputs[0], strict=True)
        result = []
        for line, total, weight, payload in rows:
            for x, y in zip(line, qdd, strict=True):
                total = total + x * y
            result.append(own * (total * dtheta + tau * weight) + load * payload)
        return Derived((variant.free(result),))

    return derive


def _every(robot: Robot) -> bool:
    return True


def _has_pairs(robot: Robot) -> bool:
    return len(robot.velocities) > 1


def _has_constant_operators(robot: Robot) -> bool:
    own = all(
        (joint.by_screws and len(joint.type.coordinates) <= 1) or joint.type.velocities != joint.type.coordinates
        for joint in robot.joints
    )
    return own and all(link.flexible is None for link in robot.links)


_WHY: dict[Callable[[Robot], bool], str] = {
    _every: "every robot",
    _has_pairs: "only for robots with two coordinates or more",
    _has_constant_operators: "only for robots without flexible links, whose joints have one coordinate each or are free",
}
_FORCE, _INERTIA = "N m or N", "kg m^2, kg m, kg"
_Q_M = ("q", "qd", "qdd", "wrench", "delta_m", "delta_theta", "tau")


def _entry(
    name: str, brief: str, inputs: tuple[str, ...], outputs: Outputs, formulation: Formulation, frame_assignment: str,
    applies: Callable[[Robot], bool] = _every,
) -> Entry:  # fmt: skip
    return Entry(
        name, brief, inputs, outputs, (formulation,), frame_assignment, default=False, applies=applies, applies_to=_WHY[applies]
    )


def _per_frame(*width: str) -> Outputs:
    doc = f"per frame and {' and '.join(width)}"
    return lambda v: (Argument("A", (v.frame_count, *(v.size for _ in width), 4, 4), "1, m", doc),)


def _square(name: str, unit: str) -> Outputs:
    return lambda v: (matrix(name, v.size, v.size, unit, ""),)


def _vector(name: str, doc: str) -> Outputs:
    return lambda v: (vector(name, v.size, _FORCE, doc),)


def _by_pairs(name: str, rows: int | None, unit: str) -> Outputs:
    doc = "columns: pairs (1,2), (1,3), ..., (2,3), ..."
    return lambda v: (matrix(name, rows or v.size, len(pairs(v.size)), unit, doc),)


def _tip_terms(v: Variant) -> tuple[Argument, ...]:
    return (matrix("J", 6, v.size, "m, 1", "rows: linear (3), angular (3)"),)


ENTRIES = (
    _entry("joint_operators", "Operators U_i: dT_i0/dq_i = T_i0 U_i, each in the frame of the link that q_i moves.",
           (), lambda v: (Argument("U", (v.size, 4, 4), "1, m/rad", "per coordinate"),), joint_operator, "plain",
           _has_constant_operators),
    _entry("transform_partials", "Differential matrices A_ij = dT_i0/dq_j of every link frame, the tip last.", ("q",),
           _per_frame("coordinate"), transform_partials, "plain"),
    _entry("transform_second_partials", "Second derivatives A_ijk = d2T_i0/dq_j dq_k of every link frame, tip last.",
           ("q",), _per_frame("coordinate", "coordinate"), transform_second_partials, "plain"),
    _entry("jacobian_coriolis", "J_B in base components: dJ/dt qd = J_B [qd_i qd_j] + J_C [qd_i^2].", ("q",),
           _by_pairs("J", 6, "m, 1"), lambda v: _terms(v, coriolis=True, own=False), "plain", _has_pairs),
    _entry("jacobian_coriolis_tip", "J_B in tip components: R^T dJ/dt qd = J_B [qd_i qd_j] + J_C [qd_i^2].", ("q",),
           _by_pairs("J", 6, "m, 1"), lambda v: _terms(v, coriolis=True, own=True), "plain", _has_pairs),
    _entry("jacobian_centrifugal", "J_C in base components: dJ/dt qd = J_B [qd_i qd_j] + J_C [qd_i^2].", ("q",),
           _tip_terms, lambda v: _terms(v, coriolis=False, own=False), "plain"),
    _entry("jacobian_centrifugal_tip", "J_C in tip components: R^T dJ/dt qd = J_B [qd_i qd_j] + J_C [qd_i^2].", ("q",),
           _tip_terms, lambda v: _terms(v, coriolis=False, own=True), "plain"),
    _entry("trace_mass_matrix", "Mass matrix by traces: M_ij = sum_k Tr(A_ki I_k A_kj^T).", ("q",),
           _square("M", _INERTIA), trace_mass_matrix, "dynamic"),
    _entry("trace_coriolis_vector", "Coriolis and centrifugal forces by traces: V_i = qd^T [V_ijm] qd.", ("q", "qd"),
           _vector("V", "Coriolis and centrifugal forces"), trace_coriolis_vector, "dynamic"),
    _entry("acceleration_matrix", "D: acceleration energy 1 = 1/2 qdd^T M qdd + V^T qdd + 1/2 qd^T D qd.", ("q", "qd"),
           _square("D", "J/s^2 per squared rate"), acceleration_matrix, "dynamic"),
    _entry("coriolis_coefficients", "Coriolis coefficients B = [2 V_ijm], j < m: V = B [qd_j qd_m] + C [qd_j^2].",
           ("q",), _by_pairs("B", None, _INERTIA), coriolis_coefficients, "dynamic", _has_pairs),
    _entry("centrifugal_coefficients", "Centrifugal coefficients C = [V_ijj]: V = B [qd_j qd_m] + C [qd_j^2].", ("q",),
           _square("C", _INERTIA), centrifugal_coefficients, "dynamic"),
    _entry("driving_forces", "Driving forces Q_m = dm^2 {[M qdd + V] dtheta + tau Q_g} + tau s(dm) Q_SU (switches).",
           _Q_M, _vector("Q", "driving forces"), _driving_forces(_by_vector), "dynamic"),
    _entry("driving_forces_by_coefficients",
           "Driving forces Q_m = dm^2 {[M qdd + B [qd qd] + C [qd^2]] dtheta + tau Q_g} + tau s(dm) Q_SU (switches).",
           _Q_M, _vector("Q", "driving forces"), _driving_forces(_by_coefficients), "dynamic"),
)  # fmt: skip
