"""Flexible arms with sensors that tests of observers and of tip control share."""

from __future__ import annotations

from typing import Any


def beam(length: float, EI: float, modes: int) -> dict[str, Any]:
    return {
        "type": "modes",
        "length": length,
        "mass_per_length": 0.5,
        "EI": EI,
        "modes": [{"direction": "y", "eigenfunction": k + 1} for k in range(modes)],
        "damping": {"ratio": 0.005},
    }


def two_flexible_links(modes: int = 1) -> dict[str, Any]:
    """Two beams in a horizontal plane, each behind a motor; a gauge at the root of each, an IMU on the tip."""
    return {
        "elastogen": 1,
        "name": "gauged",
        "gravity": [0, 0, -9.81],
        "links": [
            {"name": "base"},
            {"name": "upper", "flexible": beam(0.6, 12.0, modes)},
            {"name": "fore", "flexible": beam(0.5, 6.0, modes)},
        ],
        "joints": [
            {"name": "shoulder", "type": "revolute", "child": "upper", "axis": [0, 0, 1], "motor": {"inertia": 0.2}},
            {
                "name": "elbow",
                "type": "revolute",
                "parent": "upper",
                "child": "fore",
                "axis": [0, 0, 1],
                "motor": {"inertia": 0.05},
            },
        ],
        "points": [
            {"name": "gauge1", "link": "upper", "x": 0.0, "strain": {"direction": "y", "offset": 0.002}},
            {"name": "gauge2", "link": "fore", "x": 0.0, "strain": {"direction": "y", "offset": 0.002}},
            {"name": "imu", "link": "fore", "x": 0.5},
        ],
    }
