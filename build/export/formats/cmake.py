"""The format ``cmake``: target, install rules, find_package, pkg-config."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.formats.cpp import wrapper
from elastogen.build.export.project import Files, Project
from elastogen.build.files.render import EXAMPLE
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    placed: Files = {f"{'src' if name.endswith('.c') else 'include'}/{name}": text for name, text in project.c_files.items()}
    return {
        **placed,
        **{f"include/{name}": text for name, text in wrapper(project).items()},
        "CMakeLists.txt": project.filled("CMakeLists.txt.j2"),
        f"cmake/{project.name}-config.cmake.in": project.filled("config.cmake.in.j2"),
        f"cmake/{project.name}.pc.in": project.filled("pkgconfig.pc.in.j2"),
        EXAMPLE: project.model.bundle[EXAMPLE],
        CHECK: known_numbers(project.derivation, project.context),
    }
