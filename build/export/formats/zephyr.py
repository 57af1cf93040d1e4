"""The format ``zephyr``: a module."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.files.render import EXAMPLE
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    placed: Files = {f"{'src' if name.endswith('.c') else 'include'}/{name}": text for name, text in project.c_files.items()}
    filled = {f"zephyr/{name}": project.filled(f"{name}.j2") for name in ("module.yml", "CMakeLists.txt", "Kconfig")}
    check = known_numbers(project.derivation, project.context)
    return {**placed, **filled, EXAMPLE: project.model.bundle[EXAMPLE], CHECK: check}
