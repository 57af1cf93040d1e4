"""Frames by plain products of rotations and shifts along a motion, as power series in time: exact derivatives of every order.

Written apart from the generator. A number is a Jet, sum_k c[k] t^k with complex coefficients, so that complex steps give
derivatives of derivatives. A chain is a list of steps, functions of the coordinates that return a rotation and a shift.
"""

import math

import numpy as np


class Jet:
    """sum_k c[k] t^k."""

    def __init__(self, c):
        self.c = np.asarray(c, dtype=complex)

    @staticmethod
    def of(value, like):
        return value if isinstance(value, Jet) else Jet([value, *[0.0] * (len(like.c) - 1)])

    def __add__(self, other):
        return Jet(self.c + Jet.of(other, self).c)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.c)

    def __sub__(self, other):
        return self + (-Jet.of(other, self))

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.c * other)
        return Jet(np.convolve(self.c, other.c)[: len(self.c)])

    __rmul__ = __mul__

    def __truediv__(self, other):
        b, found = Jet.of(other, self).c, []
        for k in range(len(b)):
            found.append((self.c[k] - sum(found[i] * b[k - i] for i in range(k))) / b[0])
        return Jet(found)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]], dtype=object)


def exponential(v):
    """exp{v x} = E + sin t / t {v x} + (1 - cos t) / t^2 {v x}^2, by series in t^2 = v.v: exact to rounding below 3 rad."""
    square = v.dot(v)
    first, second = 0.0, 0.0
    for k in reversed(range(14)):
        first = (-1) ** k / math.factorial(2 * k + 1) + square * first
        second = (-1) ** k / math.factorial(2 * k + 2) + square * second
    return np.eye(3) + skew(v) * first + skew(v).dot(skew(v)) * second


def turn(axis, k):
    return lambda q: (exponential(np.array(axis, dtype=object) * q[k]), np.zeros(3))


def slide(axis, k):
    return lambda q: (np.eye(3), np.array(axis, dtype=object) * q[k])


def shift(*xyz):
    return lambda q: (np.eye(3), np.array(xyz, dtype=object))


def rpy(roll, pitch, yaw):
    x, y, z = (exponential(np.array(v, dtype=object)) for v in ((roll, 0, 0), (0, pitch, 0), (0, 0, yaw)))
    fixed = np.array(z.dot(y).dot(x), dtype=float)
    return lambda q: (fixed, np.zeros(3))


def bent(displacement, rotation, linear=False):
    """A section: displaced and rotated by functions of q, by exp{delta x} or E + {delta x}."""

    def step(q):
        delta = np.array(rotation(q), dtype=object)
        return (np.eye(3) + skew(delta) if linear else exponential(delta)), np.array(displacement(q), dtype=object)

    return step


def pose(chain, q):
    R, p = np.eye(3, dtype=object) + 0 * q[0], np.zeros(3, dtype=object) + 0 * q[0]
    for step in chain:
        rotation, place = step(q)
        p = p + R.dot(place)
        R = R.dot(rotation)
    return R, p


def jets(motion, order):
    rows = [np.asarray(row, dtype=complex) for row in motion]
    rows += [0 * rows[0]] * (order + 1 - len(rows))
    return [Jet([row[j] / math.factorial(k) for k, row in enumerate(rows)]) for j in range(len(rows[0]))]


def coefficient(entries, k):
    return np.vectorize(lambda x: x.c[k] if isinstance(x, Jet) else (x if k == 0 else 0.0), otypes=[complex])(entries)


def axial(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def velocity(chain, q, qd):
    """(v, omega), complex; omega is the skew part of dR R^-1."""
    R, p = pose(chain, jets([q, qd], 1))
    spin = coefficient(R, 1) @ np.linalg.inv(coefficient(R, 0))
    return np.concatenate([coefficient(p, 1), axial(spin)])


def acceleration(chain, *motion):
    """The rate of that."""
    R, p = pose(chain, jets(motion, 2))
    inverse = np.linalg.inv(coefficient(R, 0))
    spin = coefficient(R, 1) @ inverse
    return np.concatenate([2 * coefficient(p, 2), axial(2 * coefficient(R, 2) @ inverse - spin @ spin)])


def jerk(chain, *motion):
    """The rate of the acceleration: with S = dR/dt R^-1, the skew part of d^2S/dt^2."""
    R, p = pose(chain, jets(motion, 3))
    rates = [math.factorial(k) * coefficient(R, k) for k in range(4)]
    inverse = np.linalg.inv(rates[0])
    S = rates[1] @ inverse
    first = rates[2] @ inverse - S @ S
    second = rates[3] @ inverse - rates[2] @ inverse @ S - first @ S - S @ first
    return np.concatenate([6 * coefficient(p, 3), axial(second)])


def jacobian(chain, q):
    return np.stack([velocity(chain, q, unit) for unit in np.eye(len(q))], axis=1)


def jacobian_rate(chain, q, qd, h=1e-30):
    return jacobian(chain, np.asarray(q) + 1j * h * np.asarray(qd)).imag / h


def everything(chains, gravity, q, qd, qdd, names):
    """What those functions of points give, for a list of chains."""
    found = {name: [] for name in names}
    for chain in chains:
        R, p = pose(chain, jets([q], 0))
        v, a = velocity(chain, q, qd).real, acceleration(chain, q, qd, qdd).real
        axes = coefficient(R, 0).real
        for name in names:
            found[name].append({
                "point_positions": lambda p=p: coefficient(p, 0).real,
                "point_velocities": lambda v=v: v,
                "point_accelerations": lambda a=a: a,
                "point_jacobians": lambda chain=chain: jacobian(chain, q).real,
                "point_jacobian_rates": lambda chain=chain: jacobian_rate(chain, q, qd),
                "accelerometers": lambda axes=axes, a=a: axes.T @ (a[:3] - gravity),
                "gyroscopes": lambda axes=axes, v=v: axes.T @ v[3:],
            }[name]())  # fmt: skip
    return {name: np.array(values) for name, values in found.items()}
