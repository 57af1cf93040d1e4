"""Planar robots of paper 003 by plain quadrature: positions of points, complex-step derivatives, Gauss points.

Written apart from the generator: every link is a list of material points whose positions are functions of q, by lemma (1)
and Table 2 of the paper and by Hermite interpolation. The element inside each sliding joint is that of the given state.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

STEP = 1e-30
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


@dataclass
class Planar:
    """A robot as in the ``planar:`` block of a robot file, with slide modes per link."""

    links: list
    payload: float
    gravity: tuple

    def __post_init__(self):
        self.starts, self.sizes = [], []
        place = 0
        for link in self.links:
            count = 0
            if not link.get("rigid"):
                count = 2 * link["elements"] + (2 if self.nodal_pb(link) else 0)
            self.starts.append(place)
            self.sizes.append(count)
            place += 1 + count
        self.nq = place

    @staticmethod
    def nodal_pb(link):
        return link["joint"] == "Pb" and link.get("slide") == "nodal"

    @staticmethod
    def smooth_pb(link):
        return link["joint"] == "Pb" and not link.get("rigid") and link.get("slide", "smooth") == "smooth"

    def description(self, name):
        planar = {"links": self.links, "payload": {"mass": self.payload}, "gravity": list(self.gravity)}
        return {"elastogen": 1, "name": name, "planar": planar}

    def clamped(self, q):
        """Indices of the coordinates that are held at zero."""
        held = []
        for i, link in enumerate(self.links):
            if self.nodal_pb(link):
                k = self.element_inside(i, q)
                held += [self.starts[i] + 1 + j for j in range(2 * k - 2, 2 * k + 2)]
        return held

    def element_inside(self, i, q):
        link, d = self.links[i], q[self.starts[i]]
        if link["joint"] == "Pb":
            size = link["length"] / link["elements"]
            return min(math.floor((link["length"] - d) / size) + 1, link["elements"])
        below = self.links[i - 1]
        if self.smooth_pb(below):
            outside = q[self.starts[i - 1]]
            eta = 1 - (below["length"] - d) / outside
            return max(0, math.ceil(eta * below["elements"]))
        return max(1, math.ceil(d / (below["length"] / below["elements"])))

    def element_at(self, i, x, q):
        """Element of the material point x; 0 behind the joint of a smooth P_b link."""
        link = self.links[i]
        n, length = link["elements"], link["length"]
        if self.smooth_pb(link):
            eta = 1 - (length - x) / q[self.starts[i]]
            return max(0, min(n, math.ceil(eta * n)))
        return max(1, min(n, math.ceil(x / length * n)))

    def deflection(self, i, x, q, k, derivative=0):
        """w, w' or w'' at x, as Hermite cubic of element k."""
        if k == 0:
            return 0.0
        link = self.links[i]
        n, length = link["elements"], link["length"]
        u = list(q[self.starts[i] + 1 : self.starts[i] + 1 + self.sizes[i]])
        if not self.nodal_pb(link):
            u = [0.0, 0.0, *u]
        outside = q[self.starts[i]] if self.smooth_pb(link) else length
        h = outside / n
        t = (x - (length - outside)) / h - (k - 1)
        a, b, c, e = u[2 * k - 2 : 2 * k + 2]
        value = np.polynomial.polynomial.Polynomial([a, b * h, -3 * a - 2 * h * b + 3 * c - h * e,
                                                     2 * a + h * b - 2 * c + h * e])  # fmt: skip
        for _ in range(derivative):
            value = value.deriv()
        return value(t) / h**derivative

    def shortening(self, i, x, q, k, inside):
        """-1/2 int w'^2 from the clamp to x, where the link has it; x is on element k."""
        link = self.links[i]
        if not link.get("foreshortening"):
            return 0.0
        size = link["length"] / link["elements"]
        held = inside[i] * size if self.nodal_pb(link) else 0.0  # the slope vanishes all along the clamped element
        steps = [(min(max(a, held), x), min(max(a + size, held), x)) for a in size * np.arange(link["elements"])]
        if x < held:
            steps = [(max(a, x), min(a + size, held)) for a in size * np.arange(link["elements"])]
        total = 0.0
        for a, b in steps:
            if np.real(b - a) > 1e-14:
                j = max(1, math.ceil(np.real(a + b) / 2 / size))
                for node, weight in zip(NODES, WEIGHTS, strict=True):
                    slope = self.deflection(i, 0.5 * (a + b) + 0.5 * (b - a) * node, q, j, 1)
                    total = total + 0.5 * (b - a) * weight * slope**2
        return 0.5 * total if x < held else -0.5 * total

    def frames(self, q, inside):
        """Angle and origin of every link, by lemma (1)."""
        angle, x, y = 0.0, 0.0, 0.0
        found = []
        for i, link in enumerate(self.links):
            p = q[self.starts[i]]
            chi, f, s = 0.0, 0.0, 0.0
            if i:
                below = self.links[i - 1]
                chi = below["length"]
                if not below.get("rigid"):
                    f, s = q[self.starts[i] - 2], q[self.starts[i] - 1]
                    chi = chi + self.shortening(i - 1, chi, q, below["elements"], inside)
            if link["joint"] == "Pa":
                chi, f, s = p, 0.0, 0.0
                if i and not self.links[i - 1].get("rigid"):
                    f, s = self.contact(i, q, inside)
                    chi = chi + self.shortening(i - 1, p, q, inside[i], inside)
            theta = p if link["joint"] == "R" else link["gamma"]
            a = p - link["length"] if link["joint"] == "Pb" else 0.0
            turn = theta + s
            dx, dy = chi + a * np.cos(turn), f + a * np.sin(turn)
            x, y = x + np.cos(angle) * dx - np.sin(angle) * dy, y + np.sin(angle) * dx + np.cos(angle) * dy
            angle = angle + turn
            found.append((angle, x, y))
        return found

    def contact(self, i, q, inside):
        k, d = inside[i], q[self.starts[i]]
        if self.links[i].get("slide", "smooth") == "smooth":
            return self.deflection(i - 1, d, q, k), self.deflection(i - 1, d, q, k, 1)
        if k == 0:
            return 0.0, 0.0
        first = self.starts[i - 1] + 1 + 2 * k - (0 if self.nodal_pb(self.links[i - 1]) else 2)
        return q[first], q[first + 1]

    def inside(self, q):
        found = {}
        for i, link in enumerate(self.links):
            on_beam = link["joint"] == "Pa" and i > 0 and not self.links[i - 1].get("rigid")
            if on_beam or (link["joint"] == "Pb" and not link.get("rigid")):
                found[i] = self.element_inside(i, q)
        return found

    def masses(self, q):
        """Point masses (mass, link, place, element) at a state."""
        points = []
        for i, link in enumerate(self.links):
            length = link["length"]
            if link.get("rigid"):
                points.append((link["mass"], i, length / 2, None))
                continue
            n = link["elements"]
            outside = q[self.starts[i]] if self.smooth_pb(link) else length
            ends = [length - outside + outside * k / n for k in range(n + 1)]
            if outside < length:
                ends = [0.0, *ends]
            for a, b in pairwise(ends):
                for node, weight in zip(NODES, WEIGHTS, strict=True):
                    x = 0.5 * (a + b) + 0.5 * (b - a) * node
                    points.append((0.5 * (b - a) * weight * link["mass_per_length"], i, x, self.element_at(i, x, q)))
        last = len(self.links) - 1
        points.append((self.payload, last, self.links[-1]["length"], self.links[-1].get("elements")))
        return points

    def positions(self, q, points, inside):
        frames = self.frames(q, inside)
        result = []
        for _, i, x, k in points:
            angle, px, py = frames[i]
            w = 0.0 if k is None else self.deflection(i, x, q, k)
            x = x + (0.0 if k is None else self.shortening(i, x, q, k, inside))
            result += [px + np.cos(angle) * x - np.sin(angle) * w, py + np.sin(angle) * x + np.cos(angle) * w]
        return np.array(result)

    def strain_energy(self, q):
        total = 0.0
        for i, link in enumerate(self.links):
            if link.get("rigid"):
                continue
            n, length = link["elements"], link["length"]
            outside = q[self.starts[i]] if self.smooth_pb(link) else length
            h = outside / n
            for k in range(1, n + 1):
                for node, weight in zip(NODES, WEIGHTS, strict=True):
                    x = length - outside + h * (k - 0.5 + 0.5 * node)
                    total = total + 0.25 * h * weight * link["EI"] * self.deflection(i, x, q, k, 2) ** 2
        return total

    def evaluate(self, q, qd, qdd):
        """M, generalized forces F, tip, kinetic and potential energy."""
        q, qd, qdd = (np.array(v, dtype=float) for v in (q, qd, qdd))
        inside, points = self.inside(q), self.masses(q)
        masses = np.repeat([mass for mass, *_ in points], 2)

        def rate(at, direction):
            return self.positions(at + 1j * STEP * direction, points, inside).imag / STEP

        J = np.column_stack([rate(q, unit) for unit in np.eye(self.nq)])
        h = 2e-3
        ahead = [rate(q + s * h * qd, qd) for s in (-2, -1, 1, 2)]
        bias = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
        weight = np.tile(self.gravity, len(points))
        M = J.T @ (masses[:, None] * J)
        strain = [np.imag(self.strain_energy(q + 1j * STEP * unit)) / STEP for unit in np.eye(self.nq)]
        F = M @ qdd + J.T @ (masses * (bias - weight)) + np.array(strain)
        tip = self.positions(q, points[-1:], inside)
        velocity = J @ qd
        potential = float(self.strain_energy(q)) - float(masses * weight @ self.positions(q, points, inside))
        return {"M": M, "F": F, "tip": tip, "T": 0.5 * velocity @ (masses * velocity), "V": potential}
