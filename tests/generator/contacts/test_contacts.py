"""Contacts: closed forms, redundant rows, flexible links, single precision, every argument wrong once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elastogen

BALL = {
    "elastogen": 1,
    "name": "ball",
    "links": [{"name": "world"}, {"name": "ball", "mass": 2.0, "inertia": [0.03, 0.03, 0.03]}],
    "joints": [{"name": "free", "type": "floating", "child": "ball"}],
    "points": [
        {"name": "low", "link": "ball", "xyz": [0.0, 0.0, -0.1]},
        {"name": "side", "link": "ball", "xyz": [0.1, 0.0, 0.0]},
    ],
}


@pytest.fixture(scope="module")
def ball() -> Any:
    return elastogen.build_model(BALL, contacts=["low", "side", {"frame": "ball", "rows": 6}], cflags="-O0")


def at_rest(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(model.neutral()), np.zeros(6)


def test_a_resting_ball_is_carried(ball: Any) -> None:
    q, still = at_rest(ball)
    qdd, forces = ball.contact_dynamics(q, still, still, [True, False, False])
    np.testing.assert_allclose(qdd, 0, atol=1e-13)
    np.testing.assert_allclose(forces, [[0, 0, 2.0 * 9.81, 0, 0, 0], [0] * 6, [0] * 6], atol=1e-12)


def test_a_ball_falls_where_nothing_touches(ball: Any) -> None:
    q, still = at_rest(ball)
    qdd, forces = ball.contact_dynamics(q, still, still, [0, 0, 0])
    np.testing.assert_allclose(qdd, [0, 0, -9.81, 0, 0, 0], atol=1e-13)
    assert not forces.any()


def test_redundant_contacts_of_one_body_give_the_accelerations_of_the_body_at_rest(ball: Any) -> None:
    q, still = at_rest(ball)
    F = np.array([3.0, -1.0, 2.0, 0.2, 0.1, -0.4])
    qdd, forces = ball.contact_dynamics(q, still, F, [1, 1, 1])  # 12 rows of rank 6
    np.testing.assert_allclose(qdd, 0, atol=1e-12)
    arms = np.array([[0.0, 0.0, -0.1], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    total = F - np.array([0, 0, 2.0 * 9.81, 0, 0, 0])
    total[:3] += forces[:, :3].sum(axis=0)
    total[3:] += forces[:, 3:].sum(axis=0) + np.cross(arms, forces[:, :3]).sum(axis=0)
    np.testing.assert_allclose(total, 0, atol=1e-11)


def test_a_ball_bounces_by_its_restitution(ball: Any) -> None:
    q, _ = at_rest(ball)
    before = np.array([0.7, 0.0, -3.0, 0.0, 0.0, 0.0])
    after, impulses = ball.contact_impulse(q, before, [1, 0, 0], 0.8)
    # the point sticks along the surface: v + P / m = r w and I w = -r P, with m = 2 kg, I = 0.03 kg m^2, r = 0.1 m
    push = -0.7 / (1 / 2.0 + 0.1**2 / 0.03)
    np.testing.assert_allclose(after, [0.7 + push / 2.0, 0, 2.4, 0, -0.1 * push / 0.03, 0], atol=1e-12)
    np.testing.assert_allclose(impulses[0], [push, 0, 2.0 * 5.4, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("rotation", ["exponential", "linear"])
@pytest.mark.parametrize("rows", [3, 6])
def test_flexible_arms_against_a_dense_system(rotation: str, rows: int) -> None:
    flexible = {
        "type": "modes", "length": 0.6, "mass_per_length": 0.4, "EI": 3.0, "rotation": rotation,
        "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "z", "eigenfunction": 1}],
        "tip": {"mass": 0.2},
    }  # fmt: skip
    robot = {
        "elastogen": 1, "name": "bendy",
        "links": [{"name": "base"}, *({"name": f"beam{k}", "flexible": flexible} for k in (1, 2))],
        "joints": [
            {"name": "one", "type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0], "child": "beam1"},
            {"name": "two", "type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0], "parent": "beam1", "child": "beam2"},
        ],
    }  # fmt: skip
    if rotation == "linear":
        flexible.pop("tip")
    outputs = ["contact_dynamics", "mass_matrix", "forward_dynamics", "frame_jacobian", "frame_jacobian_rate"]
    model: Any = elastogen.build_model(
        robot, contacts=[{"frame": "tip", "rows": rows}], frames=["tip"], outputs=outputs, cflags="-O0"
    )
    rng = np.random.default_rng(rows)
    q, qd, F = rng.uniform(-0.4, 0.4, (3, model.nv))
    J, drift = model.frame_jacobian("tip", q)[:rows], (model.frame_jacobian_rate("tip", q, qd) @ qd)[:rows]
    M, free = model.mass_matrix(q), model.forward_dynamics(q, qd, F)
    expected = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((rows, rows))]]), np.concatenate([M @ free, -drift]))
    qdd, forces = model.contact_dynamics(q, qd, F)
    size = np.abs(expected).max()
    np.testing.assert_allclose(qdd, expected[: model.nv], rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(forces[0, :rows], expected[model.nv :], rtol=0, atol=1e-9 * size)


def test_a_point_inside_a_beam_is_a_contact() -> None:
    flexible = {
        "type": "modes", "length": 0.6, "mass_per_length": 0.4, "EI": 3.0,
        "modes": [{"direction": "y", "eigenfunction": k} for k in (1, 2)],
    }  # fmt: skip
    robot = {
        "elastogen": 1, "name": "held", "links": [{"name": "base"}, {"name": "beam", "flexible": flexible}],
        "joints": [{"name": "hub", "type": "revolute", "axis": [0, 0, 1], "child": "beam"}],
        "points": [{"name": "middle", "link": "beam", "xyz": [0.3, 0.0, 0.0]}],
    }  # fmt: skip
    model: Any = elastogen.build_model(robot, contacts=["middle"], cflags="-O0")
    rng = np.random.default_rng(2)
    q, qd, F = rng.uniform(-0.2, 0.2, (3, model.nv))
    J, drift = model.point_jacobians(q)[0, :2], (model.point_jacobian_rates(q, qd)[0, :2]) @ qd
    M, free = model.mass_matrix(q), model.forward_dynamics(q, qd, F)
    expected = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((2, 2))]]), np.concatenate([M @ free, -drift]))
    qdd, forces = model.contact_dynamics(q, qd, F)
    np.testing.assert_allclose(qdd, expected[: model.nv], rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(forces[0, :2], expected[model.nv :], rtol=0, atol=1e-9 * np.abs(expected).max())


def test_single_precision_knows_redundant_rows(ball: Any) -> None:
    single: Any = elastogen.build_model(
        BALL,
        contacts=["low", "side", {"frame": "ball", "rows": 6}],
        outputs=["contact_dynamics"],
        precision="float",
        cflags="-O0",
    )
    q, still = at_rest(ball)
    F = np.array([3.0, -1.0, 2.0, 0.2, 0.1, -0.4])
    qdd, _ = single.contact_dynamics(q, still, F, [1, 1, 1])
    np.testing.assert_allclose(qdd, 0, atol=2e-4)


@pytest.mark.parametrize(
    ("contacts", "said"),
    [
        ("tip", "expected a list"),
        (["tpi"], "did you mean 'tip'"),
        (["tip", "tip"], "twice"),
        ([{"frame": "tip", "rows": 4}], "rows=4, expected 3"),
        ([{"frame": "tip", "rows": True}], "expected 3"),
        ([{"frame": "tip", "norm": 1}], "expected the name of a frame"),
        ([{"frame": 3}], "expected a name"),
        ([{"frame": "tip", "normal": [0, 0, 0]}], "normal="),
        ([{"frame": "tip", "normal": "up"}], "normal="),
        ([3], "expected the name of a frame"),
        (["base"], "a frame that moves"),
    ],
)
def test_wrong_contacts_are_named(contacts: Any, said: str) -> None:
    with pytest.raises(elastogen.OutputError, match=said):
        elastogen.build_model("two_link", contacts=contacts)


def test_wrong_arguments_are_named(ball: Any) -> None:
    q, still = at_rest(ball)
    for active in ([1, 0], [0.5, 0, 0], "low", [[1, 1], [0, 1]], None.__class__, [float("nan"), 0, 0]):
        with pytest.raises(elastogen.ModelError, match="active="):
            ball.contact_dynamics(q, still, still, active)
    for restitution in (-0.1, 1.5, [0.1, 0.2], "half", float("nan")):
        with pytest.raises(elastogen.ModelError, match="restitution="):
            ball.contact_impulse(q, still, [1, 0, 0], restitution)
    plain: Any = elastogen.build_model("two_link", outputs=["forward_dynamics"], cflags="-O0")
    with pytest.raises(elastogen.ModelError, match="has no contacts"):
        plain.contact_dynamics([0, 0], [0, 0], [0, 0])


def test_batches_and_out(ball: Any) -> None:
    q, _ = at_rest(ball)
    rng = np.random.default_rng(0)
    qd, F = rng.uniform(-1, 1, (2, 4, 6))
    masks = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    out = np.empty((4, 6)), np.empty((4, 3, 6))
    given = ball.contact_dynamics(q, qd, F, masks, out=out)
    for k in range(4):
        for each, one in zip(given, ball.contact_dynamics(q, qd[k], F[k], masks[k]), strict=True):
            np.testing.assert_array_equal(each[k], one)
    np.testing.assert_array_equal(given[0], out[0])


def test_a_free_base_without_mass_is_no_fault_of_the_derivation() -> None:
    """No accelerations follow from its mass matrix in any state: calls say so, and the rest is compared."""
    robot = {
        "elastogen": 1, "name": "light_base", "base": "floating", "links": [
            {"name": "base"}, {"name": "arm", "mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]}],
        "joints": [{"name": "hinge", "type": "revolute", "axis": [0, 0, 1], "child": "arm"}],
        "tip": {"link": "arm", "xyz": [0.5, 0, 0]},
    }  # fmt: skip
    model = elastogen.build_model(robot, contacts=["tip"], outputs=["contact_dynamics", "contact_impulse"])
    q, zero = model.neutral(), np.zeros(model.nv)
    with pytest.raises(elastogen.ModelError, match="mass matrix"):
        model.contact_dynamics(q, zero, zero, [1])
