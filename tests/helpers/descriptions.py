"""Robot descriptions as mappings, for tests that change them, and the published schema of these."""

import copy
import json
from importlib import resources

GOOD = {
    "elastogen": 1,
    "name": "arm",
    "description": "an arm",
    "gravity": [0, 0, -9.81],
    "parameters": {"l1": {"value": 0.3, "unit": "m", "doc": "length"}},
    "live": ["gravity"],
    "links": [
        {"name": "base"},
        {"name": "upper", "mass": 2, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
        {"name": "lower", "mass": 1, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
    ],
    "joints": [
        {"name": "j1", "type": "revolute", "child": "upper", "axis": [0, 0, 1], "placement": {"xyz": [0, 0, "l1"]}},
        {"name": "j2", "type": "revolute", "child": "lower", "axis": [0, 1, 0], "placement": {"xyz": [0, 0, 0.5]}},
    ],
    "tip": {"link": "lower", "xyz": [0, 0, 0.2]},
    "payload": {"mass": 0},
}


def serial_arm(**changes):
    """A small serial arm as a mapping."""
    return {
        "elastogen": 1,
        "name": "arm",
        "links": [{"name": "base"}, {"name": "upper", "mass": 2}, {"name": "lower", "mass": 1}],
        "joints": [{"name": "j1", "type": "revolute"}, {"name": "j2", "type": "prismatic"}],
        **changes,
    }


def changed(*path_and_value):
    """The good arm with the value at a path replaced (or the key added)."""
    *path, last, value = path_and_value
    data = copy.deepcopy(GOOD)
    part = data
    for step in path:
        part = part[step]
    part[last] = value
    return data


def without(*path):
    *way, last = path
    data = copy.deepcopy(GOOD)
    part = data
    for step in way:
        part = part[step]
    del part[last]
    return data


def published_schema():
    return json.loads((resources.files("elastogen.generator.description") / "robot.schema.json").read_text(encoding="utf-8"))
