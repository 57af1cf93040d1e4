"""Energies of accelerations in body components (explicit form, seed 000 (53)-(56) for p = 1, and its continuation).

In the components of its own frame, the (k)-th derivative of the position of a point r is a_k + U_k r, with U_k = R^T d^kR/dt^k.
From one order to the next: a_(k+1) = da_k + omega x a_k, U_(k+1) = dU_k + {omega x} U_k, where d differentiates components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

from elastogen.generator.differentiate import time_derivative
from elastogen.generator.graph import Graph, Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.mechanism import Frame, Mechanism
from elastogen.generator.newton_euler import Placed, outward
from elastogen.generator.vectors import Mat, Vec, add, combination, cross, dot, times


@dataclass(frozen=True)
class BodyMotion:
    """Operators U_0 = E, U_1, ... and a_k of the highest order k, in body components."""

    U: list[Mat]
    a: Vec


def body_motions(
    mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], order: int
) -> list[BodyMotion]:
    """Operators of all frames up to an order (at least 2)."""
    graph = mechanism.graph
    zero, one = graph.value(0), graph.value(1)
    start = outward(mechanism, placed, motion[0], motion[1], motion[2], [zero] * 3)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    omegas = [m.omega for m in start]
    operators = [[unit, [cross(m.omega, column) for column in unit], m.U] for m in start]
    for known in operators:  # columns of {omega x} to rows
        known[1] = [list(row) for row in zip(*known[1], strict=True)]
    linear = [m.a for m in start]
    chain = list(pairwise(motion))
    for _ in range(order - 2):
        graph.section = "rates of the accelerations"
        flat = [v for U, a in zip(operators, linear, strict=True) for v in (*a, *(x for row in U[-1] for x in row))]
        rates = time_derivative(graph, flat, chain)
        for index, omega in enumerate(omegas):
            da, dU = rates[12 * index : 12 * index + 3], rates[12 * index + 3 : 12 * index + 12]
            linear[index] = add(da, cross(omega, linear[index]))
            turned = [cross(omega, list(column)) for column in zip(*operators[index][-1], strict=True)]
            operators[index].append([[dU[3 * r + c] + turned[c][r] for c in range(3)] for r in range(3)])
    return [BodyMotion(U, a) for U, a in zip(operators, linear, strict=True)]


def acceleration_energy(
    mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], p: int
) -> Value:
    """E^(p) = 1/2 int |r^(p+1)|^2 dm, p >= 1."""
    graph = mechanism.graph
    total = graph.value(0)
    for frame, body in zip(mechanism.frames, body_motions(mechanism, placed, motion, p + 1), strict=True):
        graph.section = f"{frame.label}: acceleration energy"
        total = total + _rigid(frame.inertia, body.U[-1], body.a)
        if frame.elastic is not None:
            total = total + _elastic(graph, frame, body, motion, p + 1)
    return total


def _rigid(inertia: Inertia, U: Mat, a: Vec) -> Value:
    """1/2 m a.a + a.(U S) + 1/2 Tr(U P U^T)."""
    total = dot(a, [0.5 * inertia.m * x for x in a]) + dot(a, times(U, inertia.S))
    P = inertia.P.full
    for row in U:
        total = total + 0.5 * dot(row, times(P, row))
    return total


def _elastic(graph: Graph, frame: Frame, body: BodyMotion, motion: Sequence[Sequence[Value]], order: int) -> Value:
    """What a flexible body has: a + U r + sum_n Z_n b_n, Z_n = sum_i C(order, i) c_n^(order-i) U_i."""
    elastic = frame.elastic
    if elastic is None:
        raise AssertionError("called for flexible bodies only")
    deformed = elastic.deformed([motion[0][k] for k in elastic.coordinates])
    chain = list(pairwise(motion))
    c = [list(deformed.c)]
    for _ in range(order):
        c.append(time_derivative(graph, c[-1], chain))
    U, a = body.U[order], body.a
    total = _rigid(elastic.rigid, U, a)
    Z = []
    for n in range(len(elastic.monomials)):
        rows = []
        for r in range(3):
            weights = [c[order - i][n] * float(comb(order, i)) for i in range(order + 1)]
            rows.append(combination(graph, weights, [operator[r] for operator in body.U[: order + 1]]))
        Z.append(rows)
    for n, Zn in enumerate(Z):
        total = total + dot(a, times(Zn, elastic.D[n]))
        for r in range(3):  # Tr(Z B U^T), B = int b r^T dm
            total = total + dot(Zn[r], times(elastic.B[n], U[r]))
            for m, Zm in enumerate(Z):
                total = total + 0.5 * dot(Zn[r], times(elastic.G[n][m], Zm[r]))
    return total
