"""``elastogen bench``: measure the functions of a model for longer than ``build`` does."""

from __future__ import annotations

from types import SimpleNamespace

import click

from elastogen.commands.code.build import print_model
from elastogen.commands.shared.options import (
    AS_JSON,
    COMPILATION,
    EMISSION,
    FRAMES,
    LOADING,
    TALKING,
    build,
    positive,
    with_options,
)
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.option("--seconds", type=positive, metavar="NUMBER", default=0.2, help="Time for each function (default 0.2).")
@EMISSION
@FRAMES
@COMPILATION
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Time the functions of a robot's model."""
    model = build(options)
    with progress("timing", options):
        print_model(model, seconds=options.seconds, as_json=options.as_json)
