"""What commands share: arguments, loading and building with progress, results as text or JSON."""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

import elastogen
from elastogen.commands.shared.option_choices import as_options
from elastogen.commands.shared.progress import progress

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime import Model

Command = TypeVar("Command", bound=Callable[..., Any])


class _NamedPath(click.Path):
    """A path that is not empty: an unset variable of the shell would otherwise mean the current folder."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "":
            self.fail("got an empty text, expected a path. Fix: '.' for the current folder.", parameter, context)
        return super().convert(value, parameter, context)


class _OutputPath(_NamedPath):
    """A path that is written at the end; problems are reported at once, and missing folders are made."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        above = next((folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists()), None)
        if above is None or (above != path.absolute() and not above.is_dir()):
            self.fail(f"got {str(value)!r}, expected a path below a folder; {above} is none", param, ctx)
        if not os.access(above, os.W_OK):
            self.fail(f"got {str(value)!r}, expected a path that can be written; {above} may not be", param, ctx)
        return path


FILE = _NamedPath(path_type=Path)
OUTPUT = _OutputPath(path_type=Path)


def names(text: str) -> tuple[str, ...]:
    """Parse names that are separated by commas."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise click.BadParameter(f"got {text!r}, expected names with commas between them")
    return found


def values(text: str) -> dict[str, float]:
    """Parse pairs of a name and a number that are separated by commas."""
    try:
        pairs = [word.split("=") for word in text.split(",")]
        return {name.strip(): float(number) for name, number in pairs}
    except ValueError:
        raise click.BadParameter(f"got {text!r}, expected for example elbow=0.5,finger=0") from None


def words(text: str) -> dict[str, str]:
    """Parse pairs of a name and a word that are separated by commas."""
    pairs = [word.partition("=") for word in text.split(",")]
    if any(not name.strip() or not equals for name, equals, _ in pairs):
        raise click.BadParameter(f"got {text!r}, expected for example hand=true,prefix=left_")
    return {name.strip(): value.strip() for name, _, value in pairs}


def numbers(text: str) -> tuple[float, ...]:
    """Parse numbers that are separated by commas."""
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise click.BadParameter(f"got {text!r}, expected numbers with commas between them") from None


def positive(text: str | float) -> float:
    """Parse a number between 0 and 3600, such as seconds, steps or tolerances."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 3600:
        raise click.BadParameter(f"got {text!r}, expected a number between 0 and 3600")
    return value


def robots(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a robot in the shell: matching built-in names, then files."""
    from elastogen.generator.description.files import builtin_names

    found = [CompletionItem(name) for name in builtin_names() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine several options into one decorator; help shows them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


LOADING = together(
    click.argument("robot", metavar="ROBOT", shell_complete=robots),
    click.option("--name", help="Another name for the robot: the prefix of all C names."),
    click.option("--live", type=names, metavar="A,B", help="Further live parameters, for example payload,gravity."),
    click.option("--tip", metavar="LINK", help="The link that carries the tip frame."),
    click.option(
        "--mimic", type=click.Choice(["follow", "independent", "error"]), default="follow",
        help="Mimic joints of a URDF: follow their leaders (default), have coordinates of their own, or are refused.",
    ),
    click.option("--snap/--no-snap", default=True, help="Take numbers near 0, 1, -1 in placements as exact (default)."),
    click.option(
        "--base",
        type=click.Choice(["fixed", "floating", "driven"]),
        help="Put the base on a floating joint; driven: with six actuators.",
    ),
    click.option("--lock", type=values, metavar="A=0.1,B=2", help="Joints to fix at these values [rad] or [m]."),
    click.option("--arguments", type=words, metavar="A=x,B=y", help="Arguments of a xacro file."),
    click.option("--allow-xacro", is_flag=True, help="Expand xacro files, which run Python: only if you trust them."),
    click.option(
        "--package-path", type=words, metavar="A=dir", help="Folders of packages, for $(find A) of xacro and model://A of SDF."
    ),
    click.option("--loops", type=FILE, metavar="FILE", help="The robot.yaml beside a URDF that says where loops are closed."),
    click.option("--model", metavar="NAME", help="The model to read of several in an SDF file."),
    click.option("--friction", is_flag=True, help="Take damping and friction of a URDF into the equations."),
)  # fmt: skip
TALKING = together(
    click.option("-q", "--quiet", is_flag=True, help="No progress and no warnings, only results and errors."),
    click.option("-v", "--verbose", is_flag=True, help="Times of all stages, and the compiler's commands."),
)
FRAMES = click.option("--frames", type=names, metavar="A,B", help="Links, points or tip that functions of frames are about.")
ESTIMATES = click.option(
    "--identification",
    type=names,
    metavar="A,B",
    help="Quantities that the C estimates while the robot moves: external_forces.",
)
QUICK = together(  # of commands that are done at once
    click.option("-q", "--quiet", is_flag=True, expose_value=False, help="No effect: this command shows no progress."),
    click.option("-v", "--verbose", is_flag=True, expose_value=False, help="No effect: this command has no more to print."),
)
DERIVATION = click.option(
    "--derivation", type=click.Choice(["graph", "sympy"]), default="graph", help="By elastogen's graph (default), or by SymPy."
)
EMISSION = together(
    click.option("--outputs", type=names, metavar="A,B", help="Functions to emit (default: a sensible set)."),
    click.option("--precision", type=click.Choice(["double", "float"]), default="double", help="Default double."),
    click.option(
        "--sincos", type=click.Choice(["fast", "libm"]), default="fast", help="Inline and vectorized (default), or libm."
    ),
    DERIVATION,
)
COMPILATION = together(
    click.option("--cache-dir", type=FILE, metavar="DIR", help="Where compiled models are kept."),
    click.option("--compiler", help="C compiler (default: $CC, else cc, gcc or clang)."),
    click.option("--cflags", help="More flags for the compiler, in one string."),
    click.option("--portable", is_flag=True, help="Run on any processor of this architecture."),
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for scripts.")


class CommandError(Exception):
    """An error of elastogen with its message in terms of the command line."""


def with_options(function: Callable[[SimpleNamespace], None]) -> Callable[..., None]:
    """Give a command's function all options as one object."""

    @functools.wraps(function)
    def run(**given: Any) -> None:
        try:
            with warnings_as_lines(given):
                function(SimpleNamespace(**given))
        except elastogen.ElastogenError as error:
            raise CommandError(as_options(str(error), given)) from error

    return run


@contextmanager
def warnings_as_lines(given: Mapping[str, Any]) -> Iterator[None]:
    """Print warnings of simulations and loops as readable lines on stderr, or nothing with ``--quiet``."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: str | None = None
    ) -> None:
        if not given.get("quiet"):
            print(f"warning: {as_options(str(message), given)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def teller(options: SimpleNamespace) -> Callable[[str], None]:
    """Return what prints lines about the progress on stderr, or nothing with ``--quiet``."""
    return lambda text: None if options.quiet else print(text, file=sys.stderr, flush=True)


def load(options: SimpleNamespace) -> Robot:
    """Load the robot and print its warnings as readable lines on stderr."""
    robot, messages = load_with_warnings(options)
    if not options.quiet:
        for message in messages:
            print(f"warning: {as_options(message, vars(options))}", file=sys.stderr)
    return robot


def load_with_warnings(options: SimpleNamespace, snap: bool | None = None) -> tuple[Robot, list[str]]:
    """Load the robot; return it with its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", elastogen.RobotWarning)
        robot = elastogen.load(
            options.robot, name=options.name, live=options.live or (), tip=options.tip, mimic=options.mimic,
            friction=options.friction, snap=options.snap if snap is None else snap, lock=options.lock,
            base=options.base, arguments=options.arguments, allow_xacro=options.allow_xacro, package_path=options.package_path,
            loops=options.loops, model=options.model,
        )  # fmt: skip
    return robot, [str(warning.message) for warning in caught if issubclass(warning.category, elastogen.RobotWarning)]


def emission(options: SimpleNamespace) -> dict[str, Any]:
    """Collect the keyword arguments of ``elastogen.generate`` from the options."""
    return {
        "outputs": options.outputs,
        "precision": options.precision,
        "sincos": options.sincos,
        "frames": getattr(options, "frames", None) or (),  # not of all commands
        "derivation": options.derivation,
        **({"identification": options.identification} if getattr(options, "identification", None) else {}),
    }


def build(options: SimpleNamespace) -> Model:
    """Load and build the robot."""
    return build_robot(load(options), options)


def build_robot(robot: Robot, options: SimpleNamespace) -> Model:
    """Build a robot's model, with progress."""
    with progress(f"building {robot.name}", options), warned_already():
        return elastogen.build_model(
            robot, **emission(options), cache_dir=options.cache_dir, compiler=options.compiler, cflags=options.cflags,
            native=not options.portable, verbose=options.verbose,
        )  # fmt: skip


@contextmanager
def warned_already() -> Iterator[None]:
    """Suppress warnings about the robot that were printed when it was loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        yield


@contextmanager
def for_people(options: SimpleNamespace, *, talk: bool = False) -> Iterator[None]:
    """Direct printed text: with ``--json`` it goes to stderr, and with ``--quiet`` mere progress is dropped."""
    if options.quiet and (talk or options.as_json):
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            yield
    elif options.as_json:
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def print_json(data: Any) -> None:
    """Print a result as JSON; paths and arrays become text and lists."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    print(json.dumps(data, indent=2, default=plain))
