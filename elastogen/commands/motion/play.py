"""``elastogen play``: write a page in which the emitted C of a robot runs."""

from __future__ import annotations

from types import SimpleNamespace

import click

from elastogen.commands.motion.animate import PAGE
from elastogen.commands.shared.options import LOADING, TALKING, load, warned_already, with_options
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@PAGE
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Compile a robot's own C to WebAssembly and put it into FILE (default NAME_play.html).

    In the page one can push the robot and change its payload and stiffness.
    """
    from elastogen.build.pages.play import play

    robot = load(options)
    with progress(f"compiling {robot.name} to WebAssembly", options), warned_already():
        written = play(robot, options.page or f"{robot.name}_play.html", force=options.force)
    print(f"wrote {written}")
