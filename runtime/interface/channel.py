"""A reading of a sensor: one number with a name and a unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Channel:
    """One number that a sensor reads."""

    name: str  # "elbow", "gauge.strain", "imu.gyroscope.x"
    unit: str
    sensor: str  # as the user named it
