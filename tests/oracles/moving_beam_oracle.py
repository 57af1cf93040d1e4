"""Chains with beams that slide through their joints, by power series in time: exact derivatives of the positions of points.

Written apart from the generator: along a polynomial q(t) every coordinate is a truncated power series, and so is the position
of every material point, by paper 003's lemma (1), Hermite interpolation on the part outside of the joint and, with
foreshortening, quadrature of 1/2 w'^2 from the clamp to the point. Everything else is sums over Gauss points.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(7)  # exact to degree 13; squares of accelerations have degree 10
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


class Series:
    """sum_k c[k] t^k, the coefficients numbers or arrays."""

    __array_priority__ = 100

    def __init__(self, c):
        self.c = np.asarray(c, dtype=float)

    def _of(self, other):
        if isinstance(other, Series):
            return other.c
        value = np.asarray(other, dtype=float)
        return np.concatenate([value[None], np.zeros((len(self.c) - 1, *value.shape))])

    def __add__(self, other):
        a, b = self.c, self._of(other)
        return Series([x + y for x, y in zip(a, b, strict=True)])

    __radd__ = __add__

    def __neg__(self):
        return Series(-self.c)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        a, b = self.c, self._of(other)
        return Series([sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))])

    __rmul__ = __mul__

    def __truediv__(self, other):
        a, b = self.c, self._of(other)
        found = []
        for k in range(len(a)):
            found.append((a[k] - sum(found[i] * b[k - i] for i in range(k))) / b[0])
        return Series(found)

    def turn(self):
        """Cosine and sine."""
        c, s = [np.cos(self.c[0])], [np.sin(self.c[0])]
        for k in range(1, len(self.c)):
            c.append(-sum(j * self.c[j] * s[k - j] for j in range(1, k + 1)) / k)
            s.append(sum(j * self.c[j] * c[k - j] for j in range(1, k + 1)) / k)
        return Series(c), Series(s)


@dataclass
class Chain:
    """Links as in the ``planar:`` block of a robot file: R and Pa rigid, Pb flexible."""

    links: list
    payload: float
    gravity: tuple

    def __post_init__(self):
        self.starts = []
        place = 0
        for link in self.links:
            self.starts.append(place)
            place += 1 if link.get("rigid") else 1 + 2 * link["elements"]
        self.nq = place

    def description(self, name):
        planar = {"links": self.links, "payload": {"mass": self.payload}, "gravity": list(self.gravity)}
        return {"elastogen": 1, "name": name, "planar": planar}

    def displacement(self, i, q, x, k, nodal=False):
        """Along, across and slope at x (nodal: at the end) of element k of the part outside; k = 0 is behind the joint."""
        link, d = self.links[i], q[self.starts[i]]
        if k == 0:
            return 0.0, 0.0, 0.0
        n, h = link["elements"], d * (1 / link["elements"])
        t = 1.0 + 0.0 * d if nodal else (x - link["length"] + d) / h - (k - 1)
        u = [0.0, 0.0, *q[self.starts[i] + 1 : self.starts[i] + 1 + 2 * n]]

        def cubic(e):
            a, b, c, f = u[2 * e - 2], h * u[2 * e - 1], u[2 * e], h * u[2 * e + 1]
            return [a, b, 3 * (c - a) - 2 * b - f, 2 * (a - c) + b + f]

        def slope(e, at):
            _, b, c, f = cubic(e)
            return (b + 2 * c * at + 3 * f * (at * at)) / h

        value = cubic(k)
        across = value[0] + t * (value[1] + t * (value[2] + t * value[3]))
        along = 0.0
        if link.get("foreshortening"):
            for e in range(1, k + 1):
                end = t if e == k else 1.0
                for node, weight in zip(NODES, WEIGHTS, strict=True):
                    tilt = slope(e, end * node)
                    along = along - 0.5 * weight * (tilt * tilt) * h * end
        return along, across, slope(k, t)

    def element(self, i, q, x):
        link, d = self.links[i], q[self.starts[i]]
        return max(0, math.ceil((1 - (link["length"] - x) / d) * link["elements"]))

    def points(self, q):
        """(mass, link, place, element) of groups of points of one element each."""
        found = []
        for i, link in enumerate(self.links):
            if link.get("rigid"):
                scatter = math.sqrt(link["inertia"] / link["mass"])
                found.append((np.full(2, link["mass"] / 2), i, link["length"] / 2 + scatter * np.array([-1.0, 1.0]), 0))
                continue
            length, n, d = link["length"], link["elements"], q[self.starts[i]]
            ends = [0.0, *(length - d + d * k / n for k in range(n + 1))]
            for k, (a, b) in enumerate(pairwise(ends)):
                found.append((link["mass_per_length"] * (b - a) * WEIGHTS, i, a + (b - a) * NODES, k))
        last = self.links[-1]
        end = 0 if last.get("rigid") else last["elements"]
        found.append((np.array([self.payload]), len(self.links) - 1, np.array([last["length"]]), end))
        return found

    def positions(self, q, points, contacts):
        """Positions of all points, (x, y) per group; ``contacts`` are the elements inside the joints Pa."""
        angle, x, y, places = 0.0 * q[0], 0.0 * q[0], 0.0 * q[0], []
        for i, link in enumerate(self.links):
            p, below = q[self.starts[i]], self.links[i - 1] if i else None
            place = 0.0 * q[0]
            along, across, tilt = place, place, place
            if below is not None and link["joint"] == "Pa":
                along, across, tilt = self.displacement(i - 1, q, p, contacts[i], link.get("slide") == "nodal")
                place = p
            elif below is not None:
                place = place + below["length"]
                if not below.get("rigid"):
                    along, across, tilt = self.displacement(i - 1, q, below["length"], below["elements"])
            turn = tilt + (p if link["joint"] == "R" else link["gamma"])
            c, s = angle.turn()
            x, y = x + c * (place + along) - s * across, y + s * (place + along) + c * across
            angle = angle + turn
            if link["joint"] == "Pb":  # what is inside the joint reaches back
                c, s = angle.turn()
                x, y = x + c * (p - link["length"]), y + s * (p - link["length"])
            places.append((angle, x, y))
        found = []
        for mass, i, place, k in points:
            angle, x, y = places[i]
            along, across, _ = self.displacement(i, q, place, k)
            c, s = angle.turn()
            found.append((mass, x + c * (place + along) - s * across, y + s * (place + along) + c * across))
        return found

    def moved(self, motion, order):
        """Masses and Taylor coefficients (order + 1, 2, points) along q(t) = sum of motion[k] t^k / k!."""
        motion = [np.asarray(row, dtype=float) for row in motion]
        c = [motion[k] / math.factorial(k) if k < len(motion) else 0 * motion[0] for k in range(order + 1)]
        q = [Series([row[j] for row in c]) for j in range(self.nq)]
        points = self.points(motion[0])
        contacts = {
            i: self.element(i - 1, motion[0], motion[0][self.starts[i]])
            for i, link in enumerate(self.links)
            if link["joint"] == "Pa" and i
        }
        groups = self.positions(q, points, contacts)
        masses = np.concatenate([mass for mass, _, _ in groups])
        places = np.concatenate([np.stack([x.c, y.c], axis=1) for _, x, y in groups], axis=2)
        return masses, places

    def energy(self, motion, p):
        """1/2 sum m |r^(p+1)|^2."""
        masses, places = self.moved(motion, p + 1)
        return 0.5 * float(np.sum(masses * (math.factorial(p + 1) * places[p + 1]) ** 2))

    def strain_energy(self, q):
        """1/2 int EI w''^2 dx, for numbers or series."""
        total = 0.0
        for i, link in enumerate(self.links):
            if link.get("rigid"):
                continue
            n = link["elements"]
            h = q[self.starts[i]] * (1 / n)
            u = [0.0, 0.0, *q[self.starts[i] + 1 : self.starts[i] + 1 + 2 * n]]
            for e in range(1, n + 1):
                a, b, c, f = u[2 * e - 2], h * u[2 * e - 1], u[2 * e], h * u[2 * e + 1]
                for node, weight in zip(NODES, WEIGHTS, strict=True):
                    bend = (6 * (c - a) - 4 * b - 2 * f + node * (12 * (a - c) + 6 * b + 6 * f)) / (h * h)
                    total = total + 0.5 * link["EI"] * weight * (bend * bend) * h
        return total

    def evaluate(self, q, qd, qdd):
        """M, F, their parts, tip and energies."""
        masses, places = self.moved([q, qd, qdd], 2)
        J = np.stack([self.moved([q, unit], 1)[1][1] for unit in np.eye(self.nq)])  # (nq, 2, points)
        weight = np.array(self.gravity)[:, None] * np.ones_like(masses)
        M = np.einsum("p,jcp,kcp->jk", masses, J, J)
        strain = [self.strain_energy([Series([a, b]) for a, b in zip(q, unit, strict=True)]).c[1] for unit in np.eye(self.nq)]
        gravity = -np.einsum("p,jcp,cp->j", masses, J, weight)
        inertia = np.einsum("p,jcp,cp->j", masses, J, 2 * places[2])
        potential = float(self.strain_energy(list(q))) - float(np.sum(masses * weight * places[0]))
        return {
            "M": M, "G": gravity, "C": inertia - M @ qdd, "F": inertia + gravity + np.array(strain), "K": np.array(strain),
            "tip": places[0][:, -1], "T": 0.5 * float(np.sum(masses * places[1] ** 2)), "V": potential,
        }  # fmt: skip
