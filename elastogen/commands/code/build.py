"""``elastogen build``: compile a model into the cache and print its functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from elastogen.commands.shared.options import (
    AS_JSON,
    COMPILATION,
    EMISSION,
    ESTIMATES,
    FRAMES,
    LOADING,
    TALKING,
    build,
    print_json,
    with_options,
)

if TYPE_CHECKING:
    from elastogen.runtime import Model


@click.command()
@LOADING
@EMISSION
@FRAMES
@ESTIMATES
@COMPILATION
@AS_JSON
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Compile a robot's model into the cache and print its functions with their times."""
    print_model(build(options), seconds=0.02, as_json=options.as_json)


def print_model(model: Model, seconds: float, as_json: bool = False) -> None:
    """Print the table of a model's functions and the place of its files; each function is timed for ``seconds``."""
    from elastogen.runtime.model.timing import time_functions, timing_table

    timings = time_functions(model, seconds=seconds)
    coordinates = list(zip(model.coordinate_names, model.coordinate_units, strict=True))
    if as_json:
        print_json({
            "name": model.name,
            "coordinates": [{"name": name, "unit": unit} for name, unit in coordinates],
            "live_parameters": dict(model.parameters),
            "functions": [{"name": t.function, "operations": t.count, "c_seconds": t.c_seconds,
                           "python_seconds": t.python_seconds} for t in timings],
            "c_files": list(model.c_files),
            "module": model.extension,
        })  # fmt: skip
        return
    print(f"{model.name}: {model.nq} coordinates: {', '.join(f'{name} [{unit}]' for name, unit in coordinates)}")
    if model.parameters:
        print(f"live parameters: {', '.join(model.parameters)}")
    print()
    print(timing_table(timings))
    print()
    for path in model.c_files:
        print(f"C file: {path}")
    print(f"module: {model.extension}")
