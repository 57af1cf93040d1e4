"""``elastogen new``: write a commented robot file that builds, as a start for one's own."""

from __future__ import annotations

from pathlib import Path

import click

from elastogen.commands.shared.options import FILE, QUICK
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import check_robot_name

HEAD = """\
# A robot file: SI units, radians. What each key means: docs/robots/robot-files.md. Check it: elastogen check {file}
elastogen: 1                              # version of the format
name: {name}{space}                       # prefix of all names in the emitted C
"""
RIGID = """\
gravity: [0, 0, -9.81]                    # [m/s^2], in the base frame
parameters:                               # named numbers, for expressions below
  upper_length: {value: 0.4, unit: m}
live: [payload]                           # numbers that stay inputs of the emitted C, changeable while it runs

links:                                    # mass [kg], centre of mass [m], inertia about it [kg m^2], in the link's frame
  - {name: base}
  - {name: upper, mass: 3.0, com: [upper_length / 2, 0, 0], inertia: [0.004, 0.04, 0.04]}
  - {name: lower, mass: 2.0, com: [0.15, 0, 0], inertia: [0.002, 0.02, 0.02]}

joints:                                   # each joint: its place in the parent's frame [m, rad], and its axis there
  - {name: shoulder, type: revolute, child: upper, axis: [0, -1, 0], placement: {xyz: [0, 0, 0.3]},
     limits: {lower: -2, upper: 2, effort: 80}}
  - {name: elbow, type: revolute, child: lower, axis: [0, -1, 0], placement: {xyz: [upper_length, 0, 0]}}

tip: {link: lower, xyz: [0.3, 0, 0]}      # the frame of forward_kinematics' last row and of the Jacobian
payload: {mass: 0.5}                      # at the tip [kg]
"""
FLEXIBLE = """\
gravity: [0, 0, -9.81]                    # [m/s^2], in the base frame

links:
  - {name: base}
  - name: beam                            # a flexible link, along x of its own frame
    flexible:
      type: modes                         # assumed modes; others: elements, standard_data (docs/robots/flexible-links.md)
      length: 0.8                         # [m]
      mass_per_length: 0.35               # [kg/m]
      EI: 0.17                            # bending stiffness [N m^2]
      modes:                              # the lowest clamped-free eigenfunctions, in the plane of the motion
        - {direction: y, eigenfunction: 1}
        - {direction: y, eigenfunction: 2}
      damping: {ratio: 0.01}              # of each clamped mode

joints:
  - {name: hub, type: revolute, child: beam, axis: [0, 0, 1], motor: {inertia: 1.0e-5, gear_ratio: 50}}

payload: {mass: 0.1}                      # at the end of the beam [kg]
"""
PLANAR = """\
planar:                                   # a robot of paper 003: one line per link, in x-y (docs/robots/planar-robots.md)
  gravity: [0, -9.81]                     # [m/s^2]
  payload: {mass: 0.1}                    # [kg]
  links:
    - {joint: R, rigid: true, length: 0.2, mass: 2.0, inertia: 0.01}
    - {joint: Pb, gamma: 0, length: 0.8, mass_per_length: 0.35, EI: 0.17, elements: 3}  # slides through the end of the first
"""
KINDS = {"rigid": RIGID, "flexible": FLEXIBLE, "planar": PLANAR}


@click.command()
@click.argument("name")
@click.argument("file", required=False, type=FILE)
@click.option("--kind", type=click.Choice(list(KINDS)), default="rigid", help="What to begin with (default rigid).")
@QUICK
def command(name: str, file: Path | None, kind: str) -> None:
    """Write a commented robot file that builds, NAME.yaml or FILE."""
    path = file or Path(f"{name}.yaml")
    text = robot_file(name, kind, path)
    check_robot_name(name, Location("new").at("NAME"))
    try:
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Location(str(path)).error("a file that exists", "a new one", "name another FILE") from None
    print(f"wrote {path}: edit it, then elastogen check {path}")


def robot_file(name: str, kind: str, file: Path) -> str:
    """The text of a new robot file."""
    head = HEAD.format(name=name, file=file, space=" " * max(0, 13 - len(name)))
    return f"{head}\n{KINDS[kind]}"
