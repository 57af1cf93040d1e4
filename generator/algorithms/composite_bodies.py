"""Mass matrix by composite rigid bodies, and by unit accelerations; the derivation takes the cheaper one.

M_ij is the generalized force at joint i for a unit acceleration of joint j, all velocities being zero (paper 002 (21)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from elastogen.generator.algorithms.newton_euler import Placed, inverse_dynamics
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross

Wrench: TypeAlias = "tuple[Vec, Vec]"  # force and moment in the components of a frame


def composite_inertias(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> list[Inertia]:
    """Return the inertia of every frame's bodies together with all bodies outward, in that frame, as deformed at present."""
    composite = [frame.inertia for frame in mechanism.frames]
    for index in reversed(range(len(mechanism.frames))):
        frame, place_ = mechanism.frames[index], placed[index]
        with mechanism.graph.section(f"{frame.label}: composite body"):
            if frame.elastic is not None:
                body = frame.elastic.moved(q)
                composite[index] = composite[index] + body.inertia
            if frame.parent >= 0:
                moved, R = composite[index], place_.rotation
                rotated = replace(moved, S=R.outward(moved.S), P=R.outward_symmetric(moved.P))
                composite[frame.parent] = composite[frame.parent] + rotated.shifted(place_.position)
    return composite


def gravity_by_composites(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> list[Value]:
    """G of a rigid robot: the weight -m g of every composite body at its centre of mass, projected on its joint.

    Beside a mass matrix, which needs the composite bodies as well, this costs little more than rotating g outward.
    """
    composite = composite_inertias(mechanism, placed, q)
    result = [mechanism.graph.value(0)] * mechanism.size
    down: list[Vec] = []  # g in the components of every frame
    for frame, place_, body in zip(mechanism.frames, placed, composite, strict=True):
        with mechanism.graph.section(f"{frame.label}: weight"):
            root = mechanism.gravity if place_.group_parent < 0 else down[place_.group_parent]
            down.append(place_.group_rotation.inward(root))
            force = [-(body.m * g) for g in down[-1]]
            moment = [-component for component in cross(body.S, down[-1])]
            for coordinate, value in frame.scatter(frame.motion.project(frame.at(q), force, moment)):
                result[coordinate] = result[coordinate] + value
    return result


def mass_matrix_by_composites(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> Mat:
    """M: the wrench that accelerates each composite body by a coordinate's unit twist, projected on all joints inward.

    An elastic coordinate moves its own body as well, and it may move more than one frame (the tip of its beam, and a joint
    that slides along it): its wrenches are added where their ways inward meet.
    """
    zero, size = mechanism.graph.value(0), mechanism.size
    own, carried = ([[zero] * size for _ in range(size)] for _ in range(2))
    for frame in reversed(mechanism.frames):  # a column beside the next composite body: independent, so they overlap
        parts = ("its block of the mass matrix", "column of the mass matrix", "composite body")
        mechanism.graph.outline(f"{frame.label}: {part}" for part in parts)
    composite = composite_inertias(mechanism, placed, q)
    frames: list[list[int]] = [[] for _ in range(size)]  # that each coordinate moves
    twists: dict[tuple[int, int], Wrench] = {}  # by coordinate and frame: of the composite body
    bodies: dict[tuple[int, int], Wrench] = {}  # by coordinate and frame: of the flexible body itself
    for index, frame in enumerate(mechanism.frames):
        wrenches = frame.motion.inertia_wrenches(frame.at(q), composite[index])
        for shares, wrench in zip(frame.shares, wrenches, strict=True):
            for coordinate, share in shares:
                _add_wrench(twists, (coordinate, index), wrench, share)
        for coordinate in frame.touched:
            frames[coordinate].append(index)
        with mechanism.graph.section(f"{frame.label}: its block of the mass matrix"):
            for r, row in enumerate(frame.motion.mass_block(frame.at(q), composite[index])):
                for c, value in enumerate(row):
                    for i, j, share in frame.pair_shares(r, c):
                        own[i][j] = own[i][j] + share * value
            if frame.elastic is not None:
                body = frame.elastic.moved(q)
                for coordinate, wrench in zip(frame.elastic.coordinates, body.unit_wrenches(), strict=True):
                    bodies[coordinate, index] = wrench
                    frames[coordinate].append(index)
                _add_block(own, frame.elastic.coordinates, body.mass_block())
    for column in range(size):
        _fill_column(mechanism, placed, q, column, frames[column], twists, bodies, carried)
    M = [[zero] * size for _ in range(size)]
    for r in range(size):
        for c in range(r, size):
            M[r][c] = M[c][r] = own[r][c] + (carried[r][c] + carried[c][r])
    return M


def _add_wrench(wrenches: dict[tuple[int, int], Wrench], key: tuple[int, int], wrench: Wrench, share: Value) -> None:
    force, moment = ([share * x for x in part] for part in wrench)
    if key in wrenches:
        force, moment = add(wrenches[key][0], force), add(wrenches[key][1], moment)
    wrenches[key] = (force, moment)


def _add_block(M: Mat, coordinates: Sequence[int], block: Mat) -> None:
    for r, i in enumerate(coordinates):
        for c, j in enumerate(coordinates):
            M[i][j] = M[i][j] + block[r][c]


def _fill_column(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    column: int,
    moved: Sequence[int],
    twists: Mapping[tuple[int, int], Wrench],
    bodies: Mapping[tuple[int, int], Wrench],
    carried: Mat,
) -> None:
    """Project a coordinate's wrenches on the coordinates of the frames it moves and of all frames inward.

    ``carried`` takes what comes from further out, or from a frame's own flexible body: products of two different parts
    of the motion, each visited once. Products of one frame's twists are not visited: see JointMotion.mass_block.
    """
    incoming: dict[int, Wrench] = {index: bodies[column, index] for index in moved if (column, index) in bodies}
    visited = sorted({ancestor for index in moved for ancestor in mechanism.ancestors(index)}, reverse=True)
    with mechanism.graph.section(f"{mechanism.frames[moved[0]].label}: column of the mass matrix"):
        for row in visited:
            frame = mechanism.frames[row]
            wrench = incoming.get(row)
            if wrench is not None:
                for coordinate, value in frame.scatter(frame.motion.project(frame.at(q), *wrench)):
                    carried[coordinate][column] = carried[coordinate][column] + value
            twist = twists.get((column, row))
            if twist is not None:
                wrench = twist if wrench is None else (add(wrench[0], twist[0]), add(wrench[1], twist[1]))
            if wrench is not None and frame.parent >= 0:
                R = placed[row].rotation
                force = R.outward(wrench[0])
                moment = add(R.outward(wrench[1]), cross(placed[row].position, force))
                if frame.parent in incoming:
                    other = incoming[frame.parent]
                    force, moment = add(other[0], force), add(other[1], moment)
                incoming[frame.parent] = (force, moment)


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
