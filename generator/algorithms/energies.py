"""Kinetic and potential energy by recursion over the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elastogen.generator.algorithms.kinematics import Twist
from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Vec, add, cross, dot, scale


def kinetic_energy(mechanism: Mechanism, velocities: Sequence[Twist], q: Sequence[Value], qd: Sequence[Value]) -> Value:
    """Sum of 1/2 m v.v + v.(omega x S) + 1/2 omega.(L omega) over the bodies (paper 000 (40)-(44)).

    A flexible body adds v.dS + omega.int r_e x dr_e dm + 1/2 int dr_e.dr_e dm (000 (97)-(99)).
    """
    graph = mechanism.graph
    total = graph.value(0)
    for frame, twist in zip(mechanism.frames, velocities, strict=True):
        with graph.section(f"{frame.label}: kinetic energy"):
            body, v, omega = frame.inertia, twist.linear, twist.angular
            if frame.elastic is not None:
                deformed = frame.elastic.moved(q)
                body = body + deformed.inertia
                momentum, spin, inner = deformed.momenta(frame.elastic.own(qd))
                total = total + dot(v, momentum) + dot(omega, spin) + inner
            _, rotating = replace(body, m=graph.value(0), S=[graph.value(0)] * 3).times_twist(omega, v)
            twice = dot(v, scale(v, body.m)) + dot(omega, rotating)
            total = total + twice * 0.5 + dot(v, cross(omega, body.S))
    return total


def first_moments(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> tuple[Value, Vec]:
    """Return mass and first moments about the origin of the base of all moving bodies, summed inward."""
    zero = mechanism.graph.value(0)
    masses = [frame.inertia.m for frame in mechanism.frames]
    moments = [frame.inertia.S for frame in mechanism.frames]
    mass: Value = zero
    base: Vec = [zero] * 3
    for index in reversed(range(len(mechanism.frames))):
        frame = mechanism.frames[index]
        with mechanism.graph.section(f"{frame.label}: first moments of the bodies from here on"):
            if frame.elastic is not None:
                body = frame.elastic.moved(q).inertia
                masses[index], moments[index] = masses[index] + body.m, add(moments[index], body.S)
            moved = add(placed[index].rotation.outward(moments[index]), scale(placed[index].position, masses[index]))
            if frame.parent >= 0:
                masses[frame.parent] = masses[frame.parent] + masses[index]
                moments[frame.parent] = add(moments[frame.parent], moved)
            else:
                mass, base = mass + masses[index], add(base, moved)
    return mass, base


def potential_energy(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> Value:
    """Return -sum of m g.r_C over the bodies, zero for masses at the origin of the base."""
    return -dot(mechanism.gravity, first_moments(mechanism, placed, q)[1])
