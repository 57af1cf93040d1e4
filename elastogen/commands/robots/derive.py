"""``elastogen derive``: closed forms, printed or written as LaTeX."""

from __future__ import annotations

from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import FILE, LOADING, TALKING, load, with_options
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.argument("quantity", nargs=-1)
@click.option("--latex", type=FILE, metavar="FILE", help="Write to this file instead of the terminal.")
@click.option(
    "--symbolic", type=click.Choice(["named", "nonzero", "none", "all"]), default="named",
    help="Which numbers stay symbols: named parameters (default), those of them that are not zero, none, or all.",
)  # fmt: skip
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Print closed forms, or write them as LaTeX.

    QUANTITY is mass_matrix, jacobian, ...; all of them in one document by default.
    """
    robot = load(options)
    closed = elastogen.derive(robot, symbolic=options.symbolic)
    with progress(f"deriving {robot.name}", options):
        text = closed.latex(*options.quantity)
    if options.latex is None:
        print(text)
        return
    options.latex.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {options.latex}")
