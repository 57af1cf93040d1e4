"""The format ``fmu3``: a functional mock-up unit, FMI 3.0."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.fmu.unit import fmu_files
from elastogen.build.export.fmu.unit import fmu_outputs as outputs
from elastogen.build.export.project import Files, Project

__all__ = ["files", "outputs"]


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    return fmu_files(project, 3, choices.target, choices.compile)
