"""``elastogen derive``: print closed forms, or write them as LaTeX, Python, C or PDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

import elastogen
from elastogen.commands.shared.options import AS_JSON, LOADING, OUTPUT, TALKING, load, print_json, with_options
from elastogen.commands.shared.progress import progress


def _entry(_context: Any, _parameter: Any, text: str | None) -> tuple[int, ...] | None:
    """Parse the indices of an entry, ``2,3`` or ``2``."""
    if text is None:
        return None
    parts = text.split(",")
    if not 1 <= len(parts) <= 2 or not all(part.strip().isdigit() for part in parts):
        raise click.BadParameter(f"got {text!r}, expected a row, or row and column from 1: 2,3")
    return tuple(int(part) for part in parts)


def _elements(_context: Any, _parameter: Any, texts: tuple[str, ...]) -> dict[str, int]:
    """Parse the element inside a joint, ``joint2=1``."""
    found = {}
    for text in texts:
        joint, mark, number = text.partition("=")
        if not mark or not number.isdigit():
            raise click.BadParameter(f"got {text!r}, expected a sliding joint and the number of an element: joint2=1")
        found[joint] = int(number)
    return found


@click.command()
@LOADING
@click.argument("quantity", nargs=-1)
@click.option("--latex", type=OUTPUT, metavar="FILE", help="Write a LaTeX document.")
@click.option("--typst", type=OUTPUT, metavar="FILE", help="Write a Typst document.")
@click.option("--markdown", type=OUTPUT, metavar="FILE", help="Write Markdown with LaTeX displays (with --steps).")
@click.option("--pdf", type=OUTPUT, metavar="FILE", help="Write a PDF (needs Typst or TeX).")
@click.option("--python", type=OUTPUT, metavar="FILE", help="Write the quantities as functions of a Python module.")
@click.option("--c", type=OUTPUT, metavar="FILE", help="Write the quantities as functions of a C file.")
@click.option("--steps", is_flag=True, help="The recursion of one function: numbered equations with named intermediates.")
@click.option("--digits", type=click.IntRange(1, 17), default=6, help="Digits of decimal numbers in print (default 6).")
@click.option("--shared", is_flag=True, help="Name the parts that occur more than once (LaTeX).")
@click.option("--entry", callback=_entry, metavar="R,C", help="One entry of a matrix, counted from 1.")
@click.option("--link", metavar="NAME", help="One frame of quantities that every link has.")
@click.option("--frame", type=click.Choice(["own", "base"]), default="own", help="Axes of velocities and accelerations.")
@click.option(
    "--element",
    "elements",
    multiple=True,
    callback=_elements,
    metavar="JOINT=K",
    help="The element of a beam that is inside a sliding joint.",
)
@click.option(
    "--symbolic", type=click.Choice(["nonzero", "named", "none", "all"]), default="nonzero",
    help="Which numbers stay symbols: named parameters that are not zero (default), all named ones, none, or every number.",
)  # fmt: skip
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Print closed forms, or write them as LaTeX, PDF, Python or C.

    QUANTITY is mass_matrix, jacobian, ..., any function of the catalogue or of the robot's own; by default the document with T,
    J, M, C, K, G and F. Expressions that are too long to read are left out; the text says how to print them.
    """
    from elastogen.generator.closed_form.quantities import QUANTITIES

    if options.pdf is not None:
        from elastogen.build.forms.pdf import check_pdf

        check_pdf()
    robot = load(options)
    closed = elastogen.derive(robot, symbolic=options.symbolic, elements=options.elements)
    if options.steps:
        _write_steps(closed, options)
        return
    if options.markdown is not None:
        raise elastogen.OutputError("derive: --markdown is for recursions. Fix: add --steps, or write --latex or --typst")
    if options.as_json:
        with progress(f"deriving {robot.name}", options):
            found = {
                name: closed.latex(name, frame=options.frame, digits=options.digits) for name in options.quantity or QUANTITIES
            }
        print_json({"name": robot.name, "coordinates": list(robot.coordinate_names), "latex": found})
        return
    written = [(path, write) for path, write in _writers(closed, options) if path is not None]
    if written and (options.entry or options.link):
        raise elastogen.OutputError("derive: --entry and --link choose what is printed. Fix: leave them out, or the files")
    with progress(f"deriving {robot.name}", options):
        files = [(path, write()) for path, write in written]
        text = "" if written else _printed(closed, options)
    for path, data in files:
        path.write_bytes(data)
        print(f"wrote {path}")
    if not written:
        print(text)


def _printed(closed: Any, options: SimpleNamespace) -> str:
    """Return the text for the terminal."""
    text: str = closed.latex(
        *options.quantity,
        frame=options.frame,
        digits=options.digits,
        entry=options.entry,
        link=options.link,
        shared=options.shared,
    )
    return text


def _write_steps(closed: Any, options: SimpleNamespace) -> None:
    """Print the recursion of one function, or write it in every format that was asked for."""
    if len(options.quantity) != 1:
        raise elastogen.OutputError(
            f"derive: --steps takes one function, got {len(options.quantity)}. Fix: name one, for example inverse_dynamics"
        )
    for name in ("pdf", "c", "entry", "link"):
        if getattr(options, name) is not None:
            raise elastogen.OutputError(f"derive: --{name} is for closed forms. Fix: leave it out, or --steps")
    with progress(f"deriving {closed.robot.name}", options):
        found = closed.steps(options.quantity[0])
        files = [
            (path, found.written(name, options.digits).encode())
            for name in ("latex", "markdown", "typst", "python")
            if (path := getattr(options, name)) is not None
        ]
    for path, data in files:
        path.write_bytes(data)
        print(f"wrote {path}")
    if options.as_json:
        steps = [
            {"stage": stage.title, "symbol": str(step.symbol), "expression": str(step.expression), "meaning": step.meaning}
            for stage in found.stages
            for step in stage.steps
        ]
        print_json({"name": closed.robot.name, "function": found.name, "steps": steps})
    elif not files:
        print(found.written("text", options.digits), end="")


def _writers(closed: Any, options: SimpleNamespace) -> list[tuple[Path | None, Callable[[], bytes]]]:
    """Map each option to the content of its file."""
    from elastogen.build.forms.code import c_code, python_code
    from elastogen.build.forms.pdf import pdf
    from elastogen.generator.closed_form import typst
    from elastogen.generator.closed_form.latex import whole

    def document() -> Any:
        return closed.document(*options.quantity, frame=options.frame, digits=options.digits, shared=options.shared)

    return [
        (options.latex, lambda: whole(document()).encode()),
        (options.typst, lambda: typst.whole(document()).encode()),
        (options.pdf, lambda: pdf(document())),
        (options.python, lambda: python_code(closed, options.quantity).encode()),
        (options.c, lambda: c_code(closed, options.quantity).encode()),
    ]
