"""The format ``cpp``: the C files with a header-only C++17 wrapper."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.reserved import LIBRARY_FUNCTIONS

WRAPPER_NAMES = ("real", "parameters", "array", "nq", "nframes", "as_matrix")  # of templates/export/cpp/wrapper.hpp.j2


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    own = {"examples/example.cpp": project.filled("example.cpp.j2"), CHECK: known_numbers(project.derivation, project.context)}
    return {**project.c_files, **wrapper(project), **own}


def wrapper(project: Project) -> dict[str, str]:
    """Return the C++ header around the C functions, for every format that includes it."""
    if project.name in LIBRARY_FUNCTIONS:
        raise OutputError(
            f"format {project.context.format!r}: got the robot {project.name!r}, expected a name that a namespace can have "
            "beside C's functions. "
            f"Fix: load(..., name='{project.name}_arm')."
        )
    for function in project.context.functions:
        if (own := function.prototype.name.removeprefix(f"{project.name}_")) in WRAPPER_NAMES:
            raise OutputError(
                f"format {project.context.format!r}: got the own function {own!r}, expected a name that the wrapper does "
                "not use for its types. "
                f"Fix: rename it, for example my_{own}."
            )
    return {f"{project.name}.hpp": project.filled("cpp/wrapper.hpp.j2")}
