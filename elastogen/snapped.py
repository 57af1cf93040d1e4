"""Rounded right angles of a robot file that were read as exact, and their effect, for ``elastogen check``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.functions.derivation import CATALOGUE, derive_function
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Robot, Scalar
from elastogen.generator.sliding.elements_inside import selectors

LARGEST = 60  # coordinates of robots whose forward dynamics is derived here: it takes seconds
VISIBLE = 1e-15  # smaller differences are rounding errors of our own


def describe_snapped(robot: Robot, literal: Robot) -> str:
    """Describe the differences between a robot and its file taken literally, in lines; empty if there are none."""
    moved = {name: change for name, change in _changes(robot, literal) if change > VISIBLE}
    if not moved:
        return ""
    width = max(map(len, moved))
    lines = ["taken as exact 0, 1 or -1 (snap: false takes the file literally)"]
    lines += [f"  {name:<{width}}  by up to {change:.1e}" for name, change in moved.items()]
    effects = [f"F by {_effect(robot, literal, 'inverse_dynamics'):.1e}"]
    if len(robot.coordinates) <= LARGEST:
        effects.append(f"qdd by {_effect(robot, literal, 'forward_dynamics'):.1e}")
    lines.append(f"  at a state of size 1 this moves {' and '.join(effects)} of the largest of them")
    return "\n".join(lines)


def _changes(robot: Robot, literal: Robot) -> Iterator[tuple[str, float]]:
    """Return how far the numbers of each joint's placement and axis were moved."""
    for joint, other in zip(robot.joints, literal.joints, strict=True):
        pairs: list[tuple[Scalar, Scalar]] = list(zip(joint.axis, other.axis, strict=True))
        for left, right in ((joint.before, other.before), (joint.after, other.after)):
            for row, theirs in zip(left, right, strict=True):
                pairs += zip(row, theirs, strict=True)
        yield joint.name, max(abs(nominal(a, robot.parameters) - nominal(b, robot.parameters)) for a, b in pairs)


def _effect(robot: Robot, literal: Robot, function: str) -> float:
    """Return the relative difference of a function of both robots at a state of size 1."""
    here, there = (_evaluated(each, function) for each in (robot, literal))
    largest = np.abs(here).max()
    return float(np.abs(here - there).max() / largest) if largest > 0 else 0.0


def _evaluated(robot: Robot, name: str) -> NDArray[np.floating]:
    entry = replace(CATALOGUE[name], frame_assignment="plain", explore=False, finalists=1)
    function = derive_function(VariantFamily(robot), entry)
    size = len(robot.coordinates)
    values = {key: [math.sin(k + 1.7 * number) for k in range(size)] for number, key in enumerate(entry.inputs, 1)}
    for k, coordinate in enumerate(robot.coordinates):
        if coordinate.elastic:
            values["q"][k] *= 0.01
    for selector in selectors(robot):
        values["q"][selector.coordinate] = 0.6 * selector.upper
    parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
    with np.errstate(all="ignore"):  # without inertia there are no accelerations
        result: NDArray[np.floating] = next(iter(function.evaluate(values, parameters).values()))
    return result
