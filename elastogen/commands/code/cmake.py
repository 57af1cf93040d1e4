"""``elastogen cmake``: print the folder in which CMake finds ``elastogen_add_robot``."""

from __future__ import annotations

from importlib import resources

import click

from elastogen.commands.shared.options import QUICK


@click.command()
@QUICK
def command() -> None:
    """Print the folder for elastogen_DIR; find_package(elastogen) then defines elastogen_add_robot."""
    print(resources.files("elastogen.build.export") / "cmake")
