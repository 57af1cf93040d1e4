"""Check (b): the compiled C, in double and float, compared with its program in 50 digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from elastogen.build.start import build_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.verification.findings import Finding
from elastogen.verification.rounding import bounds
from elastogen.verification.second_derivation import evaluated

SLACK = 4.0  # times the first-order bound: higher orders, and sines that are good to 1.5 ulp
ROUNDING = {"double": 2.0**-53, "float": 2.0**-24}
TINY = {"double": 1e-290, "float": 1e-36}


def check(
    robot: Robot, functions: Mapping[str, Function], states: Mapping[str, Any], parameters: Mapping[str, float], precision: str
) -> Iterator[Finding]:
    """Return the worst error of every function, in ulp of its largest entry and relative to the rounding bound."""
    model = build_model(robot, outputs=tuple(functions), precision=precision)
    real = np.float64 if precision == "double" else np.float32
    live = {name: float(real(value)) for name, value in parameters.items()}
    for name, function in functions.items():
        ulps = excess = 0.0
        for k in range(len(states["q"])):
            state = {key: np.asarray(array[k], dtype=real).astype(float) for key, array in states.items()}
            exact = evaluated(function, state, live)
            if exact is None:
                continue
            given = [state[argument.name] for argument in function.inputs]
            found = model._evaluate(name, given)
            results = found if len(function.outputs) > 1 else (found,)
            allowed = bounds(function.program, _with_elements(function, state), live)
            for (key, values), result in zip(exact.items(), results, strict=True):
                error = np.abs(np.array(values - np.asarray(result, dtype=float), dtype=float))
                largest = max(float(np.max(np.abs(values))), TINY[precision])
                ulps = float(np.maximum(ulps, error.max() / largest / ROUNDING[precision] / 2))
                room = allowed[key] * ROUNDING[precision] + TINY[precision]
                excess = float(np.maximum(excess, (error / room).max()))
        verdict = "passed" if excess <= SLACK else "failed"
        text = f"{ulps:.1f} ulp of the largest entry, {excess:.2f} of what rounding allows"
        yield Finding(f"compiled {precision}", name, verdict, text, f"{SLACK:g} of it")  # type: ignore[arg-type]


def _with_elements(function: Function, state: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {argument.name: state[argument.name] for argument in function.inputs}
    return {**arguments, INDICATORS: indicators_at(function.selectors, state["q"])} if function.selectors else arguments
