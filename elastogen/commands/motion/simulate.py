"""``elastogen simulate``: options of a simulation, its printed report, and its files."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    COMPILATION,
    EMISSION,
    FILE,
    LOADING,
    OUTPUT,
    TALKING,
    build_robot,
    for_people,
    load,
    numbers,
    positive,
    print_json,
    together,
    with_options,
)  # fmt: skip
from elastogen.commands.shared.progress import progress
from elastogen.runtime.interface.integrators import DEFAULT, names

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime import Model, Simulation
    from elastogen.runtime.simulation.inputs import Input
    from elastogen.runtime.simulation.measurement import Measurement

INPUT_HELP = (
    "actuator forces: 'zero' (default); 'constant:A,B,..' [N m, N]; 'bangbang:A,B,..:DURATION' amplitudes and seconds; "
    "'table:FILE.csv' rows of t and forces, the last row holds; 'linear:FILE.csv' the same with lines between; "
    "'hold:KP:KD' PD control with gravity compensation that holds the initial position"
)
SECONDS = 5.0
OWN = "or what the robot's file says under simulation:"


MOTION = together(
    click.option("--seconds", type=positive, metavar="NUMBER", help=f"Duration of the motion (default {SECONDS:g}, {OWN})."),
    click.option(
        "--method", type=click.Choice(names()), help=f"Integrator (default {DEFAULT}, {OWN})."
    ),
    click.option(
        "--step", type=positive, metavar="NUMBER", help=f"Step of {' and '.join(names(adaptive=False))} [s] (default 0.001)."
    ),
    click.option("--rtol", type=positive, metavar="NUMBER", help="Relative tolerance (default 1e-8)."),
    click.option("--atol", type=positive, metavar="NUMBER", help="Absolute tolerance (default 1e-10)."),
    click.option(
        "--q0", type=numbers, metavar="A,B",
        help=f"Initial positions [rad, m], of all coordinates or all joints (default 0, {OWN}).",
    ),
    click.option("--qd0", type=numbers, metavar="A,B", help="Initial velocities [rad/s, m/s], likewise."),
    click.option("--F", "--input", "input", metavar="KIND", help=f"{INPUT_HELP}; {OWN}."),
    click.option(
        "--stops", type=click.Choice(["report", "end", "springs", "ignore"]), default="report",
        help="When a joint reaches a limit: report the first (default), end the motion, push back with springs, or ignore it.",
    ),
    click.option("--samples", type=int, help=f"Number of samples (default 1001, {OWN})."),
)  # fmt: skip


@click.command()
@LOADING
@MOTION
@click.option(
    "--beside-rigid/--no-beside-rigid",
    default=None,
    help="Simulate the rigid robot of the same numbers too (default: for flexible robots with a plot or with simulation:).",
)
@click.option("--csv", type=OUTPUT, metavar="FILE", help="Write the samples to this file (.csv or .npz).")
@click.option(
    "--plot",
    type=OUTPUT,
    metavar="FILE",
    help="Draw them into this file (.png, .pdf, .svg); robots with simulation: are drawn into NAME.png by default.",
)
@click.option(
    "--measured",
    type=FILE,
    metavar="FILE",
    help="Compare with a measured motion, a .csv of t [s] and columns named as coordinates or strain gauges.",
)
@click.option("--no-plot", is_flag=True, help="Draw nothing.")
@AS_JSON
@EMISSION
@COMPILATION
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:  # fmt: skip
    """Simulate a robot's motion; print a report, write the samples and a plot."""
    if options.plot is not None and options.no_plot:
        raise click.UsageError("--plot and --no-plot: expected at most one of them")
    run(load(options), lambda robot: build_robot(robot, options), options)


def run(robot: Robot, build: Callable[[Robot], Model], options: SimpleNamespace) -> None:
    """Simulate, print a report, write files."""
    plot = plot_file(robot, options)
    if options.csv is not None and options.csv.suffix not in (".csv", ".npz"):
        raise elastogen.ModelError(f"{options.csv}: got the ending {options.csv.suffix!r}, expected '.csv' or '.npz'.")
    flexible = any(coordinate.elastic for coordinate in robot.coordinates)
    beside = options.beside_rigid
    if beside is None:
        beside = flexible and (plot is not None or robot.experiment is not None)
    arguments = simulation_arguments(robot, options)
    measured: Measurement | None = None
    if options.measured is not None:
        from elastogen.runtime.simulation.measurement import read_measurement

        measured = read_measurement(options.measured)
    with for_people(options):
        if robot.experiment is not None and robot.experiment.note:
            print(robot.experiment.note)
        result, written = _simulate(robot, build, arguments, options, plot, beside)
        if measured is not None:
            written += _compare_with(measured, result, lambda: build(robot), robot, plot)
        for path in written:
            print(f"wrote {path}")
    if options.as_json:
        print_json({**facts(result), "written": written})
    if not (result.ok or result.interrupted):
        from elastogen.runtime.simulation.results import STATUS

        raise elastogen.ModelError(f"{robot.name}: failed at t = {result.time_reached:g} s: {STATUS[result.status]}.")


def _simulate(
    robot: Robot,
    build: Callable[[Robot], Model],
    arguments: dict[str, Any],
    options: SimpleNamespace,
    plot: Path | None,
    beside: bool,
) -> tuple[Simulation, list[Path]]:
    """Simulate the robot, together with the rigid robot if asked for; print the report, write samples and plot."""
    if beside:
        from elastogen.rigid_comparison import compare

        comparison = compare(robot, build, arguments)
        print(comparison.report())
        written = [] if options.csv is None else list(comparison.save(options.csv))
        result: Simulation = comparison.flexible
        draw = comparison.plot
    else:
        model = build(robot)
        if robot.loops:  # the motion starts where they are closed, near the start that was asked for
            arguments["q0"] = model.close_loops(arguments["q0"])
        result = model.simulate(**arguments)
        print(result.report())
        written = [] if options.csv is None else [result.save(options.csv)]
        draw = result.plot
    if result.t.size:
        for k, (name, unit) in enumerate(zip(result.coordinate_names, result.coordinate_units, strict=True)):
            first, last = (f"{result.q[row, k]:.6g}" for row in (0, -1))
            print(f"  {name}: from {first} to {last}{unit and f' {unit}'} at t = {result.t[-1]:g} s")
    if plot is not None:
        with progress(f"drawing {plot}", options):
            draw(plot)
        written.append(plot)
    return result, written


def facts(result: Simulation) -> dict[str, Any]:
    """Summarize a motion for scripts by its start and end; ``--csv`` writes the samples."""
    ends = [] if not result.t.size else [(name, k) for k, name in enumerate(result.coordinate_names)]
    off = None if result.work is None or not result.t.size else float(abs(result.balance).max())
    return {
        "name": result.name, "method": result.method, "status": str(result.status), "time_reached": float(result.time_reached),
        "samples": int(result.t.size), "steps": int(result.steps), "rejections": int(result.rejections),
        "evaluations": int(result.evaluations), "seconds": result.seconds, "energy_balance_off": off,
        "units": dict(zip(result.coordinate_names, result.coordinate_units, strict=True)),
        "first": {name: float(result.q[0, k]) for name, k in ends},
        "last": {name: float(result.q[-1, k]) for name, k in ends},
        "limits_passed": [str(passed) for passed in result.limits_passed],
    }  # fmt: skip


def _compare_with(
    measured: Measurement, result: Simulation, build: Callable[[], Model], robot: Robot, plot: Path | None
) -> list[Path]:
    """Compare the simulation with a measurement in numbers and in a second plot."""
    from elastogen.runtime.simulation.measurement import fits, plot_measurement

    names = [point.name for point in robot.points if point.strain is not None]
    strains = build().point_strains(result.q).T if set(names) & set(measured.columns) else []
    gauges = dict(zip(names, strains, strict=False))
    for fit in fits(measured, result, gauges):
        print(f"  {fit}")
    if plot is None:
        return []
    both = plot.with_name(f"{plot.stem}_measured{plot.suffix}")
    plot_measurement(measured, result, gauges, both)
    return [both]


def plot_file(robot: Robot, options: SimpleNamespace) -> Path | None:
    """Return the file of the plot; a robot with an experiment of its own has one by default, if matplotlib is installed."""
    from elastogen.runtime.simulation.plotting import check_plot_file, is_own_plot

    if options.no_plot:
        return None
    if options.plot is not None:
        asked: Path = options.plot
        check_plot_file(asked)
        return asked
    if robot.experiment is None:
        return None
    if find_spec("matplotlib") is None:
        print("no plot: plots need matplotlib. Fix: pip install 'elastogen[plot]'.")
        return None
    usual = Path(f"{robot.name}.png")
    if usual.exists() and not is_own_plot(usual):
        print(f"no plot: {usual} is there and was not drawn by elastogen. Fix: --plot FILE.")
        return None
    return usual


def simulation_arguments(robot: Robot, options: SimpleNamespace) -> dict[str, Any]:
    """Collect the arguments of ``Model.simulate``: options first, then the robot's own experiment, then defaults."""
    import numpy as np

    from elastogen.generator.robot.neutral import neutral
    from elastogen.rigid_comparison import experiment_arguments
    from elastogen.runtime.joints_only import for_all, or_joints

    arguments: dict[str, Any] = {"q0": neutral(robot), "t": SECONDS}
    if robot.experiment is not None:
        arguments = experiment_arguments(robot)
    given = {"t": options.seconds, "method": options.method, "samples": options.samples, "step": options.step}
    given |= {"rtol": options.rtol, "atol": options.atol}
    for key, option, listed in (("q0", options.q0, robot.coordinates), ("qd0", options.qd0, robot.velocities)):
        if option is not None:
            elastic = [coordinate.elastic for coordinate in listed]
            given[key] = tuple(for_all(np.array(option), elastic).tolist())
            if len(given[key]) != len(listed):
                expected = f"{len(elastic)}{or_joints(elastic)}"
                raise elastogen.ModelError(f"{robot.name}: --{key}: got {len(option)} numbers, expected {expected}.")
    arguments |= {key: value for key, value in given.items() if value is not None}
    if options.input is not None:
        arguments["F"] = read_input(options.input, robot, arguments["q0"])
    stops = elastogen.Stops() if options.stops == "springs" else options.stops
    return {**arguments, "on_failure": "keep", "stops": stops}


def read_input(text: str, robot: Robot, q0: tuple[float, ...]) -> Input:
    """Make the input that an option describes."""
    import numpy as np

    from elastogen.runtime.simulation.inputs import PD, BangBang, Table

    kind, *words = text.split(":")
    try:
        if kind == "zero" and not words:
            return None
        if kind == "constant" and len(words) == 1:
            return numbers(words[0])
        if kind == "bangbang" and len(words) == 2:
            return BangBang(numbers(words[0]), float(words[1]))
        if kind == "hold" and len(words) == 2:
            return PD(q0, float(words[0]), float(words[1]))
        if kind in ("table", "linear") and len(words) == 1:
            rows = np.loadtxt(words[0], delimiter=",", comments="#", ndmin=2)
            return Table(rows[:, 0], rows[:, 1:], "hold" if kind == "table" else "linear")
    except (ValueError, click.BadParameter) as error:
        raise elastogen.ModelError(f"--input: got {text!r} ({error}), expected {INPUT_HELP}.") from error
    raise elastogen.ModelError(f"--input: got {text!r}, expected {INPUT_HELP}.")
