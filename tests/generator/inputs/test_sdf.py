"""SDF files: poses relative to anything, axes expressed anywhere, every kind of joint, against a model in Pinocchio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError

SDF = """
<sdf version="1.9">
  <model name="test_arm">
    <pose>0.1 0.2 0.3 0.1 -0.2 0.3</pose>
    <frame name="corner"><pose degrees="true">0.5 0 0 0 0 30</pose></frame>
    <link name="upper"><pose relative_to="corner">0 0.1 0.2 0.3 0.2 0.1</pose>
      <inertial><pose>0.01 0.02 0.1 0.2 0.1 0.4</pose><mass>2</mass>
        <inertia><ixx>0.03</ixx><iyy>0.025</iyy><izz>0.02</izz><ixy>0.001</ixy><ixz>0.002</ixz><iyz>-0.001</iyz></inertia></inertial>
    </link>
    <link name="lower"><pose relative_to="elbow">0.05 0 0.3 0 0 0</pose>
      <inertial><mass>1.5</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>
    <link name="slider"><pose rotation_format="quat_xyzw">0.4 -0.1 0.9 0.1 0.2 0.3 0.9</pose>
      <inertial><mass>0.5</mass><inertia><ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial></link>
    <link name="nut"><pose relative_to="slider">0 0 0.1 0 0 0.5</pose>
      <inertial><mass>0.4</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
    <link name="hook"><pose relative_to="lower">0 0 0.2 0 0.7 0</pose>
      <inertial><mass>0.3</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
    <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child><pose>0 0.02 0 0.1 0 0</pose>
      <axis><xyz expressed_in="__model__">0 0.6 0.8</xyz><limit><lower>-1</lower><upper>2</upper><effort>-1</effort></limit>
        <dynamics><damping>0.2</damping></dynamics></axis></joint>
    <joint name="elbow" type="universal"><parent>upper</parent><child>lower</child>
      <pose relative_to="upper">0.1 0 0.4 0 0 1</pose>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz expressed_in="corner">0 1 0</xyz></axis2></joint>
    <joint name="slide" type="prismatic"><parent>lower</parent><child>slider</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower><upper>1e16</upper></limit></axis></joint>
    <joint name="thread" type="screw"><parent>slide</parent><child>nut</child><screw_thread_pitch>0.5</screw_thread_pitch>
      <axis><xyz>0 0 2</xyz></axis></joint>
    <joint name="eye" type="ball"><parent>lower</parent><child>hook</child></joint>
  </model>
</sdf>
"""


def written(folder: Path, text: str = SDF) -> Path:
    path = folder / "arm.sdf"
    path.write_text(text)
    return path


def in_pinocchio() -> Any:
    """The same model, every pose worked out in the world by hand."""
    import pinocchio as pin

    def at(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> Any:
        return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), np.array([x, y, z]))

    model_pose = at(0.1, 0.2, 0.3, 0.1, -0.2, 0.3)
    corner = at(0.5, 0, 0, 0, 0, np.pi / 6)
    upper = corner * at(0, 0.1, 0.2, 0.3, 0.2, 0.1)
    shoulder = upper * at(0, 0.02, 0, 0.1, 0, 0)
    elbow = upper * at(0.1, 0, 0.4, 0, 0, 1)
    lower = elbow * at(0.05, 0, 0.3, 0, 0, 0)
    q = np.array([0.1, 0.2, 0.3, 0.9])
    slider = pin.SE3(pin.Quaternion(q / np.linalg.norm(q)).toRotationMatrix(), np.array([0.4, -0.1, 0.9]))
    nut = slider * at(0, 0, 0.1, 0, 0, 0.5)
    hook = lower * at(0, 0, 0.2, 0, 0.7, 0)
    model = pin.Model()
    placed: list[tuple[int, Any]] = [(0, pin.SE3.Identity())]

    def add(parent: int, motions: list[Any], pose: Any, name: str) -> int:
        number, before = placed[parent]
        for k, motion in enumerate(motions):
            step = before.inverse() * pose if k == 0 else pin.SE3.Identity()
            number = model.addJoint(number, motion, step, f"{name}{k}")
        placed.append((number, pose))
        return len(placed) - 1

    def carry(joint: int, link: Any, mass: float, inertia: np.ndarray, com: Any = None) -> None:
        number, pose = placed[joint]
        frame = pose.inverse() * model_pose * link
        body = pin.Inertia(mass, np.zeros(3), inertia)
        model.appendBodyToJoint(number, body, frame * (pin.SE3.Identity() if com is None else com))

    tensor = np.array([[0.03, 0.001, 0.002], [0.001, 0.025, -0.001], [0.002, -0.001, 0.02]])
    axis = (model_pose * shoulder).rotation.T @ model_pose.rotation @ np.array([0, 0.6, 0.8])
    one = add(0, [pin.JointModelRevoluteUnaligned(axis)], model_pose * shoulder, "shoulder")
    carry(one, upper, 2, tensor, at(0.01, 0.02, 0.1, 0.2, 0.1, 0.4))
    second = elbow.rotation.T @ corner.rotation @ np.array([0, 1.0, 0])
    two = add(one, [pin.JointModelRX(), pin.JointModelRevoluteUnaligned(second)], model_pose * elbow, "elbow")
    carry(two, lower, 1.5, np.diag([0.02, 0.02, 0.01]))
    three = add(two, [pin.JointModelPZ()], model_pose * slider, "slide")
    carry(three, slider, 0.5, np.eye(3) * 0.002)
    four = add(three, [pin.JointModelHelicalUnaligned(np.array([0, 0, 1.0]), 0.5 / (2 * np.pi))], model_pose * nut, "thread")
    carry(four, nut, 0.4, np.eye(3) * 0.001)
    five = add(two, [pin.JointModelSpherical()], model_pose * hook, "eye")
    carry(five, hook, 0.3, np.eye(3) * 0.001)
    return model


def test_every_kind_of_joint_against_pinocchio(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")

    robot = load(written(tmp_path))
    assert robot.velocity_names == (
        "shoulder", "elbow.angle1", "elbow.angle2", "slide", "thread", "eye.wx", "eye.wy", "eye.wz",
    )  # fmt: skip
    assert robot.link("nut").name == robot.joints[3].child
    assert robot.joints[3].parent == "slider"  # a joint's frame stands for its child
    model, rng = in_pinocchio(), np.random.default_rng(4)
    data = model.createData()
    program = Programs(robot, ["inverse_dynamics"])
    for _ in range(4):
        q, v, a = np.append(rng.uniform(-1, 1, 5), [0.5, -0.5, 0.1, 0.7]), *rng.uniform(-1, 1, (2, 8))
        q[5:] /= np.linalg.norm(q[5:])
        assert relative_error(program("inverse_dynamics", q=q, qd=v, qdd=a), pin.rnea(model, data, q, v, a)) < 1e-12
    shoulder = robot.joints[0]
    assert (shoulder.limits.lower, shoulder.limits.upper, shoulder.limits.effort) == (-1, 2, None)
    assert robot.joints[2].limits.lower is None
    assert shoulder.actuation.viscous == 0
    assert load(written(tmp_path), friction=True).joints[0].actuation.viscous == 0.2


MIMIC = """<axis><xyz>0 0 1</xyz>
  <mimic joint="shoulder"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>"""


def test_mimic_old_axes_old_threads_and_worlds(tmp_path: Path) -> None:
    follower = load(written(tmp_path, SDF.replace("<axis><xyz>0 0 1</xyz>", MIMIC, 1)))
    assert "slide" not in follower.velocity_names
    position = follower.joints[2].coupling.position
    assert float(position.subs(dict.fromkeys(position.free_symbols, 0.8))) == pytest.approx(2 * 0.5 + 0.1)
    plain = load(written(tmp_path))
    rotated = load(written(tmp_path, SDF.replace(' expressed_in="__model__"', "").replace('version="1.9"', 'version="1.4"')))
    assert np.allclose(np.array(rotated.joints[0].axis, float), np.array(plain.joints[0].axis, float), atol=1e-15)
    old = SDF.replace("<screw_thread_pitch>0.5</screw_thread_pitch>", f"<thread_pitch>{-2 * np.pi / 0.5}</thread_pitch>")
    assert load(written(tmp_path, old)).joints[3].details["pitch"] == pytest.approx(0.5 / (2 * np.pi), rel=1e-15)
    world = SDF.replace("<model", '<world name="w"><gravity>0 0 -1.6</gravity><model').replace("</model>", "</model></world>")
    assert load(written(tmp_path, world)).gravity == (0, 0, -1.6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('relative_to="corner"', 'relative_to="crner"', "links.upper|joints.*crner.*did you mean 'corner'"),
        ('relative_to="corner"', 'relative_to="elbow"', "circle"),
        ('type="universal"', 'type="gearbox"', "joints.elbow.type: got 'gearbox'"),
        (
            "<parent>upper</parent><child>lower</child>",
            "<parent>upper</parent><child>uppr</child>",
            "uppr.*did you mean 'upper'",
        ),
        ("<parent>lower</parent><child>hook</child>", "<parent>hook</parent><child>lower</child>", "cut the loop"),
        ('<axis2><xyz expressed_in="corner">0 1 0</xyz></axis2>', "", "joints.elbow.axis2: got 'nothing'"),
        ("</model>", "<include><uri>model://x</uri></include></model>", "include.uri: got 'model://x'.*package_path"),
        ("<inertial><mass>1.5", '<inertial auto="true"><mass>1.5', "inertial.auto"),
        ("<mass>1.5</mass>", "<mass>heavy</mass>", "links.lower.inertial.mass: got 'heavy'"),
        ("0 0.1 0.2 0.3 0.2 0.1", "0 0.1 0.2 0.3", "links.upper.pose: .*roll pitch yaw"),
        ('version="1.9"', 'version="new"', "sdf.version"),
        ('<link name="hook">', '<link name="nut">', "links.nut: .*occur once"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SDF
    with pytest.raises(RobotError, match=message):
        quietly_loaded(written(tmp_path, SDF.replace(old, new)))


def test_a_robot_with_loops(tmp_path: Path) -> None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        folder = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    robot = quietly_loaded(folder / "cassie_description/robots/cassie_v2.sdf")
    assert robot.loops
    residual = Programs(robot, ["loop_residual"])("loop_residual", q=np.zeros(len(robot.coordinates)))
    assert np.abs(residual).max() < 1e-3  # as the file's digits have it


FOUR_BAR = """<sdf version="1.9"><model name="bars"><link name="frame"/>
<link name="crank"><pose>0 0 0 0 0 0</pose></link><link name="rod"><pose>0.2 0.1 0.3 0.1 0 0</pose></link>
<link name="rocker"><pose>0.7 0 0 0 0 0.4</pose></link>
<joint name="pin" type="TYPE"><parent>rod</parent><child>rocker</child><pose relative_to="__model__">0.5 0.02 0.6 0.2 0 0</pose>
  AXES</joint>
<joint name="drive" type="revolute"><parent>frame</parent><child>crank</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="elbow" type="ball"><parent>crank</parent><child>rod</child></joint>
<joint name="pivot" type="universal"><parent>frame</parent><child>rocker</child>
  <axis><xyz>0 1 0</xyz></axis><axis2><xyz>1 0 0</xyz></axis2></joint>
</model></sdf>"""
AXIS = '<axis><xyz expressed_in="frame">0 1 0</xyz></axis>'


def test_a_joint_that_leaves_nothing_to_move_is_refused(tmp_path: Path) -> None:
    robot = quietly_loaded(written(tmp_path, FOUR_BAR.replace("TYPE", "fixed").replace("AXES", "")))
    with pytest.raises(RobotError, match="leave nothing to move"):
        Programs(robot, ["loop_residual"])


@pytest.mark.parametrize(
    ("kind", "axes", "rows"),
    [
        ("revolute", AXIS, 5), ("continuous", AXIS, 5), ("prismatic", AXIS, 5), ("ball", "", 3),
        ("universal", "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>", 4),
    ],
)  # fmt: skip
def test_a_second_joint_to_a_link_is_a_loop(tmp_path: Path, kind: str, axes: str, rows: int) -> None:
    """Its rows vanish where all joints are 0, and hold what the joint holds: against twists worked out by hand."""
    robot = quietly_loaded(written(tmp_path, FOUR_BAR.replace("TYPE", kind).replace("AXES", axes)))
    assert [joint.name for joint in robot.joints] == ["drive", "elbow", "pivot"]
    assert [loop.name for loop in robot.loops] == ["pin"]
    q = np.array([0.0] * 4 + [1.0] + [0.0] * 2)
    programs = Programs(robot, ["loop_residual", "loop_jacobian"])
    assert np.abs(programs("loop_residual", q=q)).max() < 1e-12
    J = programs("loop_jacobian", q=q).reshape(rows, 6)
    # twists of the rocker against the rod at the pin, by hand: rates of pivot less those of drive and elbow
    pin, elbow, pivot = np.array([0.5, 0.02, 0.6]), np.array([0.2, 0.1, 0.3]), np.array([0.7, 0, 0])
    rotated = np.array([[np.cos(0.4), -np.sin(0.4), 0], [np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]])
    tilted = np.array([[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]])
    axes_of = [(-np.array([0, 1, 0]), np.zeros(3)), *((-column, elbow) for column in tilted.T)]
    axes_of += [(rotated[:, 1], pivot), (rotated[:, 0], pivot)]
    turns = np.column_stack([w for w, _ in axes_of])
    slides = np.column_stack([np.cross(w, pin - at) for w, at in axes_of])
    frame = np.array([[1, 0, 0], [0, np.cos(0.2), -np.sin(0.2)], [0, np.sin(0.2), np.cos(0.2)]])
    y, across = np.array([0.0, 1, 0]), np.array([[1.0, 0, 0], [0, 0, 1]])
    held = {
        "revolute": np.vstack([slides, across @ turns]), "continuous": np.vstack([slides, across @ turns]),
        "prismatic": np.vstack([across @ slides, turns]), "ball": slides, "fixed": np.vstack([slides, turns]),
        "universal": np.vstack([slides, np.cross(frame[:, 1], frame[:, 0]) @ turns]),
    }[kind]  # fmt: skip
    assert y @ across.T == pytest.approx(0)
    left, right = (np.linalg.pinv(rows_, rcond=1e-9) @ rows_ for rows_ in (J, held))  # projectors on what is held
    assert np.abs(left - right).max() < 1e-9


def test_a_link_without_inertial_is_as_sdformat_says(tmp_path: Path) -> None:
    inertia = "<inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia>"
    text = SDF.replace(f"<inertial><mass>1.5</mass>{inertia}</inertial>", "")
    (lower,) = (link.body for link in load(written(tmp_path, text)).links if link.name == "lower")
    assert text != SDF
    assert float(lower.mass) == 1
    np.testing.assert_array_equal(np.array(lower.inertia, float), np.eye(3))
