"""A beam that slides through its joint as material points: Gauss points of its elements and of the straight part inside.

The part d of a beam of length l is outside; a material point at s in the link frame is at xi = s - l + d from the joint. On
elements of length h = d / n the deflection w is cubic, and the shortening 1/2 int w'^2 dx of fifth order: six points of each
integrate squares of velocities and accelerations exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.numbers.jets import Jet
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.robot.bodies.flexible_body import Telescope

Array = npt.NDArray[np.float64]
GAUSS = np.polynomial.legendre.leggauss(6)


@dataclass(frozen=True)
class MovingPoints:
    """The beam's numbers, and its shape at d and its elastic coordinates."""

    beam: Telescope
    length: float  # [m]
    mass_per_length: float  # [kg/m]
    EI: float  # [N m^2]

    def _nodes(self, d: Jet, x: Sequence[Jet]) -> list[Jet]:
        """Deflections and slopes of all nodes; the first is clamped."""
        u = list(x)
        if self.beam.modes:
            rows = [sum((a * _number(c, d) for c, a in zip(row, x, strict=True)), _number(0.0, d)) for row in self.beam.modes]
            u = [value / d if k % 2 else value for k, value in enumerate(rows)]
        return [_number(0.0, d), _number(0.0, d), *u]

    def _cubic(self, nodes: Sequence[Jet], e: int, h: Jet) -> list[Jet]:
        """Coefficients of w on an element by powers of t = x / h."""
        w0, s0, w1, s1 = nodes[2 * e], nodes[2 * e + 1] * h, nodes[2 * e + 2], nodes[2 * e + 3] * h
        rise = w1 - w0
        three, two = _number(3.0, h), _number(2.0, h)
        return [w0, s0, three * rise - two * s0 - s1, s0 + s1 - two * rise]

    def _shortening(self, w: Sequence[Jet], t: Jet, h: Jet) -> Jet:
        """1/2 int (dw/dt)^2 dt / h from 0 to t."""
        slope = [w[k] * _number(float(k), h) for k in (1, 2, 3)]
        total = _number(0.0, h)
        for power in reversed(range(5)):
            terms = [slope[i] * slope[power - i] for i in range(3) if 0 <= power - i < 3]
            total = total * t + sum(terms[1:], terms[0]) * _number(0.5 / (power + 1), h)
        return total * t / h

    def tip(self, d: Jet, x: Sequence[Jet]) -> tuple[Jet, Jet, Jet]:
        """Displacement along and across, and the angle of the tip."""
        nodes, h = self._nodes(d, x), d * _number(1 / self.beam.elements, d)
        along = _number(0.0, d)
        if self.beam.foreshortening:
            for e in range(self.beam.elements):
                along = along - self._shortening(self._cubic(nodes, e, h), _number(1.0, d), h)
        return along, nodes[-2], nodes[-1]

    def section(self, d: Jet, x: Sequence[Jet], s: float) -> tuple[Jet, Jet, Jet]:
        """The same of the material point s at one state; straight inside the joint."""
        nodes, h = self._nodes(d, x), d * _number(1 / self.beam.elements, d)
        place = (s - self.length) / float(d.data[..., 0, 0].flat[0]) + 1.0
        zero = _number(0.0, d)
        if place <= 0:
            return zero, zero, zero
        e = min(int(place * self.beam.elements), self.beam.elements - 1)
        w = self._cubic(nodes, e, h)
        t = (_number(s - self.length, d) + d) / h - _number(float(e), d)
        across = ((w[3] * t + w[2]) * t + w[1]) * t + w[0]
        angle = ((w[3] * t * _number(3.0, d) + w[2] * _number(2.0, d)) * t + w[1]) / h
        along = zero
        if self.beam.foreshortening:
            for before in range(e):
                along = along - self._shortening(self._cubic(nodes, before, h), _number(1.0, d), h)
            along = along - self._shortening(w, t, h)
        return along, across, angle

    def curvature(self, d: Jet, x: Sequence[Jet], s: float) -> Jet:
        """w'' at the material point s, of one state."""
        place = (s - self.length) / float(d.data[..., 0, 0].flat[0]) + 1.0
        if place <= 0:
            return _number(0.0, d)
        nodes, h = self._nodes(d, x), d * _number(1 / self.beam.elements, d)
        e = min(int(place * self.beam.elements), self.beam.elements - 1)
        w = self._cubic(nodes, e, h)
        t = (_number(s - self.length, d) + d) / h - _number(float(e), d)
        return (w[3] * t * _number(6.0, d) + w[2] * _number(2.0, d)) / (h * h)

    def strain_energy(self, d: Jet, x: Sequence[Jet]) -> Jet:
        """EI / 2 int w''^2 dx."""
        nodes, h = self._nodes(d, x), d * _number(1 / self.beam.elements, d)
        total = _number(0.0, d)
        for e in range(self.beam.elements):
            _, _, b, c = self._cubic(nodes, e, h)  # d2w/dt2 = 2 b + 6 c t
            total = total + b * b * _number(4.0, d) + b * c * _number(12.0, d) + c * c * _number(12.0, d)
        return total * _number(0.5 * self.EI, d) / (h * h * h)

    def points(self, d: Jet, x: Sequence[Jet], *, carried: bool) -> tuple[MatrixSeries, Array, Array]:
        """Places (..., 4, points) in the link frame, masses (..., points), and the masses' derivatives along the direction.

        The points are fixed in the material. With ``carried`` they move with d along the direction, as quadrature points of the
        same elements, for derivatives of integrals.
        """
        n, width = self.beam.elements, d.data.shape[-1]
        nodes, h = [_scatter(node) for node in self._nodes(d, x)], _scatter(d * _number(1 / n, d))
        now = np.zeros_like(d.data)
        now[..., 0, 0] = d.data[..., 0, 0]
        now[..., 1, 0] = d.data[..., 1, 0] if carried else 0.0
        outside, d = _scatter(Jet(now)), _scatter(d)  # d where the points are chosen, constant in time
        t, weight = (_each(numbers, width) for numbers in ((GAUSS[0] + 1) / 2, GAUSS[1] / 2))
        weight = weight * _number(self.mass_per_length, d)
        behind, before = _number(self.length, d) - outside, _number(0.0, d)
        places, masses = [(behind * t, _number(0.0, d))], [behind * weight]
        for e in range(n):
            w = self._cubic(nodes, e, h)
            s = behind + outside * (t + _number(float(e), d)) * _number(1 / n, d)
            local = (s - _number(self.length, d) + d) / h - _number(float(e), d)
            across = ((w[3] * local + w[2]) * local + w[1]) * local + w[0]
            places.append((s - before - self._shortening(w, local, h) if self.beam.foreshortening else s, across))
            masses.append(outside * weight * _number(1 / n, d))
            if self.beam.foreshortening:
                before = before + self._shortening(w, _number(1.0, d), h)
        shape = np.broadcast_shapes(*(jet.data.shape for pair in places for jet in pair))
        count = shape[-3]
        data = np.zeros((*shape[:-3], 4, count * len(places), 2, width))
        weights = np.zeros((*shape[:-3], count * len(places), 2))
        for k, ((along, across), mass) in enumerate(zip(places, masses, strict=True)):
            own = slice(k * count, (k + 1) * count)
            data[..., 0, own, :, :], data[..., 1, own, :, :] = along.data, across.data
            weights[..., own, :] = mass.data[..., 0]
        data[..., 3, :, 0, 0] = 1.0
        return MatrixSeries.of_array(data), weights[..., 0], weights[..., 1]


def _scatter(jet: Jet) -> Jet:
    """With an axis for points."""
    return Jet(jet.data[..., None, :, :])


def _each(numbers: Array, width: int) -> Jet:
    """A number for each point."""
    data = np.zeros((len(numbers), 2, width))
    data[:, 0, 0] = numbers
    return Jet(data)


def _number(value: float, like: Jet) -> Jet:
    return Jet.constant(value, like.data.shape[-1])
