"""A file format that elastogen does not have: one line for each link of an arm, "<name> <length [m]> <mass [kg]>"."""

from __future__ import annotations

from pathlib import Path

from elastogen.generator.description.formats.registry import FileFormat
from elastogen.generator.description.formats.urdf import read_urdf
from elastogen.generator.description.read_robot import Reading
from elastogen.generator.robot.robot import Robot

FORMAT = FileFormat("arms", (".arm",), __name__, ".arm")
LINK = (
    '<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="to_{name}" type="continuous"><parent link="{before}"/><child link="{name}"/>'
    '<origin xyz="{length} 0 0"/><axis xyz="0 1 0"/></joint>'
)


def read(text: str, path: Path, shown: str, reading: Reading) -> Robot:
    """The robot of a list of links."""
    links, before, reached = [], "base", 0.0
    for line in text.splitlines():
        name, length, mass = line.split()
        links.append(LINK.format(name=name, before=before, length=reached, half=float(length) / 2, mass=mass))
        before, reached = name, float(length)
    urdf = f'<robot name="{path.stem}"><link name="base"/>{"".join(links)}</robot>'
    return read_urdf(urdf, shown, **reading.of_every_format)
