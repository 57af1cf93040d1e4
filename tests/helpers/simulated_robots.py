"""Robots of the tests of simulation: a joint with a spring, a pendulum with friction; models of them in conftest.py."""

from __future__ import annotations

from typing import Any

import numpy as np

SPRING: dict[str, Any] = {
    "elastogen": 1,
    "name": "oscillator",
    "gravity": [0, 0, 0],
    "links": [{"name": "base"}, {"name": "arm", "mass": 1, "com": [0.5, 0, 0], "inertia": [0, 0.1, 0.1]}],
    "joints": [
        {
            "name": "j", "type": "revolute", "child": "arm", "axis": [0, 0, 1],
            "motor": {"inertia": 0.002, "gear_ratio": 10},
            "elasticity": {"stiffness": 50, "damping": 0.2},
        }
    ],
}  # fmt: skip
PENDULUM: dict[str, Any] = {
    "elastogen": 1,
    "name": "pendulum",
    "gravity": [0, -9.81, 0],
    "parameters": {"m": {"value": 1.5}, "Izz": {"value": 0.2}, "d": {"value": 0.3}, "c": {"value": 0.4}},
    "live": ["gravity", "m", "Izz", "d", "c"],
    "links": [{"name": "base"}, {"name": "rod", "mass": "m", "com": [0.4, 0, 0], "inertia": [0, "Izz", "Izz"]}],
    "joints": [
        {
            "name": "pivot", "type": "revolute", "child": "rod", "axis": [0, 0, 1],
            "friction": {"viscous": "d", "coulomb": "c", "coulomb_velocity": 0.1},
        }
    ],
}  # fmt: skip
FREE = {"d": 0.0, "c": 0.0, "gravity_y": 0.0}  # the pendulum as a mass on an axis
START = np.array([0.5, 0.3])

BENDING = {
    "elastogen": 1,
    "name": "beam",
    "links": [
        {"name": "base"},
        {
            "name": "arm",
            "flexible": {
                "type": "modes", "length": 0.8, "mass_per_length": 0.5, "EI": 0.2, "tip": {"mass": 0.3},
                "modes": [{"direction": "y", "eigenfunction": 1}],
            },
        },
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "arm", "axis": [0, 1, 0]}],
}  # fmt: skip
FLOATING = {
    "elastogen": 1,
    "name": "free",
    "base": "floating",
    "links": [{"name": "body", "mass": 2.0, "com": [0.1, 0, 0.05], "inertia": [0.3, 0.2, 0.25]}, {"name": "arm", "mass": 1.0,
               "com": [0.2, 0.1, 0], "inertia": [0.03, 0.02, 0.025]}],
    "joints": [{"name": "hinge", "type": "revolute", "child": "arm", "axis": [0, 1, 0]}],
}  # fmt: skip
