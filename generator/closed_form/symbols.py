"""Which numbers of a robot stay symbols in closed forms: none, the named parameters, or all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import sympy

from elastogen.generator.closed_form.beam_symbols import with_beam_symbols
from elastogen.generator.closed_form.exact_numbers import exact, is_decimal, rotation_entry
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

Renamer = Callable[[Scalar, str, str], Scalar]  # (value, name, unit) -> the value or what replaces it

_AXES = "xyz"


def with_numbers(robot: Robot, *, only_zeros: bool = False) -> Robot:
    """Return the robot with values instead of symbols, for all parameters or those that are 0."""
    replaced = [p for p in robot.parameters.values() if p.value == 0 or not only_zeros]
    values = {parameter.symbol: exact(parameter.value) for parameter in replaced}
    kept = {name: parameter for name, parameter in robot.parameters.items() if parameter not in replaced}
    numeric: Robot = _substituted(robot, values)
    return replace(numeric, parameters=kept)


def _substituted(value: Any, values: Mapping[sympy.Symbol, sympy.Expr]) -> Any:
    """Return a part of a robot with values instead of symbols in all its scalars, also of flexible bodies."""
    if isinstance(value, sympy.Basic):
        return exact(value).xreplace(values)
    if isinstance(value, tuple):
        return tuple(_substituted(item, values) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        new = {name: _substituted(item, values) for name, item in old.items()}
        return replace(value, **new) if any(new[name] is not item for name, item in old.items()) else value
    return value


def with_symbols(robot: Robot) -> Robot:
    """Return the robot with a symbol for every nonzero length, inertia, drive and gravity number.

    Link 2 has mass m2, mass centre (cx2, cy2, cz2) and inertia Ixx2, Ixy2, ...; joint 2 lies at (px2, py2,
    pz2) on its parent, with (rx2, ry2, rz2) after its motion; the payload and the tip have the suffix of
    the last frame. Of the flexible link 2, L2, rhoA2, EI2 (EIy2, EIz2, GJ2, EA2) and the body mt2, ... on its tip are symbols.
    """
    parameters = dict(robot.parameters)

    def symbol_for(scalar: Scalar, name: str, unit: str) -> Scalar:
        if isinstance(scalar, sympy.Basic) and not scalar.is_number:
            return scalar
        if float(scalar) == 0:
            return 0
        while name in parameters and parameters[name].value != float(scalar):
            name += "_"
        parameters[name] = Parameter(name, float(scalar), unit, _meaning(name))
        return parameters[name].symbol

    mapped = _mapped(robot, symbol_for, rotations=False)
    return replace(mapped, parameters=parameters)


def with_exact_numbers(robot: Robot) -> tuple[Robot, dict[str, sympy.Expr]]:
    """Return the robot with a live parameter for each number such as 1/3 and sqrt(2)/2, and their exact values.

    So a derivation does not round them. Robots with flexible links stay as they are: their integrals are rounded already.
    """
    if any(link.flexible is not None for link in robot.links):
        return robot, {}
    found: dict[sympy.Expr, Parameter] = {}

    def parameter_for(scalar: Scalar, name: str, unit: str) -> Scalar:
        if not name or (isinstance(scalar, sympy.Basic) and not scalar.is_number):  # axes stay numbers
            return scalar
        number = rotation_entry(float(scalar))
        if is_decimal(number):
            return scalar
        if number not in found:
            found[number] = Parameter(f"exact_{len(found) + 1}_", float(scalar), unit, live=True)
        return found[number].symbol

    mapped = _mapped(robot, parameter_for, rotations=True)
    numbers = {parameter.name: number for number, parameter in found.items()}
    return replace(mapped, parameters={**robot.parameters, **{p.name: p for p in found.values()}}), numbers


_MEANINGS = {
    "L": "length of beam", "rhoA": "mass per length of beam", "EI": "bending stiffness of beam",
    "GJ": "torsional stiffness of beam",
    "EIy": "bending stiffness about y of beam", "EIz": "bending stiffness about z of beam", "EA": "axial stiffness of beam",
    "m": "mass of link", "mt": "mass on the tip of link", "k": "stiffness of joint", "d": "damping of joint",
    "Jm": "motor inertia of joint", "N": "gear ratio of joint", "b": "viscous friction of joint",
    "f": "Coulomb friction of joint",
    "w": "width of the Coulomb friction of joint",
    "fo": "offset of joint", "fs": "Stribeck friction of joint", "ws": "Stribeck velocity of joint",
    "ba": "asymmetry of the viscous friction of joint", "fa": "asymmetry of the Coulomb friction of joint",
    "fl": "friction per load of joint", "wl": "width of the load of joint",
}  # fmt: skip
_OF_LETTER = {"c": "mass centre of link", "I": "inertia of link", "p": "placement of joint", "r": "end of link", "g": "gravity"}


def _meaning(name: str) -> str:
    """The meaning of a symbol that was made here."""
    letters = name.rstrip("0123456789_")
    known = _MEANINGS.get(letters) or _OF_LETTER.get(letters[0], "")
    return f"{known} {name.strip('_')[len(letters) :]}".strip()


def _mapped(robot: Robot, change: Renamer, *, rotations: bool) -> Robot:
    """Return the robot with ``change`` applied to its scalars; rotations and axes only if asked for."""
    last = len(robot.links)

    def transform(matrix: Matrix, letter: str, number: int) -> Matrix:
        rows = [
            tuple(
                change(entry, f"{letter}{_AXES[r]}{number}", "m") if c == 3 or rotations else entry
                for c, entry in enumerate(row)
            )
            for r, row in enumerate(matrix[:3])
        ]
        return (*rows, matrix[3])

    def body(old: Body, number: str) -> Body:
        com = tuple(change(old.com[k], f"c{_AXES[k]}{number}", "m") for k in range(3))
        inertia = tuple(
            tuple(change(old.inertia[r][c], f"I{_AXES[min(r, c)]}{_AXES[max(r, c)]}{number}", "kg m^2") for c in range(3))
            for r in range(3)
        )
        return Body(change(old.mass, f"m{number}", "kg"), _vector(com), inertia)

    def actuation(old: Actuation, number: int) -> Actuation:
        names = {
            "motor_inertia": "Jm",
            "gear_ratio": "N",
            "viscous": "b",
            "coulomb": "f",
            "coulomb_velocity": "w",
            "offset": "fo",
            "stribeck": "fs",
            "stribeck_velocity": "ws",
            "viscous_asymmetry": "ba",
            "coulomb_asymmetry": "fa",
            "load": "fl",
            "load_width": "wl",
        }
        used = [f.name for f in fields(old) if getattr(old, f.name) != f.default]
        return replace(old, **{key: change(getattr(old, key), f"{names[key]}{number}", "") for key in used})

    def elasticity(old: JointElasticity | None, number: int) -> JointElasticity | None:
        if old is None:
            return None
        unit = "N m/rad"
        return JointElasticity(change(old.stiffness, f"k{number}", unit), change(old.damping, f"d{number}", f"{unit} s"))

    def joint(old: Joint, number: int) -> Joint:
        axis = tuple(change(component, "", "") if rotations else component for component in old.axis)
        after = transform(old.after, "r", number)
        beam = links[number].flexible
        if old.type.feeds_child and beam is not None and beam.telescope is not None:
            after = ((*after[0][:3], -beam.telescope.length), *after[1:])  # R(gamma) T(d - l), paper 003, Table 2
        return replace(
            old,
            axis=_vector(axis),
            before=transform(old.before, "p", number),
            after=after,
            actuation=actuation(old.actuation, number),
            elasticity=elasticity(old.elasticity, number),
        )

    def link_of(old: Link, number: int) -> Link:
        new = replace(old, body=body(old.body, f"{number}"))
        if old.flexible is None:
            return new
        flexible = with_beam_symbols(old.flexible, change, number, robot.parameters)
        return replace(new, tip_body=body(old.tip_body, f"t{number}"), flexible=flexible)

    links = [robot.links[0], *(link_of(link, k) for k, link in enumerate(robot.links[1:], start=1))]
    gravity = tuple(change(robot.gravity[k], f"g{_AXES[k]}", "m/s^2") for k in range(3))
    return replace(
        robot,
        links=tuple(links),
        joints=tuple(joint(old, k) for k, old in enumerate(robot.joints, start=1)),
        gravity=_vector(gravity),
        tool=transform(robot.tool, "p", last),
        payload=body(robot.payload, f"{last}"),
    )


def _vector(values: tuple[Any, ...]) -> Vector:
    x, y, z = values
    return (x, y, z)
