"""The format ``python``: a project that builds a wheel of the compiled model."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.export.wheels import cross_wheel
from elastogen.build.known_numbers import known_numbers
from elastogen.build.module.compile import module_source


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    folder = f"{project.name}_model"
    package: Files = {
        **{f"{folder}/{name}": text for name, text in project.c_files.items()},
        f"{folder}/__init__.py": project.filled("package.py.j2"),
        f"{folder}/py.typed": "",
        f"{folder}/_{project.name}.c": module_source(project.model, f"_{project.name}"),
    }
    wheel = {} if choices.target is None else cross_wheel(project, package, choices.target, choices.compile)
    return {
        **{f"src/{name}": text for name, text in package.items()},
        **wheel,
        "pyproject.toml": project.filled("pyproject.toml.j2"),
        "setup.py": project.filled("setup.py.j2"),
        "example.py": project.filled("example.py.j2"),
        "tests/test_numbers.py": known_numbers(project.derivation, project.context, "export/python/test_numbers.py.j2"),
    }
