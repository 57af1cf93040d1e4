"""Axes that are parallel up to a small tilt: rounding errors stay rounding errors, whatever the tilt."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import elastogen
from elastogen.generator.functions.derivation import derive_model

pinocchio = pytest.importorskip("pinocchio")
TILTS = [10.0**k for k in range(-12, -1)]


def tilted(seed: int, tilt: float, leg: bool, *, by_axis: bool = False) -> tuple[dict[str, Any], Any]:
    """Three revolute joints in a row, nearly parallel, or a nearly parallel pair behind a perpendicular axis; in Pinocchio."""
    rng = np.random.default_rng(seed)
    model = pinocchio.Model()
    links: list[dict[str, Any]] = [{"name": "base"}]
    joints: list[dict[str, Any]] = []
    for number in range(1, 4):
        direction = rng.uniform(0, 2 * np.pi)
        turn = Rotation.from_rotvec(tilt * rng.uniform(1, 5) * np.array([np.cos(direction), np.sin(direction), 0]))
        turn = turn * Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)])
        if leg and number == 2:
            turn = Rotation.from_euler("x", np.pi / 2)
        axis, xyz = np.array([0.0, 0.0, 1.0]), rng.uniform(-0.4, 0.4, 3)
        if by_axis:
            axis, turn = turn.apply(axis), Rotation.identity()
        rpy = turn.as_euler("xyz")
        joint = {"name": f"j{number}", "type": "revolute", "placement": {"xyz": xyz.tolist(), "rpy": rpy.tolist()}}
        joints.append(joint | {"axis": axis.tolist()})
        motion = pinocchio.JointModelRevoluteUnaligned(axis)
        place = pinocchio.SE3(Rotation.from_euler("xyz", rpy).as_matrix(), xyz)
        model.addJoint(number - 1, motion, place, f"j{number}")
        points = rng.normal(size=(6, 3)) * 0.1
        tensor = sum(float(p @ p) * np.eye(3) - np.outer(p, p) for p in points)
        mass, com = float(rng.uniform(0.5, 2)), rng.uniform(-0.2, 0.2, 3)
        links.append({"name": f"l{number}", "mass": mass, "com": com.tolist(), "inertia": tensor.tolist()})
        model.appendBodyToJoint(number, pinocchio.Inertia(mass, com, tensor), pinocchio.SE3.Identity())
    model.gravity.linear = np.array([0.5, -1.0, -9.0])
    return {"elastogen": 1, "name": "tilted", "gravity": [0.5, -1.0, -9.0], "links": links, "joints": joints}, model


def worst_error(file: dict[str, Any], model: Any, **options: Any) -> float:
    """Of M, inverse and forward dynamics, relative to the largest entry of each."""
    derived = derive_model(elastogen.load(file, **options), ["mass_matrix", "inverse_dynamics", "forward_dynamics"])
    q, qd, x = np.random.default_rng(1).normal(size=(3, 3))
    data, errors = model.createData(), []
    M = pinocchio.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    expected = {"mass_matrix": M, "inverse_dynamics": pinocchio.rnea(model, data, q, qd, x),
                "forward_dynamics": pinocchio.aba(model, data, q, qd, x)}  # fmt: skip
    for function in derived.functions:
        (found,) = function.program.evaluate({"q": q, "qd": qd, "qdd": x, "F": x}).values()
        errors.append(np.abs(found - expected[function.name]).max() / np.abs(expected[function.name]).max())
    return float(max(errors))


@pytest.mark.parametrize(("leg", "by_axis"), [(False, False), (False, True), (True, False)], ids=["row", "axes", "leg"])
def test_any_tilt_agrees_with_pinocchio(leg, by_axis):
    for k, tilt in enumerate(TILTS):
        file, model = tilted(100 + k, tilt, leg, by_axis=by_axis)
        assert worst_error(file, model, snap=False) < 2e-12, tilt
        assert worst_error(file, model) < 1e-9, tilt  # a file's numbers within 1e-11 of 0 and 1 are taken as such


@pytest.mark.parametrize("tilt", [1e-11, 2e-11, 5e-11])
def test_a_tilt_at_the_edge_of_snapping_keeps_rotations_rotations(tilt):
    """Entry by entry, one component of such a tilt vanished and the other stayed."""
    for seed in range(4):
        file, model = tilted(seed, tilt, leg=False)
        robot = elastogen.load(file)
        for joint in robot.joints:
            R = np.array([row[:3] for row in joint.before[:3]], dtype=float)
            assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
            assert abs(np.linalg.norm(np.array(joint.axis, dtype=float)) - 1) < 1e-15
        assert worst_error(file, model) < 1e-9


@pytest.mark.parametrize("angle", [1e-6, 4e-6])
def test_small_angles_are_no_right_angles(angle):
    """The cosine of 4e-6 is 1 but for 8e-12: taken as 1, beside a sine that stays, it makes no rotation."""
    joint = {"name": "j", "type": "revolute", "placement": {"rpy": [angle, 0, 0]}, "axis": [0, np.sin(angle), np.cos(angle)]}
    links = [{"name": "base"}, {"name": "l", "mass": 1, "inertia": [1, 1, 1]}]
    (loaded,) = elastogen.load({"elastogen": 1, "name": "r", "links": links, "joints": [joint]}).joints
    R = np.array([row[:3] for row in loaded.before[:3]], dtype=float)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert abs(np.linalg.norm(np.array(loaded.axis, dtype=float)) - 1) < 1e-15
