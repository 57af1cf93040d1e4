"""``elastogen animate``: draw a simulated motion as an interactive page or as a film."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from elastogen.commands.motion.simulate import MOTION, simulation_arguments
from elastogen.commands.shared.options import (
    COMPILATION,
    EMISSION,
    LOADING,
    OUTPUT,
    TALKING,
    build_robot,
    load,
    together,
    with_options,
)
from elastogen.commands.shared.progress import progress

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime import Simulation

PAGE = together(
    click.argument("page", metavar="[FILE]", type=OUTPUT, required=False),
    click.option("--force", is_flag=True, help="Overwrite FILE even if elastogen did not write it."),
)


@click.command()
@LOADING
@PAGE
@MOTION
@click.option(
    "--beside-rigid/--no-beside-rigid",
    default=None,
    help="Draw the rigid robot of the same numbers as a ghost (default: for flexible robots with simulation:).",
)
@EMISSION
@COMPILATION
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Simulate a robot's motion and draw it into FILE: .html (default NAME_motion.html), .gif or .mp4."""
    from elastogen.build.pages.film import check_motion_file

    robot = load(options)
    page = options.page or f"{robot.name}_motion.html"
    check_motion_file(page)
    beside = options.beside_rigid
    if beside is None:
        beside = robot.experiment is not None
    flexible = any(coordinate.elastic for coordinate in robot.coordinates)
    result, rigid = motion(robot, options, beside=beside and flexible)
    with progress(f"drawing {robot.name}", options):
        written = result.animate(page, rigid=rigid, force=options.force)
    print(f"wrote {written}")


def motion(robot: Robot, options: SimpleNamespace, *, beside: bool) -> tuple[Simulation, Simulation | None]:
    """Simulate the motion that the options describe, and the rigid robot's motion if it is asked for."""
    arguments = simulation_arguments(robot, options)
    if beside:
        from elastogen.rigid_comparison import compare

        comparison = compare(robot, lambda one: build_robot(one, options), arguments)
        return comparison.flexible, comparison.rigid
    model = build_robot(robot, options)
    if robot.loops:  # the motion starts where they are closed, near the start that was asked for
        arguments["q0"] = model.close_loops(arguments["q0"])
    return model.simulate(**arguments), None
