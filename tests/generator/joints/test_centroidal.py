"""Centre of mass and momentum: against Pinocchio, against the mass matrix of flexible free robots, and as derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

NAMES = ("center_of_mass", "center_of_mass_jacobian", *(f"centroidal_momentum{end}" for end in ("", "_matrix", "_rate")))
PANEL = {"type": "elements", "length": 1.2, "mass_per_length": 0.6, "EI": 3.0, "elements": 1, "foreshortening": True}
FREE: dict[str, Any] = {
    "elastogen": 1,
    "name": "free",
    "base": "floating",
    "links": [
        {"name": "hub", "mass": 3.0, "com": [0.05, -0.02, 0.1], "inertia": [0.2, 0.3, 0.25]},
        {"name": "panel", "flexible": {**PANEL, "tip": {"mass": 0.2}}},
        {"name": "rod", "mass": 0.7, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]},
    ],
    "joints": [
        {"name": "root", "type": "fixed", "placement": {"xyz": [0.1, 0.2, 0], "rpy": [0.3, 0.1, 0.7]}},
        {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
    ],
}


def values(robot: Robot, names: tuple[str, ...]) -> Any:
    functions = {f.name: f for f in derive_model(robot, names).functions}

    def value(name: str, output: str, **state: Any) -> Any:
        return functions[name].evaluate(state)[output]

    return value


def test_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_trees import tree

    made = tree(31, ("floating", "revolute", "helical", "spherical", "prismatic"))
    model, value = made.model, values(elastogen.load(made.file), NAMES)
    data, rng = made.model.createData(), np.random.default_rng(1)
    for _ in range(10):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-2, 2, model.nv))
        v, a = rng.normal(size=(2, model.nv))
        A, h = pin.ccrba(model, data, q, v), data.hg.vector.copy()
        close = {"rtol": 1e-10, "atol": 1e-11}
        np.testing.assert_allclose(value("centroidal_momentum_matrix", "A", q=q), A, **close)
        np.testing.assert_allclose(value("centroidal_momentum", "h", q=q, qd=v), h, **close)
        np.testing.assert_allclose(value("center_of_mass", "com", q=q), pin.centerOfMass(model, data, q), **close)
        np.testing.assert_allclose(
            value("center_of_mass_jacobian", "J", q=q), pin.jacobianCenterOfMass(model, data, q), **close
        )
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
        np.testing.assert_allclose(value("centroidal_momentum_rate", "dh", q=q, qd=v, qdd=a), rate, rtol=1e-10, atol=1e-10)


def test_a_free_flexible_robot() -> None:
    """The momentum of the base's velocities, M[:6] qd, is the robot's, about the base's origin and in its axes."""
    robot = elastogen.load(FREE)
    value = values(robot, (*NAMES, "mass_matrix", "forward_kinematics", "integrate"))
    rng = np.random.default_rng(4)
    nv = len(robot.velocity_names)
    q = value(
        "integrate",
        "moved",
        q=[0, 0, 0, 0, 0, 0, 1] + [0] * (nv - 6),
        v=rng.uniform(-0.7, 0.7, nv) * ([1] * 6 + [0.2] * (nv - 6)),
    )
    qd, qdd = rng.normal(size=(2, nv))
    hub = value("forward_kinematics", "T", q=q)[0]
    own = value("mass_matrix", "M", q=q)[:6]
    R, p, com = hub[:3, :3], hub[:3, 3], value("center_of_mass", "com", q=q)
    linear, angular = R @ own[:3], R @ own[3:]
    expected = np.vstack([linear, angular + np.cross(p - com, linear.T).T])
    A = value("centroidal_momentum_matrix", "A", q=q)
    np.testing.assert_allclose(A, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(value("centroidal_momentum", "h", q=q, qd=qd), A @ qd, rtol=1e-11, atol=1e-12)
    h, found = 1e-4, []
    for s in (-2, -1, 1, 2):
        moved = value("integrate", "moved", q=q, v=s * h * qd + 0.5 * (s * h) ** 2 * qdd)
        rates = qd + s * h * qdd
        found.append([*value("centroidal_momentum", "h", q=moved, qd=rates), *value("center_of_mass", "com", q=moved)])
    numeric = (np.array(found[0]) - 8 * np.array(found[1]) + 8 * np.array(found[2]) - np.array(found[3])) / (12 * h)
    np.testing.assert_allclose(value("centroidal_momentum_rate", "dh", q=q, qd=qd, qdd=qdd), numeric[:6], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(value("center_of_mass_jacobian", "J", q=q) @ qd, numeric[6:], rtol=1e-8, atol=1e-8)


def test_a_fixed_base_does_not_count() -> None:
    file = {**FREE, "base": "fixed", "joints": [{**FREE["joints"][0], "type": "revolute"}, FREE["joints"][1]]}
    heavy = {**file, "links": [{**FREE["links"][0], "mass": 500.0}, *FREE["links"][1:]]}
    q = np.array([0.4, 0.05, 0.1, -0.3])
    light, same = (values(elastogen.load(x), ("center_of_mass",))("center_of_mass", "com", q=q) for x in (file, heavy))
    np.testing.assert_array_equal(light, same)


def test_linear_tips_are_refused() -> None:
    panel = {**PANEL, "foreshortening": False, "rotation": "linear"}
    links = [FREE["links"][0], {"name": "panel", "flexible": panel}, FREE["links"][2]]
    robot = elastogen.load({**FREE, "base": "fixed", "links": links})
    assert derive_model(robot, ("center_of_mass",)).functions
    with pytest.raises(elastogen.OutputError, match="linear tips"):
        derive_model(robot, ("centroidal_momentum",))
