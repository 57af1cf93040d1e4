"""``elastogen formulations``: compare Newton-Euler, Lagrange and Appell."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

import click

from elastogen.commands.shared.options import AS_JSON, LOADING, OUTPUT, TALKING, load, print_json, warned_already, with_options
from elastogen.commands.shared.progress import progress


@click.command()
@LOADING
@click.option("--page", type=OUTPUT, metavar="FILE", help="Write a page (Markdown) with the table and the equations.")
@click.option("--compiler", help="C compiler (default: $CC, else cc, gcc or clang).")
@click.option("--cflags", help="More flags for the compiler, in one string.")
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Derive the forces of inertia and weight by Newton-Euler, Lagrange and Appell, and compare them.

    Equations, operations, times of derivation and of one evaluation in C, and the largest difference at random states.
    """
    from elastogen.build.forms.formulations import formulations

    robot = load(options)
    with progress(f"deriving {robot.name} by three principles", options), warned_already():
        found = formulations(robot, compiler=options.compiler, cflags=options.cflags)
    if options.page is not None:
        options.page.write_text(found.page(), encoding="utf-8")
        print(f"wrote {options.page}")
    if options.as_json:
        print_json({"name": found.robot, "rows": [asdict(row) for row in found.rows]})
    elif options.page is None:
        print(found.table())
