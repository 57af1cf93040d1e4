"""MJCF files against MuJoCo itself: mass matrix and inverse dynamics, however a file writes poses and inertia; refusals."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError, RobotWarning

pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
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


def compared(path: Path, robot: Any, forces: bool = True) -> None:
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
        if forces:
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
    with pytest.raises(RobotError, match=r"joints.ball.damping: got 0.3"):
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
    for text, message in (("sub/none.xml", "a file, relative to the main one"), ("arm.xml", "not in a circle")):
        with pytest.raises(RobotError, match=message):
            load(written(tmp_path, FREE.replace(body, f'<include file="{text}"/>')))


def test_includes_are_those_of_mujoco(tmp_path: Path) -> None:
    """Nested, relative to the main file, else to their own, under any outermost element, each file once."""
    body = FREE.partition("<worldbody>")[2].partition("</worldbody>")[0]
    (tmp_path / "sub").mkdir()
    inside = '<mujocoinclude><include file="inner.xml"/><include file="beside.xml"/></mujocoinclude>'
    written(tmp_path / "sub", inside, "middle.xml")
    written(tmp_path / "sub", "<any><option gravity='0 0 -5'/></any>", "beside.xml")
    written(tmp_path, f"<mujocoinclude><worldbody>{body}</worldbody></mujocoinclude>", "inner.xml")
    written(tmp_path / "sub", "<mujocoinclude><worldbody/></mujocoinclude>", "inner.xml")
    top = written(tmp_path, '<mujoco><compiler angle="radian"/><include file="sub/middle.xml"/></mujoco>')
    robot = load(top)
    assert len(robot.velocities) == 7
    compared(top, robot)
    assert {Path(name).relative_to(tmp_path).as_posix() for name in robot.files} == {
        "arm.xml", "sub/middle.xml", "sub/beside.xml", "inner.xml",
    }  # fmt: skip
    twice = written(tmp_path, '<mujoco><include file="sub/middle.xml"/><include file="inner.xml"/></mujoco>', "twice.xml")
    with pytest.raises(RobotError, match="included once"):
        load(twice)


def test_armature_of_followers_and_actuators(tmp_path: Path) -> None:
    """In MuJoCo: M projected on the motions that the equality leaves, here with damping and armature of the follower."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    text = ARM.replace('axis="0 1 0" armature="0"', 'axis="0 1 0" armature="0.6"')
    text = text.replace("</mujoco>", '<actuator><motor joint="left" gear="3" armature="0.05"/></actuator></mujoco>')
    whole = mujoco.MjModel.from_xml_string(text)
    path = written(tmp_path, text.replace("</mujoco>", EQUALITY.replace("0.5 0 0", "0 0 0")))
    robot = load(path, friction=False)
    data, rng = mujoco.MjData(whole), np.random.default_rng(8)
    E = np.vstack([np.eye(7), [0, 0, 0, 0, 0, 0, 2]])
    q = rng.uniform(-1, 1, 8)
    q[3:7] /= np.linalg.norm(q[3:7])
    data.qpos[:] = [*q[:3], q[6], *q[3:6], q[7], 0.01 + 2 * q[7]]
    mujoco.mj_forward(whole, data)
    M = np.zeros((8, 8))
    for k, column in enumerate(np.eye(8)):
        mujoco.mj_mulM(whole, data, M[k], column)
    assert relative_error(Programs(robot, ["mass_matrix"])("mass_matrix", q=q), E.T @ M @ E) < 1e-12
    text = text.replace('type="ball" pos', 'type="ball" damping="0" pos')
    left = next(
        joint
        for joint in load(
            written(tmp_path, text.replace("</mujoco>", EQUALITY.replace("0.5 0 0", "0 0 0"))), friction=True
        ).joints
        if joint.name == "left"
    )
    assert left.actuation.viscous == pytest.approx(0.3 * 5)
    assert left.actuation.motor_inertia == pytest.approx(0.6 * 5 + 9 * 0.05)


CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {face}\n" for face in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
)
MESH = ARM.replace(
    "<worldbody>", '<asset><mesh name="cube" file="cube.obj" scale="0.1 0.2 0.3"/></asset><worldbody>', 1
).replace('<geom type="cylinder" size="0.05 0.1" euler="10 20 30"/>', '<geom type="mesh" mesh="cube"/>')


def test_a_mesh_has_inertia_where_it_moves(tmp_path: Path) -> None:
    """A cuboid of 0.1 x 0.2 x 0.3 m: MuJoCo's numbers and the closed form."""
    (tmp_path / "cube.obj").write_text(CUBE)
    path = written(tmp_path, MESH)
    robot = load(path)
    compared(path, robot)
    alone = load(written(tmp_path, MESH.replace('<geom type="sphere" size="0.06" pos="0 0 0.1" group="1"/>', "")))
    palm = alone.link("palm").body
    assert palm.mass == pytest.approx(700 * 0.006, rel=1e-9)
    assert np.diag(np.array(palm.inertia, dtype=float)) == pytest.approx(
        [4.2 / 12 * (0.04 + 0.09), 4.2 / 12 * (0.01 + 0.09), 4.2 / 12 * 0.05], rel=1e-9
    )
    assert {Path(name).name for name in robot.files} == {"arm.xml", "cube.obj"}
    (tmp_path / "cube.obj").unlink()
    with pytest.raises(RobotError, match=r"mesh\.cube: got 'cube\.obj', .*<inertial>"):
        load(path)


def test_meshes_that_have_no_part_are_not_missed(tmp_path: Path) -> None:
    """On what does not move, without mass, beside <inertial>; nor are textures, skins, materials, sensors."""
    text = MESH.replace('<geom type="mesh" mesh="cube"/>', "").replace(
        '<geom type="plane" size="1 1 1"/>',
        '<geom type="mesh" mesh="cube" material="paint"/><body name="post"><geom type="mesh" mesh="cube"/></body>',
    )
    text = text.replace("</asset>", '<texture name="t" file="t.png" type="2d"/><material name="paint" texture="t"/></asset>')
    text = text.replace('<inertial pos="0.1', '<geom type="mesh" mesh="cube"/><inertial pos="0.1')
    text = text.replace("</mujoco>", '<sensor><jointpos joint="pan"/></sensor><size memory="900G"/></mujoco>')
    robot = load(written(tmp_path, text))
    assert robot.velocity_names[:3] == ("pan", "lift", "roll")
    assert robot.link("shoulder").body.mass == 2


@pytest.mark.parametrize("setting", ['settotalmass="30"', 'boundmass="5"', 'inertiafromgeom="true"', 'balanceinertia="true"'])
def test_settings_of_the_compiler_count(tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it runs
    path = written(tmp_path, ARM.replace("<compiler", f"<compiler {setting}").replace(
        '<inertial pos="0.1', '<geom size="0.1"/><inertial pos="0.1'))  # fmt: skip
    compared(path, load(path))


def test_without_mujoco_the_fix_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RobotError, match=r"pip install 'elastogen\[mjcf\]'"):
        load(written(tmp_path, ARM))


def test_what_acts_in_mujoco_only_is_said(tmp_path: Path) -> None:
    text = ARM.replace('name="wrist"', 'name="wrist" gravcomp="1"').replace("<option", '<option density="1000"')
    with pytest.warns(RobotWarning) as caught:
        load(written(tmp_path, text))
    said = " ".join(str(warning.message) for warning in caught)
    assert "gravcomp of wrist" in said
    assert "density 1000" in said


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</mujoco>", EQUALITY.replace('"left"', '"rihgt"'), "rihgt"),
        ("</mujoco>", EQUALITY.replace('"left"', '"ball"'), "only HINGE and SLIDE joint"),
        ("</mujoco>", EQUALITY.replace("</equality>", '<joint joint1="right"/></equality>'), "row that is linear"),
        ("</mujoco>", EQUALITY.replace("0.01 2 0.5", "0.01 2 0").replace("</equality>",
         '<joint joint1="right" joint2="left" polycoef="0.02 2 0 0 0"/></equality>'), "contradict each other"),
        ("</mujoco>", '<tendon><fixed name="t" armature="2"><joint joint="pan" coef="1"/></fixed></tendon></mujoco>',
         "tendon.t.armature"),
        ('eulerseq="zYx"', 'eulerseq="zY"', "euler"),
        ('angle="degree"', 'angle="grad"', "grad|angle"),
        ('childclass="fingers"', 'childclass="finger"', "unknown default childclass.*<body name=.*finger"),
        ('type="ball"', 'type="balls"', "balls|type"),
        ('type="ball"', 'type="free"', "free joint"),
        ('armature="0"/>\n          <geom', 'armature="1"/>\n          <geom', "joints.ball.armature"),
        ('name="right" pos', 'name="left" pos', "repeated name"),
        ('zaxis="0.3 0.2 -1"', 'zaxis="1 2"', "zaxis"),
        ('axis="0 0.6 0.8"', 'axis="0 0 0"', "axis"),
        ('mass="2"', 'mass="x"', "mass"),
        ('size="0.06"', 'size="-1"', "size 0 must be positive"),
        ("<worldbody>", '<worldbody><composite type="cable"/>', "composite.*mj_saveLastXML"),
        ("<worldbody>", '<extension><plugin plugin="x"/></extension><worldbody><plugin plugin="x"/>', "plugin"),
        ("<asset>", '<asset><model file="/etc/passwd"/>', "model"),
        ("mujoco", "robot", "is this a URDF"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MESH
    (tmp_path / "cube.obj").write_text(CUBE)
    with pytest.raises(RobotError, match=message):
        quietly_loaded(written(tmp_path, MESH.replace(old, new)))


def test_springs_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(RobotWarning, match=r"joints.roll.stiffness: got 5.0, .*left out.*potential"):
        load(written(tmp_path, ARM.replace('name="roll"', 'name="roll" stiffness="5"')))
    several = "joints: got 'stiffness of 6 joints: pan, lift, roll, ball, left, ...', .*these are left out"
    with pytest.warns(RobotWarning, match=several) as said:
        load(written(tmp_path, ARM.replace('<joint armature="0.01"', '<joint stiffness="2" armature="0.01"')))
    assert sum("spring" in str(each.message) for each in said) == 1


TENDON = """
<tendon><fixed name="rope" damping="0.7" frictionloss="0.2" stiffness="3"><joint joint="left" coef="1"/></fixed></tendon>
<actuator><motor name="winch" tendon="rope" damping="0.4"/></actuator></mujoco>"""


def warnings_of(path: Path, **options: Any) -> str:
    with pytest.warns(RobotWarning) as caught:
        load(path, **options)
    return " ".join(str(warning.message) for warning in caught)


def test_friction_of_tendons_and_their_actuators_is_said_to_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, ARM.replace('damping="0.3"', "").replace("</mujoco>", TENDON))
    said = warnings_of(path, friction=True)
    for words in ("rope.damping: got 0.7", "rope.frictionloss: got 0.2", "rope.stiffness: got 3.0", "winch.damping: got 0.4"):
        assert words in said
    said = warnings_of(path)
    assert "rope.stiffness" in said
    assert "damping" not in said.replace("dissipation", "")


@pytest.mark.parametrize("way", ["joint", "jointinparent"])
def test_damping_of_actuators_acts_through_the_gear(tmp_path: Path, way: str) -> None:
    """Against the passive forces of MuJoCo, without springs: -D qd."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    text = ARM.replace('type="ball" pos', 'type="ball" damping="0" pos').replace(
        "</mujoco>", f'<actuator><motor {way}="pan" gear="3" damping="0.5" armature="0.1"/></actuator></mujoco>'
    )
    path = written(tmp_path, text)
    model = mujoco.MjModel.from_xml_path(str(path))
    if not hasattr(model, "actuator_damping"):
        pytest.skip("this MuJoCo has no damping of actuators")
    compared(path, load(path), forces=False)
    data = mujoco.MjData(model)
    data.qvel[0] = 2
    mujoco.mj_forward(model, data)
    pan = load(path, friction=True).joints[0].actuation
    assert pan.viscous == pytest.approx(-data.qfrc_passive[0] / 2, rel=1e-14)
    assert load(path).joints[0].actuation.viscous == 0


@pytest.mark.parametrize(
    ("flag", "viscous", "coulomb"),
    [("damper", 0, 0.5), ("frictionloss", 0.3, 0), ("constraint", 0.3, 0), ("spring", 0.3, 0.5)],
)
def test_what_flags_turn_off_does_not_act(tmp_path: Path, flag: str, viscous: float, coulomb: float) -> None:
    text = ARM.replace('type="ball" pos', 'type="ball" damping="0" pos').replace("</mujoco>", EQUALITY)
    text = text.replace('-9.7"/>', f'-9.7"><flag {flag}="disable"/></option>')
    robot = load(written(tmp_path, text), friction=True)
    roll = next(joint for joint in robot.joints if joint.name == "roll").actuation
    assert (roll.viscous, roll.coulomb) == (viscous, coulomb)
    assert ("right" in robot.velocity_names) == (flag == "constraint")  # MuJoCo then ties nothing


@pytest.mark.parametrize(
    "copies",
    [
        '<replicate count="1000000000"><body><joint/><geom size="0.1"/></body></replicate>',
        '<replicate count="30000"><replicate count="30000"><site/></replicate></replicate>',
        '<replicate count=" +1000000000"/>',
    ],
)
def test_copies_are_counted_before_mujoco_writes_them(tmp_path: Path, copies: str) -> None:
    """MuJoCo would write them out for two minutes, until its process is ended."""
    path = tmp_path / "copies.xml"
    path.write_text(f'<mujoco><worldbody><body><joint/><geom size="0.1"/></body>{copies}</worldbody></mujoco>')
    with pytest.raises(RobotError, match="at most 200000 XML elements, copies of <replicate> included"):
        load(path)
