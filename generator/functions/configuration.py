"""Functions for robots with quasi-velocities: how configurations move and differ, and random ones.

Where all velocities are time derivatives of coordinates, these are sums and differences, and nothing is emitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from elastogen.generator.functions.catalogue import Derived, Entry
from elastogen.generator.functions.variants import Variant
from elastogen.generator.joints.quaternions import FreeMotion
from elastogen.generator.mechanism.mechanism import Frame
from elastogen.generator.program.arguments import MOTION, vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import dot
from elastogen.runtime.interface.argument import Argument

_ADDED = 1.0  # half the range of lengths and amplitudes without limits [m]


def _in_order(variant: Variant, values: Sequence[Value]) -> list[Value]:
    """A vector over the coordinates, in the robot's order."""
    result = [variant.graph.value(0)] * len(values)
    for place, value in zip(variant.mechanism.order, values, strict=True):
        result[place] = value
    return result


def _free_frames(variant: Variant) -> list[Frame]:
    return [frame for frame in variant.mechanism.frames if frame.extras]


def _put(frame: Frame, result: list[Value], own: Sequence[Value]) -> None:
    for k, value in zip((*frame.coordinates, *frame.extras), own, strict=True):
        result[k] = value


def configuration_rate(variant: Variant) -> Derived:
    """dq/dt."""
    return Derived((_in_order(variant, variant.mechanism.rates(variant.input("q"), variant.input("qd"))),))


def integrate(variant: Variant) -> Derived:
    """Exponentials of quasi-velocities, sums of all others."""
    return Derived((_in_order(variant, _moved(variant, variant.input("q"), variant.input("v"))),))


def _moved(variant: Variant, q: Sequence[Value], v: Sequence[Value]) -> list[Value]:
    result = [*(x + y for x, y in zip(q, v, strict=False)), *q[len(v) :]]
    for frame in _free_frames(variant):
        _put(frame, result, frame.motion.integrated(frame.at(q), frame.own(v)))
    return result


def difference(variant: Variant) -> Derived:
    """Logarithms of relative rotations, differences of all others."""
    q0, q1 = variant.input("q0"), variant.input("q1")
    result = [b - a for a, b in zip(q0, q1, strict=True)][: variant.size]
    for frame in _free_frames(variant):
        for k, value in zip(frame.coordinates, frame.motion.difference(frame.at(q0), frame.at(q1)), strict=True):
            result[k] = value
    return Derived((result,))


def motion_on_path(variant: Variant) -> Derived:
    """integrate(q, x(t)), its velocities and their derivatives."""
    q, motion = variant.input("q"), [variant.input(name) for name in PATH]
    velocities = list(motion[1])
    for frame in _free_frames(variant):
        found = frame.motion.path_velocities(frame.own(motion[0]), frame.own(motion[1]))
        for k, value in zip(frame.coordinates, found, strict=True):
            velocities[k] = value
    rates = [velocities]
    for _ in PATH[2:]:
        rates.append(time_derivative(variant.graph, rates[-1], list(pairwise(motion))))
    return Derived((_in_order(variant, _moved(variant, q, motion[0])), *rates))


def start_of_path(variant: Variant) -> Derived:
    """Where x = 0: xd = v, xdd = v1, x3 = v2 + 1/2 [v, v1], x4 = v3 + [v, x3] - 1/2 [v, [v, v1]], vk the derivatives of v."""
    v, first, second, third = (variant.input(name) for name in MOTION[1:5])
    rotated = _bracket(variant, v, first)
    x3 = [a + 0.5 * b for a, b in zip(second, rotated, strict=True)]
    twice = zip(third, _bracket(variant, v, x3), _bracket(variant, v, rotated), strict=True)
    return Derived((v, first, x3, [a + b - 0.5 * c for a, b, c in twice]))


def _bracket(variant: Variant, v: Sequence[Value], w: Sequence[Value]) -> list[Value]:
    """[v, w] of velocities in moving frames; zero for all others."""
    result = variant.zeros()
    for frame in _free_frames(variant):
        rows = frame.motion.structure(frame.own(v))
        assert rows is not None
        for k, row in zip(frame.coordinates, rows, strict=True):
            result[k] = dot(row, frame.own(w))
    return result


def neutral(variant: Variant) -> Derived:
    """Zero, and no rotation for quaternions."""
    result = [variant.graph.value(0)] * len(variant.mechanism.order)
    for frame in _free_frames(variant):
        for k in frame.extras:
            result[k] = variant.graph.value(1)
    return Derived((_in_order(variant, result),))


def random_configuration(variant: Variant) -> Derived:
    """From numbers in [0, 1]: within limits, else half a revolution or 1 m either way; uniform rotations (Shoemake 1992)."""
    order, graph = variant.mechanism.order, variant.graph
    given = variant.input("u", len(order))
    u = [given[place] for place in order]
    result = [low + (high - low) * x for (low, high), x in zip(variant.ranges, u, strict=False)] + u[variant.size :]
    for frame in _free_frames(variant):
        own = frame.at(u)
        placed = [2 * _ADDED * x - _ADDED for x in own[:-4]]
        assert isinstance(frame.motion, FreeMotion)
        a, b = graph.sqrt(1 - own[-4]), graph.sqrt(own[-4])
        first, second = 2 * math.pi * own[-3], 2 * math.pi * own[-2]
        _put(frame, result, [*placed, a * graph.sin(first), a * graph.cos(first), b * graph.sin(second), b * graph.cos(second)])
    return Derived((_in_order(variant, result),))


def _quasi(robot: Robot) -> bool:
    return robot.has_quasi_velocities


_ONLY = "only for robots with quasi-velocities (floating and spherical joints); for others q moves by sums"
_UNITS = "rad, m or 1"
PATH = ("x", "xd", "xdd", "x3", "x4")


def _rates(variant: Variant, names: Sequence[str], doc: str) -> tuple[Argument, ...]:
    units = ("rad/s or m/s", *(f"rad/s^{k} or m/s^{k}" for k in (2, 3, 4)))
    return tuple(
        vector(name, variant.size, unit, f"derivative {k} {doc}")
        for k, (name, unit) in enumerate(zip(names, units, strict=True), 1)
    )


ENTRIES = tuple(
    Entry(name, brief, inputs, outputs, (form,), "plain", applies=_quasi, applies_to=_ONLY, default=not name.endswith("_path"))
    for name, brief, inputs, outputs, form in (
        ("configuration_rate", "Time derivative of the coordinates, dq/dt, from the velocities.", ("q", "qd"),
         lambda v: (vector("dq", v.positions, "rad/s, m/s or 1/s", "rates of q"),), configuration_rate),
        ("integrate", "The configuration that the velocities v lead to in unit time; quaternions stay unit.", ("q", "v"),
         lambda v: (vector("moved", v.positions, _UNITS, "configuration"),), integrate),
        ("difference", "The velocities that lead from q0 to q1 in unit time, by less than half a revolution.", ("q0", "q1"),
         lambda v: (vector("apart", v.size, "rad or m", "displacement from q0 to q1"),), difference),
        ("motion_on_path", "The configuration that the displacement x(t) leads to from q, velocities and their rates.",
         ("q", *PATH), lambda v: (vector("moved", v.positions, _UNITS, "configuration"), *_rates(v, MOTION[1:5], "of moved")),
         motion_on_path),
        ("start_of_path", "Derivatives of the displacement x(t) that leaves a configuration with these velocities.",
         MOTION[1:5], lambda v: _rates(v, PATH[1:], "of x"), start_of_path),
        ("neutral", "The configuration of zeros, quaternions without rotation.", (),
         lambda v: (vector("neutral_q", v.positions, _UNITS, "configuration"),), neutral),
        ("random_configuration", "A configuration from numbers between 0 and 1; all turns are equally likely.", ("u",),
         lambda v: (vector("drawn", v.positions, _UNITS, "configuration"),), random_configuration),
    )
)  # fmt: skip
