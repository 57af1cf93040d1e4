"""MJCF files against MuJoCo itself: mass matrix and inverse dynamics, however a file writes poses and inertia; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError, RobotWarning

ARM = """
<mujoco model="test arm">
  <compiler angle="degree" eulerseq="zYx"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <joint armature="0.01" damping="0.3"/>
    <geom density="700"/>
    <default class="fingers"><joint type="slide" axis="0 1 0" armature="0"/><geom type="box" size="0.02 0.03 0.05"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="shoulder" pos="0.1 0.2 0.3" euler="20 -30 40">
      <joint name="pan" axis="0 0.6 0.8" pos="0.05 0 0.02" range="-90 120" ref="25"/>
      <joint name="lift" type="slide" axis="1 0 0" range="-0.1 0.3" ref="0.04"/>
      <joint name="roll" axis="1 0 0" armature="0.2" frictionloss="0.5"/>
      <inertial pos="0.1 0.02 -0.03" mass="2" diaginertia="0.03 0.02 0.015" quat="0.8 0.2 -0.3 0.4"/>
      <frame pos="0 0.1 0.4" axisangle="0 1 1 35">
        <body name="wrist" pos="0.2 0 0" xyaxes="1 0.2 0 -0.1 1 0.3">
          <joint name="ball" type="ball" pos="0 0.03 0.01" armature="0"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0.2 -0.3"/>
          <geom type="ellipsoid" size="0.05 0.08 0.1" pos="0.1 0 0" zaxis="1 1 -1" mass="0.7"/>
          <body name="palm" pos="0 0.2 0.1" zaxis="0.3 0.2 -1">
            <geom type="cylinder" size="0.05 0.1" euler="10 20 30"/>
            <geom type="sphere" size="0.06" pos="0 0 0.1" group="1"/>
            <body name="left" pos="0.05 0 0.1" childclass="fingers"><joint name="left"/><geom/></body>
            <body name="right" pos="-0.05 0 0.1" quat="0 0 0 1" childclass="fingers">
              <joint name="right"/><geom quat="1 2 3 4"/></body>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
</mujoco>
"""
FREE = """
<mujoco model="drone">
  <compiler angle="radian"/>
  <worldbody>
    <body name="hull" pos="1 2 3" euler="0.1 0.2 0.3">
      <freejoint name="root"/>
      <inertial pos="0.01 0.02 0.03" mass="1.5" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
      <body name="mast" pos="0 0 0.1"><geom type="box" size="0.01 0.02 0.2" mass="0.3"/>
        <body pos="0 0 0.2"><joint axis="0 1 0"/><geom type="box" size="0.1 0.02" fromto="0 0 0 0.2 0.1 0"/></body></body>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder: Path, text: str, name: str = "arm.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def compared(path: Path, robot: Any) -> None:
    """M and inverse dynamics at random states against MuJoCo, in our coordinates and velocities."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    programs = Programs(robot, ["inverse_dynamics", "mass_matrix"])
    free, ball = (int(kind) for kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL))
    assert model.nv == len(robot.velocities)
    assert model.nq == len(robot.coordinates)
    for _ in range(5):
        v, a = rng.uniform(-1, 1, (2, model.nv))
        data.qpos[:] = rng.uniform(-1, 1, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        q, T, drift = data.qpos.copy(), np.eye(model.nv), np.zeros(model.nv)
        for joint in range(model.njnt):
            start, at = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
            if model.jnt_type[joint] == free:  # linear velocity: in the world there, in the body here
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, data.qpos[start + 3 : start + 7])
                T[at : at + 3, at : at + 3] = R.reshape(3, 3)
                drift[at : at + 3] = R.reshape(3, 3) @ np.cross(v[at + 3 : at + 6], v[at : at + 3])
                start += 3
            if model.jnt_type[joint] in (free, ball):
                q[start : start + 4] = np.roll(data.qpos[start : start + 4], -1)  # w x y z there, x y z w here
        data.qvel[:], data.qacc[:] = T @ v, T @ a + drift
        mujoco.mj_forward(model, data)
        data.qacc[:] = T @ a + drift
        expected = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, expected)
        expected = T.T @ (expected + model.dof_armature * data.qacc)
        assert relative_error(programs("inverse_dynamics", q=q, qd=v, qdd=a), expected) < 1e-12
        M = np.zeros((model.nv, model.nv))
        for k, column in enumerate(np.eye(model.nv)):
            mujoco.mj_mulM(model, data, M[k], column)
        assert relative_error(programs("mass_matrix", q=q), T.T @ M @ T) < 1e-12


def test_an_arm_with_every_way_of_writing(tmp_path: Path) -> None:
    path = written(tmp_path, ARM)
    robot = load(path)
    assert robot.name == "test_arm"
    assert robot.velocity_names == ("pan", "lift", "roll", "ball.wx", "ball.wy", "ball.wz", "left", "right")
    assert robot.joints[0].limits.upper == pytest.approx(np.radians(120))
    assert robot.joints[0].actuation.viscous == 0
    compared(path, robot)
    driven = next(joint for joint in load(path.replace(tmp_path / "b.xml"), lock={"left": 0.01}).joints if joint.name == "roll")
    assert driven.actuation.motor_inertia == 0.2


def test_a_free_body(tmp_path: Path) -> None:
    path = written(tmp_path, FREE)
    robot = load(path)
    assert robot.joints[0].type.name == "floating"
    assert [link.name for link in robot.links] == ["world", "hull", "mast", "body3"]
    compared(path, robot)


def test_friction_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    text = ARM.replace('<joint name="ball" type="ball"', '<joint name="ball" type="ball" damping="0"')
    roll = next(joint for joint in load(written(tmp_path, text), friction=True).joints if joint.name == "roll")
    assert (roll.actuation.viscous, roll.actuation.coulomb) == (0.3, 0.5)
    with pytest.raises(RobotError, match=r"joints.ball.damping: got '0.3'"):
        load(written(tmp_path, ARM), friction=True)


EQUALITY = '<equality><joint joint1="right" joint2="left" polycoef="0.01 2 0.5 0 0"/></equality></mujoco>'


def test_joints_that_are_driven_by_others_follow_them(tmp_path: Path) -> None:
    robot = load(written(tmp_path, ARM.replace("</mujoco>", EQUALITY)))
    assert robot.velocity_names[-1] == "left"
    free = load(written(tmp_path, ARM))
    x = np.random.default_rng(2).uniform(-1, 1, (3, 8))
    q, v, a = (np.insert(row, 3, 0.5) if k == 0 else row[:7] for k, row in enumerate(x[:, :8]))
    q = np.concatenate([q[:3], [0.1, -0.3, 0.2, np.sqrt(1 - 0.14)], q[3:4]])
    s, slope = 0.01 + 2 * q[-1] + 0.5 * q[-1] ** 2, 2 + q[-1]
    full = {
        "q": np.append(q, s), "qd": np.append(v, slope * v[-1]), "qdd": np.append(a, slope * a[-1] + v[-1] ** 2),
    }  # fmt: skip
    F = Programs(free, ["inverse_dynamics"])("inverse_dynamics", **full)
    expected = np.append(F[:6], F[6] + slope * F[7])
    assert relative_error(Programs(robot, ["inverse_dynamics"])("inverse_dynamics", q=q, qd=v, qdd=a), expected) < 1e-12
    assert (
        load(written(tmp_path, ARM.replace("</mujoco>", EQUALITY)), mimic="independent").velocity_names == free.velocity_names
    )


def test_included_files_are_read_and_remembered(tmp_path: Path) -> None:
    body = FREE.partition("<worldbody>")[2].partition("</worldbody>")[0]
    (tmp_path / "sub").mkdir()
    written(tmp_path / "sub", f"<mujoco>{body}</mujoco>", "body.xml")
    top = written(tmp_path, FREE.replace(body, '<include file="sub/body.xml"/>'))
    whole = load(written(tmp_path, FREE, "whole.xml"))
    assert load(top).joints == whole.joints
    assert load(top).links == whole.links
    for text, message in (("sub/none.xml", "a file beside"), ("arm.xml", "not in a circle")):
        with pytest.raises(RobotError, match=message):
            load(written(tmp_path, FREE.replace(body, f'<include file="{text}"/>')))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "</mujoco>",
            '<equality><connect body1="left" body2="right" anchor="0 0 0"/></equality></mujoco>',
            "equality.connect.*tree",
        ),
        ("</mujoco>", EQUALITY.replace('"left"', '"rihgt"'), "equality.joint: got 'rihgt', .*did you mean 'right'"),
        ("</mujoco>", '<tendon><fixed name="t" stiffness="2"/></tendon></mujoco>', "tendon.t.stiffness"),
        ('type="cylinder"', 'type="mesh" mesh="x"', "bodies.palm.geoms.0.type: got 'mesh', .*<inertial"),
        ('eulerseq="zYx"', 'eulerseq="zY"', "compiler.eulerseq: got 'zY'"),
        ('angle="degree"', 'angle="grad"', "compiler.angle: got 'grad'"),
        ('angle="degree"', 'settotalmass="3"', "compiler.settotalmass"),
        ('childclass="fingers"', 'childclass="finger"', "default.finger: .*did you mean 'fingers'"),
        ("<default>", '<default class="all">', "default: got 'all', .*main"),
        ('type="ball"', 'type="balls"', "joints.ball.type: got 'balls', .*did you mean 'ball'"),
        ('type="ball"', 'type="free"', "a free joint alone"),
        ('armature="0"/>\n          <geom', 'armature="1"/>\n          <geom', "joints.ball.armature"),
        ('name="right" pos', 'name="left" pos', "bodies.left: .*occur once"),
        ('zaxis="0.3 0.2 -1"', 'zaxis="0 0 0"', "bodies.palm.zaxis: .*not zero"),
        ('zaxis="0.3 0.2 -1"', 'zaxis="1 2"', "bodies.palm.zaxis: .*3 numbers"),
        ('zaxis="0.3 0.2 -1"', 'zaxis="1 2 3" euler="1 2 3"', "one orientation"),
        ('axis="0 0.6 0.8"', 'axis="0 0 0"', "joints.pan.axis"),
        ('mass="2"', 'mass="x"', "bodies.shoulder.inertial.mass: got 'x', expected a number"),
        ('mass="2"', "", "inertial.mass"),
        ('diaginertia="0.03 0.02 0.015"', "", "got 'neither'"),
        ('size="0.05 0.1"', 'size="-1 2"', "sizes above zero"),
        ("<worldbody>", '<worldbody><composite type="cable"/>', "composite.*mj_saveLastXML"),
        ("mujoco", "robot", "is this a URDF"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ARM
    with pytest.raises(RobotError, match=message):
        quietly_loaded(written(tmp_path, ARM.replace(old, new)))


def test_springs_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(RobotWarning, match=r"joints.roll.stiffness: got '5', .*left out.*potential"):
        load(written(tmp_path, ARM.replace('name="roll"', 'name="roll" stiffness="5"')))
