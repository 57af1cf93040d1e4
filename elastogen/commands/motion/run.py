"""``elastogen run``: run a robot in its real-time loop, show it live, and report at the end."""

from __future__ import annotations

import math
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import elastogen
from elastogen.commands.motion.run_ends import ends, start_of
from elastogen.commands.shared.options import (
    AS_JSON,
    COMPILATION,
    EMISSION,
    FILE,
    LOADING,
    OUTPUT,
    TALKING,
    build,
    for_people,
    numbers,
    positive,
    print_json,
    with_options,
)  # fmt: skip
from elastogen.commands.shared.progress import progress
from elastogen.runtime.loop.laws.registry import LAWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elastogen.runtime import Model
    from elastogen.runtime.loop.loop import Loop
    from elastogen.runtime.loop.stability import LinearRobot
    from elastogen.runtime.motion.shaping import Shaper

CONTROLLERS = tuple(law.name for law in LAWS if law.on_command_line)
FRAME = 0.2  # seconds from one picture to the next
BAR = 24  # characters
PERIODS = 4.0  # of the lowest mode that a default move lasts
PAUSE = 1.5  # moves from the beginning of one to that of the next
SPEED_MARGIN = 1.25  # of a default move, to the limits of the joints' speeds
NAME = 16  # characters of a coordinate's name


@click.command()
@LOADING
@click.option(
    "--rate", type=click.FloatRange(1.0, 50000.0), default=1000.0, help="Cycles per second, up to 50000 (default 1000)."
)
@click.option("--seconds", type=positive, metavar="NUMBER", help="How long to run (default 10, or one move and a half).")
@click.option(
    "--controller",
    type=click.Choice(CONTROLLERS),
    help="Default computed_torque; for flexible robots feedforward, or pd_gravity where their stiffness changes much.",
)
@click.option("--controller-source", type=FILE, metavar="FILE", help="C file that defines user_controller.")
@click.option("--kp", type=numbers, metavar="A,B", help="Position gains (default: 20 rad/s, or what is stable).")
@click.option("--kd", type=numbers, metavar="A,B", help="Velocity gains.")
@click.option(
    "--shaper", type=click.Choice(["none", "zv", "zvd"]), default="none", help="Input shaper for the lowest elastic mode."
)
@click.option(
    "--q0", type=numbers, metavar="A,B", help="Initial positions [rad, m], of all coordinates or of the joints (default 0)."
)
@click.option(
    "--amplitude",
    type=numbers,
    metavar="A,B",
    help="The robot moves to q0 + amplitude and back (default 0.5 each, less on beams).",
)
@click.option(
    "--move-seconds",
    type=positive,
    metavar="NUMBER",
    help="Time of one move (default 1, at least 4 periods of the lowest mode and 3 time constants of the loop).",
)
@click.option(
    "--on-overrun",
    type=click.Choice(["skip", "catch_up", "stop"]),
    default="skip",
    help="After a missed deadline (default skip).",
)
@click.option(
    "--fifo",
    type=int,
    is_flag=False,
    flag_value=80,
    default=0,
    metavar="[PRIORITY]",
    help="Run with SCHED_FIFO (priority 80 if no number).",
)
@click.option("--cpu", type=int, metavar="N", help="Processor to run on.")
@click.option("--spin", type=float, default=0.0, metavar="SECONDS", help="Wait busily before each deadline.")
@click.option("--report", type=OUTPUT, metavar="DIR", help="Write report.md, records.npz and plots there.")
@click.option("--animate", type=OUTPUT, metavar="FILE", help="Draw the recorded motion: .html, .gif or .mp4.")
@AS_JSON
@EMISSION
@COMPILATION
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:  # fmt: skip
    """Run a robot in its real-time loop, show it live, and end with a report."""
    if options.animate is not None:
        from elastogen.build.pages.film import check_motion_file

        check_motion_file(options.animate)
    run(build(options), options)


@dataclass(frozen=True)
class Plan:
    """The motion of a run: from ``start`` to ``goal`` and back, (nq,) each [rad, m]."""

    start: NDArray[Any]
    goal: NDArray[Any]
    controller: str
    move_seconds: float
    seconds: float


def run(model: Model, options: SimpleNamespace) -> None:
    """Run the loop, show it live, and report on it."""
    with for_people(options, talk=True):
        loop, plan = make_loop(model, options)
        records = watch(loop, plan)
    from elastogen.commands.motion.run_report import facts, far_off, summary, write_report

    written = [] if options.report is None else list(write_report(loop, records, options.report))
    if options.animate is not None and len(records):
        with progress(f"drawing {model.name}", options):
            written.append(loop.motion(records).animate(options.animate, title=f"{model.name}: run"))
    if options.as_json:
        print_json({**facts(loop, records), "written": written})
    else:
        print(summary(loop, records))
        for path in written:
            print(f"wrote {path}")
    if not loop.status:
        raise elastogen.ModelError(f"{model.name}: a fault stopped the loop: {loop.status.meaning}. {_advice(loop)}")
    problem = far_off(loop, records, loop.model.difference(plan.start, plan.goal))
    if problem:
        raise elastogen.ModelError(f"{model.name}: {problem} {_advice(loop)}")


def _advice(loop: Loop) -> str:
    if loop.controller.name == "user":
        return "Fix: look at the user's controller."
    if loop.status.name == "STATUS_DIVERGED":
        return (
            f"Fix: smaller --kp and --kd for {loop.status.coordinate} (without them they are chosen), a higher --rate, or "
            "another --controller."
        )
    return "Fix: a longer --move-seconds, a higher --rate, other --kp and --kd, or another --controller."


def make_loop(model: Model, options: SimpleNamespace) -> tuple[Loop, Plan]:
    """Make the loop that the options describe, and the plan of its motion."""
    import numpy as np

    from elastogen.runtime.loop.controllers import BY_NAME
    from elastogen.runtime.loop.plants import Simulated
    from elastogen.runtime.loop.stability import LinearRobot, settled

    start, goal = ends(model, options)
    if options.q0 is None or len(options.q0) != model.nq:
        start = settled(model, start)
    robot = LinearRobot.of(model, start)
    name = options.controller or _controller(robot, LinearRobot.of(model, goal), 1.0 / max(options.rate, 1.0))
    with _notices():
        loop = model.loop(
            controller_source=options.controller_source,
            controller=BY_NAME[name](_gain(options.kp), _gain(options.kd)),
            plant=Simulated(start),
            rate=options.rate,
            on_overrun=options.on_overrun,
            fifo=options.fifo,
            cpu=options.cpu,
            spin=options.spin,
            shaper=_shaper(model, options),
        )
    move = options.move_seconds or max(_move_seconds(loop, robot), _within_speed(model, start, goal))
    plan = Plan(start, goal, name, move, options.seconds or max(10.0, 1.5 * move))
    slowest = None if loop.tuning.bandwidths is None else float(np.min(loop.tuning.bandwidths[list(model.driven)]))
    at = "" if slowest is None else f", default gains for {slowest:.3g} rad/s"
    print(f"{model.name}: {name} at {loop.rate:g} Hz{at}; moves of {move:.3g} s", flush=True)
    return loop, plan


def _controller(robot: LinearRobot, there: LinearRobot, period: float) -> str:
    """Choose a controller: computed torque; behind elastic links feedforward alone, if it reaches the goal."""
    from elastogen.runtime.loop.controllers import Feedforward, default_gains
    from elastogen.runtime.loop.stability import feedforward_converges, growth

    if not robot.elastic:
        return "computed_torque"
    kp, kd, _ = default_gains(Feedforward(), robot, period)
    feedback = Feedforward().feedback(there, kp, kd)  # gravity may overturn the arm where gains are small
    holds = feedback is not None and growth(there, feedback, period).is_stable
    return "feedforward" if holds and feedforward_converges(robot, there) else "pd_gravity"


def _move_seconds(loop: Loop, robot: LinearRobot) -> float:
    """Return a duration that suits the lowest mode and, without feedforward, the slowest joint."""
    period = 2.0 * math.pi / robot.lowest_frequency()
    found = loop.tuning.bandwidths
    slowest = (
        float("inf")
        if found is None or loop.controller.name == "feedforward"
        else float(min(found[list(robot.driven)], default=1.0))
    )
    return max(1.0, PERIODS * period, 3.0 / slowest)


def _within_speed(model: Model, start: NDArray[Any], goal: NDArray[Any]) -> float:
    """Return the seconds in which a move keeps the robot's speed limits, with a margin."""
    import numpy as np

    from elastogen.runtime.loop.references import FASTEST

    way = np.abs(np.asarray(model.difference(start, goal), dtype=float))
    limit = np.where(model.velocity_limits > 0.0, model.velocity_limits, np.inf)
    return SPEED_MARGIN * FASTEST[bool(model.elastic)] * float((way / limit).max(initial=0.0))


@contextmanager
def _notices() -> Iterator[None]:
    """Print warnings as lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"notice: {warning.message}", file=sys.stderr)


def watch(loop: Loop, plan: Plan) -> NDArray[Any]:
    """Show the loop until it ends or Ctrl-C is pressed; return all records that were read."""
    import numpy as np

    view: Callable[[Loop, NDArray[Any], float], None] = _screen if sys.stdout.isatty() else _line
    blocks: list[NDArray[Any]] = []
    with _notices():
        loop.start(plan.seconds)
    begin, move = time.monotonic(), 0
    shown = begin if sys.stdout.isatty() else begin + 1.0 - FRAME
    try:
        while loop.running and (loop.status or loop.phase != "holding"):  # after a fault: until the robot is at rest
            now = time.monotonic()
            if loop.status and now - begin >= PAUSE * plan.move_seconds * move:
                loop.move_to(plan.goal if move % 2 == 0 else plan.start, plan.move_seconds)
                move += 1
            records = loop.read()
            if len(records):
                blocks.append(records)
            if now >= shown and blocks:
                view(loop, blocks[-1][-1], now - begin)
                shown = now + (FRAME if sys.stdout.isatty() else 1.0)
            time.sleep(0.02)
    except KeyboardInterrupt:
        print("\nstopped by the user", file=sys.stderr)
    finally:
        loop.stop()
    blocks.append(loop.read())
    return np.concatenate(blocks)


def _screen(loop: Loop, record: NDArray[Any], elapsed: float) -> None:
    """Draw the screen in place of the last one."""
    from elastogen.runtime.functions.quaternions import coordinates_beside

    width, height = shutil.get_terminal_size()
    statistics = loop.statistics()
    lines = [
        f"{loop.model.name}  {loop.controller.name}  {loop.rate:g} Hz  t = {elapsed:.1f} s  (Ctrl-C stops)",
        f"cycles {statistics.cycles}  overruns {statistics.overruns}  skipped {statistics.skipped}  "
        f"saturated {statistics.saturations}  records lost {statistics.lost}",
        f"lateness   {statistics.lateness}",
        f"execution  {statistics.execution}",
        "",
        f"{'coordinate':<{NAME}} {'q':>10} {'reference':>10} {'error':>10} {'force':>10}",
    ]
    error, places = loop.errors(record), coordinates_beside(loop.model.metadata)
    for k, name in enumerate(loop.model.velocity_names[: max(1, height - len(lines) - 2)]):
        q, reference, force = float(record["q"][places[k][0]]), float(record["q_ref"][places[k][0]]), float(record["F"][k])
        bar = _bar(q)
        lines.append(f"{name[:NAME]:<{NAME}} {q:10.4f} {reference:10.4f} {error[k]:10.1e} {force:10.3f} {bar}")
    print("\x1b[H\x1b[2J" + "\n".join(line[: width - 1] for line in lines), flush=True)


def _bar(q: float) -> str:
    """Draw a position from -1.6 to 1.6 as a mark on a line; NaN gives an empty line."""
    if not math.isfinite(q):
        return "." * BAR
    place = min(BAR - 1, max(0, int((q / 3.2 + 0.5) * BAR)))
    return "." * place + "|" + "." * (BAR - 1 - place)


def _line(loop: Loop, record: NDArray[Any], elapsed: float) -> None:
    """Print one line of plain text."""
    statistics = loop.statistics()
    error = float(abs(loop.errors(record))[list(loop.model.driven)].max(initial=0.0))
    print(
        f"t {elapsed:6.1f} s  cycles {statistics.cycles}  overruns {statistics.overruns}  "
        f"late p99 {statistics.lateness.percentile(99) * 1e6:.0f} us  "
        f"exec p99 {statistics.execution.percentile(99) * 1e6:.1f} us  error {error:.1e}",
        flush=True,
    )


def _shaper(model: Model, options: SimpleNamespace) -> Shaper | None:
    if options.shaper == "none":
        return None
    from elastogen.runtime.motion import shaping

    if not model.elastic:
        raise elastogen.ModelError(f"{model.name}: --shaper {options.shaper} is for robots with elastic coordinates.")
    lowest = float(model.modes(start_of(model, options), joints="locked").frequencies[0])
    return shaping.zv(lowest) if options.shaper == "zv" else shaping.zvd(lowest)


def _gain(values: tuple[float, ...] | None) -> Any:
    return values[0] if values is not None and len(values) == 1 else values
