"""The formats of export: one entry here and one module, ``build/export/formats/<name>.py``, each.

Command line, checks and documentation read the entries; this module imports nothing that is slow to import. How to add one:
docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from elastogen.build.export.choices import Choices
    from elastogen.build.export.project import Files, Project
    from elastogen.generator.robot.robot import Robot

BARE_METAL = ("", "_ik", "_simulate", "_switch", "_loop")  # endings of the C files without threads and POSIX


@dataclass(frozen=True)
class Format:
    """A format of export. Its module has ``files(project, choices)`` and, where it needs certain functions, ``outputs``."""

    name: str
    doc: str
    takes_loop: bool = True
    compiles: bool = False  # a library, whose name the README gives
    takes_target: bool = False
    takes_header_only: bool = False
    precision: str = "double"  # where the user asks for none
    chooses: bool = False  # its functions follow from the robot and its frames; else the user chooses
    parts: tuple[str, ...] | None = None  # endings of the C files that it takes; None: all
    simulates: bool = False  # its own code calls the integrators, in double whatever the model's precision is
    adds: bool = False  # functions to those that the user chooses
    module: str = ""  # "": the one of its name in build/export/formats

    def files(self, project: Project, choices: Choices) -> Files:
        """Return the project's files by name, without the README."""
        return cast("Callable[[Project, Choices], Files]", self._own("files"))(project, choices)

    def outputs(self, robot: Robot, frames: Sequence[str]) -> tuple[str, ...]:
        """Return the functions that the format needs."""
        return cast("Callable[[Robot, Sequence[str]], tuple[str, ...]]", self._own("outputs"))(robot, frames)

    def added(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the functions that the user chose (None: no choice) together with those that the format needs."""
        return cast("Callable[[Sequence[str] | None], tuple[str, ...]]", self._own("added"))(names)

    def _own(self, name: str) -> object:
        return getattr(import_module(self.module or f"elastogen.build.export.formats.{self.name}"), name)


_ENTRIES = (
    Format("c", "C99 files that drop in anywhere", takes_header_only=True),
    Format("cpp", "the C files with a header-only C++17 wrapper"),
    Format("cmake", "a CMake project: target, install rules, find_package, pkg-config"),
    Format(
        "python", "a project that builds a wheel of the compiled model", takes_loop=False, takes_target=True, simulates=True
    ),
    Format("shared", "a compiled library with its headers", compiles=True, takes_target=True),
    Format(
        "fmu2", "a functional mock-up unit, FMI 2.0", takes_loop=False, takes_target=True, chooses=True, simulates=True
    ),
    Format(
        "fmu3", "a functional mock-up unit, FMI 3.0", takes_loop=False, takes_target=True, chooses=True, simulates=True
    ),
    Format("mex", "a gateway and a package for MATLAB and Octave", takes_loop=False, parts=("",)),
    Format(
        "casadi", "functions with their derivatives in C, for C code of CasADi", takes_loop=False, parts=("",), adds=True
    ),
    Format("opencl", "batch kernels in OpenCL C, with hosts in Python and C", takes_loop=False, parts=("",)),
    Format("cuda", "batch kernels in CUDA C++, with hosts in Python and C", takes_loop=False, parts=("",)),
    Format(
        "ros2", "a ROS 2 package: a plugin for inverse dynamics and a node", takes_loop=False, chooses=True, parts=("", "_ekf")
    ),
    Format("arduino", "an Arduino library with a sketch", precision="float", parts=BARE_METAL),
    Format("platformio", "a PlatformIO library", precision="float", parts=BARE_METAL),
    Format("zephyr", "a Zephyr module", precision="float", parts=BARE_METAL),
)  # fmt: skip
FORMATS: dict[str, Format] = {entry.name: entry for entry in _ENTRIES}


def with_option(option: str) -> str:
    """Return the names of the formats that take an option, for help and documentation: "python, shared"."""
    return ", ".join(name for name, entry in FORMATS.items() if getattr(entry, option))
