"""An arm of a box by its mesh, a rigid one on its end."""

import json

import elastogen

PLACES = {
    "hub": {"plane": {"point": [0, 0, 0], "normal": [1, 0, 0]}},
    "elbow": {"plane": {"point": [0.2, 0, 0], "normal": [1, 0, 0]}},
}
FORE = {"name": "fore", "mass": 0.4, "com": [0.1, 0, 0.02], "inertia": [[1e-3, 0, 0], [0, 2e-3, 0], [0, 0, 1.5e-3]]}


def solid(size=(0.2, 0.03, 0.02)):
    import trimesh

    made = trimesh.creation.box(extents=size)
    made.apply_translation((size[0] / 2, 0, 0))
    return made


def described(more=None, **flexible):
    """An arm of a box, a rigid one on its end."""
    mesh = {
        "type": "mesh",
        "file": "box.stl",
        "material": "aluminium",
        "modes": 3,
        "size": 0.03,
        "interfaces": PLACES,
        **flexible,
    }
    return {
        "elastogen": 1, "name": "casting", "links": [{"name": "base"}, {"name": "arm", "flexible": mesh}, FORE],
        "joints": [{"name": "hub", "type": "revolute"},
                   {"name": "elbow", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0.2, 0, 0]}}],
        **(more or {}),
    }  # fmt: skip


def written(folder, description):
    (folder / "robot.yaml").write_text(json.dumps(description))
    return elastogen.load(str(folder / "robot.yaml"))
