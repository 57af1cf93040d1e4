"""A format of export that elastogen does not have: the C files with a list of them, as a package manager might want it."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.export.registry import Format

FORMAT = Format("listing", "the C files and a list of them", takes_loop=False, module="added_kinds.listing_format")


def files(project: Project, choices: Choices) -> Files:
    """The C files, and LIST with a line for each."""
    return {**project.c_files, "LIST": "".join(f"{name}\n" for name in project.c_files)}
