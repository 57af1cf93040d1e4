"""The format ``platformio``: a library."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.files.render import EXAMPLE
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    placed: Files = {f"src/{name}": text for name, text in project.c_files.items()}
    manifest = project.filled("library.json.j2")
    check = known_numbers(project.derivation, project.context)
    return {**placed, "library.json": manifest, EXAMPLE: project.model.bundle[EXAMPLE], CHECK: check}
