"""Beams whose length, mass per length and stiffness are symbols: their integrals computed anew.

Shapes are functions of s = x / L, which does not change with L; a nodal slope dw/dx moves the beam by l_e = L / n times a
function of s, which does. What stays a number: shapes, properties that vary along the beam, damping matrices, data from
other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.piecewise import Curve, Number, as_fraction, to_scalar
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Scalar

Change = Callable[[Scalar, str, str], Scalar]  # (value, name, unit) -> the value or the symbol that replaces it

_STIFFNESS = {"y": ("EIz", "N m^2"), "z": ("EIy", "N m^2"), "torsion": ("GJ", "N m^2"), "extension": ("EA", "N")}


def with_beam_symbols(body: FlexibleBody, change: Change, number: int) -> FlexibleBody:
    """The body of link ``number`` with symbols for what is one number along its beam; others as they are."""
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
    changed = replace(beam, length=as_fraction(length), mass_per_length=mass, stiffness=stiffness)
    new = beam_body(changed, [_stretched(mode, beam, changed) for mode in modes])
    telescope = body.telescope
    if telescope is not None:
        telescope = replace(telescope, length=length, mass_per_length=_known(mass), EI=_known(stiffness["y"]))
    return replace(new, damping=body.damping, telescope=telescope, reduction=body.reduction)


def _stretched(mode: Mode, before: Beam, after: Beam) -> Mode:
    """The mode on a beam of another length: a coordinate that is a slope moves the beam in proportion to the length."""
    factor = (as_fraction(after.length) / before.length) ** mode.derivative
    return replace(mode, shape=mode.shape.scaled(factor)) if mode.derivative else mode


def _value(curve: Curve) -> Scalar | None:
    """The value of a curve that has one only."""
    first, *others = (tuple(c for c in piece) for piece in curve.pieces)
    constant = len(first) == 1 or all(c == 0 for c in first[1:])
    return _scalar(first[0]) if constant and all(other == first for other in others) else None


def _known(curve: Curve) -> Scalar:
    value = _value(curve)
    assert value is not None  # telescopic beams are uniform
    return value


def _scalar(number: Number) -> Scalar:
    return to_scalar(number)
