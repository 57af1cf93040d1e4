"""The command ``elastogen simulate``: what it takes, and what it prints and writes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import elastogen

if TYPE_CHECKING:
    from elastogen.runtime import Model
    from elastogen.runtime.inputs import Input

INPUT_HELP = (
    "driving forces: 'zero' (default); 'constant:A,B,..' [N m, N]; 'bangbang:A,B,..:DURATION' amplitudes and seconds; "
    "'table:FILE.csv' rows of t and forces, the last row holds; 'linear:FILE.csv' the same with lines between; "
    "'hold:KP:KD' PD control with gravity compensation that holds the initial position"
)


def add_arguments(command: argparse.ArgumentParser, positive: Callable[[str], Any]) -> None:
    """Declare the options of the command."""
    command.add_argument("--seconds", type=positive, default=5.0, help="duration of the motion (default 5)")
    command.add_argument(
        "--method", choices=("tsit5", "rk4", "generalized_alpha"), default="tsit5", help="default tsit5"
    )
    command.add_argument("--step", type=positive, help="step of rk4 and generalized_alpha [s] (default 0.001)")
    command.add_argument("--rtol", type=positive, help="relative tolerance (default 1e-8)")
    command.add_argument("--atol", type=positive, help="absolute tolerance (default 1e-10)")
    command.add_argument("--q0", type=numbers, metavar="A,B", help="initial positions [rad, m] (default 0)")
    command.add_argument("--qd0", type=numbers, metavar="A,B", help="initial velocities [rad/s, m/s] (default 0)")
    command.add_argument("--input", default="zero", metavar="KIND", help=INPUT_HELP)
    command.add_argument("--samples", type=int, default=1001, help="number of samples (default 1001)")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the samples to this file (.csv or .npz)")
    command.add_argument("--plot", type=Path, metavar="FILE", help="draw them into this file (.png, .pdf, .svg)")


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected numbers with commas between them") from None


def run(model: Model, options: argparse.Namespace) -> None:
    """Simulate, print a report, write files."""
    q0 = options.q0 if options.q0 is not None else (0.0,) * model.nq
    result = model.simulate(
        q0,
        options.qd0,
        t=options.seconds,
        F=read_input(options.input, model, q0),
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=options.atol,
        samples=options.samples,
        on_failure="keep",
    )
    print(result.report())
    if result.t.size:
        for k, (name, unit) in enumerate(zip(model.coordinate_names, model.coordinate_units, strict=True)):
            print(f"  {name}: from {result.q[0, k]:.6g} to {result.q[-1, k]:.6g} {unit} at t = {result.t[-1]:g} s")
    if options.csv is not None:
        print(f"wrote {result.save(options.csv)}")
    if options.plot is not None:
        result.plot(options.plot)
        print(f"wrote {options.plot}")
    if not (result.ok or result.interrupted):
        from elastogen.runtime.results import STATUS

        raise elastogen.ModelError(f"{model.name}: failed at t = {result.time_reached:g} s: {STATUS[result.status]}.")


def read_input(text: str, model: Model, q0: tuple[float, ...]) -> Input:
    """The input that an option describes."""
    import numpy as np

    from elastogen.runtime.inputs import PD, BangBang, Table

    kind, *words = text.split(":")
    try:
        if kind == "zero" and not words:
            return None
        if kind == "constant" and len(words) == 1:
            return numbers(words[0])
        if kind == "bangbang" and len(words) == 2:
            return BangBang(numbers(words[0]), float(words[1]))
        if kind == "hold" and len(words) == 2:
            driven = np.zeros(model.nq)
            driven[list(model.driven)] = 1.0
            return PD(q0, float(words[0]) * driven, float(words[1]) * driven)
        if kind in ("table", "linear") and len(words) == 1:
            rows = np.loadtxt(words[0], delimiter=",", comments="#", ndmin=2)
            return Table(rows[:, 0], rows[:, 1:], "hold" if kind == "table" else "linear")
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise elastogen.ModelError(f"--input: got {text!r} ({error}), expected {INPUT_HELP}.") from error
    raise elastogen.ModelError(f"--input: got {text!r}, expected {INPUT_HELP}.")
