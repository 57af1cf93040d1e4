"""Expected forces between links, by free-body sums."""

from __future__ import annotations

import numpy as np

from elastogen.generator.beams.place import Place
from elastogen.generator.beams.sections import part_beyond
from elastogen.generator.reference.closed_loops import Closed, LoopSeries
from elastogen.generator.reference.evaluated import BodySeries
from elastogen.generator.reference.expected.loops import work_of_loops
from elastogen.generator.reference.expected.plain import (
    Difference,
    Expectation,
    Found,
    coefficient,
    driving_forces,
    tree_forces,
)
from elastogen.generator.reference.named_frames import Frames
from elastogen.generator.reference.quantities import Array, Quantities
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody
from elastogen.generator.robot.robot import Point, Robot
from elastogen.generator.solids.sections import can_be_cut, cut


def _beyond(robot: Robot, link: str) -> set[str]:
    """A link and all its descendants."""
    found = {link}
    for joint in robot.joints:
        if joint.parent in found:
            found.add(joint.child)
    return found


def owner(robot: Robot, link: str) -> str:
    """The moving link to which a link is fixed."""
    by_child = {joint.child: joint for joint in robot.joints}
    moving = {joint.child for joint in robot.moving_joints}
    while link not in moving and link in by_child:
        link = by_child[link].parent
    return link


def _wrench(of: Quantities, bodies: list[BodySeries], p: Array, gravity: bool) -> tuple[Array, Array]:
    """int (r'' - g) dm and its moment about p, (states, 6) in base components, and a size of each."""
    count = len(of.at("q"))
    value, size = np.zeros((2, count, 6))
    for body in bodies:
        acc = of.felt(body, gravity)
        weighted = body.weighted(acc)
        force = weighted.sum(axis=-1) if body.G_slope is not None else weighted[..., 3]
        S = body.P.values[0] @ np.swapaxes(weighted, -1, -2)
        moment = np.stack([S[..., 1, 2] - S[..., 2, 1], S[..., 2, 0] - S[..., 0, 2], S[..., 0, 1] - S[..., 1, 0]], axis=-1)
        arm = np.cross(p, force)
        value = value + np.concatenate([force, moment - arm], axis=-1)
        sizes = np.abs(force).max(axis=-1), np.abs(S).max(axis=(-1, -2)) + np.abs(arm).max(axis=-1)
        size = size + np.repeat(np.stack(sizes, axis=-1), 3, axis=-1)
    return value, size


def _local(T: Array, wrench: Array) -> Array:
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    return np.concatenate([(back @ wrench[..., k : k + 3, None])[..., 0] for k in (0, 3)], axis=-1)


def _origins(of: Quantities) -> list[Array]:
    shape = (len(of.at("q")),)
    return [coefficient(of.moving.links[joint.child], 0, shape) for joint in of.of.robot.moving_joints]


def _per_joint(of: Quantities, *, own: bool, gravity: bool) -> tuple[Array, Array]:
    """Wrenches (states, joints, 6) in base components, of all bodies beyond each joint or of its link alone."""
    robot, rows = of.of.robot, []
    for joint, T in zip(robot.moving_joints, _origins(of), strict=True):
        chosen = _beyond(robot, joint.child)
        bodies = [b for b in of.moving.bodies
                  if (owner(robot, b.link) == joint.child if own else b.link in chosen)]  # fmt: skip
        rows.append(_wrench(of, bodies, T[..., :3, 3], gravity))
    found = np.stack([row[0] for row in rows], axis=1), np.stack([row[1] for row in rows], axis=1)
    return found[0], found[1] + found[1].max(axis=(1, 2), keepdims=True) * 1e-3


def reactions(base: bool) -> Expectation:
    """The reaction of the inner link on all bodies beyond, about the link's origin."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        value, size = _per_joint(of, own=False, gravity=True)
        origins = _origins(of)
        if of.of.robot.loops:
            given = found[0] if base else np.stack([_back(T, found[0][:, k]) for k, T in enumerate(origins)], axis=1)
            return _with_loops(of, given - value, size)
        if not base:
            value = np.stack([_local(T, value[:, k]) for k, T in enumerate(origins)], axis=1)
        return [(found[0], value, size)]

    return check


def _back(T: Array, wrench: Array) -> Array:
    return np.concatenate([(T[..., :3, :3] @ wrench[..., k : k + 3, None])[..., 0] for k in (0, 3)], axis=-1)


def _with_loops(of: Quantities, left: Array, size: Array) -> list[Difference]:
    """The remainder beside the bodies are wrenches of the loops, which do the work that drives leave to them."""
    robot, count = of.of.robot, len(of.at("q"))
    series, origins = LoopSeries(of, of.moving, (count,)), _origins(of)
    between = [loop for loop in robot.loops if loop.kind.between_frames]
    joints = list(robot.moving_joints)
    A = np.zeros((count, 6 * len(joints), 6 * len(between)))
    poses = []
    for c, loop in enumerate(between):
        a = series.coefficients(series.ends(loop)[0])[0]
        poses.append(a)
        for r, (joint, T) in enumerate(zip(joints, origins, strict=True)):
            inside = _beyond(robot, joint.child)
            sign = float(loop.a.link in inside) - float(loop.b.link in inside)
            arm = a[..., :3, 3] - T[..., :3, 3]
            block = np.zeros((count, 6, 6))
            block[:, :3, :3] = block[:, 3:, 3:] = np.eye(3)
            block[:, 3:, :3] = np.stack([np.cross(arm, np.eye(3)[k]) for k in range(3)], axis=-1)
            A[:, 6 * r : 6 * r + 6, 6 * c : 6 * c + 6] = sign * block
    flat = left.reshape(count, -1)
    wrenches = (np.linalg.pinv(A) @ flat[..., None])[..., 0]
    fitted = (A @ wrenches[..., None])[..., 0]
    scale = size.max(axis=(1, 2))[:, None] + np.abs(flat).max(axis=1, keepdims=True)
    result: list[Difference] = [(flat, fitted, scale)]
    if len(between) == len(robot.loops):
        given = np.stack([_local(a, wrenches[:, 6 * c : 6 * c + 6]) for c, a in enumerate(poses)], axis=1)
        tree = tree_forces(of, of.at("qdd"))
        work, sizes = work_of_loops(of, given)
        result.append((work, tree.value - of.unloaded(driving_forces(of).value), tree.size + sizes + scale))
    return result


def resultants(of: Quantities, found: Found) -> list[Difference]:
    """The resultant of each link, about its origin, in its axes; without gravity."""
    value, size = _per_joint(of, own=True, gravity=False)
    local = np.stack([_local(T, value[:, k]) for k, T in enumerate(_origins(of))], axis=1)
    return [(found[0], local, size)]


def section_loads(of: Quantities, found: Found) -> list[Difference]:
    """Loads of inner parts on all bodies beyond; not for beams that slide through their joints."""
    robot, row = of.of.robot, 0
    result: list[Difference] = []
    for point in robot.points:
        body = robot.link(point.link).flexible if point.link else None
        if body is None or (body.beam is None and not can_be_cut(body)):
            continue
        if body.beam is None:
            value, size = _solid_load(of, point, body)
            result.append((found[0][:, row], value, size))
        elif body.telescope is None:
            value, size = _section_load(of, point)
            result.append((found[0][:, row], value, size))
        row += 1
    return result


def _section_load(of: Quantities, point: Point) -> tuple[Array, Array]:
    robot, x = of.of.robot, of.of.number(point.pose[0][3])
    body = robot.link(point.link).flexible
    assert body is not None
    assert body.beam is not None
    bare = Point(
        f"section of {point.name}", point.link, "", ((1, 0, 0, point.pose[0][3]), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    )
    T = coefficient(Frames(of.of, of.moving).point(bare), 0, (len(of.at("q")),))
    outside: set[str] = set()
    tip = of.of.number(body.tip_pose[0][3])
    places = {end.name: of.of.array(end.pose)[0, 3] for end in body.interfaces}
    for joint, place in zip(robot.joints, of.of.places, strict=True):
        if joint.parent == point.link:
            at = of.at("q")[0, place.q[0]] if joint.type.rides_parent else places.get(joint.interface or TIP, tip)
            outside |= _beyond(robot, joint.child) if at > x else set()
    part = part_beyond(body.beam, Place.of(point.pose[0][3], body.beam.beam.length, robot.parameters))
    return _load(of, point.link, part, outside, T, on_tip=True)


def _solid_load(of: Quantities, point: Point, body: FlexibleBody) -> tuple[Array, Array]:
    T = coefficient(Frames(of.of, of.moving).point(point), 0, (len(of.at("q")),))
    pose, robot = of.of.array(point.pose), of.of.robot
    found = cut(body, pose[:3, 3], pose[:3, 0])
    on = [joint for joint in robot.joints if joint.parent == point.link and (joint.interface or TIP) in found.interfaces]
    outside = set[str]().union(*(_beyond(robot, joint.child) for joint in on))
    value, size = _load(of, point.link, found.part, outside, T, on_tip=TIP in found.interfaces)
    return value if found.ahead else -value, size


def _load(of: Quantities, link: str, part: FlexibleBody, outside: set[str], T: Array, on_tip: bool) -> tuple[Array, Array]:
    """The wrench that a part of a link and all links ``outside`` need, in the axes of T and about its origin."""
    bodies = []
    for each in of.moving.bodies:
        if each.link in outside or (on_tip and each.link == link and each.kind in ("tip", "payload")):
            bodies.append(each)
        elif each.link == link and each.kind == "flexible":
            bodies.append(BodySeries(each.P, of.of.integrals(part), None, each.link, each.kind))
    value, size = _wrench(of, bodies, T[..., :3, 3], gravity=True)
    return _local(T, value), size + size.max(axis=-1, keepdims=True)


def _inverse_of_drives(of: Quantities, F: Array, acceleration: Array) -> list[Difference]:
    """Loops stay closed, and drive forces are equivalent to those of the tree."""
    closed, tree = Closed(of), tree_forces(of, acceleration)
    driven = np.array([velocity.driven for velocity in of.of.robot.velocities])
    moving = np.einsum("skf,sf->sk", closed.null_space, of.at("qdd")[:, closed.independent]) + closed.drift
    size = np.einsum("skf,sk->sf", np.abs(closed.null_space), tree.size + np.abs(tree.value))
    return [
        (acceleration, moving, max(1.0, float(np.abs(moving).max()))),
        (closed.projected(of.unloaded(F)), closed.projected(tree.value), size + 1e-300),
        (np.where(driven, 0.0, F), np.zeros_like(F), 1.0),
    ]


def elastic_inverse(of: Quantities, found: Found) -> list[Difference]:
    """Joint accelerations are given; elastic ones need no force."""
    F, acceleration = found
    if of.of.robot.loops:
        return _inverse_of_drives(of, F, acceleration)
    driven = np.array([velocity.driven for velocity in of.of.robot.velocities])
    expected = of.loaded(tree_forces(of, acceleration))
    wanted = np.where(driven, F, 0.0)
    some = ~of.singular
    return [
        (expected.value[some], (wanted * of.free)[some], expected.size[some]),
        (np.where(driven, acceleration, 0.0), np.where(driven, of.at("qdd"), 0.0), 1.0),
        (np.where(driven, 0.0, F), np.zeros_like(F), 1.0),
    ]


def load_friction(of: Quantities, found: Found) -> list[Difference]:
    """Driving forces minus the load."""
    F = of.at("F")
    return [(found[0], (F - of.unloaded(F)) * of.free, np.abs(F) + 1.0)]


INNER: dict[str, Expectation] = {
    "joint_reactions": reactions(base=False),
    "joint_reactions_base": reactions(base=True),
    "link_resultants": resultants,
    "section_loads": section_loads,
    "elastic_inverse_dynamics": elastic_inverse,
    "load_friction_forces": load_friction,
}
"""By the names of the catalogue."""
