"""Which coordinates of a model are those of floating and of spherical joints: what state manifolds of other tools ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model


class Part(NamedTuple):
    """Coordinates that belong together: where they start in q and in qd."""

    kind: str  # "free": position and quaternion, "ball": quaternion, "number"
    q: int
    v: int
    name: str  # of its first coordinate


SIZES = {"free": (7, 6), "ball": (4, 3), "number": (1, 1)}  # in q, in qd


def parts_of(model: Model) -> list[Part]:
    """The coordinates in their order."""
    names, quaternions = model.coordinate_names, model.metadata.quaternions
    free = {start - 3 for start in quaternions if start >= 3 and _has_position(names, start)}
    found: list[Part] = []
    q = v = 0
    while q < model.nq:
        kind = "free" if q in free else "ball" if q in quaternions else "number"
        found.append(Part(kind, q, v, names[q]))
        q, v = q + SIZES[kind][0], v + SIZES[kind][1]
    return found


def _has_position(names: tuple[str, ...], start: int) -> bool:
    """Whether the quaternion that starts here is that of a floating joint: its position stands before it."""
    joint = names[start].rpartition(".")[0]
    return names[start - 3 : start] == (f"{joint}.x", f"{joint}.y", f"{joint}.z")
