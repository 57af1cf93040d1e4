"""How bodies of MJCF look: their geoms, as MuJoCo's viewers show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from elastogen.generator.description.formats.mjcf.places import rotation
from elastogen.generator.robot.looks import Look

SHOWN_GROUPS = 3  # geoms of the groups 0, 1 and 2 are seen, others are for collisions


def looks(given: Sequence[Mapping[str, Any]], bodies: Sequence[str], world: str, folder: str) -> Iterator[Look]:
    """Looks of the geoms of a compiled model (see ``isolated/mjcf_task.py``). What cannot be drawn is left out."""
    for geom in given:
        turn, place = rotation(geom["quat"]), np.array(geom["pos"], dtype=float)
        scale = tuple(float(x) for x in geom["scale"]) if geom["shape"] == "mesh" else _sides(geom["shape"], geom["size"])
        if geom["shape"] == "mesh":
            if geom["moved"] is not None:
                offset, turned = geom["moved"]
                turn = turn @ rotation(turned).T
                place = place - turn @ offset
            back = rotation(geom["refquat"]).T
            if len(set(scale)) > 1 and not np.allclose(back, np.eye(3)):
                continue  # stretched after it was rotated
            place = place - turn @ (back @ geom["refpos"] * scale)
            turn = turn @ back
        elif not all(0.0 < side < np.inf for side in scale):
            continue
        color = geom["color"]
        if color is not None and color[3] <= 0:
            continue
        r, g, b, a = (min(max(float(part), 0.0), 1.0) for part in color or (0, 0, 0, 0))
        rows = [*np.column_stack([turn, place]).tolist(), [0.0, 0.0, 0.0, 1.0]]
        yield Look(
            link=world if geom["body"] < 0 else bodies[geom["body"]], mesh=geom.get("file", ""),
            pose=tuple(tuple(row) for row in rows), scale=(scale[0], scale[1], scale[2]), folder=folder,
            role="visual" if 0 <= geom["group"] < SHOWN_GROUPS else "collision",
            shape="sphere" if geom["shape"] == "ellipsoid" else geom["shape"], color=None if color is None else (r, g, b, a),
        )  # fmt: skip


def _sides(shape: str, size: Sequence[float]) -> tuple[float, ...]:
    """MuJoCo's sizes, which are halves, as those of a :class:`Look`."""
    x, y, z = (float(part) for part in size)
    if shape == "box":
        return 2 * x, 2 * y, 2 * z
    if shape in ("cylinder", "capsule"):
        return x, x, 2 * y
    return (x, y, z) if shape == "ellipsoid" else (x, x, x)
