"""``elastogen export``: write a whole project for another tool."""

from __future__ import annotations

from types import SimpleNamespace

import click

import elastogen
from elastogen.build.export.registry import FORMATS, with_option
from elastogen.commands.shared.options import (
    AS_JSON,
    DERIVATION,
    FRAMES,
    LOADING,
    OUTPUT,
    TALKING,
    emission,
    load,
    names,
    print_json,
    warned_already,
    with_options,
)  # fmt: skip
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.argument("directory", metavar="DIR", type=OUTPUT)
@click.option("--format", type=click.Choice([*FORMATS]), default="c", help="Kind of project (default c).")
@click.option("--loop", is_flag=True, help=f"With the real-time loop ({with_option('takes_loop')}).")
@click.option("--header-only", is_flag=True, help=f"The model's C in its header ({with_option('takes_header_only')}).")
@click.option(
    "--target", metavar="TRIPLE", help=f"Another machine, for example aarch64-linux-gnu ({with_option('takes_target')})."
)
@click.option("--compiler", help="C compiler (shared, fmu; default: $CC, else cc, gcc or clang).")
@click.option("--cflags", help="More flags for the compiler, in one string (shared, fmu).")
@click.option("--depfile", type=OUTPUT, metavar="FILE", help="Also write a rule for make and ninja: what the C is made from.")
@click.option("--force", is_flag=True, help="Replace files there that elastogen did not write.")
@click.option("--outputs", type=names, metavar="A,B", help="Functions to emit (default: a sensible set).")
@click.option("--precision", type=click.Choice(["double", "float"]), help="Default double; float for boards.")
@click.option("--sincos", type=click.Choice(["fast", "libm"]), default="fast", help="Inline (default), or libm.")
@DERIVATION
@FRAMES
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Write a robot as a project into DIR: C, C++, CMake, a Python package, a library; with a README and an example."""
    robot = load(options)
    own = {key: getattr(options, key) for key in ("format", "loop", "header_only", "target", "compiler", "cflags", "force")}
    if options.depfile is not None:  # first, so that a build tool never sees the C without it
        from elastogen.build.export.dependencies import write_rule

        write_rule(options.depfile, options.directory, robot)
    with progress(f"exporting {robot.name}", options), warned_already():
        written = elastogen.export(robot, options.directory, **emission(options), **own)
    if options.as_json:
        print_json({"directory": written.directory, "files": list(written.files)})
        return
    for path in written.files:
        print(path)
