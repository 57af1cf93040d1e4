"""Expected values of functions of coordinates: flows of constant velocities, and motions along paths."""

from __future__ import annotations

from math import factorial

import numpy as np

from elastogen.generator.reference.directions import MOTION, differences, later
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found
from elastogen.generator.reference.quantities import Array, Quantities

PATH = ("x", "xd", "xdd", "x3", "x4")


def _moved(of: Quantities, q: Array, v: Array) -> Array:
    """The configuration after constant velocities in unit time: sums, and screws of free joints."""
    found = np.array(q)
    for place in of.of.places:
        pairs = [*zip(*place.elastic, strict=True), *([place.deflection] if place.deflection else [])]
        if len(place.q) == len(place.v):
            pairs += zip(place.q, place.v, strict=True)
        for k, at in pairs:
            found[:, k] = q[:, k] + v[:, at]
        if len(place.q) != len(place.v):
            own, turn = list(place.q[-4:]), v[:, list(place.v[-3:])]
            if len(place.q) > 4:
                found[:, list(place.q[:-4])] += _carried(q[:, own], v[:, list(place.v[:-3])], turn)
            angle = np.linalg.norm(turn, axis=1, keepdims=True)
            step = np.concatenate([turn / 2 * np.sinc(angle / 2 / np.pi), np.cos(angle / 2)], axis=1)
            found[:, own] = _product(q[:, own], step)
    return found


def _product(a: Array, b: Array) -> Array:
    """Of quaternions x, y, z, w."""
    u, v, s, t = a[:, :3], b[:, :3], a[:, 3:], b[:, 3:]
    return np.concatenate([s * v + t * u + np.cross(u, v), s * t - (u * v).sum(axis=1, keepdims=True)], axis=1)


def _carried(q: Array, v: Array, w: Array) -> Array:
    """R (E + (1 - cos) / a^2 {w x} + (a - sin) / a^3 {w x}^2) v, a the angle |w|, by their series."""
    square = (w * w).sum(axis=1, keepdims=True)
    first = sum(((-square) ** k / factorial(2 * k + 2) for k in range(12)), np.zeros(()))
    second = sum(((-square) ** k / factorial(2 * k + 3) for k in range(12)), np.zeros(()))
    once = np.cross(w, v)
    local = v + first * once + second * np.cross(w, once)
    u, s = q[:, :3], q[:, 3:]
    found: Array = local + 2 * s * np.cross(u, local) + 2 * np.cross(u, np.cross(u, local))
    return found


def _one(found: Array, expected: Array) -> list[Difference]:
    return [(found, expected, max(1.0, float(np.abs(expected).max())))]


def integrate(of: Quantities, found: Found) -> list[Difference]:
    """The flow."""
    return _one(found[0], _moved(of, of.states["q"], of.states["v"]))


def difference(of: Quantities, found: Found) -> list[Difference]:
    """The velocities from q0 to q1; a quaternion and its negative are one rotation."""
    moved, q1 = _moved(of, of.states["q0"], found[0]), np.array(of.states["q1"])
    for place in of.of.places:
        if len(place.q) != len(place.v):
            own = list(place.q[-4:])
            q1[:, own] *= np.sign((q1[:, own] * moved[:, own]).sum(axis=1, keepdims=True))
    return _one(moved, q1)


def _velocities(of: Quantities) -> list[Array]:
    """v of the path that x(t) leads along: sum of (-1)^k / (k + 1)! ad^k dx/dt, ad the bracket with x of free joints."""
    x, rate = of.states["x"], of.states["xd"]
    found = np.array(rate)
    for place in of.of.places:
        if len(place.q) != len(place.v):
            own = list(place.v)
            term = rate[:, own]
            found[:, own] = term
            for k in range(1, 30):
                term = -_bracket(x[:, own], term) / (k + 1)
                found[:, own] += term
    return [found]


def _bracket(x: Array, y: Array) -> Array:
    """Of velocities in a moving frame: linear (if there are any) and angular."""
    angular = np.cross(x[:, -3:], y[:, -3:])
    if x.shape[1] == 3:
        return angular
    return np.concatenate([np.cross(x[:, 3:], y[:, :3]) + np.cross(x[:, :3], y[:, 3:]), angular], axis=1)


def _path(of: Quantities) -> list[Array]:
    """Velocities and three derivatives of them along the path."""

    def rate(at: Quantities) -> list[Array]:
        return differences(at, lambda t: later(at.states, PATH, t), _velocities, 1).values

    orders = ((_velocities, 1), (_velocities, 2), (rate, 2))
    return [_velocities(of)[0], *(differences(of, lambda t: later(of.states, PATH, t), f, k).values[0] for f, k in orders)]


def _sized(found: Found, expected: list[Array]) -> list[Difference]:
    """Higher rates are differences of differences."""
    scales = (1.0, 10.0, 100.0, 1000.0)
    return [(a, b, s * max(1.0, float(np.abs(b).max()))) for a, b, s in zip(found, expected, scales, strict=True)]


def motion_on_path(of: Quantities, found: Found) -> list[Difference]:
    """The configuration, its velocities, and their derivatives by differences."""
    return [*_one(found[0], _moved(of, of.states["q"], of.states["x"])), *_sized(found[1:], _path(of))]


def start_of_path(of: Quantities, found: Found) -> list[Difference]:
    """The path that starts so has the velocities and derivatives that were given."""
    given = {**of.states, "x": np.zeros_like(found[0]), **dict(zip(PATH[1:], found, strict=True))}
    return _sized(_path(of.elsewhere(given)), [of.states[name] for name in MOTION[1:5]])


def neutral(of: Quantities, found: Found) -> list[Difference]:
    """Zeros, and quaternions without rotation."""
    expected = np.zeros((len(of.at("q")), of.of.nq))
    for place in of.of.places:
        if len(place.q) != len(place.v):
            expected[:, place.q[-1]] = 1.0
    return _one(found[0], expected)


def random_configuration(of: Quantities, found: Found) -> list[Difference]:
    """Unit quaternions, uniformly distributed; all others between their limits, linear in u."""
    u, expected = of.states["u"], np.zeros((len(of.at("q")), of.of.nq))
    for joint, place in zip(of.of.robot.joints, of.of.places, strict=True):
        if len(place.q) != len(place.v):
            a, b, c = (u[:, k] for k in place.q[-4:-1])
            expected[:, place.q[-4:]] = np.stack([
                np.sqrt(1 - a) * np.sin(2 * np.pi * b), np.sqrt(1 - a) * np.cos(2 * np.pi * b),
                np.sqrt(a) * np.sin(2 * np.pi * c), np.sqrt(a) * np.cos(2 * np.pi * c)], axis=-1)  # fmt: skip
            for k in place.q[:-4]:
                expected[:, k] = 2 * u[:, k] - 1
            continue
        for k, coordinate in zip(place.q, joint.type.coordinates, strict=True):
            low, high = _range(of, joint, coordinate.unit)
            expected[:, k] = low + (high - low) * u[:, k]
        for k in (*place.elastic[0], *([place.deflection[0]] if place.deflection else [])):
            expected[:, k] = found[0][:, k]  # amplitudes have ranges of their own
    return _one(found[0], expected)


def _range(of: Quantities, joint: object, unit: str) -> tuple[float, float]:
    limits = joint.limits  # type: ignore[attr-defined]
    far = np.pi if unit == "rad" else 1.0
    low, high = limits.lower, limits.upper
    if low is None or high is None:
        return -far, far
    return float(low), float(high)


COORDINATES: dict[str, Expectation] = {
    "integrate": integrate,
    "difference": difference,
    "motion_on_path": motion_on_path,
    "start_of_path": start_of_path,
    "neutral": neutral,
    "random_configuration": random_configuration,
}
"""By the names of the catalogue."""
