"""Start and goal of ``elastogen run``: within the limits, on the beams, and with closed loops."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import elastogen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elastogen.runtime import Model

AMPLITUDE = 0.5  # of the default motion [rad, m]
SHARES, STOPS = (1.0, 0.5, 0.2, 0.05), 4  # of it, tried for mechanisms; places on the way that must be closed


def ends(model: Model, options: SimpleNamespace) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return start and goal of the moves; the defaults are within the joints' limits and on the beams."""
    import numpy as np

    if model.loops is not None:
        return _closed_ends(model, options)
    start = np.array(start_of(model, options))
    way, driven = np.zeros(model.nv), list(model.driven)
    if options.amplitude is not None:
        way[driven] = _spread(options.amplitude, len(driven), "--amplitude")
        _check_range(model, start, "--q0")
        goal = np.asarray(model.integrate(start, way), dtype=float)
        _check_range(model, goal, "--amplitude")
        return start, goal
    _check_range(model, start, "--q0")
    way[driven] = AMPLITUDE
    goal, moved = np.asarray(model.integrate(start, way), dtype=float), list(model.driven_coordinates)
    _, upper = model.position_limits
    for joint in model.metadata.sliding:
        upper[joint.coordinate] = min(upper[joint.coordinate], joint.upper)
    goal[moved] = np.minimum(goal, 0.5 * (start + upper))[moved]
    return start, goal


def _closed_ends(model: Model, options: SimpleNamespace) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return start and goal of a mechanism such that it can be closed all the way."""
    import numpy as np

    assert model.loops is not None
    start = np.array(model.loops.start if options.q0 is None else model.close_loops(start_of(model, options)), dtype=float)
    _check_range(model, start, "--q0")
    driven, given = list(model.driven), options.amplitude
    for part in SHARES if given is None else (1.0,):
        step, goal = np.zeros(model.nv), start
        step[driven] = part * AMPLITUDE if given is None else _spread(given, len(driven), "--amplitude")
        try:
            for _ in range(STOPS):
                goal = np.asarray(model.close_loops(model.integrate(goal, step / STOPS)), dtype=float)
                model.driven_map(goal)  # fails where drives do not determine the motion
            _check_range(model, goal, "--amplitude")
        except elastogen.ModelError:
            if given is not None or part == SHARES[-1]:
                raise
        else:
            break
    return start, goal


def _check_range(model: Model, q: NDArray[Any], option: str) -> None:
    """Refuse a position beyond the limits of a joint or of the beam that it slides on: the loop would stop there."""
    lower, upper = model.position_limits
    for joint in model.metadata.sliding:
        k = joint.coordinate
        lower[k], upper[k] = max(lower[k], 0.0), min(upper[k], joint.upper)
    for k in model.driven_coordinates:
        if not lower[k] <= q[k] <= upper[k]:
            name, unit = model.coordinate_names[k], model.coordinate_units[k]
            within = f"{lower[k]:.6g} to {upper[k]:.6g} {unit}"
            raise elastogen.ModelError(f"{model.name}: {option}: {name} would be at {q[k]:.6g} {unit}, expected {within}.")


def start_of(model: Model, options: SimpleNamespace) -> tuple[float, ...]:
    """Return the initial positions as given (all coordinates or the joints only), else zero or the middle of the range."""
    start = [float(x) for x in model.neutral()]
    lower, upper = model.position_limits
    moved = model.driven_coordinates
    for k in moved:
        if not lower[k] < 0.0 < upper[k]:
            ends = [float(end) for end in (lower[k], upper[k]) if math.isfinite(end)]
            start[k] = sum(ends) / len(ends)
    for joint in model.metadata.sliding:
        start[joint.coordinate] = 0.5 * joint.upper
    if options.q0 is not None and len(options.q0) == len(moved) < model.nq:
        for k, value in zip(moved, options.q0, strict=True):
            start[k] = value
    elif options.q0 is not None:
        start = list(_spread(options.q0, model.nq, "--q0"))
    return tuple(start)


def _spread(values: tuple[float, ...], size: int, option: str) -> tuple[float, ...]:
    if len(values) not in (1, size):
        raise elastogen.ModelError(f"{option}: got {len(values)} numbers, expected 1 or {size}.")
    return values * size if len(values) == 1 else values
