"""Descriptions of flexible links of every kind, for tests that change them."""

import copy

from elastogen.generator.description.load_robot import load

POLYNOMIALS = {
    "type": "modes",
    "length": 0.8,
    "mass_per_length": 0.35325,
    "EI": 0.1688,
    "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "y", "shape": "(x/L)**3"}],
}
ELEMENTS = {"type": "elements", "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "elements": 5}
STANDARD = {  # the beam of POLYNOMIALS with its first mode, by hand
    "type": "standard_data",
    "mass": 0.2826,
    "first_moments": [0.11304, 0, 0],
    "second_moments": [[0.060288, 0, 0], [0, 0, 0], [0, 0, 0]],
    "modes": [
        {
            "name": "y1",
            "integral": [0, 0.0942, 0],
            "position_integral": [[0, 0, 0], [0.05652, 0, 0], [0, 0, 0]],
            "tip_displacement": [0, 1, 0],
            "tip_rotation": [0, 0, 2.5],
        }
    ],
    "products": [{"fields": [1, 1], "integral": [[0, 0, 0], [0, 0.05652, 0], [0, 0, 0]]}],
    "stiffness": [[1.31875]],
    "tip_frame": {"xyz": [0.8, 0, 0]},
}
LUMPED = {
    "type": "lumped_masses",
    "modes": [{"name": "b1", "tip_displacement": [0, 1, 0], "tip_rotation": [0, 0, 2]}],
    "nodes": [
        {"mass": 0.5, "position": [0.5, 0, 0.1], "displacements": [[0, 0.3, 0]]},
        {"mass": 0.2, "position": [1, 0, 0], "displacements": [[0.1, 1, 0]]},
    ],
    "stiffness": [[20]],
    "tip_frame": {"xyz": [1, 0, 0]},
}
KINDS = {"modes": POLYNOMIALS, "elements": ELEMENTS, "standard_data": STANDARD, "lumped_masses": LUMPED}


def arm(flexible, **more):
    return {
        "elastogen": 1,
        "name": "arm",
        "links": [{"name": "base"}, {"name": "upper", "mass": 0.5, "flexible": flexible}],
        "joints": [{"name": "j1", "type": "revolute"}],
        **more,
    }


def flexible(kind="modes", /, **changes):
    return {**copy.deepcopy(KINDS[kind]), **changes}


def body_of(section, **more):
    return load(arm(section, **more)).links[1].flexible


def mode(i, **changes):
    modes = copy.deepcopy(POLYNOMIALS["modes"])
    modes[i] = {"direction": "y", **changes}
    return flexible(modes=modes)
