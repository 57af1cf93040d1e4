"""Any flexible body by its standard input data: ``type: standard_data``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from elastogen.generator.description.file.fields import FrameSection, NameField, ScalarField, Section, VectorField, problem
from elastogen.generator.description.file.flexible_file import (
    MAX_MODES,
    FlexibleSection,
    InterfaceSection,
    Matrix3Field,
    SquareField,
)
from elastogen.generator.description.flexible.given_numbers import GivenNumbers, check_names, stiffness_matrix
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import ZERO3, Matrix


class StandardModeSection(Section):
    """A shape field b(r) of a body from elsewhere, by its integrals; `of` makes it a second-order field."""

    name: NameField | None = Field(default=None, description="of the coordinate")
    of: tuple[NameField, NameField] | None = Field(
        default=None, description="second-order field: the two modes whose coordinates multiply it"
    )
    integral: VectorField = Field(description="int b dm")
    position_integral: Matrix3Field = Field(description="int b r^T dm, row: b, column: r")
    tip_displacement: VectorField = Field(description="b at the tip")
    tip_rotation: VectorField = Field(default=(0, 0, 0), description="rotation vector of the tip per unit coordinate")

    @model_validator(mode="after")
    def _named(self) -> StandardModeSection:
        if (self.name is None) == (self.of is None):
            raise problem("a name, or `of` with two modes for a second-order field", "for example name: bend1")
        return self


class ProductSection(Section):
    """The integral of a pair of fields."""

    fields: tuple[int, int] = Field(description="positions in `modes`, from 1")
    integral: Matrix3Field = Field(description="int b_i b_j^T dm, row: b_i, column: b_j")


class StandardDataSection(FlexibleSection):
    """Any flexible body by its standard input data: mass integrals and modal matrices, about the link frame."""

    type: Literal["standard_data"]
    mass: ScalarField = Field(description="int dm [kg]")
    first_moments: VectorField = Field(description="int r dm [kg m]")
    second_moments: Matrix3Field = Field(description="int r r^T dm [kg m^2] (not the inertia tensor)")
    modes: tuple[StandardModeSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    products: tuple[ProductSection, ...] = Field(description="one per pair of fields; missing pairs are zero")
    stiffness: SquareField = Field(description="modes x modes")
    tip_frame: FrameSection = Field(default=FrameSection(), description="undeformed tip in the link frame")
    interfaces: dict[NameField, InterfaceSection] = Field(
        default={}, description="further places that carry joints; a joint of the same name sits there"
    )


class StandardDataKind(FlexibleKind[StandardDataSection]):
    """A body whose standard data stand in the file, from any tool."""

    # ---- 1. in a robot file

    name = "standard_data"
    section = StandardDataSection

    def tip_frame(self, section: StandardDataSection) -> FrameSection:
        """As the file gives it."""
        return section.tip_frame

    def interface_frames(self, section: StandardDataSection) -> Mapping[str, FrameSection]:
        """As the file gives them."""
        return {name: given.frame for name, given in section.interfaces.items()}

    # ---- 2. coordinates and units (those of the modes, which the file does not say), 3. standard data

    def body(self, link: DescribedLink[StandardDataSection]) -> FlexibleBody:
        """What the file says, in the order of standard data."""
        return _standard_body(link)


def _standard_body(link: DescribedLink[StandardDataSection]) -> FlexibleBody:
    """Return the body that the integrals describe; modes come first, second-order fields after them."""
    section, where, read = link.section, link.where, GivenNumbers(link.parameters)
    order = sorted(range(len(section.modes)), key=lambda i: section.modes[i].of is not None)
    fields = [section.modes[i] for i in order]
    places = [where.at("modes", i) for i in order]
    names = tuple(mode.name for mode in fields if mode.name is not None)
    check_names(names, where)
    monomials: list[tuple[int, ...]] = []
    for n, (mode, here) in enumerate(zip(fields, places, strict=True)):
        for name in mode.of or ():
            if name not in names:
                raise here.at("of").error(name, f"names of modes ({', '.join(names)})", "name two modes of this body")
        monomials.append((n,) if mode.of is None else tuple(sorted(names.index(name) for name in mode.of)))
    products = _products(section, order, read, where.at("products"))
    size = len(names)
    return FlexibleBody(
        coordinates=names,
        monomials=tuple(monomials),
        mass=read.scalar(section.mass, where.at("mass")),
        first_moments=read.vector(section.first_moments, where.at("first_moments")),
        second_moments=read.matrix(section.second_moments, where.at("second_moments")),
        field_integrals=tuple(
            read.vector(mode.integral, here.at("integral")) for mode, here in zip(fields, places, strict=True)
        ),
        field_position_integrals=tuple(
            read.matrix(mode.position_integral, here.at("position_integral")) for mode, here in zip(fields, places, strict=True)
        ),
        field_field_integrals=products,
        stiffness=stiffness_matrix(section.stiffness, size, read, where.at("stiffness")),
        damping=tuple((0,) * size for _ in range(size)),
        tip_pose=link.tip_pose,
        tip_displacements=tuple(
            read.vector(mode.tip_displacement, here.at("tip_displacement")) for mode, here in zip(fields, places, strict=True)
        ),
        tip_rotations=tuple(
            read.vector(mode.tip_rotation, here.at("tip_rotation")) for mode, here in zip(fields[:size], places, strict=False)
        ),
        tip=section.rotation,
        others=read.interfaces(section.interfaces, link.poses, order, size, where.at("interfaces")),
    )


def _products(
    section: StandardDataSection, order: list[int], read: GivenNumbers, where: Location
) -> tuple[tuple[Matrix, ...], ...]:
    """The matrices int b_n b_m^T dm; the file gives one of (n, m) and (m, n), the other is its transpose."""
    count = len(order)
    found: dict[tuple[int, int], Matrix] = {}
    for p, product in enumerate(section.products):
        here = where.at(p)
        if any(not 1 <= n <= count for n in product.fields):
            raise here.at("fields").error(list(product.fields), f"positions in `modes`, 1 to {count}", "count the modes from 1")
        n, m = (order.index(i - 1) for i in product.fields)
        if (n, m) in found:
            raise here.at("fields").error(list(product.fields), "every pair of fields once", "remove one of them")
        matrix = read.matrix(product.integral, here.at("integral"))
        found[m, n] = tuple(tuple(matrix[j][i] for j in range(3)) for i in range(3))
        found[n, m] = matrix
    return tuple(tuple(found.get((n, m), ZERO3) for m in range(count)) for n in range(count))
