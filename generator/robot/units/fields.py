"""The units of fields of a robot description, for keys that always have the same unit."""

from __future__ import annotations

import re

from elastogen.generator.robot.units.table import Unit, parse_unit

_UNITS = {
    "kg": ("mass",), "m": ("com", "xyz", "length", "x"), "kg m^2": ("inertia",), "kg/m": ("mass_per_length",),
    "rad": ("rpy",), "m/s^2": ("gravity",), "N m^2": ("EI", "EI_y", "EI_z", "GJ"),
    "N": ("EA", "GA", "GA_y", "GA_z"), "kg m": ("polar_inertia_per_length", "inertia_y_per_length", "inertia_z_per_length"),
}  # fmt: skip
_OF_KEY = {key: unit for unit, keys in _UNITS.items() for key in keys}
_OF_SECTIONS = {
    **dict.fromkeys(("EI", "EI_y", "EI_z"), "E times the second moment of area"),
    "GJ": "G times the torsion constant",
    "EA": "E times the area",
    **dict.fromkeys(("GA", "GA_y", "GA_z"), "G times the shear area"),
}


def misfit(path: str, given: Unit) -> str:
    """The quantity of the field at a dotted path, if its value cannot have this unit; else nothing."""
    parts = [re.sub(r"\[\d+\]", "", part) for part in path.split(".")]
    if len(parts) > 1 and parts[-1] in ("x", "y", "z") and parts[-2] in _OF_KEY:
        parts.pop()
    unit = _OF_KEY.get(parts[-1])
    if unit is None or parse_unit(unit).dimension == given.dimension:
        return ""
    made = _OF_SECTIONS.get(parts[-1])
    return f"{parts[-1]} in {unit}" + (f", which is {made}" if made else "")
