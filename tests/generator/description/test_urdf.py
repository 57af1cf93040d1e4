"""URDF import: against Pinocchio on real robots, and element by element on small ones."""

import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from plain_kinematics import frames, mass_matrix, numeric
from scipy.spatial.transform import Rotation

from elastogen.generator.description.formats.urdf import read_urdf
from elastogen.generator.description.load_robot import load
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.robot import Actuation

REAL = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}


def real_path(name):
    """The path of a URDF inside the installed example-robot-data (which has no Python module of its own)."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return next(Path(str(file.locate())) for file in files if str(file).endswith(REAL[name]))


def joint_values(robot, rng):
    return {joint.name: rng.uniform(-1, 1) for joint in robot.moving_joints}


def pinocchio_q(pinocchio, model, values):
    q = pinocchio.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    return q


@pytest.mark.parametrize("name", REAL)
def test_frames_and_masses_agree_with_pinocchio(name):
    pinocchio = pytest.importorskip("pinocchio")
    path = real_path(name)
    robot = load(path, mimic="independent")
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    assert model.nv == len(robot.moving_joints)
    rng = np.random.default_rng(7)
    for _ in range(3):
        values = joint_values(robot, rng)
        q = pinocchio_q(pinocchio, model, values)
        pinocchio.framesForwardKinematics(model, data, q)
        placed = frames(robot, values)
        for link in robot.links:
            expected = data.oMf[model.getFrameId(link.name, pinocchio.FrameType.BODY)].homogeneous
            np.testing.assert_allclose(placed[link.name], expected, atol=1e-10, err_msg=link.name)
        full = np.triu(pinocchio.crba(model, data, q))
        full += np.triu(full, 1).T
        order = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.moving_joints]
        expected = full[np.ix_(order, order)] - np.diag(model.armature[order])
        np.testing.assert_allclose(mass_matrix(robot, values), expected, atol=1e-9 * np.max(expected))


def urdf(inside, name="arm"):
    return f'<?xml version="1.0"?><robot name="{name}">{inside}</robot>'


def link(name, mass=1.0, origin=""):
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>'
        '<inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial></link>'
    )


def joint(name, parent, child, kind="revolute", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def load_text(tmp_path, text, **options):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return load(path, **options)


def test_every_element_of_a_joint(tmp_path):
    inside = (
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 3 4"/>'
        '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
        '<dynamics damping="0.5" friction="0.25"/><safety_controller k_velocity="1"/><calibration/>'
    )
    text = urdf(link("a") + link("b") + joint("j", "a", "b", inside=inside) + "<transmission name='t'/><gazebo/>")
    assert load_text(tmp_path, text).joints[0].actuation == Actuation()  # ignored unless asked for
    robot = load_text(tmp_path, text, friction=True)
    (only,) = robot.joints
    assert robot.source == "robot.urdf"
    np.testing.assert_allclose(numeric(robot, only.axis), [0, 0.6, 0.8], atol=1e-15)
    np.testing.assert_allclose(
        numeric(robot, only.before)[:3, :3],
        Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix(),
        atol=1e-15,
    )
    assert [row[3] for row in only.before] == [1, 2, 3, 1]
    limits, drive = only.limits, only.actuation
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 3, 4)
    assert (drive.viscous, drive.coulomb, drive.motor_inertia) == (0.5, 0.25, 0)


def test_defaults_of_the_format(tmp_path):
    robot = load_text(tmp_path, urdf(link("a") + link("b") + joint("j", "a", "b", "continuous", "<limit effort='1'/>")))
    assert robot.joints[0].axis == (1, 0, 0)
    assert robot.joints[0].limits.lower is None
    assert robot.joints[0].limits.effort == 1


def test_inertia_is_rotated_into_the_link_frame(tmp_path):
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'
    robot = load_text(tmp_path, urdf(link("a") + link("b", origin=origin) + joint("j", "a", "b")))
    body = robot.link("b").body
    tensor = np.array([[0.3, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.4]])
    turn = Rotation.from_euler("xyz", [0.4, 0.5, 0.6]).as_matrix()
    np.testing.assert_allclose(numeric(robot, body.inertia), turn @ tensor @ turn.T, atol=1e-15)
    assert body.com == (0.1, 0.2, 0.3)


def test_children_keep_the_order_of_the_file(tmp_path):
    links = "".join(link(name) for name in ("d", "c", "b", "a", "e"))
    joints = joint("z", "a", "b") + joint("y", "a", "c", "prismatic") + joint("x", "b", "d", "fixed") + joint("w", "d", "e")
    robot = load_text(tmp_path, urdf(links + joints))
    assert [j.name for j in robot.joints] == ["z", "x", "w", "y"]
    assert [part.name for part in robot.links] == ["a", "b", "d", "e", "c"]
    assert robot.coordinate_names == ("z", "w", "y")
    assert robot.joints[1].type is kinds.FIXED
    assert robot.tip == "e"
    assert load_text(tmp_path, urdf(links + joints), tip="c").tip == "c"


def test_names_that_c_does_not_take(tmp_path):
    text = urdf(link("base") + link("left-hip.1") + joint("hip:left/1", "base", "left-hip.1"), name="my robot-2")
    robot = load_text(tmp_path, text, friction=True, live=["links.left-hip.1.mass", "joints.hip:left/1.friction.viscous"])
    assert robot.name == "my_robot_2"
    assert robot.coordinate_names == ("hip:left/1",)
    assert [p.name for p in robot.live_parameters] == ["left_hip_1_mass", "hip_left_1_viscous"]
    assert load_text(tmp_path, text, name="other").name == "other"
    assert load_text(tmp_path, urdf(link("a") + link("b") + joint("j", "a", "b"), name="2dof")).name == "robot_2dof"


def test_live_names_that_collide(tmp_path):
    links = link("base") + link("a-b") + link("a.b")
    text = urdf(links + joint("j", "base", "a-b") + joint("k", "a-b", "a.b"))
    with pytest.raises(RobotError, match="a_b_mass is not taken"):
        load_text(tmp_path, text, live=["links.*.mass"])


def test_a_massless_leaf_warns(tmp_path):
    text = urdf(link("a") + "<link name='b'/>" + joint("j", "a", "b"))
    with pytest.warns(RobotWarning, match="moving joints j"):
        assert load_text(tmp_path, text).link("b").body.mass == 0


def test_a_massless_link_in_between_does_not_warn(tmp_path):
    text = urdf(link("a") + "<link name='b'/>" + link("c") + joint("j", "a", "b") + joint("k", "b", "c"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_text(tmp_path, text)


GOOD = link("a") + link("b")
BAD = {
    "mimic": (
        GOOD + joint("j", "a", "b", inside="<mimic joint='other'/>"),
        "joints.j",
        "the coordinate of another joint",
    ),
    "planar": (GOOD + joint("j", "a", "b", "planar"), "joints.j.axis", "the normal of the plane"),
    "unknown type": (GOOD + joint("j", "a", "b", "ball"), "joints.j.type", "revolute.*spherical"),
    "no type": (
        GOOD + "<joint name='j'><parent link='a'/><child link='b'/></joint>",
        "joints.j.type",
        "None",
    ),
    "no parent": (
        GOOD + "<joint name='j' type='fixed'><child link='b'/></joint>",
        "joints.j.parent",
        "<parent link",
    ),
    "unknown link": (GOOD + joint("j", "a", "bb"), "joints.j.child", "name of a link"),
    "two roots": (GOOD, "links", "one base link"),
    "loop": (GOOD + joint("j", "a", "b") + joint("k", "b", "a"), "joints", "base link that no joint"),
    "far loop": (
        GOOD + link("c") + link("d") + joint("j", "a", "b") + joint("k", "c", "d") + joint("l", "d", "c"),
        "joints",
        "form a loop",
    ),
    "two parents": (
        GOOD + link("c") + joint("j", "a", "c") + joint("k", "b", "c"),
        "joints.k.child",
        "j carries it",
    ),
    "twice the link": (GOOD + link("a"), "links.a", "occur once"),
    "twice the joint": (
        GOOD + link("c") + joint("j", "a", "b") + joint("j", "b", "c"),
        "joints.j",
        "joint names that occur once",
    ),
    "zero axis": (GOOD + joint("j", "a", "b", inside="<axis xyz='0 0 0'/>"), "joints.j.axis", "zero vector"),
    "nan": (GOOD + joint("j", "a", "b", inside="<origin xyz='0 nan 0'/>"), "joints.j.origin.xyz", "finite"),
    "two numbers": (
        GOOD + joint("j", "a", "b", inside="<origin xyz='0 0'/>"),
        "joints.j.origin.xyz",
        "three numbers",
    ),
    "four numbers": (
        GOOD + joint("j", "a", "b", inside="<origin rpy='0 1.5 0 0'/>"),
        "joints.j.origin.rpy",
        "remove what is too much",
    ),
    "word": (GOOD + joint("j", "a", "b", inside="<limit lower='low'/>"), "joints.j.limit.lower", "'low'"),
    "negative mass": (link("a") + link("b", -1) + joint("j", "a", "b"), "links.b.mass", "zero or more"),
    "no mass": ("<link name='a'><inertial/></link>", "links.a.inertial", "<mass value"),
    "no name": ("<link/>", "link.name", "attribute name"),
    "no links": ("", "robot", "xacro"),
    "only fixed": (GOOD + joint("j", "a", "b", "fixed"), "joints", "at least one joint that moves"),
    "c in a name": (
        link("a") + link("b */ int x;") + joint("j", "a", "b */ int x;"),
        "links",
        "letters, digits",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_urdf(tmp_path, case):
    inside, field, says = BAD[case]
    with pytest.raises(RobotError, match=says) as caught:
        load_text(tmp_path, urdf(inside))
    assert caught.value.field.startswith(field)
    assert caught.value.source == str(tmp_path / "robot.urdf")
    assert caught.value.fix


TWICE = {  # what other readers take: the first element, no limit
    "axis": ("<axis xyz='0 0 1'/><axis xyz='0 1 0'/>", "2 <axis> elements"),
    "origin": ("<origin xyz='0.1 0.2 0.3'/><origin xyz='1 0 0'/>", "2 <origin> elements"),
    "limits": ("<limit lower='-1' upper='1' effort='3' velocity='2'/><limit lower='0'/>", "2 <limit> elements"),
    "swapped limits": ("<limit lower='1' upper='-1' effort='3' velocity='2'/>", "at most the upper limit -1: both are taken"),
}


@pytest.mark.parametrize("case", TWICE)
def test_what_is_doubtful_is_read_as_pinocchio_reads_it(tmp_path, case):
    pinocchio = pytest.importorskip("pinocchio")
    inside, says = TWICE[case]
    if "<axis" not in inside:
        inside += "<axis xyz='0 1 0'/>"
    if "<limit" not in inside:
        inside += "<limit lower='-1' upper='1' effort='3' velocity='2'/>"
    text = urdf(GOOD + joint("j", "a", "b", inside=inside))
    with pytest.warns(RobotWarning, match=says):
        robot = load_text(tmp_path, text)
    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, np.array([0.4]))
    theirs = data.oMf[model.getFrameId("b")].homogeneous
    np.testing.assert_allclose(frames(robot, {"j": 0.4})["b"], theirs, atol=1e-12)
    limits = robot.joints[0].limits
    assert (limits.velocity, limits.effort) == (model.velocityLimit[0], model.effortLimit[0])
    if case == "swapped limits":
        assert limits.lower is limits.upper is None
    else:
        assert (limits.lower, limits.upper) == (model.lowerPositionLimit[0], model.upperPositionLimit[0])


def test_what_bullet_reads_is_read_with_a_warning(tmp_path):
    """Files of pybullet_data: commas between numbers, a full stop too many, a NUL at the end."""
    inside = "<origin xyz='0.07, 0, -0.69'/><limit lower='-1.57.' upper='1' effort='3' velocity='2'/>"
    with pytest.warns(RobotWarning) as caught:
        robot = load_text(tmp_path, urdf(GOOD + joint("j", "a", "b", inside=inside)) + "\n\0")
    said = "\n".join(str(warning.message) for warning in caught)
    assert "j.origin.xyz: got '0.07, 0, -0.69'" in said
    assert "j.limit.lower: got '-1.57.', expected a number: -1.57 is taken" in said
    assert "NUL characters" in said
    assert [row[3] for row in robot.joints[0].before[:3]] == [0.07, 0, -0.69]
    assert robot.joints[0].limits.lower == -1.57
    for wrong in ("0,07 0 0", "0.07, 0 0", "1 2 3 4", "1.5.2 0 0"):
        with pytest.raises(RobotError, match="number"):
            load_text(tmp_path, urdf(GOOD + joint("j", "a", "b", inside=f"<origin xyz='{wrong}'/>")))
    for left in ("$(optenv IMU 0 0 1)", "${x} 0 0"):
        with pytest.raises(RobotError, match=r"this is xacro.*allow_xacro"):
            load_text(tmp_path, urdf(GOOD + joint("j", "a", "b", inside=f"<origin xyz='{left}'/>")))


def test_mimic_joints_on_request(tmp_path):
    text = urdf(GOOD + joint("j", "a", "b", inside="<mimic joint='other'/>"))
    assert load_text(tmp_path, text, mimic="independent").coordinate_names == ("j",)
    with pytest.raises(RobotError, match="j mimics other"):
        load_text(tmp_path, text, mimic="error")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><robot name="r">&b;</robot>', "entities"),
        ('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="r">&a;</robot>', "entities"),
        ('<!DOCTYPE r SYSTEM "http://localhost/r.dtd"><robot name="r"/>', "entities"),
        ('<robot name="r"><link name="a"></robot>', "well-formed XML"),
        ("", "well-formed XML"),
        ("<sdf/>", "outermost element"),
    ],
)
def test_hostile_and_broken_xml(text, says):
    with pytest.raises(RobotError, match=says):
        read_urdf(text, "bad.urdf")
