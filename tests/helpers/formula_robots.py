"""Robots with formula joints, and the poses of their links written down a second time, for mpmath."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dalembert
import mpmath

INERTIA = {"xx": 0.02, "yy": 0.03, "zz": 0.04, "xy": 0.002, "xz": -0.001, "yz": 0.003}
GRAVITY = (0.3, -0.4, -9.81)
LINKS: list[dict[str, Any]] = [
    {"name": "first", "mass": 1.5, "com": [0.2, 0.05, 0.1], "inertia": INERTIA},
    {"name": "second", "mass": 0.8, "com": [0.1, -0.07, 0.3], "inertia": INERTIA},
]
BODIES = [dalembert.pseudo_inertia(link["mass"], link["com"], link["inertia"]) for link in LINKS]

CAM: dict[str, Any] = {
    "name": "cam",
    "type": "formula",
    "coordinates": {"angle": "rad"},
    "displacement": ["ecc*cos(angle)", "ecc*sin(angle)", "0.1*(1 - cos(2*angle))"],
    "turns": [{"axis": [0, 0, 1], "angle": "angle + 0.2*sin(angle)"}, {"axis": [0.6, 0, 0.8], "angle": "angle**2/3"}],
}
PATH: dict[str, Any] = {  # a carriage on a curved rail, with a rotation vector that turns its direction
    "name": "rail",
    "type": "formula",
    "coordinates": {"s": "m"},
    "placement": {"xyz": [0.3, 0, 0.1]},
    "displacement": ["s", "0.3*sin(2*s)", "0.1*s**2"],
    "rotation": ["0.1*sin(s)", "0.2*s", "atan(0.6*s)"],
}
BALL: dict[str, Any] = {  # three coordinates in one joint: a rotation vector, and a soft pad
    "name": "ball",
    "type": "formula",
    "coordinates": {"x": "rad", "y": "rad", "z": "rad"},
    "displacement": ["0.05*x*y", "0.02*sin(z)", 0],
    "rotation": ["x", "y", "z"],
}


def description(*joints: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A robot file with these joints, one after the other."""
    return {
        "elastogen": 1, "name": "formulas", "parameters": {"ecc": 0.04}, "gravity": GRAVITY,
        "links": [{"name": "base"}, *LINKS[: len(joints)]], "joints": list(joints), **more,
    }  # fmt: skip


def track_poses(q: Sequence[Any]) -> list[Any]:
    """Of CAM with PATH on it."""
    a, s = q
    mp = mpmath.mp
    cam = dalembert.moved(mp.mpf(0.04) * mp.cos(a), mp.mpf(0.04) * mp.sin(a), mp.mpf(0.1) * (1 - mp.cos(2 * a)))
    tilt = a**2 / 3
    cam = cam * dalembert.exponential((0, 0, a + mp.mpf(0.2) * mp.sin(a)))
    cam = cam * dalembert.exponential((mp.mpf(0.6) * tilt, 0, mp.mpf(0.8) * tilt))
    rail = dalembert.moved(mp.mpf(0.3), 0, mp.mpf(0.1)) * dalembert.moved(s, mp.mpf(0.3) * mp.sin(2 * s), mp.mpf(0.1) * s**2)
    rotated = dalembert.exponential((mp.mpf(0.1) * mp.sin(s), mp.mpf(0.2) * s, mp.atan(mp.mpf(0.6) * s)))
    return [cam, cam * rail * rotated]


def ball_poses(q: Sequence[Any]) -> list[Any]:
    """Of BALL alone."""
    x, y, z = q
    return [
        dalembert.moved(mpmath.mpf(0.05) * x * y, mpmath.mpf(0.02) * mpmath.mp.sin(z), 0) * dalembert.exponential((x, y, z))
    ]
