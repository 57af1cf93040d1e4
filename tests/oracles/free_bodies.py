"""Forces on parts of a robot from free-body equations: sums over mass points of m (acceleration - g), by power series in time.

Written apart from the generator: a part is a list of (mass, chain) with chains of point_oracle.py; bodies with a tensor are
spread over the six points at the ends of their ellipsoid of inertia, beams over Gauss points.
"""

from itertools import pairwise

import numpy as np
import point_oracle as oracle

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)  # exact to degree 7: levers times accelerations of cubics
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def body_points(mass, com, inertia):
    """Six points of a body with that mass, centre and diagonal tensor about the centre: (mass, place)."""
    moments = np.asarray(inertia, dtype=float)
    squares = (moments.sum() / 2 - moments) * 3 / mass  # 2 (m/6) a_k^2 = int x_k^2
    found = []
    for k in range(3):
        for sign in (-1, 1):
            place = np.array(com, dtype=float)
            place[k] += sign * np.sqrt(squares[k])
            found.append((mass / 6, place))
    return found


def beam_points(mass_per_length, ends):
    """Gauss points of a uniform beam, piece by piece: (mass, x)."""
    found = []
    for a, b in pairwise(ends):
        found += [(mass_per_length * (b - a) * w, a + (b - a) * t) for t, w in zip(NODES, WEIGHTS, strict=True)]
    return found


def moved(part, *motion):
    """Mass, place and acceleration of the points of a part."""
    found = []
    for mass, chain in part:
        _, r = oracle.pose(chain, oracle.jets(motion, 2))
        found.append((mass, oracle.coefficient(r, 0).real, 2 * oracle.coefficient(r, 2).real))
    return found


def frame(chain, q):
    """Axes and origin of a chain's frame."""
    R, p = oracle.pose(chain, oracle.jets([q], 0))
    return oracle.coefficient(R, 0).real, oracle.coefficient(p, 0).real


def wrench(points, origin, gravity):
    """Force and moment that moved points need, about an origin, in base components."""
    force, moment = np.zeros(3), np.zeros(3)
    for mass, place, acceleration in points:
        f = mass * (acceleration - gravity)
        force, moment = force + f, moment + np.cross(place - origin, f)
    return np.concatenate([force, moment])


def projected(wrench, axes):
    return np.concatenate([axes.T @ wrench[:3], axes.T @ wrench[3:]])
