"""Natural frequencies of flexible bodies clamped in their link frames, at the nominal values of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.moments import moments, pseudo_inertia, rigid_body
from elastogen.generator.robot.robot import ZERO3, Body, Joint, Link, Matrix, Parameter, Robot, Scalar

Array = npt.NDArray[np.float64]


def clamped_modes(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """Return the frequencies [rad/s], lowest first, and the shapes (columns, X^T M X = E) of K x = w^2 M x.

    By the Cholesky factor of M: with M = C C^T the problem is the symmetric one of C^-1 K C^-T. Rows and columns are
    scaled to a unit diagonal of M first. Raises ``numpy.linalg.LinAlgError`` if M is not positive definite.
    """
    scale, factor, symmetric = _symmetric_problem(mass, stiffness)
    squares, vectors = np.linalg.eigh(symmetric)
    shapes = scale[:, None] * np.linalg.solve(factor.T, vectors)
    return np.sqrt(np.maximum(squares, 0.0)), shapes


def clamped_frequencies(mass: Array, stiffness: Array) -> Array:
    """Return the frequencies of ``clamped_modes`` alone, in a fraction of the time."""
    frequencies: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(_symmetric_problem(mass, stiffness)[2]), 0.0))
    return frequencies


def _symmetric_problem(mass: Array, stiffness: Array) -> tuple[Array, Array, Array]:
    scale: Array = 1 / np.sqrt(np.diag(mass))
    factor = np.asarray(np.linalg.cholesky(mass * np.outer(scale, scale)), dtype=np.float64)
    half = np.linalg.solve(factor, stiffness * np.outer(scale, scale))
    symmetric: Array = np.linalg.solve(factor, half.T)
    return scale, factor, (symmetric + symmetric.T) / 2


def natural_frequencies(
    body: FlexibleBody,
    tip_body: Body | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    others: Mapping[str, Body] = MappingProxyType({}),
) -> Array:
    """Return the frequencies [rad/s] of a flexible body clamped in its link frame, with a rigid body on its tip.

    ``others`` are rigid bodies on its other interfaces, by their names.
    A beam with free ends that slides through its joint is taken with all of it outside: its first node is clamped.
    """
    known = parameters or {}
    free = slice(2 if body.telescope is not None and body.telescope.nodal else 0, None)
    mass = numeric(mass_matrix(body, tip_body or Body(), others), known)[free, free]
    return clamped_frequencies(mass, numeric(body.stiffness, known)[free, free])


def mass_matrix(body: FlexibleBody, tip_body: Body, others: Mapping[str, Body] = MappingProxyType({})) -> Matrix:
    """Return the mass matrix of the elastic coordinates in the undeformed state, with a rigid body on the tip.

    ``others`` are rigid bodies on other interfaces, by their names.
    """
    size = len(body.coordinates)
    rows: list[list[Scalar]] = []
    for line in body.field_field_integrals[:size]:
        rows.append([0 if own is ZERO3 else own[0][0] + own[1][1] + own[2][2] for own in line[:size]])
    for name, load in {TIP: tip_body, **others}.items():
        _add_load(rows, body.interface(name), load)
    return tuple(tuple(row) for row in rows)


def _add_load(rows: list[list[Scalar]], place: Interface, load: Body) -> None:
    """Add a rigid body: its centre moves by b_j + delta_j x (R c), it rotates by delta_j."""
    pose, com = place.pose, load.com
    lever = [sum(pose[i][k] * com[k] for k in range(3)) for i in range(3)]
    turns = [list(row) for row in place.rotations]
    moves = [
        [shift + swing for shift, swing in zip(place.displacements[j], _cross(turn, lever), strict=True)]
        for j, turn in enumerate(turns)
    ]
    inner = [[sum(pose[k][i] * turn[k] for k in range(3)) for i in range(3)] for turn in turns]  # in the load's axes
    inertia = load.inertia
    moved = {j for j in range(len(turns)) if any(entry != 0 for entry in (*moves[j], *turns[j]))}
    for j in moved:
        for k in moved:
            shift = load.mass * sum(moves[j][i] * moves[k][i] for i in range(3))
            turn = sum(inner[j][a] * inertia[a][b] * inner[k][b] for a in range(3) for b in range(3))
            rows[j][k] = rows[j][k] + (shift + turn)


def numeric(matrix: Matrix, parameters: Mapping[str, Parameter]) -> Array:
    """Return a matrix at the nominal values of the parameters."""
    try:
        return np.array(matrix, dtype=np.float64)
    except (TypeError, OverflowError):  # an entry names a parameter, or is not a real number
        return np.array([[nominal(entry, parameters) for entry in row] for row in matrix], dtype=np.float64)


def critical_rates(robot: Robot) -> dict[str, float]:
    """Return, per flexible link without foreshortening, the joint rate [rad/s] at which it loses its stiffness.

    It is the link's first natural frequency when clamped, with all that it carries attached rigidly to its tip in the
    zero configuration: at that rate the centrifugal forces of the linear model cancel the stiffness.
    """
    return {link.name: float(loaded_frequencies(robot, link)[0]) for link in robot.links if loses_stiffness(link)}


def loses_stiffness(link: Link) -> bool:
    """Whether a link has a rate at which it loses its stiffness: it bends without foreshortening."""
    return link.flexible is not None and bool(link.flexible.coordinates) and not link.flexible.foreshortened


@contextmanager
def naming_heavy_tips(where: Location) -> Iterator[None]:
    """Turn a mass matrix that rounding makes indefinite into an error of the description."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise where.error(
            "a tip body that outweighs the elastic coordinates beyond all rounding",
            "a body on the tip of the size of the link itself",
            "check mass, com and inertia of the tip",
        ) from None


def loaded_frequencies(robot: Robot, link: Link) -> Array:
    """Return the frequencies [rad/s] of a flexible link when clamped, with all that it carries, in the zero configuration."""
    assert link.flexible is not None
    try:
        others = {place.name: carried_body(robot, link, place.name) for place in link.flexible.others}
        return natural_frequencies(link.flexible, carried_body(robot, link), robot.parameters, others)
    except np.linalg.LinAlgError:
        raise (
            Location(robot.source or "python")
            .at("links", link.name)
            .error(
                "a load that outweighs its elastic coordinates beyond all rounding",
                "masses and distances beyond it of the size of its own",
                "check masses, centres of mass and lengths of the links that it carries",
            )
        ) from None


@dataclass(frozen=True)
class CriticalRate:
    """A flexible link without foreshortening, the joint coordinates that spin it, and its critical rate [rad/s]."""

    link: str
    coordinates: tuple[int, ...]
    rate: float


def spinning_joints(robot: Robot) -> tuple[CriticalRate, ...]:
    """For each flexible link that loses its stiffness when it spins, the coordinates of the joints inward of it that rotate."""
    index = {name: k for k, name in enumerate(robot.velocity_names)}
    carrier = {joint.child: joint for joint in robot.joints}
    found = []
    for link, rate in critical_rates(robot).items():
        rotating, name = [], link
        while name in carrier:
            joint = carrier[name]
            rotating += [index[joint.type.velocities[k].name(joint.name)] for k in joint.type.rotating]
            name = joint.parent
        if rotating:
            found.append(CriticalRate(link, tuple(sorted(rotating)), rate))
    return tuple(found)


def carried_body(robot: Robot, link: Link, interface: str = TIP) -> Body:
    """Return what the tip of a flexible link carries, as one rigid body in the tip frame at the zero configuration.

    The same for another ``interface`` of the link.
    """
    total = np.zeros((4, 4))  # int (r; 1)(r; 1)^T dm, paper 002 (19)

    def add(child: Link, place: Array) -> None:
        nonlocal total
        total = total + place @ _pseudo_inertia(child.body, robot) @ place.T
        if child.flexible is None:
            add_beyond(child, TIP, place)
            return
        total = total + place @ _undeformed(child.flexible, robot) @ place.T
        for seat in child.flexible.interfaces:
            add_beyond(child, seat.name, place @ numeric(seat.pose, robot.parameters))

    def add_beyond(carrier: Link, seat: str, end: Array) -> None:
        nonlocal total
        if seat == TIP:
            total = total + end @ _pseudo_inertia(carrier.tip_body, robot) @ end.T
            if carrier.name == robot.tip:
                tool = end @ numeric(robot.tool, robot.parameters)
                total = total + tool @ _pseudo_inertia(robot.payload, robot) @ tool.T
        for joint in robot.joints:
            if joint.parent == carrier.name and (joint.interface or TIP) == seat:
                add(robot.link(joint.child), end @ _at_zero(joint, robot))

    add_beyond(link, interface, np.eye(4))
    return rigid_body(total)


def _at_zero(joint: Joint, robot: Robot) -> Array:
    return numeric(joint.before, robot.parameters) @ numeric(joint.after, robot.parameters)


def _undeformed(body: FlexibleBody, robot: Robot) -> Array:
    first = numeric((body.first_moments,), robot.parameters)[0]
    return moments(nominal(body.mass, robot.parameters), first, numeric(body.second_moments, robot.parameters))


def _pseudo_inertia(body: Body, robot: Robot) -> Array:
    com, inertia = numeric((body.com,), robot.parameters)[0], numeric(body.inertia, robot.parameters)
    return pseudo_inertia(nominal(body.mass, robot.parameters), com, inertia)


def _cross(a: Any, b: Any) -> list[Scalar]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
