"""Recursive Newton-Euler: velocities and accelerations outward, forces inward (paper 000 (22)-(28), 002 (24)-(26)).

Bodies enter by m, S, P: with U = {eps x} + {omega x}{omega x}, the acceleration of a point is a + U r, so that the force
is m a + U S, and the moment the antisymmetric part of U P, plus S x a. In the other form of the moment, L eps + omega x L omega
with the tensor L = tr(P) E - P, fewer or more constants are zero, depending on the robot: the derivation takes the cheaper.
The third form is the tensor again, each body taken about its centre of mass c, N + c x m (a + U c), or without a mass that is
put on the origin of the next joint, where that leaves fewer constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.mechanism.simplest_form import simplest_forms
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Vec, add, cross, named, scale, sub, times


@dataclass(frozen=True)
class Placed:
    """The pose of a frame in its parent.

    Successive revolute joints with parallel axes rotate about one axis by the sum of their angles: ``group`` lists
    the joints up to this one, ``group_parent`` is the frame before the first of them and ``group_rotation`` leads from there
    to this frame. Without merging, the group is the joint alone.
    """

    rotation: Rotation  # from the parent frame
    position: Vec  # of the origin, in the parent's components [m]
    group: tuple[int, ...]
    group_parent: int
    group_rotation: Rotation


@dataclass(frozen=True)
class Load:
    """A force and a moment on a frame of the user, at its origin, in base components [N], [N m]."""

    frame: LinkFrame
    force: Vec
    moment: Vec


@dataclass(frozen=True)
class MotionState:
    """MotionState of a frame in its own components; ``a`` is the acceleration of its origin, less gravity."""

    omega: Vec
    epsilon: Vec
    a: Vec
    U: Mat


def place(mechanism: Mechanism, q: Sequence[Value], *, merge: bool = False) -> list[Placed]:
    """Return the pose of every frame in its parent; ``merge`` joins parallel axes."""
    placed: list[Placed] = []
    for index, frame in enumerate(mechanism.frames):
        with mechanism.graph.section(f"{frame.label}: place in its parent"):
            rotated = frame.rotation.outward(frame.motion.displacement(frame.at(q)))
            rotation = Rotation((*frame.rotation.steps, *frame.motion.rotation(frame.at(q)).steps))
            group: tuple[int, ...] = (index,)
            group_parent, group_rotation = frame.parent, rotation
            if merge and mechanism.is_parallel_to_parent(index):
                before = placed[frame.parent]
                group, group_parent = (*before.group, index), before.group_parent
                group_rotation = rotation_of_group(mechanism, group, q)
            placed.append(Placed(rotation, add(frame.position, rotated), group, group_parent, group_rotation))
    return placed


def rotation_of_group(mechanism: Mechanism, group: Sequence[int], q: Sequence[Value], ahead: float = 0.0) -> Rotation:
    """Return the rotation of joints with parallel axes together, and of a further fixed angle about the same axis [rad]."""
    first = mechanism.frames[group[0]]
    angle, motion = mechanism.graph.value(0), first.motion
    for member in group:
        angle = angle + mechanism.frames[member].at(q)[0]
        if member != group[0]:
            motion = motion.followed_by(mechanism.frames[member].motion)
    return Rotation((*first.rotation.steps, *motion.rotation([angle + ahead]).steps))


def acceleration_operator(graph: Graph, omega: Vec, epsilon: Vec) -> Mat:
    """Return U = {eps x} + {omega x}^2."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return [
        [-(yy + zz), xy - epsilon[2], xz + epsilon[1]],
        [xy + epsilon[2], -(xx + zz), yz - epsilon[0]],
        [xz - epsilon[1], yz + epsilon[0], -(xx + yy)],
    ]


def outward(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    a0: Vec,
) -> list[MotionState]:
    """Return velocities and accelerations of all frames, from the base acceleration a0 outward."""
    graph = mechanism.graph
    zero = graph.value(0)
    rest = MotionState([zero] * 3, [zero] * 3, a0, [[zero] * 3] * 3)
    motions: list[MotionState] = []
    for index, (frame, place_) in enumerate(zip(mechanism.frames, placed, strict=True)):
        with graph.section(f"{frame.label}: velocity and acceleration"):
            parent = motions[frame.parent] if frame.parent >= 0 else rest
            root = motions[place_.group_parent] if place_.group_parent >= 0 else rest
            spin, spin_rate, slide, slide_rate = relative(mechanism, index, place_, q, qd, qdd)
            carried = place_.group_rotation.inward(root.omega)
            omega = named("w", index, add(carried, spin))
            epsilon = add(add(place_.group_rotation.inward(root.epsilon), spin_rate), cross(carried, spin))
            # a = a_p + U_p p + 2 omega_p x slide + slide_rate, the last two in joint components
            joint = frame.rotation
            a = joint.inward(add(parent.a, times(parent.U, place_.position)))
            a = frame.motion.origin_acceleration(frame.at(q), a, joint.inward(parent.omega), slide, slide_rate)
            epsilon, a = named("e", index, epsilon), named("a", index, a)
            motions.append(MotionState(omega, epsilon, a, acceleration_operator(graph, omega, epsilon)))
    return motions


def relative(
    mechanism: Mechanism,
    index: int,
    place_: Placed,
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
) -> tuple[Vec, Vec, Vec, Vec]:
    """Return angular velocity and acceleration relative to the group's root, linear ones relative to the joint."""
    frame = mechanism.frames[index]
    own_q, own_qd, own_qdd = frame.at(q), frame.own(qd), frame.own(qdd)
    spin_bias, slide_bias = frame.motion.bias(own_q, own_qd)
    spin, slide = frame.motion.along(own_q, own_qd)
    spin_rate, slide_rate = frame.motion.along(own_q, own_qdd)
    if len(place_.group) > 1:  # parallel axes rotate together
        for member in place_.group[:-1]:
            other = mechanism.frames[member]
            own_qd = [a + b for a, b in zip(own_qd, other.own(qd), strict=True)]
            own_qdd = [a + b for a, b in zip(own_qdd, other.own(qdd), strict=True)]
        spin, spin_rate = frame.motion.along(own_q, own_qd)[0], frame.motion.along(own_q, own_qdd)[0]
    return spin, add(spin_bias, spin_rate), slide, add(slide_bias, slide_rate)


def moment_by_pseudo_inertia(motion: MotionState, inertia: Inertia) -> Vec:
    """Return int r x (eps x r + omega x (omega x r)) dm from U and P."""
    U, P = motion.U, inertia.P
    x, y, z = motion.omega
    return [
        U[2][0] * P.xy - U[1][0] * P.xz + (y * y - z * z) * -P.yz + U[2][1] * P.yy - U[1][2] * P.zz,
        U[0][1] * P.yz - U[2][1] * P.xy + (z * z - x * x) * -P.xz + U[0][2] * P.zz - U[2][0] * P.xx,
        U[1][2] * P.xz - U[0][2] * P.yz + (x * x - y * y) * -P.xy + U[1][0] * P.xx - U[0][1] * P.yy,
    ]


def moment_of(U: Mat, inertia: Inertia) -> Vec:
    """Return int r x (U r) dm for any matrix U."""
    P = inertia.P
    return [
        U[2][0] * P.xy + U[2][1] * P.yy + (U[2][2] - U[1][1]) * P.yz - U[1][0] * P.xz - U[1][2] * P.zz,
        U[0][1] * P.yz + U[0][2] * P.zz + (U[0][0] - U[2][2]) * P.xz - U[2][1] * P.xy - U[2][0] * P.xx,
        U[1][2] * P.xz + U[1][0] * P.xx + (U[1][1] - U[0][0]) * P.xy - U[0][2] * P.yz - U[0][1] * P.yy,
    ]


def moment_by_tensor(motion: MotionState, inertia: Inertia) -> Vec:
    """Return the moment as L eps + omega x (L omega), with products that are entries of U: eps_z + omega_x omega_y = U_yx."""
    P, (x, y, z), e, U = inertia.P, motion.omega, motion.epsilon, motion.U
    xx, yy, zz = P.yy + P.zz, P.xx + P.zz, P.xx + P.yy  # of L = tr(P) E - P; its other entries are -P.xy, ...
    return [
        xx * e[0] + (zz - yy) * (y * z) + P.xy * U[2][0] - P.xz * U[1][0] - P.yz * (y * y - z * z),
        yy * e[1] + (xx - zz) * (x * z) + P.yz * U[0][1] - P.xy * U[2][1] - P.xz * (z * z - x * x),
        zz * e[2] + (yy - xx) * (x * y) + P.xz * U[1][2] - P.yz * U[0][2] - P.xy * (x * x - y * y),
    ]


SIMPLEST = "simplest"
MOMENTS: dict[str, Callable[[MotionState, Inertia], Vec]] = {
    "pseudo-inertia": moment_by_pseudo_inertia,
    "tensor": moment_by_tensor,
    SIMPLEST: moment_by_tensor,
}


def inward(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    wrenches: Sequence[tuple[Vec, Vec]],
    ahead: Mapping[int, Vec],
) -> list[Value]:
    """Return the generalized forces from the force and moment that each frame's bodies need."""
    tau: list[Value] = [mechanism.graph.value(0)] * mechanism.size

    def project(index: int, force: Vec, moment: Vec) -> None:
        frame = mechanism.frames[index]
        for coordinate, value in frame.scatter(frame.motion.project(frame.at(q), force, moment)):
            tau[coordinate] = tau[coordinate] + value

    carry_inward(mechanism, placed, wrenches, project, ahead)
    return tau


def carry_inward(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    wrenches: Sequence[tuple[Vec, Vec]],
    visit: Callable[[int, Vec, Vec], None],
    ahead: Mapping[int, Vec] = MappingProxyType({}),
) -> None:
    """Sum force and moment over everything outside of each frame, and show them: about its origin, in its components.

    Forces ``ahead`` are on the origins of frames and belong to the bodies before them.
    """
    forces = [list(force) for force, _ in wrenches]
    moments = [list(moment) for _, moment in wrenches]
    for index in reversed(range(len(mechanism.frames))):
        frame, place_ = mechanism.frames[index], placed[index]
        with mechanism.graph.section(f"{frame.label}: force"):
            forces[index], moments[index] = named("f", index, forces[index]), named("n", index, moments[index])
            visit(index, forces[index], moments[index])
            if frame.parent >= 0:
                passed = add(forces[index], ahead[index]) if index in ahead else forces[index]
                force = place_.rotation.outward(passed)
                moment = add(place_.rotation.outward(moments[index]), cross(place_.position, force))
                forces[frame.parent] = add(forces[frame.parent], force)
                moments[frame.parent] = add(moments[frame.parent], moment)


def inverse_dynamics(
    mechanism: Mechanism,
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    gravity: Vec,
    moment: str = "pseudo-inertia",
    merge: bool = False,
    loads: Sequence[Load] = (),
) -> list[Value]:
    """Return M qdd + C qd + G - sum J^T w of the bodies and loads w, all rows; gravity is the base acceleration -g."""
    placed = place(mechanism, q, merge=merge)
    motions = outward(mechanism, placed, q, qd, qdd, [-g for g in gravity])
    rows: dict[int, Value] = {}
    ahead: dict[int, Vec] = {}
    wrenches = body_wrenches(mechanism, motions, q, qd, qdd, moment, rows, ahead)
    for load in loads:
        relieve(mechanism, placed, wrenches, load)
    tau = inward(mechanism, placed, q, wrenches, ahead)
    return [value + rows[k] if k in rows else value for k, value in enumerate(tau)]


def body_wrenches(
    mechanism: Mechanism,
    motions: Sequence[MotionState],
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    moment: str,
    rows: dict[int, Value] | None = None,
    ahead: dict[int, Vec] | None = None,
) -> list[tuple[Vec, Vec]]:
    """Force and moment that the bodies of each frame need, about its origin; ``rows`` takes those of elastic coordinates.

    ``ahead`` takes forces on masses that bodies have on the origins of further frames, in these frames' components: for
    ``carry_inward``. Without it there are no such masses.
    """
    forms = simplest_forms(mechanism, ahead=ahead is not None) if moment == SIMPLEST else []
    wrenches = []
    for index, (frame, motion) in enumerate(zip(mechanism.frames, motions, strict=True)):
        with mechanism.graph.section(f"{frame.label}: inertia force and moment"):
            if forms and forms[index].is_other:
                wrenches.append(_rigid_wrench(motion, forms[index].body, moment, forms[index].centre))
            else:
                wrenches.append(body_wrench(frame.inertia, frame.elastic, motion, q, qd, qdd, moment, rows))
    if ahead is not None:
        taken = dict(form.ahead for form in forms if form.ahead is not None)
        ahead.update({k: scale(motions[k].a, mechanism.graph.value(mass)) for k, mass in taken.items()})
    return wrenches


def body_wrench(
    inertia: Inertia,
    elastic: ElasticBody | None,
    motion: MotionState,
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    moment: str,
    rows: dict[int, Value] | None = None,
) -> tuple[Vec, Vec]:
    """Return the same for a rigid and a flexible body that move together."""
    if elastic is not None:
        xd, xdd = elastic.own(qd), elastic.own(qdd)
        body = elastic.moved(q)
        inertia = inertia + body.inertia
    force, torque = _rigid_wrench(motion, inertia, moment)
    if elastic is not None:
        added_force, added_torque = body.added_wrench(motion.omega, xd, xdd)
        force, torque = add(force, added_force), add(torque, added_torque)
        if rows is not None:
            elastic_rows = body.rows(motion.omega, motion.U, motion.a, xd, xdd)
            rows.update(zip(elastic.coordinates, elastic_rows, strict=True))
    return force, torque


def _rigid_wrench(motion: MotionState, inertia: Inertia, moment: str, centre: Vec | None = None) -> tuple[Vec, Vec]:
    """Return a body's force and moment about the frame's origin; the body is given about its mass centre if known."""
    if centre is not None:
        force = scale(add(motion.a, times(motion.U, centre)), inertia.m)
        return force, add(MOMENTS[moment](motion, inertia), cross(centre, force))
    force = add(scale(motion.a, inertia.m), times(motion.U, inertia.S))
    return force, add(MOMENTS[moment](motion, inertia), cross(inertia.S, motion.a))


def relieve(mechanism: Mechanism, placed: Sequence[Placed], wrenches: list[tuple[Vec, Vec]], load: Load) -> None:
    """Subtract a load from the wrenches that inner frames must supply, transforming it outward to the frame it acts on."""
    index = load.frame.frame
    if index < 0:
        return
    turns: list[Rotation] = []
    at = index
    while at >= 0:
        turns.append(placed[at].group_rotation)
        at = placed[at].group_parent
    force, moment = load.force, load.moment
    with mechanism.graph.section(f"{load.frame.name}: wrench"):
        for turn in reversed(turns):
            force, moment = turn.inward(force), turn.inward(moment)
        moment = add(moment, cross(load.frame.position, force))
        needed, about = wrenches[index]
        wrenches[index] = sub(needed, force), sub(about, moment)
