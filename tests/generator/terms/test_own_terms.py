"""Own terms in the equations of motion, against equations written by hand and against Pinocchio's external forces."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from flexible_arms import HUB, ROD, beam, planar_arm
from own_terms_arm import arm, by_hand
from plain_programs import PlainPrograms
from reference_beam import powers
from robots_for_tests import in_pinocchio, random_states

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_function
from elastogen.generator.functions.function import Function
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.robot.robot import Link


@lru_cache
def function(name: str, with_terms: bool = True) -> Function:
    robot = arm() if with_terms else elastogen.load("two_link", live=["m2"])
    return derive_function(VariantFamily(robot), CATALOGUE[name])


LIVE = {p.name: p.value for p in arm().live_parameters} | {"time": 0.8}


def value(name: str, *state: Any, with_terms: bool = True, **live: float) -> Any:
    program = function(name, with_terms)
    arguments = dict(zip([a.name for a in program.inputs], state, strict=True))
    results = tuple(program.evaluate(arguments, LIVE | live).values())
    return results[0] if len(results) == 1 else results


STATES = [(np.array([0.4, -1.1]), np.array([0.9, -0.3]), np.array([1.3, 0.2])), (np.ones(2), -np.ones(2), np.zeros(2))]


@pytest.mark.parametrize("state", STATES, ids=["moving", "back"])
def test_terms_are_those_written_by_hand(state: tuple[Any, Any, Any]) -> None:
    q, qd, qdd = state
    V, spring, other = by_hand(q, qd, LIVE["time"])
    for name, arguments, expected in (
        ("potential_energy", (q,), V),
        ("gravity_vector", (q,), spring),
        ("friction_forces", (q, qd), other),
        ("inverse_dynamics", (q, qd, qdd), spring + other),
        ("mass_matrix", (q,), 0 * np.eye(2)),
        ("coriolis_vector", (q, qd), np.zeros(2)),
    ):
        difference = value(name, *arguments) - value(name, *arguments, with_terms=False)
        np.testing.assert_allclose(difference, expected, rtol=1e-12, atol=1e-12, err_msg=name)
    F = value("inverse_dynamics", q, qd, qdd)
    np.testing.assert_allclose(value("forward_dynamics", q, qd, F), qdd, rtol=1e-11, atol=1e-11)
    assert np.abs(value("inverse_dynamics", q, qd, qdd, k=0.0) - F).max() > 1  # a live parameter is read


def central(function: Any, x: Any, h: float = 1e-6) -> Any:
    """Columns of a Jacobian by differences; good to about 1e-8."""
    return np.stack([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=-1)


def test_tangents_and_derivatives_are_those_of_the_hand_written_terms() -> None:
    q, qd, qdd = STATES[0]

    def own(q: Any, qd: Any) -> Any:
        _, spring, other = by_hand(q, qd, LIVE["time"])
        return spring + other

    added = [a - b for a, b in zip(
        value("inverse_dynamics_derivatives", q, qd, qdd), value("inverse_dynamics_derivatives", q, qd, qdd, with_terms=False),
        strict=True)]  # fmt: skip
    np.testing.assert_allclose(added[0], central(lambda x: own(x, qd), q), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(added[1], central(lambda x: own(q, x), qd), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(added[2], 0 * np.eye(2), atol=1e-14)
    rest = np.zeros(2)
    np.testing.assert_allclose(value("stiffness_matrix", q), central(lambda x: own(x, rest), q), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(value("damping_matrix", q), central(lambda x: own(q, x), rest, 1e-5), rtol=1e-6, atol=1e-4)


def test_the_rate_of_the_forces_knows_the_time() -> None:
    q, qd, qdd = STATES[0]
    q3 = np.array([0.5, -2.0])

    def F(dt: float) -> Any:
        state = (q + qd * dt + qdd * dt**2 / 2 + q3 * dt**3 / 6, qd + qdd * dt + q3 * dt**2 / 2, qdd + q3 * dt)
        return value("inverse_dynamics", *state, time=LIVE["time"] + dt)

    expected = (F(1e-5) - F(-1e-5)) / 2e-5
    np.testing.assert_allclose(value("inverse_dynamics_rate_1", q, qd, qdd, q3), expected, rtol=1e-7)


def test_the_regressor_leaves_them_as_known_terms() -> None:
    q, qd, qdd = STATES[0]
    _, spring, other = by_hand(q, qd, LIVE["time"])
    F = value("regressor", q, qd, qdd) @ value("inertial_parameters")
    np.testing.assert_allclose(F + spring + other, value("inverse_dynamics", q, qd, qdd), rtol=1e-12)


def test_a_tool_spring_is_pinocchios_external_force() -> None:
    """A spring from the tool of the PUMA to a point, by rnea with external forces."""
    pin = pytest.importorskip("pinocchio")
    plain = elastogen.load("puma560")
    s = elastogen.symbols(plain)
    goal, stiffness = np.array([0.2, 0.5, 0.9]), 150.0
    stretch = s.position("tip") - sympy.Matrix(goal)
    robot = plain.with_terms(potential=stiffness / 2 * stretch.dot(stretch))
    states = random_states(plain, 5, count=2)
    reference = in_pinocchio(plain)
    model, data = reference.model, reference.model.createData()
    programs = PlainPrograms(robot)
    for k in range(2):
        q, qd, qdd = (states[name][k] for name in ("q", "qd", "qdd"))
        configuration, tip = reference.configuration(q), reference.frames[-1]
        pin.framesForwardKinematics(model, data, configuration)
        place, joint = data.oMf[tip], model.frames[tip].parentJoint
        force = pin.Force(-stiffness * (place.translation - goal), np.zeros(3))
        aligned = pin.SE3(np.eye(3), place.translation)
        external = [pin.Force.Zero() for _ in range(model.njoints)]
        external[joint] = data.oMi[joint].actInv(aligned.act(force))
        loaded = pin.rnea(model, data, configuration, reference.vector(qd), reference.vector(qdd), external)
        free = pin.rnea(model, data, configuration, reference.vector(qd), reference.vector(qdd))
        columns = reference.columns
        difference = programs("inverse_dynamics", q=q, qd=qd, qdd=qdd) - PlainPrograms(plain)(
            "inverse_dynamics", q=q, qd=qd, qdd=qdd
        )
        np.testing.assert_allclose(difference, (loaded - free)[columns], rtol=1e-10, atol=1e-10)


def test_forces_of_a_flexible_arm_are_the_gradient_of_the_potential() -> None:
    """A spring from the tip of a bending arm to the base: forces against 50-digit differences of the energy."""
    plain = planar_arm(Link("", HUB, beam(*ROD, powers(2))), Link("", HUB, beam(*ROD, powers(1))), gravity=(0, -9.81, 0))
    s = elastogen.symbols(plain)
    robot = plain.with_terms(potential=30 * (s.position("tip").norm() - 1) ** 2 + s.coordinate("link2.y1") ** 4 * 100)
    scratch = VariantFamily(robot)
    energy, forces, K = (derive_function(scratch, CATALOGUE[name]).program for name in (
        "potential_energy", "inverse_dynamics", "stiffness_matrix"))  # fmt: skip
    n = len(robot.coordinates)
    q, rest = 0.1 + 0.05 * np.arange(n), np.zeros(n)
    mpmath.mp.dps, step = 50, mpmath.mpf("1e-15")
    found = forces.evaluate({"q": q, "qd": rest, "qdd": rest})["F"]
    for k in range(n):
        ends = [
            many_digits.evaluate(energy, {"q": [mpmath.mpf(x) + sign * step * (i == k) for i, x in enumerate(q)]})["V"].item()
            for sign in (1, -1)
        ]
        assert abs(float((ends[0] - ends[1]) / (2 * step)) - found[k]) < 1e-10 * np.abs(found).max()
    assert np.abs(K.evaluate({"q": q})["K"]).max() > np.abs(PlainPrograms(plain)("stiffness_matrix")).max()


def test_the_rigid_robot_keeps_what_is_rigid() -> None:
    plain = planar_arm(Link("", HUB, beam(*ROD, powers(1))), gravity=(0, -9.81, 0))
    s = elastogen.symbols(plain)
    bent = s.coordinate("link1.y1")
    robot = plain.with_terms(potential=5 * (s.q[0] + bent) ** 2, forces={"link1.y1": 3})
    (term,) = elastogen.rigid_robot(robot).terms
    assert term.potential == 5 * s.q[0] ** 2
    assert not term.forces


def test_terms_act_at_points_on_beams() -> None:
    """A spring on a point in the middle of a beam, by its potential and by its force, are the same."""
    data = {
        "elastogen": 1, "name": "pulled", "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}, {"name": "beam", "flexible": {
            "type": "modes", "length": 1.0, "mass_per_length": 0.5, "EI": 60.0,
            "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "y", "eigenfunction": 2}]}}],
        "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1]}],
        "points": [{"name": "middle", "link": "beam", "xyz": [0.5, 0, 0]}],
    }  # fmt: skip
    plain = elastogen.load(data)
    x = elastogen.symbols(plain).position("middle")
    by_energy = plain.with_terms(potential=20 * x.dot(x) + 3 * x[1])
    by_force = plain.with_terms(forces={"middle": -40 * sympy.Matrix(x) - sympy.Matrix([0, 3, 0])})
    state = {"q": np.array([0.3, 0.02, -0.01]), "qd": np.ones(3), "qdd": np.zeros(3)}
    F = [PlainPrograms(robot)("inverse_dynamics", **state) for robot in (plain, by_energy, by_force)]
    np.testing.assert_allclose(F[1], F[2], rtol=1e-12, atol=1e-12)
    assert np.abs(F[1] - F[0]).min() > 1e-3
