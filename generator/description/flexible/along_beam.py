"""Reads properties along a straight beam, for all kinds of beams."""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

import sympy

from elastogen.generator.beams import shapes as beam_shapes
from elastogen.generator.beams.integrals import ZERO, Beam, Direction
from elastogen.generator.beams.piecewise import Curve, Number, as_fraction
from elastogen.generator.description.file.fields import ScalarField
from elastogen.generator.description.file.flexible_file import BeamSection, PropertySection
from elastogen.generator.description.flexible.check import check_properties, check_shear
from elastogen.generator.description.flexible.kind import DescribedLink
from elastogen.generator.robot.expressions import nominal, parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Parameter, Scalar
from elastogen.generator.robot.units.dimensions import check_dimension

BeamT = TypeVar("BeamT", bound=BeamSection)

_PLACE_TOLERANCE = 1e-9  # of the ends of tables, relative to the length
_ALONG = ("x", "L")  # what these names mean in the expressions of a beam
BEAM_LENGTHS = (1e-6, 1e6)  # [m]; the integrals along a beam have its seventh power


class AlongBeam:
    """Reads a beam's length, properties, expressions in x and L, and tables."""

    def __init__(self, link: DescribedLink[BeamT]) -> None:
        self.section, self.parameters, self.where = link.section, link.parameters, link.where
        given = parse_scalar(self.section.length, self.parameters, self.where.at("length"))
        check_dimension(given, _unit("length"), self.parameters, self.where.at("length"))
        self.length: Number = as_fraction(given)
        self.nominal_length = nominal(given, self.parameters)
        shortest, longest = BEAM_LENGTHS
        if not shortest <= self.nominal_length <= longest:
            expected = f"a length above zero, from {shortest:g} to {longest:g} m"
            raise self.where.at("length").error(self.section.length, expected, "give the beam's length in metres")
        self._refuse_shadowed_names()

    def beam(self, directions: Collection[Direction]) -> Beam:
        """The beam, which has what it needs to deform in these directions."""
        section = self.section
        polar = self._property(section.polar_inertia_per_length, "polar_inertia_per_length")
        half = None if polar is None else polar.scaled(Fraction(1, 2))
        inertia_y = self._property(section.inertia_y_per_length, "inertia_y_per_length")
        inertia_z = self._property(section.inertia_z_per_length, "inertia_z_per_length")
        bending = self._property(section.EI, "EI")
        given: dict[Direction, Curve | None] = {
            "y": bending or self._property(section.EI_z, "EI_z"),
            "z": bending or self._property(section.EI_y, "EI_y"),
            "torsion": self._property(section.GJ, "GJ"),
            "extension": self._property(section.EA, "EA"),
        }
        mass = self._property(section.mass_per_length, "mass_per_length")
        assert mass is not None  # a required key
        sheared = self._property(section.GA, "GA")
        shear: dict[Direction, Curve | None] = {
            "y": sheared or self._property(section.GA_y, "GA_y"),
            "z": sheared or self._property(section.GA_z, "GA_z"),
        }
        beam = Beam(
            length=self.length,
            mass_per_length=mass,
            stiffness={direction: curve for direction, curve in given.items() if curve is not None},
            inertia_y=inertia_y or half or ZERO,
            inertia_z=inertia_z or half or ZERO,
            rotary_inertia=section.rotary_inertia,
            foreshortening=section.foreshortening,
            rotation=section.rotation,
            shear={direction: curve for direction, curve in shear.items() if curve is not None and direction in directions},
        )
        check_shear(beam, directions, section.shear, self.parameters, self.where)
        check_properties(beam, directions, self.parameters, self.where)
        return beam

    def nominal_mass(self) -> float:
        """The beam's mass [kg] at the nominal parameters."""
        curve = self._property(self.section.mass_per_length, "mass_per_length")
        assert curve is not None
        values = {p.symbol: as_fraction(p.value) for p in self.parameters.values()}
        return float(curve.substituted(values).integral_from_start().end) * self.nominal_length

    def _property(self, section: PropertySection | None, key: str) -> Curve | None:
        if section is None:
            return None
        here = self.where.at(key)
        if section.expression is not None:
            return beam_shapes.from_expression(self.expression(section.expression, here, _unit(key)), here)
        assert section.x is not None  # both, by the file's structure
        assert section.value is not None
        places = self.places(section.x, here.at("x"))
        if len(section.value) != len(places):
            raise _wrong_size(section.value, len(places), here.at("value"))
        values = [parse_scalar(v, self.parameters, here.at("value", i)) for i, v in enumerate(section.value)]
        for i, value in enumerate(values):
            check_dimension(value, _unit(key), self.parameters, here.at("value", i))
        return beam_shapes.from_samples(places, values)

    def expression(self, given: ScalarField, here: Location, unit: str = "") -> Scalar:
        """An expression in x and L of this unit (default: of any), brought to s = x / L."""
        names = {**self.parameters, **{name: Parameter(name, 1.0) for name in _ALONG}}
        parsed = parse_scalar(given, names, here)
        check_dimension(parsed, unit, names, here)
        if not isinstance(parsed, sympy.Expr):
            return parsed
        length = sympy.sympify(self.length)
        x, whole = (names[name].symbol for name in _ALONG)
        return sympy.sympify(as_fraction(parsed)).subs({x: beam_shapes.S * length, whole: length}, simultaneous=True)

    def places(self, given: tuple[ScalarField, ...], here: Location) -> list[float]:
        """Places of a table as s = x / L."""
        x = [float(parse_scalar(value, {}, here.at(i))) for i, value in enumerate(given)]
        length, close = self.nominal_length, _PLACE_TOLERANCE * self.nominal_length
        if len(x) < 2 or any(b - a <= close for a, b in pairwise(x)):
            raise here.error(x, "at least two places, each greater than the one before", "sort the table by x")
        if abs(x[0]) > close or abs(x[-1] - length) > close:
            raise here.error([x[0], x[-1]], f"places from 0 to the length {length:g}", "sample the whole beam")
        return [0.0, *(place / length for place in x[1:-1]), 1.0]

    def numbers(self, given: tuple[ScalarField, ...], count: int, here: Location) -> list[float]:
        """Numbers of a table, one per place."""
        if len(given) != count:
            raise _wrong_size(given, count, here)
        return [float(parse_scalar(value, {}, here.at(i))) for i, value in enumerate(given)]

    def _refuse_shadowed_names(self) -> None:
        for name in _ALONG:
            if name in self.parameters and self.length != self.parameters[name].symbol:
                raise self.where.error(
                    f"a parameter {name}",
                    "x and L to mean the place along the beam and its length",
                    f"rename the parameter {name}",
                )


def _unit(key: str) -> str:
    """The unit of a property of beams, as its description has it in brackets."""
    found = re.search(r"\[(.+?)\]", BeamSection.model_fields[key].description or "")
    return found[1] if found else ""


def _wrong_size(given: tuple[ScalarField, ...], count: int, here: Location) -> Exception:
    return here.error(f"{len(given)} values", f"{count} values, one per place x", "complete the table")
