"""The standard data of a beam along x, clamped at x = 0: exact mass integrals, stiffness, tip.

A point of the section at x is r = (x, y, z). Its displacement is linear in the section's y and z (sections stay plane
and undistorted), so every field is b = c(x) + y d(x) + z e(x):

    bending in y by phi    c = (0, phi, 0), with rotary inertia d = (-psi, 0, 0)
    bending in z by phi    c = (0, 0, phi), with rotary inertia e = (-psi, 0, 0)
    torsion by phi         d = (0, 0, phi), e = (0, -phi, 0)           (phi e_x x r)
    extension by phi       c = (phi, 0, 0)
    foreshortening j, k    c = (-int_0^x phi_j' phi_k', 0, 0), half of it for j = k

Sections rotate with the slope, psi = phi', but in beams that shear (shear.py), whose shapes have a psi of their own.
With the section's centre on the axis and principal axes y, z, the integral over the body of two such fields is
int (mu c c'^T + j_z d d'^T + j_y e e'^T) dx, where mu is the mass per length and j_z = int y^2, j_y = int z^2 are the
section's inertias per length.
These are the integrals of 000 (97), (98): int r dm, int r r^T dm, int b dm, int b r^T dm, int b b^T dm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from elastogen.generator.beams.piecewise import NOTHING, Curve, Number, common, gram, is_smooth, is_zero, to_scalar
from elastogen.generator.beams.place import Place
from elastogen.generator.robot.bodies.flexible_body import Centreline, FlexibleBody
from elastogen.generator.robot.robot import ZERO3, Matrix, Scalar

Direction: TypeAlias = Literal["y", "z", "torsion", "extension"]
DIRECTIONS: tuple[Direction, ...] = ("y", "z", "torsion", "extension")

ZERO = Curve.polynomial((0,))
ONE = Curve.polynomial((1,))


@dataclass(frozen=True)
class Mode:
    """A shape of the beam: its name as a coordinate, what it moves, and phi as a curve of s = x / L."""

    name: str
    direction: Direction
    shape: Curve
    derivative: int = 0  # order of the derivative of the displacement that the coordinate is: 1 for a nodal slope
    psi: Curve | None = None  # rotation of the sections [rad] in bending; None: the slope dphi/dx

    @property
    def unit(self) -> str:
        """Of the coordinate; a shape's values have none."""
        return "rad" if self.direction == "torsion" else ("m", "rad", "1/m")[self.derivative]

    def rotation(self, length: Number) -> Curve:
        """Of the sections of a bent beam of this length, as a curve of s."""
        return _derivative(self.shape, 1, length) if self.psi is None else self.psi


@dataclass(frozen=True)
class Beam:
    """A beam of length L along x; its properties are curves of s = x / L."""

    length: Number  # [m]
    mass_per_length: Curve  # [kg/m]
    #: y: EI_z, z: EI_y, torsion: GJ [N m^2], extension: EA [N]
    stiffness: dict[Direction, Curve] = field(default_factory=dict)
    inertia_y: Curve = ZERO  # int z^2 per length [kg m]
    inertia_z: Curve = ZERO  # int y^2 per length [kg m]
    rotary_inertia: bool = False  # sections rotate with the beam in bending
    foreshortening: bool = False  # second-order fields of the bending modes
    rotation: Literal["exponential", "linear"] = "exponential"  # of the tip
    shear: dict[Direction, Curve] = field(default_factory=dict)  # y, z: GA [N] of a beam that shears; empty: it does not


@dataclass(frozen=True)
class ShapedBeam:
    """A beam and its shapes: all that is known along its axis."""

    beam: Beam
    modes: tuple[Mode, ...]


#: The part of a field that a section's point carries: constant, times y, times z; three components each.
_Part: TypeAlias = "tuple[Curve, Curve, Curve]"
_NOTHING: _Part = (ZERO, ZERO, ZERO)
#: Integrals of products of fields: by the numbers of the two fields, then by their components.
_Products: TypeAlias = "dict[tuple[int, int], dict[tuple[int, int], Number]]"


@dataclass(frozen=True)
class _Field:
    """b = centre + y * with_y + z * with_z."""

    centre: _Part = _NOTHING
    with_y: _Part = _NOTHING
    with_z: _Part = _NOTHING


def beam_body(beam: Beam, modes: Sequence[Mode], start: Place | None = None) -> FlexibleBody:
    """Return the standard data of the beam with these modes, undamped; with ``start`` with the mass beyond that place only."""
    length = beam.length
    monomials, fields = _fields(beam, modes)
    # functions of the body: 0 is the constant 1 (a single component), 1 the position r, 2 + n the field b_n
    position = _Field((Curve.polynomial((0, length)), ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
    inner = _inner_products(beam, [_Field((ONE, ZERO, ZERO)), position, *fields], start)

    def block(a: int, b: int) -> Matrix:
        return _block(inner.get((a, b)))

    numbers = range(2, 2 + len(fields))
    at_tip = [[to_scalar(component.end) for component in f.centre] for f in fields]
    return FlexibleBody(
        coordinates=tuple(mode.name for mode in modes),
        units=tuple(mode.unit for mode in modes),
        monomials=monomials,
        mass=block(0, 0)[0][0],
        first_moments=_vector(block(0, 1)[0]),
        second_moments=block(1, 1),
        field_integrals=tuple(_vector(block(0, n)[0]) for n in numbers),
        field_position_integrals=tuple(block(n, 1) for n in numbers),
        field_field_integrals=_field_products(inner, len(fields)),
        stiffness=stiffness_matrix(beam, modes),
        damping=tuple((0,) * len(modes) for _ in modes),
        tip_pose=((1, 0, 0, to_scalar(length)), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
        tip_displacements=tuple(tuple(row) for row in at_tip),
        tip_rotations=tuple(turn(mode.direction, mode.shape.end, mode.rotation(length).end) for mode in modes),
        tip=beam.rotation,
        centreline=_centreline(length, fields) if _slides(beam, modes) else None,
        beam=ShapedBeam(beam, tuple(modes)),
    )


def _slides(beam: Beam, modes: Sequence[Mode]) -> bool:
    """Whether joints can slide along the axis: it bends in y alone, and its sections stay normal to it."""
    return bool(modes) and not beam.shear and all(mode.direction == "y" for mode in modes)


def _fields(beam: Beam, modes: Sequence[Mode]) -> tuple[tuple[tuple[int, ...], ...], list[_Field]]:
    """Which coordinates every field belongs to, and the field: the modes, then the second-order ones."""
    fields = [_mode_field(mode, beam) for mode in modes]
    monomials: list[tuple[int, ...]] = [(j,) for j in range(len(modes))]
    if beam.foreshortening:
        pairs = [(j, k) for j in range(len(modes)) for k in range(j, len(modes)) if _bend_together(modes[j], modes[k])]
        fields += [_shortening(modes[j].shape, modes[k].shape, j == k, beam.length) for j, k in pairs]
        monomials += pairs
    return tuple(monomials), fields


def axis_fields(given: ShapedBeam) -> list[tuple[Curve, Curve, Curve]]:
    """The displacement of the beam's axis by every field: components along x, y and z."""
    return [f.centre for f in _fields(given.beam, given.modes)[1]]


def _centreline(length: Number, fields: Sequence[_Field]) -> Centreline:
    """The fields on the beam's axis, on one division."""
    curves = common(*(component for f in fields for component in f.centre[:2]))

    def coefficients(curve: Curve, piece: int) -> tuple[Scalar, ...]:
        own = curve.pieces[piece]
        return (0,) if own == NOTHING else tuple(to_scalar(c) for c in own)

    pieces = tuple(
        tuple((coefficients(curves[2 * n], i), coefficients(curves[2 * n + 1], i)) for n in range(len(fields)))
        for i in range(len(curves[0].pieces))
    )
    breaks, smooth = tuple(float(b) for b in curves[0].breaks), all(is_smooth(curve) for curve in curves)
    return Centreline(to_scalar(length), breaks, pieces, smooth)


def stiffness_matrix(beam: Beam, modes: Sequence[Mode]) -> Matrix:
    """Return int EI psi_j' psi_k' dx + int GA (phi_j' - psi_j)(phi_k' - psi_k) dx within each bending direction.

    Without shear psi is phi'. In torsion and extension: int GJ (EA) phi_j' phi_k' dx.
    """
    entries: list[list[Scalar]] = [[0] * len(modes) for _ in modes]
    for direction in DIRECTIONS:
        chosen = [i for i, mode in enumerate(modes) if mode.direction == direction]
        bends = direction in ("y", "z")
        shapes = [modes[i].rotation(beam.length) if bends else modes[i].shape for i in chosen]
        parts = [(beam.stiffness.get(direction, ZERO), [_derivative(shape, 1, beam.length) for shape in shapes])]
        if direction in beam.shear:
            slopes = [_derivative(modes[i].shape, 1, beam.length) for i in chosen]
            sheared = [slope + psi.scaled(-1) for slope, psi in zip(slopes, shapes, strict=True)]
            parts.append((beam.shear[direction], sheared))
        total: dict[tuple[int, int], Number] = {}
        for weight, strains in parts:
            for key, value in gram(weight.scaled(beam.length), strains).items():
                total[key] = total.get(key, 0) + value
        for (a, b), value in total.items():
            entries[chosen[a]][chosen[b]] = to_scalar(value)
    return tuple(tuple(row) for row in entries)


def _inner_products(beam: Beam, fields: Sequence[_Field], start: Place | None) -> _Products:
    """Integrals over the body of component i of field a times component j of field b: by (a, b), then by (i, j)."""
    result: _Products = {}
    parts = (
        (beam.mass_per_length, [f.centre for f in fields]),
        (beam.inertia_z, [f.with_y for f in fields]),
        (beam.inertia_y, [f.with_z for f in fields]),
    )
    for weight, vectors in parts:
        labels = [(a, i) for a, v in enumerate(vectors) for i in range(3) if not _vanishes(v[i])]
        curves = [vectors[a][i] for a, i in labels]
        for part in _integrals(weight.scaled(beam.length), curves, start):
            for (p, q), value in part.items():
                (a, i), (b, j) = labels[p], labels[q]
                entries = result.setdefault((a, b), {})
                entries[i, j] = entries.get((i, j), 0) + value
    return result


def _integrals(weight: Curve, curves: Sequence[Curve], start: Place | None) -> list[dict[tuple[int, int], Number]]:
    """Of all products of two curves; beyond a place those over the rest of its piece, and over the pieces behind that."""
    if start is None:
        return [gram(weight, curves)]
    weight, *functions = common(weight, *curves)
    here = start.piece(weight)
    density, *shapes = (Curve.polynomial(curve.pieces[here]) for curve in (weight, *functions))
    behind = Curve(weight.breaks, (NOTHING,) * (here + 1) + weight.pieces[here + 1 :])
    return [gram(density.scaled(weight.widths[here]), shapes, start.within(weight, here)), gram(behind, functions)]


def _block(entries: dict[tuple[int, int], Number] | None) -> Matrix:
    if entries is None:
        return ZERO3
    return tuple(tuple(to_scalar(entries[i, j]) if (i, j) in entries else 0 for j in range(3)) for i in range(3))


def _field_products(inner: _Products, fields: int) -> tuple[tuple[Matrix, ...], ...]:
    """The blocks of the fields with each other: most of those of finite elements are zero."""
    rows = [[ZERO3] * fields for _ in range(fields)]
    for (a, b), entries in inner.items():
        if a >= 2 and b >= 2:
            rows[a - 2][b - 2] = _block(entries)
    return tuple(tuple(row) for row in rows)


def _mode_field(mode: Mode, beam: Beam) -> _Field:
    phi = mode.shape
    turn = mode.rotation(beam.length).scaled(-1) if beam.rotary_inertia else ZERO
    if mode.direction == "y":
        return _Field((ZERO, phi, ZERO), with_y=(turn, ZERO, ZERO))
    if mode.direction == "z":
        return _Field((ZERO, ZERO, phi), with_z=(turn, ZERO, ZERO))
    if mode.direction == "torsion":
        return _Field(with_y=(ZERO, ZERO, phi), with_z=(ZERO, phi.scaled(-1), ZERO))
    return _Field((phi, ZERO, ZERO))


def _shortening(first: Curve, second: Curve, same: bool, length: Number) -> _Field:
    """-int_0^x phi_j' phi_k' dx, the axial displacement of an inextensible beam per x_j x_k; half for j = k."""
    slopes = _derivative(first, 1, length) * _derivative(second, 1, length)
    return _Field((slopes.integral_from_start().scaled(-length / (2 if same else Fraction(1))), ZERO, ZERO))


def _bend_together(one: Mode, other: Mode) -> bool:
    return one.direction == other.direction and one.direction in ("y", "z")


def turn(direction: Direction, value: Number, slope: Number) -> tuple[Scalar, Scalar, Scalar]:
    """Rotation of a section by a shape's value and slope: e_x x e_direction phi' in bending, phi e_x in torsion (000 (65))."""
    if direction == "torsion":
        return (to_scalar(value), 0, 0)
    if direction == "y":
        return (0, 0, to_scalar(slope))
    return (0, to_scalar(-slope), 0) if direction == "z" else (0, 0, 0)


def _derivative(shape: Curve, order: int, length: Number) -> Curve:
    """The derivative with respect to x = L s."""
    for _ in range(order):
        shape = shape.derivative()
    return shape.scaled(1 / length**order)


def _vanishes(curve: Curve) -> bool:
    return all(is_zero(c) for piece in curve.pieces for c in piece)


def _vector(row: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    return (row[0], row[1], row[2])
