"""Kinetic and potential energy by recursion over the bodies."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.graph import Value
from elastogen.generator.kinematics import Twist
from elastogen.generator.mechanism import Mechanism
from elastogen.generator.newton_euler import Placed
from elastogen.generator.vectors import Vec, add, cross, dot, scale


def kinetic_energy(mechanism: Mechanism, velocities: Sequence[Twist]) -> Value:
    """Sum of 1/2 m v.v + v.(omega x S) + 1/2 omega.(L omega) over the bodies (seed 000 (40)-(44))."""
    total = mechanism.graph.value(0)
    for frame, twist in zip(mechanism.frames, velocities, strict=True):
        mechanism.graph.section = f"{frame.joint}: kinetic energy"
        body, v, (x, y, z) = frame.inertia, twist.linear, twist.angular
        P = body.P
        angular = [
            (P.yy + P.zz) * x - P.xy * y - P.xz * z,
            (P.xx + P.zz) * y - P.xy * x - P.yz * z,
            (P.xx + P.yy) * z - P.xz * x - P.yz * y,
        ]
        twice = dot(v, scale(v, body.m)) + dot(twist.angular, angular)
        total = total + twice * 0.5 + dot(v, cross(twist.angular, body.S))
    return total


def potential_energy(mechanism: Mechanism, placed: Sequence[Placed]) -> Value:
    """-sum of m g.r_C over the bodies, zero for masses in the origin of the base; first moments are summed inward."""
    zero = mechanism.graph.value(0)
    masses = [frame.inertia.m for frame in mechanism.frames]
    moments = [frame.inertia.S for frame in mechanism.frames]
    base: Vec = [zero] * 3
    for index in reversed(range(mechanism.size)):
        parent = mechanism.frames[index].parent
        mechanism.graph.section = f"{mechanism.frames[index].joint}: first moments of the bodies from here on"
        moved = add(placed[index].rotation.outward(moments[index]), scale(placed[index].position, masses[index]))
        if parent >= 0:
            masses[parent], moments[parent] = masses[parent] + masses[index], add(moments[parent], moved)
        else:
            base = add(base, moved)
    return -dot(mechanism.gravity, base)
