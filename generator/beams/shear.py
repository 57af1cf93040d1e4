"""Beams that shear (Timoshenko): elements whose static stiffness is exact, and exact eigenfunctions of uniform ones.

Sections rotate by psi and not by the slope w' of the axis; the difference is the shear w' - psi. With Phi = 12 EI/(GA h^2) the
deflection of an element of length h that is loaded at its ends only is cubic and its rotation quadratic, both known from the
four numbers at its ends. So elements of these shapes do not lock, however slender they are, and at Phi = 0 they are Hermite's.
Inertia along an element bends and shears it otherwise, so frequencies converge with order 2. Where modes are kept and nodes are
not, inner shapes are added, with which they converge with order 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import numpy.typing as npt

from elastogen.generator.beams.integrals import Beam, Direction, Mode
from elastogen.generator.beams.natural_frequencies import clamped_frequencies
from elastogen.generator.beams.piecewise import NOTHING, Curve, Number, as_fraction
from elastogen.generator.beams.shapes import DEGREE, DIGITS, SMALL_TIP

Array = npt.NDArray[np.float64]
Piece = tuple[Number, ...]
NAMES = ("", "_rotation")  # endings of the coordinates of a node
_GAUSS_POINTS = 12  # exact up to degree 23, as for elements that do not shear
_GUESS_ELEMENTS = 3  # for every wanted eigenfunction: a first guess of its frequency
_FAR = 1e-2  # relative: no guess is so far off
INNER = 3  # shapes of the deflection, and as many of the rotation, that vanish at the ends of an element


def shear_numbers(beam: Beam, direction: Direction, elements: int, length: Number) -> tuple[Number, ...]:
    """Phi = 12 EI/(GA h^2) of every element, with EI and GA in its middle; both curves and the length are numbers."""
    middles = [Fraction(2 * e + 1, 2 * elements) for e in range(elements)]
    h = length / Fraction(elements)
    found = []
    for s in middles:
        EI, GA = (_at(curve, s) for curve in (beam.stiffness[direction], beam.shear[direction]))
        found.append(12 * EI / (GA * h * h))
    return tuple(found)


def _at(curve: Curve, s: Fraction) -> Number:
    if len(curve.pieces) == 1 and len(curve.pieces[0]) == 1:
        return curve.start
    return as_fraction(curve.value(float(s)))


def element_shapes(phi: Number) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Deflections and rotations of an element of length 1 in t, by w and psi of its left end, then of its right end."""
    c = 1 / (1 + Fraction(phi)) if isinstance(phi, (int, Fraction)) else 1 / (1 + phi)
    half = phi / 2 if not isinstance(phi, int) else Fraction(phi, 2)
    moves = ((1 + phi, -phi, -3, 2), (0, 1 + half, -2 - half, 1), (0, phi, 3, -2), (0, -half, half - 1, 1))
    turns = ((0, -6, 6), (1 + phi, -4 - phi, 3), (0, 6, -6), (0, phi - 2, 3))
    return _times(moves, c), _times(turns, c)


def _times(pieces: Sequence[Piece], factor: Number) -> tuple[Piece, ...]:
    return tuple(tuple(factor * c for c in piece) for piece in pieces)


def nodal_modes(direction: Direction, node: int, phis: Sequence[Number], length: Number) -> list[Mode]:
    """The shapes of a node of elements with these Phi: its deflection, then its rotation. The clamped one has none."""
    elements = len(phis)
    h = length / Fraction(elements)
    breaks = tuple(Fraction(i, elements) for i in range(elements + 1))
    modes = []
    for order in range(2 if node else 0):
        moved, turned = [NOTHING] * elements, [NOTHING] * elements
        for e, place in ((node - 1, 2 + order), (node, order)):
            if e < elements:
                shapes = element_shapes(phis[e])
                moved[e], turned[e] = shapes[0][place], shapes[1][place]
        shape, turn = Curve(breaks, tuple(moved)), Curve(breaks, tuple(turned))
        name = f"{direction}{node}{NAMES[order]}"
        modes.append(
            Mode(name, direction, shape.scaled(h), 1, turn) if order else Mode(name, direction, shape, 0, turn.scaled(1 / h))
        )
    return modes


# ---- in numbers: the lowest modes


def matrices(beam: Beam, direction: Direction, phis: Sequence[Number], length: float) -> tuple[Array, Array]:
    """Mass and stiffness of one direction; the beam's curves are numbers.

    The coordinates are w and psi of the nodes behind the clamp, then the amplitudes of the inner shapes of every element.
    """
    elements = len(phis)
    nodal = 2 * (elements + 1)
    size = nodal + 2 * INNER * elements
    mass, stiffness = np.zeros((size, size)), np.zeros((size, size))
    section = beam.inertia_z if direction == "y" else beam.inertia_y
    none = Curve.polynomial((0,))
    properties = [
        beam.mass_per_length,
        section if beam.rotary_inertia else none,
        beam.stiffness[direction],
        beam.shear[direction],
    ]
    breaks = {Fraction(i, elements) for i in range(elements + 1)}.union(*(curve.breaks for curve in properties))
    refined = [curve.refined(tuple(sorted(breaks))) for curve in properties]
    points, factors = np.polynomial.legendre.leggauss(_GAUSS_POINTS)
    u, h = (points + 1) / 2, length / elements
    scale = _scale(h)[:, None]
    for i, (left, right) in enumerate(pairwise(refined[0].breaks)):
        e = min(int(left * elements), elements - 1)
        t = float(left * elements - e) + float((right - left) * elements) * u
        moves, turns = ([np.polynomial.Polynomial(row) for row in shapes] for shapes in _all_shapes(float(phis[e])))
        w, psi = (scale * np.array([f(t) for f in functions]) for functions in (moves, turns))
        slope, bent = (scale / h * np.array([f.deriv()(t) for f in functions]) for functions in (moves, turns))
        psi, bent = psi / h, bent / h
        mu, j, EI, GA = (np.polynomial.polynomial.polyval(u, [float(c) for c in curve.pieces[i]]) for curve in refined)
        dx = factors * float(right - left) * length / 2
        inner = nodal + 2 * INNER * e
        block = np.ix_(*2 * [[*range(2 * e, 2 * e + 4), *range(inner, inner + 2 * INNER)]])
        mass[block] += (w * (mu * dx)) @ w.T + (psi * (j * dx)) @ psi.T
        gamma = slope - psi
        stiffness[block] += (bent * (EI * dx)) @ bent.T + (gamma * (GA * dx)) @ gamma.T
    return mass[2:, 2:], stiffness[2:, 2:]


def _scale(h: float) -> Array:
    """From an element of length 1 to one of length h: deflections by w and psi of its ends, then by its inner shapes."""
    return np.array([1.0, h, 1.0, h, *[1.0] * INNER, *[h] * INNER])


def _all_shapes(phi: float) -> tuple[Array, Array]:
    """Deflections and rotations in t, coefficients in rows: those of the ends, then the inner ones t (1 - t) P_k(2 t - 1)."""
    size = INNER + 2
    found = []
    inner = [np.polynomial.Legendre.basis(k, [0, 1]).convert(kind=np.polynomial.Polynomial).coef for k in range(INNER)]
    bubbles = [np.convolve([0.0, 1.0, -1.0], row) for row in inner]
    for first, shapes in zip((4, 4 + INNER), element_shapes(phi), strict=True):
        rows = np.zeros((4 + 2 * INNER, size))
        for row, piece in zip(rows, shapes, strict=False):
            row[: len(piece)] = piece
        for row, bubble in zip(rows[first:], bubbles, strict=False):
            row[: len(bubble)] = bubble
        found.append(rows)
    return found[0], found[1]


def tip_rows(phis: Sequence[Number]) -> slice:
    """Where w and psi of the tip are among the coordinates of ``matrices``."""
    return slice(2 * len(phis) - 2, 2 * len(phis))


def curves_of(vector: Array, phis: Sequence[Number], length: float) -> tuple[Curve, Curve]:
    """Deflection and rotation of the coordinates of ``matrices``, with w(L) = 1, or the largest where the tip hardly moves."""
    elements = len(phis)
    h = length / elements
    values = np.vstack([np.zeros(2), vector[: 2 * elements].reshape(-1, 2)])
    inner = vector[2 * elements :].reshape(elements, 2 * INNER)
    size = max(values[:, 0], key=abs)
    size = values[-1, 0] if abs(values[-1, 0]) > SMALL_TIP * abs(size) else size
    breaks = tuple(Fraction(i, elements) for i in range(elements + 1))
    moved, turned = [], []
    for e, phi in enumerate(phis):
        moves, turns = _all_shapes(float(phi))
        amplitudes = np.concatenate([values[e], values[e + 1], inner[e]]) / size * _scale(h)
        moved.append(tuple((amplitudes @ moves).tolist()))
        turned.append(tuple((amplitudes @ turns / h).tolist()))
    return Curve(breaks, tuple(moved)), Curve(breaks, tuple(turned))


# ---- exact eigenfunctions


@dataclass(frozen=True)
class UniformBeam:
    """What the eigenfunctions of a uniform clamped beam depend on."""

    shear: float  # EI/(GA L^2)
    rotary: float  # inertia of the sections per length, by mu L^2; 0 where they do not resist rotating
    tip: float  # tip mass by mu L


def uniform(beam: Beam, direction: Direction, length: float, tip_mass: float) -> UniformBeam:
    """Of the means of a beam's properties, which are numbers."""

    def mean(curve: Curve) -> float:
        return float(curve.integral_from_start().end)

    mu = mean(beam.mass_per_length)
    j = mean(beam.inertia_z if direction == "y" else beam.inertia_y) if beam.rotary_inertia else 0.0
    EI, GA = mean(beam.stiffness[direction]), mean(beam.shear[direction])
    return UniformBeam(EI / (GA * length**2), j / (mu * length**2), tip_mass / (mu * length))


def eigenfunction(number: int, of: UniformBeam) -> tuple[Curve, Curve]:
    """The n-th deflection w and L psi of a uniform clamped beam, free or with a mass on its tip, w(L) = 1.

    y = (W, psi, psi', Q) obeys y' = A y in s = x/L, Q the shear force by EI/L^2; psi' = 0 and Q = tip lambda W at the tip,
    where lambda = mu w^2 L^4/EI. A first guess comes from elements.
    """
    guess = _guess(number, of)
    with mpmath.workdps(DIGITS + 10 + 2 * number):
        found = _root(mpmath.mpf(guess), of)
        _, start = _at_tip(found, of)
        A = _system(found, of)
        rate = max(abs(root) for root in mpmath.eig(A, left=False, right=False))
        count = max(1, 2 ** int(mpmath.ceil(mpmath.log(2 * rate, 2))))  # pieces of at most half a radian
        size = _largest(A, start)
        step, state, moved, turned = mpmath.expm(A / count), start / size, [], []
        for _ in range(count):
            terms: tuple[list[float], list[float]] = ([], [])
            derivative = state
            for k in range(DEGREE + 1):
                for place, rows in enumerate(terms):
                    rows.append(float(derivative[place]))
                derivative = A * derivative / (count * (k + 1))
            moved.append(tuple(terms[0]))
            turned.append(tuple(terms[1]))
            state = step * state
    breaks = tuple(Fraction(i, count) for i in range(count + 1))
    return Curve(breaks, tuple(moved)), Curve(breaks, tuple(turned))


def _root(guess: mpmath.mpf, of: UniformBeam) -> mpmath.mpf:
    """lambda next to a guess: in the smallest interval around it in which the determinant changes its sign.

    Raises ``ArithmeticError`` where there is none: two frequencies are as good as one.
    """
    apart = mpmath.mpf("1e-12")
    while apart < _FAR:
        ends = guess * (1 - apart), guess * (1 + apart)
        if _at_tip(ends[0], of)[0] * _at_tip(ends[1], of)[0] <= 0:
            tol = mpmath.mpf(10) ** -80
            return mpmath.findroot(lambda lam: _at_tip(lam, of)[0], ends, solver="anderson", tol=tol, verify=False)
        apart *= 4
    raise ArithmeticError("no frequency that stands alone")


def _system(lam: mpmath.mpf, of: UniformBeam) -> mpmath.matrix:
    g, r = mpmath.mpf(of.shear), mpmath.mpf(of.rotary)
    return mpmath.matrix([[0, 1, 0, g], [0, 0, 1, 0], [0, -lam * r, 0, -1], [-lam, 0, 0, 0]])


def _at_tip(lam: mpmath.mpf, of: UniformBeam) -> tuple[mpmath.mpf, mpmath.matrix]:
    """The determinant of what must vanish at the tip, and the state at the clamp that makes no moment there."""
    end = mpmath.expm(_system(lam, of))
    rows = [[end[2, c], end[3, c] - of.tip * lam * end[0, c]] for c in (2, 3)]
    scale = abs(rows[0][0]) + abs(rows[1][0])
    return (rows[0][0] * rows[1][1] - rows[1][0] * rows[0][1]) / scale**2, mpmath.matrix(
        [0, 0, rows[1][0], -rows[0][0]]
    ) / scale


def _largest(A: mpmath.matrix, start: mpmath.matrix) -> mpmath.mpf:
    """What the shape is divided by: its value at the tip, or the largest one where the tip hardly moves."""
    step, state, values = mpmath.expm(A / 100), start, []
    for _ in range(100):
        state = step * state
        values.append(state[0])
    size = max(values, key=abs)
    return values[-1] if abs(values[-1]) > SMALL_TIP * abs(size) else size


def _guess(number: int, of: UniformBeam) -> float:
    """lambda of elements: too high by less than 1e-5."""
    one = Curve.polynomial((1,))
    section, GA = Curve.polynomial((of.rotary,)), Curve.polynomial((1 / of.shear,))
    beam = Beam(1, one, {"y": one}, inertia_z=section, rotary_inertia=of.rotary > 0, shear={"y": GA})
    phis = shear_numbers(beam, "y", _GUESS_ELEMENTS * number, Fraction(1))
    mass, stiffness = matrices(beam, "y", phis, 1.0)
    tip = tip_rows(phis).start
    mass[tip, tip] += of.tip
    return float(clamped_frequencies(mass, stiffness)[number - 1]) ** 2
