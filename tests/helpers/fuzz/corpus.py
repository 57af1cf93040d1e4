"""What the fuzzer mutates: every built-in robot, every whole robot of the documentation, small URDF, MJCF and SDF files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from elastogen.generator.description.files import builtin_names

ROOT = Path(__file__).resolve().parents[3]
LARGEST_URDF = 16_000  # bytes: small files are mutated more densely
MOST_URDFS = 8

PLAIN_URDF = """<?xml version="1.0"?>
<robot name="plain">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <link name="hand"><inertial><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="1.57079632679 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="hand"/><origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.2" effort="10" velocity="3"/></joint>
  <joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/><origin xyz="0.1 0 0"/></joint>
</robot>
"""

MJCF = """<mujoco model="arm">
  <compiler angle="degree" eulerseq="zYx"/>
  <option gravity="0 0 -9.81"/>
  <default>
    <joint armature="0.01" damping="0.3"/><geom density="700"/>
    <default class="finger"><joint type="slide" axis="0 1 0"/><geom type="box" size="0.02 0.03 0.05"/></default>
  </default>
  <worldbody>
    <body name="hull" pos="1 2 3" euler="10 20 30"><freejoint name="root"/>
      <inertial pos="0.01 0 0" mass="1.5" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
      <body name="upper" pos="0.1 0.2 0.3" quat="0.8 0.2 -0.3 0.4">
        <joint name="pan" axis="0 0.6 0.8" pos="0.05 0 0.02" range="-90 120" ref="25"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0.2 -0.3"/>
        <frame pos="0 0.1 0.4" axisangle="0 1 1 35">
          <body name="wrist" xyaxes="1 0.2 0 -0.1 1 0.3"><joint name="ball" type="ball" armature="0" damping="0"/>
            <geom type="ellipsoid" size="0.05 0.08 0.1" zaxis="1 1 -1" mass="0.7"/>
            <body name="left" childclass="finger"><joint name="left"/><geom/></body></body>
        </frame>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

SDF = """<sdf version="1.9">
  <model name="arm">
    <pose>0.1 0.2 0.3 0.1 -0.2 0.3</pose>
    <frame name="corner"><pose degrees="true">0.5 0 0 0 0 30</pose></frame>
    <link name="upper"><pose relative_to="corner">0 0.1 0.2 0.3 0.2 0.1</pose>
      <inertial><pose>0.01 0.02 0.1 0.2 0.1 0.4</pose><mass>2</mass>
        <inertia><ixx>0.03</ixx><iyy>0.025</iyy><izz>0.02</izz><ixy>0.001</ixy></inertia></inertial></link>
    <link name="lower"><pose relative_to="elbow">0.05 0 0.3 0 0 0</pose>
      <inertial><mass>1.5</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>
    <link name="nut"><pose rotation_format="quat_xyzw">0.4 -0.1 0.9 0.1 0.2 0.3 0.9</pose>
      <inertial><mass>0.4</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
    <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child><pose>0 0.02 0 0.1 0 0</pose>
      <axis><xyz expressed_in="__model__">0 0.6 0.8</xyz><limit><lower>-1</lower><upper>2</upper></limit>
        <dynamics><damping>0.2</damping></dynamics></axis></joint>
    <joint name="elbow" type="universal"><parent>upper</parent><child>lower</child>
      <pose relative_to="upper">0.1 0 0.4 0 0 1</pose>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz expressed_in="corner">0 1 0</xyz></axis2></joint>
    <joint name="thread" type="screw"><parent>lower</parent><child>nut</child><screw_thread_pitch>0.5</screw_thread_pitch>
      <axis><xyz>0 0 2</xyz></axis></joint>
  </model>
</sdf>
"""

SDF_CHAIN = """<sdf version="1.7">
  <model name="chain">
    <frame name="corner" attached_to="base"><pose>0.5 0 0 0 0 0.3</pose></frame>
    <link name="base"><pose>0.1 0 0.2 0 0.3 0</pose><inertial><mass>3</mass></inertial></link>
    <link name="upper"><pose relative_to="corner">0 0.1 0.2 0.3 0.2 0.1</pose>
      <inertial><pose>0.01 0.02 0.1 0.2 0.1 0.4</pose><mass>2</mass>
        <inertia><ixx>0.03</ixx><iyy>0.025</iyy><izz>0.02</izz><ixy>0.001</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
    <link name="lower"><pose relative_to="slide">0.05 0 0.3 0 0 0</pose>
      <inertial><mass>1.5</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>
    <link name="plate"><pose relative_to="lower">0.4 -0.1 0.9 0.1 0.2 0.3</pose>
      <inertial><mass>0.4</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
    <link name="hand"><pose relative_to="roll">0 0 0.2 0 0 0</pose>
      <inertial><pose>0 0.05 0 0 0 0</pose><mass>0.6</mass>
        <inertia><ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial></link>
    <joint name="shoulder" type="revolute"><parent>base</parent><child>upper</child><pose>0 0.02 0 0.1 0 0</pose>
      <axis><xyz expressed_in="__model__">0 0.6 0.8</xyz><limit><lower>-1</lower><upper>2</upper></limit>
        <dynamics><damping>0.2</damping></dynamics></axis></joint>
    <joint name="slide" type="prismatic"><parent>upper</parent><child>lower</child>
      <pose relative_to="upper">0.1 0 0.4 0 0 1</pose><axis><xyz>1 0 0</xyz></axis></joint>
    <joint name="weld" type="fixed"><parent>lower</parent><child>plate</child></joint>
    <joint name="roll" type="continuous"><parent>plate</parent><child>hand</child><pose relative_to="plate">0 0.3 0 0 1 0</pose>
      <axis><xyz expressed_in="corner">0 0 2</xyz></axis></joint>
  </model>
</sdf>
"""

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="two" default="true"/>
  <xacro:property name="length" value="${0.5 + 0.25}"/>
  <xacro:macro name="bar" params="name mass:=2 *origin">
    <link name="${name}"><inertial><xacro:insert_block name="origin"/><mass value="${mass}"/>
      <inertia ixx="${mass*length**2/12}" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <link name="base"/>
  <xacro:bar name="upper"><origin xyz="${length/2} 0 0"/></xacro:bar>
  <joint name="j1" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
  <xacro:if value="$(arg two)">
    <xacro:bar name="lower" mass="1"><origin xyz="${length*sin(0.3)} 0 0"/></xacro:bar>
    <joint name="j2" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="${length} 0 0"/></joint>
  </xacro:if>
</robot>
"""

COUPLED = """elastogen: 1
name: coupled
base: floating
lock: {finger: 0.02}
parameters: {ratio: 0.5}
live: [ratio]
links:
  - {name: hub, mass: 2, inertia: [0.1, 0.1, 0.1]}
  - {name: upper, mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02]}
  - {name: lower, mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02]}
  - {name: tip, mass: 0.1, inertia: [0.001, 0.001, 0.001]}
joints:
  - {name: shoulder, type: revolute, parent: hub, child: upper, axis: [0, 0, 1]}
  - {name: belt, type: revolute, parent: upper, child: lower, axis: [0, -1, 0], follows: "-ratio*q('shoulder') + 0.1"}
  - {name: finger, type: prismatic, parent: lower, child: tip, axis: [1, 0, 0]}
"""

BASED = """elastogen: 1
name: based
base_description: two_link
live: [payload.mass]
links:
  - name: upper
    frame: {xyz: [0, 0, 0]}
    flexible: {type: elements, length: 0.4, mass_per_length: 0.5, EI: 20, elements: 2, damping: {ratio: 0.01}}
    rest: tip
joints:
  - {name: elbow, motor: {inertia: 1.0e-4, gear_ratio: 50}, elasticity: {stiffness: 800}}
points: [{name: gauge, link: upper, x: 0.1, strain: {direction: y, offset: 0.01}}]
"""


@dataclass(frozen=True)
class Original:
    """A file to mutate; ``data`` is the plain structure of a YAML file, None for XML."""

    name: str
    text: str
    suffix: str
    data: Any = None


def originals() -> list[Original]:
    """All of them, in an order that does not depend on the machine."""
    robots = resources.files("elastogen.generator.description") / "robots"
    texts = [(name, (robots / f"{name}.yaml").read_text(encoding="utf-8")) for name in builtin_names()]
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[!g]*/*.md")]):
        for k, block in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)):
            texts.append((f"{page.stem}-{k}", block))
    texts += [("coupled", COUPLED), ("based", BASED)]
    found = []
    for name, text in texts:
        data = YAML(typ="safe", pure=True).load(text)
        whole = isinstance(data, dict) and "elastogen" in data and "[...]" not in text
        if whole and "." not in str(data.get("base_description", "")):  # other files are not there
            found.append(Original(name, text, ".yaml", data))
    xml = [Original("plain", PLAIN_URDF, ".urdf"), Original("mjcf", MJCF, ".xml"), Original("sdf", SDF, ".sdf"),
           Original("sdf-chain", SDF_CHAIN, ".sdf")]  # fmt: skip
    if find_spec("xacro") is not None:
        xml.append(Original("xacro", XACRO, ".xacro"))
    return [*found, *xml, *installed_urdfs()]


def installed_urdfs() -> list[Original]:
    """Small URDF files of example-robot-data, where it is installed."""
    try:
        folder = Path(
            str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
        )
    except metadata.PackageNotFoundError:
        return []
    small = sorted(path for path in folder.rglob("*.urdf") if path.stat().st_size <= LARGEST_URDF)
    return [Original(path.stem, path.read_text(encoding="utf-8"), ".urdf") for path in small[:MOST_URDFS]]
