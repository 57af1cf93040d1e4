"""Loads of sections of beams and solids, by free-body equations: what one side of the section exerts on the other.

Everything beyond a section hangs on it: the outer part of the beam, what is on its tip, and joints that slide along the beam
further out. Of a beam that slides through its joint, sections behind the mouth carry what is behind them. A solid is cut by
the plane across the point's x axis: the side that is not clamped hangs on it, with the interfaces whose frames are there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.generator.algorithms import affine, kinematics, reactions
from elastogen.generator.algorithms.newton_euler import body_wrench
from elastogen.generator.algorithms.reactions import State, Wrench
from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.mechanism.points import PointedMechanism, PointFrame
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial import dense_matrices as dense
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Vec, product, times


def section_loads(mechanism: PointedMechanism, state: State) -> list[Wrench]:
    """What the inner part exerts on all beyond the section: about its centre, in its axes; of solids about the point."""
    motions, zero = state.motions(mechanism), mechanism.graph.value(0)
    found = reactions.transmitted(mechanism, state, reactions.own_wrenches(mechanism, state))

    def part(beam: int, inertia: Inertia, body: ElasticBody) -> Wrench:
        return Wrench(*body_wrench(inertia, body, motions[beam], state.q, state.qd, state.qdd, state.moment))

    def carried(index: int) -> Wrench:
        place = state.placed[index]
        wrench = Wrench(place.rotation.outward(found[index].force), place.rotation.outward(found[index].moment))
        return wrench.about([zero - x for x in place.position])

    result = []
    for point in mechanism.sections:
        with mechanism.graph.section(f"{point.point.name}: load of the section"):
            place = state.placed[point.frame.frame]
            moved = _load(mechanism, point, state.q, part, carried).about(place.position)
            own = Wrench(place.rotation.inward(moved.force), place.rotation.inward(moved.moment))
            result.append(own if point.cut is None else reactions.on_link(point.frame, own))
    return result


def sheared_section_loads(mechanism: PointedMechanism, state: State) -> list[Wrench]:
    """The same where linear tips shear the frames: free-body values, components by R^T."""
    graph, motion = mechanism.graph, [state.q, state.qd, state.qdd]
    bodies = affine.bodies(mechanism, motion, 2)
    own = reactions.sheared_wrenches(mechanism, motion, state.gravity)
    total, local = reactions.sheared_sum(mechanism, state.q, own), affine.local_transforms(mechanism, state.q)
    poses = kinematics.poses(mechanism, state.placed)

    def part(beam: int, inertia: Inertia, body: ElasticBody) -> Wrench:
        X = [[*row[:3], row[3] - g] for row, g in zip(bodies[beam].T[2][:3], state.gravity, strict=True)]
        W = body.moved(state.q).inertia_forces(motion, bodies[beam].axes(2), X)[0]
        return reactions.sheared_wrench(mechanism, dense.added(W, product(X, inertia.pseudo)), poses[beam].R)

    def carried(index: int) -> Wrench:
        W = product(total[index], dense.transposed(local[index]))
        return reactions.sheared_wrench(mechanism, W, poses[mechanism.frames[index].parent].R)

    result = []
    for point in mechanism.sections:
        section = point.frame.frame
        with graph.section(f"{point.point.name}: load of the section"):
            R = poses[mechanism.frames[section].parent].R
            moved = _load(mechanism, point, state.q, part, carried).about(times(R, state.placed[section].position))
            axes = poses[section].R
            if point.cut is not None:
                moved = moved.about(times(axes, point.frame.position))
                axes = kinematics.link_pose(mechanism, poses, point.frame).R
            result.append(reactions.in_components(axes, moved))
    return result


def _load(
    mechanism: PointedMechanism,
    point: PointFrame,
    q: Sequence[Value],
    part: Callable[[int, Inertia, ElasticBody], Wrench],
    carried: Callable[[int], Wrench],
) -> Wrench:
    """The load of a section about the origin of its link's frame."""
    if point.cut is not None:
        return _of_solid(mechanism, point, part, carried)
    parts, frames = point.parts, mechanism.frames
    assert parts is not None
    section, beam = point.frame.frame, frames[point.frame.frame].parent
    x = frames[section].position[0]
    children = [k for k, frame in enumerate(frames) if frame.parent == beam]
    riders = [k for k in children if frames[k].coordinates[0] not in parts.outer.coordinates]  # have a place of their own
    load = part(beam, Inertia.zero(mechanism.graph), parts.outer)
    tip = next(k for k in children if k not in riders)
    nothing, on_inner = Wrench([x.graph.value(0)] * 3, [x.graph.value(0)] * 3), []
    for index in children:  # the tip, other interfaces and riders, where they are further out; sections carry nothing
        wrench = carried(index)
        if index in riders:
            load = load + wrench.where(x - frames[index].own(q)[0])
            on_inner.append(wrench.where(frames[index].own(q)[0] - x))
        elif index == tip:
            load = load + wrench
        else:
            load = load + _chosen(frames[index].position[0] - x, nothing, wrench)
            on_inner.append(wrench.where(frames[index].position[0] - x))
    if parts.inner is None:
        return load
    behind = part(beam, frames[beam].inertia, parts.inner)
    for wrench in on_inner:
        behind = behind + wrench
    return _chosen(x - parts.mouth(q), -behind, load)


def _of_solid(
    mechanism: PointedMechanism,
    point: PointFrame,
    part: Callable[[int, Inertia, ElasticBody], Wrench],
    carried: Callable[[int], Wrench],
) -> Wrench:
    assert point.cut is not None
    held = point.cut()
    load = part(mechanism.frames[point.frame.frame].parent, Inertia.zero(mechanism.graph), held.part)
    for index in held.frames:
        load = load + carried(index)
    return load if held.ahead else -load


def _chosen(negative: Value, first: Wrench, second: Wrench) -> Wrench:
    """The first where a value is negative, else the second."""

    def of(a: Vec, b: Vec) -> Vec:
        return [negative.graph.choose(negative, x, y) for x, y in zip(a, b, strict=True)]

    return Wrench(of(first.force, second.force), of(first.moment, second.moment))
