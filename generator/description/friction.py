"""Checks of the friction of joints."""

from __future__ import annotations

from typing import Protocol

from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Actuation, Joint, Scalar


class Numbers(Protocol):
    """Checks of single numbers; each gives the nominal value."""

    def finite(self, scalar: Scalar, where: Location) -> float:
        """A number."""

    def not_negative(self, scalar: Scalar, where: Location) -> float:
        """Zero or more."""


def check_friction(joint: Joint, checks: Numbers, where: Location) -> None:
    """Refuse friction that does not dissipate at every velocity, or that has no unique load for a force."""
    drive = joint.actuation
    widths = {"coulomb_velocity": "a speed", "stribeck_velocity": "a speed", "load_width": "a force"}
    for key, kind in widths.items():
        if checks.finite(getattr(drive, key), where.at(key)) <= 0:
            usual = getattr(Actuation(), key)
            raise where.at(key).error(getattr(drive, key), f"{kind} above zero", f"{usual} is usual")
    for key in ("offset", "stribeck", "viscous_asymmetry", "coulomb_asymmetry"):
        checks.finite(getattr(drive, key), where.at(key))
    coulomb, viscous, load = (checks.not_negative(getattr(drive, key), where.at(key)) for key in ("coulomb", "viscous", "load"))
    bounds = {"viscous_asymmetry": viscous, "coulomb_asymmetry": coulomb}
    for key, bound in bounds.items():
        if abs(checks.finite(getattr(drive, key), where.at(key))) > bound:
            name = key.partition("_")[0]
            expected = f"at most {name} = {bound:g} in size: friction would drive the joint in one direction"
            raise where.at(key).error(getattr(drive, key), expected, f"lower it, or raise {name}")
    if coulomb + checks.finite(drive.stribeck, where.at("stribeck")) < 0:
        expected = f"at least -coulomb = {-coulomb:g}: friction would drive the joint at low speed"
        raise where.at("stribeck").error(drive.stribeck, expected, "raise it, or coulomb")
    if load >= 1:
        raise where.at("load").error(drive.load, "a share of the load, 0 <= load < 1", "0.05 is usual for a harmonic drive")
    if load > 0 and not joint.has_drives:
        expected = "0 for a joint without a drive, which holds no load along its axis"
        raise where.at("load").error(drive.load, expected, "leave it out")
