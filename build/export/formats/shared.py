"""The format ``shared``: a compiled library with its headers."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.libraries import compile_shared
from elastogen.build.export.project import Files, Project
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    headers: Files = {name: text for name, text in project.c_files.items() if name.endswith(".h")}
    library = compile_shared(project.name, project.c_files, choices.target, choices.compile)
    check = known_numbers(project.derivation, project.context)
    return {**headers, project.context.library: library, "example.py": project.filled("example.py.j2"), CHECK: check}
