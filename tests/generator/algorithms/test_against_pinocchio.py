"""Every rigid function against Pinocchio, an independent implementation: published robots and random trees, 1e-10.

Random trees are built by Pinocchio's API from the robot's data; URDFs are read by Pinocchio's own parser. Errors are
relative to the largest entry of the quantity.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from robots_for_tests import (
    DATA,
    PinocchioRobot,
    Programs,
    example_urdf,
    in_pinocchio,
    puma560_from_table,
    quietly_loaded,
    random_robot,
    random_states,
    relative_error,
    urdf_in_pinocchio,
)

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.robot.robot import Robot

pin: Any = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'elastogen[test]'")

TOLERANCE = 1e-10
FROM_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # its order is m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
Evaluate = Callable[..., Any]


def _symmetric(upper: np.ndarray) -> np.ndarray:
    """Some of Pinocchio's functions define the upper triangle only."""
    return np.triu(upper) + np.triu(upper, 1).T


@dataclass
class State:
    """One state of a robot in Pinocchio's terms, and what Pinocchio computes there."""

    robot: PinocchioRobot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    F: np.ndarray
    wrench: np.ndarray
    b: np.ndarray
    expected: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        robot = self.robot
        self.configuration = robot.configuration(self.q)
        self.velocity, self.acceleration = robot.vector(self.qd), robot.vector(self.qdd)
        self._kinematics()
        self._dynamics()
        self._derivatives()
        self._regressor()

    def _kinematics(self) -> None:
        model, answers = self.robot.model, self.expected
        data = model.createData()
        pin.forwardKinematics(model, data, self.configuration, self.velocity, self.acceleration)
        pin.computeJointJacobiansTimeVariation(model, data, self.configuration, self.velocity)
        pin.updateFramePlacements(model, data)
        frames, columns, tip = self.robot.frames, self.robot.columns, self.robot.frames[-1]
        answers["forward_kinematics"] = np.array([data.oMf[frame].homogeneous for frame in frames])
        for suffix, where in (("", pin.LOCAL_WORLD_ALIGNED), ("_local", pin.LOCAL)):
            answers[f"frame_velocities{suffix}"] = np.array(
                [pin.getFrameVelocity(model, data, frame, where).vector for frame in frames]
            )
            answers[f"frame_accelerations{suffix}"] = np.array(
                [pin.getFrameClassicalAcceleration(model, data, frame, where).vector for frame in frames]
            )

        def in_order(function: Any, where: Any) -> np.ndarray:  # one column comes as a vector
            return np.reshape(function(model, data, tip, where), (6, model.nv))[:, columns]

        answers["jacobian"] = in_order(pin.getFrameJacobian, pin.LOCAL_WORLD_ALIGNED)
        answers["jacobian_tip"] = in_order(pin.getFrameJacobian, pin.LOCAL)
        rate = in_order(pin.getFrameJacobianTimeVariation, pin.LOCAL_WORLD_ALIGNED)
        turn = np.kron(np.eye(2), data.oMf[tip].rotation)
        answers["jacobian_rate"], answers["jacobian_rate_tip"] = rate, turn.T @ rate
        answers["payload_forces"] = answers["jacobian_tip"].T @ self.wrench

    def _dynamics(self) -> None:
        robot, answers, q, v, a = self.robot, self.expected, self.configuration, self.velocity, self.acceleration
        model, free, bare, columns = robot.model, robot.without_gravity, robot.without_drives, robot.columns
        data, rest = model.createData(), np.zeros(model.nv)
        friction, _ = robot.friction(self.qd)
        M = robot.square(_symmetric(pin.crba(model, data, q)))
        answers["mass_matrix"] = M
        answers["mass_matrix_solve"] = np.linalg.solve(M, self.b)
        answers["coriolis_vector"] = pin.rnea(free, free.createData(), q, v, rest)[columns]
        answers["coriolis_matrix"] = robot.square(pin.computeCoriolisMatrix(model, data, q, v))
        answers["gravity_vector"] = pin.computeGeneralizedGravity(model, data, q)[columns]
        answers["inertia_forces"] = pin.rnea(free, free.createData(), q, v, a)[columns]
        answers["inverse_dynamics"] = pin.rnea(model, data, q, v, a)[columns] + friction
        answers["forward_dynamics"] = pin.aba(model, data, q, v, robot.vector(self.F - friction))[columns]
        drives = 0.5 * model.armature[columns] @ self.qd**2
        answers["kinetic_energy"] = pin.computeKineticEnergy(bare, bare.createData(), q, v) + drives
        answers["potential_energy"] = pin.computePotentialEnergy(model, data, q)

    def _derivatives(self) -> None:
        robot, answers, q, v, a = self.robot, self.expected, self.configuration, self.velocity, self.acceleration
        model, free = robot.model, robot.without_gravity
        data, free_data = model.createData(), free.createData()  # results are views of these
        friction, slope = robot.friction(self.qd)
        by_q, by_v, by_a = (robot.square(x) for x in pin.computeRNEADerivatives(model, data, q, v, a))
        answers["inverse_dynamics_derivatives"] = by_q, by_v + np.diag(slope), _symmetric(by_a)
        pin.computeABADerivatives(model, data, q, v, robot.vector(self.F - friction))
        by_q, by_v, inverse = robot.square(data.ddq_dq), robot.square(data.ddq_dv), robot.square(_symmetric(data.Minv))
        answers["forward_dynamics_derivatives"] = by_q, by_v - inverse @ np.diag(slope), inverse
        _, by_v, _ = pin.computeRNEADerivatives(free, free_data, q, v, np.zeros(model.nv))
        answers["christoffel"] = 0.5 * robot.square(by_v)  # c(q, v) is quadratic in v

    def _regressor(self) -> None:
        """Ten columns per joint, in the frame of the link that the joint carries, then the drives."""
        robot, model = self.robot, self.robot.model
        data, motion = model.createData(), (self.configuration, self.velocity, self.acceleration)
        Y = np.reshape(pin.computeJointTorqueRegressor(model, data, *motion), (model.nv, -1))
        blocks, parameters = [], []
        for joint, number in zip(robot.robot.moving_joints, robot.joints, strict=True):
            shift = _parameters_in_frame(np.array(joint.after, dtype=float))
            block = Y[robot.columns, 10 * (number - 1) : 10 * number][:, FROM_PINOCCHIO]
            blocks.append(block @ np.linalg.inv(shift))
            parameters.append(shift @ model.inertias[number].toDynamicParameters()[FROM_PINOCCHIO])
        for index, joint in enumerate(robot.robot.moving_joints):
            unit, drive = np.eye(len(self.q))[:, [index]], joint.actuation
            inertia = model.armature[robot.columns[index]]
            effects = [
                (inertia, self.qdd[index]), (drive.viscous, self.qd[index]),
                (drive.coulomb, np.tanh(self.qd[index] / float(drive.coulomb_velocity))),
            ]  # fmt: skip
            blocks += [unit * effect for value, effect in effects if value]
            parameters += [np.array([float(value)]) for value, _ in effects if value]
        self.expected["regressor"] = np.hstack(blocks)
        self.expected["inertial_parameters"] = np.concatenate(parameters)

    @property
    def arguments(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ("q", "qd", "qdd", "F", "wrench", "b")}


def _parameters_in_frame(after: np.ndarray) -> np.ndarray:
    """Matrix that takes inertial parameters from the joint's frame to a frame at ``after`` in it."""
    inverse = np.linalg.inv(after)
    columns = []
    for m, x, y, z, xx, xy, xz, yy, yz, zz in np.eye(10):
        L = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        P = np.zeros((4, 4))
        P[:3, :3], P[:3, 3], P[3, :3], P[3, 3] = 0.5 * np.trace(L) * np.eye(3) - L, (x, y, z), (x, y, z), m
        P = inverse @ P @ inverse.T
        L = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        columns.append([P[3, 3], *P[:3, 3], L[0, 0], L[0, 1], L[0, 2], L[1, 1], L[1, 2], L[2, 2]])
    return np.array(columns).T


def states(robot: PinocchioRobot, seed: int, count: int) -> list[State]:
    rng = np.random.default_rng((seed, 99))
    drawn = random_states(robot.robot, seed, count)
    n = len(robot.robot.moving_joints)
    return [
        State(robot, drawn["q"][k], drawn["qd"][k], drawn["qdd"][k], drawn["F"][k], rng.normal(size=6), rng.normal(size=n))
        for k in range(count)
    ]


KINEMATICS = [
    "forward_kinematics", "jacobian", "jacobian_tip", "jacobian_rate", "jacobian_rate_tip", "frame_velocities",
    "frame_velocities_local", "frame_accelerations", "frame_accelerations_local", "payload_forces",
]  # fmt: skip
DYNAMICS = [
    "mass_matrix", "coriolis_matrix", "christoffel", "coriolis_vector", "gravity_vector", "inertia_forces",
    "inverse_dynamics", "forward_dynamics", "mass_matrix_solve", "kinetic_energy", "potential_energy",
]  # fmt: skip
GROUPS = {
    "kinematics": KINEMATICS,
    "dynamics": DYNAMICS,
    "inverse dynamics derivatives": ["inverse_dynamics_derivatives"],
    "forward dynamics derivatives": ["forward_dynamics_derivatives"],
    "regressor": ["regressor", "inertial_parameters"],
}
QUANTITIES = [name for group in GROUPS.values() for name in group]


def function_of(quantity: str) -> str:
    """The function that computes a quantity: the Coriolis matrix is compared with two of Pinocchio's results."""
    return "coriolis_matrix" if quantity == "christoffel" else quantity


def errors(evaluate: Evaluate, names: list[str], samples: list[State]) -> dict[str, float]:
    """Worst error of every quantity."""
    worst: dict[str, float] = {}
    for name in names:
        for state in samples:
            wanted = CATALOGUE[function_of(name)].inputs
            actual = evaluate(function_of(name), **{key: state.arguments[key] for key in wanted})
            expected = state.expected[name]
            if not isinstance(expected, tuple):
                actual, expected = (actual,), (expected,)
            for one, other in zip(actual, expected, strict=True):
                worst[name] = max(worst.get(name, 0.0), relative_error(one, other))
    return worst


def check(evaluate: Evaluate, names: list[str], samples: list[State]) -> None:
    found = errors(evaluate, names, samples)
    wrong = {name: error for name, error in found.items() if not error < TOLERANCE}
    assert found.keys() == set(names)
    assert not wrong


# ---- published robots


def published(name: str) -> PinocchioRobot:
    if name == "puma560":
        return in_pinocchio(puma560_from_table(json.loads((DATA / "puma560.json").read_text()), "modified_dh"))
    path = example_urdf(name)
    return urdf_in_pinocchio(quietly_loaded(path, mimic="independent", friction=True), path)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", ["puma560", "ur5", "panda", "talos"])
def test_published_robot(name: str, group: str) -> None:
    robot = published(name)
    names = GROUPS[group]
    check(Programs(robot.robot, [function_of(key) for key in names]), names, states(robot, 7, 2))


@pytest.mark.parametrize("name", ["ur5", "panda", "talos"])
def test_damping_and_friction_of_a_urdf(name: str) -> None:
    """Friction is added to Pinocchio's forces by these tests; that the numbers are the URDF's is checked here."""
    robot = published(name)
    drives = [joint.actuation for joint in robot.robot.moving_joints]
    np.testing.assert_array_equal([float(drive.viscous) for drive in drives], robot.model.damping[robot.columns])
    np.testing.assert_array_equal([float(drive.coulomb) for drive in drives], robot.model.upperDryFrictionLimit[robot.columns])


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda"])
def test_compiled_published_robot(name: str) -> None:
    """The compiled default functions, called as a user calls them."""
    robot = published(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = elastogen.build_model(robot.robot)
    names = [key for key in (*KINEMATICS, *DYNAMICS) if function_of(key) in model.functions]
    assert len(names) > 10
    check(lambda function, **arguments: getattr(model, function)(**arguments), names, states(robot, 8, 3))


# ---- random trees

SIZES = (1, 2, 3, 4, 2, 3, 2, 3, 5)
TREES = range(56)


def tree(seed: int) -> Robot:
    """A tree with 1 to 6 joints; every second robot has drives with friction."""
    return random_robot(seed, 6 if seed == 55 else SIZES[seed % len(SIZES)], branching=0.6, drives=seed % 2 == 1)


@pytest.mark.parametrize("seed", TREES)
def test_random_tree(seed: int) -> None:
    """Every function."""
    robot = tree(seed)
    programs = Programs(robot, [function_of(name) for name in QUANTITIES])
    check(programs, QUANTITIES, states(in_pinocchio(robot), seed, 2))


def test_random_trees_are_varied() -> None:
    """The trees above cover what the comparison is about."""
    robots = [tree(seed) for seed in TREES]
    types = {joint.type for robot in robots for joint in robot.joints}
    branched = [robot for robot in robots if len({joint.parent for joint in robot.joints}) < len(robot.joints)]
    not_depth_first = [robot for robot in robots if list(in_pinocchio(robot).columns) != sorted(in_pinocchio(robot).columns)]
    assert len(types) == 4
    assert {len(robot.moving_joints) for robot in robots} == {1, 2, 3, 4, 5, 6}
    assert len(branched) >= 15
    assert len(not_depth_first) >= 5
