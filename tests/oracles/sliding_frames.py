"""Frames and mass points of two planar robots with a joint on a beam, P_a and P_b of paper 003, apart from the generator.

Chains of point_oracle.py: coordinates may be jets.
"""

import free_bodies
import numpy as np
import point_oracle as oracle

HERMITE = [np.polynomial.Polynomial(c) for c in ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))]


def cubic(q, first, k, h, t):
    """w and w' of an element k of a beam clamped at its first node, by jets; ``h`` and ``t`` may be jets."""
    nodes = [0.0, 0.0, *q[first:]][2 * k - 2 : 2 * k + 2]
    value, slope = 0.0 * q[0], 0.0 * q[0]
    powers = [1.0 + 0.0 * t, t, t * t, t * t * t]
    for j, (u, phi) in enumerate(zip(nodes, HERMITE, strict=True)):
        u = u * h if j % 2 else u * 1.0
        for c, power in zip(phi.coef, powers, strict=False):
            value = value + power * (u * float(c))
        for c, power in zip(phi.deriv().coef, powers, strict=False):
            slope = slope + power * (u * float(c)) / h
    return value, slope


def sliding(kind):
    """P_a: a rod slides along a beam of two elements. P_b: such a beam slides through a joint on a rod."""
    rod = {"length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01, "gamma": 0.4}
    beam = {"length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    if kind == "Pa":
        links = [{"joint": "R", **beam}, {"joint": "Pa", **rod}]
    else:
        links = [{"joint": "R", **{key: rod[key] for key in rod if key != "gamma"}}, {"joint": "Pb", "gamma": 0.4, **beam}]
    return {"elastogen": 1, "name": "sliding", "planar": {"links": links, "gravity": [0.5, -9.81], "payload": {"mass": 0.2}}}


def rod_points():
    scatter = np.sqrt(0.01 / 0.7)
    return [(0.35, (0.15 + sign * scatter, 0, 0)) for sign in (-1, 1)]


def beam_at(x):
    """The section at x of the beam of two elements."""
    k = 1 if x <= 0.4 else 2

    def moved(q):
        return cubic(q, 1, k, 0.4, x * (1 / 0.4) - (k - 1))

    return oracle.bent(lambda q: (x, moved(q)[0], 0), lambda q: (0, 0, moved(q)[1]))


def rod_on_beam(q):
    """Frames and mass points with the rod on the second element; the payload is on the rod's end."""
    beam_frame = [oracle.turn((0, 0, 1), 0)]

    def contact(q):
        w, slope = cubic(q, 1, 2, 0.4, q[5] * (1 / 0.4) - 1.0)
        return [q[5], w, 0], [0, 0, slope + 0.4]

    rod_frame = [*beam_frame, oracle.bent(lambda q: contact(q)[0], lambda q: contact(q)[1])]
    beam = [(m, [*beam_frame, beam_at(x)]) for m, x in free_bodies.beam_points(0.35, [0.0, 0.4, 0.8])]
    rod = [(m, [*rod_frame, oracle.shift(*r)]) for m, r in [*rod_points(), (0.2, (0.3, 0, 0))]]
    return [(beam_frame, beam), (rod_frame, rod)]


def beam_through_rod(q):
    """With d = q[1] outside; the payload is on the beam's end."""
    rod_frame = [oracle.turn((0, 0, 1), 0)]
    beam_frame = [
        *rod_frame,
        oracle.shift(0.3, 0, 0),
        oracle.rpy(0, 0, 0.4),
        oracle.slide((1, 0, 0), 1),
        oracle.shift(-0.8, 0, 0),
    ]

    def at(x, k):
        def moved(q):
            h = q[1] * 0.5
            return cubic(q, 2, k, h, (x - 0.8 + q[1]) / h - (k - 1.0))

        if k == 0:
            return oracle.shift(x, 0, 0)
        return oracle.bent(lambda q: (x, moved(q)[0], 0), lambda q: (0, 0, moved(q)[1]))

    d = q[1]
    ends = [0.0, 0.8 - d, 0.8 - d / 2, 0.8]
    places = [(m, x, sum(x > end for end in ends[1:])) for m, x in free_bodies.beam_points(0.35, ends)]
    rod = [(m, [*rod_frame, oracle.shift(*r)]) for m, r in rod_points()]
    return [(rod_frame, rod), (beam_frame, [(m, [*beam_frame, at(x, k)]) for m, x, k in [*places, (0.2, 0.8, 2)]])]
