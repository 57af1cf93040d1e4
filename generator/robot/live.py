"""Live parameters: numbers of the robot that stay inputs of the generated C.

They are named by their parameter (``l1``) or by the path of a field, in which ``*`` stands for anything and a path includes
everything below it:

    gravity  payload  payload.mass  links.<link>.mass  links.<link>.com  links.*.inertia  tip.xyz
    joints.<joint>.placement.xyz  joints.<joint>.friction.viscous  joints.<joint>.motor.inertia
    joints.<joint>.elasticity.stiffness  links.<link>.flexible.tip.mass

``links.upper.com`` becomes the parameters ``upper_com_x``, ``upper_com_y``, ``upper_com_z``. Where a field
is an expression in named parameters, those become live instead. Rare numbers of friction (offset, stribeck, load, ...) that
the robot does not have become live only by their own names, ``joints.*.friction.offset``. The masses of the base link and the
drives of fixed joints have no effect and are skipped. A live inertia is the one about the centre of mass, whatever the file
gave.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import sympy

from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location, nearest
from elastogen.generator.robot.names import check_parameter_name, member_of, to_identifier
from elastogen.generator.robot.robot import (
    Actuation,
    Body,
    Joint,
    JointElasticity,
    Link,
    Matrix,
    Parameter,
    Robot,
    Scalar,
    Vector,
)

_AXES = ("x", "y", "z")
LONGEST_PATTERN = 1000  # characters: longer ones take long to compile, and name nothing
_MASS, _LENGTH, _INERTIA, _ACCELERATION = "kg", "m", "kg m^2", "m/s^2"


@dataclasses.dataclass(frozen=True)
class Slot:
    """One number of the robot that can be live: its path in the file, its name in C, its unit."""

    path: str
    name: str
    unit: str
    doc: str
    unused: bool = False  # at its default, which most robots leave it at: live only where a pattern ends with its own name

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", member_of(self.name))


_Visit = Callable[[Slot, Scalar], Scalar]


def slots_of(robot: Robot) -> list[tuple[Slot, Scalar]]:
    """Every number that can be live, with its value."""
    slots: list[tuple[Slot, Scalar]] = []

    def collect(slot: Slot, value: Scalar) -> Scalar:
        slots.append((slot, value))
        return value

    _visit(robot, collect)
    return slots


def live_tensors(robot: Robot) -> list[dict[str, Any]]:
    """Tensors of inertia that live parameters change, for the checks of those who set them: of whom, and six entries.

    An entry (xx, yy, zz, xy, xz, yz) is a number and factors of parameters; tensors with other expressions are left out.
    """
    bodies = {f"link {link.name}": link.body for link in robot.links}
    bodies |= {f"the tip of link {link.name}": link.tip_body for link in robot.links}
    bodies["the payload"] = robot.payload
    found = []
    for of, body in bodies.items():
        entries = [_affine(body.inertia[i][j], robot) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        if None not in entries and any(entry[1] for entry in entries if entry is not None):
            found.append({"of": of, "entries": entries})
    return found


def _affine(scalar: Scalar, robot: Robot) -> tuple[float, dict[str, float]] | None:
    """A scalar as a number and factors of live parameters, where it is such a sum."""
    live = [p for p in robot.live_parameters if isinstance(scalar, sympy.Expr) and p.symbol in scalar.free_symbols]
    if not live:
        return nominal(scalar, robot.parameters), {}
    slopes = {p.name: sympy.diff(scalar, p.symbol) for p in live}
    if any(slope.has(*(p.symbol for p in live)) for slope in slopes.values()):
        return None
    constant = sympy.sympify(scalar).xreplace({p.symbol: sympy.S.Zero for p in live})
    return nominal(constant, robot.parameters), {name: nominal(slope, robot.parameters) for name, slope in slopes.items()}


def _warn_of_meshes(robot: Robot, name: str, where: Location) -> None:
    """Warn of parameters that only a mesh was made from: they are in no equation."""
    solids = [link.name for link in robot.links if link.flexible is not None and link.flexible.solid is not None]
    if solids and name not in _names_in(robot):
        fix = f"change it in the file and load again; {', '.join(solids)} is reduced once, at nominal values"
        where.warn(name, "a parameter that the equations have", fix)


def _names_in(value: Any) -> set[str]:
    """Names of all symbols of a description except in numbers of meshes and in the parameters themselves."""
    if isinstance(value, sympy.Basic):
        return {symbol.name for symbol in value.free_symbols if isinstance(symbol, sympy.Symbol)}
    if isinstance(value, (tuple, list)):
        return {name for entry in value for name in _names_in(entry)}
    if dataclasses.is_dataclass(value):
        left_out = ("solid", "parameters")
        return {name for f in dataclasses.fields(value) if f.name not in left_out for name in _names_in(getattr(value, f.name))}
    if isinstance(value, Mapping):
        return {name for entry in value.values() for name in _names_in(entry)}
    return set()


def make_live(robot: Robot, patterns: Iterable[str]) -> Robot:
    """Return the robot with the parameters and fields that the patterns name live."""
    slots = slots_of(robot)
    where = Location(robot.source, "live")
    fresh: dict[str, Parameter] = {}
    chosen: dict[str, Scalar] = {}
    alive = {p.name for p in robot.live_parameters}
    for i, pattern in enumerate(patterns):
        if pattern in robot.parameters:
            alive.add(pattern)
            _warn_of_meshes(robot, pattern, where.at(i))
            continue
        matched = [(slot, value) for slot, value in slots if _matches(slot, pattern)]
        if not matched:
            raise _no_match(pattern, robot, [slot for slot, _ in slots], where.at(i))
        for slot, value in matched:
            if isinstance(value, sympy.Expr) and value.free_symbols:
                alive.update(symbol.name for symbol in value.free_symbols)
            elif slot.path not in chosen:
                parameter = _parameter(slot, value, robot, fresh, where.at(i))
                fresh[slot.name] = parameter
                chosen[slot.path] = parameter.symbol
    named = {name: replace(p, live=p.live or name in alive) for name, p in robot.parameters.items()}
    in_order = {slot.name: fresh[slot.name] for slot, _ in slots if slot.name in fresh}
    robot = replace(robot, parameters={**named, **in_order})
    return _visit(robot, lambda slot, value: chosen.get(slot.path, value))


def _matches(slot: Slot, pattern: str) -> bool:
    if len(pattern) > LONGEST_PATTERN or (slot.unused and not pattern.endswith("." + slot.path.rpartition(".")[2])):
        return False
    return fnmatchcase(slot.path, pattern) or fnmatchcase(slot.path, pattern + ".*")


def _parameter(slot: Slot, value: Scalar, robot: Robot, fresh: dict[str, Parameter], where: Location) -> Parameter:
    check_parameter_name(slot.name, where)
    if slot.name in robot.parameters or slot.name in fresh:
        raise where.error(
            slot.path,
            f"a path whose C name {slot.name} is not taken",
            "rename the parameter, joint or link of that name",
        )
    return Parameter(slot.name, nominal(value, robot.parameters), slot.unit, slot.doc, live=True)


def _no_match(pattern: str, robot: Robot, slots: list[Slot], where: Location) -> Exception:
    if ".axis" in pattern:
        return where.error(
            pattern,
            "a field that can change freely; an axis must keep unit length",
            "make an angle of the placement's rpy a live parameter",
        )
    if ".rpy" in pattern or ".dh" in pattern or ".mdh" in pattern or ".screw" in pattern or ".matrix" in pattern:
        return where.error(
            pattern,
            "a length, mass, inertia, drive or parameter",
            "write a named parameter into that field and make the parameter live",
        )
    fields = list(dict.fromkeys(_of_all(slot.path, robot) for slot in slots))
    last = {field.rpartition(".")[2]: field for field in reversed(fields)}  # who writes `mass` means links.*.mass
    whole = [path for slot in slots for path in (slot.path, slot.path.rsplit(".", 1)[0])]
    known = [*robot.parameters, *(whole if "." in pattern else last)]
    listed = f"parameters are {', '.join(robot.parameters) or 'none'}; fields are {', '.join(fields)}"
    near = nearest(pattern, known) if pattern else None
    fix = listed if near is None else f"did you mean {last.get(near, near)!r}? Else: {listed}"
    return where.error(pattern, "a parameter's name or the path of a field, such as gravity, payload, links.*.mass", fix)


def _of_all(path: str, robot: Robot) -> str:
    """The path of a field in all links or joints: links.*.inertia for links.upper.inertia.xx."""
    for kind, owners in (("links", robot.links), ("joints", robot.joints)):
        for owner in owners:  # names may have points in them
            if path.startswith(f"{kind}.{owner.name}."):
                return f"{kind}.*.{path.removeprefix(f'{kind}.{owner.name}.').partition('.')[0]}"
    return path.partition(".")[0]


def _visit(robot: Robot, visit: _Visit) -> Robot:
    """Return the robot with every slot replaced by what ``visit`` returns for it."""
    gravity = _vector(robot.gravity, "gravity", "gravity", _ACCELERATION, "gravity in the base frame", visit)
    payload = _body(robot.payload, "payload", "payload", "payload", visit)
    tool = _translation(robot.tool, "tip.xyz", "tip_xyz", "tip frame on its link", visit)
    base, *carried = robot.links
    links = (base, *(_link(link, visit) for link in carried))
    joints = tuple(_joint(joint, visit) for joint in robot.joints)
    return replace(robot, gravity=gravity, payload=payload, tool=tool, links=links, joints=joints)


def _link(link: Link, visit: _Visit) -> Link:
    return replace(
        link,
        body=_body(link.body, f"links.{link.name}", to_identifier(link.name, "link"), f"link {link.name}", visit),
        tip_body=link.tip_body
        if link.flexible is None
        else _body(
            link.tip_body,
            f"links.{link.name}.flexible.tip",
            f"{to_identifier(link.name, 'link')}_tip",
            f"tip of link {link.name}",
            visit,
        ),
    )


def _body(body: Body, path: str, name: str, doc: str, visit: _Visit) -> Body:
    mass = visit(Slot(f"{path}.mass", f"{name}_mass", _MASS, f"mass, {doc}"), body.mass)
    com = _vector(body.com, f"{path}.com", f"{name}_com", _LENGTH, f"centre of mass, {doc}", visit)
    entries: dict[tuple[int, int], Scalar] = {}
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        key = _AXES[i] + _AXES[j]
        slot = Slot(
            f"{path}.inertia.{key}",
            f"{name}_inertia_{key}",
            _INERTIA,
            f"inertia about the centre of mass, {doc}",
        )
        entries[i, j] = entries[j, i] = visit(slot, body.inertia[i][j])
    return Body(mass, com, tuple(tuple(entries[i, j] for j in range(3)) for i in range(3)))


def _vector(vector: Vector, path: str, name: str, unit: str, doc: str, visit: _Visit) -> Vector:
    x, y, z = (
        visit(Slot(f"{path}.{axis}", f"{name}_{axis}", unit, doc), value) for axis, value in zip(_AXES, vector, strict=True)
    )
    return (x, y, z)


def _translation(transform: Matrix, path: str, name: str, doc: str, visit: _Visit) -> Matrix:
    moved = _vector((transform[0][3], transform[1][3], transform[2][3]), path, name, _LENGTH, doc, visit)
    rows = tuple((*row[:3], value) for row, value in zip(transform[:3], moved, strict=True))
    return (*rows, transform[3])


def _joint(joint: Joint, visit: _Visit) -> Joint:
    path, name = f"joints.{joint.name}", to_identifier(joint.name, "joint")
    doc = f"joint {joint.name}"
    before = _translation(joint.before, f"{path}.placement.xyz", f"{name}_xyz", f"place of {doc} on {joint.parent}", visit)
    details = {
        key.name: visit(Slot(f"{path}.{key.name}", f"{name}_{key.name}", key.unit, f"{key.doc}, {doc}"), joint.detail(key.name))
        if key.shape == "scalar"
        else joint.details[key.name]
        for key in joint.type.numbers
    }
    joint = replace(joint, before=before, details=details)
    if not joint.type.moves or "motor" not in joint.type.takes:
        return joint
    turns = joint.unit == "rad"
    force, speed, ratio = ("N m", "rad/s", "-") if turns else ("N", "m/s", "rad/m")
    viscous = "N m s/rad" if turns else "N s/m"
    drive = joint.actuation
    friction = {
        "viscous": (viscous, "viscous friction"),
        "coulomb": (force, "Coulomb friction"),
        "coulomb_velocity": (speed, "width of Coulomb's smoothed sign"),
        "offset": (force, "force at any velocity"),
        "stribeck": (force, "what Coulomb friction has more near rest"),
        "stribeck_velocity": (speed, "speed at which that has fallen to 1/e"),
        "viscous_asymmetry": (viscous, "viscous friction more forward, less backward"),
        "coulomb_asymmetry": (force, "Coulomb friction more forward, less backward"),
        "load": ("-", "Coulomb friction per load"),
        "load_width": (force, "width of the smoothed load"),
    }
    actuation = replace(
        drive,
        motor_inertia=visit(
            Slot(f"{path}.motor.inertia", f"{name}_motor_inertia", _INERTIA, f"rotor inertia, {doc}"),
            drive.motor_inertia,
        ),
        gear_ratio=visit(
            Slot(f"{path}.motor.gear_ratio", f"{name}_gear_ratio", ratio, f"gear ratio, {doc}"),
            drive.gear_ratio,
        ),
        **{
            field.name: visit(_friction(field, friction[field.name], path, name, drive, doc), getattr(drive, field.name))
            for field in dataclasses.fields(drive)
            if field.name in friction
        },
    )
    return replace(joint, actuation=actuation, elasticity=_elasticity(joint, path, name, visit))


def _friction(
    field: dataclasses.Field[Scalar], kind: tuple[str, str], path: str, name: str, drive: Actuation, doc: str
) -> Slot:
    """The slot of a number of friction: ``kind`` is its unit and what it is."""
    unused = bool(field.metadata.get("later")) and getattr(drive, field.name) == field.default
    return Slot(f"{path}.friction.{field.name}", f"{name}_{field.name}", kind[0], f"{kind[1]}, {doc}", unused)


def _elasticity(joint: Joint, path: str, name: str, visit: _Visit) -> JointElasticity | None:
    if joint.elasticity is None:
        return None
    spring, damper = ("N m/rad", "N m s/rad") if joint.unit == "rad" else ("N/m", "N s/m")
    doc = f"elasticity of joint {joint.name}"
    return JointElasticity(
        visit(
            Slot(f"{path}.elasticity.stiffness", f"{name}_stiffness", spring, f"stiffness, {doc}"),
            joint.elasticity.stiffness,
        ),
        visit(
            Slot(f"{path}.elasticity.damping", f"{name}_damping", damper, f"damping, {doc}"),
            joint.elasticity.damping,
        ),
    )
