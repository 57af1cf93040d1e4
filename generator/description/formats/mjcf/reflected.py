"""Armature and damping of MJCF actuators, as their gears reflect them to joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elastogen.generator.robot.location import Location

Numbers = Mapping[str, Any]


def reflected(actuators: Sequence[Numbers], friction: bool, where: Location) -> dict[int, dict[str, float]]:
    """What joints have of their actuators, ``armature`` and ``damping``, by the joints' numbers.

    What sits on tendons, sites or cranks is not a drive of one joint: inertia is refused there, damping is left out by
    :mod:`.left_out` with a warning.
    """
    found: dict[int, dict[str, float]] = {}
    for actuator in actuators:
        here = where.at("actuator", actuator["name"])
        if actuator["joint"] is None:
            if actuator["armature"]:
                expected = "armature of actuators on joints"
                raise here.at("armature").error(actuator["armature"], expected, "give it to the joints")
            continue
        if friction and any(actuator["dampingpoly"]):
            raise here.at("damping").error(actuator["dampingpoly"], "damping by one number", "give one, or friction=False")
        sums = found.setdefault(actuator["joint"], {"armature": 0.0, "damping": 0.0})
        for key in sums:
            sums[key] += actuator[key]
    return found
