"""``elastogen report``: collect everything about a robot on one page."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

import elastogen
from elastogen.commands.motion.animate import PAGE, motion
from elastogen.commands.motion.simulate import MOTION
from elastogen.commands.shared.option_choices import as_options
from elastogen.commands.shared.options import (
    COMPILATION,
    EMISSION,
    LOADING,
    TALKING,
    build_robot,
    load_with_warnings,
    warned_already,
    with_options,
)
from elastogen.commands.shared.progress import progress

if TYPE_CHECKING:
    from elastogen.build.pages.report.section import ReportSection
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime import Model
    from elastogen.verification.findings import Certificate


@click.command()
@LOADING
@PAGE
@MOTION
@click.option("--verify", is_flag=True, help="Run elastogen verify and show its certificate: takes seconds to minutes.")
@click.option(
    "--loop-seconds",
    type=click.FloatRange(0, 60),
    default=1.0,
    metavar="NUMBER",
    help="How long its real-time loop runs for the statistics (default 1; 0: not at all).",
)
@EMISSION
@COMPILATION
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Write everything about a robot into FILE (default NAME_report.html).

    Pictures, warnings, description, vibrations, workspace, a motion, costs, functions, real-time statistics, the certificate.
    """
    from elastogen.build.pages.page_text import check_page
    from elastogen.build.pages.report.report import report
    from elastogen.commands.motion.report_evidence import certificate

    robot, messages = load_with_warnings(options)
    page = options.page or f"{robot.name}_report.html"
    check_page(page)
    for message in [] if options.quiet else messages:
        print(f"warning: {as_options(message, vars(options))}", file=sys.stderr)
    result, _ = motion(robot, options, beside=False)
    model = build_robot(robot, options)
    note = robot.experiment.note if robot.experiment is not None else ""
    with warned_already():
        more = [_real_time(model, robot, options)] if options.loop_seconds > 0 else []
        more.append(certificate(_verified(robot, options), options.robot))
        with progress(f"reporting on {robot.name}", options):
            written = report(
                robot, page, motion=result, note=note, messages=messages, robot_text=_text(options.robot), more=more,
                force=options.force,
            )  # fmt: skip
    print(f"wrote {written}")


def _real_time(model: Model, robot: Robot, options: SimpleNamespace) -> ReportSection:
    from elastogen.build.pages.home import home
    from elastogen.commands.motion.report_evidence import real_time

    with progress(f"running {robot.name} in its loop", options):
        return real_time(model, home(robot, model), options.loop_seconds)


def _verified(robot: Robot, options: SimpleNamespace) -> Certificate | None:
    if not options.verify:
        return None
    with progress(f"verifying {robot.name}", options):
        return elastogen.verify(robot)


def _text(source: str) -> str:
    """Return the text of the robot file, whose comments name the sources of the numbers; other formats have few comments."""
    from elastogen.generator.description.files import YAML, builtin_names, builtin_text

    path = Path(source)
    if path.suffix.lower() in YAML and path.is_file():
        return path.read_text(encoding="utf-8", errors="replace")
    return builtin_text(source) if source in builtin_names() else ""
