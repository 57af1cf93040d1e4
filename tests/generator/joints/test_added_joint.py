"""The recipe of docs/own/adding-joints.md: a kind of joint from outside goes all the way, and agrees with Pinocchio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from added_kinds.screw_joint import ScrewJoint

import elastogen
from elastogen.describe import describe
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Robot

pin = pytest.importorskip("pinocchio")

AXIS = (0.6, 0.0, 0.8)
INERTIA = {"xx": 0.02, "yy": 0.03, "zz": 0.04, "xy": 0.002, "xz": -0.001, "yz": 0.003}
FILE: dict[str, Any] = {
    "elastogen": 1,
    "name": "press",
    "links": [
        {"name": "base"},
        {"name": "arm", "mass": 1.5, "com": [0.2, 0.05, 0.1], "inertia": INERTIA},
        {"name": "nut", "mass": 0.8, "com": [0.1, -0.07, 0.3], "inertia": INERTIA},
        {"name": "hand", "mass": 0.4, "com": [0.02, 0.03, 0.1], "inertia": INERTIA},
    ],
    "joints": [
        {"name": "turn", "type": "revolute", "axis": [0, 1, 0]},
        {
            "name": "spindle",
            "type": "screw",
            "lead": 0.25,
            "axis": AXIS,
            "placement": {"xyz": [0.4, 0.1, 0], "rpy": [0.3, 0, 0]},
        },
        {"name": "wrist", "type": "revolute", "axis": [1, 0, 0], "placement": {"xyz": [0, 0.2, 0.1]}},
    ],
}
RNG = np.random.default_rng(7)
STATES = RNG.uniform(-1.5, 1.5, (20, 3, 3))


@pytest.fixture(autouse=True)
def screws() -> Iterator[None]:
    """The kind is known while a test runs."""
    kinds.register(ScrewJoint())
    yield
    del kinds.KINDS["screw"]


@pytest.fixture(scope="module")
def reference() -> Any:
    """The same robot in Pinocchio."""
    model = pin.Model()
    parent = 0
    for joint, link in zip(FILE["joints"], FILE["links"][1:], strict=True):
        place = joint.get("placement", {})
        pose = pin.SE3(
            pin.rpy.rpyToMatrix(np.array(place.get("rpy", [0, 0, 0]), dtype=float)), np.array(place.get("xyz", [0, 0, 0.0]))
        )
        axis = np.array(joint["axis"], dtype=float)
        if joint["type"] == "screw":
            motion = pin.JointModelHelicalUnaligned(axis, joint["lead"] / (2 * math.pi))
        else:
            motion = pin.JointModelRevoluteUnaligned(axis)
        parent = model.addJoint(parent, motion, pose, joint["name"])
        i = link["inertia"]
        tensor = np.array([[i["xx"], i["xy"], i["xz"]], [i["xy"], i["yy"], i["yz"]], [i["xz"], i["yz"], i["zz"]]])
        model.appendBodyToJoint(parent, pin.Inertia(link["mass"], np.array(link["com"]), tensor), pin.SE3.Identity())
    return model


def robot() -> Robot:
    return elastogen.load(FILE)


def test_load_and_check() -> None:
    assert robot().coordinate_names == ("turn", "spindle", "wrist")
    assert "screw" in describe(robot())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lead": None}, "lead"),
        ({"lead": [1, 2, 3]}, "a number"),
        ({"lead": 0}, "revolute"),
        ({"led": 0.1}, "lead"),
        ({"gamma": 0.1}, "no gamma"),
        ({"type": "scrw"}, "screw"),
    ],
)
def test_wrong_keys_are_named(change: dict[str, Any], says: str) -> None:
    joint = {key: value for key, value in {**FILE["joints"][1], **change}.items() if value is not None}
    with pytest.raises(RobotError, match=says) as caught:
        elastogen.load({**FILE, "joints": [FILE["joints"][0], joint, FILE["joints"][2]]})
    assert "spindle" in str(caught.value)


def test_derived_functions_agree_with_pinocchio(reference: Any) -> None:
    names = ["inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity_vector", "jacobian", "forward_dynamics"]
    functions = {f.name: f for f in derive_model(robot(), names).functions}
    data = reference.createData()
    for q, qd, qdd in STATES:
        state = {"q": q, "qd": qd, "qdd": qdd, "F": qdd}

        def value(name: str, output: str, state: Any = state) -> Any:
            return functions[name].evaluate(state)[output]

        np.testing.assert_allclose(
            value("inverse_dynamics", "F"), pin.rnea(reference, data, q, qd, qdd), rtol=1e-11, atol=1e-11
        )
        np.testing.assert_allclose(value("mass_matrix", "M"), np.array(pin.crba(reference, data, q)), rtol=1e-11, atol=1e-12)
        C = pin.computeCoriolisMatrix(reference, data, q, qd)
        np.testing.assert_allclose(value("coriolis_matrix", "C") @ qd, C @ qd, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(
            value("gravity_vector", "G"), pin.computeGeneralizedGravity(reference, data, q), rtol=1e-11, atol=1e-11
        )
        J = pin.computeJointJacobians(reference, data, q)
        J = pin.getJointJacobian(reference, data, 3, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(value("jacobian", "J"), J, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(
            value("forward_dynamics", "qdd"), pin.aba(reference, data, q, qd, qdd), rtol=1e-10, atol=1e-10
        )


def test_a_lead_can_be_live(reference: Any) -> None:
    live = elastogen.load(FILE, live=["joints.spindle.lead"])
    (function,) = derive_model(live, ["inverse_dynamics"]).functions
    q, qd, qdd = STATES[0]
    forces = function.evaluate({"q": q, "qd": qd, "qdd": qdd}, {"spindle_lead": 0.25})["F"]
    np.testing.assert_allclose(forces, pin.rnea(reference, reference.createData(), q, qd, qdd), rtol=1e-11, atol=1e-11)


def test_closed_form_and_matrix_exponentials(reference: Any) -> None:
    closed = elastogen.derive(robot())
    data = reference.createData()
    q, qd, qdd = STATES[1]
    numbers = dict(zip((*closed.q, *closed.qd, *closed.qdd), (*q, *qd, *qdd), strict=True))
    forces = np.array(closed.inverse_dynamics.subs(numbers), dtype=float).ravel()
    np.testing.assert_allclose(forces, pin.rnea(reference, data, q, qd, qdd), rtol=1e-10, atol=1e-10)
    pin.forwardKinematics(reference, data, q)
    for transforms in (closed.transforms, closed.by_matrix_exponentials.transforms):
        tip = np.array(transforms[-1].subs(numbers), dtype=float)
        np.testing.assert_allclose(tip, data.oMi[3].homogeneous, rtol=1e-11, atol=1e-12)


def test_build_and_simulate(reference: Any) -> None:
    model = elastogen.build_model(robot(), outputs=["simulation", "inverse_dynamics"])
    q, qd, qdd = STATES[2]
    expected = pin.rnea(reference, reference.createData(), q, qd, qdd)
    np.testing.assert_allclose(model.inverse_dynamics(q, qd, qdd), expected, rtol=1e-11, atol=1e-11)
    run = model.simulate(q, qd, t=1.0, samples=11)
    data = reference.createData()
    assert run.q.shape[1] == 3
    start, end = (pin.computeMechanicalEnergy(reference, data, run.q[k], run.qd[k]) for k in (0, -1))
    assert abs(end - start) < 1e-7 * (1 + abs(start))
    assert np.abs(run.qd[-1] - qd).max() > 0.1
