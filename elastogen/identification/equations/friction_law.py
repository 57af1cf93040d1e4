"""The law of friction in numbers, with its derivatives by the unknowns that are estimated.

Unknowns are chosen so that bounds on single ones keep friction from driving the joint: forward and backward values in place of
means and asymmetries, the level at breakaway in place of Stribeck's excess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np

from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Actuation, Robot
from elastogen.identification.choices import Choice
from elastogen.identification.equations.springs import springs_of
from elastogen.identification.measurements.read_table import Array

KEYS = tuple(field.name for field in fields(Actuation))
WIDTH = 0.005  # of the fastest velocity: width of the smoothed sign where the description has no Coulomb friction
LOAD_WIDTH = 0.01  # of the usual load
MOST_LOAD = 0.9  # below 1: else the load does not follow from the force
SLOWEST = 3.0  # widths of the sign: Stribeck's velocity is above that
NARROWEST, WIDEST = 0.002, 0.3  # of the fastest velocity: bounds of an estimated width


@dataclass(frozen=True)
class Unknown:
    """One unknown of a joint's drive."""

    joint: int
    name: str  # rotor, viscous, forward, backward, coulomb, log_width, breakaway, stribeck_velocity, offset,
    # coulomb_asymmetry, load, spring
    lower: float
    upper: float
    start: float


def described(robot: Robot) -> dict[str, Array]:
    """The numbers of all drives as described, per driven velocity; the motor's inertia on the joint's side."""
    rows = []
    for joint in robot.joints:
        if joint.has_drives:
            for _ in joint.type.velocities:
                rows.append({key: nominal(getattr(joint.actuation, key), robot.parameters) for key in KEYS})
    found = {key: np.array([float(row[key]) for row in rows]) for key in KEYS}
    found["rotor"] = found.pop("motor_inertia") * found.pop("gear_ratio") ** 2
    found["spring"] = springs_of(robot)
    return found


def with_widths(law: Mapping[str, Array], choice: Choice, fastest: Array, loads: Array) -> dict[str, Array]:
    """The law with widths that suit the motion, where the description has none of that friction."""
    found = {key: value.copy() for key, value in law.items()}
    if "coulomb" in choice:
        new = law["coulomb"] == 0
        found["coulomb_velocity"] = np.where(new, np.maximum(WIDTH * fastest, 1e-6), law["coulomb_velocity"])
    if "load" in choice:
        found["load_width"] = np.where(law["load"] == 0, np.maximum(LOAD_WIDTH * loads, 1e-6), law["load_width"])
    return found


def unknowns(law: Mapping[str, Array], choice: Choice, fastest: Array) -> list[Unknown]:
    """The unknowns of all drives, joint by joint, with bounds and first values."""
    found: list[Unknown] = []
    far = float("inf")
    for k in range(len(fastest)):

        def add(name: str, lower: float, upper: float, start: float, k: int = k) -> None:
            found.append(Unknown(k, name, lower, upper, float(np.clip(start, lower, upper))))

        viscous, coulomb = law["viscous"][k], law["coulomb"][k]
        if "rotor" in choice:
            add("rotor", 0.0, far, law["rotor"][k])
        slowly, one_way = max(0.0, -law["stribeck"][k]), abs(law["coulomb_asymmetry"][k])  # what stays is not a drive, either
        if "viscous" in choice and "asymmetric" in choice:
            add("forward", 0.0, far, viscous + law["viscous_asymmetry"][k])
            add("backward", 0.0, far, viscous - law["viscous_asymmetry"][k])
        elif "viscous" in choice:
            add("viscous", abs(law["viscous_asymmetry"][k]), far, viscous)
        if "coulomb" in choice:
            add("coulomb", max(0.0 if choice.of_joint("stribeck", k) else slowly, one_way), far, coulomb)
        if choice.of_joint("width", k):
            ends, width = np.log([NARROWEST * fastest[k], WIDEST * fastest[k]]), np.log(law["coulomb_velocity"][k])
            add("log_width", min(ends[0], width), max(ends[1], width), width)
        if choice.of_joint("stribeck", k):
            slowest = SLOWEST * law["coulomb_velocity"][k]
            add("breakaway", 0.0, far, coulomb + law["stribeck"][k])
            add("stribeck_velocity", slowest, max(0.5 * fastest[k], 2 * slowest), max(0.2 * fastest[k], 1.5 * slowest))
        if "offset" in choice:
            add("offset", -far, far, law["offset"][k])
        elif "asymmetric" in choice:
            add("coulomb_asymmetry", -far, far, law["coulomb_asymmetry"][k])
        if choice.of_joint("spring", k):
            add("spring", -far, far, law["spring"][k])
        if choice.of_joint("load", k):
            add("load", 0.0, MOST_LOAD, law["load"][k])
    return found


def law_at(law: Mapping[str, Array], found: list[Unknown], values: Array) -> dict[str, Array]:
    """The law with values of the unknowns, in the keys of a robot file (and ``rotor``)."""
    new = {key: value.copy() for key, value in law.items()}
    for unknown, value in zip(found, values, strict=True):
        k = unknown.joint
        if unknown.name == "forward":
            new["viscous"][k], new["viscous_asymmetry"][k] = value / 2, value / 2
        elif unknown.name == "backward":
            new["viscous"][k] += value / 2
            new["viscous_asymmetry"][k] -= value / 2
        elif unknown.name == "log_width":
            new["coulomb_velocity"][k] = np.exp(value)
        elif unknown.name == "breakaway":
            new["stribeck"][k] = value - new["coulomb"][k]
        else:
            new[unknown.name][k] = value
    return new


@dataclass(frozen=True)
class Friction:
    """Friction at velocities (n, joints), with what the derivatives need."""

    law: Mapping[str, Array]
    qd: Array
    q: Array

    @property
    def sign(self) -> Array:
        """The smoothed one."""
        return np.asarray(np.tanh(self.qd / self.law["coulomb_velocity"]))

    @property
    def dip(self) -> Array:
        """Stribeck's bell."""
        return np.asarray(np.exp(-((self.qd / self.law["stribeck_velocity"]) ** 2)))

    def dry(self) -> Array:
        """All of it that does not depend on load."""
        law, s = self.law, self.sign
        sliding = law["coulomb"] + law["stribeck"] * self.dip
        slope = law["viscous"] + law["viscous_asymmetry"] * s
        return np.asarray(law["offset"] + slope * self.qd + sliding * s + law["coulomb_asymmetry"] * s**2)

    def root(self, loads: Array) -> Array:
        """The smoothed size of loads."""
        return np.asarray(np.hypot(loads, self.law["load_width"]))

    def column(self, unknown: Unknown, loads: Array, qdd: Array) -> Array:
        """(n,): the derivative of the force of the unknown's joint by it, of a rotor that of the load."""
        k, name = unknown.joint, unknown.name
        s, v, dip = self.sign[:, k], self.qd[:, k], self.dip[:, k]
        stribeck, speed = self.law["stribeck"][k], self.law["stribeck_velocity"][k]
        columns: dict[str, Callable[[], Array]] = {
            "viscous": lambda: v,
            "forward": lambda: v * (1 + s) / 2,
            "backward": lambda: v * (1 - s) / 2,
            "coulomb": lambda: s * (1 - dip) if k in self.breakaway else s,
            "log_width": lambda: self._by_log_width(k, loads),
            "breakaway": lambda: s * dip,
            "stribeck_velocity": lambda: stribeck * s * dip * 2 * v**2 / speed**3,
            "offset": lambda: np.ones_like(v),
            "coulomb_asymmetry": lambda: s**2,
            "load": lambda: s * self.root(loads)[:, k],
            "rotor": lambda: qdd[:, k],
            "spring": lambda: self.q[:, k],
        }
        return np.asarray(columns[name]())

    def _by_log_width(self, k: int, loads: Array) -> Array:
        """(n,): the derivative by the logarithm of the width."""
        law, s, v = self.law, self.sign[:, k], self.qd[:, k]
        level = law["coulomb"][k] + law["stribeck"][k] * self.dip[:, k] + law["load"][k] * self.root(loads)[:, k]
        level = level + law["viscous_asymmetry"][k] * v + 2 * law["coulomb_asymmetry"][k] * s
        return np.asarray(-level * (1 - s**2) * v / law["coulomb_velocity"][k])

    breakaway: frozenset[int] = frozenset()  # joints whose level at breakaway is an unknown
