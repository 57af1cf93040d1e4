"""Linearization and modes of closed mechanisms, closure and failures of compiled models."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from test_loop_descriptions import FOUR_BAR

import elastogen


@pytest.fixture(scope="module")
def model() -> elastogen.Model:
    outputs = [
        "default", "forward_dynamics_derivatives", "inverse_dynamics_derivatives", "loop_forces",
    ]  # fmt: skip
    return elastogen.build_model(FOUR_BAR, outputs=outputs)


def _at(model: elastogen.Model, x: float, rate: float) -> tuple[Any, Any]:
    q = model.close_loops([x, 0.5, 1.4])
    return q, model.driven_map(q)[:, 0] * rate


def test_linearization_against_differences_along_the_motion(model: elastogen.Model) -> None:
    F, x, rate, h = [0.7, 0, 0], 0.4, 1.5, 1e-5

    def acceleration(x: float, rate: float) -> float:
        q, qd = _at(model, x, rate)
        return float(model.forward_dynamics(q, qd, F)[0])

    found = model.linearize(*_at(model, x, rate), F)
    assert found.coordinates == (0,)
    assert found.A.shape == (2, 2)
    assert found.A[1, 0] == pytest.approx((acceleration(x + h, rate) - acceleration(x - h, rate)) / (2 * h), rel=1e-7)
    assert found.A[1, 1] == pytest.approx((acceleration(x, rate + h) - acceleration(x, rate - h)) / (2 * h), rel=1e-7)
    assert found.B[1, 0] == pytest.approx(1 / model.reduced_mass_matrix(_at(model, x, rate)[0])[0, 0])


def test_modes_under_gravity_are_those_of_the_reduced_pendulum(model: elastogen.Model) -> None:
    """w^2 = d(reduced gravity)/dx / reduced mass."""
    x, h = -0.4, 1e-5

    def weight(x: float) -> float:
        return float(model.reduced_gravity_vector(_at(model, x, 0)[0])[0])

    q, _ = _at(model, x, 0)
    squared = (weight(x + h) - weight(x - h)) / (2 * h) / model.reduced_mass_matrix(q)[0, 0]
    (found,) = model.modes(q, gravity=True).frequencies
    assert np.sign(found) * found**2 == pytest.approx(squared, rel=1e-7)
    assert model.modes(q).frequencies == pytest.approx([0.0])
    with pytest.raises(elastogen.ModelError, match="open by"):
        model.modes([0.0, 0.0, 0.0])


def test_reduced_equations(model: elastogen.Model) -> None:
    q, qd = _at(model, 0.3, 2.0)
    F = np.array([1.1, 0, 0])
    qdd = model.forward_dynamics(q, qd, F)
    left = model.reduced_mass_matrix(q) @ qdd[:1] + model.reduced_coriolis_vector(q, qd) + model.reduced_gravity_vector(q)
    np.testing.assert_allclose(left, F[:1], rtol=1e-11)
    np.testing.assert_allclose(model.driven_map(q)[:, 0] * qdd[0] + model.driven_bias(q, qd), qdd, rtol=1e-11)
    np.testing.assert_allclose(model.inverse_dynamics(q, qd, qdd), F, atol=1e-11)
    np.testing.assert_allclose(model.reduced_jacobian(q), model.jacobian(q) @ model.driven_map(q), atol=1e-12)


def test_the_pin_carries_what_the_rocker_needs(model: elastogen.Model) -> None:
    """The moment of the pin's force about the rocker's pivot is all that turns the rocker."""
    q, qd = _at(model, 0.3, 2.0)
    F = np.array([1.1, 0, 0])
    wrench = model.loop_forces(q, qd, F)[0]
    qdd = model.forward_dynamics(q, qd, F)
    angle_a = q[0] + q[1]  # frame a on the coupler
    force = np.array([[np.cos(angle_a), -np.sin(angle_a)], [np.sin(angle_a), np.cos(angle_a)]]) @ wrench[:2]
    arm = 0.6 * np.array([np.cos(q[2]), np.sin(q[2])])
    moment = arm[0] * force[1] - arm[1] * force[0]
    inertia = 0.02 + 0.1**2
    weight = -9.81 * 0.1 * np.cos(q[2])
    assert moment + weight == pytest.approx(inertia * qdd[2], rel=1e-10)


def test_closing_holds_drives_and_gets_away_from_symmetry(model: elastogen.Model) -> None:
    q = model.close_loops([[0.3, 0.5, 1.0], [0.0, 0.0, 0.0]])
    assert np.abs(model.loop_residual(q)).max() < 1e-12
    np.testing.assert_array_equal(q[:, 0], [0.3, 0.0])
    start = model.close_loops([0.0, np.pi, np.pi], held=[])
    assert np.abs(model.loop_residual(start)).max() < 1e-12
    with pytest.raises(elastogen.ModelError, match=r"open by 0\.0347 \(pin\.y\).*drive, elbow held"):
        model.close_loops([0.3, 0.5, 1.0], held=["drive", "elbow"])
    for held, message in (
        ("drive", "a list of names"),
        (["motor"], "held has 'motor'"),
        ([7], "0 to 2"),
        ([True], "held has True"),
    ):
        with pytest.raises(elastogen.ModelError, match=message):
            model.close_loops([0.3, 0.5, 1.0], held=held)  # type: ignore[arg-type]
    for q_bad in ([0.1], "x", [np.nan, 0, 0]):
        with pytest.raises(elastogen.ModelError, match="close_loops"):
            model.close_loops(q_bad)  # type: ignore[arg-type]
    with pytest.raises(elastogen.ModelError, match="tolerance"):
        model.close_loops([0.3, 0.5, 1.0], tolerance=0.0)


def test_a_loop_open_by_pi_is_not_closed() -> None:
    """Two frames whose axes point against each other: products of directions vanish, and yet the loop is open."""
    file = copy.deepcopy(FOUR_BAR)
    file["joints"].insert(1, {"name": "flip", "type": "revolute", "axis": [1, 0, 0], "parent": "crank", "child": "wrist"})
    file["joints"][2] |= {"parent": "wrist"}
    file["links"].append({"name": "wrist", "mass": 0.1, "inertia": [0.01, 0.01, 0.01]})
    file["links"][-1], file["links"][2] = file["links"][2], file["links"][-1]
    model = elastogen.build_model(file, outputs=["loop_residual", "loop_jacobian"])
    q = model.close_loops([0.3, 0.0, 0.5, 1.0], held=["drive"])
    rotated = q.copy()
    rotated[1] = np.pi
    rotated[2], rotated[3] = -q[2], q[3]
    assert np.abs(model.loop_residual(rotated)).max() > 1.9
    again = model.close_loops([0.3, np.pi, 0.5, 1.0], held=["drive"])
    assert np.abs(model.loop_residual(again)).max() < 1e-12


def test_singular_configurations_are_named() -> None:
    """A crank that is driven through its slider cannot be moved by it where it is stretched."""
    body = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02]}
    file = {
        "elastogen": 1, "name": "engine",
        "links": [{"name": "frame"}, *({"name": n, **body} for n in ("crank", "rod", "piston"))],
        "joints": [
            {"name": "turn", "type": "revolute", "parent": "frame", "child": "crank", "driven": False},
            {"name": "pin", "type": "revolute", "child": "rod", "placement": {"xyz": [0.1, 0, 0]}, "driven": False},
            {"name": "push", "type": "prismatic", "axis": [1, 0, 0], "parent": "frame", "child": "piston"},
        ],
        "loops": [{"name": "wrist", "type": "revolute", "a": {"link": "rod", "xyz": [0.3, 0, 0]}, "b": {"link": "piston"}}],
    }  # fmt: skip
    model = elastogen.build_model(file, outputs=["inverse_dynamics", "loop_jacobian", "loop_residual", "forward_dynamics"])
    dead = [0.0, 0.0, 0.4]
    assert np.abs(model.loop_residual(dead)).max() < 1e-15
    with pytest.raises(elastogen.ModelError, match="push do not determine the motion of the loops here"):
        model.inverse_dynamics(dead, [0, 0, 0], [0, 0, 0])
    with pytest.raises(elastogen.ModelError, match=r"no loops"):
        elastogen.build_model("two_link", outputs=["mass_matrix"]).close_loops([0, 0])
