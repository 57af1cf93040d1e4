"""The rigid robot of the same numbers: what a robot with flexible links and joints becomes without deformation.

Flexible bodies are frozen undeformed, with their mass, hub, tip body, payload and drives; springs in joints are locked. Joints
that slide along a flexible beam (P_a of paper 003) slide along the straight beam, beams that slide through their joint (P_b)
slide as rigid bodies. Frames, names of joints and live parameters stay, so states, forces and parameters carry over by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from elastogen.generator.description.load_robot import load
from elastogen.generator.description.validate import validate
from elastogen.generator.robot.bodies.flexible_body import TIP
from elastogen.generator.robot.loops.loop import LoopEnd
from elastogen.generator.robot.moments import Moments, moments, pseudo_inertia, rigid_body
from elastogen.generator.robot.names import MAX_ROBOT_NAME
from elastogen.generator.robot.own.terms import Term
from elastogen.generator.robot.placement import from_xyz_rpy, product
from elastogen.generator.robot.robot import Body, Joint, Link, Matrix, Point, Robot

_SUFFIX = "_rigid"


def rigid_robot(robot: Robot | str | Mapping[str, Any], *, name: str | None = None) -> Robot:
    """Return the robot with every flexible link frozen undeformed and every flexible joint locked.

    ``robot`` is whatever :func:`elastogen.load` takes. The result is called ``name``, by default the robot's name and
    ``_rigid``. Its coordinates are the robot's joints, its frames and live parameters are the robot's.
    """
    flexible = robot if isinstance(robot, Robot) else load(robot)
    seats = {
        (link.name, place.name): place.pose
        for link in flexible.links
        if link.flexible is not None
        for place in link.flexible.interfaces
    }
    end = seats.get((flexible.tip, TIP))
    tool = flexible.tool if end is None else product(end, flexible.tool)
    joints = {joint.name for joint in flexible.moving_joints}
    experiment = None if flexible.experiment is None else flexible.experiment.of(joints)
    sliding = {joint.name: joint.child for joint in flexible.joints if joint.type.rides_parent}
    rigid = replace(
        flexible,
        name=name if name is not None else flexible.name[: MAX_ROBOT_NAME - len(_SUFFIX)] + _SUFFIX,
        links=tuple(_frozen(link) for link in flexible.links),
        joints=tuple(_locked(joint, seats) for joint in flexible.joints),
        tool=tool,
        points=tuple(_frozen_point(point, sliding) for point in flexible.points),
        experiment=experiment,
        terms=tuple(_at_rest(term, joints) for term in flexible.terms),
        loops=tuple(replace(loop, a=_undeformed(loop.a, seats), b=_undeformed(loop.b, seats)) for loop in flexible.loops),
        source=f"{flexible.source or 'python'}, without deformation",
    )
    return validate(rigid, quiet=True)


def _at_rest(term: Term, joints: Collection[str]) -> Term:
    """The term with elastic coordinates and their velocities zero, and without forces on them."""
    elastic = [s for s in term.free_symbols if s.name.startswith(("q[", "qd[")) and s.name.split("[", 1)[1][:-1] not in joints]
    still = term.replaced(dict.fromkeys(elastic, sympy.S.Zero))
    return replace(still, forces={name: force for name, force in still.forces.items() if name in joints})


def _undeformed(end: LoopEnd, seats: Mapping[tuple[str, str], Matrix]) -> LoopEnd:
    """An end of a loop on the undeformed link."""
    if end.x is not None:
        return LoopEnd(end.link, product(from_xyz_rpy((end.x, 0, 0)), end.pose))
    tip = seats.get((end.link, TIP))
    return end if tip is None else LoopEnd(end.link, product(tip, end.pose))


def _locked(joint: Joint, seats: Mapping[tuple[str, str], Matrix]) -> Joint:
    """The joint as its kind is without deformation; on a flexible link it sits on the undeformed interface."""
    seat = seats.get((joint.parent, joint.interface or TIP))
    return replace(joint.type.rigid_limit(joint, joint.before if seat is None else product(seat, joint.before)), interface="")


def _frozen_point(point: Point, sliding: Mapping[str, str]) -> Point:
    """The point without its gauge; one that slides along a beam with its joint sits on the joint's link."""
    link = sliding.get(point.joint, point.link)
    return replace(point, link=link, joint="" if link else point.joint, strain=None)


def _frozen(link: Link) -> Link:
    """The link with hub, undeformed body and tip body as one rigid body."""
    beam = link.flexible
    if beam is None:
        return link
    place = np.array(beam.tip_pose, dtype=object)
    undeformed = moments(beam.mass, beam.first_moments, np.array(beam.second_moments, dtype=object))
    total = _moments(link.body) + undeformed + place @ _moments(link.tip_body) @ place.T
    return Link(link.name, rigid_body(total))


def _moments(body: Body) -> Moments:
    return pseudo_inertia(body.mass, np.array(body.com, dtype=object), np.array(body.inertia, dtype=object))
