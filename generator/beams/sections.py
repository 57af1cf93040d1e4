"""A section of a beam: how far its centre moves, how it rotates and bends, per unit of every coordinate (003 (3)-(5))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from elastogen.generator.beams.integrals import ShapedBeam, axis_fields, beam_body, turn
from elastogen.generator.beams.piecewise import Curve, to_scalar
from elastogen.generator.beams.place import Place
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Interface
from elastogen.generator.robot.robot import Matrix, Parameter, Scalar


@dataclass(frozen=True)
class CrossSection:
    """The section at a place x, as the shape fields (rows) and the coordinates (rows) move it."""

    displacements: Matrix  # of its centre by every field, fields x 3
    rotations: Matrix  # rotation vector by every coordinate, coordinates x 3
    curvatures: Matrix  # psi' in y and z, which is w'' but in beams that shear, by every coordinate, coordinates x 2
    stretches: tuple[Scalar, ...]  # u' by every coordinate


def section_at(given: ShapedBeam, x: Scalar, parameters: Mapping[str, Parameter]) -> CrossSection:
    """The section at x; exactly between two pieces that of the inner one."""
    length = given.beam.length
    place = Place.of(x, length, parameters)
    displacements = tuple(tuple(to_scalar(place.value(component)) for component in field) for field in axis_fields(given))
    rotations, curvatures, stretches = [], [], []
    for mode in given.modes:
        psi = mode.rotation(length)
        rotations.append(turn(mode.direction, place.value(mode.shape), place.value(psi)))
        bent = to_scalar(place.slope(psi, 1) / length)
        curvatures.append((bent if mode.direction == "y" else 0, bent if mode.direction == "z" else 0))
        stretches.append(to_scalar(place.slope(mode.shape, 1) / length) if mode.direction == "extension" else 0)
    return CrossSection(displacements, tuple(rotations), tuple(curvatures), tuple(stretches))


def interface_at(given: ShapedBeam, name: str, x: Scalar, parameters: Mapping[str, Parameter]) -> Interface:
    """The section at x as a place that carries further links."""
    section = section_at(given, x, parameters)
    pose = ((1, 0, 0, x), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    return Interface(name, pose, section.displacements, section.rotations, x)


def part_of(given: ShapedBeam, start: Fraction, end: Fraction) -> FlexibleBody:
    """The standard data of the part between two places s = x / L: mass and stiffness of the rest are left out."""
    beam = given.beam
    kept = replace(
        beam,
        mass_per_length=_between(beam.mass_per_length, start, end),
        inertia_y=_between(beam.inertia_y, start, end),
        inertia_z=_between(beam.inertia_z, start, end),
        stiffness={direction: _between(curve, start, end) for direction, curve in beam.stiffness.items()},
        shear={direction: _between(curve, start, end) for direction, curve in beam.shear.items()},
    )
    return beam_body(kept, given.modes)


def part_beyond(given: ShapedBeam, place: Place) -> FlexibleBody:
    """The standard data of the part from a place to the tip, also where that place moves with live parameters."""
    if place.moves:
        return beam_body(given.beam, given.modes, start=place)
    return part_of(given, place.fraction, Fraction(1))


def _between(curve: Curve, start: Fraction, end: Fraction) -> Curve:
    """The curve that vanishes outside of a part."""
    breaks = tuple(sorted({*curve.breaks, *(s for s in (start, end) if 0 < s < 1)}))
    refined = curve.refined(breaks)
    inside = (start <= a and b <= end for a, b in pairwise(breaks))
    pieces = tuple(p if kept else (Fraction(0),) for kept, p in zip(inside, refined.pieces, strict=True))
    return Curve(breaks, pieces)
