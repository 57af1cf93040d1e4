"""A joint in SDF to a link that another joint carries closes a loop: the tree is what is reached first from a base."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.joints.kinds import CONTINUOUS, FIXED, PRISMATIC, REVOLUTE, SPHERICAL, UNIVERSAL
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.loops.loop import ClosedLoop, LoopEnd
from elastogen.generator.robot.robot import Actuation, Joint

_TYPES: dict[JointKind, str] = {
    REVOLUTE: "revolute", CONTINUOUS: "revolute", PRISMATIC: "prismatic", SPHERICAL: "spherical", UNIVERSAL: "universal",
    FIXED: "fixed",
}  # fmt: skip


def tree_and_loops(
    links: Sequence[str], joints: Sequence[Joint], followers: frozenset[str], where: Location
) -> tuple[list[Joint], tuple[ClosedLoop, ...]]:
    """Return the joints of a tree in their order, and loops in place of the others.

    Where the links do not hang on one base all joints come back, and what is wrong is found by who orders them. Joints that
    follow others or lead them (``followers``) need their coordinates: they are not cut.
    """
    carried = {joint.child for joint in joints}
    roots = [link for link in links if link not in carried]
    if len(roots) != 1 or len(carried) == len(joints):
        return list(joints), ()
    reached, kept = {roots[0]}, set[str]()
    waiting = [roots[0]]
    while waiting:  # breadth first: a loop is cut far from the base
        link = waiting.pop(0)
        for joint in joints:
            if joint.parent == link and joint.child not in reached:
                reached.add(joint.child)
                kept.add(joint.name)
                waiting.append(joint.child)
    if len(reached) < len(links):
        return list(joints), ()
    cut = [joint for joint in joints if joint.name not in kept]
    return [joint for joint in joints if joint.name in kept], tuple(_loop(joint, followers, where) for joint in cut)


def _loop(joint: Joint, followers: frozenset[str], where: Location) -> ClosedLoop:
    """The cut joint; its frame on the parent is a, on the child b."""
    here = where.at("joints", joint.name)
    if joint.type not in _TYPES:
        known = ", ".join(sorted(set(_TYPES.values())))
        raise here.at("type").error(
            joint.type.name, f"a loop that is closed by another joint: {known}", "cut the loop elsewhere"
        )
    if joint.name in followers:
        raise here.at("mimic").error(joint.name, "no mimic of a joint that closes a loop", "cut the loop elsewhere")
    if joint.actuation != Actuation():
        expected = "no friction in the joint at which a loop is cut: it is left out"
        here.at("axis", "dynamics").warn(joint.actuation.viscous or joint.actuation.coulomb, expected, "order joints otherwise")
    a, b = LoopEnd(joint.parent, joint.before), LoopEnd(joint.child, placement.inverse(joint.after))
    kind = _TYPES[joint.type]
    if kind == "universal":
        x, y, z = joint.details["axis2"]  # type: ignore[misc]  # a vector, of this kind
        return ClosedLoop(joint.name, kind, a, b, joint.axis, (x, y, z))
    return (
        ClosedLoop(joint.name, kind, a, b)
        if joint.type in (SPHERICAL, FIXED)
        else ClosedLoop(joint.name, kind, a, b, joint.axis)
    )
