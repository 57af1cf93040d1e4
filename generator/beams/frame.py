"""Beams along any axis, a polygon or a smooth curve, with the full 6 x 6 stiffness of their sections.

An element that is loaded at its ends only deforms as its section loads say, which statics knows: these shapes make the static
stiffness exact on straight and on curved elements alike, with shear, torsion and offsets of the sections' centres, and nothing
locks. Inner shapes are added, so that frequencies converge with a high order. Section loads are N, Q_y, Q_z, M_x, M_y, M_z in
the axes of the section, x along the axis; strains in the same order: stretch, shear in y and z, twist, bending about y and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elastogen.generator.beams.natural_frequencies import clamped_modes

Array = npt.NDArray[np.float64]
POINTS = 14  # of Gauss, in every element
INNER = 4  # inner shapes of every displacement and rotation of an element
PARALLEL = 1e-3  # sine of the angle between the axis and the direction that must not lie along it


@dataclass(frozen=True)
class Section:
    """What a section resists, and its mass, about the axis and in the axes of the section."""

    stiffness: Array  # 6 x 6: N and N m by strains
    mass: float  # [kg/m]
    centre: Array  # of mass: y, z [m]
    inertia: Array  # int y^2, int z^2 about that centre, per length [kg m]

    @property
    def moments(self) -> Array:
        """Integrals of products of 1, y, z over the section, per length."""
        y, z = self.centre
        first = np.array([1.0, y, z])
        found: Array = self.mass * np.outer(first, first)
        found[1, 1] += self.inertia[0]
        found[2, 2] += self.inertia[1]
        return found


def section_stiffness(stiffnesses: Sequence[float], tension: Sequence[float], shear: Sequence[float]) -> Array:
    """6 x 6 of EA, GA_y, GA_z, GJ, EI_y, EI_z with the centres of tension and of shear at (y, z) [m]."""
    rows = np.eye(6)
    rows[0, 4:] = tension[1], -tension[0]
    rows[1, 3], rows[2, 3] = -shear[1], shear[0]
    found: Array = rows.T @ np.diag(stiffnesses) @ rows
    return found


@dataclass(frozen=True)
class Axis:
    """A line through points: pieces r(t), t from 0 to 1, of coefficients in t (constant first), (pieces, 4, 3)."""

    pieces: Array
    across: Array  # a direction in the link frame; the sections' z is as near to it as can be

    @staticmethod
    def of(points: Array, smooth: bool, across: Array) -> Axis:
        """Straight from point to point, or the natural cubic spline over the lengths of the chords."""
        count = len(points) - 1
        pieces = np.zeros((count, 4, 3))
        pieces[:, 0], pieces[:, 1] = points[:-1], np.diff(points, axis=0)
        if smooth and count > 1:
            h = np.linalg.norm(pieces[:, 1], axis=1)
            bent = np.zeros((count + 1, 3))
            A = np.diag(2 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
            bent[1:-1] = np.linalg.solve(A, 6 * np.diff(pieces[:, 1] / h[:, None], axis=0))
            square = (h**2)[:, None] / 6
            pieces[:, 1] -= square * (2 * bent[:-1] + bent[1:])
            pieces[:, 2] = 3 * square * bent[:-1]
            pieces[:, 3] = square * (bent[1:] - bent[:-1])
        return Axis(pieces, across)

    def at(self, piece: int, t: Array) -> tuple[Array, Array, Array]:
        """Places [m], slopes dr/dt, and axes of the sections (columns) at places t of a piece."""
        c = self.pieces[piece]
        t = t[:, None]
        r = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
        slope = c[1] + t * (2 * c[2] + 3 * t * c[3])
        x = _unit(slope)
        y = _unit(np.cross(self.across, x))
        return r, slope, np.stack([x, y, np.cross(x, y)], axis=2)

    def nearest(self) -> tuple[float, int]:
        """The smallest sine of the angle between the axis and ``across``, and the piece where it is."""
        t = np.linspace(0, 1, 9)
        across = self.across / np.linalg.norm(self.across)
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes = [_unit(self.at(k, t)[1]) for k in range(len(self.pieces))]
        sines = [float(np.nan_to_num(np.linalg.norm(np.cross(slope, across), axis=1)).min()) for slope in slopes]
        return min(sines), int(np.argmin(sines))


def _unit(rows: Array) -> Array:
    found: Array = rows / np.linalg.norm(rows, axis=1)[:, None]
    return found


class _Element:
    """A part of a piece of the axis: shapes by the six motions of its ends and by inner ones, at Gauss points."""

    def __init__(self, axis: Axis, piece: int, start: float, end: float, section: Section) -> None:
        points, weights = np.polynomial.legendre.leggauss(POINTS)
        u, width = (points + 1) / 2, end - start
        self.r, slope, self.R = axis.at(piece, start + width * u)
        slope = slope * width
        length = np.linalg.norm(slope, axis=1)
        self.weights: Array = weights / 2 * length  # of the length
        ends = axis.at(piece, np.array([start, end]))[0]
        turns, shifts = self._loaded(ends, slope, length, section, u)
        flexibility = np.vstack([shifts[-1], turns[-1]])
        rigid = [_rigid(place - ends[0]) for place in (*self.r, ends[1])]
        from_ends = np.linalg.solve(flexibility, np.hstack([-rigid[-1], np.eye(6)]))  # loads of the right end
        inner = 6 * INNER
        self.motions = np.zeros((POINTS, 6, 12 + inner))  # displacement and rotation
        self.strains = np.zeros((POINTS, 6, 12 + inner))
        for g in range(POINTS):
            self.motions[g, :, :12] = np.vstack([shifts[g], turns[g]]) @ from_ends
            self.motions[g, :, :6] += rigid[g]
            self.strains[g, :, :12] = self.loaded[g] @ from_ends
        for k in range(INNER):
            polynomial = np.polynomial.Legendre.basis(k, [0, 1]).convert(kind=np.polynomial.Polynomial)
            bubble = np.polynomial.Polynomial([0, 1, -1]) * polynomial
            value, rate = bubble(u), bubble.deriv()(u) / length
            for i in range(6):
                self.motions[:, i, 12 + 6 * k + i] = value
                unit = np.eye(3)[i % 3]
                if i < 3:
                    self.strains[:, :3, 12 + 6 * k + i] = rate[:, None] * self.R[:, i % 3]
                else:
                    self.strains[:, 3:, 12 + 6 * k + i] = rate[:, None] * self.R[:, i % 3]
                    sheared = -value[:, None] * np.cross(unit, self.R[:, :, 0])
                    self.strains[:, :3, 12 + 6 * k + i] = np.einsum("gab,ga->gb", self.R, sheared)

    def _loaded(self, ends: Array, slope: Array, length: Array, section: Section, u: Array) -> tuple[Array, Array]:
        """Turns and shifts by a unit force and moment on the right end, at the Gauss points and there; the left is held."""
        compliance = np.linalg.inv(section.stiffness)
        loads = np.zeros((POINTS, 6, 6))  # in the axes of the section
        for g in range(POINTS):
            rotated = self.R[g].T
            loads[g, :3, :3], loads[g, 3:, 3:] = rotated, rotated
            loads[g, 3:, :3] = rotated @ _cross(ends[1] - self.r[g])
        self.loaded: Array = compliance @ loads  # strains
        sums = _sums(u)
        turned = np.einsum("gab,gbc->gac", self.R, self.loaded[:, 3:]) * length[:, None, None]
        turns = np.einsum("pg,gac->pac", sums, turned)
        moved = np.einsum("gab,gbc->gac", self.R, self.loaded[:, :3]) * length[:, None, None]
        moved = moved - np.einsum("gab,gbc->gac", np.array([_cross(row) for row in slope]), turns[:POINTS])
        return turns, np.einsum("pg,gac->pac", sums, moved)


def _sums(u: Array) -> Array:
    """Integrals from 0 to each Gauss point, and to 1, of what is known at the Gauss points: exact for their polynomials."""
    ends = np.append(u, 1.0)
    basis = [np.polynomial.Legendre.basis(k, [0, 1]) for k in range(len(u))]
    values = np.array([f(u) for f in basis]).T
    integrals = np.array([f.integ(lbnd=0)(ends) for f in basis]).T
    found: Array = np.linalg.solve(values.T, integrals.T).T
    return found


def _cross(v: Array) -> Array:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _rigid(offset: Array) -> Array:
    """How a point moves and rotates with a rigid body whose origin does."""
    found = np.eye(6)
    found[:3, 3:] = -_cross(offset)
    return found


@dataclass(frozen=True)
class Frame:
    """A beam along an axis, clamped at its first point, each piece in equal elements."""

    axis: Axis
    section: Section
    each: int  # elements of a piece

    @cached_property
    def elements(self) -> list[_Element]:
        """From the clamp to the tip."""
        n = self.each
        return [
            _Element(self.axis, piece, k / n, (k + 1) / n, self.section)
            for piece in range(len(self.axis.pieces))
            for k in range(n)
        ]

    def _places(self, element: int) -> list[int]:
        """Where the coordinates of an element are: six of every node behind the clamp, then the inner ones; -1 is clamped."""
        count, inner = len(self.elements), 6 * INNER
        nodes = [6 * (element - 1) + i if element else -1 for i in range(6)] + [6 * element + i for i in range(6)]
        return nodes + [6 * count + inner * element + i for i in range(inner)]

    def modes(self, count: int, tip: Array) -> tuple[Array, Array]:
        """The lowest frequencies [rad/s] and vectors of the clamped frame with a 6 x 6 inertia on its tip."""
        size = len(self.elements) * 6 * (1 + INNER)
        mass, stiffness = np.zeros((size, size)), np.zeros((size, size))
        moments = self.section.moments
        for number, element in enumerate(self.elements):
            own = _affine(element)
            weights = element.weights
            m = np.einsum("g,gain,ab,gbim->nm", weights, own, moments, own, optimize=True)
            k = np.einsum("g,gan,ab,gbm->nm", weights, element.strains, self.section.stiffness, element.strains, optimize=True)
            places = self._places(number)
            kept = [i for i, place in enumerate(places) if place >= 0]
            at = np.ix_(*2 * [[places[i] for i in kept]])
            mass[at] += m[np.ix_(kept, kept)]
            stiffness[at] += k[np.ix_(kept, kept)]
        last = slice(6 * len(self.elements) - 6, 6 * len(self.elements))
        mass[last, last] += tip
        frequencies, vectors = clamped_modes(mass, (stiffness + stiffness.T) / 2)
        return frequencies[:count], vectors[:, :count]

    def node(self, piece: int) -> Array:
        """(6, coordinates): displacement and rotation of the end of a piece."""
        first = 6 * (self.each * (piece + 1) - 1)
        found = np.zeros((6, len(self.elements) * 6 * (1 + INNER)))
        found[:, first : first + 6] = np.eye(6)
        return found

    def _own(self, vectors: Array, number: int) -> Array:
        padded = np.vstack([vectors, np.zeros((1, vectors.shape[1]))])
        found: Array = padded[self._places(number)]
        return found

    def carried(self, vectors: Array) -> tuple[Array, Array, Array]:
        """Points that carry the mass: places (n, 3), displacements (n, 3, modes), and a mass matrix (n, n).

        Three points of every section, on the axis and one metre along y and z, stand for it: displacements are affine there.
        """
        nodes, moved, blocks = [], [], []
        to_points = np.array([[1.0, -1, -1], [0, 1, 0], [0, 0, 1]])
        block = to_points @ self.section.moments @ to_points.T
        for number, element in enumerate(self.elements):
            shapes = np.einsum("gain,nm->gaim", _affine(element), self._own(vectors, number))
            shapes[:, 1:] += shapes[:, :1]
            places = np.repeat(element.r[:, None], 3, axis=1)
            places[:, 1:] += element.R[:, :, 1:].transpose(0, 2, 1)
            nodes.append(places.reshape(-1, 3))
            moved.append(shapes.reshape(-1, 3, vectors.shape[1]))
            blocks += [weight * block for weight in element.weights]
        mass = np.zeros((3 * len(blocks), 3 * len(blocks)))
        for k, each in enumerate(blocks):
            mass[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = each
        return np.concatenate(nodes), np.concatenate(moved), mass


def _affine(element: _Element) -> Array:
    """(points, 3, 3, shapes): b = c + y d + z e of every shape: parts c, d, e, then their components."""
    shifts, turns = element.motions[:, :3], element.motions[:, 3:]
    found = [shifts]
    for k in (1, 2):
        found.append(np.array([-_cross(element.R[g][:, k]) @ turns[g] for g in range(POINTS)]))
    return np.stack(found, axis=1)
