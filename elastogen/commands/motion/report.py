"""``elastogen report``: everything about a robot on one page."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import click

from elastogen.commands.motion.animate import PAGE, motion
from elastogen.commands.motion.simulate import MOTION
from elastogen.commands.shared.option_words import as_options
from elastogen.commands.shared.options import (
    COMPILATION,
    EMISSION,
    LOADING,
    TALKING,
    load_with_warnings,
    warned_already,
    with_options,
)
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@PAGE
@MOTION
@EMISSION
@COMPILATION
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Write pictures, vibrations, workspace, a motion, costs and functions of a robot into FILE (default NAME_report.html)."""
    from elastogen.build.pages.report.report import report

    robot, messages = load_with_warnings(options)
    for message in [] if options.quiet else messages:
        print(f"warning: {as_options(message, vars(options))}", file=sys.stderr)
    result, _ = motion(robot, options, beside=False)
    note = robot.experiment.note if robot.experiment is not None else ""
    page = options.page or f"{robot.name}_report.html"
    with progress(f"reporting on {robot.name}", options), warned_already():
        written = report(robot, page, motion=result, note=note, messages=messages, force=options.force)
    print(f"wrote {written}")
