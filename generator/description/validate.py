"""Checks that a robot from every source passes: structure, names, finite numbers, physical plausibility.

Errors: anything with which no model can be computed, or which no body can be (negative mass, an inertia
tensor that is not symmetric or has a negative principal moment, numbers beyond 1e18, masses below 1e-18 kg).
Warnings (:class:`RobotWarning`): what published models do contain and what only looks wrong (lengths above 100 m,
masses above 100 t, gravity above 1000 m/s^2, limits that look like degrees, inertia without mass, principal moments
that violate the triangle inequality, a moving joint that carries no mass). Planar data, one moment and two zeros,
are in order. The inertia of links that never move has no effect and is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import sympy

from elastogen.generator.description.file.experiment_file import check_experiment
from elastogen.generator.description.fitting_units import check_units
from elastogen.generator.description.flexible.check import check_links
from elastogen.generator.description.friction import check_friction
from elastogen.generator.description.interfaces import check_interfaces
from elastogen.generator.description.loops.check import check_loops
from elastogen.generator.description.points import check_all_are_points, check_points
from elastogen.generator.robot import names
from elastogen.generator.robot.expressions import LARGEST, SMALLEST, nominal
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import (
    Actuation,
    Body,
    Joint,
    JointElasticity,
    Limits,
    Matrix,
    Parameter,
    Robot,
    Scalar,
    Vector,
)
from elastogen.generator.robot.tree import MAX_JOINTS, unique_names

LONGEST = 100.0  # [m]
STRONGEST = 1e3  # [m/s^2] of gravity
DEGREES = (13.0, 720.0)  # whole numbers in this range are no limits in radians
HEAVIEST = 1e5  # [kg]
WIDEST_GYRATION = 20.0  # [m]
RELATIVE = 1e-6  # tolerance of the inertia checks, relative to the largest moment
NEGLIGIBLE = 1e-15  # [kg m^2] moments of rounding
ORTHONORMAL = 1e-9
UNIT_LENGTH = 1e-12


PAYLOAD = "payload:"  # among names of links, of which none has a colon at its end


def validate(robot: Robot, *, accepted_inertias: Collection[str] = (), quiet: bool = False) -> Robot:
    """Raise :class:`RobotError` if the robot cannot be modelled, warn if it looks wrong, and return it.

    ``accepted_inertias`` names links (or the PAYLOAD) whose inertia may be unphysical without a warning; ``quiet``
    drops all warnings.
    """
    where = Location(robot.source or "python")
    _check_texts(robot, where)
    _check_structure(robot, where)
    checks = _Numbers(robot.parameters, quiet)
    for parameter in robot.parameters.values():
        checks.finite(parameter.value, where.at("parameters", parameter.name, "value"))
    gravity = checks.vector(robot.gravity, where.at("gravity"))
    if np.max(np.abs(gravity)) > STRONGEST and not quiet:
        where.at("gravity").warn(gravity.tolist(), f"gravity below {STRONGEST:g} m/s^2", "if this is mm/s^2, divide by 1000")
    for joint in robot.joints:
        _check_joint(joint, checks, where.at("joints", joint.name))
    grounded = _grounded(robot)
    for link in robot.links:
        here, accepted = where.at("links", link.name), link.name in accepted_inertias
        checks.body(link.body, here, accepted, grounded=link.name in grounded)
        checks.body(link.tip_body, here.at("flexible", "tip"), accepted, grounded=False)
    check_links(robot, where)
    check_interfaces(robot, where, quiet=quiet)
    _check_quasi_velocities(robot, where)
    for joint in robot.joints:
        joint.type.check(robot, joint, where.at("joints", joint.name))
    check_all_are_points(robot, where.at("points"))
    for point in robot.points:
        checks.placement(point.pose, where.at("points", str(point.name)))
    check_points(robot, where.at("points"))
    check_loops(robot, where.at("loops"))
    for loop in robot.loops:
        for key, end in (("a", loop.a), ("b", loop.b)):
            checks.placement(end.pose, where.at("loops", loop.name, key))
    check_experiment(robot, where.at("simulation"))
    checks.placement(robot.tool, where.at("tip"))
    checks.body(robot.payload, where.at("payload"), PAYLOAD in accepted_inertias, grounded=False)
    check_units(robot, where)
    if not quiet:
        _warn_massless_leaves(robot, checks, where)
    return robot


def _check_texts(robot: Robot, where: Location) -> None:
    names.check_robot_name(robot.name, where.at("name"))
    names.check_text(robot.description, where.at("description"))
    for name, parameter in robot.parameters.items():
        here = where.at("parameters", str(name))
        names.check_parameter_name(parameter.name, here, robot.name)
        if name != parameter.name:
            raise here.error(parameter.name, f"the name {name!r} it is stored under", "use the same name twice")
        names.check_unit(parameter.unit, here.at("unit"))
        names.check_text(parameter.doc, here.at("doc"), 300)
    for joint in robot.joints:
        here = where.at("joints", str(joint.name))
        names.check_name(joint.name, here.at("name"))
        if not isinstance(joint.type, JointKind):
            raise here.at("type").error(joint.type, "a kind of joint", "for example kinds.REVOLUTE of generator/joints")
    for link in robot.links:
        names.check_name(link.name, where.at("links", str(link.name), "name"))
    prefixes = (f"{robot.name}_", f"{robot.name.upper()}_")  # of all symbols and macros in C: types, functions, their parts
    for function in robot.functions:
        for name in (*function.inputs, *function.outputs):
            if name.startswith(prefixes):
                here = where.at("functions", function.name, name)
                raise here.error(name, f"a name that does not begin with {' or '.join(prefixes)} as those of C do", "rename it")
    unique_names((joint.name for joint in robot.joints), where.at("joints"), "joint")
    unique_names((link.name for link in robot.links), where.at("links"), "link")
    for name in {joint.name for joint in robot.joints} & set(robot.parameters):
        raise where.at("parameters", name).error(name, "a name that no joint has", "rename the parameter or the joint")


def _check_structure(robot: Robot, where: Location) -> None:
    if not robot.links:
        raise where.at("links").error([], "at least the base link", "add Link('base')")
    if len(robot.joints) > MAX_JOINTS:
        raise where.at("joints").error(f"{len(robot.joints)} joints", f"at most {MAX_JOINTS}", "split the robot")
    if not robot.moving_joints:
        raise where.at("joints").error(
            [joint.name for joint in robot.joints],
            "at least one joint that moves",
            "add a revolute or prismatic joint",
        )
    reached = {robot.links[0].name}
    for joint in robot.joints:
        here = where.at("joints", joint.name)
        if joint.parent not in reached:
            raise here.at("parent").error(
                joint.parent,
                "a link that comes before this joint, starting from the base",
                "order joints from the base outwards",
            )
        if joint.child in reached:
            raise here.at("child").error(joint.child, "a link that no other joint carries", "cut the loop: a robot is a tree")
        reached.add(joint.child)
    expected = [robot.links[0].name, *(joint.child for joint in robot.joints)]
    given = [link.name for link in robot.links]
    if given != expected:
        raise where.at("links").error(given, f"the base, then each joint's child: {expected}", "order and complete the links")
    if robot.tip not in reached:
        raise where.at("tip", "link").error(robot.tip, "the name of a link", f"for example {given[-1]}")


class _Numbers:
    """Checks of numbers at the nominal values of the parameters."""

    def __init__(self, parameters: Mapping[str, Parameter], quiet: bool) -> None:
        self.parameters, self.quiet = parameters, quiet
        self.symbols = {parameter.symbol for parameter in parameters.values()}

    def finite(self, scalar: Scalar, where: Location) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, (int, float, sympy.Expr)):
            raise where.error(scalar, "an int, a float or a SymPy expression", "convert it to float")
        if isinstance(scalar, sympy.Expr):
            strange = sorted(str(symbol) for symbol in scalar.free_symbols - self.symbols)
            if strange:
                raise where.error(
                    str(scalar),
                    f"only symbols of the robot's parameters, not {', '.join(strange)}",
                    "use Parameter(...).symbol",
                )
        value = nominal(scalar, self.parameters)
        if not abs(value) <= LARGEST:  # also NaN
            shown = scalar if isinstance(scalar, float) else str(scalar)
            expected = f"a finite real number of at most {LARGEST:g} in SI units"
            raise where.error(shown, expected, "check the unit, or replace it by the measured value")
        return value

    def not_negative(self, scalar: Scalar, where: Location) -> float:
        value = self.finite(scalar, where)
        if value < 0:
            raise where.error(value, "zero or more", "check the sign")
        if 0 < value < SMALLEST:
            raise where.error(value, f"zero, or at least {SMALLEST:g} in SI units", "check the unit, or set it to zero")
        return value

    def vector(self, vector: Vector, where: Location) -> np.ndarray:
        if not _is_grid([vector], 1, 3):
            raise where.error(vector, "three numbers", "for example (0, 0, 1)")
        return np.array([self.finite(entry, where.at(axis)) for axis, entry in zip("xyz", vector, strict=True)])

    def length(self, vector: Vector, where: Location) -> np.ndarray:
        values = self.vector(vector, where)
        if np.max(np.abs(values)) > LONGEST and not self.quiet:
            where.warn(
                values.tolist(),
                f"lengths in metres, below {LONGEST:g} m",
                "if these are millimetres, divide by 1000",
            )
        return values

    def placement(self, transform: Matrix, where: Location) -> None:
        if not _is_grid(transform, 4, 4) or tuple(transform[3]) != (0, 0, 0, 1):
            raise where.error(transform, "a 4x4 matrix with last row 0 0 0 1", "give four rows of four")
        self.length((transform[0][3], transform[1][3], transform[2][3]), where.at("xyz"))
        rotation = np.array([self.vector((row[0], row[1], row[2]), where) for row in transform[:3]])
        deviation = float(np.max(np.abs(rotation @ rotation.T - np.eye(3))))
        if deviation > ORTHONORMAL or np.linalg.det(rotation) < 0:
            raise where.error(
                rotation.tolist(),
                f"a right-handed rotation (it deviates by {deviation:.3g})",
                "give xyz and rpy, or an orthonormal matrix",
            )

    def body(self, body: Body, where: Location, accepted: bool, grounded: bool) -> None:
        mass = self.not_negative(body.mass, where.at("mass"))
        if mass > HEAVIEST and not self.quiet:
            where.at("mass").warn(mass, f"a mass in kg, below {HEAVIEST:g} kg", "if this is in grams, divide by 1000")
        self.length(body.com, where.at("com"))
        here = where.at("inertia")
        if not _is_grid(body.inertia, 3, 3):
            raise here.error(body.inertia, "a 3x3 matrix", "give three rows of three")
        tensor = np.array([[self.finite(entry, here) for entry in row] for row in body.inertia])
        scale = float(np.max(np.abs(tensor)))
        if scale <= NEGLIGIBLE or grounded:
            return
        if np.max(np.abs(tensor - tensor.T)) > RELATIVE * scale:
            raise here.error(tensor.tolist(), "a symmetric tensor", "make xy = yx, xz = zx, yz = zy")
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < -RELATIVE * scale:
            raise here.error(
                tensor.tolist(),
                f"principal moments of zero or more, not {moments[0]:.3g}",
                "check signs and axes, and whether the tensor is about the centre of mass (inertia_about)",
            )
        if accepted or self.quiet:
            return
        planar = np.count_nonzero(tensor) == 1  # all that a motion in the plane needs
        if moments[0] + moments[1] < moments[2] * (1 - RELATIVE) and not planar:
            shown = ", ".join(f"{moment:.4g}" for moment in moments)
            here.warn(
                tensor.tolist(),
                f"no principal moment larger than the sum of the other two (they are {shown})",
                "measure it again, or set accept_unphysical_inertia: true if the source gives it so",
            )
        if mass == 0:
            here.warn(
                tensor.tolist(),
                "a mass where there is inertia",
                "give the mass, or set accept_unphysical_inertia: true",
            )
        elif math.sqrt(float(moments[2]) / mass) > WIDEST_GYRATION:
            here.warn(
                tensor.tolist(),
                f"radii of gyration below {WIDEST_GYRATION:g} m",
                "if this is kg mm^2, divide by 1e6",
            )


def _check_joint(joint: Joint, checks: _Numbers, where: Location) -> None:
    checks.placement(joint.before, where.at("placement"))
    checks.placement(joint.after, where.at("placement"))
    if joint.elasticity is not None:
        _check_elasticity(joint, joint.elasticity, checks, where.at("elasticity"))
    _check_details(joint, checks, where)
    if not joint.type.moves:
        if joint.coupling is not None and joint.actuation != Actuation():
            fix = "give the drive to the joint that leads: load() does so for files"
            raise where.at("motor").error("motor or friction", "no drive on a joint that follows others", fix)
        return
    _check_unit(checks.vector(joint.axis, where.at("axis")), where.at("axis"))
    given = {"motor": joint.actuation != Actuation(), "limits": joint.limits != Limits(), "elasticity": bool(joint.elasticity)}
    for key in given:
        if given[key] and key not in joint.type.takes:
            raise where.at(key).error(key, f"no {key} for a {joint.type.name} joint", "chain joints with one coordinate each")
    drive = joint.actuation
    checks.not_negative(drive.motor_inertia, where.at("motor", "inertia"))
    checks.finite(drive.gear_ratio, where.at("motor", "gear_ratio"))
    check_friction(joint, checks, where.at("friction"))
    _check_limits(joint, where.at("limits"), checks.quiet)


def _check_quasi_velocities(robot: Robot, where: Location) -> None:
    if not robot.has_quasi_velocities:
        return
    for joint in robot.joints:
        if joint.type.rides_parent or joint.type.feeds_child:
            raise where.at("joints", joint.name, "type").error(
                joint.type.name, "no such joint in a robot with floating or spherical joints", "use prismatic joints"
            )
        flexible = robot.link(joint.child).flexible
        if flexible is not None and flexible.tip == "linear":
            raise where.at("links", joint.child, "flexible", "rotation").error(
                "linear", "exponential tips in a robot with floating or spherical joints", "remove rotation: linear"
            )


def _check_details(joint: Joint, checks: _Numbers, where: Location) -> None:
    known = {key.name: key for key in joint.type.numbers}
    for name in sorted(joint.details.keys() ^ known.keys()):
        expected = f"the numbers of a {joint.type.name} joint: {', '.join(known) or 'none'}"
        raise where.at(name).error(joint.details.get(name), expected, "give all of them and no others")
    for name, key in known.items():
        value = joint.details[name]
        if key.shape == "direction":
            _check_unit(checks.vector(joint.direction(name), where.at(name)), where.at(name))
        elif isinstance(value, tuple):
            raise where.at(name).error(value, f"a number [{key.unit}]", "give one number")
        else:
            checks.finite(value, where.at(name))


def _check_unit(axis: np.ndarray, where: Location) -> None:
    if abs(float(axis @ axis) - 1) > UNIT_LENGTH:
        raise where.error(axis.tolist(), "a vector of length 1", "divide it by its length; it must not be zero")


def _check_elasticity(joint: Joint, elasticity: JointElasticity, checks: _Numbers, where: Location) -> None:
    if not joint.type.moves:
        raise where.error("a fixed joint", "a joint that moves", "remove elasticity, or make the joint revolute")
    stiffness = checks.finite(elasticity.stiffness, where.at("stiffness"))
    if stiffness <= 0:
        raise where.at("stiffness").error(stiffness, "a stiffness above zero", "remove elasticity for a rigid drive")
    checks.not_negative(elasticity.damping, where.at("damping"))
    if checks.finite(joint.actuation.motor_inertia, where) == 0 and not checks.quiet:
        where.warn(
            "no motor inertia",
            "a motor inertia before the spring",
            "give motor: {inertia, gear_ratio}: without it the mass matrix is singular",
        )


def _check_limits(joint: Joint, where: Location, quiet: bool) -> None:
    limits = joint.limits
    for key in ("lower", "upper", "velocity", "effort"):
        value = getattr(limits, key)
        if value is not None and not math.isfinite(value):
            raise where.at(key).error(value, "a finite number", "leave the limit out if there is none")
    for key in ("velocity", "effort"):
        value = getattr(limits, key)
        if value is not None and value < 0:
            raise where.at(key).error(value, "zero or more", "limits are magnitudes")
    if limits.lower is not None and limits.upper is not None and limits.lower > limits.upper:
        raise where.at("lower").error(limits.lower, f"at most the upper limit {limits.upper}", "swap lower and upper")
    for key in ("lower", "upper"):
        value = getattr(limits, key)
        in_degrees = value is not None and DEGREES[0] <= abs(value) <= DEGREES[1] and value == int(value)
        if in_degrees and joint.unit == "rad" and not quiet:
            where.at(key).warn(value, "a limit in radians", f"if this is in degrees, write {math.radians(value):.6g}")


def _grounded(robot: Robot) -> set[str]:
    """Return the links that never move, whose inertia has no effect."""
    grounded = {robot.links[0].name}
    for joint in robot.joints:
        if joint.type.holds and joint.parent in grounded and robot.link(joint.parent).flexible is None:
            grounded.add(joint.child)
    return grounded


def _warn_massless_leaves(robot: Robot, checks: _Numbers, where: Location) -> None:
    """Warn of moving joints that carry nothing: they make the mass matrix singular."""
    carried = {
        link.name: link.flexible is not None
        or any(checks.finite(body.mass, where) > 0 or _rotates(body) for body in (link.body, link.tip_body))
        for link in robot.links
    }
    carried[robot.tip] |= checks.finite(robot.payload.mass, where) > 0
    idle = []
    for joint in reversed(robot.joints):
        reflected = checks.finite(joint.actuation.motor_inertia, where) > 0
        if joint.type.moves and not carried[joint.child] and not reflected:
            idle.append(joint.name)
        carried[joint.parent] |= carried[joint.child]
    if idle:
        where.at("links").warn(
            f"no mass beyond the moving joints {', '.join(reversed(idle))}",
            "mass or inertia beyond every moving joint",
            "give those links their mass: without it the mass matrix is singular",
        )


def _rotates(body: Body) -> bool:
    return any(isinstance(entry, sympy.Expr) or entry != 0 for row in body.inertia for entry in row)


def _is_grid(values: object, rows: int, columns: int) -> bool:
    """Whether something has as many rows, and each as many entries."""
    try:
        return len(values) == rows and all(len(row) == columns for row in values)  # type: ignore[arg-type, attr-defined]
    except TypeError:
        return False
