"""A free hub, a body on a ball joint and one on a hinge, as mass points along a motion: exact power series in time.

Written apart from the generator. The motion is any p(t), rotation vectors a(t) of the hub and b(t) of the ball joint and the
angle c(t) of the hinge; velocities in the moving frames, their derivatives, forces and energies follow from the series.
"""

import math

import numpy as np
import point_oracle as oracle
from free_bodies import body_points

HUB, BALL, HINGE = np.array([0.2, -0.1, 0.3]), np.array([0.4, 0.1, -0.2]), np.array([0.0, 1.0, 0.0])
BODIES = (
    (3.0, (0.05, -0.02, 0.1), (0.3, 0.35, 0.4)),
    (1.5, (0.2, 0.1, 0.0), (0.1, 0.12, 0.15)),
    (0.8, (0.3, 0.0, 0.1), (0.02, 0.09, 0.1)),
)
GRAVITY = np.array([0.5, -1.0, -9.0])


def description():
    """The robot file."""
    links = [
        {"name": name, "mass": m, "com": list(com), "inertia": list(inertia)}
        for name, (m, com, inertia) in zip(("hub", "body", "rod"), BODIES, strict=True)
    ]
    joints = [
        {"name": "ball", "type": "spherical", "placement": {"xyz": HUB.tolist()}},
        {"name": "hinge", "type": "revolute", "axis": HINGE.tolist(), "placement": {"xyz": BALL.tolist()}},
    ]
    return {
        "elastogen": 1,
        "name": "free_chain",
        "base": "floating",
        "gravity": GRAVITY.tolist(),
        "links": links,
        "joints": joints,
        "tip": {"link": "rod"},
    }


def _rate(x):
    """Time derivative of a series; the last coefficient is unknown, and zero."""
    return oracle.Jet([*(x.c[1:] * np.arange(1, len(x.c))), 0.0])


rate = np.vectorize(_rate, otypes=[object])


def value(x, order):
    """Derivative of that order of series, at t = 0."""
    return np.vectorize(lambda j: j.c[order].real * math.factorial(order), otypes=[float])(x)


def spin(R):
    """Angular velocity of axes, in their own components."""
    W = R.T.dot(rate(R))
    return [(W[a][b] - W[b][a]) * 0.5 for a, b in ((2, 1), (0, 2), (1, 0))]


class Motion:
    """A random motion of that many derivatives."""

    def __init__(self, rng, orders):
        self.orders = orders
        self.p, a, b = (np.array([self._series(rng, 0.8) for _ in range(3)], dtype=object) for _ in range(3))
        c = self._series(rng, 1.0)
        one = oracle.Jet([1.0, *[0.0] * orders])
        self.frames = []  # axes and origins of the three bodies
        R, o = oracle.exponential(a) * one, self.p
        self.frames.append((R, o))
        o, R = o + R.dot(HUB), R.dot(oracle.exponential(b))
        self.frames.append((R, o))
        o, R = o + R.dot(BALL), R.dot(oracle.exponential(HINGE * c))
        self.frames.append((R, o))
        turns = [self.frames[0][0], oracle.exponential(b) * one]
        spins = [spin(turn) for turn in turns]
        self.v = np.array([*self.frames[0][0].T.dot(rate(self.p)), *spins[0], *spins[1], _rate(c)], dtype=object)
        q = [value(self.p, 0), *(self._quaternion(value(turn, 0)) for turn in turns), [value(np.array([c]), 0)[0]]]
        self.q = np.concatenate([q[0], q[1], q[2], q[3]])

    def _series(self, rng, size):
        return oracle.Jet(rng.uniform(-size, size, self.orders + 1))

    @staticmethod
    def _quaternion(R):
        """From the eigenvector of 1: independent of any chart."""
        w = 0.5 * math.sqrt(max(0.0, 1.0 + np.trace(R)))
        return [(R[2][1] - R[1][2]) / (4 * w), (R[0][2] - R[2][0]) / (4 * w), (R[1][0] - R[0][1]) / (4 * w), w]

    def state(self, orders):
        """q, qd, qdd, q3, ... with so many derivatives of the velocities."""
        names = ("qd", "qdd", "q3", "q4", "q5")
        return {"q": self.q, **{name: value(self.v, k) for k, name in enumerate(names[:orders])}}

    def points(self):
        """Mass, position, and number of the body of every mass point."""
        for k, body in enumerate(BODIES):
            R, o = self.frames[k]
            for mass, place in body_points(*body):
                yield mass, o + R.dot(place), k

    def energy(self, p):
        """1/2 sum m |r^(p+1)|^2, of every body."""
        found = np.zeros(len(BODIES))
        for mass, r, k in self.points():
            found[k] += 0.5 * mass * (value(r, p + 1) ** 2).sum()
        return found

    def forces(self, gravity):
        """sum m J_i . (r'' - g) as series, J_i the velocity of a point per unit velocity i."""
        total = [0.0] * 10
        for mass, r, k in self.points():
            force = (rate(rate(r)) - gravity) * mass
            fields = [self.frames[0][0][:, i] for i in range(3)]
            fields += [self._swing(0, np.eye(3)[i], r) for i in range(3)]
            fields += [self._swing(1, np.eye(3)[i], r) if k >= 1 else np.zeros(3) for i in range(3)]
            fields += [self._swing(2, HINGE, r) if k >= 2 else np.zeros(3)]
            total = [t + field.dot(force) for t, field in zip(total, fields, strict=True)]
        return np.array(total, dtype=object)

    def _swing(self, frame, axis, r):
        R, o = self.frames[frame]
        return oracle.skew(R.dot(axis)).dot(r - o)

    def pose(self, k, order):
        """Derivative of T of a body, 4 x 4."""
        R, o = self.frames[k]
        T = np.zeros((4, 4))
        T[:3, :3], T[:3, 3] = value(R, order), value(o, order)
        T[3, 3] = 1.0 if order == 0 else 0.0
        return T
