"""The recipe of docs/own/adding-joints.md: a kind of flexible body from outside goes all the way, and agrees with an integral.

The independent computation is d'Alembert's principle, point by point: quadrature over the mass, with the motion of each point
differentiated by hand. It knows neither standard data nor recursions.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import numpy.typing as npt
import pytest
from added_kinds.hinged_segments import HingedSegments

import elastogen
from elastogen.generator.description.file import schema
from elastogen.generator.description.flexible import kinds
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Robot

Array = npt.NDArray[np.float64]

SEGMENTS = [
    {"length": 0.4, "mass": 0.5, "stiffness": 30.0},
    {"length": 0.3, "mass": 0.2, "stiffness": 20.0},
    {"length": 0.25, "mass": "m3", "stiffness": 9.0},
]
DAMPING = np.array([[0.3, 0.05, 0.0], [0.05, 0.2, 0.0], [0.0, 0.0, 0.1]])
TIP = {"mass": 0.3, "inertia": [0.0, 0.0, 0.004]}
FILE: dict[str, Any] = {
    "elastogen": 1,
    "name": "tentacle",
    "gravity": [1.5, -9.0, 0],
    "parameters": {"m3": {"value": 0.15}},
    "links": [
        {"name": "base"},
        {
            "name": "arm",
            "mass": 0.7,
            "com": [-0.05, 0.02, 0],
            "inertia": [0.01, 0.01, 0.02],
            "flexible": {"type": "hinged_segments", "segments": SEGMENTS, "tip": TIP, "damping": {"matrix": DAMPING.tolist()}},
        },
    ],
    "joints": [{"name": "turn", "type": "revolute"}],
}
STATES = np.random.default_rng(5).uniform(-1, 1, (10, 3, 4))


@pytest.fixture(autouse=True)
def hinged_segments() -> Iterator[None]:
    """The kind is known while a test runs."""
    kinds.register(HingedSegments())
    yield
    del kinds.FLEXIBLE_KINDS["hinged_segments"]


def robot(**load: Any) -> Robot:
    return elastogen.load(FILE, **load)


def changed(**flexible: Any) -> dict[str, Any]:
    data = copy.deepcopy(FILE)
    data["links"][1]["flexible"] |= flexible
    return data


def forces(q: Array, qd: Array, qdd: Array, m3: float = 0.15) -> Array:
    """Inverse dynamics: int J^T (a - g) dm over the points of the arm, its hub and its tip, springs and dampers."""
    lengths, masses = [0.4, 0.3, 0.25], [0.5, 0.2, m3]
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    gravity = np.array(FILE["gravity"][:2])
    cos, sin = np.cos(q[0]), np.sin(q[0])
    R, rotated = np.array([[cos, -sin], [sin, cos]]), np.array([[0.0, -1.0], [1.0, 0.0]])
    total = np.zeros(4)

    def add(mass: float, at: Array, shapes: Array) -> None:
        """A point mass at the undeformed place ``at``; the angles move it along y by ``shapes``."""
        r = at + np.array([0, shapes @ q[1:]])
        v, a = np.array([0, shapes @ qd[1:]]), np.array([0, shapes @ qdd[1:]])
        acceleration = R @ (a + 2 * qd[0] * (rotated @ v) + qdd[0] * (rotated @ r) - qd[0] ** 2 * r)
        jacobian = np.column_stack([R @ rotated @ r, *(R @ np.array([0, shape]) for shape in shapes)])
        total[:] += mass * jacobian.T @ (acceleration - gravity)

    nodes, weights = np.polynomial.legendre.leggauss(3)  # exact: the integrands are quadratic on each segment
    for i, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        for node, weight in zip(nodes, weights, strict=True):
            x = starts[i] + length * (node + 1) / 2
            add(mass * weight / 2, np.array([x, 0.0]), np.maximum(0, x - starts[:-1]))
    add(TIP["mass"], np.array([starts[-1], 0.0]), starts[-1] - starts[:-1])
    add(0.7, np.array([-0.05, 0.02]), np.zeros(3))
    total += 0.004 * qdd.sum()  # the tip turns by all angles
    total[0] += 0.02 * qdd[0]
    total[1:] += np.array([30.0, 20.0, 9.0]) * q[1:] + DAMPING @ qd[1:]
    return total


def test_derived_functions_agree_with_the_integral() -> None:
    assert robot().coordinate_names == ("turn", "arm.hinge1", "arm.hinge2", "arm.hinge3")
    functions = {f.name: f for f in derive_model(robot(), ["inverse_dynamics", "mass_matrix", "forward_dynamics"]).functions}
    for q, qd, qdd in STATES:
        expected = forces(q, qd, qdd)
        state = {"q": q, "qd": qd, "qdd": qdd, "F": expected}
        np.testing.assert_allclose(functions["inverse_dynamics"].evaluate(state)["F"], expected, rtol=1e-11, atol=1e-11)
        M = np.column_stack([forces(q, qd, unit) - forces(q, qd, np.zeros(4)) for unit in np.eye(4)])
        np.testing.assert_allclose(functions["mass_matrix"].evaluate(state)["M"], M, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(functions["forward_dynamics"].evaluate(state)["qdd"], qdd, rtol=1e-9, atol=1e-9)


def test_its_parameters_can_be_live() -> None:
    (function,) = derive_model(robot(live=["m3"]), ["inverse_dynamics"]).functions
    q, qd, qdd = STATES[0]
    found = function.evaluate({"q": q, "qd": qd, "qdd": qdd}, {"m3": 0.6})["F"]
    np.testing.assert_allclose(found, forces(q, qd, qdd, 0.6), rtol=1e-11, atol=1e-11)
    assert np.abs(found - forces(q, qd, qdd)).max() > 0.1


def test_the_schema_asks_the_registry() -> None:
    jsonschema.validate(FILE, json.loads(schema.json_schema()))
    del kinds.FLEXIBLE_KINDS["hinged_segments"]
    try:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(FILE, json.loads(schema.json_schema()))
        with pytest.raises(RobotError, match=r"links\.arm\.flexible.*modes, elements, standard_data, lumped_masses"):
            robot()
    finally:
        kinds.register(HingedSegments())


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        ({"segmets": []}, "flexible", "segments"),
        ({"segments": []}, "segments", "at least 1"),
        ({"segments": [{**SEGMENTS[0], "mass": [1]}]}, "segments[0].mass", "a number or an expression"),
        ({"segments": [{**SEGMENTS[0], "length": -0.4}]}, "segments[0].length", "above zero"),
        ({"segments": [{**SEGMENTS[0], "stiffness": -1}], "damping": None}, "stiffness", "positive definite"),
        ({"type": "hinged_segment"}, "flexible", "hinged_segments"),
        ({"type": ["modes"]}, "flexible", "a mapping with type"),
        ({"damping": {"matrix": [[1]]}}, "damping.matrix", "3 rows"),
    ],
)
def test_wrong_keys_are_named(change: dict[str, Any], where: str, says: str) -> None:
    with pytest.raises(RobotError) as caught:
        elastogen.load(changed(**change))
    assert "links.arm.flexible" in str(caught.value)
    assert where in str(caught.value)
    assert says in str(caught.value)


def test_only_bodies_that_slide_go_on_telescopic_joints() -> None:
    data = copy.deepcopy(FILE)
    data["joints"] = [{"name": "turn", "type": "telescopic", "gamma": 0}]
    with pytest.raises(RobotError, match="type: elements"):
        elastogen.load(data)


def test_a_kind_is_registered_once_and_under_its_type() -> None:
    with pytest.raises(ValueError, match="already"):
        kinds.register(HingedSegments())

    class Renamed(HingedSegments):
        name = "segments"

    with pytest.raises(ValueError, match="must have the key type"):
        kinds.register(Renamed())
    assert "segments" not in kinds.FLEXIBLE_KINDS


def test_units_are_one_per_coordinate(monkeypatch: pytest.MonkeyPatch) -> None:
    made = HingedSegments.body
    monkeypatch.setattr(HingedSegments, "body", lambda kind, link: replace(made(kind, link), units=("rad",)))
    with pytest.raises(RobotError, match=r"links\.arm\.flexible\.units.*one unit per coordinate \(3\)"):
        robot()
