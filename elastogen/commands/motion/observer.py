"""``elastogen observer``: show what the sensors observe, and design the gain of an observer."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import click

import elastogen
from elastogen.commands.shared.options import (
    AS_JSON,
    FILE,
    LOADING,
    TALKING,
    load,
    names,
    numbers,
    values,
    warned_already,
    with_options,
)


@click.command()
@LOADING
@click.option(
    "--sensors",
    type=names,
    metavar="A,B",
    help="encoders, tachometers, tip, joints, points, or parts of points as imu.gyroscope (default: encoders and all points).",
)
@click.option("--at", type=numbers, metavar="0.1,0.2", help="Configuration q [rad, m] (default: no joint has moved).")
@click.option("--rate", type=float, default=1000.0, show_default=True, metavar="HZ", help="Readings per second.")
@click.option("--noise", type=values, metavar="rad=1e-4,gauge1=2e-6", help="Standard deviations by unit, sensor or reading.")
@click.option("--force", type=numbers, metavar="0.1,0.05", help="Standard deviations of unknown actuator forces [N m, N].")
@click.option("--page", type=FILE, metavar="FILE", help="Write a page: what is seen, what is not (.html).")
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Design an observer (steady Kalman filter) and show which motions the sensors observe, and how well."""
    from elastogen.observers.design import design_observer

    robot = load(options)
    with warned_already():
        model = elastogen.build_model(robot)
        found = design_observer(
            model, options.sensors, q=options.at, rate=options.rate, noise=options.noise, force=options.force
        )
    print(json.dumps(found.as_dict()) if options.as_json else found.table())
    if options.page is not None:
        written = found.page(options.page)
        if not options.quiet:
            print(f"wrote {written}", file=sys.stderr)
