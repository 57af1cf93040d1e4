"""Expected energies by link and component: squares of the parts of r^(n) about the mass centre of each body.

With s from the mass centre of a body, in its own axes, r^(n) = r_C^(n) + w^(p) x R s + (R^(n) R^-1 - {w^(p) x}) R s +
sum_(i<n) C(n, i) R^(i) s^(n-i), n = p + 1. All in base components, from poses and integrals of the description.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, factorial

import numpy as np

from elastogen.generator.reference.evaluated import BodySeries, Evaluated
from elastogen.generator.reference.expected.inner_forces import owner
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found, coefficient
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Array, Quantities
from elastogen.generator.robot.robot import Robot

HIGHEST = 4
_MOTION = ("q", "qd", "qdd", "q3", "q4", "q5")


@dataclass(frozen=True)
class _Carrier:
    """The frame that a body is described in: derivatives 0 .. n of its pose, and the base components of w^(n-1)."""

    T: list[Array]
    swing: Array  # {w^(p) x}

    @classmethod
    def of(cls, pose: MatrixSeries, n: int, count: int) -> _Carrier:
        T = [factorial(k) * coefficient(pose, k, (count,)) for k in range(n + 1)]
        R = MatrixSeries([each[..., :3, :3] / factorial(k) for k, each in enumerate(T)])
        rate = MatrixSeries([(k + 1) * each for k, each in enumerate(R.values[1:])])
        spins = factorial(n - 1) * (rate @ R.inverse()).values[n - 1]
        return cls(T, (spins - np.swapaxes(spins, -1, -2)) / 2)


def _carrier(robot: Robot, body: BodySeries) -> tuple[str, bool]:
    """The link whose frame, or whose end, carries a rigid body: bodies that are fixed to each other are one."""
    by_child = {joint.child: joint for joint in robot.joints}
    link, end = body.link, body.kind in ("tip", "payload") and robot.link(body.link).flexible is not None
    while not end and link in by_child and not by_child[link].type.moves and by_child[link].coupling is None:
        link = by_child[link].parent
        end = robot.link(link).flexible is not None
    return link, end


def _square(A: Array, G: Array, B: Array) -> Array:
    """Tr(A G B^T)."""
    found: Array = ((A @ G) * B).sum(axis=(-1, -2))
    return found


def _parts(of: _Carrier, S: list[Array], G: Array, moved: Array, n: int) -> tuple[Array, Array]:
    """(states, 5) and a size of each; S are derivatives of s = S rho, ``moved`` is r_C^(n)."""
    R = [T[..., :3, :3] for T in of.T]
    m = float(G[3, 3])
    turned = of.swing @ R[0] @ S[0]
    rest = R[n] @ S[0] - turned
    shape = np.zeros_like(turned)
    for i in range(n):
        shape = shape + comb(n, i) * R[i] @ S[n - i]
    translation = 0.5 * m * (moved**2).sum(axis=-1)
    rotation, centrifugal, deformation = (0.5 * _square(A, G, A) for A in (turned, rest, shape))
    coupling = _square(turned, G, rest) + _square(turned, G, shape) + _square(rest, G, shape)
    return np.stack([translation, rotation, coupling, centrifugal, deformation], axis=-1), rotation + centrifugal + deformation


def _rigid(of: _Carrier, G: Array, n: int) -> tuple[Array, Array]:
    m = float(G[3, 3])
    centre = G[:, 3] / m if m else np.array([*G[:3, 3], 1.0])
    S = np.eye(3, 4)
    S[:, 3] = -centre[:3]
    moved = (of.T[n] @ centre)[..., :3]
    zero = np.zeros((3, 4))
    values, size = _parts(of, [S, *([zero] * n)], G, moved, n)
    turns = (np.abs(each).max(axis=(-1, -2)) ** 2 for each in (of.T[n][..., :3, :3], of.swing))
    reach = sum(turns, np.zeros(())) * np.trace(G[:3, :3])
    far = m * ((np.abs(of.T[n]) @ np.abs(centre)) ** 2).sum(axis=-1)
    return values, np.stack([far, *([size + reach] * 4)], axis=-1)


def _flexible(of: _Carrier, body: BodySeries, n: int) -> tuple[Array, Array]:
    G, count = body.G, len(of.swing)
    R = MatrixSeries([each[..., :3, :3] / factorial(k) for k, each in enumerate(of.T)])
    P = MatrixSeries([np.broadcast_to(each, (count, *each.shape[-2:])) for each in body.P.values])
    inside = R.inverse() @ P
    S, sizes = [], []
    for k in range(n + 1):
        own = factorial(k) * np.array(inside.values[k])
        own[..., 3] = 0.0
        sizes.append(np.abs(own))
        own[..., 3] = -(own @ G[:, 3]) / G[3, 3]
        S.append(own)
    moved = factorial(n) * (P.values[n] @ G[:, 3]) / G[3, 3]
    values, size = _parts(of, S, G, moved, n)
    reach = np.zeros_like(size)
    for i in range(n + 1):
        A = comb(n, i) * np.abs(of.T[i][..., :3, :3]) @ sizes[n - i]
        reach = reach + _square(A, np.abs(G), A)
    return values, np.stack([values[:, 0] + reach, *([size + reach] * 4)], axis=-1)


def _gathered(of: Quantities, evaluated: Evaluated) -> Iterable[list[BodySeries]]:
    found: dict[tuple[str, bool], list[BodySeries]] = {}
    for body in evaluated.bodies:
        if body.kind != "flexible":
            found.setdefault(_carrier(of.of.robot, body), []).append(body)
    return found.values()


def energy_parts(p: int) -> Expectation:
    """By moving joint: translation, rotation, coupling, centrifugal terms, deformation, drive; not of beams that slide."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        robot, n = of.of.robot, p + 1
        evaluated, count = of.along(*_MOTION[: n + 1]), len(of.at("q"))
        if any(body.G_slope is not None for body in evaluated.bodies):
            return []
        row = {joint.child: k for k, joint in enumerate(robot.moving_joints)}
        value, size = np.zeros((2, count, len(row), 6))

        def add(link: str, parts: tuple[Array, Array]) -> None:
            at = row.get(owner(robot, link))
            if at is not None:
                value[:, at, :5] += parts[0]
                size[:, at, :5] += parts[1]

        for bodies in _gathered(of, evaluated):
            add(bodies[0].link, _together(bodies, n, count))
        for body in evaluated.bodies:
            if body.kind == "flexible":
                carrier = _Carrier.of(evaluated.links[body.link], n, count)
                add(body.link, _flexible(carrier, body, n))
        rates = of.drives * of.at(_MOTION[n]) ** 2 / 2
        for joint, place in zip(robot.joints, of.of.places, strict=True):
            if joint.child in row:
                value[:, row[joint.child], 5] = size[:, row[joint.child], 5] = rates[:, list(place.v)].sum(axis=-1)
        return [(found[0].reshape(value.shape), value, size + 1e-300)]

    return check


def _together(bodies: Sequence[BodySeries], n: int, count: int) -> tuple[Array, Array]:
    """Rigid bodies that are fixed to each other as one, in the frame of the first."""
    first = _square_pose(bodies[0].P)
    carrier = _Carrier.of(first, n, count)
    G = np.zeros((4, 4))
    for body in bodies:
        relative = np.linalg.inv(carrier.T[0][0]) @ coefficient(_square_pose(body.P), 0, (count,))[0]
        G += relative @ body.G @ relative.T
    return _rigid(carrier, G, n)


def _square_pose(P: MatrixSeries) -> MatrixSeries:
    """The pose of a rigid body, whose points are P (r, 1)."""
    values = []
    for k, each in enumerate(P.values):
        full = np.zeros((*each.shape[:-2], 4, 4))
        full[..., :3, :] = each
        full[..., 3, 3] = float(k == 0)
        values.append(full)
    return MatrixSeries(values)


ENERGY_PARTS: dict[str, Expectation] = {
    "kinetic_energy_parts": energy_parts(0),
    **{f"acceleration_energy_parts_{p}": energy_parts(p) for p in range(1, HIGHEST + 1)},
}
"""By the names of the catalogue."""
