"""Chosen frames against Pinocchio: poses, Jacobians, rates, velocities, accelerations in three references, wrenches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

from pinocchio_trees import close, states, tree  # noqa: E402
from plain_programs import PlainPrograms  # noqa: E402
from robots_for_tests import example_urdf  # noqa: E402

import elastogen  # noqa: E402
from elastogen.generator.functions.derivation import derive_model  # noqa: E402
from elastogen.generator.functions.frames.motion import in_reference  # noqa: E402

REFERENCES = {
    "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "local": pin.ReferenceFrame.LOCAL,
    "base": pin.ReferenceFrame.WORLD,
}
MOTIONS = ("frame_jacobian", "frame_jacobian_rate", "frame_velocity", "frame_acceleration")
LOADED = ("inverse_dynamics_with_wrenches", "forward_dynamics_with_wrenches", "frame_forces")
EVERYTHING = ("frame_pose", *(in_reference(name, ref) for ref in REFERENCES for name in MOTIONS), *LOADED)
TREE = ("floating", "universal", "prismatic", "spherical", "helical")


class Case(NamedTuple):
    """A robot in both tools: ``in_q`` and ``in_v`` say where Pinocchio has what elastogen has."""

    value: Callable[..., Any]  # of a function, by its name
    frames: tuple[str, ...]
    model: Any
    in_q: Any
    in_v: Any
    robot: Any


def _emitted(robot: Any, frames: tuple[str, ...]) -> Callable[..., Any]:
    """The programs that are emitted, after all optimization."""
    functions = {f.name: f for f in derive_model(robot, EVERYTHING, frames).functions}

    def value(name: str, **given: Any) -> Any:
        found = tuple(functions[name].evaluate({a.name: given[a.name] for a in functions[name].inputs}).values())
        return found if len(found) > 1 else found[0]

    return value


@cache
def case(name: str) -> Case:
    if name == "tree":
        made = tree(5, TREE)
        robot = elastogen.load(made.file)
        ends = {  # Pinocchio has no frames for links that it was not reported of
            f"link{k}": max(j for j in range(made.model.njoints) if made.model.names[j].startswith(f"j{k}_"))
            for k in range(1, len(TREE) + 1)
        }
        for link, joint in ends.items():
            made.model.addFrame(pin.Frame(link, joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
        frames = ("link5", "link3", "link1")
        return Case(
            PlainPrograms(robot, frames=frames, frame_assignment=1), frames, made.model, slice(None), slice(None), robot
        )
    base = "floating" if name == "solo12" else "fixed"
    path = example_urdf(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(path, base=base)
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    free = (7, 6) if base == "floating" else (0, 0)
    moving = [joint.name for joint in robot.moving_joints if joint.name != "base"]
    joints = [model.joints[model.getJointId(joint)] for joint in moving]
    in_q, in_v = ([*range(n), *(getattr(j, key) for j in joints)] for n, key in zip(free, ("idx_q", "idx_v"), strict=True))
    frames = {"ur5": ("tool0", "forearm_link", "base_link"), "solo12": ("FL_FOOT", "base_link", "HR_LOWER_LEG")}[name]
    value = _emitted(robot, frames) if name == "ur5" else PlainPrograms(robot, 1, frames, 3)
    return Case(value, frames, model, in_q, in_v, robot)


CASES = ("tree", "ur5", "solo12")


@pytest.mark.parametrize("name", CASES)
def test_motion_in_three_references(name: str) -> None:
    made = case(name)
    model, data = made.model, made.model.createData()
    ids = [model.getFrameId(frame, pin.FrameType.BODY) for frame in made.frames]
    for q, v, a in states(made, 20):
        state = {"q": q[made.in_q], "qd": v[made.in_v], "qdd": a[made.in_v]}
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        origins, rotations = made.value("frame_pose", **state)
        close(origins, [data.oMf[k].translation for k in ids])
        close(rotations, [data.oMf[k].rotation for k in ids])
        for reference, theirs in REFERENCES.items():
            values = {name: made.value(in_reference(name, reference), **state) for name in MOTIONS}
            J = [pin.getFrameJacobian(model, data, k, theirs)[:, made.in_v] for k in ids]
            close(values["frame_jacobian"], J)
            close(values["frame_velocity"], [pin.getFrameVelocity(model, data, k, theirs).vector for k in ids])
            get = pin.getFrameClassicalAcceleration if reference == "aligned" else pin.getFrameAcceleration
            expected = [get(model, data, k, theirs).vector for k in ids]
            close(values["frame_acceleration"], expected, 10)
            Jd = values["frame_jacobian_rate"]
            close(J @ state["qdd"] + Jd @ state["qd"], expected, 10)
            close(Jd, [pin.getFrameJacobianTimeVariation(model, data, k, theirs)[:, made.in_v] for k in ids], 10)


@pytest.mark.parametrize("name", CASES)
def test_dynamics_under_wrenches(name: str) -> None:
    made = case(name)
    model, data = made.model, made.model.createData()
    rng = np.random.default_rng(4)
    for q, v, a in states(made, 20):
        wrenches = rng.uniform(-5, 5, (len(made.frames), 6))
        outer = _external(made, data, q, wrenches)
        state = {"q": q[made.in_q], "qd": v[made.in_v], "qdd": a[made.in_v], "F": 3 * v[made.in_v], "wrenches": wrenches}
        F = made.value("inverse_dynamics_with_wrenches", **state)
        expected = pin.rnea(model, data, q, v, a, outer)[made.in_v]
        close(F, expected, np.abs(expected).max())
        qdd = made.value("forward_dynamics_with_wrenches", **state)
        expected = pin.aba(model, data, q, v, 3 * v, outer)[made.in_v]
        close(qdd, expected, 10 * np.abs(expected).max())
        J = made.value("frame_jacobian", **state)
        Q = np.einsum("kij,ki->j", J, wrenches)
        close(made.value("frame_forces", **state), Q, np.abs(Q).max())


def _external(made: Case, data: Any, q: np.ndarray, wrenches: np.ndarray) -> Any:
    """Wrenches at the origins of frames, in base axes, as forces on Pinocchio's joints, in their axes."""
    model = made.model
    pin.framesForwardKinematics(model, data, q)
    outer = [pin.Force.Zero() for _ in range(model.njoints)]
    for frame, w in zip(made.frames, wrenches, strict=True):
        k = model.getFrameId(frame, pin.FrameType.BODY)
        joint, p = model.frames[k].parentJoint, data.oMf[k].translation
        outer[joint] += data.oMi[joint].actInv(pin.Force(w[:3], w[3:] + np.cross(p, w[:3])))
    found = pin.StdVec_Force()
    found.extend(outer)
    return found


def test_wrenches_ride_on_the_recursion_and_frames_share_their_kinematics() -> None:
    """Counted: what wrenches cost beside inverse dynamics, and a second frame beside the first."""
    robot = case("ur5").robot
    plain = derive_model(robot, "inverse_dynamics").functions[0].program.count
    loaded = derive_model(robot, "inverse_dynamics_with_wrenches", ("tool0",)).functions[0].program.count
    apart = derive_model(robot, "frame_forces", ("tool0",)).functions[0].program.count
    assert loaded.mul + loaded.add <= plain.mul + plain.add + 56
    assert apart.mul + apart.add <= 110

    def jacobian(*frames: str) -> int:
        count = derive_model(robot, "frame_jacobian", frames).functions[0].program.count
        return count.mul + count.add

    one, other, both = jacobian("tool0"), jacobian("wrist_2_link"), jacobian("tool0", "wrist_2_link")
    assert both <= 0.9 * (one + other)
