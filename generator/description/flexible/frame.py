"""A beam along a polygon or a smooth curve: ``type: frame``."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from elastogen.generator.beams.frame import PARALLEL, Array, Axis, Frame, Section, section_stiffness
from elastogen.generator.beams.natural_frequencies import naming_heavy_tips, numeric
from elastogen.generator.beams.shapes import SMALL_TIP
from elastogen.generator.description.file.fields import NameField, ScalarField, VectorField, problem
from elastogen.generator.description.file.fields import Section as FileSection
from elastogen.generator.description.file.flexible_file import FlexibleSection, SquareField
from elastogen.generator.description.flexible.given_numbers import GivenNumbers
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface, Reduction
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body, Matrix, Parameter
from elastogen.generator.solids.interfaces import rigid_motions
from elastogen.generator.solids.reduced_body import integrals, reduced_body
from elastogen.generator.solids.reduction import settled
from elastogen.generator.solids.solid import Elements

STIFFNESSES = ("EA", "GA_y", "GA_z", "GJ", "EI_y", "EI_z")
MOST_ELEMENTS = 60  # all together; each has some thirty coordinates before modes are taken
COARSE = 0.01  # relative error of kept frequencies above which a mesh is called coarse


class BeamSectionSection(FileSection):
    """A section of a frame about the axis, x along it: stiffnesses with offsets, or the full matrix; mass."""

    stiffness: SquareField | None = Field(
        default=None, description="6 x 6 of N, Q_y, Q_z, M_x, M_y, M_z by the strains; instead of EA to EI_z"
    )
    EA: ScalarField | None = Field(default=None, description="axial stiffness [N]")
    GA_y: ScalarField | None = Field(default=None, description="shear stiffness in y [N]")
    GA_z: ScalarField | None = Field(default=None, description="shear stiffness in z [N]")
    GJ: ScalarField | None = Field(default=None, description="torsional stiffness [N m^2]")
    EI_y: ScalarField | None = Field(default=None, description="bending stiffness about y [N m^2]")
    EI_z: ScalarField | None = Field(default=None, description="bending stiffness about z [N m^2]")
    tension_centre: tuple[ScalarField, ScalarField] = Field(default=(0, 0), description="y, z from the axis [m]")
    shear_centre: tuple[ScalarField, ScalarField] = Field(default=(0, 0), description="y, z from the axis [m]")
    mass_per_length: ScalarField = Field(description="[kg/m]")
    mass_centre: tuple[ScalarField, ScalarField] = Field(default=(0, 0), description="y, z from the axis [m]")
    inertia_y_per_length: ScalarField = Field(default=0, description="int z^2 dm per length about the mass centre [kg m]")
    inertia_z_per_length: ScalarField = Field(default=0, description="int y^2 dm per length about the mass centre [kg m]")

    @model_validator(mode="after")
    def _one_form(self) -> BeamSectionSection:
        missing = [key for key in STIFFNESSES if getattr(self, key) is None]
        offsets = [key for key in ("tension_centre", "shear_centre") if key in self.model_fields_set]
        if self.stiffness is None and missing:
            raise problem(f"stiffness (6 x 6), or {', '.join(STIFFNESSES)}", f"add {', '.join(missing)}")
        if self.stiffness is not None and (len(missing) < len(STIFFNESSES) or offsets):
            raise problem("either stiffness, or EA to EI_z with offsets", "remove one of them", at="stiffness")
        if self.stiffness is not None and len(self.stiffness) != len(STIFFNESSES):
            raise problem("six rows and columns: N, Q_y, Q_z, M_x, M_y, M_z", "complete the matrix", at="stiffness")
        return self


class SeatSection(FileSection):
    """A point of the axis that carries joints."""

    point: int = Field(ge=2, description="of `axis`, from 1; the first one is clamped")


class FrameBeamSection(FlexibleSection):
    """A beam along points, clamped at the first; the tip frame is the section at the last."""

    type: Literal["frame"]
    axis: tuple[VectorField, ...] = Field(min_length=2, max_length=61, description="points in the link frame [m]")
    smooth: bool = Field(default=False, description="a natural cubic spline through the points; default: straight in between")
    across: VectorField = Field(default=(0, 0, 1), description="the sections' z is as near to it as can be; not along the axis")
    section: BeamSectionSection
    elements: int = Field(default=2, ge=1, le=MOST_ELEMENTS, description="from each point to the next")
    modes: int = Field(ge=1, le=60, description="the lowest clamped ones, with the body on the tip")
    interfaces: dict[NameField, SeatSection] = Field(
        default={}, description="further points that carry joints; a joint of the same name sits there"
    )


class FrameKind(FlexibleKind[FrameBeamSection]):
    """A frame: a polygon or a curve of beams with any section; the coordinates are amplitudes of its lowest modes."""

    # ---- 1. in a robot file

    name = "frame"
    section = FrameBeamSection

    # ---- 2. coordinates and units, 3. standard data, 4. reduction and convergence

    def body(self, link: DescribedLink[FrameBeamSection]) -> FlexibleBody:
        """Amplitudes of the modes, and how far their frequencies are from those of half the elements."""
        frame = _frame(link)
        tip = _inertia(link.tip_body, link, frame.axis.at(-1, np.ones(1))[2][0])
        count, whole = link.section.modes, len(frame.elements)
        with naming_heavy_tips(link.where):
            frequencies, vectors = frame.modes(count, tip)
            finer = replace(frame, each=2 * frame.each).modes(count, tip)[0]
        errors = tuple(np.abs(frequencies / finer - 1).tolist())
        if max(errors) > COARSE:
            link.where.at("elements").warn(
                f"{whole} elements, with which a kept frequency is {100 * max(errors):.2g} % too high",
                f"kept frequencies within {100 * COARSE:g} %",
                "use more elements: after reduction they cost nothing",
            )
        points = {TIP: len(frame.axis.pieces), **{name: seat.point - 1 for name, seat in link.section.interfaces.items()}}
        motion = {name: frame.node(point - 1) for name, point in points.items()}
        vectors, squares = settled(vectors, frequencies**2, {TIP: motion[TIP]})
        nodes, shapes, mass = frame.carried(vectors)
        on_axis, beside = (np.linalg.norm(part, axis=1).max(axis=0) for part in (shapes[0::3], shapes))
        size = np.where(on_axis > SMALL_TIP * beside, on_axis, beside)
        none = np.zeros((0, 6), dtype=np.int64)
        carried = Elements(nodes, mass, None, none, none, np.zeros(0, dtype=np.int64))
        found = integrals(carried, shapes / size, np.zeros((len(nodes), 3, 0)))
        motions = {name: np.asarray((matrix @ (vectors / size)).T) for name, matrix in motion.items()}
        ends = {name: frame.axis.at(point - 1, np.ones(1)) for name, point in points.items()}
        places = {name: end[0][0] for name, end in ends.items()}
        body = reduced_body(found, squares / np.outer(size, size), places, motions, TIP, link.section.rotation)
        poses = {name: _pose(end[0][0], end[2][0]) for name, end in ends.items()}
        others = tuple(_with_axes(place, poses) for place in body.others)
        return replace(body, tip_pose=poses[TIP], others=others, reduction=Reduction(whole, errors))

    # ---- 7. checks

    def check(self, link: DescribedLink[FrameBeamSection]) -> None:
        """Refuse points that coincide, sections without a direction, and interfaces that are no point of the axis."""
        section, where = link.section, link.where
        tip = nominal(link.tip_body.mass, link.parameters)
        if not tip >= 0:
            raise where.at("tip", "mass").error(tip, "a mass of zero or more [kg]", "check its sign")
        points = _rows(section.axis, link, where.at("axis"))
        for k, step in enumerate(np.linalg.norm(np.diff(points, axis=0), axis=1)):
            if not 1e-6 < step < 1e6:
                raise where.at("axis", k + 1).error(
                    points[k + 1].tolist(), f"a point away from the one before, {points[k].tolist()} [m]", "remove one of them"
                )
        total = section.elements * (len(points) - 1)
        if total > MOST_ELEMENTS:
            raise where.at("elements").error(f"{total} elements in all", f"at most {MOST_ELEMENTS}", "use fewer for each part")
        for name, seat in section.interfaces.items():
            if seat.point > len(points):
                at = where.at("interfaces", name, "point")
                raise at.error(seat.point, f"2 to {len(points)}, a point of axis", "count the points from 1")
        axis = Axis.of(points, section.smooth, _rows((section.across,), link, where.at("across"))[0])
        sine, piece = axis.nearest()
        if not sine > PARALLEL:
            raise where.at("across").error(
                axis.across.tolist(),
                f"a direction that is nowhere along the axis, as it is behind point {piece + 1}",
                "give another direction for the sections' z",
            )


def _frame(link: DescribedLink[FrameBeamSection]) -> Frame:
    given, where = link.section, link.where
    axis = Axis.of(_rows(given.axis, link, where), given.smooth, _rows((given.across,), link, where)[0])
    return Frame(axis, _section(given.section, link, where.at("section")), given.elements)


def _section(given: BeamSectionSection, link: DescribedLink[FrameBeamSection], where: Location) -> Section:
    read = GivenNumbers(link.parameters)

    def number(key: str, lowest: float) -> float:
        value = nominal(read.scalar(getattr(given, key), where.at(key)), link.parameters)
        if not (value > 0 if lowest else value >= 0) or not np.isfinite(value):
            raise where.at(key).error(value, "a number above zero" if lowest else "zero or more", "check its sign and unit")
        return float(value)

    def centre(key: str) -> list[float]:
        return [nominal(read.scalar(c, where.at(key)), link.parameters) for c in getattr(given, key)]

    if given.stiffness is not None:
        stiffness = numeric(read.matrix(given.stiffness, where.at("stiffness")), link.parameters)
        same = np.abs(stiffness - stiffness.T).max() <= 1e-9 * np.abs(stiffness).max()
        if not same or not np.linalg.eigvalsh(stiffness / np.sqrt(np.abs(np.outer(*2 * [np.diag(stiffness)])))).min() > 0:
            raise where.at("stiffness").error(
                stiffness.tolist(), "a symmetric positive definite matrix", "check its order: N, Q_y, Q_z, M_x, M_y, M_z"
            )
    else:
        stiffness = section_stiffness([number(key, 1) for key in STIFFNESSES], centre("tension_centre"), centre("shear_centre"))
    inertia = np.array([number("inertia_z_per_length", 0), number("inertia_y_per_length", 0)])
    return Section(stiffness, number("mass_per_length", 1), np.array(centre("mass_centre")), inertia)


def _rows(given: tuple[VectorField, ...], link: DescribedLink[FrameBeamSection], where: Location) -> Array:
    read = GivenNumbers(link.parameters)
    return numeric(tuple(read.vector(point, where.at(k)) for k, point in enumerate(given)), link.parameters)


def _inertia(body: Body, link: DescribedLink[FrameBeamSection], rotation: Array) -> Array:
    """6 x 6 inertia of the tip body for shifts and turns of the tip, in the axes of the link."""
    known: dict[str, Parameter] = dict(link.parameters)
    R = rigid_motions((rotation @ numeric((body.com,), known)[0])[None, :]).reshape(3, 6)
    found: Array = nominal(body.mass, known) * R.T @ R
    found[3:, 3:] += rotation @ numeric(body.inertia, known) @ rotation.T
    return found


def _pose(place: Array, rotation: Array) -> Matrix:
    rows = np.hstack([rotation, place[:, None]]).tolist()
    return (*(tuple(row) for row in rows), (0, 0, 0, 1))


def _with_axes(place: Interface, poses: dict[str, Matrix]) -> Interface:
    return replace(place, pose=poses[place.name])
