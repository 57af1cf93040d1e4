"""Branches of a robot that have the same joints in the same order, such as both arms."""

from __future__ import annotations

from elastogen.generator.mechanism.mechanism import Mechanism


def alike_branches(mechanism: Mechanism) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Sets of two or four branches from one frame, each with its coordinates, which correspond to each other in order."""
    if not mechanism.moves_by_screws or list(mechanism.order) != list(range(mechanism.size)):
        return ()
    children: dict[int, list[int]] = {}
    for index, frame in enumerate(mechanism.frames):
        children.setdefault(frame.parent, []).append(index)

    def shape(index: int) -> tuple[object, ...]:
        return (type(mechanism.frames[index].motion).__name__, *(shape(child) for child in children.get(index, ())))

    def coordinates(index: int) -> tuple[int, ...]:
        return (index, *(inner for child in children.get(index, ()) for inner in coordinates(child)))

    found: list[tuple[tuple[int, ...], ...]] = []
    waiting = [-1]
    while waiting:
        alike: dict[tuple[object, ...], list[int]] = {}
        for child in children.get(waiting.pop(), ()):
            alike.setdefault(shape(child), []).append(child)
        for members in alike.values():
            count = 4 if len(members) >= 4 else len(members) // 2 * 2
            if count:
                found.append(tuple(coordinates(member) for member in members[:count]))
            waiting += members[count:]
    return tuple(found)
