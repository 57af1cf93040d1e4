"""File formats of other tools: a format is one entry here and one module with a function ``read``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastogen.generator.description.read_robot import Reading
    from elastogen.generator.robot.robot import Robot

_HERE = "elastogen.generator.description.formats"


@dataclass(frozen=True)
class FileFormat:
    """A format of robot files, known by how their names end."""

    name: str
    endings: tuple[str, ...]
    module: str  # has read(text, path, shown, reading) -> Robot; imported when the first file is read
    shown: str  # in messages
    takes: tuple[str, ...] = ()  # options of load that it alone has: "arguments", "model"
    depends_on_text: bool = True  # whether the file and what it names through Files say all about the robot

    def read(self, text: str, path: Path, shown: str, reading: Reading) -> Robot:
        """The robot of a file's text, not yet validated; messages call the file ``shown``."""
        robot: Robot = importlib.import_module(self.module).read(text, path, shown, reading)
        return robot


FILE_FORMATS: list[FileFormat] = [
    FileFormat("urdf", (".urdf",), f"{_HERE}.urdf", ".urdf"),
    FileFormat("xacro", (".xacro",), f"{_HERE}.xacro", ".xacro", takes=("arguments",), depends_on_text=False),
    FileFormat("sdf", (".sdf", ".world"), f"{_HERE}.sdf.read", ".sdf", takes=("model",)),
    FileFormat("mjcf", (".xml", ".mjcf"), f"{_HERE}.mjcf.read", "MJCF .xml"),
]


def format_of(path: Path) -> FileFormat | None:
    """The format of a file by its ending; None: YAML, or none that is known."""
    return next((each for each in FILE_FORMATS if path.suffix.lower() in each.endings), None)


def known_endings() -> tuple[str, ...]:
    """Endings of all these formats."""
    return tuple(ending for each in FILE_FORMATS for ending in each.endings)


def known_files() -> str:
    """What may be given, for messages."""
    *others, last = (each.shown for each in FILE_FORMATS)
    return f"a .yaml, {', '.join(others)} or {last} file"
