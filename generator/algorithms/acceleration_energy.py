"""Energies of accelerations in body components (explicit form, paper 000 (53)-(56) for p = 1, and its continuation).

In the components of its own frame, the (k)-th derivative of the position of a point r is a_k + U_k r, with U_k = R^T d^kR/dt^k.
From one order to the next: a_(k+1) = da_k + omega x a_k, U_(k+1) = dU_k + {omega x} U_k, where d differentiates components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.newton_euler import Placed, outward
from elastogen.generator.bodies.elastic_body import rigid_energy
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross


@dataclass(frozen=True)
class BodyMotion:
    """Operators U_0 = E, U_1, ... and a_k of the highest order k, in body components."""

    U: list[Mat]
    a: Vec


def body_motions(
    mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], order: int
) -> list[BodyMotion]:
    """Return the operators of all frames up to an order (at least 2)."""
    graph = mechanism.graph
    zero, one = graph.value(0), graph.value(1)
    start = outward(mechanism, placed, motion[0], motion[1], motion[2], [zero] * 3)
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    omegas = [m.omega for m in start]
    operators = [[unit, [cross(m.omega, column) for column in unit], m.U] for m in start]
    for known in operators:  # columns of {omega x} to rows
        known[1] = [list(row) for row in zip(*known[1], strict=True)]
    linear = [m.a for m in start]
    chain = mechanism.in_time(motion)
    for _ in range(order - 2):
        with graph.section("rates of the accelerations"):
            flat = [v for U, a in zip(operators, linear, strict=True) for v in (*a, *(x for row in U[-1] for x in row))]
            rates = time_derivative(graph, flat, chain)
            for index, omega in enumerate(omegas):
                da, dU = rates[12 * index : 12 * index + 3], rates[12 * index + 3 : 12 * index + 12]
                linear[index] = add(da, cross(omega, linear[index]))
                rotated = [cross(omega, list(column)) for column in zip(*operators[index][-1], strict=True)]
                operators[index].append([[dU[3 * r + c] + rotated[c][r] for c in range(3)] for r in range(3)])
    return [BodyMotion(U, a) for U, a in zip(operators, linear, strict=True)]


def acceleration_energy(mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], p: int) -> Value:
    """Return E^(p) = 1/2 int |r^(p+1)|^2 dm, p >= 1."""
    graph = mechanism.graph
    total = graph.value(0)
    for frame, body in zip(mechanism.frames, body_motions(mechanism, placed, motion, p + 1), strict=True):
        with graph.section(f"{frame.label}: acceleration energy"):
            total = total + rigid_energy(frame.inertia, body.U[-1], body.a)
            if frame.elastic is not None:
                total = total + frame.elastic.moved(motion[0]).acceleration_energy(motion, body.U, body.a)
    return total
