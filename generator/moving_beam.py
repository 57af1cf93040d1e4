"""A beam that slides through its joint with the clamp at the joint itself: the smooth form of P_b (seed 003, 4.3).

Of a beam of length l the part d is outside of the joint; the rest, behind it, is straight. The part outside is divided into n
elements of length d / n. With x along the link and eta = 1 - (l - x) / d, a point is displaced by

    w = sum_j c_j n_j(eta)  across,      c_j = d^p_j u_j, p_j = 0 for a nodal deflection, 1 for a nodal slope,
    s = -1/(2 d) int_0^eta (dw/deta)^2 deta  along x, where the beam has foreshortening (inextensible to second order).

A material point (x fixed) sees eta change with d: d eta/dt = (1 - eta) d'/d. So the time derivative of a function f(eta, t)
at the point is f_t + (d'/d) A f with A f = (1 - eta) f_eta, to any order. All these functions are polynomials on every element
(A keeps their degree), and mass integrals are sums over the coefficients, times mu d: see element_polynomials.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from math import comb
from typing import TypeAlias

from elastogen.generator import dense_matrices as dense
from elastogen.generator.differentiate import time_derivative
from elastogen.generator.elastic_body import DeformedBody, ElasticBody, Motion, moment_of, rigid_energy, undeformed_inertia
from elastogen.generator.element_polynomials import ElementPolynomials, Spread
from elastogen.generator.finite_elements import element_modes
from elastogen.generator.graph import Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.lowering import Lowering
from elastogen.generator.piecewise import Curve, gram
from elastogen.generator.robot import FlexibleBody
from elastogen.generator.vectors import Mat, Symmetric, Vec

Field: TypeAlias = "tuple[Spread, Spread]"
"""Components along x and along y of what points of the part outside have: a displacement, an acceleration, a force."""
Banded: TypeAlias = "tuple[tuple[tuple[int, float], ...], ...]"
"""A symmetric matrix of numbers: per row the columns that are not zero."""


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


@dataclass(frozen=True)
class MovingBeam(ElasticBody):
    """The beam in its link frame, which the joint moves; its coordinates are d and the nodal ones."""

    length: Value
    mass_per_length: Value
    EI: Value
    elements: int
    foreshortening: bool
    damping: tuple[tuple[int, Mat], ...]  # exponents e and matrices D_e: see robot.Telescope

    @staticmethod
    def lowered(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> MovingBeam:
        """From the description of a beam on a telescopic joint; the first coordinate is the joint's."""
        beam = body.telescope
        assert beam is not None
        return MovingBeam(
            coordinates,
            undeformed_inertia(lower, body),
            lower.value(beam.length),
            lower.value(beam.mass_per_length),
            lower.value(beam.EI),
            beam.elements,
            beam.foreshortening,
            tuple((e, [[lower.value(entry) for entry in row] for row in matrix]) for e, matrix in beam.damping),
        )

    def deformed(self, x: Sequence[Value]) -> MovingState:
        """The beam at (d, u)."""
        return MovingState(self, tuple(x))

    @property
    def has_constant_coefficients(self) -> bool:
        """No: both depend on d."""
        return False

    def elastic_energy(self, x: Sequence[Value]) -> Value:
        """1/2 int EI w''^2 dx = EI / (2 d^3) c^T K c (003 (16))."""
        state = self.deformed(x)
        return self.EI * 0.5 * state.strain / (state.d * state.d * state.d)

    def elastic_forces(self, x: Sequence[Value]) -> list[Value]:
        """Derivatives of the energy by d and the nodal coordinates."""
        state = self.deformed(x)
        cubed = self.EI / (state.d * state.d * state.d)
        total = -1.5 * state.strain
        for c, value in zip(state.c[1::2], state.strains[1::2], strict=True):
            total = total + c * value
        by_u = [cubed * power * value for power, value in zip(state.powers, state.strains, strict=True)]
        return [cubed / state.d * total, *by_u]

    def elastic_matrix(self, x: Sequence[Value]) -> Mat:
        """K(d) with 1/2 q^T K q the energy; the row and column of d are zero."""
        state = self.deformed(x)
        cubed = self.EI / (state.d * state.d * state.d)
        K = super().elastic_matrix(x)
        for i, row in enumerate(unit_matrices(self.elements)[1]):
            for j, number in row:
                K[1 + i][1 + j] = cubed * number * (state.powers[i] * state.powers[j])
        return K

    def damping_matrix(self, x: Sequence[Value]) -> Mat:
        """sum_e d^(e + p_i + p_j) D_e; the row and column of d are zero."""
        state = self.deformed(x)
        D = super().damping_matrix(x)
        for exponent, matrix in self.damping:
            factor = _power(state.d, exponent)
            for i, row in enumerate(matrix):
                for j, entry in enumerate(row):
                    D[1 + i][1 + j] = D[1 + i][1 + j] + factor * (state.powers[i] * state.powers[j]) * entry
        return D

    def damping_forces(self, x: Sequence[Value], xd: Sequence[Value]) -> list[Value]:
        """That matrix times the rates: each D_e with the rates d^p_j u_j'."""
        state = self.deformed(x)
        rates = [power * rate for power, rate in zip(state.powers, xd[1:], strict=True)]
        forces = super().damping_forces(x, xd)
        for exponent, matrix in self.damping:
            factor = _power(state.d, exponent)
            for i, row in enumerate(matrix):
                total = self.graph.value(0)
                for entry, rate in zip(row, rates, strict=True):
                    total = total + entry * rate
                forces[1 + i] = forces[1 + i] + factor * state.powers[i] * total
        return forces


class MovingState(DeformedBody):
    """The beam in a deformed state."""

    def __init__(self, body: MovingBeam, x: tuple[Value, ...]) -> None:
        self.beam, self.graph = body, body.graph
        self.d, self.u = x[0], x[1:]
        self.space = ElementPolynomials(self.graph, body.elements)
        self.powers = [self.d if j % 2 else self.graph.value(1) for j in range(len(self.u))]
        self.c = [power * u for power, u in zip(self.powers, self.u, strict=True)]
        self.w = self.space.interpolated(self.c)

    def _shortened(self, f: Spread, g: Spread) -> Spread:
        """-int_0^eta f_eta g_eta deta, or nothing without foreshortening."""
        if not self.beam.foreshortening:
            return self.space.nothing
        return self.space.scaled(self.space.slope_products(f, g), -1.0)

    @cached_property
    def s(self) -> Spread:
        """The displacement along x."""
        return self.space.scaled(self._shortened(self.w, self.w), 0.5 / self.d)

    @cached_property
    def ahead(self) -> Field:
        """A s and A w."""
        return self.space.ahead(self.s), self.space.ahead(self.w)

    # ---- derivatives by time

    def _rates(self, xd: Sequence[Value]) -> Field:
        """s_t and w_t, eta fixed; d s_t + d' s = -int w_eta w_t,eta."""
        speed, space = xd[0], self.space
        c = [power * rate for power, rate in zip(self.powers, xd[1:], strict=True)]
        c = [value + speed * u if j % 2 else value for j, (value, u) in enumerate(zip(c, self.u, strict=True))]
        w = space.interpolated(c)
        along = space.sum(self._shortened(self.w, w), space.scaled(self.s, -speed))
        return space.scaled(along, 1 / self.d), w

    def _second_rates(self, xd: Sequence[Value], xdd: Sequence[Value]) -> Field:
        """s_tt and w_tt, eta fixed; d s_tt + 2 d' s_t + d'' s = -int (w_t,eta^2 + w_eta w_tt,eta)."""
        space = self.space
        c = []
        for j, (power, u, rate, acceleration) in enumerate(zip(self.powers, self.u, xd[1:], xdd[1:], strict=True)):
            value = power * acceleration
            c.append(value + 2 * xd[0] * rate + xdd[0] * u if j % 2 else value)
        w, (s_rate, w_rate) = space.interpolated(c), self._rates(xd)
        along = space.sum(
            self._shortened(w_rate, w_rate),
            self._shortened(self.w, w),
            space.scaled(s_rate, -2 * xd[0]),
            space.scaled(self.s, -xdd[0]),
        )
        return space.scaled(along, 1 / self.d), w

    def velocity(self, xd: Sequence[Value]) -> Field:
        """Velocity of the points in the link frame: f_t + (d'/d) A f."""
        share, rates = xd[0] / self.d, self._rates(xd)
        x, y = (self.space.sum(f, self.space.scaled(A, share)) for f, A in zip(rates, self.ahead, strict=True))
        return x, y

    def acceleration(self, xd: Sequence[Value], xdd: Sequence[Value]) -> Field:
        """With all convective terms: f_tt + A (2 (d'/d) f_t + (d''/d) f + (d'/d)^2 (A f - f))."""
        space, share = self.space, xd[0] / self.d
        result = []
        for f, A, rate, second in zip(
            (self.s, self.w), self.ahead, self._rates(xd), self._second_rates(xd, xdd), strict=True
        ):
            carried = space.sum(A, space.scaled(f, -1.0))
            convective = space.sum(
                space.scaled(rate, 2 * share), space.scaled(f, xdd[0] / self.d), space.scaled(carried, share * share)
            )
            result.append(space.sum(second, space.ahead(convective)))
        return result[0], result[1]

    def _derivatives(self, motion: Motion, order: int) -> list[Field]:
        """Displacement, velocity, ... of the points in the link frame up to any order."""
        space, chain = self.space, list(pairwise(motion))
        share = motion[1][self.beam.coordinates[0]] / self.d
        found: list[Field] = [(self.s, self.w)]
        for _ in range(order):
            x, y = (self._next(f, chain, share, space) for f in found[-1])
            found.append((x, y))
        return found

    def _next(
        self, f: Spread, chain: list[tuple[Sequence[Value], Sequence[Value]]], share: Value, space: ElementPolynomials
    ) -> Spread:
        rates = iter(time_derivative(self.graph, [weight for line in f for weight in line], chain))
        return space.sum([[next(rates) for _ in line] for line in f], space.scaled(space.ahead(f), share))

    # ---- integrals over the mass

    @cached_property
    def _scale(self) -> Value:
        return self.beam.mass_per_length * self.d

    @cached_property
    def _behind(self) -> Value:
        return self.beam.length - self.d

    def _pair(self, f: Spread, g: Spread) -> Value:
        return self._scale * self.space.inner(f, g)

    def _along(self, f: Spread) -> Value:
        """int x f dm, with x = l - d + eta d."""
        return self._scale * (self._behind * self.space.mean(f) + self.d * self.space.moment(f))

    def _moments(self, f: Field) -> tuple[Vec, Mat]:
        """int f dm and int f r_e^T dm."""
        zero, (x, y) = self.graph.value(0), f
        total = [self._scale * self.space.mean(x), self._scale * self.space.mean(y), zero]
        rows = [[self._along(part) + self._pair(part, self.s), self._pair(part, self.w), zero] for part in (x, y)]
        return total, [*rows, [zero] * 3]

    def _on_nodes(self, force: Field) -> list[Value]:
        """int dr_e/dc_j . f deta, eta fixed: int n_j f_y - (1/d) int (int_0^eta w_eta n_j') f_x.

        Without foreshortening nothing moves along x.
        """
        space, (x, y) = self.space, force
        if not self.beam.foreshortening:
            return space.projected(y)
        return space.projected(space.sum(y, space.scaled(space.by_slope_products(self.w, x), -1 / self.d)))

    def _pulled(self, force: Field) -> list[Value]:
        """int dr_e/dx_j . f dm for d, which moves c_j by p_j c_j / d, s by -s / d and points by A / d, and for u_j."""
        space, (x, y), (ahead_s, ahead_w) = self.space, force, self.ahead
        by_c = self._on_nodes(force)
        total = space.inner(ahead_w, y) + space.inner(space.sum(ahead_s, space.scaled(self.s, -1.0)), x)
        for c, value in zip(self.c[1::2], by_c[1::2], strict=True):
            total = total + c * value
        by_u = [self._scale * power * value for power, value in zip(self.powers, by_c, strict=True)]
        return [self.beam.mass_per_length * total, *by_u]

    @cached_property
    def _by_d(self) -> Field:
        """d times the derivative by d of the displacements of points."""
        return self.velocity([self.d, *[self.graph.value(0)] * len(self.u)])

    # ---- stiffness

    @cached_property
    def _bending(self) -> Spread:
        """The function B with int B g deta = int w'' g'' deta for every cubic g; on an element w'' is 12 f_2 P_0 + 60 f_3 P_1."""
        zero, n = self.graph.value(0), self.beam.elements
        return [[zero, zero, 720 * n**4 * line[2], 8400 * n**4 * line[3]] for line in self.w]

    @cached_property
    def strains(self) -> list[Value]:
        """K c of the stiffness integrals."""
        return self.space.projected(self._bending)

    @cached_property
    def strain(self) -> Value:
        """c^T K c."""
        return self.space.inner(self._bending, self.w)

    # ---- what the recursions ask for

    @cached_property
    def inertia(self) -> Inertia:
        """The straight beam, and the moments of the displacement."""
        rigid, zero = self.beam.rigid, self.graph.value(0)
        S, W = self._moments((self.s, self.w))
        xx = rigid.P.xx + W[0][0] + self._along(self.s)
        P = [[xx, W[1][0], zero], [zero, W[1][1], zero], [zero, zero, zero]]
        return Inertia(rigid.m, [rigid.S[0] + S[0], S[1], zero], Symmetric.of(P))

    def rate_moments(self, xd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int dr_e dm and int dr_e r_e^T dm."""
        return self._moments(self.velocity(xd))

    def acceleration_moments(self, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int ddr_e dm and int ddr_e r_e^T dm."""
        return self._moments(self.acceleration(xd, xdd))

    def rate_energy(self, xd: Sequence[Value]) -> Value:
        """1/2 int dr_e.dr_e dm."""
        x, y = self.velocity(xd)
        return (self._pair(x, x) + self._pair(y, y)) * 0.5

    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """int dr_e/dx_j . (a + U r_e + 2 omega x dr_e + ddr_e) dm."""
        space, twist = self.space, 2 * omega[2]
        velocity, relative = self.velocity(xd), self.acceleration(xd, xdd)
        force = []
        for i, (across, turn) in enumerate(((velocity[1], -twist), (velocity[0], twist))):
            frozen = space.line(a[i] + U[i][0] * self._behind, U[i][0] * self.d)
            shifted = space.sum(space.scaled(self.s, U[i][0]), space.scaled(self.w, U[i][1]))
            force.append(space.sum(frozen, shifted, space.scaled(across, turn), relative[i]))
        return self._pulled((force[0], force[1]))

    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Force and moment of a unit acceleration along every coordinate; for u_j by unit forces and moments on the body."""
        zero, one, space = self.graph.value(0), self.graph.value(1), self.space
        total, W = self._moments(self._by_d)
        share = 1 / self.d
        result = [([share * value for value in total], [share * value for value in moment_of(W)])]
        everywhere = [[one] for _ in range(self.beam.elements)]
        columns = [
            self._on_nodes(force)
            for force in (
                (everywhere, space.nothing),
                (space.nothing, everywhere),
                (space.nothing, space.line(zero, one)),
                (space.scaled(self.w, -1.0), self.s),
            )
        ]
        for power, along, across, lever, turn in zip(self.powers, *columns, strict=True):
            factor = self._scale * power
            moment = factor * (self._behind * across + self.d * lever + turn)
            result.append(([factor * along, factor * across, zero], [zero, zero, moment]))
        return result

    def mass_block(self) -> Mat:
        """int dr_e/dx_j . dr_e/dx_k dm; the part of the nodal coordinates across is a matrix of numbers times powers of d."""
        zero, one, space, (x, y) = self.graph.value(0), self.graph.value(1), self.space, self._by_d
        mu, size = self.beam.mass_per_length, 1 + len(self.u)
        block = [[zero] * size for _ in range(size)]
        block[0][0] = mu / self.d * (space.inner(x, x) + space.inner(y, y))
        for j, (power, value) in enumerate(zip(self.powers, self._on_nodes((x, y)), strict=True)):
            block[0][1 + j] = block[1 + j][0] = mu * power * value
        units = [[one if k == j else zero for k in range(size - 1)] for j in range(size - 1)]
        along = [space.scaled(self._shortened(self.w, space.interpolated(unit)), 1 / self.d) for unit in units]
        for i, row in enumerate(unit_matrices(self.beam.elements)[0]):
            numbers = dict(row)
            for j in range(i, size - 1):
                value = space.inner(along[i], along[j]) + numbers.get(j, 0.0)
                block[1 + i][1 + j] = block[1 + j][1 + i] = self._scale * (self.powers[i] * self.powers[j]) * value
        return block

    def _moved(self, motion: Motion, U: Sequence[Mat], a: Vec) -> tuple[list[Spread], list[Spread]]:
        """Per component, a + U_n r, and sum_i C(n, i) U_i f^(n-i) of the displacements f."""
        space, order = self.space, len(U) - 1
        fields = self._derivatives(motion, order)
        frozen, added = [], []
        for r in range(3):
            frozen.append(space.line(a[r] + U[order][r][0] * self._behind, U[order][r][0] * self.d))
            terms = [
                space.scaled(part, operator[r][k] * float(comb(order, i)))
                for i, operator in enumerate(U)
                for k, part in enumerate(fields[order - i])
            ]
            added.append(space.sum(*terms))
        return frozen, added

    def acceleration_energy(self, motion: Motion, U: Sequence[Mat], a: Vec) -> Value:
        """That of the straight beam, and what the displacements of the part outside add."""
        total = rigid_energy(self.beam.rigid, U[-1], a)
        for line, added in zip(*self._moved(motion, U, a), strict=True):
            total = total + self._pair(self.space.sum(line, self.space.scaled(added, 0.5)), added)
        return total

    def inertia_forces(self, motion: Motion, R: Sequence[Mat], X: Mat) -> tuple[Mat, list[Value]]:
        """The integrals for the acceleration of every point, in the base's components."""
        graph, space, zero = self.graph, self.space, self.graph.value(0)
        U = [*R[:-1], [row[:3] for row in X]]
        frozen, added = self._moved(motion, U, [row[3] for row in X])
        acceleration = [space.sum(line, part) for line, part in zip(frozen, added, strict=True)]
        W = dense.product(graph, X, dense.pseudo(self.beam.rigid))
        for r in range(3):
            shifted, across = self._pair(acceleration[r], self.s), self._pair(acceleration[r], self.w)
            own = [self._along(added[r]) + shifted, across, zero, self._scale * space.mean(added[r])]
            W[r] = [x + y for x, y in zip(W[r], own, strict=True)]
        x, y = (space.sum(*(space.scaled(acceleration[r], R[0][r][k]) for r in range(3))) for k in range(2))
        return W, self._pulled((x, y))


def _power(d: Value, exponent: int) -> Value:
    """d^exponent."""
    result = d.graph.value(1)
    for _ in range(abs(exponent)):
        result = result * d
    return result if exponent >= 0 else 1 / result
