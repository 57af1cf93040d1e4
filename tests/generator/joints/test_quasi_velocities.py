"""Higher orders with quasi-velocities: a free chain with a ball joint against sums over mass points along a motion."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import free_chain
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function

NAMES = (
    *(f"acceleration_energy_{p}" for p in (1, 2, 3, 4)), "kinetic_energy_parts", "acceleration_energy_parts_1",
    "acceleration_energy_parts_3", "kinetic_energy", *(f"inertia_force_rate_{k}" for k in (1, 2, 3)), "inverse_dynamics",
    "inverse_dynamics_rate_1", "inverse_dynamics_rate_3", "transform_rate_1", "transform_rate_4", "forward_kinematics",
    "joint_operators", "transform_partials", "transform_second_partials", "jacobian", "jacobian_rate", "jacobian_tip",
    "jacobian_coriolis", "jacobian_centrifugal", "jacobian_coriolis_tip", "jacobian_centrifugal_tip", "trace_mass_matrix",
    "mass_matrix", "trace_coriolis_vector", "acceleration_matrix", "coriolis_coefficients", "centrifugal_coefficients",
    "driving_forces",
    "base_regressor", "base_parameters", "regressor", "inertial_parameters",
    "coriolis_matrix", "coriolis_vector", "gravity_vector",
)  # fmt: skip


@cache
def functions() -> dict[str, Function]:
    return {f.name: f for f in derive_model(elastogen.load(free_chain.description()), NAMES).functions}


@pytest.fixture(scope="module", params=[1, 2])
def motion(request: Any) -> Any:
    return free_chain.Motion(np.random.default_rng(request.param), 6)


@pytest.fixture
def at(motion: Any) -> Callable[..., Any]:
    state = motion.state(5)

    def evaluate(name: str, **more: Any) -> Any:
        (result,) = functions()[name].evaluate({**state, **more}).values()
        return result

    return evaluate


def close(found: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_acceleration_energies(motion: Any, at: Callable[..., Any], p: int) -> None:
    close(at(f"acceleration_energy_{p}"), motion.energy(p).sum())


def test_energies_by_component(motion: Any, at: Callable[..., Any]) -> None:
    close(at("kinetic_energy_parts").sum(axis=1), motion.energy(0))
    for p in (1, 3):
        close(at(f"acceleration_energy_parts_{p}").sum(axis=1), motion.energy(p))


def test_rates_of_forces(motion: Any, at: Callable[..., Any]) -> None:
    forces, inertia = motion.forces(free_chain.GRAVITY), motion.forces(np.zeros(3))
    close(at("inverse_dynamics"), free_chain.value(forces, 0))
    for k in (1, 2, 3):
        close(at(f"inertia_force_rate_{k}"), free_chain.value(inertia, k))
    for k in (1, 3):
        close(at(f"inverse_dynamics_rate_{k}"), free_chain.value(forces, k))


def test_transformations(motion: Any, at: Callable[..., Any]) -> None:
    qd, qdd = (motion.state(2)[name] for name in ("qd", "qdd"))
    A, B = at("transform_partials"), at("transform_second_partials")
    for k in range(3):
        close(at("transform_rate_1")[k], motion.pose(k, 1))
        close(at("transform_rate_4")[k], motion.pose(k, 4))
        close(np.einsum("a,aij->ij", qd, A[k]), motion.pose(k, 1))
        close(np.einsum("a,aij->ij", qdd, A[k]) + np.einsum("a,b,abij->ij", qd, qd, B[k]), motion.pose(k, 2))
    T, U = at("forward_kinematics"), at("joint_operators")
    for velocity, k in enumerate([0] * 6 + [1] * 3 + [2]):
        close(A[k][velocity], T[k] @ U[velocity])


def products(qd: Any) -> Any:
    return np.array([qd[i] * qd[j] for i in range(len(qd)) for j in range(i + 1, len(qd))])


def test_matrices_of_paper_002(motion: Any, at: Callable[..., Any]) -> None:
    state = motion.state(2)
    qd, qdd = state["qd"], state["qdd"]
    V = at("trace_coriolis_vector")
    close(at("trace_mass_matrix"), at("mass_matrix"))
    close(V, at("coriolis_vector"))
    close(at("coriolis_coefficients") @ products(qd) + at("centrifugal_coefficients") @ qd**2, V)
    energy = 0.5 * qdd @ at("mass_matrix") @ qdd + V @ qdd + 0.5 * qd @ at("acceleration_matrix") @ qd
    close(energy, motion.energy(1).sum())
    bend = at("jacobian_coriolis") @ products(qd) + at("jacobian_centrifugal") @ qd**2
    close(bend, at("jacobian_rate") @ qd)
    R = motion.pose(2, 0)[:3, :3]
    own = at("jacobian_coriolis_tip") @ products(qd) + at("jacobian_centrifugal_tip") @ qd**2
    close(own, np.kron(np.eye(2), R.T) @ bend)
    wrench = np.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.4])
    Q = at("driving_forces", wrench=wrench, delta_m=1.0, delta_theta=1.0, tau=-1.0)
    close(Q, free_chain.value(motion.forces(free_chain.GRAVITY), 0))
    Q = at("driving_forces", wrench=wrench, delta_m=0.0, delta_theta=1.0, tau=1.0)
    close(Q, at("jacobian_tip").T @ wrench)


def test_parameters_that_can_be_identified(motion: Any, at: Callable[..., Any]) -> None:
    expected = free_chain.value(motion.forces(free_chain.GRAVITY), 0)
    close(at("regressor") @ at("inertial_parameters"), expected)
    close(at("base_regressor") @ at("base_parameters"), expected)
    assert len(at("base_parameters")) == 10 + 9 + 7  # free body; mass regroups over a ball; a hinge notices seven


def rate_along(value: Callable[[Any], Any], v: Any, h: float) -> Any:
    """d/dt of a function of q along constant velocities, to sixth order."""
    weights = {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
    return sum(weight * value(s * h * v) for s, weight in weights.items()) / (60 * h)


def test_rate_of_the_mass_matrix_less_two_coriolis_is_skew(motion: Any, at: Callable[..., Any]) -> None:
    state = motion.state(1)
    rate = rate_along(lambda v: at("mass_matrix", q=shifted(state["q"], v)), state["qd"], 2e-3)
    N = rate - 2 * at("coriolis_matrix")
    assert np.abs(N + N.T).max() < 1e-10 * np.abs(rate).max()
    assert np.abs(rate).max() > 0.1


def shifted(q: Any, v: Any) -> Any:
    """q of a free chain moved by constant velocities in the moving frames."""
    R, p = moved_base(q, v)
    turns = [R, Rotation.from_quat(q[7:11]) * Rotation.from_rotvec(v[6:9])]
    return np.concatenate([p, turns[0].as_quat(), turns[1].as_quat(), [q[11] + v[9]]])


def moved_base(q: Any, v: Any) -> tuple[Rotation, Any]:
    """By the exponential of the 4 x 4 matrix of a twist."""
    x, y, z = v[3:6]
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], v[:3]
    step = expm(twist)
    R = Rotation.from_quat(q[3:7])
    return R * Rotation.from_matrix(step[:3, :3]), q[:3] + R.apply(step[:3, 3])


def test_flexible_satellite() -> None:
    """E^(1) is quadratic in qdd with the inertia forces as its slope (Appell); rates of forces by differences of high order."""
    names = (
        "acceleration_energy_1",
        "acceleration_energy_parts_1",
        "inertia_forces",
        "inertia_force_rate_1",
        "trace_mass_matrix",
        "mass_matrix",
        "trace_coriolis_vector",
        "coriolis_vector",
    )
    robot = elastogen.load("satellite")
    made = {f.name: f for f in derive_model(robot, names).functions}
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    rng = np.random.default_rng(4)
    q, qd, qdd = (rng.uniform(-0.3, 0.3, size) for size in (13, 12, 12))
    q[3:7] = Rotation.random(random_state=1).as_quat()

    def value(name: str, **state: Any) -> Any:
        (found,) = made[name].evaluate({"q": q, "qd": qd, "qdd": qdd, "q3": 0 * qd, **state}, live).values()
        return found

    slope = [
        (value("acceleration_energy_1", qdd=qdd + e) - value("acceleration_energy_1", qdd=qdd - e)) / 2 for e in np.eye(12)
    ]
    close(slope, value("inertia_forces"))
    close(value("acceleration_energy_parts_1").sum(), value("acceleration_energy_1"))
    close(value("trace_mass_matrix"), value("mass_matrix"))
    close(value("trace_coriolis_vector"), value("coriolis_vector"))

    def forces(v: Any) -> Any:
        R, p = moved_base(q, v)
        return value("inertia_forces", q=np.concatenate([p, R.as_quat(), q[7:] + v[6:]]), qdd=0 * qdd)

    close(value("inertia_force_rate_1", qdd=0 * qdd), rate_along(forces, qd, 5e-3))


def test_regressor_of_an_elastic_joint_behind_a_free_base() -> None:
    links = [{"name": "hub", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}, {"name": "rod", "mass": 1.0, "com": [0.5, 0, 0]}]
    joint = {"name": "hinge", "type": "revolute", "elasticity": {"stiffness": 30.0, "damping": 0.2}, "motor": {"inertia": 0.3}}
    robot = elastogen.load({"elastogen": 1, "name": "arm", "base": "floating", "links": links, "joints": [joint]})
    made = derive_model(robot, ("regressor", "inertial_parameters", "inverse_dynamics")).functions
    rng = np.random.default_rng(8)
    state = {"q": rng.uniform(-1, 1, 9), "qd": rng.uniform(-1, 1, 8), "qdd": rng.uniform(-1, 1, 8)}
    state["q"][3:7] = Rotation.random(random_state=2).as_quat()
    found = {f.name: next(iter(f.evaluate(state).values())) for f in made}
    close(found["regressor"] @ found["inertial_parameters"], found["inverse_dynamics"])


MIXED = {
    "planar": {}, "cylindrical": {}, "universal": {"axis2": [0, 1, 0]}, "helical": {"pitch": 0.2},
    "revolute": {"follows": "0.5*q('helical1') + q('universal1.angle1')", "axis": [1, 0, 0]},
}  # fmt: skip


def mixed(*kinds: str, base: str = "fixed") -> Any:
    body = {"mass": 1.1, "com": [0.1, 0.02, 0.03], "inertia": [0.1, 0.12, 0.15]}
    links = [{"name": f"link{k}", **body} for k in range(len(kinds) + 1)]
    joints = [{"name": f"{kind}1", "type": kind, "placement": {"xyz": [0.2, 0.1, 0]}, **MIXED[kind]} for kind in kinds]
    return elastogen.load({"elastogen": 1, "name": "mixed", "base": base, "links": links, "joints": joints})


def test_a_free_base_with_joints_of_several_coordinates_and_a_follower() -> None:
    """Appell: the slope of E^(1) by qdd are the inertia forces; matrices by traces are those of the recursions."""
    robot = mixed("planar", "cylindrical", "universal", "helical", "revolute", base="floating")
    names = (
        "acceleration_energy_1",
        "inertia_forces",
        "trace_coriolis_vector",
        "coriolis_vector",
        "kinetic_energy_parts",
        "kinetic_energy",
    )
    made = {f.name: f for f in derive_model(robot, names).functions}
    rng = np.random.default_rng(6)
    q, qd, qdd = (rng.uniform(-1, 1, size) for size in (15, 14, 14))
    q[3:7] = Rotation.random(random_state=3).as_quat()

    def value(name: str, qdd: Any = qdd) -> Any:
        (found,) = made[name].evaluate({"q": q, "qd": qd, "qdd": qdd}).values()
        return found

    slope = [(value("acceleration_energy_1", qdd + e) - value("acceleration_energy_1", qdd - e)) / 2 for e in np.eye(14)]
    close(slope, value("inertia_forces"))
    close(value("trace_coriolis_vector"), value("coriolis_vector"))
    close(value("kinetic_energy_parts").sum(), value("kinetic_energy"))


def test_operators_of_joints_that_are_no_screws_by_themselves() -> None:
    """U_i is constant for a helical joint; with two coordinates in one joint, or a follower, it is not."""
    names = ("joint_operators", "transform_partials", "forward_kinematics")
    made = {f.name: f for f in derive_model(mixed("helical"), names).functions}
    U, A, T = (next(iter(made[name].evaluate({"q": [0.7]}).values())) for name in names)
    close(A[0][0], T[0] @ U[0])
    for kinds in (("universal",), ("helical", "universal", "revolute")):
        with pytest.raises(elastogen.OutputError, match="one coordinate each"):
            derive_model(mixed(*kinds), ("joint_operators",))
