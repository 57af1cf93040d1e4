"""Kinematics of a Robot by plain matrix products: the independent check of what loading a robot produced."""

import numpy as np
from scipy.spatial.transform import Rotation

from elastogen.generator.joints import kinds
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Robot


def numeric(robot, matrix, values=None):
    """A matrix (or vector) of scalars as floats; ``values`` replace the nominal values of parameters."""
    parameters = dict(robot.parameters)
    for name, value in (values or {}).items():
        parameters[name] = type(parameters[name])(name, value)
    return np.vectorize(lambda entry: nominal(entry, parameters), otypes=[float])(np.array(matrix, dtype=object))


def frames(robot: Robot, q, values=None) -> dict[str, np.ndarray]:
    """All link frames in the base frame; ``q`` by joint name. The tip frame is called ``<tip>``."""
    placed = {robot.links[0].name: np.eye(4)}
    for joint in robot.joints:
        motion = np.eye(4)
        axis = numeric(robot, joint.axis, values)
        if joint.type.rotating:
            motion[:3, :3] = Rotation.from_rotvec(axis * q[joint.name]).as_matrix()
        elif joint.type is kinds.PRISMATIC:
            motion[:3, 3] = axis * q[joint.name]
        before, after = numeric(robot, joint.before, values), numeric(robot, joint.after, values)
        placed[joint.child] = placed[joint.parent] @ before @ motion @ after
    placed["<tip>"] = placed[robot.tip] @ numeric(robot, robot.tool, values)
    return placed


def mass_matrix(robot: Robot, q: dict[str, float]) -> np.ndarray:
    """Sum over the links of m Jv^T Jv + Jw^T I Jw, with geometric Jacobians."""
    placed = frames(robot, q)
    moving = list(robot.moving_joints)
    parent_joint = {joint.child: joint for joint in robot.joints}
    total = np.zeros((len(moving), len(moving)))
    for link in robot.links:
        frame = placed[link.name]
        centre = frame[:3, 3] + frame[:3, :3] @ numeric(robot, link.body.com)
        linear, angular = np.zeros((3, len(moving))), np.zeros((3, len(moving)))
        name = link.name
        while name in parent_joint:
            joint = parent_joint[name]
            name = joint.parent
            if joint.type is kinds.FIXED:
                continue
            seat = placed[joint.parent] @ numeric(robot, joint.before)
            axis = seat[:3, :3] @ numeric(robot, joint.axis)
            i = moving.index(joint)
            if joint.type is kinds.PRISMATIC:
                linear[:, i] = axis
            else:
                linear[:, i] = np.cross(axis, centre - seat[:3, 3])
                angular[:, i] = axis
        inertia = frame[:3, :3] @ numeric(robot, link.body.inertia) @ frame[:3, :3].T
        total += float(numeric(robot, link.body.mass)) * linear.T @ linear + angular.T @ inertia @ angular
    return total
