"""Beams divided into equal finite elements, as curves: Hermite polynomials in bending, linear in torsion and extension.

Paper 003 divides its links into Euler-Bernoulli elements whose nodal deflections and slopes are the coordinates. The
nodal basis functions are clamped shapes like any other once the first node is removed (003, 4.3), so the standard data
follow from the integrals of :mod:`beam_integrals`; its element matrices (13) and (27) come out of them. Quintic elements have
the nodal curvatures as coordinates, too: curvatures are then continuous, and frequencies converge with order 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from elastogen.generator.beams import shear
from elastogen.generator.beams.integrals import Beam, Direction, Mode
from elastogen.generator.beams.natural_frequencies import Array, clamped_modes, numeric
from elastogen.generator.beams.piecewise import Breaks, Curve, Number, as_fraction, gram
from elastogen.generator.beams.shapes import SMALL_TIP
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Body, Parameter

MAX_ELEMENTS = 200
_GAUSS_POINTS = 12  # exact up to degree 23: cubic times cubic times a Taylor piece of a property

_ZERO: tuple[Number, ...] = (0,)
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Element:
    """Shape functions in t = x / l_e: of the left node's coordinates, then of the right node's.

    A coordinate is a derivative of the deflection, of the order of its place; its function is per l_e to that power.
    """

    left: tuple[tuple[Number, ...], ...]
    right: tuple[tuple[Number, ...], ...]
    names: tuple[str, ...]  # endings of the coordinates of a node
    clamped: int  # how many of a node's coordinates vanish at a clamp

    @property
    def each(self) -> int:
        """Coordinates per node."""
        return len(self.left)


LINEAR = Element(((1, -1),), ((0, 1),), ("",), 1)
CUBIC = Element(((1, 0, -3, 2), (0, 1, -2, 1)), ((0, 0, 3, -2), (0, 0, -1, 1)), ("", "_slope"), 2)  # paper 003 (errata)
QUINTIC = Element(
    ((1, 0, 0, -10, 15, -6), (0, 1, 0, -6, 8, -3), (0, 0, _HALF, -3 * _HALF, 3 * _HALF, -_HALF)),
    ((0, 0, 0, 10, -15, 6), (0, 0, 0, -4, 7, -3), (0, 0, 0, _HALF, -1, _HALF)),
    ("", "_slope", "_curvature"),
    2,
)


def element_of(direction: Direction, degree: int) -> Element:
    """The element of a direction; ``degree`` is that of bending, 3 or 5."""
    return LINEAR if direction not in ("y", "z") else CUBIC if degree == 3 else QUINTIC


Banded: TypeAlias = "tuple[tuple[tuple[int, float], ...], ...]"
"""A symmetric matrix of numbers: per row the columns that are not zero."""


def element_modes(
    elements: int,
    directions: Sequence[Direction],
    length: Number,
    *,
    degree: int = 3,
    clamped: bool = True,
    sheared: Mapping[Direction, Sequence[Number]] = MappingProxyType({}),
) -> list[Mode]:
    """Return the nodal shapes, node by node; node 0 is the proximal end, its coordinates that a clamp holds are left out.

    In bending y (z) a node has the coordinates ``y<node>``, ``y<node>_slope`` (dw/dx) and, for degree 5, ``y<node>_curvature``,
    in torsion ``torsion<node>``. Directions that shear, with Phi of their elements (shear.py), have the rotation
    ``y<node>_rotation`` of the sections in place of the slope.
    """
    element_length = length / Fraction(elements)
    modes: list[Mode] = []
    for node in range(elements + 1):
        for direction in directions:
            if direction in sheared:
                modes += shear.nodal_modes(direction, node, sheared[direction], length)
                continue
            element = element_of(direction, degree)
            for order in range(element.clamped if clamped and node == 0 else 0, element.each):
                shape = _nodal(elements, node, element.right[order], element.left[order])
                for _ in range(order):
                    shape = shape.scaled(element_length)
                modes.append(Mode(f"{direction}{node}{element.names[order]}", direction, shape, order))
    return modes


def _nodal(elements: int, node: int, before: tuple[Number, ...], after: tuple[Number, ...]) -> Curve:
    """The basis function of a node: ``before`` on the element left of it, ``after`` on the element right of it."""
    pieces = [_ZERO] * elements
    if node > 0:
        pieces[node - 1] = before
    if node < elements:
        pieces[node] = after
    return Curve(element_breaks(elements), tuple(pieces))


@cache
def element_breaks(elements: int) -> Breaks:
    """The nodes in s = x / L."""
    return tuple(Fraction(i, elements) for i in range(elements + 1))


@cache
def unit_matrices(elements: int) -> tuple[Banded, Banded]:
    """int n_i n_j deta and int n_i'' n_j'' deta for so many elements, exact up to the last rounding."""
    shapes = [mode.shape for mode in element_modes(elements, ("y",), Fraction(1))]
    one = Curve.polynomial((1,))
    found = []
    for curves in (shapes, [shape.derivative().derivative() for shape in shapes]):
        values = gram(one, curves)
        columns = range(len(shapes))
        found.append(tuple(tuple((j, float(values[i, j])) for j in columns if (i, j) in values) for i in columns))
    return found[0], found[1]


def full_matrix(banded: Banded) -> list[list[float]]:
    """A matrix with its zeros."""
    return [[dict(row).get(j, 0.0) for j in range(len(banded))] for row in banded]


@dataclass(frozen=True)
class _ClampedMode:
    frequency: float  # [rad/s]
    direction: Direction
    shape: Curve
    psi: Curve | None = None


def reduced_modes(
    beam: Beam,
    elements: int,
    directions: Sequence[Direction],
    count: int,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    degree: int = 3,
) -> list[Mode]:
    """Return the lowest clamped modes of the link with its tip body, each direction by itself, phi(L) = 1.

    They are computed at the nominal values of the parameters and are fixed shapes from then on.
    """
    counts: dict[str, int] = {}
    reduced = []
    for mode in _lowest(beam, elements, directions, count, tip_body, parameters, degree):
        counts[mode.direction] = counts.get(mode.direction, 0) + 1
        reduced.append(Mode(f"{mode.direction}{counts[mode.direction]}", mode.direction, mode.shape, psi=mode.psi))
    return reduced


def mesh_errors(
    beam: Beam,
    elements: int,
    directions: Sequence[Direction],
    count: int,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    degree: int = 3,
) -> list[float]:
    """Return the relative errors of the lowest clamped frequencies, against a mesh twice as fine.

    Hermite elements converge from above with order 4 in the element length, so the finer mesh has a sixteenth of the
    error (quintic ones: order 8; linear ones in torsion and extension: order 2, a quarter).
    """
    coarse = _lowest(beam, elements, directions, count, tip_body, parameters, degree)
    fine = _lowest(beam, 2 * elements, directions, count, tip_body, parameters, degree)
    return [abs(a.frequency / b.frequency - 1) for a, b in zip(coarse, fine, strict=True)]


def _lowest(
    beam: Beam,
    elements: int,
    directions: Sequence[Direction],
    count: int,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    degree: int,
) -> list[_ClampedMode]:
    """The lowest modes over all directions; the tip body's coupling between directions is left out."""
    found: list[_ClampedMode] = []
    at_nominal, length = nominal_beam(beam, parameters)
    for direction in directions:
        if direction in beam.shear:
            found += _lowest_sheared(at_nominal, elements, direction, count, _tip(direction, tip_body, parameters, 1.0))
            continue
        element = element_of(direction, degree)
        mass, stiffness = _matrices(at_nominal, length, elements, direction, element)
        tip = _tip(direction, tip_body, parameters, length)
        last = slice(len(mass) - element.each, len(mass) - element.each + len(tip))  # deflection and slope, or one rotation
        mass[last, last] += tip
        frequencies, vectors = clamped_modes(mass, stiffness)
        for k in range(min(count, len(frequencies))):
            shape = _shape(vectors[:, k].tolist(), elements, element)
            found.append(_ClampedMode(float(frequencies[k]), direction, shape))
    return sorted(found, key=lambda mode: mode.frequency)[:count]


def nominal_beam(beam: Beam, parameters: Mapping[str, Parameter]) -> tuple[Beam, float]:
    """The beam with its curves and its length at the nominal values of the parameters, and that length [m]."""
    values = {p.symbol: as_fraction(p.value) for p in parameters.values()}
    length = Curve.polynomial((beam.length,)).substituted(values).start
    curves = {name: getattr(beam, name).substituted(values) for name in ("mass_per_length", "inertia_y", "inertia_z")}
    stiffness, sheared = (
        {direction: curve.substituted(values) for direction, curve in given.items()} for given in (beam.stiffness, beam.shear)
    )
    return replace(beam, length=length, stiffness=stiffness, shear=sheared, **curves), float(length)


def _lowest_sheared(beam: Beam, elements: int, direction: Direction, count: int, tip: Array) -> list[_ClampedMode]:
    length = float(beam.length)
    phis = shear.shear_numbers(beam, direction, elements, beam.length)
    mass, stiffness = shear.matrices(beam, direction, phis, length)
    last = shear.tip_rows(phis)
    mass[last, last] += tip
    frequencies, vectors = clamped_modes(mass, stiffness)
    return [
        _ClampedMode(float(frequencies[k]), direction, *shear.curves_of(vectors[:, k], phis, length))
        for k in range(min(count, len(frequencies)))
    ]


def _matrices(beam: Beam, length: float, elements: int, direction: Direction, element: Element) -> tuple[Array, Array]:
    """Mass and stiffness matrices of one direction by Gauss quadrature in s = x / L; slopes are d/ds."""
    bends = direction in ("y", "z")
    weight = beam.inertia_y + beam.inertia_z if direction == "torsion" else beam.mass_per_length
    section = beam.inertia_z if direction == "y" else beam.inertia_y
    order = 2 if bends else 1
    mass = length * _assembled(weight, elements, element, 0)
    if beam.rotary_inertia and bends:
        mass += _assembled(section, elements, element, 1) / length
    stiffness = _assembled(beam.stiffness[direction], elements, element, order)
    return mass, stiffness / length ** (2 * order - 1)


def _tip(direction: Direction, tip_body: Body, parameters: Mapping[str, Parameter], unit: float) -> Array:
    """Mass of the tip body for the deflection and the rotation times ``unit`` of the tip, or for one of them."""
    bends = direction in ("y", "z")
    axis = np.eye(3)[{"y": 1, "z": 2}.get(direction, 0)]
    none = np.zeros(3)
    turn = np.cross(np.eye(3)[0], axis) / unit
    moves = np.array([axis, none]) if bends else np.array([none if direction == "torsion" else axis])
    turns = np.array([none, turn]) if bends else np.array([axis if direction == "torsion" else none])
    moves = moves + np.cross(turns, numeric((tip_body.com,), parameters)[0])
    inertia = turns @ numeric(tip_body.inertia, parameters) @ turns.T
    mass: Array = nominal(tip_body.mass, parameters) * moves @ moves.T + inertia
    return mass


def _assembled(weight: Curve, elements: int, element: Element, order: int) -> Array:
    """The integrals over s of weight times the products of the nodal functions' derivatives of that order."""
    refined = weight.refined(tuple(sorted({*weight.breaks, *element_breaks(elements)})))
    nodes, factors = np.polynomial.legendre.leggauss(_GAUSS_POINTS)
    local = [np.polynomial.Polynomial([float(c) for c in f]) for f in (*element.left, *element.right)]
    derived = [f.deriv(order) if order else f for f in local]
    each = element.each
    scales = np.array([float(elements) ** (order - k) for k in range(each)] * 2)
    total = np.zeros((each * (elements + 1), each * (elements + 1)))
    for left, width, piece in zip(refined.breaks, refined.widths, refined.pieces, strict=False):
        number = int(left * elements)
        u = (nodes + 1) / 2
        t = float(left * elements - number) + float(width * elements) * u
        shapes = scales[:, None] * np.array([f(t) for f in derived])
        at_points = np.polynomial.polynomial.polyval(u, [float(c) for c in piece])
        block = slice(each * number, each * (number + 2))
        total[block, block] += (shapes * (at_points * factors * float(width) / 2)) @ shapes.T
    return total[element.clamped :, element.clamped :]


def _shape(coordinates: list[float], elements: int, element: Element) -> Curve:
    """The curve of nodal values, with the value 1 at the tip, or the largest nodal value 1 if the tip hardly moves."""
    each = element.each
    nodal = np.array([*([0.0] * element.clamped), *coordinates]).reshape(elements + 1, each)
    size = max(nodal[:, 0], key=abs)
    size = nodal[-1, 0] if abs(nodal[-1, 0]) > SMALL_TIP * abs(size) else size
    nodal = nodal / size / float(elements) ** np.arange(each)
    functions = np.array([[float(c) for c in f] for f in (*element.left, *element.right)])
    pieces = np.hstack([nodal[:-1], nodal[1:]]) @ functions
    return Curve(element_breaks(elements), tuple(tuple(row) for row in pieces.tolist()))
