"""Names of what output error estimates: numbers of a robot file by their paths, unknowns of sensors."""

from __future__ import annotations

PATHS = {
    "stiffness": ("joints.*.elasticity.stiffness",),
    "joint_damping": ("joints.*.elasticity.damping",),
    "EI": ("links.*.flexible.EI", "links.*.flexible.EI.*", "links.*.flexible.EI_?"),
    "GJ": ("links.*.flexible.GJ",),
    "mass_per_length": ("links.*.flexible.mass_per_length",),
    "link_damping": ("links.*.flexible.damping.rayleigh.*", "links.*.flexible.damping.matrix.*"),
}
"""Elastic numbers by a short name."""
SENSORS = {
    "sensor_lag": "delay of every sensor of a point [s]",
    "sensor_gain": "factor of every sensor of a point",
    "sensor_offset": "bias of every sensor of a point",
}
"""Unknowns of sensors, by name."""
SECTIONS = ("parameters", "links", "joints", "payload")


def is_path(name: str) -> bool:
    """Whether a name asks for a number of the file, not for a kind of rigid bodies and drives."""
    return name in PATHS or name.startswith(tuple(f"{section}." for section in SECTIONS))
