"""Contacts of robots with loops: Gauss' principle and impacts by plain linear algebra, rows that loops hold already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, jacobian, link_poses, null_space, random_mechanism, residuals

import elastogen
from elastogen.generator.functions.derivation import derive_model

CASES: list[tuple[str, int, int, list[str], dict[str, Any]]] = [
    ("planar", 1, 5, ["revolute"], {"planar": True}),
    ("floating, two loops", 9, 5, ["spherical", "distance"], {"base": "floating"}),
    ("quaternions", 10, 5, ["spherical", "universal"], {"kinds": ("spherical", "revolute")}),
]
RESTITUTION = 0.3


def _rates(T: Any) -> Any:
    """Velocities of an origin and of rotation from a pose as a polynomial of time."""
    spin = T.b[:3, :3] @ T.a[:3, :3].T
    return [*T.b[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]


def _accelerations(T: Any) -> Any:
    """Of the origin and of rotation: half the difference of what is beside the diagonal of R'' R^T."""
    turn = 2 * T.c[:3, :3] @ T.a[:3, :3].T
    return [*(2 * T.c[:3, 3]), *(np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2)]


@pytest.mark.parametrize(("seed", "joints", "loops", "how"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_gauss_principle_with_contacts(seed: int, joints: int, loops: list[str], how: dict[str, Any]) -> None:
    file, q = random_mechanism(seed, joints, loops, **how)
    robot = elastogen.load(file)
    frames, n = [joint.child for joint in robot.joints][-2:], len(robot.velocities)
    normals = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]])
    given = [
        {"frame": frame, "rows": rows, "normal": normal.tolist()}
        for frame, rows, normal in zip(frames, (3, 6), normals, strict=True)
    ]
    touching = robot.with_contacts(*given)
    programs = {
        f.name: f.program for f in derive_model(touching, ("contact_dynamics", "contact_impulse", "mass_matrix")).functions
    }
    (function,) = derive_model(replace(robot, loops=()), ("inverse_dynamics",)).functions
    (M,) = programs["mass_matrix"].evaluate({"q": q}).values()
    J, kept = jacobian(robot, q), [0, 1, 2, *range(6, 12)]
    contact = np.array([[x for frame in frames for x in _rates(link_poses(robot, q, v)[frame])] for v in np.eye(n)]).T[kept]
    N, rng = null_space(J), np.random.default_rng(seed)
    for mask in ([True, True], [True, False], [False, False]):
        active = np.repeat(mask, [3, 6])
        F, state = rng.normal(size=n), {"q": q, "active": np.array(mask, float)}
        both = np.vstack([J, contact[active]])
        free = null_space(both)
        qd = free @ rng.normal(size=free.shape[1])
        (bias,) = function.program.evaluate({"q": q, "qd": qd, "qdd": 0 * qd}).values()
        moving = np.array([x for frame in frames for x in _accelerations(link_poses(robot, q, qd)[frame])])[kept]
        expected = gauss(both, np.concatenate([2 * residuals(robot, q, qd).c, moving[active]]), M, F - bias)
        qdd, forces = programs["contact_dynamics"].evaluate({**state, "qd": qd, "F": F}).values()
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(qdd, expected, rtol=0, atol=1e-10 * size)
        forces = forces.reshape(-1)[kept]
        assert not forces[~active].any()
        left = N.T @ (M @ qdd + bias - F - contact.T @ forces)  # no work is left in velocities that keep the loops closed
        assert np.abs(left).max() < 1e-10 * max(size, np.abs(forces).max())
        qd = N @ rng.normal(size=N.shape[1])  # an impact
        after, impulses = (
            programs["contact_impulse"].evaluate({**state, "qd": qd, "restitution": np.full(2, RESTITUTION)}).values()
        )
        impulses = impulses.reshape(-1)[kept]
        np.testing.assert_allclose(J @ after, 0, atol=1e-12)
        np.testing.assert_allclose(N.T @ (M @ (after - qd)), N.T @ (contact.T @ impulses), atol=1e-10)
        if np.linalg.matrix_rank(contact[active] @ N, 1e-8) == active.sum():  # where contacts do not hold each other
            speeds = (contact @ qd).reshape(-1, 3)[:2]
            bounced = [-RESTITUTION * normal * (normal @ v) for normal, v in zip(normals, speeds, strict=True)]
            np.testing.assert_allclose((contact @ after)[active], np.concatenate([*bounced, [0] * 3])[active], atol=1e-10)


def _parallelogram(base: str) -> dict[str, Any]:
    """Two cranks of one length and a coupler that does not rotate; on a tilted frame, so that rows are full of rounding."""
    body = {"mass": 1.3, "com": [0.1, 0.02, 0], "inertia": [0.01, 0.02, 0.03]}
    hinge = {"type": "revolute", "driven": False}
    tilt = {"xyz": [0, 0, 0.1], "rpy": [0.3, -0.5, 0.7]}
    return {
        "elastogen": 1,
        "name": "parallelogram",
        "base": base,
        "links": [{"name": "frame", **body}, *({"name": name, **body} for name in ("plate", "crank", "coupler", "rocker"))],
        "joints": [
            {"name": "mount", "type": "fixed", "parent": "frame", "child": "plate", "placement": tilt},
            {"name": "drive", "type": "revolute", "parent": "plate", "child": "crank"},
            {"name": "elbow", "child": "coupler", "placement": {"xyz": [0.3, 0, 0]}, **hinge},
            {"name": "pivot", "parent": "plate", "child": "rocker", "placement": {"xyz": [0.5, 0, 0]}, **hinge},
        ],
        "loops": [
            {"name": "pin", "type": "revolute", "a": {"link": "coupler", "xyz": [0.5, 0, 0]},
             "b": {"link": "rocker", "xyz": [0.3, 0, 0]}},
        ],
    }  # fmt: skip


def test_rotations_that_the_loop_holds_carry_nothing() -> None:
    """A flat contact on a coupler that does not rotate: its rows of rotation are zero but for rounding."""
    model: Any = elastogen.build_model(
        _parallelogram("fixed"), outputs=["contact_dynamics", "loop_residual", "loop_jacobian"], cflags="-O0",
        contacts=[{"frame": "coupler", "rows": 6}],
    )  # fmt: skip
    q = model.close_loops([0.7, -0.7, 0.7])
    np.testing.assert_allclose(q, [0.7, -0.7, 0.7], atol=1e-12)
    qdd, forces = model.contact_dynamics(q, np.zeros(3), [2.0, 0, 0])
    np.testing.assert_allclose(qdd, 0, atol=1e-12)
    assert np.abs(forces).max() < 100
    free, none = model.contact_dynamics(q, np.zeros(3), [2.0, 0, 0], [False])
    assert np.abs(free).max() > 1
    assert not none.any()


def test_contacts_carry_a_floating_mechanism() -> None:
    """Three feet: forces of the drives and of the feet give the motion back, and nothing pushes base or passive joints."""
    file = _parallelogram("floating")
    model: Any = elastogen.build_model(
        file, outputs=["contact_inverse_dynamics", "contact_dynamics", "loop_residual", "loop_jacobian", "integrate"],
        contacts=["crank", "coupler", {"frame": "frame", "rows": 3}], cflags="-O0",
    )  # fmt: skip
    q = model.neutral()
    q[-3:] = model.close_loops(q)[-3:]
    q = model.close_loops(np.append(q[:7], [0.7, -0.7, 0.7]))
    still = np.zeros(model.nv)
    F, forces = model.contact_inverse_dynamics(q, still, still)
    assert not np.any(np.asarray(F)[[k for k in range(model.nv) if k != 6]])
    np.testing.assert_allclose(forces[:, :3].sum(axis=0), [0, 0, 5 * 1.3 * 9.81], atol=1e-9)
    qdd, _ = model.contact_dynamics(q, still, F)
    np.testing.assert_allclose(qdd, 0, atol=1e-9)
    with pytest.raises(elastogen.ModelError, match="cannot carry the base"):  # two points do not hold a body
        model.contact_inverse_dynamics(q, still, still, [True, True, False])
