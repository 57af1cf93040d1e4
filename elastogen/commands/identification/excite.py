"""``elastogen excite``: find a motion that excites a robot's parameters, and write it as a table."""

from __future__ import annotations

import json
from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    FILE,
    LOADING,
    TALKING,
    load,
    numbers,
    positive,
    teller,
    warned_already,
    with_options,
)


def _box(text: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Parse a box from the six numbers of its two corners."""
    found = numbers(text)
    if len(found) != 6:
        raise click.BadParameter(f"got {text!r}, expected six numbers: two corners [m], for example 0,-1,0,1,1,0.2")
    return found[:3], found[3:]


@click.command()
@LOADING
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the motion there (.csv).")
@click.option("--harmonics", type=int, default=5, show_default=True, help="Number of harmonics of each joint's Fourier series.")
@click.option("--seconds", type=positive, default=10.0, show_default=True, help="Duration of the period.")
@click.option("--rate", type=positive, default=100.0, show_default=True, help="Samples per second.")
@click.option("--tries", type=int, default=3, show_default=True, help="Random starts; the best is kept.")
@click.option("--acceleration", type=positive, help="Limit of all joints [rad/s^2] or [m/s^2].")
@click.option(
    "--keep-out", type=_box, multiple=True, metavar="X,Y,Z,X,Y,Z", help="A box that the tip must not enter; repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random starts.")
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Find a periodic motion within a robot's limits that excites its inertial parameters, at rest at both ends."""
    robot, tell = load(options), teller(options)
    with warned_already():
        found = elastogen.excite(
            robot, harmonics=options.harmonics, seconds=options.seconds, rate=options.rate, tries=options.tries,
            acceleration=options.acceleration, keep_out=options.keep_out, seed=options.seed, tell=tell,
        )  # fmt: skip
    if options.as_json:
        print(json.dumps({"robot": found.robot, "condition": found.condition, "information": found.information}, indent=2))
    else:
        print(f"condition of the scaled base regressor {found.condition:.1f}, log det per parameter {found.information:.2f}")
    if options.output is not None:
        tell(f"wrote {found.save(options.output)}")
