"""The format ``arduino``: a library with a sketch."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    placed: Files = {f"src/{name}": text for name, text in project.c_files.items()}
    sketch = f"{project.name}_example"
    return {
        **placed,
        "library.properties": project.filled("library.properties.j2"),
        f"examples/{sketch}/{sketch}.ino": project.filled("example.ino.j2"),
        CHECK: known_numbers(project.derivation, project.context),
    }
