"""``elastogen cmake``: where CMake finds ``elastogen_add_robot``."""

from __future__ import annotations

from importlib import resources

import click

from elastogen.commands.shared.options import QUICK


@click.command()
@QUICK
def command() -> None:
    """Print the folder for elastogen_DIR, with which find_package(elastogen) gives elastogen_add_robot."""
    print(resources.files("elastogen.build.export") / "cmake")
