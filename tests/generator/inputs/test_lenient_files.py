"""What other readers of robot files take without a word is taken with a warning; which tip is taken where none is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from elastogen.describe import describe
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.live import make_live
from elastogen.generator.robot.robot import Robot

MASS = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def urdf(edges: str, name: str = "arm", limit: str = "") -> str:
    """``a>b`` is a moving joint from a to b, ``a-b`` a fixed one."""
    links, joints = dict.fromkeys(""), ""
    for edge in edges.split():
        kind = ">" if ">" in edge else "-"
        parent, child = edge.split(kind)
        links |= {parent: None, child: None}
        moving = 'type="revolute"' if kind == ">" else 'type="fixed"'
        joints += f'<joint name="to_{child}" {moving}><parent link="{parent}"/><child link="{child}"/>{limit}</joint>'
    return f'<robot name="{name}">' + "".join(f'<link name="{n}">{MASS.format(1)}</link>' for n in links) + joints + "</robot>"


def loaded(folder: Path, text: str) -> Robot:
    path = folder / "arm.urdf"
    path.write_text(text)
    return load(path)


ARM = "base>a a>b b>c c-hand hand>left hand>right"


@pytest.mark.parametrize(
    ("edges", "tip"),
    [
        (ARM, "hand"),  # the last link before the fingers
        (f"{ARM} hand-hand_tcp", "hand_tcp"),
        (f"{ARM} c-panda_flange", "panda_flange"),
        (f"{ARM} c-tool0 c-flange", "tool0"),
        (f"{ARM} c-arm_tool_link hand-ft_tool_link", "ft_tool_link"),  # the outer one of two on one arm
        ("base>a a>b b>c c-d", "d"),  # one chain
        ("base>l1 l1>l2 l2>l3 base>r1 r1>r2", "l3"),  # branches that are not fingers
        ("base>w w>l1 l1>l2 w>r1 r1>r2", "l2"),
        ("base>a a>b b>tool_mount tool_mount>d", "d"),  # no frame of a tool
        ("base>a a>b b>c c>stator stator>gripper_mover", "stator"),  # one jaw
        ("base>a a>b b>c c-plate c>gripper gripper>jaw jaw-pad", "gripper"),
        ("base>finger1 finger1>finger2 finger2>finger3 finger3>finger4", "finger4"),  # a finger alone
        # a hand with long fingers behind an arm, whose tool frame stays in front of it
        ("base>a a>b b>c c-tool0 tool0>f1 f1>f2 f2>f3 f3>f4 f4>f5 tool0>g1 g1>g2 g2>g3", "tool0"),
    ],
)
def test_the_tip_of_an_arm(tmp_path: Path, edges: str, tip: str) -> None:
    assert loaded(tmp_path, urdf(edges)).tip == tip


def test_the_tip_is_said_with_the_others(tmp_path: Path) -> None:
    robot = loaded(tmp_path, urdf(f"{ARM} hand-hand_tcp"))
    assert "tip on hand_tcp (or hand, left, right: tip='...')" in describe(robot)
    assert "tip on d, payload" in describe(loaded(tmp_path, urdf("base>a a>d")))


def test_long_names_are_shortened_in_c(tmp_path: Path) -> None:
    name = "a_very_long_name_of_a_robot_with_a_gripper"
    with pytest.warns(RobotWarning, match=f"robot.name: got .{name}., .*31 characters: it is called a_very_long"):
        robot = loaded(tmp_path, urdf("base>a", name))
    with pytest.warns(RobotWarning):
        other = loaded(tmp_path, urdf("base>a", f"{name}_2"))
    assert len(robot.name) <= 31
    assert robot.name != other.name


@pytest.mark.parametrize("before", ["\n", "  \n<!-- a licence - or two -->\n"])
def test_a_declaration_that_comes_late(tmp_path: Path, before: str) -> None:
    with pytest.warns(RobotWarning, match=r"text before <\?xml"):
        robot = loaded(tmp_path, f'{before}<?xml version="1.0"?>\n{urdf("base>a")}')
    assert robot.coordinate_names == ("to_a",)


def test_negative_limits_mean_none(tmp_path: Path) -> None:
    with pytest.warns(RobotWarning, match=r"limit.velocity: got -1.* no limit"):
        robot = loaded(tmp_path, urdf("base>a", limit='<limit lower="-1" upper="1" velocity="-1" effort="5"/>'))
    assert (robot.joints[0].limits.velocity, robot.joints[0].limits.effort) == (None, 5)


def test_the_first_of_two_inertials(tmp_path: Path) -> None:
    text = urdf("base>a").replace(MASS.format(1), MASS.format(3) + MASS.format(4))
    with pytest.warns(RobotWarning, match="2 <inertial> elements.*the first is taken"):
        robot = loaded(tmp_path, text)
    assert robot.link("a").body.mass == 3


def test_prefixes_that_nobody_declares(tmp_path: Path) -> None:
    """Readers without name spaces, as urdfdom's, do not mind <sensor:camera>, as the Fetch's file has it."""
    text = "<!-- <robot x:y='1'> -->" + urdf("base>a").replace("</robot>", "<sensor:camera foo:x='1'/></robot>")
    with pytest.warns(RobotWarning, match="prefixes without xmlns: foo, sensor, x"):
        assert loaded(tmp_path, text).coordinate_names == ("to_a",)


def test_long_names_of_links(tmp_path: Path) -> None:
    """r2/fixed/head/vision_center_frame/... of NASA's R2 has 78 characters; live masses have members of C that it can hold."""
    name = "r2/" + 70 * "a"
    robot = make_live(loaded(tmp_path, urdf(f"base>{name} {name}>{name}b")), [f"links.{name}*.mass"])
    members = [parameter.name for parameter in robot.live_parameters]
    assert len({member[:63] for member in members}) == 2
    assert [len(member) for member in members] == [63, 63]


def test_names_of_other_formats_in_robot_files(tmp_path: Path) -> None:
    """Links and joints that a robot file names, but did not name."""
    (tmp_path / "arm.urdf").write_text(urdf("base>1/a:b 1/a:b>c"))
    (tmp_path / "arm.yaml").write_text("""
elastogen: 1
name: extended
base_description: arm.urdf
links: [{name: "1/a:b", mass: 2}]
joints: [{name: "to_1/a:b", motor: {inertia: 0.1}}]
points: [{name: mark, link: "1/a:b", xyz: [1, 0, 0]}, {name: place, joint: "to_1/a:b"}]
loops: [{type: distance, length: 2, a: {link: "1/a:b", xyz: [2, 0, 0]}, b: {link: world}}]
tip: {link: "1/a:b"}
""")
    robot = load(tmp_path / "arm.yaml")
    assert robot.tip == "1/a:b"
    assert robot.loops[0].a.link == "1/a:b"
