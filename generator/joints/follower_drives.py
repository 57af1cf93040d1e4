"""Drives of joints that follow others: their rotor's inertia and their friction act on the joints that lead them.

A follower at f(q) rotates its rotor by df/dt = f' dq/dt. Where f = k q + c, with one leader, this adds k^2 times the reflected
inertia and k^2 times the viscous friction to the leader's drive; Coulomb friction becomes |k| times as large, and the velocity
that smooths it 1/|k| times. What cannot be one drive becomes a term of the equations of motion: R = b (df/dt)^2 / 2, and the
forces -f'_j c tanh((df/dt) / v); the rotor of a follower along a curve becomes a wheel in the root, a link of its own.
"""

from __future__ import annotations

from dataclasses import fields, replace

import sympy

from elastogen.generator.joints.coupled import COUPLED, CoupledKind, leader
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import to_identifier
from elastogen.generator.robot.own.terms import Term, symbol
from elastogen.generator.robot.robot import Actuation, Body, Coupling, Joint, Link, Robot, Scalar

_BY_SIGN = ("coulomb", "stribeck", "viscous_asymmetry", "coulomb_asymmetry", "load")  # what coulomb_velocity smooths


def reflect_drives(robot: Robot, where: Location) -> Robot:
    """Return the robot with the drives of followers on the joints that lead them."""
    for joint in robot.joints:
        if isinstance(joint.type, CoupledKind) and joint.actuation != Actuation():
            robot = _reflected(robot, joint, where.at("joints", joint.name))
    return robot


def _reflected(robot: Robot, joint: Joint, where: Location) -> Robot:
    coupling = joint.coupling
    assert coupling is not None  # of a coupled kind
    drive = joint.actuation
    names = coupling.leaders
    slopes = [sympy.diff(coupling.position, leader(name)) for name in names]
    coordinates = {leader(name) for name in names}
    single = next((other for other in robot.joints if len(names) == 1 and other.name == names[0]), None)
    linear = single is not None and "motor" in single.type.takes and not slopes[0].free_symbols & coordinates
    joints = {other.name: other for other in robot.joints}
    joints[joint.name] = replace(joint, actuation=Actuation())
    rest = replace(drive, motor_inertia=0, gear_ratio=1)
    if drive.load != 0:
        expected = "no friction by load on a joint that follows others: its leader's drive holds the load"
        raise where.at("friction", "load").error(drive.load, expected, "give it to the leading joint")
    if linear:
        assert single is not None
        slope = _plain(slopes[0])
        led, rest = _merged(single.actuation, drive, slope)
        joints[single.name] = replace(single, actuation=led)
    robot = replace(robot, joints=tuple(joints[other.name] for other in robot.joints))
    if not linear and drive.motor_inertia != 0:
        robot = _with_wheel(robot, joint.name, coupling, drive.motor_inertia * drive.gear_ratio**2)
    return _with_friction(robot, joint.name, coupling.position, names, rest)


def _merged(led: Actuation, drive: Actuation, slope: Scalar) -> tuple[Actuation, Actuation]:
    """The leader's drive with that of a follower, and what of the follower's is left."""
    inertia = drive.motor_inertia * (drive.gear_ratio * slope) ** 2
    if inertia != 0:
        led = replace(led, motor_inertia=led.motor_inertia * led.gear_ratio**2 + inertia, gear_ratio=1)
    led = replace(led, viscous=led.viscous + drive.viscous * slope**2)
    left = replace(drive, motor_inertia=0, gear_ratio=1, viscous=0)
    if left == Actuation(coulomb=drive.coulomb, coulomb_velocity=drive.coulomb_velocity) and slope != 0:
        width = drive.coulomb_velocity / abs(slope)
        if all(getattr(led, key) == 0 for key in _BY_SIGN):
            led = replace(led, coulomb_velocity=width)
        if led.coulomb_velocity == width:
            return replace(led, coulomb=led.coulomb + drive.coulomb * abs(slope)), Actuation()
    return led, left


def _with_wheel(robot: Robot, name: str, coupling: Coupling, inertia: Scalar) -> Robot:
    """The robot with the rotor of a follower as a wheel in its root, which rotates by the follower's position.

    With I (df/dt)^2 / 2 it has the kinetic energy of the rotor, and nothing else: no mass, no weight, no moment on others.
    """
    taken = {link.name for link in robot.links} | {joint.name for joint in robot.joints}
    label = f"{name}_rotor"
    while label in taken:
        label += "_"
    wheel = Link(label, Body(inertia=((0, 0, 0), (0, 0, 0), (0, 0, inertia))))
    turning = Joint(label, COUPLED["revolute"], robot.links[0].name, label, coupling=coupling)
    return replace(robot, links=(*robot.links, wheel), joints=(*robot.joints, turning))


def _with_friction(robot: Robot, name: str, position: sympy.Expr, names: tuple[str, ...], drive: Actuation) -> Robot:
    """The robot with a term for friction that no drive of a leader holds."""
    place = position.xreplace({leader(other): symbol(f"q[{other}]") for other in names})
    slopes = {other: sympy.diff(place, symbol(f"q[{other}]")) for other in names}
    rate = sum((slope * symbol(f"qd[{other}]") for other, slope in slopes.items()), sympy.S.Zero)
    dry = _dry_friction(drive, rate)
    if drive.viscous == 0 and dry == 0:
        return robot
    forces = {} if dry == 0 else {other: -slope * dry for other, slope in slopes.items()}
    taken = {term.name for term in robot.terms}
    label = to_identifier(f"{name}_friction", "friction")
    while label in taken:
        label += "_"
    term = Term(label, dissipation=sympy.sympify(drive.viscous) * rate**2 / 2, forces=forces)
    return replace(robot, terms=(*robot.terms, term))


def _dry_friction(drive: Actuation, rate: sympy.Expr) -> sympy.Expr:
    """What does not grow with the velocity alone, as ``generator/mechanism/drives.py`` has it."""
    a = {field.name: sympy.sympify(getattr(drive, field.name)) for field in fields(drive)}
    sign = sympy.tanh(rate / a["coulomb_velocity"])
    sliding = a["coulomb"] + a["stribeck"] * sympy.exp(-((rate / a["stribeck_velocity"]) ** 2))
    uneven = a["viscous_asymmetry"] * rate * sign + a["coulomb_asymmetry"] * sign**2
    return a["offset"] + sliding * sign + uneven


def _plain(slope: sympy.Expr) -> Scalar:
    if not slope.is_number:
        return slope
    return int(slope) if slope.is_Integer else float(slope)
