"""Limits, drive with friction, and spring of a joint, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Scalar


@dataclass(frozen=True)
class Limits:
    """Range of a joint's motion; used by checks, simulation and watchdogs, never by the equations of motion."""

    lower: float | None = None  # [rad] or [m]
    upper: float | None = None  # [rad] or [m]
    velocity: float | None = None  # [rad/s] or [m/s]
    effort: float | None = None  # [N m] or [N]


@dataclass(frozen=True)
class Actuation:
    """Drive of a joint: reflected motor inertia ``gear_ratio**2 * motor_inertia``, and friction.

    Friction force on the joint side, with s = tanh(qd / coulomb_velocity)::

        offset + (viscous + viscous_asymmetry * s) * qd + coulomb_asymmetry * s**2
        + (coulomb + stribeck * exp(-(qd / stribeck_velocity)**2) + load * sqrt(L**2 + load_width**2)) * s

    L is the load of the drive: the joint's row of the equation of motion without friction. So F = L + friction(qd, L), which
    has one solution L for every F as ``load`` is below 1 (generator/mechanism/drives.py).
    """

    motor_inertia: Scalar = 0  # rotor side [kg m^2] (for a prismatic joint with gear_ratio in rad/m likewise)
    gear_ratio: Scalar = 1  # motor revolutions per joint revolution [-], or [rad/m] for a prismatic joint
    viscous: Scalar = 0  # [N m s/rad] or [N s/m], joint side
    coulomb: Scalar = 0  # [N m] or [N], joint side
    coulomb_velocity: Scalar = 0.01  # width of the smoothed sign [rad/s] or [m/s]
    offset: Scalar = field(default=0, metadata={"later": True})  # force at any velocity [N m] or [N]
    stribeck: Scalar = field(default=0, metadata={"later": True})  # what Coulomb friction has more near rest [N m] or [N]
    stribeck_velocity: Scalar = field(default=0.1, metadata={"later": True})  # [rad/s] or [m/s]
    viscous_asymmetry: Scalar = field(default=0, metadata={"later": True})  # more forward, less backward [N m s/rad] or [N s/m]
    coulomb_asymmetry: Scalar = field(default=0, metadata={"later": True})  # the same of Coulomb friction [N m] or [N]
    load: Scalar = field(default=0, metadata={"later": True})  # friction per load [-]
    load_width: Scalar = field(default=0.01, metadata={"later": True})  # of the smoothed |L| [N m] or [N]


@dataclass(frozen=True)
class JointElasticity:
    """A spring and a damper between the drive and the link.

    The joint's own coordinate is then the position of the drive (on the joint's side of the gear), which carries the motor
    inertia; the deflection is the next coordinate. The link rotates (slides) by their sum.
    """

    stiffness: Scalar  # [N m/rad] or [N/m]
    damping: Scalar = 0  # [N m s/rad] or [N s/m]
