"""``elastogen generate``: write only the C files of a robot."""

from __future__ import annotations

from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    EMISSION,
    ESTIMATES,
    FRAMES,
    LOADING,
    OUTPUT,
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
@click.argument("directory", metavar="DIR", type=OUTPUT)
@click.option("--force", is_flag=True, help="Replace files there that elastogen did not write.")
@EMISSION
@FRAMES
@ESTIMATES
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Write the C files of a robot into DIR without compiling them."""
    robot = load(options)
    with progress(f"generating {robot.name}", options), warned_already():
        written = elastogen.generate(robot, options.directory, **emission(options), force=options.force)
    if options.as_json:
        print_json({"header": written.header, "source": written.source, "files": list(written.files)})
        return
    for path in written.files:
        print(path)
