"""Centres of mass, momenta, and rates of energies and forces: sums over the bodies of a description."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
import numpy.typing as npt

from elastogen.generator.reference.directions import in_time
from elastogen.generator.reference.evaluated import BodySeries, Evaluated, extent
from elastogen.generator.reference.quantities import Quantities, Sized

Array = npt.NDArray[np.float64]
MOTION = ("q", "qd", "qdd", "q3", "q4", "q5", "q6")


def _power(body: BodySeries, k: int) -> Array:
    """Coefficient of t^k of the points."""
    return body.P.values[k] if k < body.P.width else np.zeros_like(body.P.values[0])


def _derivative(body: BodySeries, n: int, k: int) -> Array:
    """Coefficient of t^k of the n-th time derivative of the points."""
    return _power(body, k + n) * (factorial(k + n) / factorial(k))


def _first(body: BodySeries, P: Array) -> Array:
    """int P rho dm."""
    weighted = body.weighted(P)
    return weighted.sum(axis=-1) if body.G_slope is not None else weighted[..., 3]


def _mass(body: BodySeries) -> Array:
    total: Array = body.G.sum(axis=-1) if body.G_slope is not None else body.G[3, 3]
    return total


def _moment(S: Array) -> Array:
    """int a x b dm from S = int a b^T dm."""
    return np.stack([S[..., 1, 2] - S[..., 2, 1], S[..., 2, 0] - S[..., 0, 2], S[..., 0, 1] - S[..., 1, 0]], axis=-1)


def center_of_mass(evaluated: Evaluated, power: int = 0) -> Sized:
    """Coefficient of t^power of the centre of mass of all moving bodies."""
    bodies = evaluated.bodies
    mass = sum(np.asarray(_mass(body))[..., None] for body in bodies)
    firsts = [_first(body, _power(body, power)) / mass for body in bodies]
    return Sized(sum(firsts[1:], firsts[0]), sum((np.abs(f).max(axis=-1, keepdims=True) for f in firsts), np.zeros(1)))


def momentum(evaluated: Evaluated, order: int) -> Sized:
    """Linear, and angular about the centre of mass: the momentum (order 1) or its rate (order 2)."""
    centre = center_of_mass(evaluated).value
    linear = sizes = angular = rotating = np.zeros(3)
    for body in evaluated.bodies:
        P, D = _power(body, 0), _derivative(body, order, 0)
        own, about = _first(body, D), body.weighted(D)
        S = P @ np.swapaxes(about, -1, -2)
        moment = _moment(S) - np.cross(centre, own)
        scale = np.abs(S).max(axis=(-1, -2))[..., None] + np.abs(np.cross(centre, own)).max(axis=-1, keepdims=True)
        linear, angular = linear + own, angular + moment
        sizes, rotating = sizes + np.abs(own).max(axis=-1, keepdims=True), rotating + scale
    return Sized(np.concatenate([linear, angular], axis=-1), np.concatenate([sizes, rotating], axis=-1))


def energy_rate(of: Quantities, order: int, rate: int) -> Sized:
    """Of 1/2 int |d^n r/dt^n|^2 dm, n = order + 1: the product of two series."""
    names, n = MOTION[: order + rate + 2], order + 1
    evaluated = of.along(*names)
    value, size = np.zeros((2, len(of.at("q"))))
    for i in range(rate + 1):
        factor = 0.5 * factorial(rate)
        for body in evaluated.bodies:
            a, b = _derivative(body, n, i), _derivative(body, n, rate - i)
            value = value + factor * (body.weighted(a) * b).sum(axis=(-1, -2))
            size = size + factor * (body.magnitude(np.abs(a)) * np.abs(b)).sum(axis=(-1, -2))
        drives = of.drives * of.at(MOTION[n + i]) * of.at(MOTION[n + rate - i])
        drives = drives * factor / (factorial(i) * factorial(rate - i))
        value, size = value + drives.sum(axis=-1), size + np.abs(drives).sum(axis=-1)
    return Sized(value, size)


def inertia_force_rate(of: Quantities, rate: int) -> Sized:
    """Of int dr/dq_k . r'' dm: partial derivatives along the motion times accelerations."""
    motion = [of.at(name) for name in MOTION[: rate + 3]]
    steps = np.broadcast_to(np.diag(of.free), (len(motion[0]), of.n, of.n))
    partial = of.of.evaluated(of.of.series([x[:, None, :] for x in motion[: rate + 1]], [steps], field=True))
    moving = of.of.evaluated(of.of.series(motion))
    value, size = np.zeros((2, len(motion[0]), of.n))
    for unit, body in zip(partial.bodies, moving.bodies, strict=True):
        if unit.P.slopes is None:
            continue
        for i in range(min(rate + 1, len(unit.P.slopes))):
            U, acc = unit.P.slopes[i], _derivative(body, 2, rate - i)
            value = value + (U * body.weighted(acc)[:, None]).sum(axis=(-1, -2))
            size = size + (np.abs(U) * body.magnitude(np.abs(acc))[:, None]).sum(axis=(-1, -2))
    drives = of.drives * motion[rate + 2]
    return Sized((value * factorial(rate) + drives) * of.free, size * factorial(rate) + np.abs(drives))


# ---- rates of all forces


def through_joints(of: Quantities) -> bool:
    """Whether beams slide through joints, where integrals over material points have other rates."""
    return any(of.of.moving_beam(joint.child) is not None for joint in of.of.robot.joints)


def by_differences(of: Quantities, given: int, rate: int, value: Callable[[Quantities], Sized]) -> Sized:
    """d^rate/dt^rate of numbers along the motion, from some given derivatives."""
    slope = in_time(of, given, lambda at: [value(at).value], rate)
    size = value(of).size * 10.0  # differences have more rounding errors
    return Sized(slope.values[0], np.abs(slope.values[0]) + size + slope.off[0] / 1e-9)


def has_series(of: Quantities) -> bool:
    """Whether all driving forces have time series here; else their rates are differences."""
    robot = of.of.robot
    return not (robot.terms or robot.loops or robot.has_load_friction or through_joints(of))


def inverse_dynamics_rate(of: Quantities, rate: int, forces: Callable[[Quantities], Sized]) -> Sized:
    """Of all driving forces; ``forces`` are these."""
    if not has_series(of):
        return by_differences(of, rate + 3, rate, forces)
    bodies, weights = inertia_force_rate(of, rate), _weight_rate(of, rate)
    resisting = _resistance_rate(of, rate)
    return bodies + weights + resisting


def _weight_rate(of: Quantities, rate: int) -> Sized:
    """Of -int dr/dq_k . g dm: partial derivatives along the motion."""
    motion = [of.at(name)[:, None, :] for name in MOTION[: rate + 1]]
    steps = np.broadcast_to(np.diag(of.free), (len(motion[0]), of.n, of.n))
    partial = of.of.evaluated(of.of.series(motion, [steps], field=True))
    value, size = np.zeros((2, len(motion[0]), of.n))
    for body in partial.bodies:
        if body.P.slopes is not None and rate < len(body.P.slopes):
            first = _first(body, body.P.slopes[rate])
            value = value - first @ of.of.gravity
            size = size + np.abs(first) @ extent(of.of.gravity)
    return Sized(value * factorial(rate) * of.free, size * factorial(rate))


def _resistance_rate(of: Quantities, rate: int) -> Sized:
    """Of K q + D qd + dry friction, K and D constant."""
    K, D = of.stiffness, of.damping
    value, size = np.zeros((2, *of.at("qd").shape))
    for matrix, x in ((K, of.at(MOTION[rate])), (D, of.at(MOTION[rate + 1]))):
        value = value + np.einsum("sij,sj->si", matrix, x)
        size = size + np.einsum("sij,sj->si", np.abs(matrix), np.abs(x))
    dry = of.dry_friction_rate(rate)
    return Sized((value + dry) * of.free, size + np.abs(dry))
