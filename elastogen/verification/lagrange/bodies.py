"""What is heavy: bodies as W, the motion of some functions of the body, and G, the integrals of products of these functions.

A rigid body has the functions psi = (x, y, z, 1), a flexible one those and its shape fields b_n: a point is at W psi, with
W = (T, c_1 R, c_2 R, ...), and kinetic energy is 1/2 tr(Wd G Wd^T) with the constant G = int psi psi^T dm (paper 002 (19),
000 (97)). A beam that slides through its joint is a row of mass points, with their masses in the place of G.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Body
from elastogen.verification.lagrange.beams import MovingBeam
from elastogen.verification.lagrange.numbers import Array, Numbers, Pair


class Mass(ABC):
    """The mass of one body."""

    frame: str

    @abstractmethod
    def motion(self, frame: Pair, x: Array, xd: Array) -> Pair:
        """Return W and its rate, 3 x functions."""

    @abstractmethod
    def weighed(self, W: Array, x: Array) -> Array:
        """Return W G."""

    @abstractmethod
    def total(self, W: Array, x: Array) -> Array:
        """Return int r dm from W."""


class FunctionMass(Mass):
    """A body with constant integrals of functions."""

    def __init__(self, frame: str, G: Array, unit: int) -> None:
        self.frame, self.G, self._unit = frame, G, unit  # the number of the function 1

    def weighed(self, W: Array, x: Array) -> Array:
        """Return W G."""
        return W.dot(self.G)

    def total(self, W: Array, x: Array) -> Array:
        """Return int r dm."""
        return W.dot(self.G[:, self._unit])


class RigidMass(FunctionMass):
    """A rigid body."""

    def __init__(self, numbers: Numbers, frame: str, body: Body) -> None:
        m, c, inertia = numbers(body.mass), numbers.array(body.com), numbers.array(body.inertia)
        G = numbers.unit(4) * (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / 2
        G[:3, :3] = G[:3, :3] - inertia + np.outer(c, c) * m
        G[:3, 3] = G[3, :3] = m * c
        G[3, 3] = m
        super().__init__(frame, G, 3)

    def motion(self, frame: Pair, x: Array, xd: Array) -> Pair:
        """Return the pose itself."""
        return frame[0][:3], frame[1][:3]


class FlexibleMass(FunctionMass):
    """A flexible body by its integrals, without functions that vanish."""

    def __init__(self, numbers: Numbers, frame: str, body: FlexibleBody, own: tuple[int, ...]) -> None:
        self.monomials, self.own, self.numbers = body.monomials, own, numbers
        count = len(body.monomials)
        G = np.full((4 + 3 * count, 4 + 3 * count), numbers.zero, dtype=object)
        G[:3, :3] = numbers.array(body.second_moments)
        G[:3, 3] = G[3, :3] = numbers.array(body.first_moments)
        G[3, 3] = numbers(body.mass)
        for n in range(count):
            rows = slice(4 + 3 * n, 7 + 3 * n)
            G[rows, :3] = numbers.array(body.field_position_integrals[n])
            G[:3, rows] = G[rows, :3].T
            G[rows, 3] = G[3, rows] = numbers.array(body.field_integrals[n])
            for m in range(count):
                G[rows, 4 + 3 * m : 7 + 3 * m] = numbers.array(body.field_field_integrals[n][m])
        self._used = [k for k in range(len(G)) if k == 3 or any(entry != 0 for entry in G[k])]
        super().__init__(frame, G[np.ix_(self._used, self._used)], self._used.index(3))

    def motion(self, frame: Pair, x: Array, xd: Array) -> Pair:
        """Return (T, c_n R) and its rate."""
        (T, Td), columns, rates = frame, [frame[0][:3]], [frame[1][:3]]
        R, Rd = T[:3, :3], Td[:3, :3]
        for monomial in self.monomials:
            factors = [self.own[j] for j in monomial]
            c = self.numbers.one * np.prod([x[k] for k in factors])
            rate = self.numbers.zero
            for n, k in enumerate(factors):
                rate = rate + xd[k] * np.prod([x[i] for m, i in enumerate(factors) if m != n])
            columns.append(R * c)
            rates.append(Rd * c + R * rate)
        return np.hstack(columns)[:, self._used], np.hstack(rates)[:, self._used]


class PointMass(Mass):
    """A beam that slides through its joint, as mass points."""

    def __init__(self, frame: str, beam: MovingBeam) -> None:
        self.frame, self.beam = frame, beam

    def motion(self, frame: Pair, x: Array, xd: Array) -> Pair:
        """Return positions and velocities of the points."""
        (T, Td), W, rates = frame, [], []
        zero, one = self.beam.numbers.zero, self.beam.numbers.one
        for _, place, element in self.beam.points(x):
            along, across, _ = self.beam.place(place, x, xd, element)
            u = np.array([along.value, across.value, zero, one], dtype=object)
            ud = np.array([along.rate, across.rate, zero, zero], dtype=object)
            W.append(T.dot(u)[:3])
            rates.append((Td.dot(u) + T.dot(ud))[:3])
        return np.array(W, dtype=object).T, np.array(rates, dtype=object).T

    def _masses(self, x: Array) -> Array:
        return np.array([mass for mass, _, _ in self.beam.points(x)], dtype=object)

    def weighed(self, W: Array, x: Array) -> Array:
        """Multiply by the masses."""
        return W * self._masses(x)

    def total(self, W: Array, x: Array) -> Array:
        """Return the sum of m r."""
        return W.dot(self._masses(x))
