"""A flexible body in its link frame: inertia in the deformed state, and what its deformation adds to Newton-Euler.

With r_e = r + sum c_n b_n (robot.FlexibleBody) the acceleration of a point is a + U r_e + 2 omega x dr_e + ddr_e, all in
the link frame (paper 000 (80)). Force, moment and the rows of the elastic coordinates are the integrals of that, of its
moment and of its product with the shapes (000 (86), (88), (96) as corrected).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, scale, times

TimeDerivatives: TypeAlias = "Sequence[Sequence[Value]]"
"""q, qd, qdd, ... over all coordinates, as far as needed."""
Chain: TypeAlias = "list[tuple[Sequence[Value], Sequence[Value]]]"
"""Variables and their rates along a motion, in pairs."""


@dataclass(frozen=True)
class ElasticBody(ABC):
    """A flexible body; ``coordinates`` are the indices in q of the x_j that deform it."""

    coordinates: tuple[int, ...]
    rigid: Inertia  # of the undeformed body

    @property
    def graph(self) -> Graph:
        """The graph of all values."""
        return self.rigid.m.graph

    @abstractmethod
    def deformed(self, x: Sequence[Value]) -> DeformedBody:
        """The body with its elastic coordinates at x."""

    def own(self, values: Sequence[Value]) -> list[Value]:
        """The elements of a vector over all coordinates that belong to this body."""
        return [values[k] for k in self.coordinates]

    def moved(self, q: Sequence[Value]) -> DeformedBody:
        """The body in a configuration of the robot."""
        return self.deformed(self.own(q))

    @abstractmethod
    def with_mass_factor(self, factor: Value) -> ElasticBody:
        """The body with all of its mass times a factor."""

    def add_forces(self, total: list[Value], forces: Sequence[Value]) -> None:
        """Add forces on its coordinates to those on all coordinates."""
        for k, force in zip(self.coordinates, forces, strict=True):
            total[k] = total[k] + force

    def add_block(self, total: Mat, block: Mat) -> None:
        """Add a matrix over its coordinates to one over all coordinates."""
        for i, row in zip(self.coordinates, block, strict=True):
            self.add_forces(total[i], row)

    def elastic_energy(self, x: Sequence[Value]) -> Value:
        """Energy beyond that of the constant stiffness."""
        return self.graph.value(0)

    def elastic_forces(self, x: Sequence[Value]) -> list[Value]:
        """Forces beyond those of the constant stiffness."""
        return [self.graph.value(0)] * len(self.coordinates)

    def elastic_matrix(self, x: Sequence[Value]) -> Mat:
        """Stiffness beyond the constant one."""
        return [[self.graph.value(0)] * len(self.coordinates) for _ in self.coordinates]

    def damping_matrix(self, x: Sequence[Value]) -> Mat:
        """Damping beyond the constant one."""
        return [[self.graph.value(0)] * len(self.coordinates) for _ in self.coordinates]

    def damping_forces(self, x: Sequence[Value], xd: Sequence[Value]) -> list[Value]:
        """Forces of the damping beyond the constant one."""
        return [self.graph.value(0)] * len(self.coordinates)

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether stiffness and damping are the constant ones."""
        return True


class DeformedBody(ABC):
    """An elastic body in a deformed state: the integrals that the recursions ask for."""

    graph: Graph

    @property
    @abstractmethod
    def inertia(self) -> Inertia:
        """m, int r_e dm and int r_e r_e^T dm."""

    @abstractmethod
    def rate_moments(self, xd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int dr_e dm and int dr_e r_e^T dm."""

    @abstractmethod
    def acceleration_moments(self, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int ddr_e dm and int ddr_e r_e^T dm."""

    @abstractmethod
    def rate_energy(self, xd: Sequence[Value]) -> Value:
        """1/2 int dr_e.dr_e dm."""

    @abstractmethod
    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """Generalized inertia forces of the elastic coordinates: int dr_e/dx_j . acceleration dm."""

    @abstractmethod
    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Per coordinate, force and moment of the body's unit acceleration along dr_e/dx_j."""

    @abstractmethod
    def mass_block(self) -> Mat:
        """int dr_e/dx_j . dr_e/dx_k dm."""

    @abstractmethod
    def acceleration_energy(self, motion: TimeDerivatives, U: Sequence[Mat], a: Vec) -> Value:
        """1/2 int |a + sum_i C(n, i) U_i r_e^(n-i)|^2 dm, n = len(U) - 1: of the derivative of order n of all points.

        U_i and a are in any components; U_i is what moves with the frame, the derivative of order i of its axes.
        """

    @abstractmethod
    def inertia_forces(self, motion: TimeDerivatives, R: Sequence[Mat], X: Mat) -> tuple[Mat, list[Value]]:
        """W = int acc (r_e; 1)^T dm, 3 x 4, and int (R_0 dr_e/dx_j) . acc dm for every coordinate.

        The acceleration is X (r; 1) for the undeformed body (000 (86), (88)); R_i is the derivative of order i of the axes.
        """

    def added_wrench(self, omega: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Force and moment beyond those of the frozen deformed body: of 2 omega x dr_e + ddr_e."""
        (dS, Q), (ddS, R) = self.rate_moments(xd), self.acceleration_moments(xd, xdd)
        twist = [2 * w for w in omega]
        force = add(cross(twist, dS), ddS)
        columns = [cross(twist, [Q[0][k], Q[1][k], Q[2][k]]) for k in range(3)]
        return force, moment_of([[columns[k][r] + R[r][k] for k in range(3)] for r in range(3)])

    def centre_motion(self, motion: TimeDerivatives, chain: Chain, U: Sequence[Mat]) -> Vec:
        """sum_(i<n) C(n, i) U_i s^(n-i), n = len(U) - 1: what deforming adds to the derivative of order n of the centre s."""
        order, inertia = len(U) - 1, self.inertia
        centres = [scale(inertia.S, 1 / inertia.m)]
        for _ in range(order):
            centres.append(time_derivative(self.graph, centres[-1], chain))
        total: Vec = [self.graph.value(0)] * 3
        for i in range(order):
            total = add(total, scale(times(U[i], centres[order - i]), self.graph.value(comb(order, i))))
        return total

    def momenta(self, xd: Sequence[Value]) -> tuple[Vec, Vec, Value]:
        """int dr_e dm, int r_e x dr_e dm and 1/2 int dr_e.dr_e dm of the deformation's velocity."""
        dS, Q = self.rate_moments(xd)
        return dS, moment_of(Q), self.rate_energy(xd)


def moment_of(W: Mat) -> Vec:
    """int r x f dm from W = int f r^T dm."""
    return [W[2][1] - W[1][2], W[0][2] - W[2][0], W[1][0] - W[0][1]]


def rigid_energy(inertia: Inertia, U: Mat, a: Vec) -> Value:
    """1/2 int |a + U r|^2 dm = 1/2 m a.a + a.(U S) + 1/2 Tr(U P U^T)."""
    total = dot(a, [0.5 * inertia.m * x for x in a]) + dot(a, times(U, inertia.S))
    P = inertia.P.full
    for row in U:
        total = total + 0.5 * dot(row, times(P, row))
    return total
