"""Own terms and functions of robots with floating and spherical joints: against Pinocchio's external forces and motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.robot.robot import Robot

pin = pytest.importorskip("pinocchio")
pinocchio_trees = pytest.importorskip("pinocchio_trees")

TREE = pinocchio_trees.tree(5, ("floating", "spherical", "revolute"), chain=True)
ANCHOR = np.array([0.3, 0.4, 1.2])
K, REST, C = 80.0, 0.3, 0.7
RNG = np.random.default_rng(11)
STATES = [(pin.randomConfiguration(TREE.model, -np.ones(12), np.ones(12)), *RNG.uniform(-1, 1, (2, 10))) for _ in range(3)]


@pytest.fixture(scope="module")
def plain() -> Robot:
    return elastogen.load(TREE.file)


@pytest.fixture(scope="module")
def loaded(plain: Robot) -> PlainPrograms:
    """A spring and drag at the tip, a compass needle on the second link, friction and a thruster by velocities."""
    s = elastogen.symbols(plain)
    k, drag = sympy.symbols("k drag", real=True)
    stretch = sympy.sqrt((s.position("tip") - sympy.Matrix(ANCHOR)).dot(s.position("tip") - sympy.Matrix(ANCHOR))) - REST
    v = s.velocity("tip")
    robot = (
        plain.with_terms(name="spring", potential=k * stretch**2 / 2, parameters={"k": K}, live=["k"])
        .with_terms(name="drag", dissipation=drag * v.dot(v) / 2, parameters={"drag": C})
        .with_terms(name="needle", potential=-3 * s.rotation("link2")[0, 2] + s.coordinate("j1.x") ** 2)
        .with_terms(name="push", forces={"link1": sympy.Matrix([1, -2, 3 * s.t]), "j2.wy": -sympy.tanh(s.velocity_of("j2.wy"))})
    )
    return PlainPrograms(robot)


def by_hand(q: Any, qd: Any) -> tuple[Any, Any]:
    """Forces of the potentials, and of the rest, by Pinocchio's Jacobians."""
    model, data = TREE.model, TREE.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, qd)
    J1, J2, J3 = (pin.getJointJacobian(model, data, j, pin.LOCAL_WORLD_ALIGNED) for j in (1, 2, 3))
    apart = data.oMi[3].translation - ANCHOR
    length = np.linalg.norm(apart)
    stored = K * (length - REST) / length * (J3[:3].T @ apart)
    rotated = np.array([np.cross(axis, data.oMi[2].rotation[:, 2])[0] for axis in J2[3:].T])  # rate of R_xz per unit velocity
    stored = stored - 3 * rotated
    place, frame = TREE.file["joints"][0]["placement"], pin.SE3.Identity()
    frame = pin.SE3(pin.rpy.rpyToMatrix(np.array(place["rpy"])), np.array(place["xyz"]))
    stored = stored + 2 * q[0] * (frame.rotation.T @ J1[:3])[0]  # j1.x is the child's place in the joint frame
    other = C * J3[:3].T @ (J3[:3] @ qd) - J1[:3].T @ [1.0, -2.0, 0.0]
    other[7] += np.tanh(qd[7])
    return stored, other


@pytest.mark.parametrize("number", range(len(STATES)))
def test_terms_are_external_forces(loaded: PlainPrograms, number: int) -> None:
    q, qd, qdd = STATES[number]
    stored, other = by_hand(q, qd)
    data = TREE.model.createData()
    gravity = pin.computeGeneralizedGravity(TREE.model, data, q)
    np.testing.assert_allclose(loaded("gravity_vector", q=q), gravity + stored, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(loaded("friction_forces", q=q, qd=qd), other, rtol=1e-11, atol=1e-11)
    F = pin.rnea(TREE.model, data, q, qd, qdd) + stored + other
    np.testing.assert_allclose(loaded("inverse_dynamics", q=q, qd=qd, qdd=qdd), F, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(loaded("forward_dynamics", q=q, qd=qd, F=F), qdd, rtol=1e-10, atol=1e-10)


def slope(f: Callable[[float], Any]) -> Any:
    """df/dh at zero by differences of sixth order."""
    h = 4e-3
    return sum(w * (f(k * h) - f(-k * h)) for k, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h


def test_derivatives_tangents_and_rates_are_along_the_velocities(loaded: PlainPrograms) -> None:
    q, qd, qdd = STATES[0]
    units = np.eye(10)

    def total(q: Any, qd: Any) -> Any:
        stored, other = by_hand(q, qd)
        return pin.rnea(TREE.model, TREE.model.createData(), q, qd, qdd) + stored + other

    def at(v: Any) -> Any:
        return pin.integrate(TREE.model, q, v)

    by_q = np.array([slope(lambda h, e=e: total(at(h * e), qd)) for e in units]).T
    by_qd = np.array([slope(lambda h, e=e: total(q, qd + h * e)) for e in units]).T
    found = loaded("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(found[0], by_q, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[1], by_qd, rtol=1e-9, atol=1e-9)
    rest = np.zeros(10)
    K = np.array([slope(lambda h, e=e: sum(by_hand(at(h * e), rest))) for e in units]).T
    D = np.array([slope(lambda h, e=e: sum(by_hand(q, h * e))) for e in units]).T
    np.testing.assert_allclose(loaded("stiffness_matrix", q=q), K, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(loaded("damping_matrix", q=q), D, rtol=1e-9, atol=1e-9)
    jerk = np.linspace(-1, 1, 10)
    rate = loaded("inverse_dynamics_rate_1", q=q, qd=qd, qdd=qdd, q3=jerk)
    M = pin.crba(TREE.model, TREE.model.createData(), q)
    clock = np.zeros(10)
    data = TREE.model.createData()
    pin.computeJointJacobians(TREE.model, data, q)
    clock -= 3 * pin.getJointJacobian(TREE.model, data, 1, pin.LOCAL_WORLD_ALIGNED)[2]  # the force 3 t grows
    np.testing.assert_allclose(rate, by_q @ qd + by_qd @ qdd + M @ jerk + clock, rtol=1e-9, atol=1e-8)


def test_a_law_on_the_manifold_and_its_derivatives(plain: Robot) -> None:
    s = elastogen.symbols(plain)
    q_ref, v = s.input("q_ref", 12), s.input("v", 10)
    error = s.f.difference(s.q, q_ref)
    law = s.f.inverse_dynamics(s.q, s.qd, 100 * error - 20 * s.qd)
    robot = plain.with_function(
        "law", inputs={"q_ref": 12, "v": 10}, outputs={"F": law, "moved": s.f.integrate(s.q, v), "product": s.q[6] * s.q[10]}
    )
    robot = robot.derivatives_of("law", by=["q", "qd", "q_ref"])
    programs = PlainPrograms(robot)
    q, qd, _ = STATES[1]
    goal, step = STATES[2][0], STATES[2][1]

    def torque(q: Any, qd: Any) -> Any:
        a = 100 * pin.difference(TREE.model, q, goal) - 20 * qd
        return pin.rnea(TREE.model, TREE.model.createData(), q, qd, a)

    given = {"q": q, "qd": qd, "q_ref": goal, "v": step}
    F, moved, product = programs("law", **given)
    np.testing.assert_allclose(F, torque(q, qd), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(moved, pin.integrate(TREE.model, q, step), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(product, q[6] * q[10], rtol=1e-15)
    by_q, _, by_goal, *_ = programs("law_derivatives", **given)
    assert by_q.shape == (10, 10)  # along the velocities, as in inverse_dynamics_derivatives
    assert by_goal.shape == (10, 12)  # by the numbers of an input
    for k, e in enumerate(np.eye(10)):
        expected = slope(lambda h, e=e: torque(pin.integrate(TREE.model, q, h * e), qd))
        np.testing.assert_allclose(by_q[:, k], expected, rtol=1e-8, atol=1e-7)
