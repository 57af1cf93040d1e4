"""Xacro files: expanded like the URDF they stand for, with arguments, includes and packages; errors are named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from elastogen.generator.description.files import Files
from elastogen.generator.description.load_robot import load
from elastogen.generator.description.read_robot import Reading, read_file
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Robot

pytest.importorskip("xacro", reason="xacro is not installed")
MACRO = """
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="bar" params="name mass">
    <link name="${name}"><inertial><mass value="${mass}"/>
      <inertia ixx="0.1" iyy="${2*0.1}" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
</robot>
"""
ARM = """
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="two" default="false"/>
  <xacro:property name="length" value="${0.5 + 0.25}"/>
  <xacro:include filename="$(find arm_description)/macros/bar.xacro"/>
  <link name="base"/>
  <xacro:bar name="$(arg prefix)upper" mass="3"/>
  <joint name="j1" type="continuous"><parent link="base"/><child link="$(arg prefix)upper"/><axis xyz="0 0 1"/></joint>
  <xacro:if value="$(arg two)">
    <xacro:bar name="lower" mass="2"/>
    <joint name="j2" type="continuous"><parent link="$(arg prefix)upper"/><child link="lower"/>
      <origin xyz="${length} 0 0"/></joint>
  </xacro:if>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    package = tmp_path / "arm_description"
    (package / "macros").mkdir(parents=True)
    (package / "robots").mkdir()
    (package / "macros" / "bar.xacro").write_text(MACRO)
    path = package / "robots" / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def test_arguments_includes_and_packages(arm: Path) -> None:
    robot = load(arm, arguments={"prefix": "left_", "two": True})
    assert robot.links[1].name == "left_upper"
    assert robot.source == "arm.urdf.xacro"
    assert robot.coordinate_names == ("j1", "j2")
    assert [link.body.mass for link in robot.links] == [0, 3, 2]
    assert robot.joints[1].before[0][3] == 0.75
    assert load(arm).coordinate_names == ("j1",)


def test_as_a_base_it_says_what_it_includes(arm: Path) -> None:
    top = arm.parent / "top.yaml"
    top.write_text("elastogen: 1\nname: top\nbase_description: {file: arm.urdf.xacro, arguments: {two: true}}\n")
    files = Files()
    described = read_file(top, str(top), Reading(files=files))
    assert described.robot.coordinate_names == ("j1", "j2")
    assert {Path(name).name for name in files.contents} == {"top.yaml", "arm.urdf.xacro", "bar.xacro"}


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (ARM, {"tow": "true"}, "arguments.tow: got 'true', .*did you mean 'two'"),
        (ARM.replace("${0.5 + 0.25}", "${0.5 +}").replace("$(arg two)", "true"), {}, "arm.urdf.xacro: got .*can be expanded"),
        (ARM.replace("length} 0", "lenght} 0"), {"two": "true"}, "lenght"),
        (ARM.replace("bar.xacro", "rab.xacro"), {}, "rab.xacro"),
        (ARM.replace("arm_description", "other_description"), {}, "no package other_description above .*beside the file"),
        (ARM.replace('<xacro:arg name="prefix" default=""/>', ""), {}, "prefix.*arguments="),
        (ARM.replace("</robot>", ""), {}, "arm.urdf.xacro:16: got "),
        ("not xml", {}, "arm.urdf.xacro:1: got "),
        (ARM.replace("<robot", '<!DOCTYPE r [<!ENTITY x "y">]><robot').replace('mass="3"', 'mass="&x;"'), {}, "DTD"),
    ],
)
def test_errors_are_named(arm: Path, text: str, arguments: dict[str, Any], message: str) -> None:
    arm.write_text(text)
    with pytest.raises(RobotError, match=message):
        load(arm, arguments=arguments)
    arm.write_text(ARM)
    assert load(arm, arguments={"two": "true"}).coordinate_names == ("j1", "j2")  # nothing of the failure is left


def test_a_model_is_of_the_file_as_it_was(arm: Path) -> None:
    """What it includes is not known before it is expanded: it is loaded once, and not again for functions that come later."""
    from elastogen.build.start import _description

    description = _description(arm)
    arm.write_text("changed")
    assert isinstance(description, Robot)
    assert description.coordinate_names == ("j1",)


def test_without_the_package_the_fix_is_said(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(RobotError, match=r"pip install 'elastogen\[xacro\]'"):
        load(arm)
