"""Reports parts of an MJCF file that act in MuJoCo and not here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from elastogen.generator.robot.location import Location

Numbers = Mapping[str, Any]
_SPRING = "add it as a term of a robot file: base_description, and terms: [{potential: k/2*(q('joint') - q0)**2}]"
_TERM = "add it as a term of a robot file: base_description, and terms: [{potential: ...}] or [{dissipation: ...}]"


def say_left_out(model: Numbers, labels: Sequence[str], friction: bool, where: Location) -> None:
    """Warn of forces that are left out, by name; refuse what would leave a wrong mass matrix.

    ``labels`` are the names of the joints. Damping and dry friction count where ``friction`` is asked for, so they are missed
    only there.
    """
    if model["flexes"]:
        raise where.at("flex").error(f"{model['flexes']} flexible objects", "rigid bodies", "leave them out")
    if any(model["fluid"]):
        given = f"density {model['fluid'][0]:g}, viscosity {model['fluid'][1]:g}"
        where.at("option").warn(given, "bodies without a fluid around them: its forces are left out", "add them as own terms")
    floating = [body["name"] for body in model["bodies"] if body["gravcomp"]]
    if floating:
        given = f"gravcomp of {_first(floating)}"
        expected = "bodies on which gravity acts: its compensation is left out"
        where.at("bodies").warn(given, expected, "add it to the forces: gravity_vector has it")
    springs = {label: joint["stiffness"] for label, joint in zip(labels, model["joints"], strict=True) if joint["stiffness"]}
    if len(springs) == 1:
        ((label, stiffness),) = springs.items()
        where.at("joints", label, "stiffness").warn(stiffness, "joints without springs: this one is left out", _SPRING)
    elif springs:
        given = f"stiffness of {len(springs)} joints: {_first(springs)}"
        where.at("joints").warn(
            given, "joints without springs: these are left out", _SPRING.replace("it as a term", "them as terms")
        )
    for tendon in model["tendons"]:
        _say_of_tendon(tendon, friction, where.at("tendon", tendon["name"]))
    for actuator in model["actuators"]:
        damping = actuator["damping"] or max(actuator["dampingpoly"], key=abs, default=0.0)
        if friction and actuator["joint"] is None and damping:
            here = where.at("actuator", actuator["name"], "damping")
            here.warn(damping, "damping of actuators on joints: this one is left out", _TERM)


def _first(names: Iterable[object]) -> str:
    """A few names."""
    shown = [str(name) for name in names]
    return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")


def _say_of_tendon(tendon: Numbers, friction: bool, here: Location) -> None:
    if tendon["armature"]:
        raise here.at("armature").error(tendon["armature"], "tendons without inertia of their own", "set it to 0")
    if tendon["stiffness"]:
        here.at("stiffness").warn(tendon["stiffness"], "tendons without springs: this one is left out", _TERM)
    if not friction:
        return
    damping = tendon["damping"] or max(tendon["dampingpoly"], key=abs, default=0.0)
    for key, value in (("damping", damping), ("frictionloss", tendon["frictionloss"])):
        if value:
            here.at(key).warn(value, f"tendons without {key}: that of this one is left out", _TERM)
