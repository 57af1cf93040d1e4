"""The displacements of a beam that slides through its joint, and their derivatives: see moving_beam.py.

With x along the link and eta = 1 - (l - x) / d, a point of the part outside is displaced by

    w = sum_j c_j n_j(eta)  across,      c_j = d^p_j u_j, p_j = 1 for a nodal slope, 0 for a deflection or a mode,
    s = -1/(2 d) int_0^eta (dw/deta)^2 deta  along x, where the beam has foreshortening (inextensible to second order).

A material point (x fixed) sees eta change with d: d eta/dt = (1 - eta) d'/d. So the time derivative of a function f(eta, t)
at the point is f_t + (d'/d) A f with A f = (1 - eta) f_eta, to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from elastogen.generator.bodies.elastic_body import TimeDerivatives
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.sliding.beam_functions import BeamFunctions, Scatter

Field: TypeAlias = "tuple[Scatter, Scatter]"
"""Components along x and along y of what points of the part outside have: a displacement, an acceleration, a force."""


class MovingShape:
    """The displacements of the part outside at x = (d, u)."""

    def __init__(self, space: BeamFunctions, x: tuple[Value, ...], foreshortening: bool) -> None:
        self.space, self.graph, self.foreshortening = space, space.graph, foreshortening
        self.d, self.u = x[0], x[1:]
        self.powers = [self.d if p else self.graph.value(1) for p in space.powers]
        self.c = [power * u for power, u in zip(self.powers, self.u, strict=True)]
        self.w = self.space.interpolated(self.c)

    def shortened(self, f: Scatter, g: Scatter) -> Scatter:
        """-int_0^eta f_eta g_eta deta, or nothing without foreshortening."""
        if not self.foreshortening:
            return self.space.nothing
        return self.space.scaled(self.space.slope_products(f, g), -1.0)

    @cached_property
    def s(self) -> Scatter:
        """The displacement along x."""
        return self.space.scaled(self.shortened(self.w, self.w), 0.5 / self.d)

    @cached_property
    def ahead(self) -> Field:
        """A s and A w."""
        return self.space.ahead(self.s), self.space.ahead(self.w)

    # ---- derivatives by time

    def _rates(self, xd: Sequence[Value]) -> Field:
        """s_t and w_t, eta fixed; d s_t + d' s = -int w_eta w_t,eta."""
        speed, space = xd[0], self.space
        c = [power * rate for power, rate in zip(self.powers, xd[1:], strict=True)]
        c = [value + speed * u if p else value for p, value, u in zip(space.powers, c, self.u, strict=True)]
        w = space.interpolated(c)
        along = space.sum(self.shortened(self.w, w), space.scaled(self.s, -speed))
        return space.scaled(along, 1 / self.d), w

    def _second_rates(self, xd: Sequence[Value], xdd: Sequence[Value]) -> Field:
        """s_tt and w_tt, eta fixed; d s_tt + 2 d' s_t + d'' s = -int (w_t,eta^2 + w_eta w_tt,eta)."""
        space = self.space
        c = []
        for p, power, u, rate, acceleration in zip(space.powers, self.powers, self.u, xd[1:], xdd[1:], strict=True):
            value = power * acceleration
            c.append(value + 2 * xd[0] * rate + xdd[0] * u if p else value)
        w, (s_rate, w_rate) = space.interpolated(c), self._rates(xd)
        along = space.sum(
            self.shortened(w_rate, w_rate),
            self.shortened(self.w, w),
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
        for f, A, rate, second in zip((self.s, self.w), self.ahead, self._rates(xd), self._second_rates(xd, xdd), strict=True):
            carried = space.sum(A, space.scaled(f, -1.0))
            convective = space.sum(
                space.scaled(rate, 2 * share), space.scaled(f, xdd[0] / self.d), space.scaled(carried, share * share)
            )
            result.append(space.sum(second, space.ahead(convective)))
        return result[0], result[1]

    def derivatives(self, motion: TimeDerivatives, joint: int, order: int) -> list[Field]:
        """Displacement, velocity, ... of the points in the link frame up to any order; ``joint`` is the place of d in q."""
        space, chain = self.space, list(pairwise(motion))
        share = motion[1][joint] / self.d
        found: list[Field] = [(self.s, self.w)]
        for _ in range(order):
            x, y = (self._next(f, chain, share, space) for f in found[-1])
            found.append((x, y))
        return found

    def _next(
        self, f: Scatter, chain: list[tuple[Sequence[Value], Sequence[Value]]], share: Value, space: BeamFunctions
    ) -> Scatter:
        rates = iter(time_derivative(self.graph, [weight for line in f for weight in line], chain))
        return space.sum([[next(rates) for _ in line] for line in f], space.scaled(space.ahead(f), share))

    # ---- forces

    def drawn(self, total: Value, forces: Sequence[Value]) -> Value:
        """A total and sum_j p_j c_j f_j: d times what forces on the coefficients c are worth to d, eta fixed."""
        for p, c, force in zip(self.space.powers, self.c, forces, strict=True):
            total = total + c * force if p else total
        return total

    @cached_property
    def strains(self) -> list[Value]:
        """K c of the stiffness integrals."""
        return self.space.strains(self.w)

    @cached_property
    def strain(self) -> Value:
        """c^T K c."""
        return self.space.strain(self.w)
