"""Branches of a robot that have the same joints in the same order, such as both arms."""

from __future__ import annotations

from elastogen.generator.mechanism.mechanism import Frame, Mechanism
from elastogen.generator.program.program import Branch


def isomorphic_subtrees(mechanism: Mechanism) -> tuple[tuple[Branch, ...], ...]:
    """Sets of four or two branches from one frame, each with its coordinates, which correspond to each other in order."""
    if mechanism.separate or any(frame.window is not None for frame in mechanism.frames):
        return ()  # what slides along a beam has other coordinates for every element
    children: dict[int, list[int]] = {}
    for index, frame in enumerate(mechanism.frames):
        children.setdefault(frame.parent, []).append(index)

    def shape(index: int) -> tuple[object, ...]:
        frame = mechanism.frames[index]
        own = (type(frame.motion).__name__, len(frame.coordinates), len(_elastic(frame)))
        return (*own, *(shape(child) for child in children.get(index, ())))

    def outward(index: int) -> list[Frame]:
        return [mechanism.frames[index], *(frame for child in children.get(index, ()) for frame in outward(child))]

    found: list[tuple[Branch, ...]] = []
    waiting = [-1]
    while waiting:
        isomorphic: dict[tuple[object, ...], list[int]] = {}
        for child in children.get(waiting.pop(), ()):
            isomorphic.setdefault(shape(child), []).append(child)
        for members in isomorphic.values():
            while len(members) >= 2 and _apart(mechanism, members):
                count = 4 if len(members) >= 4 else 2
                found.append(tuple(_branch(mechanism, outward(member)) for member in members[:count]))
                members = members[count:]
            waiting += members
    return tuple(found)


def _apart(mechanism: Mechanism, members: list[int]) -> bool:
    """Whether frames are moved by coordinates of their own: not so the interfaces of one flexible body."""
    moved = [k for member in members for k in mechanism.frames[member].coordinates]
    return len(set(moved)) == len(moved)


def _elastic(frame: Frame) -> tuple[int, ...]:
    return () if frame.elastic is None else tuple(frame.elastic.coordinates)


def _branch(mechanism: Mechanism, frames: list[Frame]) -> Branch:
    velocities = dict.fromkeys(k for frame in frames for k in (*frame.coordinates, *_elastic(frame)))
    extras = (k for frame in frames for k in frame.extras)
    return Branch(tuple(mechanism.order[k] for k in (*velocities, *extras)), tuple(velocities))
