"""Robots whose names begin as the sample robot's: nothing is renamed twice, nothing is left."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.files.trajectory import write_trajectory
from elastogen.runtime import Trajectory


@pytest.mark.parametrize("name", ["robot", "robot_arm", "arm_robot"])
def test_a_robot_called_robot_is_simulated(name: str, cache_dir: Path) -> None:
    two_link = elastogen.load("two_link")
    robot = dataclasses.replace(two_link, name=name)
    outputs = ["simulation", "frame_pose_and_jacobian"]
    options = {"outputs": outputs, "frames": [two_link.links[-1].name], "cache_dir": cache_dir}
    model, expected = elastogen.build_model(robot, **options), elastogen.build_model(two_link, **options)
    state = np.array([0.3, -0.2])
    for method in ("rk4", "generalized_alpha", "tsit5"):
        moved = model.simulate(state, t=0.05, method=method, samples=3)
        assert np.array_equal(moved.q, expected.simulate(state, t=0.05, method=method, samples=3).q)


def test_a_trajectory_called_robot(tmp_path: Path) -> None:
    path = Trajectory(np.array([0.0, 1.0]), np.array([[[0.0, 1.0]]]))
    texts = [write_trajectory(path, tmp_path / name, name, brief="of robot_arm") for name in ("robot", "robot_arm")]
    first, second = ([file.read_text(encoding="ascii") for file in files] for files in texts)
    assert all("of robot_arm\n" in text for text in (*first, *second))
    assert [text.replace("robot_arm_trajectory", "robot_trajectory") for text in second] == [
        text.replace("ROBOT_TRAJ", "ROBOT_ARM_TRAJ") for text in first
    ]
