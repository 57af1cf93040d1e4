"""What the fuzzer mutates: every built-in robot, every whole robot of the documentation, the examples, small URDFs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata, resources
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
    """A file to mutate; ``data`` is the plain structure of a YAML file, None for a URDF."""

    name: str
    text: str
    data: Any = None

    @property
    def suffix(self) -> str:
        return ".urdf" if self.data is None else ".yaml"


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
            found.append(Original(name, text, data))
    return [*found, Original("plain", PLAIN_URDF), *installed_urdfs()]


def installed_urdfs() -> list[Original]:
    """Small URDF files of example-robot-data, where it is installed."""
    try:
        folder = Path(
            str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
        )
    except metadata.PackageNotFoundError:
        return []
    small = sorted(path for path in folder.rglob("*.urdf") if path.stat().st_size <= LARGEST_URDF)
    return [Original(path.stem, path.read_text(encoding="utf-8")) for path in small[:MOST_URDFS]]
