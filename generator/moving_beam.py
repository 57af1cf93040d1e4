"""A beam that slides through its joint with the clamp at the joint itself: the smooth form of P_b (seed 003, 4.3).

Of a beam of length l the part d is outside of the joint; the rest, behind it, is straight. The part outside is divided into n
elements of length d / n. With x along the link and eta = 1 - (l - x) / d, the deflection is

    w = sum_j d^p_j n_j(eta) u_j,      p_j = 0 for a nodal deflection, 1 for a nodal slope (n_j includes the factor 1 / n).

A material point (x fixed) sees eta change with d: d eta/dd = (1 - eta) / d. So dw/dd = sum_j d^(p_j - 1) m_j u_j with
m_j = p_j n_j + (1 - eta) n_j', and d2w/dd2 = sum_j d^(p_j - 2) k_j u_j with k_j = (p_j - 1) m_j + (1 - eta) m_j'. All mass
integrals are constants, the integrals over eta of products of 1, eta, n, m and k, times powers of d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TypeAlias

from elastogen.generator.elastic_body import DeformedBody, ElasticBody
from elastogen.generator.finite_elements import element_modes
from elastogen.generator.graph import Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.lowering import Lowering
from elastogen.generator.piecewise import Curve, gram
from elastogen.generator.robot import FlexibleBody
from elastogen.generator.vectors import Mat, Symmetric, Vec, add, cross

Shape: TypeAlias = "Mapping[int, Value]"
"""A function across the beam: weights of n_0, n_1, ..., then m_0, ..., then k_0, ..."""

_ONE, _ETA, _REST = Curve.polynomial((1,)), Curve.polynomial((0, 1)), Curve.polynomial((1, -1))


@dataclass(frozen=True)
class Integrals:
    """Integrals over eta, for any beam of so many elements; rows list what is not zero."""

    ones: tuple[float, ...]  # of n, m, k
    etas: tuple[float, ...]  # of eta times n, m, k
    products: tuple[tuple[tuple[int, float], ...], ...]
    curvatures: tuple[tuple[tuple[int, float], ...], ...]  # of n_i'' n_j''


@cache
def integrals(elements: int) -> Integrals:
    """The integrals for so many elements, exact up to the last rounding."""
    shapes = [mode.shape for mode in element_modes(elements, ("y",), Fraction(1))]
    first = [_ahead(shape, j % 2) for j, shape in enumerate(shapes)]
    second = [_ahead(shape, j % 2 - 1) for j, shape in enumerate(first)]
    family = [*shapes, *first, *second]
    found = gram(_ONE, [_ONE, _ETA, *family])
    strains = gram(_ONE, [shape.derivative().derivative() for shape in shapes])
    count = len(family)

    def row(values: Mapping[tuple[int, int], object], i: int, start: int, size: int) -> tuple[tuple[int, float], ...]:
        keys = [(j, values.get((i, start + j))) for j in range(size)]
        return tuple((j, float(value)) for j, value in keys if value is not None)  # type: ignore[arg-type]

    return Integrals(
        tuple(float(found.get((0, 2 + i), 0)) for i in range(count)),
        tuple(float(found.get((1, 2 + i), 0)) for i in range(count)),
        tuple(row(found, 2 + i, 2, count) for i in range(count)),
        tuple(row(strains, i, 0, len(shapes)) for i in range(len(shapes))),
    )


def _ahead(shape: Curve, power: int) -> Curve:
    """d^(1 - power) times the derivative by d, x fixed, of d^power shape(eta)."""
    return shape.scaled(power) + _REST * shape.derivative()


@dataclass(frozen=True)
class MovingBeam(ElasticBody):
    """The beam in its link frame, which the joint moves; its coordinates are d and the nodal ones."""

    length: Value
    mass_per_length: Value
    EI: Value
    elements: int

    @staticmethod
    def sliding(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> MovingBeam:
        """From the description of a beam on a telescopic joint; the first coordinate is the joint's."""
        beam = body.telescope
        assert beam is not None
        full = ElasticBody.lowered(lower, body, coordinates)
        return MovingBeam(
            coordinates, full.monomials, full.rigid, full.D, full.B, full.G, full.K, full.damping,
            lower.value(beam.length), lower.value(beam.mass_per_length), lower.value(beam.EI), beam.elements,
        )  # fmt: skip

    def deformed(self, x: Sequence[Value]) -> MovingState:
        """The beam at (d, u)."""
        return MovingState(self, tuple(x))

    def elastic_energy(self, x: Sequence[Value]) -> Value:
        """1/2 int EI w''^2 dx = EI / (2 d^3) c^T K c, c_j = d^p_j u_j (003 (16))."""
        state = self.deformed(x)
        return self.EI * 0.5 * state.strain / (state.d * state.d * state.d)

    def elastic_forces(self, x: Sequence[Value]) -> list[Value]:
        """Derivatives of the energy by d and the nodal coordinates."""
        state = self.deformed(x)
        cubed = self.EI / (state.d * state.d * state.d)
        by_u = [cubed * state.powers[j] * value for j, value in enumerate(state.strains)]
        total = -1.5 * state.strain
        for j, value in enumerate(state.strains):
            if j % 2:
                total = total + state.c_[j] * value
        return [cubed / state.d * total, *by_u]

    def elastic_matrix(self, x: Sequence[Value]) -> Mat:
        """K(d) with 1/2 q^T K q the energy; the row and column of d are zero."""
        state = self.deformed(x)
        cubed = self.EI / (state.d * state.d * state.d)
        size = len(self.coordinates)
        K = [[self.graph.value(0)] * size for _ in range(size)]
        for i, row in enumerate(integrals(self.elements).curvatures):
            for j, number in row:
                K[1 + i][1 + j] = cubed * number * (state.powers[i] * state.powers[j])
        return K


class MovingState(DeformedBody):
    """The beam in a deformed state."""

    def __init__(self, body: MovingBeam, x: tuple[Value, ...]) -> None:
        self.beam, self.x, self.graph = body, x, body.graph
        self.d, self.u = x[0], x[1:]
        self.numbers = integrals(body.elements)
        self.count = len(self.u)
        self.powers = [self.d if j % 2 else self.graph.value(1) for j in range(self.count)]
        self.c_ = [power * u for power, u in zip(self.powers, self.u, strict=True)]
        self.w = dict(enumerate(self.c_))
        self.c = []  # no fields with constant shapes

    @cached_property
    def by_d(self) -> Shape:
        """dw/dd."""
        return {self.count + j: c / self.d for j, c in enumerate(self.c_)}

    def _basis(self) -> list[Shape]:
        """dw by d and by every nodal coordinate."""
        return [self.by_d, *({j: power} for j, power in enumerate(self.powers))]

    # ---- integrals over the mass

    @cached_property
    def _scale(self) -> Value:
        return self.beam.mass_per_length * self.d

    def _total(self, shape: Shape) -> Value:
        """int f dm."""
        return self._scale * self._sum(shape, self.numbers.ones)

    def _along(self, shape: Shape) -> Value:
        """int x f dm, with x = l - d + eta d."""
        behind = self.beam.length - self.d
        return self._scale * (behind * self._sum(shape, self.numbers.ones) + self.d * self._sum(shape, self.numbers.etas))

    def _sum(self, shape: Shape, numbers: Sequence[float]) -> Value:
        total = self.graph.value(0)
        for i, weight in shape.items():
            total = total + weight * numbers[i]
        return total

    def _across(self, shape: Shape) -> dict[int, Value]:
        """int f (n_i, m_i) dm for every i."""
        result: dict[int, Value] = {}
        for i, weight in shape.items():
            for j, number in self.numbers.products[i]:
                if j < 2 * self.count:
                    result[j] = result.get(j, self.graph.value(0)) + weight * number
        return {j: self._scale * value for j, value in result.items()}

    def _pair(self, shape: Shape, integrated: Mapping[int, Value]) -> Value:
        total = self.graph.value(0)
        for i, weight in shape.items():
            total = total + weight * integrated.get(i, self.graph.value(0))
        return total

    @cached_property
    def _with_w(self) -> dict[int, Value]:
        return self._across(self.w)

    @cached_property
    def strains(self) -> list[Value]:
        """K c of the stiffness integrals."""
        return [self._sum_of(row) for row in self.numbers.curvatures]

    def _sum_of(self, row: Sequence[tuple[int, float]]) -> Value:
        total = self.graph.value(0)
        for j, number in row:
            total = total + self.c_[j] * number
        return total

    @cached_property
    def strain(self) -> Value:
        """c^T K c."""
        total = self.graph.value(0)
        for c, value in zip(self.c_, self.strains, strict=True):
            total = total + c * value
        return total

    # ---- what the recursions ask for

    @cached_property
    def inertia(self) -> Inertia:
        """The straight beam, and the deflection's moments."""
        rigid, zero = self.beam.rigid, self.graph.value(0)
        P = [
            [rigid.P.xx, self._along(self.w), zero],
            [zero, self._pair(self.w, self._with_w), zero],
            [zero, zero, zero],
        ]
        return Inertia(rigid.m, [rigid.S[0], self._total(self.w), zero], Symmetric.of(P))

    def _rate(self, xd: Sequence[Value]) -> Shape:
        """dw/dt of a material point."""
        speed, rates = xd[0], xd[1:]
        shape = {j: power * rate for j, (power, rate) in enumerate(zip(self.powers, rates, strict=True))}
        return {**shape, **{i: speed * weight for i, weight in self.by_d.items()}}

    def _acceleration(self, xd: Sequence[Value], xdd: Sequence[Value]) -> Shape:
        """d2w/dt2 of a material point, with all convective terms."""
        speed = xd[0]
        shape = dict(self._rate(xdd))
        for j, (power, rate) in enumerate(zip(self.powers, xd[1:], strict=True)):
            shape[self.count + j] = shape[self.count + j] + 2 * speed * (power * rate / self.d)
            shape[2 * self.count + j] = speed * speed * (self.c_[j] / (self.d * self.d))
        return shape

    def added_wrench(self, omega: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Of 2 omega x dr_e + ddr_e, where dr_e = (0, dw/dt, 0)."""
        zero = self.graph.value(0)
        rate, acceleration = self._rate(xd), self._acceleration(xd, xdd)
        twist = [2 * w for w in omega]
        force = add(cross(twist, [zero, self._total(rate), zero]), [zero, self._total(acceleration), zero])
        by_x = add(cross(twist, [zero, self._along(rate), zero]), [zero, self._along(acceleration), zero])
        spin, push = self._pair(rate, self._with_w), self._pair_any(acceleration)
        by_w = add(cross(twist, [zero, spin, zero]), [zero, push, zero])
        return force, [by_w[2], -by_x[2], by_x[1] - by_w[0]]

    def _pair_any(self, shape: Shape) -> Value:
        """int f w dm for a shape with k."""
        return self._pair(self.w, self._across(shape))

    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """int f_j (a + U r_e + ddr_e)_y dm; 2 omega x dr_e has no part across the beam."""
        accelerated = self._across(self._acceleration(xd, xdd))
        result = []
        for shape in self._basis():
            total = self._total(shape) * a[1] + self._along(shape) * U[1][0]
            total = total + self._pair(shape, self._with_w) * U[1][1] + self._pair(shape, accelerated)
            result.append(total)
        return result

    def momenta(self, xd: Sequence[Value]) -> tuple[Vec, Vec, Value]:
        """int dr_e dm, int r_e x dr_e dm and 1/2 int dr_e.dr_e dm."""
        zero, rate = self.graph.value(0), self._rate(xd)
        inner = self._pair(rate, self._across(rate)) * 0.5
        return [zero, self._total(rate), zero], [zero, zero, self._along(rate)], inner

    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Force and moment of a unit acceleration along every coordinate."""
        zero = self.graph.value(0)
        return [([zero, self._total(f), zero], [zero, zero, self._along(f)]) for f in self._basis()]

    def mass_block(self) -> Mat:
        """int f_j f_k dm."""
        basis = self._basis()
        across = [self._across(shape) for shape in basis]
        size = len(basis)
        block = [[self.graph.value(0)] * size for _ in range(size)]
        for r in range(size):
            for c in range(r, size):
                block[r][c] = block[c][r] = self._pair(basis[r] if r else basis[c], across[c] if r else across[r])
        return block
