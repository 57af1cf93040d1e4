"""Robots for tests: random trees, the same robots in Pinocchio (built by its own API), and published robots.

Everything is seeded: the same seed gives the same robot on every machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_kinematics import numeric
from scipy.spatial.transform import Rotation

from elastogen.generator.description.load_robot import load
from elastogen.generator.description.validate import validate
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.joints import kinds
from elastogen.generator.program.program import Program
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.robot import IDENTITY, Actuation, Body, Joint, Link, Matrix, Robot

Array = np.ndarray

DATA = Path(__file__).parents[1] / "data"
MOVING = (kinds.REVOLUTE, kinds.CONTINUOUS, kinds.PRISMATIC)
EXAMPLES = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}


# ---- random robots


def rows(matrix: Array) -> Matrix:
    """An array as the tuples of plain numbers that a robot holds."""
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


def pose(rotation: Array, position: Any) -> Matrix:
    """A rotation and a position as 4 x 4 matrix."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, position
    return (*rows(T[:3]), (0, 0, 0, 1))


def random_pose(rng: np.random.Generator, special: bool = True) -> Matrix:
    """Anything between the identity and an arbitrary pose: right angles and zero offsets fold, so they must occur."""
    luck = rng.random() if special else 1.0
    if luck < 0.1:
        return IDENTITY
    if luck < 0.4:
        turn = Rotation.from_euler("xyz", rng.integers(-1, 3, 3) * 90, degrees=True).as_matrix().round()
        return pose(turn, rng.uniform(-0.6, 0.6, 3) * rng.integers(0, 2, 3))
    if luck < 0.5:  # about one axis only
        return pose(Rotation.from_rotvec(np.eye(3)[rng.integers(3)] * rng.uniform(-3, 3)).as_matrix(), (0.3, 0, 0))
    return pose(Rotation.random(random_state=int(rng.integers(2**31))).as_matrix(), rng.uniform(-0.6, 0.6, 3))


def random_axis(rng: np.random.Generator, special: bool = True) -> tuple[float, float, float]:
    """A coordinate axis of either sign, or any unit vector."""
    if special and rng.random() < 0.4:
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice((-1.0, 1.0))
    else:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
    return (float(axis[0]), float(axis[1]), float(axis[2]))


def random_body(rng: np.random.Generator) -> Body:
    """Six point masses: a full inertia tensor that a real body can have."""
    points, masses = rng.uniform(-0.25, 0.25, (6, 3)), rng.uniform(0.2, 1.0, 6)
    mass, com = masses.sum(), masses @ points / masses.sum()
    arms = points - com
    tensor = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return Body(float(mass), tuple(float(c) for c in com), rows((tensor + tensor.T) / 2))  # type: ignore[arg-type]


def random_drive(rng: np.random.Generator) -> Actuation:
    """A geared motor with viscous and Coulomb friction; some parts may be missing."""
    inertia, viscous, coulomb = (float(x) for x in rng.uniform(1e-4, 1e-3, 3) * (rng.random(3) < 0.8))
    return Actuation(inertia, float(rng.uniform(-60, 60)), 1e3 * viscous, 1e3 * coulomb, float(rng.uniform(0.05, 1.0)))


def random_robot(
    seed: int,
    joints: int | None = None,
    *,
    types: Sequence[JointKind] = MOVING,
    fixed: float = 0.2,
    branching: float = 0.4,
    drives: bool = False,
    offsets: float = 0.3,
    payload: bool = True,
    special: bool = True,
) -> Robot:
    """A random tree with ``joints`` moving joints (1 to 6 where not given).

    ``fixed`` is the share of fixed joints in between, ``branching`` how often a joint starts a branch instead of going
    on from the last link, ``offsets`` how often a link frame is not the joint's frame (as in standard DH tables).
    ``special`` mixes in right angles, coordinate axes and zero offsets.
    """
    rng = np.random.default_rng((seed, 4711))
    moving = int(rng.integers(1, 7)) if joints is None else joints
    links, made = [Link("base", random_body(rng))], []
    while moving > 0:
        number = len(links)
        kind = kinds.FIXED if rng.random() < fixed else types[int(rng.integers(len(types)))]
        parent = links[rng.integers(number)] if rng.random() < branching else links[-1]
        made.append(
            Joint(
                f"joint{number}", kind, parent.name, f"link{number}",
                axis=random_axis(rng, special),
                before=random_pose(rng, special),
                after=random_pose(rng) if rng.random() < offsets else IDENTITY,
                actuation=random_drive(rng) if drives and kind is not kinds.FIXED else Actuation(),
            )
        )  # fmt: skip
        links.append(Link(f"link{number}", random_body(rng)))
        moving -= kind is not kinds.FIXED
    return validate(
        Robot(
            f"random{seed}",
            tuple(links),
            tuple(made),
            gravity=tuple(float(g) for g in rng.normal(scale=6, size=3)),  # type: ignore[arg-type]
            tip=links[rng.integers(1, len(links))].name,
            tool=random_pose(rng),
            payload=random_body(rng) if payload else Body(),
        )
    )


def random_chain(n: int, seed: int = 1) -> Robot:
    """A chain of n revolute joints without any special geometry."""
    return random_robot(seed, n, types=(kinds.REVOLUTE,), fixed=0.0, branching=0.0, offsets=0.0, payload=False, special=False)


def random_states(robot: Robot, seed: int, count: int = 3) -> dict[str, Array]:
    """States (q, qd, qdd) and forces F, each of shape (count, nq)."""
    rng = np.random.default_rng((seed, 815))
    return {name: rng.uniform(-1.5, 1.5, (count, len(robot.moving_joints))) for name in ("q", "qd", "qdd", "F")}


# ---- published robots


def quietly_loaded(source: Any, **options: Any) -> Robot:
    """A robot without the warnings about its published numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(source, **options)


def example_urdf(name: str) -> Path:
    """A URDF of example-robot-data; skips the test where the package is missing."""
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed: pip install 'elastogen[test]'")
    path = Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / EXAMPLES[name]
    if not path.exists():
        pytest.skip(f"example-robot-data has no {EXAMPLES[name]}")
    return path


def puma560_from_table(table: Mapping[str, Any], convention: str) -> Robot:
    """The PUMA 560 of the reference file, by its "standard_dh" or "modified_dh" table."""
    placement = {"standard_dh": "dh", "modified_dh": "mdh"}[convention]
    joints, links = [], []
    for number, link in enumerate(table[convention]["links"], start=1):
        (xx, yy, zz), (xy, xz, yz) = link["inertia_com_diag"], link["inertia_com_offdiag"]
        links.append({
            "name": f"link{number}", "mass": link["mass"], "com": link["com"],
            "inertia": {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz},
        })  # fmt: skip
        joints.append({
            "name": f"joint{number}", "type": link["joint"], "child": f"link{number}",
            "placement": {placement: {"theta": link["theta_offset"], **{k: link[k] for k in ("alpha", "a", "d")}}},
        })  # fmt: skip
    return quietly_loaded({
        "elastogen": 1, "name": f"puma_{placement}", "gravity": table["gravity_vector"],
        "links": [{"name": "base"}, *links], "joints": joints, "tip": {"link": "link6"},
    })  # fmt: skip


# ---- evaluation


class Programs:
    """The functions of a robot as programs, evaluated in plain Python: ``programs("mass_matrix", q=q)``."""

    def __init__(self, robot: Robot, outputs: Sequence[str] | str = "all") -> None:
        self.robot = robot
        self.derivation = derive_model(robot, outputs)
        self.program: dict[str, Program] = {function.name: function.program for function in self.derivation.functions}
        self.nominal = {parameter.name: parameter.value for parameter in robot.live_parameters}

    def __call__(self, name: str, parameters: Mapping[str, float] | None = None, /, **arguments: Any) -> Any:
        """The result of a function: an array, or a tuple of them."""
        program = self.program[name]
        wanted = {argument.name: arguments[argument.name] for argument in program.inputs}
        results = tuple(program.evaluate(wanted, {**self.nominal, **(parameters or {})}).values())
        return results if len(results) > 1 else results[0]


def relative_error(actual: Any, expected: Any, floor: float = 1e-3) -> float:
    """Largest error relative to the largest expected entry (at least ``floor``, for quantities that vanish)."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    assert np.isfinite(expected).all()
    error = float(np.max(np.abs(actual - expected), initial=0.0))  # NaN stays NaN and fails every comparison
    return error / max(float(np.max(np.abs(expected), initial=0.0)), floor)


def difference_quotient(function: Any, step: float = 2e-2) -> Array:
    """d/ds function(s) at s = 0 by the central difference of order 8."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (function(k * step) - function(-k * step)) for k, w in weights.items()) / step  # type: ignore[return-value]


# ---- the same robots in Pinocchio


@dataclass(frozen=True)
class PinocchioRobot:
    """A Pinocchio model beside a robot, with quantities in the robot's order of coordinates and frames.

    ``frames`` are the Pinocchio frames of all links but the base and, last, the tip. Friction is not part of
    Pinocchio's algorithms and is added here, from the numbers in ``robot``.
    """

    robot: Robot
    model: Any
    frames: tuple[int, ...]

    @property
    def joints(self) -> list[int]:
        """Pinocchio's joint of every coordinate."""
        return [self.model.getJointId(name) for name in self.robot.coordinate_names]

    @cached_property
    def columns(self) -> Array:
        """Pinocchio's velocity index of every coordinate."""
        return np.array([self.model.joints[joint].idx_v for joint in self.joints])

    @cached_property
    def without_gravity(self) -> Any:
        """The model in free space."""
        model = self.model.copy()
        model.gravity.linear = np.zeros(3)
        return model

    @cached_property
    def without_drives(self) -> Any:
        """The model without the inertia of motors."""
        model = self.model.copy()
        model.armature = np.zeros(model.nv)
        return model

    def configuration(self, q: Array) -> Array:
        """Pinocchio's configuration vector; continuous joints of a URDF take cosine and sine there."""
        result = np.zeros(self.model.nq)
        for joint, angle in zip(self.joints, q, strict=True):
            start, width = self.model.joints[joint].idx_q, self.model.joints[joint].nq
            result[start : start + width] = angle if width == 1 else (np.cos(angle), np.sin(angle))
        return result

    def vector(self, x: Array) -> Array:
        """A vector in Pinocchio's order of coordinates."""
        result = np.zeros(self.model.nv)
        result[self.columns] = x
        return result

    def square(self, matrix: Array) -> Array:
        """A matrix of Pinocchio in the robot's order of coordinates."""
        return np.asarray(matrix)[np.ix_(self.columns, self.columns)]

    def friction(self, qd: Array) -> tuple[Array, Array]:
        """Friction forces and their derivatives by the velocities."""
        force, slope = np.zeros(len(qd)), np.zeros(len(qd))
        for k, joint in enumerate(self.robot.moving_joints):
            drive = joint.actuation
            viscous, coulomb, width = (
                float(numeric(self.robot, x)) for x in (drive.viscous, drive.coulomb, drive.coulomb_velocity)
            )
            force[k] = viscous * qd[k] + coulomb * np.tanh(qd[k] / width)
            slope[k] = viscous + coulomb / width / np.cosh(qd[k] / width) ** 2
        return force, slope


def in_pinocchio(robot: Robot) -> PinocchioRobot:
    """Build a robot by Pinocchio's API at nominal parameters; depth first, as its algorithms need it."""
    import pinocchio as pin

    def se3(matrix: Any) -> Any:
        return pin.SE3(numeric(robot, matrix))

    model = pin.Model()
    model.gravity.linear = numeric(robot, robot.gravity)
    home: dict[str, tuple[int, Any]] = {robot.links[0].name: (0, pin.SE3.Identity())}
    drives = {}

    def grow(parent: str) -> None:
        for joint in robot.joints:
            if joint.parent != parent:
                continue
            carrier, placement = home[parent]
            seat = placement * se3(joint.before)
            if joint.type is kinds.FIXED:
                home[joint.child] = (carrier, seat * se3(joint.after))
            else:
                kind = pin.JointModelPrismaticUnaligned if joint.type is kinds.PRISMATIC else pin.JointModelRevoluteUnaligned
                number = model.addJoint(carrier, kind(numeric(robot, joint.axis)), seat, joint.name)
                home[joint.child] = (number, se3(joint.after))
                drive = joint.actuation
                drives[number] = numeric(robot, drive.motor_inertia) * numeric(robot, drive.gear_ratio) ** 2
            grow(joint.child)

    grow(robot.links[0].name)
    home[""] = (home[robot.tip][0], home[robot.tip][1] * se3(robot.tool))
    frames = []
    for name, body in (*((link.name, link.body) for link in robot.links[1:]), ("", robot.payload)):
        joint, placement = home[name]
        inertia = pin.Inertia(float(numeric(robot, body.mass)), numeric(robot, body.com), numeric(robot, body.inertia))
        if joint > 0:
            model.appendBodyToJoint(joint, inertia, placement)
        frames.append(model.addFrame(pin.Frame(name or "tip", joint, 0, placement, pin.FrameType.OP_FRAME)))
    armature = np.zeros(model.nv)
    for number, value in drives.items():
        armature[model.joints[number].idx_v] = value
    model.armature = armature
    return PinocchioRobot(robot, model, tuple(frames))


def urdf_in_pinocchio(robot: Robot, path: Path) -> PinocchioRobot:
    """A URDF as Pinocchio reads it; mimic joints have coordinates of their own."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path))
    names = [*(link.name for link in robot.links[1:]), robot.tip]
    frames = tuple(model.getFrameId(name, pin.FrameType.BODY) for name in names)
    assert max(frames) < model.nframes, "Pinocchio does not know a link of the robot"
    assert model.nv == len(robot.moving_joints)
    return PinocchioRobot(robot, model, frames)


def merged(robot: Robot) -> Robot:
    """The same robot without fixed joints: bodies on them join the link that carries them, by Steiner's theorem."""
    home: dict[str, tuple[str, Array]] = {robot.links[0].name: (robot.links[0].name, np.eye(4))}
    bodies: dict[str, list[tuple[Array, Body]]] = {robot.links[0].name: [(np.eye(4), robot.links[0].body)]}
    joints = []
    for joint in robot.joints:
        carrier, T = home[joint.parent]
        before, after = np.array(joint.before, dtype=float), np.array(joint.after, dtype=float)
        if joint.type is kinds.FIXED:
            home[joint.child] = (carrier, T @ before @ after)
        else:
            home[joint.child] = (joint.child, np.eye(4))
            joints.append(replace(joint, parent=carrier, before=pose((T @ before)[:3, :3], (T @ before)[:3, 3])))
        name, T = home[joint.child]
        bodies.setdefault(name, []).append((T, robot.link(joint.child).body))
    tip, T = home[robot.tip]
    tool = T @ np.array(robot.tool, dtype=float)
    return replace(
        robot,
        links=tuple(Link(name, _together(parts)) for name, parts in bodies.items()),
        joints=tuple(joints),
        tip=tip,
        tool=pose(tool[:3, :3], tool[:3, 3]),
    )


def _together(parts: Sequence[tuple[Array, Body]]) -> Body:
    masses = [float(body.mass) for _, body in parts]
    centres = [T[:3, :3] @ np.array(body.com, dtype=float) + T[:3, 3] for T, body in parts]
    com = sum(m * c for m, c in zip(masses, centres, strict=True)) / sum(masses)
    tensor = np.zeros((3, 3))
    for (T, body), m, centre in zip(parts, masses, centres, strict=True):
        arm = centre - com
        tensor += T[:3, :3] @ np.array(body.inertia, dtype=float) @ T[:3, :3].T
        tensor += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Body(sum(masses), tuple(float(c) for c in com), rows((tensor + tensor.T) / 2))  # type: ignore[arg-type]
