"""A flexible body whose deformation is a sum of constant shape fields times products of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb

from elastogen.generator.bodies.elastic_body import DeformedBody, ElasticBody, TimeDerivatives, moment_of, rigid_energy
from elastogen.generator.bodies.elastic_tip import fields_of, monomial, monomial_slope
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import ZERO3, Matrix, Robot
from elastogen.generator.spatial import dense_matrices as dense
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import (
    Mat,
    Symmetric,
    Vec,
    add,
    combination,
    combination_scalar,
    dot,
    product,
    scale,
    times,
)

MANY_INTEGRALS = 200  # of pairs of fields, that are not zero: five modes without symmetry have 225


@dataclass(frozen=True)
class ShapedBody(ElasticBody):
    """A body with constant shape fields: its standard data as values."""

    monomials: tuple[tuple[int, ...], ...]
    D: list[Vec]  # int b_n dm
    B: list[Mat]  # int b_n r^T dm
    G: list[dict[int, Mat]]  # int b_n b_m^T dm by m, where it is not zero: fields of far finite elements do not overlap

    @staticmethod
    def lowered(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> ShapedBody:
        """From the robot's description."""

        def rows(matrix: Matrix) -> Mat:
            return [[lower.value(entry) for entry in row] for row in matrix]

        return ShapedBody(
            coordinates=coordinates,
            rigid=undeformed_inertia(lower, body),
            monomials=body.monomials,
            D=rows(body.field_integrals),
            B=[rows(matrix) for matrix in body.field_position_integrals],
            G=[{m: rows(block) for m, block in enumerate(line) if block is not ZERO3} for line in body.field_field_integrals],
        )

    def with_mass_factor(self, factor: Value) -> ShapedBody:
        """All integrals are linear in the mass."""
        return replace(
            self,
            rigid=self.rigid.scaled(factor),
            D=[scale(row, factor) for row in self.D],
            B=[dense.scaled(matrix, factor) for matrix in self.B],
            G=[{m: dense.scaled(block, factor) for m, block in line.items()} for line in self.G],
        )

    def deformed(self, x: Sequence[Value]) -> ShapedState:
        """The body with its elastic coordinates at x."""
        return ShapedState(self, tuple(x))


def dense_modes(robot: Robot) -> int:
    """The fewest coordinates of a flexible link with many integrals: its modes are isomorphic. 0: there is no such link.

    Modes of finite elements of a solid have all of them; those of a beam have few, and each its own.
    """
    found = []
    for body in (link.flexible for link in robot.links if link.flexible is not None):
        lines = (row for line in body.field_field_integrals for block in line for row in block)
        if len(body.coordinates) > 1 and sum(entry != 0 for row in lines for entry in row) >= MANY_INTEGRALS:
            found.append(len(body.coordinates))
    return min(found, default=0)


def undeformed_inertia(lower: Lowering, body: FlexibleBody) -> Inertia:
    """m, int r dm and int r r^T dm as values."""
    P = [[lower.value(entry) for entry in row] for row in body.second_moments]
    return Inertia(lower.value(body.mass), [lower.value(entry) for entry in body.first_moments], Symmetric.of(P))


class ShapedState(DeformedBody):
    """A body with constant shape fields in a deformed state."""

    def __init__(self, body: ShapedBody, x: tuple[Value, ...]) -> None:
        self.body, self.x, self.graph = body, x, body.graph
        self.c = [monomial(self.graph, m, x) for m in body.monomials]
        #: by coordinate j, the fields n that it is in, with dc_n/dx_j
        self.slopes = [
            [(n, monomial_slope(self.graph, body.monomials[n], j, x)) for n in fields]
            for j, fields in enumerate(fields_of(body.monomials, len(x)))
        ]

    @cached_property
    def B(self) -> list[Mat]:
        """int b_n r_e^T dm = int b_n r^T dm + sum_m c_m int b_n b_m^T dm."""
        return [
            _weighted(self.body.B[n], ((self.c[m], block) for m, block in line.items())) for n, line in enumerate(self.body.G)
        ]

    @cached_property
    def inertia(self) -> Inertia:
        """m, int r_e dm and int r_e r_e^T dm."""
        rigid = self.body.rigid
        S = add(rigid.S, combination(self.graph, self.c, self.body.D))
        P = [list(row) for row in rigid.P.full]
        for c, undeformed, B in zip(self.c, self.body.B, self.B, strict=True):
            for r in range(3):
                for k in range(r, 3):
                    P[r][k] = P[r][k] + c * (undeformed[k][r] + B[r][k])
        return Inertia(rigid.m, S, Symmetric.of(P))

    def coefficient_rates(self, xd: Sequence[Value]) -> list[Value]:
        """dc_n/dt."""
        by_field: list[list[tuple[int, Value]]] = [[] for _ in self.c]
        for j, slopes in enumerate(self.slopes):
            for n, slope in slopes:
                by_field[n].append((j, slope))
        return [_sparse_sum(self.graph, terms, xd) for terms in by_field]

    def coefficient_accelerations(self, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """d2c_n/dt2; a mode's is its coordinate's acceleration, a product's has the term 2 dx_j dx_k."""
        rates = ShapedState(self.body, tuple(xd))
        bias = [2 * c if len(m) == 2 else self.graph.value(0) for c, m in zip(rates.c, self.body.monomials, strict=True)]
        linear = self.coefficient_rates(xdd)
        return [a + b for a, b in zip(linear, bias, strict=True)]

    def to_coordinates(self, rows: Sequence[Value]) -> list[Value]:
        """Generalized forces on the coordinates from those on the fields: sum_n dc_n/dx_j row_n."""
        return [_sparse_sum(self.graph, slopes, rows) for slopes in self.slopes]

    def rate_moments(self, xd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int dr_e dm and int dr_e r_e^T dm."""
        dc = self.coefficient_rates(xd)
        return combination(self.graph, dc, self.body.D), _sum_of(self.graph, zip(dc, self.B, strict=True))

    def acceleration_moments(self, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int ddr_e dm and int ddr_e r_e^T dm."""
        ddc = self.coefficient_accelerations(xd, xdd)
        return combination(self.graph, ddc, self.body.D), _sum_of(self.graph, zip(ddc, self.B, strict=True))

    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """Generalized inertia forces of the elastic coordinates: int dr_e/dx_j . acceleration dm."""
        dc, ddc = self.coefficient_rates(xd), self.coefficient_accelerations(xd, xdd)
        result = []
        for n, B in enumerate(self.B):
            total = dot(self.body.D[n], a)
            for r in range(3):
                total = total + dot(U[r], B[r])
            G = self.body.G[n]
            E = _sum_of(self.graph, ((dc[m], block) for m, block in G.items()))  # int b_n dr_e^T dm
            total = total + dot(omega, [2 * s for s in moment_of(E)])
            for m, block in G.items():
                total = total + ddc[m] * _trace(block)
            result.append(total)
        return self.to_coordinates(result)

    def rate_energy(self, xd: Sequence[Value]) -> Value:
        """1/2 int dr_e.dr_e dm."""
        dc = self.coefficient_rates(xd)
        lines = [_sparse_sum(self.graph, [(m, _trace(block)) for m, block in line.items()], dc) for line in self.body.G]
        return combination_scalar(self.graph, dc, lines) * 0.5

    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Per coordinate, force and moment of the body's unit acceleration along dr_e/dx_j."""
        result = []
        for slopes in self.slopes:
            force = combination(self.graph, [slope for _, slope in slopes], [self.body.D[n] for n, _ in slopes])
            result.append((force, moment_of(_sum_of(self.graph, ((slope, self.B[n]) for n, slope in slopes)))))
        return result

    def mass_block(self) -> Mat:
        """int dr_e/dx_j . dr_e/dx_k dm."""
        zero = self.graph.value(0)
        columns = [{m: _trace(block) for m, block in line.items()} for line in self.body.G]
        half = [[zero] * len(columns) for _ in self.slopes]  # by coordinate and field
        for line, slopes in zip(half, self.slopes, strict=True):
            for r, traces in enumerate(columns):
                for n, slope in slopes:
                    if n in traces:
                        line[r] = line[r] + slope * traces[n]
        return [[_sparse_sum(self.graph, slopes, line) for slopes in self.slopes] for line in half]

    def _field_motions(self, motion: TimeDerivatives, U: Sequence[Mat]) -> list[Mat]:
        """Z_n = sum_i C(order, i) c_n^(order-i) U_i: how every shape field moves, to the order of the last U."""
        order, chain = len(U) - 1, list(pairwise([self.body.own(values) for values in motion]))
        c = [list(self.c)]
        for _ in range(order):
            c.append(time_derivative(self.graph, c[-1], chain))
        result = []
        for n in range(len(self.c)):
            weights = [c[order - i][n] * float(comb(order, i)) for i in range(order + 1)]
            result.append([combination(self.graph, weights, [operator[r] for operator in U]) for r in range(3)])
        return result

    def acceleration_energy(self, motion: TimeDerivatives, U: Sequence[Mat], a: Vec) -> Value:
        """1/2 int |a + U_n r + sum_n Z_n b_n|^2 dm."""
        body, last = self.body, U[-1]
        total = rigid_energy(body.rigid, last, a)
        Z = self._field_motions(motion, U)
        for n, Zn in enumerate(Z):
            total = total + dot(a, times(Zn, body.D[n]))
            for r in range(3):  # Tr(Z B U^T), B = int b r^T dm
                total = total + dot(Zn[r], times(body.B[n], last[r]))
                for m, block in body.G[n].items():
                    total = total + 0.5 * dot(Zn[r], times(block, Z[m][r]))
        return total

    def inertia_forces(self, motion: TimeDerivatives, R: Sequence[Mat], X: Mat) -> tuple[Mat, list[Value]]:
        """The integrals for acc = X (r; 1) + sum_m Z_m b_m."""
        graph, body = self.graph, self.body
        Z = self._field_motions(motion, R)
        scatter = [dense.transposed([[*row, body.D[n][k]] for k, row in enumerate(body.B[n])]) for n in range(len(Z))]
        W = product(X, body.rigid.pseudo)
        by_field = []  # int acc b_n^T dm
        for n in range(len(Z)):
            W = dense.added(W, product(Z[n], dense.transposed(scatter[n])))
            field = product(X, scatter[n])
            for m in range(len(Z)):
                if n in body.G[m]:
                    field = dense.added(field, product(Z[m], body.G[m][n]))
            by_field.append(field)
        rows = self.to_coordinates([dense.inner(graph, R[0], field) for field in by_field])
        zero = graph.value(0)
        for c, field in zip(self.c, by_field, strict=True):
            W = dense.added(W, dense.scaled([[*row, zero] for row in field], c))
        return W, rows


def _sparse_sum(graph: Graph, terms: Iterable[tuple[int, Value]], values: Sequence[Value]) -> Value:
    """Sum of factor times values[n] over pairs (n, factor)."""
    total = graph.value(0)
    for n, factor in terms:
        total = total + factor * values[n]
    return total


def _trace(block: Mat) -> Value:
    return block[0][0] + block[1][1] + block[2][2]


def _weighted(start: Mat, terms: Iterable[tuple[Value, Mat]]) -> Mat:
    """start + sum of weight times matrix."""
    result = [list(row) for row in start]
    for weight, matrix in terms:
        for r in range(3):
            for k in range(3):
                result[r][k] = result[r][k] + weight * matrix[r][k]
    return result


def _sum_of(graph: Graph, terms: Iterable[tuple[Value, Mat]]) -> Mat:
    zero = graph.value(0)
    return _weighted([[zero] * 3 for _ in range(3)], terms)
