"""Beams with symbols for length, mass per length and stiffness: their integrals, computed again.

Shapes are functions of s = x / L and do not change with L, but a nodal slope dw/dx moves the beam by l_e = L / n times a
function of s. Shapes, properties that vary along the beam, damping matrices and data from other programs stay numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.piecewise import Curve, Number, as_fraction, to_scalar
from elastogen.generator.beams.sections import interface_at
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Interface
from elastogen.generator.robot.robot import Parameter, Scalar

Change = Callable[[Scalar, str, str], Scalar]  # (value, name, unit) -> the value or the symbol that replaces it

_STIFFNESS = {"y": ("EIz", "N m^2"), "z": ("EIy", "N m^2"), "torsion": ("GJ", "N m^2"), "extension": ("EA", "N")}


def with_beam_symbols(body: FlexibleBody, change: Change, number: int, parameters: Mapping[str, Parameter]) -> FlexibleBody:
    """The body of link ``number`` with symbols for the constants of its beam; other bodies as they are."""
    if body.beam is None:
        return body
    beam, modes = body.beam.beam, body.beam.modes
    length = change(_scalar(beam.length), f"L{number}", "m")
    bending = [beam.stiffness[direction] for direction in ("y", "z") if direction in beam.stiffness]
    single = all(curve == bending[0] for curve in bending)  # one EI for both directions

    def uniform(curve: Curve, name: str, unit: str) -> Curve:
        value = _value(curve)
        return curve if value is None else Curve.polynomial((as_fraction(change(value, f"{name}{number}", unit)),))

    stiffness = {}
    for direction, curve in beam.stiffness.items():
        name, unit = _STIFFNESS[direction]
        stiffness[direction] = uniform(curve, "EI" if single and direction in ("y", "z") else name, unit)
    mass = uniform(beam.mass_per_length, "rhoA", "kg/m")
    shear = {direction: uniform(curve, f"GA{direction}", "N") for direction, curve in beam.shear.items()}
    changed = replace(beam, length=as_fraction(length), mass_per_length=mass, stiffness=stiffness, shear=shear)
    new = beam_body(changed, [_stretched(mode, beam, changed) for mode in modes])
    telescope = body.telescope
    if telescope is not None:
        telescope = replace(telescope, length=length, mass_per_length=_known(mass), EI=_known(stiffness["y"]))
    others = tuple(_moved(place, beam, new, parameters) for place in body.others)
    return replace(new, damping=body.damping, telescope=telescope, reduction=body.reduction, others=others)


def _moved(place: Interface, before: Beam, after: FlexibleBody, parameters: Mapping[str, Parameter]) -> Interface:
    """The same interface on a beam of another length; its place may name parameters."""
    assert place.x is not None
    assert after.beam is not None
    share = as_fraction(place.x) / before.length
    return interface_at(after.beam, place.name, to_scalar(share * after.beam.beam.length), parameters)


def _stretched(mode: Mode, before: Beam, after: Beam) -> Mode:
    """The mode on a beam of another length: a coordinate that is a slope moves the beam in proportion to the length."""
    ratio = as_fraction(after.length) / before.length
    shape = mode.shape.scaled(ratio**mode.derivative) if mode.derivative else mode.shape
    psi = None if mode.psi is None else mode.psi if mode.derivative == 1 else mode.psi.scaled(ratio ** (mode.derivative - 1))
    return replace(mode, shape=shape, psi=psi)


def _value(curve: Curve) -> Scalar | None:
    """The value of a constant curve."""
    first, *others = (tuple(c for c in piece) for piece in curve.pieces)
    constant = len(first) == 1 or all(c == 0 for c in first[1:])
    return _scalar(first[0]) if constant and all(other == first for other in others) else None


def _known(curve: Curve) -> Scalar:
    value = _value(curve)
    assert value is not None  # telescopic beams are uniform
    return value


def _scalar(number: Number) -> Scalar:
    return to_scalar(number)
