"""The tree of joints: puts them into coordinate order and refuses what is not a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Joint

MAX_JOINTS = 1000
_TOOLS = (  # names of the frames where an arm holds its tool, the outermost first
    r"(.*_)?(hand_)?tcp(_link|_frame)?", r"(.*_)?(ee|eef|end_effector|endeffector)(_link|_frame)?",
    r"(.*_)?tool(0|_link|_frame)?", r"(.*_)?(flange|attachment)(_link|_frame)?",
)  # fmt: skip
ARM, FINGER = 3, 4  # at least so many moving joints before a gripper, at most so many in one of its fingers
_FINGER = re.compile("jaw|finger|thumb|knuckle|claw", re.IGNORECASE)  # in names of what closes on an object
_GRIPPER = re.compile(f"grip|{_FINGER.pattern}", re.IGNORECASE)


class Edge(Protocol):
    """Anything that connects a parent link to a child link."""

    @property
    def name(self) -> str:
        """Name of the joint."""

    @property
    def parent(self) -> str:
        """Name of the link it sits on."""

    @property
    def child(self) -> str:
        """Name of the link it carries."""


AnyEdge = TypeVar("AnyEdge", bound=Edge)


def unique_names(names: Iterable[str], where: Location, kind: str) -> None:
    """Raise if a name occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise where.at(name).error(name, f"{kind} names that occur once", "rename one of the two")
        seen.add(name)


def depth_first(links: Sequence[str], joints: Sequence[AnyEdge], where: Location) -> tuple[str, list[AnyEdge]]:
    """Return the root link and the joints depth-first, a link's children in the order they were given.

    Raises if a joint names an unknown link, a link has two parents, there is no root (a loop) or more than
    one.
    """
    unique_names(links, where.at("links"), "link")
    unique_names((joint.name for joint in joints), where.at("joints"), "joint")
    carried_by: dict[str, str] = {}
    children: dict[str, list[AnyEdge]] = {link: [] for link in links}
    for joint in joints:
        here = where.at("joints", joint.name)
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in children:
                raise here.at(role).error(
                    link, "the name of a link", did_you_mean(link, links, "add the link to the file's links")
                )
        if joint.child in carried_by:
            other = carried_by[joint.child]
            raise here.at("child").error(
                joint.child,
                f"a link that no other joint carries ({other} carries it)",
                "cut the loop: a robot is a tree",
            )
        carried_by[joint.child] = joint.name
        children[joint.parent].append(joint)
    roots = [link for link in links if link not in carried_by]
    if not roots:
        raise where.at("joints").error(list(carried_by), "a base link that no joint carries", "cut the loop: a robot is a tree")
    if len(roots) > 1:
        raise where.at("links").error(
            roots,
            "one base link; none of these is the child of a joint",
            "connect them with a fixed joint, or remove the spare",
        )
    ordered: list[AnyEdge] = []
    stack = list(reversed(children[roots[0]]))
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack.extend(reversed(children[joint.child]))
    if len(ordered) < len(joints):
        reached = {joint.name for joint in ordered}
        lost = [joint.name for joint in joints if joint.name not in reached]
        raise where.at("joints").error(
            lost,
            f"joints that hang on the base link {roots[0]}; these form a loop",
            "cut the loop: a robot is a tree",
        )
    return roots[0], ordered


def default_tip(root: str, joints: Sequence[Joint]) -> str:
    """Return the leaf link with the most moving joints on its way to the base; the first if several have."""
    moving = {root: 0}
    for joint in joints:
        moving[joint.child] = moving[joint.parent] + joint.type.moves
    inner = {joint.parent for joint in joints}
    leaves = [link for link in moving if link not in inner]
    return max(leaves, key=lambda link: moving[link])


def arm_tip(root: str, joints: Sequence[Joint]) -> str:
    """Return the tip that a file of another tool means: a tool frame by its name, else the last link before fingers.

    Without either, the leaf with the most moving joints on its way to the base; the first if several have.
    """
    moving = _moving(root, joints)
    most, hands = max(moving.values()), _before_hands(joints, moving)
    for pattern in _TOOLS:
        named = [
            link
            for link in moving
            if re.fullmatch(pattern, link.lower()) and moving[link] and (moving[link] >= most - FINGER or link in hands)
        ]
        if named:
            first = max(named, key=lambda link: moving[link])
            return _outermost(first, [link for link in named if moving[link] == moving[first]], joints)
    return _before_fingers(joints, moving, default_tip(root, joints))


def _outermost(first: str, links: Sequence[str], joints: Sequence[Joint]) -> str:
    """The last of the links that hang on the first one."""
    beyond = {first}
    for joint in joints:
        if joint.parent in beyond:
            beyond.add(joint.child)
    return [link for link in links if link in beyond][-1]


def tip_candidates(root: str, joints: Sequence[Joint]) -> list[str]:
    """Links that could be meant: tool frames by name, the last link before fingers, and the ends of the longest branches."""
    moving = _moving(root, joints)
    named = [link for link in moving if any(re.fullmatch(pattern, link.lower()) for pattern in _TOOLS) and moving[link]]
    inner, most = {joint.parent for joint in joints}, max(moving.values())
    leaves = [link for link in moving if link not in inner and moving[link] == most]
    return list(dict.fromkeys([*named, _before_fingers(joints, moving, default_tip(root, joints)), *leaves]))


def _moving(root: str, joints: Sequence[Joint]) -> dict[str, int]:
    """Moving joints between every link and the base, those that follow others included."""
    moving = {root: 0}
    for joint in joints:
        moving[joint.child] = moving[joint.parent] + (not joint.type.holds)
    return moving


def _before_hands(joints: Sequence[Joint], moving: dict[str, int]) -> set[str]:
    """Links at the end of an arm beyond which several branches move, as in a hand."""
    ends = dict.fromkeys(moving, 0)  # branches with moving joints beyond each link
    for joint in reversed(joints):
        ends[joint.parent] += ends[joint.child] or int(not joint.type.holds)
    return {link for link in moving if ends[link] > 1 and moving[link] >= ARM}


def _before_fingers(joints: Sequence[Joint], moving: dict[str, int], leaf: str) -> str:
    """The last link before several moving branches of few joints each, at the end of an arm; else the leaf."""
    deepest = dict(moving)  # the most moving joints on a way through a link
    for joint in reversed(joints):
        deepest[joint.parent] = max(deepest[joint.parent], deepest[joint.child])
    branches: dict[str, int] = {}
    for joint in joints:
        branches[joint.parent] = branches.get(joint.parent, 0) + (deepest[joint.child] > moving[joint.parent])
    carried = {joint.child: joint.parent for joint in joints}
    link, found = leaf, leaf
    while link in carried:
        link = carried[link]
        if branches.get(link, 0) > 1 and moving[link] >= ARM and deepest[link] - moving[link] <= FINGER:
            found = link
    return _before_jaw(joints, moving, leaf) if found == leaf else found


def _before_jaw(joints: Sequence[Joint], moving: dict[str, int], leaf: str) -> str:
    """The link before a single moving jaw, by the names of joint and link, at the end of an arm; else the leaf."""
    carried = {joint.child: joint for joint in joints}

    def mover(link: str) -> Joint | None:
        while link in carried and carried[link].type.holds:
            link = carried[link].parent
        return carried.get(link)

    jaw = mover(leaf)
    if jaw is None or moving[jaw.parent] < ARM or not _GRIPPER.search(f"{jaw.name} {jaw.child}"):
        return leaf
    before = mover(jaw.parent)
    return leaf if before is None or _FINGER.search(before.name) else jaw.parent
