"""Mass matrix by composite rigid bodies, and by unit accelerations; the derivation takes the cheaper one.

M_ij is the generalized force at joint i for a unit acceleration of joint j, all velocities being zero (seed 002 (21)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from elastogen.generator.graph import Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.mechanism import Mechanism
from elastogen.generator.newton_euler import Placed, inverse_dynamics
from elastogen.generator.vectors import Mat, Vec, add, cross


def composite_inertias(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> list[Inertia]:
    """Inertia of every frame's bodies together with all bodies further out, in that frame, at the present deformation."""
    composite = [frame.inertia for frame in mechanism.frames]
    for index in reversed(range(len(mechanism.frames))):
        frame, place_ = mechanism.frames[index], placed[index]
        mechanism.graph.section = f"{frame.label}: composite body"
        if frame.elastic is not None:
            body = frame.elastic.deformed([q[k] for k in frame.elastic.coordinates])
            composite[index] = composite[index] + body.inertia
        if frame.parent >= 0:
            moved, R = composite[index], place_.rotation
            turned = replace(moved, S=R.outward(moved.S), P=R.outward_symmetric(moved.P))
            composite[frame.parent] = composite[frame.parent] + turned.shifted(place_.position)
    return composite


def mass_matrix_by_composites(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> Mat:
    """M: the wrench that accelerates each composite body by a coordinate's unit twist, projected on all joints inward.

    An elastic coordinate moves its own body as well: that wrench is added where the recursion comes through its frame.
    """
    zero = mechanism.graph.value(0)
    M = [[zero] * mechanism.size for _ in range(mechanism.size)]
    composite = composite_inertias(mechanism, placed, q)
    own_wrench: dict[int, tuple[Vec, Vec]] = {}  # of elastic coordinates
    for frame in mechanism.frames:
        if frame.elastic is not None:
            body = frame.elastic.deformed([q[k] for k in frame.elastic.coordinates])
            own_wrench.update(zip(frame.elastic.coordinates, body.unit_wrenches(), strict=True))
            block = body.mass_block()
            for r, i in enumerate(frame.elastic.coordinates):
                for c, j in enumerate(frame.elastic.coordinates):
                    M[i][j] = block[r][c]
    for index, frame in enumerate(mechanism.frames):
        wrenches = frame.motion.inertia_wrenches(frame.own(q), composite[index])
        for column, wrench in zip(frame.coordinates, wrenches, strict=True):
            mechanism.graph.section = f"{frame.label}: column of the mass matrix"
            _fill_column(mechanism, placed, q, index, column, wrench, own_wrench, M)
    return M


def _fill_column(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    index: int,
    column: int,
    wrench: tuple[Vec, Vec],
    own_wrench: Mapping[int, tuple[Vec, Vec]],
    M: Mat,
) -> None:
    """Project a coordinate's wrench on the coordinates of its own frame and of all frames inward."""
    force, moment = wrench
    for row in mechanism.ancestors(index):
        frame = mechanism.frames[row]
        if frame.elastic is not None and column in frame.elastic.coordinates:
            force, moment = add(force, own_wrench[column][0]), add(moment, own_wrench[column][1])
        for coordinate, value in zip(
            frame.coordinates, frame.motion.project(frame.own(q), force, moment), strict=True
        ):
            if row == index:  # both directions are visited
                M[coordinate][column] = M[coordinate][column] + value
            else:
                M[coordinate][column] = M[column][coordinate] = value
        R = placed[row].rotation
        force = R.outward(force)
        moment = add(R.outward(moment), cross(placed[row].position, force))


def mass_matrix_by_unit_accelerations(mechanism: Mechanism, q: Sequence[Value], moment: str) -> Mat:
    """M: inverse dynamics for one unit acceleration at a time, without velocities and gravity."""
    graph = mechanism.graph
    zero = graph.value(0)
    n = mechanism.size
    M = [[zero] * n for _ in range(n)]
    for column in range(n):
        unit = [graph.value(1 if k == column else 0) for k in range(n)]
        forces = inverse_dynamics(mechanism, q, [zero] * n, unit, [zero] * 3, moment)
        for row in range(column + 1):
            M[row][column] = M[column][row] = forces[row]
    return M
