"""The dependencies of an export as a rule for make and ninja: the files of the robot and those of this tool."""

from __future__ import annotations

import os
from pathlib import Path

from elastogen.build.files.write import writing_to
from elastogen.build.stamps import PACKAGE, ROOMS_THAT_SHAPE_CODE, SOURCES
from elastogen.generator.robot.robot import Robot

SHAPING = (*SOURCES, ".yaml")  # among the files of this tool: robots that have names, too


def write_rule(path: Path, directory: Path, robot: Robot) -> None:
    """Write the rule to ``path``: the C of a robot in ``directory`` depends on all files from which it is made."""
    tool = [file for room in ROOMS_THAT_SHAPE_CODE for file in (PACKAGE / room).rglob("*") if file.suffix in SHAPING]
    needed = [*robot.files, *sorted(map(str, tool))]
    rule = " \\\n  ".join([f"{_escaped(str(directory / robot.name))}.c:", *map(_escaped, needed)])
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    with writing_to(path):
        scratch.write_text(f"{rule}\n", encoding="utf-8")
        os.replace(scratch, path)


def _escaped(path: str) -> str:
    return path.replace("\\", "/").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
