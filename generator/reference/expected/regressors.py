"""Expected regressors, column by column: the forces of a unit of each parameter."""

from __future__ import annotations

import numpy as np

from elastogen.generator.beams.integrals import DIRECTIONS
from elastogen.generator.beams.piecewise import to_scalar
from elastogen.generator.reference.closed_loops import Closed
from elastogen.generator.reference.evaluated import BodySeries
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Array, Quantities, Sized
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody

PER_BODY = 10


def _basis() -> Array:
    """Pseudo-inertias of a unit of m, mx, my, mz, Lxx, Lxy, Lxz, Lyy, Lyz, Lzz about a frame's origin."""
    found = np.zeros((PER_BODY, 4, 4))
    found[0, 3, 3] = 1.0
    for k in range(3):
        found[1 + k, k, 3] = found[1 + k, 3, k] = 1.0
    for number, (i, j) in zip(range(4, 10), ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), strict=True):
        if i == j:
            found[number, :3, :3] = np.eye(3) / 2
            found[number, i, i] -= 1.0
        else:
            found[number, i, j] = found[number, j, i] = -1.0
    return found


def _forces(of: Quantities, unit: MatrixSeries, moving: MatrixSeries, G: Array) -> Array:
    """Forces (states, n) of a body with this pseudo-inertia."""
    partial = unit.values[1] if unit.width > 1 else np.zeros((4, 4))
    dP = np.broadcast_to(partial, (len(of.at("q")), of.n, 4, 4))[..., :3, :]
    acc = of.felt(BodySeries(moving.rows(3), G), gravity=True)
    pushed = np.broadcast_to(acc @ G, (len(of.at("q")), 3, 4))  # of a body on the base it is one for all states
    found: Array = np.einsum("skrc,scr->sk", dP, np.swapaxes(pushed, -1, -2)) * of.free
    return found


def _blocks(of: Quantities) -> list[Array]:
    """Ten columns (states, n, 10) for every frame that can carry bodies, in joint order."""
    found, basis = [], _basis()
    for joint in of.of.robot.joints:
        ends = [(joint.child, name) for name in _ends(of.of.robot.link(joint.child).flexible)]
        poses = [(of.unit.links[joint.child], of.moving.links[joint.child])]
        poses += [(of.unit.ends[end], of.moving.ends[end]) for end in ends]
        found += [np.stack([_forces(of, *pair, G) for G in basis], axis=-1) for pair in poses]
    return found


def _ends(body: FlexibleBody | None) -> list[str]:
    return [] if body is None else [end.name for end in body.interfaces]


def _further(of: Quantities) -> list[Array]:
    """Columns (states, n) of flexible links, flexible joints and drives."""
    robot, found, x = of.of.robot, [], of.positions
    for joint, place in zip(robot.joints, of.of.places, strict=True):
        body = robot.link(joint.child).flexible
        if body is not None and len(place.elastic[1]):
            found += _flexible(of, joint.child, body, list(place.elastic[1]))
    for joint, place in zip(robot.joints, of.of.places, strict=True):
        if place.deflection is not None and joint.elasticity is not None:
            k = place.deflection[1]
            for value, column in ((joint.elasticity.stiffness, x), (joint.elasticity.damping, of.at("qd"))):
                found += [_single(of, k, column[:, k])] if of.of.number(value) else []
    for joint, place in zip(robot.joints, of.of.places, strict=True):
        for k in place.v:
            found += [_single(of, k, column) for column in of.drive_columns(joint, k)]
    return found


def _single(of: Quantities, k: int, column: Array) -> Array:
    found = np.zeros((len(of.at("q")), of.n))
    found[:, k] = column
    return found


def _flexible(of: Quantities, link: str, body: FlexibleBody, own: list[int]) -> list[Array]:
    bodies = [k for k, each in enumerate(of.moving.bodies) if each.link == link and each.kind == "flexible"]
    forces = np.zeros((len(of.at("q")), of.n))
    for k in bodies:
        acc = of.felt(of.moving.bodies[k], gravity=True)
        weighted = of.moving.bodies[k].weighted(acc)
        forces = forces + (of.unit.bodies[k].P.values[1] * weighted[:, None]).sum(axis=(-1, -2))
    mass = of.of.number(body.mass)
    groups: list[tuple[float, list[int]]] = [(1.0, own)]
    if body.beam is not None:
        mass = of.of.number(to_scalar(body.beam.beam.mass_per_length.start))
    if body.beam is not None and not body.beam.beam.shear:
        used = {mode.direction for mode in body.beam.modes}
        groups = [
            (of.of.number(to_scalar(body.beam.beam.stiffness[d].start)),
             [own[j] for j, mode in enumerate(body.beam.modes) if mode.direction == d])
            for d in DIRECTIONS if d in used
        ]  # fmt: skip
    found, x = [forces / mass * of.free], of.positions
    for value, group in groups:
        column = np.zeros_like(forces)
        if body.clamp_moves:
            column = of.elastic_forces_of(link)
        else:
            for i in group:
                column[:, i] = np.einsum("sj,sj->s", of.stiffness[:, i, group], x[:, group])
        found.append(column / value * of.free)
    damping = of.damping_of(link)
    if damping.any():
        found.append(np.einsum("sij,sj->si", damping, of.at("qd")) * of.free)
    return found


def _columns(of: Quantities) -> tuple[list[Array], list[Array]]:
    """Blocks of ten, and the further columns; of mechanisms the drives' share."""
    blocks, further = _blocks(of), _further(of)
    if of.of.robot.loops:
        closed = Closed(of)

        def share(column: Array) -> Array:
            return closed.drive_forces(Sized(column, np.abs(column))).value

        blocks = [np.stack([share(block[..., k]) for k in range(PER_BODY)], axis=-1) for block in blocks]
        further = [share(column) for column in further]
    return blocks, further


def _size(columns: list[Array]) -> float:
    return max([1e-300, *(float(np.abs(c).max(initial=0.0)) for c in columns)])


def _size_of(column: Array, all_columns: list[Array]) -> float:
    """The size of a column; one that loops cancel has the rounding errors of the others."""
    return max(_size([column]), 1e-3 * _size(all_columns))


def regressor(of: Quantities, found: Found) -> list[Difference]:
    """Every block of ten belongs to a frame; the others are in order."""
    blocks, further = _columns(of)
    Y, width = found[0], found[0].shape[-1] - len(further)
    if width < 0 or width % PER_BODY:
        return [(Y, np.full_like(Y, np.inf), 1.0)]
    result: list[Difference] = []
    for k in range(0, width, PER_BODY):
        own = Y[..., k : k + PER_BODY]
        nearest = min(blocks, key=lambda block: float(np.nan_to_num(np.abs(own - block), nan=np.inf).max()))
        result.append((own, nearest, _size_of(nearest, blocks)))
    for k, column in enumerate(further):
        result.append((Y[..., width + k], column, _size_of(column, further)))
    return result


def base_regressor(of: Quantities, found: Found) -> list[Difference]:
    """Every column is one of the regressor's."""
    blocks, further = _columns(of)
    known = [*(block[..., k] for block in blocks for k in range(PER_BODY)), *further]
    result: list[Difference] = []
    for k in range(found[0].shape[-1]):
        own = found[0][..., k]
        nearest = min(known, key=lambda column: float(np.nan_to_num(np.abs(own - column), nan=np.inf).max()))
        result.append((own, nearest, _size_of(nearest, known)))
    return result


REGRESSORS: dict[str, Expectation] = {"regressor": regressor, "base_regressor": base_regressor}
"""By the names of the catalogue."""
