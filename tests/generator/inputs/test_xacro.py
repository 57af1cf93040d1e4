"""Xacro files: expanded like the URDF they stand for, with arguments, includes and packages; errors are named."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from elastogen.generator.description.files import Files
from elastogen.generator.description.formats.isolated.ask import Limits
from elastogen.generator.description.load_robot import load
from elastogen.generator.description.read_robot import Reading, read_file
from elastogen.generator.robot.errors import RobotError

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
    robot = load(arm, allow_xacro=True, arguments={"prefix": "left_", "two": True})
    assert robot.links[1].name == "left_upper"
    assert robot.source == "arm.urdf.xacro"
    assert robot.coordinate_names == ("j1", "j2")
    assert [link.body.mass for link in robot.links] == [0, 3, 2]
    assert robot.joints[1].before[0][3] == 0.75
    assert load(arm, allow_xacro=True).coordinate_names == ("j1",)


def test_as_a_base_it_says_what_it_includes(arm: Path) -> None:
    top = arm.parent / "top.yaml"
    top.write_text("elastogen: 1\nname: top\nbase_description: {file: arm.urdf.xacro, arguments: {two: true}}\n")
    files = Files()
    described = read_file(top, str(top), Reading(files=files, allow_xacro=True))
    assert described.robot.coordinate_names == ("j1", "j2")
    assert {Path(name).name for name in files.contents} == {"top.yaml", "arm.urdf.xacro", "bar.xacro"}


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (ARM, {"tow": "true"}, "arguments.tow: got 'true', .*did you mean 'two'"),
        (ARM.replace("${0.5 + 0.25}", "${0.5 +}").replace("$(arg two)", "true"), {}, "arm.urdf.xacro: got .*can be expanded"),
        (ARM.replace("length} 0", "lenght} 0"), {"two": "true"}, "lenght"),
        (ARM.replace("bar.xacro", "rab.xacro"), {}, "rab.xacro"),
        (ARM.replace("arm_description", "other_description"), {}, "no package other_description above .*package_path="),
        (ARM.replace('<xacro:arg name="prefix" default=""/>', ""), {}, "prefix.*arguments="),
        (ARM.replace("</robot>", ""), {}, "arm.urdf.xacro:16: got "),
        ("not xml", {}, "arm.urdf.xacro:1: got "),
        (ARM.replace("<robot", '<!DOCTYPE r [<!ENTITY x "y">]><robot').replace('mass="3"', 'mass="&x;"'), {}, "DTD"),
    ],
)
def test_errors_are_named(arm: Path, text: str, arguments: dict[str, Any], message: str) -> None:
    arm.write_text(text)
    with pytest.raises(RobotError, match=message):
        load(arm, allow_xacro=True, arguments=arguments)
    arm.write_text(ARM)
    assert load(arm, allow_xacro=True, arguments={"two": "true"}).coordinate_names == (
        "j1",
        "j2",
    )  # nothing of the failure is left


def test_the_name_of_a_package_leads_to_a_folder(arm: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (arm.parents[1] / "macros").rename(tmp_path / "macros")
    elsewhere.mkdir()
    (tmp_path / "macros").rename(elsewhere / "macros")
    arm.write_text(ARM.replace("arm_description", "bars"))
    with pytest.raises(RobotError, match=r"no package bars above .*package_path="):
        load(arm, allow_xacro=True)
    assert load(arm, allow_xacro=True, package_path={"bars": elsewhere}).coordinate_names == ("j1",)
    with pytest.raises(RobotError, match=r"load: package_path\.bars: got .*nowhere.*the folder of a package"):
        load(arm, allow_xacro=True, package_path={"bars": tmp_path / "nowhere"})


@pytest.mark.parametrize("base_description", ["arm.urdf.xacro", "{file: arm.urdf.xacro, arguments: {two: true}}"])
def test_xacro_is_expanded_only_on_request(arm: Path, base_description: str) -> None:
    """Neither itself, nor where another file leads to it, nor when a model is built."""
    from elastogen.build.start import build_model

    top = arm.parent / "top.yaml"
    top.write_text(f"elastogen: 1\nname: top\nbase_description: {base_description}\n")
    for source in (arm, top):
        for refused in (load, build_model):
            with pytest.raises(RobotError, match=r"arm\.urdf\.xacro: got 'a xacro file'.*allow_xacro=True"):
                refused(source)
    assert load(top, allow_xacro=True).name == "top"


# Through the classes that Python has loaded, past xacro's list of names, to the functions of the module os.
CLASSES = "python.vars(python.type)['__subclasses__'](python.vars(python.type)['mro'](python.int)[-1])"
SYSTEM = f"[c.__init__.__globals__ for c in {CLASSES} if c.__name__ == '_wrap_close'][0]"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("['system']('touch {mark}')", "os.system"),
        ("['open']('{mark}', 65)", "write a file"),
        ("['mkdir']('{mark}')", "os.mkdir"),
        ("['remove']('{bystander}')", "os.remove"),
        ("['rename']('{bystander}', '{mark}')", "os.rename"),
        ("['execv']('/bin/touch', ['touch', '{mark}'])", "os.exec"),
        ("['fork']()", "os.fork"),
        ("['__builtins__']['__import__']('subprocess').run(['touch', '{mark}'])", "imports"),
        ("['__builtins__']['open']('{mark}', 'w')", "write a file"),
        ("['__builtins__']['__import__']('socket').create_connection(('127.0.0.1', 9))", "imports"),
        ("['__builtins__']['__import__']('_socket').socket()", "socket.__new__"),
        ("['__builtins__']['__import__']('ctypes').CDLL(None).system(b'touch {mark}')", "ctypes"),
        ("['mkfifo']('{mark}')", "mkfifo"),
        ("['mknod']('{mark}')", "mknod"),
        ("['setpriority'](0, 0, 1)", "setpriority"),
        ("['__builtins__']['__import__']('posix').mkfifo('{mark}')", "mkfifo"),
        ("['__builtins__']['__import__']('signal').pidfd_send_signal", "pidfd_send_signal"),
        ("['__builtins__']['__import__']('_posixshmem').shm_open('/elastogen-mark', 66, 384)", "imports _posixshmem"),
        (
            "['__builtins__']['__import__']('importlib.machinery').machinery.ExtensionFileLoader('m', '{mark}').load_module()",
            "imports m,",
        ),
    ],
)
def test_an_expression_that_escapes_does_nothing(arm: Path, tmp_path: Path, action: str, said: str) -> None:
    mark, bystander = tmp_path / "mark", tmp_path / "bystander"
    bystander.write_text("mine")
    expression = SYSTEM + action.format(mark=mark, bystander=bystander)
    arm.write_text(ARM.replace("${0.5 + 0.25}", "${" + expression + "}").replace('default="false"', 'default="true"'))
    with pytest.raises(RobotError, match=r"arm\.urdf\.xacro") as refused:
        load(arm, allow_xacro=True)
    assert not mark.exists()
    assert bystander.read_text() == "mine"
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "expression",
    ["[0 for i in python.range(10**12)]", "'x'*(3*2**30)", SYSTEM + "['_exit'](0)", SYSTEM + "['kill']({parent}, 0)"],
)
def test_time_and_memory_have_limits(arm: Path, expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from elastogen.generator.description.formats import xacro

    monkeypatch.setattr(xacro, "Limits", lambda: Limits(seconds=1))
    arm.write_text(
        ARM.replace("${0.5 + 0.25}", "${" + expression.replace("{parent}", str(os.getpid())) + "}").replace(
            'default="false"', 'default="true"'
        )
    )
    with pytest.raises(RobotError, match=r"arm\.urdf\.xacro"):
        load(arm, allow_xacro=True)


def test_included_files_are_read_as_safely(arm: Path) -> None:
    bar = arm.parents[1] / "macros" / "bar.xacro"
    bar.write_text('<!DOCTYPE r [<!ENTITY x "3">]>' + MACRO.replace('value="${mass}"', 'value="&x;"'))
    with pytest.raises(RobotError, match="DTDForbidden"):
        load(arm, allow_xacro=True)
    bar.unlink()
    bar.symlink_to("/dev/zero")
    with pytest.raises(RobotError, match="not a regular file"):
        load(arm, allow_xacro=True)
    bar.unlink()
    bar.write_text(MACRO + " " * (8 << 20))
    with pytest.raises(RobotError, match="more than 8192 KiB"):
        load(arm, allow_xacro=True)
    bar.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="bar.xacro"/></robot>')
    with pytest.raises(RobotError, match="xacro"):  # includes itself
        load(arm, allow_xacro=True)


def test_without_the_package_the_fix_is_said(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RobotError, match=r"pip install 'elastogen\[xacro\]'"):
        load(arm, allow_xacro=True)
