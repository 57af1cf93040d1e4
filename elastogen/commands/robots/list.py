"""``elastogen list``: list the built-in robots."""

from __future__ import annotations

import shutil
import textwrap
import warnings
from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import AS_JSON, TALKING, print_json, with_options
from elastogen.commands.shared.progress import progress


@click.command()
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Print the built-in robots: name, number of coordinates, and a description."""
    from elastogen.generator.description.files import builtin_names

    with progress("loading the built-in robots", options), warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robots = [elastogen.load(name) for name in builtin_names()]
    if options.as_json:
        print_json([{"name": r.name, "coordinates": len(r.coordinates), "description": r.description} for r in robots])
        return
    width = max(len(robot.name) for robot in robots)
    room = max(shutil.get_terminal_size((120, 24)).columns - width - 7, 40)  # a line for each robot
    for robot in robots:
        description = textwrap.shorten(robot.description, room, placeholder=" ...")
        print(f"{robot.name:<{width}}  {len(robot.coordinates):>3}  {description}")
