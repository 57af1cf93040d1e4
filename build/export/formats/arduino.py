"""An Arduino library with a sketch."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project


def files(project: Project, choices: Choices) -> Files:
    """All of its files but the README."""
    placed: Files = {f"src/{name}": text for name, text in project.c_files.items()}
    sketch = f"{project.name}_example"
    return {
        **placed,
        "library.properties": project.filled("library.properties.j2"),
        f"examples/{sketch}/{sketch}.ino": project.filled("example.ino.j2"),
    }
