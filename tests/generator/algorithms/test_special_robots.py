"""Robots with simple answers: a pendulum, slides only, a tip on the base, a massless hand."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from function_groups import PHYSICS
from robots_for_tests import Programs, pose, quietly_loaded, random_body, random_robot, random_states, relative_error

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_model, output_names
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import finite_arithmetic
from elastogen.generator.robot.robot import IDENTITY, Actuation, Body, Joint, Link, Robot


def test_a_single_joint_is_a_physical_pendulum() -> None:
    body = Body(2.0, (0.5, 0, 0), ((0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)))
    joint = Joint("pin", kinds.CONTINUOUS, "base", "bob", actuation=Actuation(1e-4, 100, 0.7, 0.4, 0.1))
    robot = Programs(Robot("pendulum", (Link("base"), Link("bob", body)), (joint,), (0, -10.0, 0), "bob"), PHYSICS)
    q, qd, qdd, inertia = 0.3, 1.1, -0.4, 0.3 + 2.0 * 0.25 + 1.0
    state = {"q": np.array([q]), "qd": np.array([qd]), "qdd": np.array([qdd])}
    gravity = 2.0 * 10.0 * 0.5 * np.cos(q)
    force = inertia * qdd + gravity + 0.7 * qd + 0.4 * np.tanh(qd / 0.1)
    expected: dict[str, Any] = {
        "mass_matrix": [[inertia]], "coriolis_matrix": [[0.0]], "coriolis_vector": [0.0], "gravity_vector": [gravity],
        "kinetic_energy": 0.5 * inertia * qd**2, "potential_energy": 2.0 * 10.0 * 0.5 * np.sin(q),
        "inverse_dynamics": [force], "damping_matrix": [[0.7]],
    }  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_allclose(robot(name, **state), value, rtol=1e-14, atol=1e-15, err_msg=name)
    np.testing.assert_allclose(robot("forward_dynamics", F=np.array([force]), **state), [qdd], rtol=1e-13)


def test_slides_only_make_a_robot_without_coriolis_forces() -> None:
    """Masses add up along the chain; nothing depends on the state."""
    chain = random_robot(420, 3, types=(kinds.PRISMATIC,), fixed=0.0, branching=0.0, payload=False)
    robot = Programs(chain, ("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "forward_kinematics"))
    state = random_states(chain, 420, 1)
    T = [np.eye(4), *robot("forward_kinematics", q=state["q"])[0]]
    axes = []
    for joint, frame in zip(chain.joints, T[1:4], strict=True):
        seat = frame[:3, :3] @ np.array(joint.after, dtype=float)[:3, :3].T
        axes.append(seat @ np.array(joint.axis))
    carried = np.cumsum([float(link.body.mass) for link in chain.links[:0:-1]])[::-1]
    M = [[carried[max(i, j)] * axes[i] @ axes[j] for j in range(3)] for i in range(3)]
    assert relative_error(robot("mass_matrix", **state)[0], M) < 1e-13
    weights = [-m * axis @ np.array(chain.gravity) for m, axis in zip(carried, axes, strict=True)]
    assert relative_error(robot("gravity_vector", **state)[0], weights) < 1e-13
    for name in ("coriolis_matrix", "coriolis_vector"):
        assert not robot(name, **state).any()
        assert robot.program[name].count.total == 0


def test_a_tip_on_the_base_never_moves() -> None:
    """The tip's link hangs on the base by a fixed joint, beside the moving arm; a payload there changes nothing."""
    arm = random_robot(430, 2, fixed=0.0, branching=0.0, payload=False)
    stand = Joint("stand", kinds.FIXED, "base", "shelf", before=pose(np.eye(3), (0.3, 0.1, 0.2)))
    robot = replace(arm, links=(*arm.links, Link("shelf", random_body(np.random.default_rng(1)))), joints=(*arm.joints, stand))
    robot = replace(robot, tip="shelf", tool=IDENTITY, payload=Body(5.0, (0.1, 0.2, 0.3)))
    names = ("jacobian", "jacobian_tip", "jacobian_rate", "payload_forces", "frame_velocities", "frame_accelerations",
             "forward_kinematics", "inverse_dynamics", "potential_energy")  # fmt: skip
    programs, bare = Programs(robot, names), Programs(arm, ["inverse_dynamics", "potential_energy"])
    state = {**random_states(robot, 430), "wrench": np.ones((3, 6))}
    for name in ("jacobian", "jacobian_tip", "jacobian_rate", "payload_forces"):
        assert not programs(name, **state).any(), name
    for name in ("frame_velocities", "frame_accelerations"):
        assert not programs(name, **state)[:, -2:].any(), name
        assert programs(name, **state)[:, 1].any(), name
    np.testing.assert_array_equal(programs("forward_kinematics", **state)[:, -1, :3, 3], [[0.3, 0.1, 0.2]] * 3)
    for name in ("inverse_dynamics", "potential_energy"):
        assert relative_error(programs(name, **state), bare(name, **state)) < 1e-14, name


def massless_hand(live: Sequence[str] = ()) -> Robot:
    """A robot whose last link has no mass: M is singular without a payload."""
    arm = random_robot(440, 2, types=(kinds.REVOLUTE,), fixed=0.0, branching=0.0, payload=False)
    base, link, hand = arm.links
    return quietly_loaded(replace(arm, tip=hand.name, links=(base, link, Link(hand.name))), live=live)


def test_numbers_that_arithmetic_fails_on_name_robot_and_function(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Robot("arm", (Link("base"), Link("bob")), (Joint("pin", kinds.CONTINUOUS, "base", "bob"),), (0, 0, -9.81), "bob")
    everywhere = replace(CATALOGUE["center_of_mass"], applies=lambda robot: True)
    monkeypatch.setitem(CATALOGUE, "center_of_mass", everywhere)
    with pytest.raises(elastogen.RobotError, match=r"arm: center_of_mass: got 'division by the constant 0.*and for sizes"):
        derive_model(bare, ("center_of_mass",))
    for problem in (OverflowError("too large"), np.linalg.LinAlgError("Singular matrix")):
        with pytest.raises(elastogen.RobotError, match=f"file.yaml: got '{problem}'"), finite_arithmetic("file.yaml", ""):
            raise problem
    with pytest.raises(KeyError), finite_arithmetic("file.yaml", ""):  # a fault of ours stays one
        raise KeyError


def test_without_mass_there_is_no_centre_of_it() -> None:
    heavy, bare = (Robot("arm", (Link("base", Body(3.0)), Link("bob", body)), (Joint("pin", kinds.CONTINUOUS, "base", "bob"),),
                         (0, 0, -9.81), "bob") for body in (Body(2.0, (0.5, 0, 0)), Body()))  # fmt: skip
    for name in ("center_of_mass", "center_of_mass_jacobian", "centroidal_momentum"):
        assert name in output_names("all", heavy)
        assert name not in output_names("all", bare)
        with pytest.raises(elastogen.OutputError, match=f"{name} does not exist for arm: only for robots that move mass"):
            output_names((name,), bare)
    loaded = Programs(quietly_loaded(bare, live=("payload",)), ("center_of_mass",))  # its mass may be anything later
    place = loaded("center_of_mass", {"payload_mass": 2.0, "payload_com_x": 0.25}, q=np.array([0.5]))
    assert relative_error(place, [0.25 * np.cos(0.5), 0.25 * np.sin(0.5), 0]) < 1e-15


@pytest.mark.parametrize("live", [(), ("payload",)], ids=["constant", "live payload"])
def test_a_singular_mass_matrix_is_reported(live: tuple[str, ...]) -> None:
    names = ("mass_matrix", "forward_dynamics", "mass_matrix_solve", "forward_dynamics_derivatives")
    robot = massless_hand(live)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = elastogen.build_model(robot, outputs=names)
    q, rates = np.array([0.3, 0.4]), np.zeros(2)
    assert np.linalg.matrix_rank(model.mass_matrix(q)) == 1
    with pytest.raises(elastogen.ModelError, match=r"a link without inertia: M\[1\]\[1\] = 0, what joint2 moves"):
        model.forward_dynamics(q, rates, rates)
    with pytest.raises(elastogen.ModelError, match="positive definite"):
        model.mass_matrix_solve(q, rates)
    with pytest.raises(elastogen.ModelError, match="positive definite"):
        model.forward_dynamics_derivatives(q, rates, rates)
    assert np.isnan(model.forward_dynamics(q, rates, rates, on_failure="nan")).all()
    if live:
        heavy = {"payload_mass": 1.0, "payload_com_x": 0.2, "payload_inertia_xx": 0.1, "payload_inertia_yy": 0.1,
                 "payload_inertia_zz": 0.1}  # fmt: skip
        M = model.mass_matrix(q, parameters=heavy)
        x = model.mass_matrix_solve(q, [1.0, 2.0], parameters=heavy)
        np.testing.assert_allclose(x, np.linalg.solve(M, [1.0, 2.0]), rtol=1e-12)
