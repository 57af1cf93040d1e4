"""``elastogen size``: measure code, memory and instructions of a model on a processor."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

import click

from elastogen.commands.shared.options import (
    AS_JSON,
    EMISSION,
    FRAMES,
    LOADING,
    TALKING,
    emission,
    load,
    print_json,
    warned_already,
    with_options,
)  # fmt: skip
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.option("--target", help="cortex-m4f, cortex-m7 or a triple such as aarch64-linux-gnu (default: this machine).")
@click.option("--optimize", metavar="FLAG", default="-O2", help="-O0, -O1, -O2 (default), -O3, -Os or -Oz.")
@click.option("--compiler", help="C compiler (default: the one of the target, $CC, else cc, gcc or clang).")
@click.option("--cflags", help="More flags for the compiler, in one string.")
@EMISSION
@FRAMES
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Compile a model and print bytes of code, constants and stack, and instructions, function by function.

    For cortex-m4f also how many instructions one call executes, where QEMU is installed.
    """
    from elastogen.build.export.size import model_size

    robot = load(options)
    own = {key: getattr(options, key) for key in ("target", "optimize", "compiler", "cflags")}
    with progress(f"compiling {robot.name}", options), warned_already():
        size = model_size(robot, **emission(options), **own)
    if options.as_json:
        print_json({**asdict(size), "code": size.code})
        return
    print(size.table())
