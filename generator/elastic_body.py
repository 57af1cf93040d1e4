"""A flexible body in its link frame: inertia in the deformed state, and what its deformation adds to Newton-Euler.

With r_e = r + sum c_n b_n (robot.FlexibleBody) the acceleration of a point is a + U r_e + 2 omega x dr_e + ddr_e, all in
the link frame (seed 000 (80)). Force, moment and the rows of the elastic coordinates are the integrals of that, of its
moment and of its product with the shapes (000 (86), (88), (96) as corrected).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from elastogen.generator.graph import Graph, Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.joint_motion import monomial, monomial_slope
from elastogen.generator.lowering import Lowering
from elastogen.generator.robot import FlexibleBody, Matrix
from elastogen.generator.vectors import Mat, Symmetric, Vec, add, combination, cross, dot


@dataclass(frozen=True)
class ElasticBody:
    """The standard data of a flexible body as values; ``coordinates`` are the indices of its x_j in q."""

    coordinates: tuple[int, ...]
    monomials: tuple[tuple[int, ...], ...]
    rigid: Inertia  # of the undeformed body
    D: list[Vec]  # int b_n dm
    B: list[Mat]  # int b_n r^T dm
    G: list[list[Mat]]  # int b_n b_m^T dm
    K: Mat
    damping: Mat

    @staticmethod
    def lowered(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> ElasticBody:
        """From the robot's description."""

        def rows(matrix: Matrix) -> Mat:
            return [[lower.value(entry) for entry in row] for row in matrix]

        S = [lower.value(entry) for entry in body.first_moments]
        return ElasticBody(
            coordinates=coordinates,
            monomials=body.monomials,
            rigid=Inertia(lower.value(body.mass), S, Symmetric.of(rows(body.second_moments))),
            D=rows(body.field_integrals),
            B=[rows(matrix) for matrix in body.field_position_integrals],
            G=[[rows(matrix) for matrix in line] for line in body.field_field_integrals],
            K=rows(body.stiffness),
            damping=rows(body.damping),
        )

    @property
    def graph(self) -> Graph:
        """The graph of all values."""
        return self.rigid.m.graph

    def deformed(self, x: Sequence[Value]) -> DeformedBody:
        """The body with its elastic coordinates at x."""
        return DeformedBody(self, tuple(x))

    def elastic_energy(self, x: Sequence[Value]) -> Value:
        """Energy beyond that of the constant stiffness."""
        return self.graph.value(0)

    def elastic_forces(self, x: Sequence[Value]) -> list[Value]:
        """Forces beyond those of the constant stiffness."""
        return [self.graph.value(0)] * len(self.coordinates)

    def elastic_matrix(self, x: Sequence[Value]) -> Mat:
        """Stiffness beyond the constant one."""
        return [[self.graph.value(0)] * len(self.coordinates) for _ in self.coordinates]


class DeformedBody:
    """An elastic body in a deformed state."""

    def __init__(self, body: ElasticBody, x: tuple[Value, ...]) -> None:
        self.body, self.x, self.graph = body, x, body.graph
        self.c = [monomial(self.graph, m, x) for m in body.monomials]
        self.slopes = [[monomial_slope(self.graph, m, j, x) for m in body.monomials] for j in range(len(x))]

    @cached_property
    def B(self) -> list[Mat]:
        """int b_n r_e^T dm = int b_n r^T dm + sum_m c_m int b_n b_m^T dm."""
        return [
            _weighted(self.body.B[n], self.c, self.body.G[n]) for n in range(len(self.c))
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
        return [
            combination_scalar(self.graph, xd, [self.slopes[j][n] for j in range(len(self.x))])
            for n in range(len(self.c))
        ]

    def coefficient_accelerations(self, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """d2c_n/dt2; a mode's is its coordinate's acceleration, a product's has the term 2 dx_j dx_k."""
        rates = DeformedBody(self.body, tuple(xd))
        bias = [2 * c if len(m) == 2 else self.graph.value(0) for c, m in zip(rates.c, self.body.monomials, strict=True)]
        linear = self.coefficient_rates(xdd)
        return [a + b for a, b in zip(linear, bias, strict=True)]

    def to_coordinates(self, rows: Sequence[Value]) -> list[Value]:
        """Generalized forces on the coordinates from those on the fields: sum_n dc_n/dx_j row_n."""
        return [combination_scalar(self.graph, self.slopes[j], rows) for j in range(len(self.x))]

    def added_wrench(
        self, omega: Vec, xd: Sequence[Value], xdd: Sequence[Value]
    ) -> tuple[Vec, Vec]:
        """Force and moment beyond those of the frozen deformed body: of 2 omega x dr_e + ddr_e."""
        dc, ddc = self.coefficient_rates(xd), self.coefficient_accelerations(xd, xdd)
        dS, ddS = combination(self.graph, dc, self.body.D), combination(self.graph, ddc, self.body.D)
        twist = [2 * w for w in omega]
        force = add(cross(twist, dS), ddS)
        Q, R = _sum_of(self.graph, dc, self.B), _sum_of(self.graph, ddc, self.B)
        columns = [cross(twist, [Q[0][k], Q[1][k], Q[2][k]]) for k in range(3)]
        W = [[columns[k][r] + R[r][k] for k in range(3)] for r in range(3)]  # int acc r_e^T dm
        moment = [W[2][1] - W[1][2], W[0][2] - W[2][0], W[1][0] - W[0][1]]
        return force, moment

    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """Generalized inertia forces of the elastic coordinates: int dr_e/dx_j . acceleration dm."""
        dc, ddc = self.coefficient_rates(xd), self.coefficient_accelerations(xd, xdd)
        result = []
        for n, B in enumerate(self.B):
            total = dot(self.body.D[n], a)
            for r in range(3):
                total = total + dot(U[r], B[r])
            G = self.body.G[n]
            E = _sum_of(self.graph, dc, G)  # int b_n dr_e^T dm
            spin = [E[2][1] - E[1][2], E[0][2] - E[2][0], E[1][0] - E[0][1]]
            total = total + dot(omega, [2 * s for s in spin])
            for acceleration, matrix in zip(ddc, G, strict=True):
                total = total + acceleration * (matrix[0][0] + matrix[1][1] + matrix[2][2])
            result.append(total)
        return self.to_coordinates(result)

    def momenta(self, xd: Sequence[Value]) -> tuple[Vec, Vec, Value]:
        """int dr_e dm, int r_e x dr_e dm and 1/2 int dr_e.dr_e dm of the deformation's velocity."""
        dc = self.coefficient_rates(xd)
        Q = _sum_of(self.graph, dc, self.B)
        traces = [[m[0][0] + m[1][1] + m[2][2] for m in line] for line in self.body.G]
        inner = combination_scalar(self.graph, dc, [combination_scalar(self.graph, dc, line) for line in traces])
        spin = [Q[2][1] - Q[1][2], Q[0][2] - Q[2][0], Q[1][0] - Q[0][1]]
        return combination(self.graph, dc, self.body.D), spin, inner * 0.5

    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Per coordinate, force and moment of the body's unit acceleration along dr_e/dx_j."""
        result = []
        for j in range(len(self.x)):
            force = combination(self.graph, self.slopes[j], self.body.D)
            W = _sum_of(self.graph, self.slopes[j], self.B)
            result.append((force, [W[2][1] - W[1][2], W[0][2] - W[2][0], W[1][0] - W[0][1]]))
        return result

    def mass_block(self) -> Mat:
        """int dr_e/dx_j . dr_e/dx_k dm."""
        G = [[m[0][0] + m[1][1] + m[2][2] for m in line] for line in self.body.G]
        half = [[combination_scalar(self.graph, slope, line) for line in G] for slope in self.slopes]
        return [[combination_scalar(self.graph, slope, line) for slope in self.slopes] for line in half]


def combination_scalar(graph: Graph, weights: Sequence[Value], values: Sequence[Value]) -> Value:
    """Sum of weight times value."""
    total = graph.value(0)
    for weight, value in zip(weights, values, strict=True):
        total = total + weight * value
    return total


def _weighted(start: Mat, weights: Sequence[Value], matrices: Sequence[Mat]) -> Mat:
    """start + sum of weight times matrix."""
    result = [list(row) for row in start]
    for weight, matrix in zip(weights, matrices, strict=True):
        for r in range(3):
            for k in range(3):
                result[r][k] = result[r][k] + weight * matrix[r][k]
    return result


def _sum_of(graph: Graph, weights: Sequence[Value], matrices: Sequence[Mat]) -> Mat:
    zero = graph.value(0)
    return _weighted([[zero] * 3 for _ in range(3)], weights, matrices)
