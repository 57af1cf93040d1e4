"""Lagrange's equations against the programs for every kind of joint, body, term and function; and that a wrong one is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Robot
from elastogen.verification import identities, second_derivation
from elastogen.verification.states import random_states

NAMES = ("forward_kinematics", "potential_energy", "inverse_dynamics")  # which is the sum of all forces
BEAM = {"length": 0.8, "mass_per_length": 0.353, "EI": 0.169, "elements": 2}
BODY = {"mass": 1.1, "com": [0.1, 0.2, 0.3], "inertia": [0.1, 0.07, 0.09]}
RIGID = {"length": 0.3, "rigid": True, "mass": 0.2, "inertia": 0.01}


def planar(*links: dict[str, Any]) -> Robot:
    data = {"links": list(links), "payload": {"mass": 0.05}, "gravity": [0.3, -9.81]}
    return elastogen.load({"elastogen": 1, "name": "slider", "planar": data})


def chain(*joints: dict[str, Any], flexible: dict[str, Any] | None = None, **more: Any) -> Robot:
    """Joints one after the other, the first link flexible where that is given."""
    first = {"name": "l1", "flexible": flexible} if flexible else {"name": "l1", **BODY}
    links = [{"name": "base"}, first, *({"name": f"l{k}", **BODY} for k in range(2, len(joints) + 1))]
    placed = [
        {"name": f"j{k}", "child": f"l{k}", "parent": f"l{k - 1}" if k > 1 else "base"} | joint
        for k, joint in enumerate(joints, 1)
    ]
    return elastogen.load({"elastogen": 1, "name": "chain", "links": links, "joints": placed, **more})


def spatial(rotation: str, **more: Any) -> Robot:
    """A link that bends in two directions, then an elastic joint."""
    modes = [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**2*(3-x/L)/2"}]
    beam = {
        "type": "modes",
        "length": 1.0,
        "mass_per_length": 0.5,
        "EI_z": 60.0,
        "EI_y": 50.0,
        "rotation": rotation,
        "modes": modes,
    }
    spring = {"type": "revolute", "axis": [0, 1, 0], "elasticity": {"stiffness": 50, "damping": 0.3}, "motor": {"inertia": 0.1}}
    beam |= {"foreshortening": rotation == "exponential", "tip": {"mass": 0.2}}
    return chain({"type": "revolute", "axis": [0, 0, 1]}, spring, flexible=beam, **more)


def free() -> Robot:
    """A floating body, a ball joint on it and a hinge: 13 positions, 10 velocities."""
    hinge = {"type": "revolute", "axis": [0, 0.6, 0.8]}
    return chain(
        {"type": "floating"}, {"type": "spherical", "placement": {"xyz": [0.1, 0.2, 0], "rpy": [0.3, 0.1, 0.2]}}, hinge
    )


def free_with_terms() -> Robot:
    """Springs on numbers of quaternions and a damper on velocities in moving frames."""
    robot = free()
    s = elastogen.symbols(robot)
    return robot.with_terms(
        potential=3 * s.q[3] ** 2 + s.q[0] * s.q[5] + s.q[8] * s.position("tip")[2],
        dissipation=s.qd[4] ** 2 + s.qd[7] * s.qd[9],
    )


def follower() -> Robot:
    lead = {"type": "revolute", "axis": [0, 0, 1]}
    return chain(lead, lead, {"type": "prismatic", "axis": [1, 0, 0], "follows": "0.3*sin(q('j1'))*q('j2') + 0.1"})


def at_points() -> Robot:
    """Terms at points of a bending link, of a rigid one and of a joint."""
    places = [{"name": "a", "link": "l1", "xyz": [0.37, 0.02, 0.03]}, {"name": "b", "link": "l2"}, {"name": "c", "joint": "j2"}]
    robot = spatial("exponential", points=places)
    s = elastogen.symbols(robot)
    return robot.with_terms(
        potential=3 * s.position("a").norm() ** 2,
        forces={"b": sympy.Matrix([1, s.qd[0], 2])},
        dissipation=s.velocity("c").norm() ** 2,
    )


def own() -> Robot:
    """A law that calls functions that Lagrange's equations give, one that they do not, and a solution of equations."""
    robot = elastogen.load("two_link", live=["m2"])
    s = elastogen.symbols(robot)
    error = s.input("q_ref", 2) - s.q
    F = s.f.inverse_dynamics(s.q, s.qd, 400 * error - 40 * s.qd) + s.f.coriolis_matrix(s.q, s.qd) * s.qd
    F += s.f.solve(s.f.mass_matrix(s.q), error) * sympy.exp(-(s.qd[0] ** 2))
    robot = robot.with_function("law", inputs={"q_ref": 2}, outputs={"F": F, "power": F.dot(s.qd)})
    return robot.derivatives_of("law", by=("q_ref",))


CASES: dict[str, Callable[[], Robot]] = {
    "smooth Pb, then smooth Pa": lambda: planar({"joint": "Pb", "gamma": 0.7, **BEAM, "foreshortening": True,
                                                 "damping": {"ratios": [0.02]}},
                                                {"joint": "Pa", "gamma": 0.2, **RIGID}),
    "smooth Pa": lambda: planar({"joint": "R", **BEAM, "foreshortening": True, "damping": {"ratios": [0.02, 0.01]}},
                                {"joint": "Pa", "gamma": 0.7, **RIGID}),
    "nodal Pb, then nodal Pa": lambda: planar({"joint": "Pb", "gamma": 0.7, "slide": "nodal", **BEAM, "foreshortening": True,
                                               "damping": {"ratio": 0.02}},
                                              {"joint": "Pa", "gamma": 0.2, "slide": "nodal", **RIGID}),
    "reduced Pb": lambda: planar({"joint": "Pb", "gamma": 0.7, **BEAM, "elements": 3, "reduce_to": 1,
                                  "damping": {"rayleigh": {"alpha": 0.1, "beta": 0.001}}}),
    "linear tips": lambda: spatial("linear"),
    "quaternions": free,
    "terms on quaternions": free_with_terms,
    "follower": follower,
    "points": at_points,
    "own functions": own,
}  # fmt: skip
OTHERS = {
    "terms on quaternions": ("potential_energy", "gravity_vector", "friction_forces"),
    "points": ("point_positions", "gravity_vector", "friction_forces"),
    "own functions": ("law", "law_derivatives"),
    "quaternions": (*NAMES, "mass_matrix", "jacobian", "coriolis_vector"),
}


def judged(robot: Robot, functions: dict[str, Function]) -> dict[str, str]:
    live = {p.name: p.value for p in robot.live_parameters}
    states = random_states(robot, 1, 1, functions.values())
    return {finding.subject: finding.verdict for finding in second_derivation.check(robot, functions, states, live)}


@pytest.mark.parametrize("case", CASES)
def test_lagrange_agrees(case: str) -> None:
    robot = CASES[case]()
    names = OTHERS.get(case, NAMES)
    functions = {function.name: function for function in derive_model(robot, names).functions}
    found = judged(robot, functions)
    assert found == dict.fromkeys(names, "passed")


def test_another_robot_is_seen() -> None:
    """The equations of a robot with one number changed by 1e-11 are not those of the robot."""
    robot = free()
    functions = {function.name: function for function in derive_model(robot, ("mass_matrix",)).functions}
    link = robot.links[1]
    other = replace(robot, links=(robot.links[0], replace(link, body=replace(link.body, mass=1.1 + 1e-11)), *robot.links[2:]))
    assert judged(robot, functions) == {"mass_matrix": "passed"}
    assert judged(other, functions) == {"mass_matrix": "failed"}


def test_identities_of_quasi_velocities() -> None:
    robot = free()
    functions = {function.name: function for function in derive_model(robot, identities.NEEDED).functions}
    values = identities.configuration_rate(robot, *(random_states(robot, 1, 4)[key][0] for key in ("q", "qd")))
    (rates,) = derive_model(robot, ("configuration_rate",)).functions
    state = random_states(robot, 1, 4)
    expected = rates.evaluate({key: state[key][0] for key in ("q", "qd")})["dq"]
    np.testing.assert_allclose(np.array(values, dtype=float), expected, rtol=1e-14, atol=1e-15)
    found = dict(identities.at_state(robot, functions, {key: array[0] for key, array in state.items()}, {}))
    assert max(found.values()) < identities.LIMIT
    assert {"dM/dt - 2C skew", "dF/dq", "tip velocity = J qd"} <= set(found)
