"""The command line: ``elastogen check | derive | generate | build | bench | simulate | run``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import elastogen
from elastogen.option_words import as_options

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime import Model

ERROR = 2
"""Exit code of every error that has a message."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 with one readable message on stderr."""
    options = _parsed(sys.argv[1:] if arguments is None else arguments)
    command: Callable[[argparse.Namespace], None] = options.command
    try:
        command(options)
        sys.stdout.flush()
    except (elastogen.ElastogenError, elastogen.ModelError) as error:
        return _fail(as_options(str(error), vars(options)))
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        return 130
    return 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; positional arguments may stand between them, and lists of numbers may begin with a minus."""
    parser, commands = _parser()
    words: list[str] = []
    for word in arguments:
        if words and words[-1].startswith("--") and "=" not in words[-1] and re.match(r"-[0-9.]", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    if words and words[0] in commands:
        return commands[words[0]].parse_intermixed_args(words[1:])
    return parser.parse_args(words)


def _fail(message: str) -> int:
    print(f"elastogen: {message}", file=sys.stderr)
    return ERROR


# Commands.


def check(options: argparse.Namespace) -> None:
    """Validate a robot and print what it is."""
    from elastogen.describe import describe
    from elastogen.snapped import describe_snapped

    robot = _load(options)
    print(describe(robot))
    with _warned_already():
        text = describe_snapped(robot, _loaded(options, snap=False))
    if text:
        print(text)


def derive(options: argparse.Namespace) -> None:
    """Derive closed forms and print them, or write them as LaTeX."""
    robot = _load(options)
    closed = elastogen.derive(robot, symbolic=options.symbolic)
    with _progress(f"deriving {robot.name}"):
        text = closed.latex(*options.quantity)
    if options.latex is None:
        print(text)
        return
    options.latex.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {options.latex}")


def generate(options: argparse.Namespace) -> None:
    """Write the C files of a robot and nothing else."""
    robot = _load(options)
    with _progress(f"generating {robot.name}"), _warned_already():
        written = elastogen.generate(robot, options.directory, **_emission(options), force=options.force)
    for path in written.files:
        print(path)


def build(options: argparse.Namespace) -> None:
    """Compile a robot's model into the cache and print its functions with their times."""
    model = _build(options)
    print_model(model, seconds=0.02)


def bench(options: argparse.Namespace) -> None:
    """Time the functions of a robot's model with more patience than ``build``."""
    model = _build(options)
    with _progress("timing"):
        print_model(model, seconds=options.seconds)


def simulate(options: argparse.Namespace) -> None:
    """Simulate a robot's motion; print a report, write the samples and a plot."""
    from elastogen import simulate_command

    simulate_command.run(_load(options), lambda robot: _build_robot(robot, options), options)


def run(options: argparse.Namespace) -> None:
    """Run a robot in its real-time loop, show it live, and end with a report."""
    from elastogen import run_command

    run_command.run(_build(options), options)


def print_model(model: Model, seconds: float) -> None:
    """Print the table of a model's functions and where its files are."""
    from elastogen.runtime.model.timing import time_functions, timing_table

    coordinates = ", ".join(
        f"{name} [{unit}]" for name, unit in zip(model.coordinate_names, model.coordinate_units, strict=True)
    )
    print(f"{model.name}: {model.nq} coordinates: {coordinates}")
    if model.parameters:
        print(f"live parameters: {', '.join(model.parameters)}")
    print()
    print(timing_table(time_functions(model, seconds=seconds)))
    print()
    for path in model.c_files:
        print(f"C file: {path}")
    print(f"module: {model.extension}")


def _build(options: argparse.Namespace) -> Model:
    return _build_robot(_load(options), options)


def _build_robot(robot: Robot, options: argparse.Namespace) -> Model:
    with _progress(f"building {robot.name}"), _warned_already():
        return elastogen.build_model(
            robot,
            **_emission(options),
            cache_dir=options.cache_dir,
            compiler=options.compiler,
            cflags=options.cflags,
            native=not options.portable,
            verbose=options.verbose,
        )


def _load(options: argparse.Namespace) -> Robot:
    """Load the robot; warnings become readable lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", elastogen.RobotWarning)
        robot = _loaded(options, options.snap)
    for warning in caught:
        if issubclass(warning.category, elastogen.RobotWarning):
            print(f"warning: {as_options(str(warning.message), vars(options))}", file=sys.stderr)
    return robot


def _loaded(options: argparse.Namespace, snap: bool) -> Robot:
    return elastogen.load(
        options.robot,
        name=options.name,
        live=options.live,
        tip=options.tip,
        mimic=options.mimic,
        friction=options.friction,
        snap=snap,
    )


def _emission(options: argparse.Namespace) -> dict[str, Any]:
    return {"outputs": options.outputs, "precision": options.precision, "sincos": options.sincos}


@contextmanager
def _warned_already() -> Iterator[None]:
    """Keep quiet about the robot: loading it said what there was to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        yield


@contextmanager
def _progress(task: str) -> Iterator[None]:
    """Say on stderr what is being done, and how long it took."""
    print(f"{task} ...", end="", file=sys.stderr, flush=True)
    start = time.perf_counter()
    ending = "stopped"
    try:
        yield
        ending = "done"
    finally:
        print(f" {ending} after {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)


# Arguments.


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the whole command line, and those of the commands by their names."""
    parser = argparse.ArgumentParser(
        prog="elastogen", description="Fast, dependency-free C for robot dynamics, from a robot description."
    )
    parser.add_argument("--version", action="version", version=f"elastogen {elastogen.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    _command(commands, check, "validate a robot and print what it is")

    command = _command(commands, derive, "print closed forms, or write them as LaTeX")
    command.add_argument("quantity", nargs="*", help="mass_matrix, jacobian, ...; all of them in one document by default")
    command.add_argument("--latex", type=Path, metavar="FILE", help="write to this file instead of the terminal")
    command.add_argument(
        "--symbolic",
        choices=("named", "nonzero", "none", "all"),
        default="named",
        help="which numbers stay symbols: named parameters (default), those of them that are not zero, none, or all",
    )

    command = _command(commands, generate, "write the C files, compile nothing")
    command.add_argument("directory", type=Path, metavar="DIR", help="folder for the files")
    command.add_argument("--force", action="store_true", help="replace files there that elastogen did not write")
    _add_emission(command)

    command = _command(commands, build, "compile a model into the cache, print its functions and times")
    _add_emission(command)
    _add_compilation(command)

    command = _command(commands, bench, "time the functions of a model")
    _add_emission(command)
    _add_compilation(command)
    command.add_argument("--seconds", type=_positive, default=0.2, help="time for each function (default 0.2)")

    from elastogen import simulate_command

    command = _command(commands, simulate, "simulate a motion, beside the rigid robot where links are flexible; CSV and plots")
    simulate_command.add_arguments(command, _positive)
    _add_emission(command)
    _add_compilation(command)

    from elastogen import run_command

    command = _command(commands, run, "run a robot in its real-time loop, with a live view and a report")
    run_command.add_arguments(command, _positive, simulate_command.numbers)
    _add_emission(command)
    _add_compilation(command)
    return parser, dict(commands.choices)


def _command(commands: Any, function: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(function.__name__, help=text, description=function.__doc__)
    command.add_argument("robot", metavar="ROBOT", help="built-in name (puma560, two_link, ...) or .yaml / .urdf file")
    command.add_argument("--name", help="another name for the robot: the prefix of all C names")
    command.add_argument(
        "--live",
        type=_names,
        default=(),
        metavar="A,B",
        help="more live parameters, for example payload,gravity",
    )
    command.add_argument("--tip", metavar="LINK", help="the link that carries the tip frame")
    command.add_argument(
        "--mimic",
        choices=("error", "independent"),
        default="error",
        help="mimic joints of a URDF: refuse them (default), or give them coordinates of their own",
    )
    command.add_argument(
        "--no-snap", dest="snap", action="store_false", help="take numbers near 0, 1, -1 in placements literally"
    )
    command.add_argument("--friction", action="store_true", help="take damping and friction of a URDF into the equations")
    command.set_defaults(command=function)
    return command


def _add_emission(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("emission")
    group.add_argument("--outputs", type=_names, metavar="A,B", help="functions to emit (default: a sensible set)")
    group.add_argument("--precision", choices=("double", "float"), default="double", help="default double")
    group.add_argument("--sincos", choices=("fast", "libm"), default="fast", help="inline and vectorized (default), or libm")


def _add_compilation(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("compilation")
    group.add_argument("--cache-dir", type=Path, metavar="DIR", help="where compiled models are kept")
    group.add_argument("--compiler", help="C compiler (default: $CC, else cc, gcc or clang)")
    group.add_argument("--cflags", help="more flags for the compiler, in one string")
    group.add_argument("--portable", action="store_true", help="run on any processor of this architecture")
    group.add_argument("--verbose", action="store_true", help="print the compiler's commands")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected names with commas between them")
    return names


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 3600:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number of seconds between 0 and 3600")
    return value


if __name__ == "__main__":
    sys.exit(main())
