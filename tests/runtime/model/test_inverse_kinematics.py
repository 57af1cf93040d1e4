"""Inverse kinematics: residuals by Pinocchio's kinematics, limits, postures, several frames, free bases, wrong arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robots_for_tests import example_urdf

import elastogen

pin = pytest.importorskip("pinocchio")

HAND, ELBOW = "panda_hand", "panda_link4"


def built(path: Any, frames: list[str], base: str = "fixed", **options: Any) -> elastogen.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(path, base=base)  # type: ignore[arg-type]
    return elastogen.build_model(robot, frames=frames, outputs=["inverse_kinematics", "frame_pose"], **options)


@pytest.fixture(scope="module")
def panda() -> elastogen.Model:
    """Seven joints and a finger."""
    return built(example_urdf("panda"), [HAND, ELBOW])


@pytest.fixture(scope="module")
def kinematics() -> Callable[..., Any]:
    """Poses and Jacobians of a frame of the Panda by Pinocchio; its second finger follows the first."""
    model = pin.buildModelFromUrdf(str(example_urdf("panda")))
    data = model.createData()

    def at(frame: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        full = np.concatenate([q, q[-1:]])
        index = model.getFrameId(frame)
        pin.framesForwardKinematics(model, data, full)
        J = pin.computeFrameJacobian(model, data, full, index, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        return data.oMf[index].translation.copy(), data.oMf[index].rotation.copy(), J[:, :7]

    return at


def targets(panda: elastogen.Model, count: int) -> tuple[np.ndarray, ...]:
    """Configurations inside the limits, poses of the hand there, and starts nearby."""
    lower, upper = panda.position_limits
    q = panda.random_configuration(3, (count,))
    near = np.clip(q + np.random.default_rng(5).normal(scale=0.2, size=q.shape), lower, upper)
    return q, near, *panda.frame_pose(HAND, q)


def test_residuals_and_limits(panda: elastogen.Model, kinematics: Callable[..., Any]) -> None:
    _, near, position, rotation = targets(panda, 200)
    found = panda.inverse_kinematics(HAND, position, rotation, q0=near)
    assert found.q.shape == (200, 8)
    assert found.converged.mean() >= 0.98
    assert found.iterations[found.converged].max() <= 60
    lower, upper = panda.position_limits
    assert (lower <= found.q).all()
    assert (found.q <= upper).all()
    for k in np.flatnonzero(found.converged):
        r, R, _ = kinematics(HAND, found.q[k])
        assert np.linalg.norm(r - position[k]) <= 1.001e-6
        assert pin.log3(R.T @ rotation[k]) == pytest.approx(np.zeros(3), abs=1.001e-6)
        assert found.position_error[k] == pytest.approx(np.linalg.norm(r - position[k]), abs=1e-12)


def test_what_is_free_may_have_no_tolerance(panda: elastogen.Model) -> None:
    """An error of 0 is not above a tolerance of 0."""
    _, near, position, rotation = targets(panda, 5)
    for given in ({"position": position, "tolerance": (1e-6, 0.0)}, {"rotation": rotation, "tolerance": (0.0, 1e-6)}):
        assert panda.inverse_kinematics(HAND, q0=near, **given).converged.all()


def test_several_attempts_find_more(panda: elastogen.Model) -> None:
    _, _, position, rotation = targets(panda, 60)
    once = panda.inverse_kinematics(HAND, position, rotation)
    often = panda.inverse_kinematics(HAND, position, rotation, attempts=20)
    assert once.converged.mean() < often.converged.mean()
    assert often.converged.mean() >= 0.95
    np.testing.assert_array_equal(often.q[once.converged], once.q[once.converged])
    again = panda.inverse_kinematics(HAND, position, rotation, attempts=20)
    np.testing.assert_array_equal(often.q, again.q)


def test_the_posture_is_attained_in_the_null_space(panda: elastogen.Model, kinematics: Callable[..., Any]) -> None:
    """The way that is left to the posture has no part that leaves the hand where it is."""
    _, near, position, rotation = targets(panda, 20)
    posture = 0.5 * np.sum(panda.position_limits, axis=0)
    found = panda.inverse_kinematics(HAND, position, rotation, q0=near, posture=posture, iterations=500, tolerance=1e-9)
    plain = panda.inverse_kinematics(HAND, position, rotation, q0=near)
    lower, upper = panda.position_limits
    inside = ((found.q > lower) & (found.q < upper))[:, :7].all(axis=1) & found.converged
    assert inside.sum() >= 10
    for k in np.flatnonzero(inside):
        J = kinematics(HAND, found.q[k])[2]
        free = np.linalg.svd(J)[2][6]
        assert abs(free @ (posture - found.q[k])[:7]) <= 1e-7
        assert found.q[k, 7] == pytest.approx(posture[7], abs=1e-8)  # the finger does not move the hand at all
    both = inside & plain.converged
    distance, other = (np.linalg.norm((each.q - posture)[both], axis=1) for each in (found, plain))
    assert distance.mean() < other.mean()


def test_position_only_and_rotation_only(panda: elastogen.Model, kinematics: Callable[..., Any]) -> None:
    _, near, position, rotation = targets(panda, 3)
    found = panda.inverse_kinematics(HAND, position, q0=near)
    assert found.converged.all()
    assert (found.rotation_error == 0).all()
    assert np.linalg.norm(kinematics(HAND, found.q[0])[0] - position[0]) <= 1.001e-6
    found = panda.inverse_kinematics(HAND, rotation=rotation[1], q0=near[1])
    assert found.converged
    assert np.abs(kinematics(HAND, found.q)[1] - rotation[1]).max() <= 1.5e-6


def test_out_of_reach(panda: elastogen.Model, kinematics: Callable[..., Any]) -> None:
    """The nearest place: the way to the target is at right angles to all that the joints can do."""
    target = np.array([2.0, 0.5, 1.0])
    found = panda.inverse_kinematics(HAND, target, iterations=300)
    assert not found.converged
    r, _, J = kinematics(HAND, found.q)
    assert found.position_error == pytest.approx(np.linalg.norm(target - r), rel=1e-12)
    lower, upper = panda.position_limits
    inside = ((found.q > lower + 1e-9) & (found.q < upper - 1e-9))[:7]
    assert np.abs(J[:3, inside].T @ (target - r)).max() <= 2e-2 * np.linalg.norm(target - r)


def test_given_limits(panda: elastogen.Model) -> None:
    q, _, position, _ = targets(panda, 30)
    lower, upper = q.mean(axis=0) - 0.3, q.mean(axis=0) + 0.3
    found = panda.inverse_kinematics(HAND, position, q0=q, limits=(lower, upper))
    assert (lower <= found.q).all()
    assert (found.q <= upper).all()


def test_half_a_turn(panda: elastogen.Model) -> None:
    """A turn by half is the hardest of all rotations: its axis is in no skew part."""
    q, _, _, rotation = targets(panda, 12)
    for axis in np.eye(3):
        rotated = (2 * np.outer(axis, axis) - np.eye(3)) @ rotation
        found = panda.inverse_kinematics(HAND, rotation=rotated, q0=q, attempts=5)
        assert found.converged.mean() >= 0.9


def test_two_frames_of_a_free_quadruped() -> None:
    """Body and two feet at once, on the manifold of the floating base."""
    path, frames = example_urdf("solo12"), ["base_link", "FL_FOOT", "HR_FOOT"]
    model = built(path, frames, base="floating")
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, rng = theirs.createData(), np.random.default_rng(7)
    for seed in range(5):
        q = model.random_configuration(seed)
        q[7:] = rng.uniform(-0.8, 0.8, 12)
        position, rotation = model.frame_pose(frames, q)
        start = model.integrate(q, rng.normal(scale=0.3, size=18))
        feet = model.inverse_kinematics(frames, position, q0=start, rotation=None)
        assert feet.converged
        found = model.inverse_kinematics(frames, position, rotation, q0=start, attempts=3)
        assert found.converged
        assert np.linalg.norm(found.q[3:7]) == pytest.approx(1, abs=1e-14)
        joints = [theirs.joints[theirs.getJointId(name)].idx_q for name in model.coordinate_names[7:]]
        full = pin.neutral(theirs)
        full[:7], full[joints] = found.q[:7], found.q[7:]
        pin.framesForwardKinematics(theirs, data, full)
        for k, frame in enumerate(frames):
            assert np.linalg.norm(data.oMf[theirs.getFrameId(frame)].translation - position[k]) <= 1.1e-6


def test_flexible_and_sliding_robots_in_single_precision() -> None:
    """Elastic coordinates stay; a slide keeps on its beam."""
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    rod = {"joint": "Pa", "gamma": 0.7, "length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
    robot = elastogen.load({"elastogen": 1, "name": "slider", "planar": {"links": [beam, rod], "gravity": [0, 0]}})
    model = elastogen.build_model(
        robot, frames=["tip"], outputs=["inverse_kinematics", "frame_pose"], precision="float"
    )  # fmt: skip
    bent = np.array([0.4, 0.01, 0.02, 0.03, -0.02, 0.55], dtype=np.float32)
    position, _ = model.frame_pose("tip", bent)
    start = bent + np.array([0.3, 0, 0, 0, 0, -0.2], dtype=np.float32)
    found = model.inverse_kinematics("tip", position, q0=start)
    assert found.converged
    assert found.q.dtype == np.float32
    np.testing.assert_array_equal(found.q[1:5], start[1:5])
    assert np.linalg.norm(model.frame_pose("tip", found.q)[0] - position) <= 1.1e-4
    far = model.inverse_kinematics("tip", [5.0, 0, 0], q0=start)
    assert not far.converged
    assert 0 <= far.q[5] <= np.float32(0.8)
    lower, upper = np.full(6, -10.0), np.full(6, 10.0)
    far = model.inverse_kinematics("tip", [5.0, 0, 0], q0=start, limits=(lower, upper))
    assert 0 <= far.q[5] <= np.float32(0.8)


def test_live_parameters_and_batches_of_any_size() -> None:
    """A search for each length of the upper arm, by its closed form; no target gives no result."""
    robot = elastogen.load("two_link", live=["l1"])
    model = elastogen.build_model(robot, frames=["lower", "tip"], outputs="inverse_kinematics")
    length = np.linspace(0.8, 1.2, 5)
    found = model.inverse_kinematics("tip", [1.2, 0.7, 0], q0=[0.4, 0.9], parameters={"l1": length})
    assert isinstance(found, elastogen.InverseKinematics)
    assert found.converged.all()
    total = found.q.sum(axis=1)
    x, y = length * np.cos(found.q[:, 0]) + np.cos(total), length * np.sin(found.q[:, 0]) + np.sin(total)
    assert np.hypot(x - 1.2, y - 0.7).max() <= 1.001e-6
    assert model.inverse_kinematics(["tip"], np.zeros((0, 1, 3))).q.shape == (0, 2)
    assert model.inverse_kinematics("tip", np.ones((3, 1, 3)), q0=np.ones((4, 2))).converged.shape == (3, 4)


def test_redundant_errors_of_a_large_arm() -> None:
    """Six errors of two joints on links of 90 m: J J^T is singular beyond rounding of its damping."""
    links = [{"name": "base"}, *({"name": name, "mass": 1.0, "inertia": [1, 1, 1]} for name in ("one", "two"))]
    joints = [{"name": "a", "type": "revolute"}, {"name": "b", "type": "revolute", "placement": {"xyz": [90.0, 0, 0]}}]
    robot = elastogen.load({
        "elastogen": 1, "name": "crane", "links": links, "joints": joints,
        "tip": {"link": "two", "xyz": [90.0, 0, 0]},
    })  # fmt: skip
    model = elastogen.build_model(robot, frames=["tip"], outputs=["inverse_kinematics", "frame_pose"])
    rng = np.random.default_rng(9)
    q = rng.uniform(-1, 1, (200, 2))
    position, rotation = model.frame_pose("tip", q)
    start = q + rng.normal(scale=0.2, size=q.shape)
    for damping in (0.0, 0.1):
        found = model.inverse_kinematics("tip", position, rotation, q0=start, damping=damping)  # fails at no item
        assert found.converged.mean() >= 0.9  # the others fold the elbow to the other side
        np.testing.assert_allclose(found.q[found.converged], q[found.converged], atol=1e-6)


WRONG = {
    "no target": ({}, "got no target"),
    "shape": ({"position": [1, 2]}, r"expected finite real numbers of shape \(\.\.\., 3\)"),
    "nan": ({"position": [np.nan, 0, 0]}, "NaN or infinity"),
    "words": ({"position": ["a", "b", "c"]}, "finite real numbers"),
    "ragged": ({"position": [[0, 0], [1]]}, "finite real numbers"),
    "no rotation": ({"rotation": 2 * np.eye(3)}, "not a rotation matrix"),
    "mirror": ({"rotation": -np.eye(3)}, "not a rotation matrix"),
    "start": ({"position": [0, 0, 0], "q0": [0.0]}, "q0 has shape"),
    "posture": ({"position": [0, 0, 0], "posture": np.full(8, np.inf)}, "posture has NaN"),
    "iterations": ({"position": [0, 0, 0], "iterations": 0}, "iterations=0"),
    "attempts": ({"position": [0, 0, 0], "attempts": 1.5}, "attempts=1.5"),
    "damping": ({"position": [0, 0, 0], "damping": -1}, "damping=-1"),
    "tolerance": ({"position": [0, 0, 0], "tolerance": (1, 2, 3)}, "one number or two"),
    "gain": ({"position": [0, 0, 0], "posture": np.zeros(8), "posture_gain": 2}, "posture_gain=2"),
    "step": ({"position": [0, 0, 0], "longest_step": 0}, "longest_step=0"),
    "weights": ({"position": [0, 0, 0], "weights": (-1, 1)}, "not negative"),
    "no weight": ({"position": [0, 0, 0], "weights": (0, 1)}, "not negative"),
    "limits": ({"position": [0, 0, 0], "limits": ([0], [1])}, "lower at most upper"),
    "rng": ({"position": [0, 0, 0], "rng": -1}, "a generator or a seed"),
    "batches": ({"position": np.zeros((2, 3)), "q0": np.zeros((3, 8))}, "do not broadcast"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case: str, panda: elastogen.Model) -> None:
    given, message = WRONG[case]
    with pytest.raises(elastogen.ModelError, match=message):
        panda.inverse_kinematics(HAND, **given)
