"""All checks of one robot, one after the other, and the certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import elastogen
from elastogen.build.identity import model_sha256
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import render
from elastogen.build.stamps import sha256, sources, tool_sha256
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import CATALOGUE, derive_model, output_names
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.verification import compiled, hygiene, identities, second_derivation
from elastogen.verification.findings import Certificate, Finding
from elastogen.verification.states import random_states

SEED = 20261116
INVERSE = "inverse_dynamics"  # which mechanisms with too few drives do not have
MOST_STATES = 10**6  # each is judged with 50 digits


def verify(
    robot: Robot | str | os.PathLike[str] | Mapping[str, Any],
    *,
    states: int = 3,
    outputs: tuple[str, ...] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Certificate:
    """Check a robot's model by a second derivation, by 50-digit arithmetic, by identities and by C tools.

    ``states`` random states over the joints' ranges; ``outputs`` are the functions whose C is checked (by default the default
    set); ``tell`` is called with a line before each step and with each finding.
    """
    if isinstance(states, bool) or not isinstance(states, int) or not 1 <= states <= MOST_STATES:
        raise OutputError(f"states: got {states!r}, expected a whole number, at least 1 and at most {MOST_STATES}")
    if not callable(tell):
        raise OutputError(f"tell: got {tell!r}, expected a function of a line of text, for example print")
    loaded = load(robot)
    wanted = output_names(outputs, loaded)
    judged = (*second_derivation.COVERED, *identities.NEEDED)
    needed = output_names((*(name for name in judged if CATALOGUE[name].applies(loaded)), *wanted), loaded)
    tell(f"deriving {len(needed)} functions of {loaded.name}")
    functions = {function.name: function for function in derive_model(loaded, needed).functions}
    emitted = {name: functions[name] for name in wanted}
    sample = random_states(loaded, states, SEED, functions.values())
    live = {parameter.name: parameter.value for parameter in loaded.live_parameters}
    found = list(_findings(loaded, functions, emitted, sample, live, tell))
    return Certificate(loaded.name, _hashes(loaded, wanted), tuple(found))


def _findings(
    robot: Robot,
    functions: Mapping[str, Function],
    emitted: Mapping[str, Function],
    sample: Mapping[str, Any],
    live: Mapping[str, float],
    tell: Callable[[str], None],
) -> Iterator[Finding]:
    if INVERSE not in functions:
        yield Finding(second_derivation.NAME, INVERSE, "skipped", CATALOGUE[INVERSE].applies_to)
    steps: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("Lagrange's equations in 50 digits", lambda: second_derivation.check(robot, functions, sample, live, tell)),
        ("identities in 50 digits", lambda: identities.check(robot, functions, sample, live, tell)),
        ("compiled C in double", lambda: compiled.check(robot, emitted, sample, live, "double")),
        ("compiled C in float", lambda: compiled.check(robot, emitted, sample, live, "float")),
        ("C files in double", lambda: hygiene.check(robot, emitted, "double")),
        ("C files in float", lambda: hygiene.check(robot, emitted, "float")),
    )
    for title, step in steps:
        tell(title)
        for finding in step():
            tell(f"  {finding.verdict}  {finding.check}: {finding.subject}: {finding.measured}")
            yield finding


def _hashes(robot: Robot, outputs: tuple[str, ...]) -> dict[str, str]:
    options = BuildOptions.checked(outputs=outputs)
    model = render(robot, options)
    toolchain = find_toolchain(options.compile)
    return {
        "robot and options": model_sha256(robot, options.emit),
        "tool": f"elastogen {elastogen.__version__} {sha256(tool_sha256(), *sources([Path(__file__).parent]))}",
        "C": sha256(model.header, model.source),
        "compiler": f"{toolchain.version} {sha256(toolchain.identity)}",
    }
