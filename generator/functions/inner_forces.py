"""Reactions in the joints, resultants of the links, loads in sections of beams."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms import kinematics, reactions, section_loads
from elastogen.generator.algorithms.reactions import State, Wrench
from elastogen.generator.functions.catalogue import Derived, Entry, Outputs, unless_sheared
from elastogen.generator.functions.loops.closing import FREE, forced
from elastogen.generator.functions.loops.dynamics import loop_loads
from elastogen.generator.functions.variants import Variant
from elastogen.generator.mechanism.mechanism import LinkFrame
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.solids.sections import can_be_cut
from elastogen.generator.spatial.vectors import Vec, add, cross, times


def moving_links(variant: Variant) -> list[LinkFrame]:
    """The frames after the moving joints, in order."""
    named = {link.name: link for link in variant.mechanism.link_frames[:-1]}
    return [named[joint.child] for joint in variant.robot.moving_joints]


def _state(variant: Variant, gravity: Vec) -> State:
    q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
    return State(variant.place(q), q, qd, qdd, gravity, variant.moment)


def _transmitted(variant: Variant, state: State) -> tuple[list[Wrench], list[Value]]:
    """The wrench that all bodies beyond each frame need, and pivots; loops carry a part of it."""
    mechanism = variant.mechanism
    if not variant.robot.loops:
        return reactions.all_transmitted(mechanism, state), []
    loads, pivots = loop_loads(variant)
    own = reactions.own_wrenches(mechanism, state)
    for link, force, moment in loads:
        f, n = link.rotation.outward(force), link.rotation.outward(moment)
        own[link.frame] = own[link.frame] + -Wrench(f, add(n, cross(link.position, f)))
    return reactions.transmitted(mechanism, state, own), pivots


def _values(wrenches: list[Wrench], pivots: Sequence[Value] = ()) -> Derived:
    return Derived(([value for wrench in wrenches for value in wrench.values],), pivots)


def _sheared(variant: Variant, gravity: Vec, *, own: bool, base: bool) -> Derived:
    """The same with frames that linear tips shear: free-body values in base components, or their projections R^T."""
    mechanism, links = variant.mechanism, moving_links(variant)
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    single = reactions.sheared_wrenches(mechanism, motion, gravity)
    poses = kinematics.poses(mechanism, variant.place(motion[0]))
    belongs, zero = reactions.owners(mechanism, links), [[variant.graph.value(0)] * 4] * 3
    found = []
    for number, link in enumerate(links):
        kept = [W if not own or belongs[k] == number else zero for k, W in enumerate(single)]
        W = reactions.sheared_sum(mechanism, motion[0], kept)[link.frame]
        R = poses[link.frame].R
        wrench = reactions.sheared_wrench(mechanism, W, R).about(times(R, link.position))
        pose = kinematics.link_pose(mechanism, poses, link)
        found.append(wrench if base else reactions.in_components(pose.R, wrench))
    return _values(found)


@unless_sheared(lambda variant: _sheared(variant, variant.mechanism.gravity, own=False, base=False))
def joint_reactions(variant: Variant) -> Derived:
    """f_i, n_i about the origin of the link's frame, in its components."""
    state = _state(variant, variant.mechanism.gravity)
    found, pivots = _transmitted(variant, state)
    return _values([reactions.on_link(link, found[link.frame]) for link in moving_links(variant)], pivots)


@unless_sheared(lambda variant: _sheared(variant, variant.mechanism.gravity, own=False, base=True))
def joint_reactions_base(variant: Variant) -> Derived:
    """The same in base components."""
    state = _state(variant, variant.mechanism.gravity)
    found, pivots = _transmitted(variant, state)
    poses, result = kinematics.poses(variant.mechanism, state.placed), []
    for link in moving_links(variant):
        wrench, R = found[link.frame].about(link.position), poses[link.frame].R
        result.append(Wrench(times(R, wrench.force), times(R, wrench.moment)))
    return _values(result, pivots)


@unless_sheared(lambda variant: _sheared(variant, variant.zeros(3), own=True, base=False))
def link_resultants(variant: Variant) -> Derived:
    """F_i, N_i of each link's own inertia about the origin of its frame, in its components (000 (86)-(95) as corrected)."""
    state = _state(variant, variant.zeros(3))
    own = reactions.own_wrenches(variant.mechanism, state)
    return _values(reactions.gathered(variant.mechanism, state, own, moving_links(variant)))


def _sheared_loads(variant: Variant) -> Derived:
    return _values(section_loads.sheared_section_loads(variant.pointed, _state(variant, variant.mechanism.gravity)))


@unless_sheared(_sheared_loads)
def loads(variant: Variant) -> Derived:
    """Normal force, shears, torque and bending moments at the points on beams and solids."""
    return _values(section_loads.section_loads(variant.pointed, _state(variant, variant.mechanism.gravity)))


def _sections(robot: Robot) -> bool:
    """Whether there are points on beams or on meshed solids."""
    bodies = (robot.link(point.link).flexible for point in robot.points if point.link)
    return any(body is not None and (body.beam is not None or can_be_cut(body)) for body in bodies)


def _per_joint(name: str, doc: str) -> Outputs:
    return lambda v: (matrix(name, len(v.robot.moving_joints), 6, "N, N m", f"per moving joint: {doc}"),)


_MOTION = ("q", "qd", "qdd")

ENTRIES = (
    Entry("joint_reactions",
          "Reactions in the joints: force and moment of the inner link on all beyond, about the link's origin, in its axes.",
          _MOTION, _per_joint("reaction", "force (3), moment (3)"), (joint_reactions,), "physical", explore=True,
          default=False, finalists=4, applies=forced, applies_to=FREE),
    Entry("joint_reactions_base", "Reactions in the joints, about the link's origin, in base components.", _MOTION,
          _per_joint("reaction", "force (3), moment (3)"), (joint_reactions_base,), "physical", explore=True, default=False,
          applies=forced, applies_to=FREE),
    Entry("link_resultants", "Inertia force and moment of each link itself, about its origin, in its axes; without gravity.",
          _MOTION, _per_joint("resultant", "force (3), moment (3)"), (link_resultants,), "physical", explore=True,
          default=False),
    Entry("section_loads",
          "Loads of sections: force (normal, shears) and moment (torque, bending) of the inner part on the outer one.",
          _MOTION,
          lambda v: (matrix("load", len(v.pointed.sections), 6, "N, N m",
                            "per point on a beam or solid: force (3), moment (3) about it, in the section's axes"),),
          (loads,), "physical", explore=True, default=False, applies=lambda robot: _sections(robot) and not robot.loops,
          applies_to="only for trees with points on beams, or on solids of elements: matrices do not tell parts"),
)  # fmt: skip
