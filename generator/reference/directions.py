"""Derivatives of a description's numbers along directions, by differences only.

Central differences of eighth order at two steps, h and h / 2, whose difference bounds the error of the second. If it is large,
as near a singular mass matrix, steps are halved until it is small or grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import numpy.typing as npt

from elastogen.generator.reference.description import Description
from elastogen.generator.reference.quantities import Quantities

Array = npt.NDArray[np.float64]
Values = Callable[[Quantities], "list[Array]"]
STEPS = {1: 0.02, 2: 0.05}  # by order: of a second derivative rounding errors count more
OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4.0])
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
CENTRE = -205 / 72
OFF = 0.02  # of the difference of both steps: more than the error of the second
MUCH, SMALL, HALVINGS = 1e-10, 1e-2, 5  # smaller numbers than this part of the largest: sums of what cancels
LENGTH = 2.0  # sum of the sizes of a direction's numbers: angles add up
CONFIGURATIONS = ("q", "q0", "q1")
POSITIONS = (*CONFIGURATIONS, "u")
SERIES = 9  # terms along which a configuration moves
MOTION = ("q", "qd", "qdd", "q3", "q4", "q5", "q6")


@dataclass(frozen=True)
class Slope:
    """A derivative of several outputs, and how far each number of them may be off."""

    values: list[Array]
    off: list[Array]


def direction(shape: Sequence[int], rng: np.random.Generator) -> Array:
    """A random direction (states, ...) whose sizes add up to LENGTH."""
    found = rng.uniform(0.3, 1.0, shape) * rng.choice([-1.0, 1.0], shape)
    flat = np.abs(found).reshape(len(found), -1).sum(axis=1)
    scaled: Array = found * (LENGTH / flat).reshape(-1, *([1] * (found.ndim - 1)))
    return scaled


def tangential(change: Array, q: Array, quaternions: Sequence[int]) -> Array:
    """A change of q that keeps the length of each quaternion: functions of other quaternions are not in the description."""
    found = np.array(change)
    for start in quaternions:
        part = slice(start, start + 4)
        found[:, part] -= q[:, part] * np.sum(q[:, part] * found[:, part], axis=1, keepdims=True)
    return found


def along(of: Quantities, changes: Mapping[str, Array], values: Values, *, order: int = 1, by_velocities: bool = True,
          parameters: Mapping[str, float] | None = None) -> Slope:  # fmt: skip
    """d^order/dt^order of values along x + t dx for every input x that changes, ``order`` 1 or 2.

    Of q the change is one of velocities, which a quaternion follows, or of its numbers one by one, with unit
    quaternions. ``parameters`` are changes of live ones.
    """
    return differences(of, lambda t: _moved(of, changes, t, by_velocities), values, order, parameters)


def along_each(of: Quantities, changes: Sequence[Mapping[str, Array]], values: Values) -> list[Slope]:
    """First derivatives along several directions, all in one batch of states."""
    count, times = len(of.states["q"]), len(changes)
    many = of.elsewhere({name: np.concatenate([value] * times) for name, value in of.states.items()})
    names = {name: value for change in changes for name, value in change.items()}
    whole = {
        name: np.concatenate([change.get(name, np.zeros_like(like)) for change in changes]) for name, like in names.items()
    }
    slope = along(many, whole, values)
    parts = [slice(k * count, (k + 1) * count) for k in range(times)]
    return [Slope([x[part] for x in slope.values], [x[part] for x in slope.off]) for part in parts]


def in_time(of: Quantities, names: int, values: Values, order: int) -> Slope:
    """d^order/dt^order of values along the motion of the states: q(t), qd(t), ... from so many given derivatives."""
    return differences(of, lambda t: _later(of, names, t), values, order)


def differences(
    of: Quantities,
    moved: Callable[[Array], dict[str, Array]],
    values: Values,
    order: int,
    parameters: Mapping[str, float] | None = None,
) -> Slope:
    """The derivative at t = 0 of values at moved(t), inputs (times, states, ...)."""
    h = STEPS[order]
    coarse, fine = _by_steps(of, moved, values, order, parameters, (h, h / 2))
    found = Slope(list(fine), [_off(a, b) for a, b in zip(coarse, fine, strict=True)])
    for k in range(2, 2 + HALVINGS):
        rough = [_rough(off, value) for off, value in zip(found.off, found.values, strict=True)]
        if not any(some.any() for some in rough):
            break
        coarse, (fine,) = fine, _by_steps(of, moved, values, order, parameters, (h / 2**k,))
        for i, some in enumerate(rough):
            off = _off(coarse[i], fine[i])
            better = some & (off < found.off[i])
            found.values[i], found.off[i] = np.where(better, fine[i], found.values[i]), np.where(better, off, found.off[i])
    return found


def _rough(off: Array, value: Array) -> npt.NDArray[np.bool_]:
    """Which numbers may have large errors; small ones beside the largest do not count."""
    found: npt.NDArray[np.bool_] = off > MUCH * np.maximum(np.abs(value), SMALL * np.abs(value).max(initial=0.0))
    return found


def _off(coarse: Array, fine: Array) -> Array:
    """The possible error of the second of two steps."""
    found: Array = OFF * np.abs(coarse - fine)
    return found


def _by_steps(
    of: Quantities,
    moved: Callable[[Array], dict[str, Array]],
    values: Values,
    order: int,
    parameters: Mapping[str, float] | None,
    steps: Sequence[float],
) -> list[list[Array]]:
    """The derivative of every value, by each of the steps."""
    weights, count = FIRST if order == 1 else SECOND, len(OFFSETS)
    times = np.concatenate([*(h * OFFSETS for h in steps), np.zeros(order - 1)])
    if parameters is None:
        rows = _together(of, moved, values, times)
    else:
        rows = [values(_with_parameters(of, moved, parameters, float(t))) for t in times]
    found = []
    for first, h in enumerate(steps):
        own = rows[first * count : (first + 1) * count]
        total = [sum(w * row[k] for w, row in zip(weights, own, strict=True)) for k in range(len(rows[0]))]
        if order == 2:
            total = [x + CENTRE * y for x, y in zip(total, rows[-1], strict=True)]
        found.append([np.asarray(x) / h**order for x in total])
    return found


def _together(of: Quantities, moved: Callable[[Array], dict[str, Array]], values: Values, times: Array) -> list[list[Array]]:
    """Values at all times, as one batch: states of the first time, then those of the second, ..."""
    count = len(of.states["q"])
    states = moved(times)
    flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in states.items()}
    found = values(of.elsewhere(flat))
    rows = [np.reshape(np.broadcast_to(x, (len(times) * count, *np.shape(x)[1:])), (len(times), count, *np.shape(x)[1:]))
            for x in found]  # fmt: skip
    return [[x[k] for x in rows] for k in range(len(times))]


def _with_parameters(
    of: Quantities, moved: Callable[[Array], dict[str, Array]], changes: Mapping[str, float], t: float
) -> Quantities:
    given = of.of.robot.parameters
    values = {name: p.value for name, p in given.items()} | {name: given[name].value + t * by for name, by in changes.items()}
    states = {name: array[0] for name, array in moved(np.array([t])).items()}
    return of.elsewhere(states, Description(of.of.original, values, of.of.elements))


def _moved(of: Quantities, changes: Mapping[str, Array], times: Array, by_velocities: bool) -> dict[str, Array]:
    """All inputs (times, states, ...)."""
    found = {}
    for name, value in of.states.items():
        t = times.reshape(-1, *([1] * value.ndim))
        if name not in changes:
            found[name] = np.broadcast_to(value, (len(times), *value.shape))
        elif name in POSITIONS and by_velocities:
            found[name] = _configuration(of.of, [value, changes[name]], times)
        else:
            found[name] = value + t * changes[name]
            for start in of.of.original.quaternions if name in CONFIGURATIONS else ():
                found[name][..., start : start + 4] /= np.linalg.norm(
                    found[name][..., start : start + 4], axis=-1, keepdims=True
                )
    return found


def _configuration(of: Description, motion: Sequence[Array], times: Array) -> Array:
    """q at times, (times, states, nq), with these derivatives of the velocities."""
    zero = np.zeros_like(motion[1])
    series = of.series([*motion, *([zero] * (SERIES - len(motion)))])
    powers = times[:, None] ** np.arange(SERIES)
    return np.stack([np.einsum("tp,sp->ts", powers, _states(jet.data[..., 0, :], len(zero))) for jet in series], axis=-1)


def _states(data: Array, count: int) -> Array:
    return np.broadcast_to(data, (count, data.shape[-1]))


def _later(of: Quantities, names: int, times: Array) -> dict[str, Array]:
    """All inputs at times of the motion, (times, states, ...)."""
    found = later(of.states, MOTION[:names], times)
    found["q"] = _configuration(of.of, [of.states[name] for name in MOTION[:names]], times)
    return found


def later(states: Mapping[str, Array], names: Sequence[str], times: Array) -> dict[str, Array]:
    """Inputs (times, states, ...), each the time derivative of the one before."""
    found = {name: np.broadcast_to(value, (len(times), *value.shape)) for name, value in states.items()}
    t = times[:, None, None]
    for k, name in enumerate(names):
        if states[name].shape == states[names[-1]].shape:
            terms = (states[names[j]] * t ** (j - k) / factorial(j - k) for j in range(k, len(names)))
            found[name] = sum(terms, np.zeros(()))
    return found
