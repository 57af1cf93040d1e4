"""``elastogen identify``: estimate numbers from logged motions and write them into a robot file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    FILE,
    LOADING,
    TALKING,
    load,
    names,
    teller,
    values,
    warned_already,
    with_options,
)


def _gains(text: str) -> dict[str, float] | str:
    return text if text == "commanded" else values(text)


@click.command()
@LOADING
@click.argument("data", metavar="DATA...", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the identified robot there (.yaml).")
@click.option(
    "--parameters",
    type=names,
    default="default",
    metavar="A,B",
    show_default=True,
    help="What to estimate: default, friction, all, or inertia, viscous, coulomb, width, offset, stribeck, asymmetric, load, "
    "rotor, gains, payload; or numbers of the robot file by their paths, as links.*.flexible.EI.",
)
@click.option("--validate", type=FILE, multiple=True, metavar="FILE", help="A run that only tests the result; may be repeated.")
@click.option("--columns", type=FILE, metavar="FILE", help="YAML: where time, q, qd, F or current are in the tables.")
@click.option(
    "--gains",
    type=_gains,
    metavar="A=14.9,B=13.3",
    help="Force per ampere of each actuator, or commanded: those that F_command and current_command imply.",
)
@click.option("--degrees", is_flag=True, help="Angles are in degrees.")
@click.option("--time-unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Unit of the time stamps (s).")
@click.option(
    "--cutoff", type=float, metavar="HZ", help="Cutoff of the zero-phase low pass [Hz] (default: from the data; 0: none)."
)
@click.option(
    "--consistent/--free", default=True, help="Physically consistent bodies, with a prior (default), or plain least squares."
)
@click.option("--prior", type=float, help="Relative uncertainty of the description (0.5; of numbers by their paths 10).")
@click.option(
    "--loss",
    type=click.Choice(["linear", "huber", "soft_l1", "cauchy"]),
    default="linear",
    help="Loss function: the weight of outliers.",
)
@click.option(
    "--method",
    type=click.Choice(["least_squares", "instrumental"]),
    default="least_squares",
    help="Least squares, or instrumental variables by the simulated robot: for noisy positions.",
)
@click.option("--page", type=FILE, metavar="FILE", help="Write a page with measured and predicted forces (.html).")
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Estimate numbers of a robot from measured motions; nothing is written if anything fails.

    DATA are tables (.csv, .csv.gz, .parquet, .npz) with time, q.<joint>, F.<joint> or current.<joint>, perhaps qd.<joint>.
    """
    robot, tell = load(options), teller(options)
    with warned_already():
        found = elastogen.identify(
            robot, list(options.data), parameters=options.parameters, validate=list(options.validate) or None,
            columns=_columns(options), gains=options.gains, degrees=options.degrees, cutoff=options.cutoff,
            consistent=options.consistent, prior=options.prior, loss=options.loss, method=options.method, tell=tell,
        )  # fmt: skip
    print(found.json() if options.as_json else found.table())
    if options.output is not None:
        tell(f"wrote {found.save(options.output, base=options.robot)}")
    if options.page is not None:
        tell(f"wrote {found.page(options.page, [*options.data, *options.validate])}")


def _columns(options: SimpleNamespace) -> dict[str, Any] | None:
    """Read the map of column names from its file, and add the unit of time if one was given."""
    unit = {} if options.time_unit is None else {"time_unit": options.time_unit}
    path: Path | None = options.columns
    if path is None:
        return unit or None
    from elastogen.generator.description.file.read_yaml import read_yaml
    from elastogen.generator.robot.location import Location

    content = read_yaml(path.read_text(encoding="utf-8"), Location(str(path)))
    if not isinstance(content, dict):
        raise elastogen.IdentificationError(str(path), "no mapping", "signals and their columns", "for example  q: 2-7")
    return {str(key): value for key, value in content.items()} | unit
