"""Mass matrix by composite rigid bodies, and by unit accelerations; the derivation takes the cheaper one.

M_ij is the generalized force at joint i for a unit acceleration of joint j, all velocities being zero (seed 002 (21)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elastogen.generator.graph import Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.mechanism import Mechanism
from elastogen.generator.newton_euler import Placed, inverse_dynamics
from elastogen.generator.vectors import Mat, add, cross


def composite_inertias(mechanism: Mechanism, placed: Sequence[Placed]) -> list[Inertia]:
    """Inertia of every frame's body together with all bodies further out, in that frame."""
    composite = [frame.inertia for frame in mechanism.frames]
    for index in reversed(range(mechanism.size)):
        frame, place_ = mechanism.frames[index], placed[index]
        if frame.parent >= 0:
            mechanism.graph.section = f"{frame.joint}: composite body"
            body, R = composite[index], place_.rotation
            turned = replace(body, S=R.outward(body.S), P=R.outward_symmetric(body.P))
            composite[frame.parent] = composite[frame.parent] + turned.shifted(place_.position)
    return composite


def mass_matrix_by_composites(mechanism: Mechanism, placed: Sequence[Placed]) -> Mat:
    """M: the wrench that accelerates each composite body by its joint's unit twist, projected on all joints inward."""
    zero = mechanism.graph.value(0)
    M = [[zero] * mechanism.size for _ in range(mechanism.size)]
    composite = composite_inertias(mechanism, placed)
    for column in range(mechanism.size):
        force, moment = mechanism.frames[column].motion.inertia_wrench(composite[column])
        mechanism.graph.section = f"{mechanism.frames[column].joint}: column of the mass matrix"
        row = column
        while True:
            frame = mechanism.frames[row]
            M[row][column] = M[column][row] = frame.motion.project(force, moment)
            if frame.parent < 0:
                break
            R = placed[row].rotation
            force = R.outward(force)
            moment = add(R.outward(moment), cross(placed[row].position, force))
            row = frame.parent
    return M


def mass_matrix_by_unit_accelerations(mechanism: Mechanism, q: Sequence[Value], moment: str) -> Mat:
    """M: inverse dynamics for one unit acceleration at a time, without velocities and gravity."""
    graph = mechanism.graph
    zero = graph.value(0)
    n = mechanism.size
    M = [[zero] * n for _ in range(n)]
    for column in range(n):
        unit = [graph.value(1 if k == column else 0) for k in range(n)]
        forces = inverse_dynamics(mechanism, q, [zero] * n, unit, [zero] * 3, moment)
        for row in mechanism.ancestors(column):
            M[row][column] = M[column][row] = forces[row]
    return M
