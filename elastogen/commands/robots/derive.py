"""``elastogen derive``: closed forms, printed or written as LaTeX."""

from __future__ import annotations

from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import AS_JSON, FILE, LOADING, TALKING, load, print_json, with_options
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.argument("quantity", nargs=-1)
@click.option("--latex", type=FILE, metavar="FILE", help="Write to this file instead of the terminal.")
@click.option(
    "--symbolic", type=click.Choice(["named", "nonzero", "none", "all"]), default="named",
    help="Which numbers stay symbols: named parameters (default), those of them that are not zero, none, or all.",
)  # fmt: skip
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Print closed forms, or write them as LaTeX.

    QUANTITY is mass_matrix, jacobian, ...; all of them in one document by default.
    """
    from elastogen.generator.closed_form.quantities import QUANTITIES

    robot = load(options)
    closed = elastogen.derive(robot, symbolic=options.symbolic)
    if options.as_json:
        with progress(f"deriving {robot.name}", options):
            found = {name: closed.latex(name) for name in options.quantity or QUANTITIES}
        print_json({"name": robot.name, "coordinates": list(robot.coordinate_names), "latex": found})
        return
    with progress(f"deriving {robot.name}", options):
        text = closed.latex(*options.quantity)
    if options.latex is None:
        print(text)
        return
    options.latex.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {options.latex}")
