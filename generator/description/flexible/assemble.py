"""From the ``flexible:`` block of a link to its standard data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import sympy

from elastogen.generator.beams import shapes as beam_shapes
from elastogen.generator.beams.finite_elements import MAX_ELEMENTS, element_modes
from elastogen.generator.beams.integrals import DIRECTIONS, ZERO, Beam, Direction, Mode, beam_body
from elastogen.generator.beams.piecewise import Curve, Number, as_fraction
from elastogen.generator.description.file.fields import ScalarField
from elastogen.generator.description.file.flexible_file import (
    BeamSection,
    ElementsSection,
    FlexibleSection,
    LumpedSection,
    ModeSection,
    ModesSection,
    PropertySection,
    StandardDataSection,
)
from elastogen.generator.description.flexible import check as check_flexible
from elastogen.generator.description.flexible import telescope
from elastogen.generator.description.flexible.damping import damping_matrix
from elastogen.generator.description.flexible.reduction import reduced_body
from elastogen.generator.description.flexible.standard_data import lumped_body, standard_body
from elastogen.generator.robot.expressions import nominal, parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body, FlexibleBody, Matrix, Parameter, Scalar

_PLACE_TOLERANCE = 1e-9  # of the ends of tables, relative to the length
_ALONG = ("x", "L")  # what these names mean in the expressions of a beam


def flexible_body(
    section: FlexibleSection,
    tip_body: Body,
    tip_pose: Matrix,
    parameters: Mapping[str, Parameter],
    where: Location,
    telescopic: str = "",
) -> FlexibleBody:
    """Return the standard data of a flexible link; ``tip_pose`` counts for bodies that are not beams.

    ``telescopic`` says how the link slides through its joint: "smooth", "nodal", or "" where it does not.
    """
    if telescopic:
        return telescope.telescopic_body(section, telescopic, tip_body, parameters, where)
    if isinstance(section, StandardDataSection):
        body = standard_body(section, tip_pose, parameters, where)
    elif isinstance(section, LumpedSection):
        body = lumped_body(section, tip_pose, parameters, where)
    else:
        body = _BeamAssembly(section, tip_body, parameters, where).body()
    check_flexible.check_body(body, parameters, where)
    return replace(body, damping=damping_matrix(section.damping, body, tip_body, parameters, where.at("damping")))


BEAM_LENGTHS = (1e-6, 1e6)  # [m]; the integrals along a beam have its seventh power


class _BeamAssembly:
    def __init__(
        self,
        section: ModesSection | ElementsSection,
        tip_body: Body,
        parameters: Mapping[str, Parameter],
        where: Location,
    ) -> None:
        self.section, self.tip_body, self.parameters, self.where = section, tip_body, parameters, where
        given = parse_scalar(section.length, parameters, where.at("length"))
        self.length: Number = as_fraction(given)
        self.nominal_length = nominal(given, parameters)
        shortest, longest = BEAM_LENGTHS
        if not shortest <= self.nominal_length <= longest:
            expected = f"a length above zero, from {shortest:g} to {longest:g} m"
            raise where.at("length").error(section.length, expected, "give the beam's length in metres")
        self._refuse_shadowed_names()

    def body(self) -> FlexibleBody:
        section = self.section
        beam = self._beam(section)
        if isinstance(section, ModesSection):
            directions = {mode.direction for mode in section.modes}
            check_flexible.check_properties(beam, directions, self.parameters, self.where)
            return beam_body(beam, self._modes(section))
        self._check_elements(section)
        check_flexible.check_properties(beam, section.directions, self.parameters, self.where)
        if section.reduce_to is not None:
            return reduced_body(beam, section, self.tip_body, self.parameters, self.where)[0]
        return beam_body(beam, element_modes(section.elements, section.directions, self.length, degree=section.degree))

    def _beam(self, section: BeamSection) -> Beam:
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
        return Beam(
            length=self.length,
            mass_per_length=mass,
            stiffness={direction: curve for direction, curve in given.items() if curve is not None},
            inertia_y=inertia_y or half or ZERO,
            inertia_z=inertia_z or half or ZERO,
            rotary_inertia=section.rotary_inertia,
            foreshortening=section.foreshortening,
            rotation=section.rotation,
        )

    def _modes(self, section: ModesSection) -> list[Mode]:
        """The modes, with the names y1, y2, z1, ... where the file gives none."""
        counts: dict[str, int] = {}
        modes: list[Mode] = []
        for i, given in enumerate(section.modes):
            here = self.where.at("modes", i)
            counts[given.direction] = counts.get(given.direction, 0) + 1
            name = given.name or f"{given.direction}{counts[given.direction]}"
            if name in {mode.name for mode in modes}:
                raise here.at("name").error(name, "names of modes that occur once", "rename one of them")
            modes.append(Mode(name, given.direction, self._shape(given, section, here)))
            check_flexible.check_clamped(modes[-1], self.parameters, here)
        return modes

    def _shape(self, mode: ModeSection, link: ModesSection, here: Location) -> Curve:
        if mode.shape is not None:
            return beam_shapes.from_expression(self._along(mode.shape, here.at("shape")), here.at("shape"))
        if mode.eigenfunction is not None:
            ratio = 0.0
            if link.eigenfunctions == "tip_mass":
                beam_mass = self._nominal_mass(link)
                ratio = nominal(self.tip_body.mass, self.parameters) / beam_mass
            return beam_shapes.eigenfunction(mode.eigenfunction, ratio)
        assert mode.table is not None  # exactly one of the three, by the file's structure
        table, here = mode.table, here.at("table")
        places = self._places(table.x, here.at("x"))
        values = self._numbers(table.displacement, len(places), here.at("displacement"))
        slopes = None
        if table.slope is not None:
            slopes = [self.nominal_length * m for m in self._numbers(table.slope, len(places), here.at("slope"))]
        return beam_shapes.from_table(places, values, slopes, clamped_slope=mode.direction in ("y", "z"))

    def _nominal_mass(self, link: ModesSection) -> float:
        curve = self._property(link.mass_per_length, "mass_per_length")
        assert curve is not None
        values = {p.symbol: as_fraction(p.value) for p in self.parameters.values()}
        return float(curve.substituted(values).integral_from_start().end) * self.nominal_length

    def _property(self, section: PropertySection | None, key: str) -> Curve | None:
        if section is None:
            return None
        here = self.where.at(key)
        if section.expression is not None:
            return beam_shapes.from_expression(self._along(section.expression, here), here)
        assert section.x is not None  # both, by the file's structure
        assert section.value is not None
        places = self._places(section.x, here.at("x"))
        if len(section.value) != len(places):
            raise _wrong_size(section.value, len(places), here.at("value"))
        values = [parse_scalar(v, self.parameters, here.at("value", i)) for i, v in enumerate(section.value)]
        return beam_shapes.from_samples(places, values)

    def _along(self, given: ScalarField, here: Location) -> Scalar:
        """An expression in x and L, brought to s = x / L."""
        names = {**self.parameters, **{name: Parameter(name, 1.0) for name in _ALONG}}
        parsed = parse_scalar(given, names, here)
        if not isinstance(parsed, sympy.Expr):
            return parsed
        length = sympy.sympify(self.length)
        x, whole = (names[name].symbol for name in _ALONG)
        return sympy.sympify(as_fraction(parsed)).subs({x: beam_shapes.S * length, whole: length}, simultaneous=True)

    def _places(self, given: tuple[ScalarField, ...], here: Location) -> list[float]:
        """Places of a table as s = x / L."""
        x = [float(parse_scalar(value, {}, here.at(i))) for i, value in enumerate(given)]
        length, close = self.nominal_length, _PLACE_TOLERANCE * self.nominal_length
        if len(x) < 2 or any(b - a <= close for a, b in pairwise(x)):
            raise here.error(x, "at least two places, each greater than the one before", "sort the table by x")
        if abs(x[0]) > close or abs(x[-1] - length) > close:
            raise here.error([x[0], x[-1]], f"places from 0 to the length {length:g}", "sample the whole beam")
        return [0.0, *(place / length for place in x[1:-1]), 1.0]

    def _numbers(self, given: tuple[ScalarField, ...], count: int, here: Location) -> list[float]:
        if len(given) != count:
            raise _wrong_size(given, count, here)
        return [float(parse_scalar(value, {}, here.at(i))) for i, value in enumerate(given)]

    def _check_elements(self, section: ElementsSection) -> None:
        if not 1 <= section.elements <= MAX_ELEMENTS:
            raise self.where.at("elements").error(
                section.elements, f"1 to {MAX_ELEMENTS} elements", "3 to 10 elements are usual for a link"
            )
        if len(set(section.directions)) != len(section.directions):
            raise self.where.at("directions").error(
                list(section.directions), f"each of {', '.join(DIRECTIONS)} at most once", "remove doubles"
            )

    def _refuse_shadowed_names(self) -> None:
        for name in _ALONG:
            if name in self.parameters and self.length != self.parameters[name].symbol:
                raise self.where.error(
                    f"a parameter {name}",
                    "x and L to mean the place along the beam and its length",
                    f"rename the parameter {name}",
                )


def _wrong_size(given: tuple[ScalarField, ...], count: int, here: Location) -> Exception:
    return here.error(f"{len(given)} values", f"{count} values, one per place x", "complete the table")
