"""Materials by name: usual elastic constants and density of what links are made of.

Rounded textbook values at room temperature. ``source`` names where such values are standardized; the numbers have not been
compared with those texts, and alloys of one kind differ by a few per cent. Where it matters, give your own numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Material:
    """A linear elastic, isotropic material."""

    E: float  # Young's modulus [Pa]
    nu: float  # Poisson's ratio [-]
    density: float  # [kg/m^3]
    source: str = ""


_EN1999 = "EN 1999-1-1 (2007), 3.2.5"
_EN1993 = "EN 1993-1-1 (2005), 3.2.6, and EN 1991-1-1, table A.4"
_EN1993_4 = "EN 1993-1-4 (2006), 2.1.3, and EN 10088-1, annex E"
_EN1561 = "EN 1561 (2011), annex A, EN-GJL-250"
_EN1563 = "EN 1563 (2018), annex A, EN-GJS-400-15"
_EN1753 = "EN 1753 (2019), annex, magnesium cast alloys"
_ASM = "ASM Handbook 2 (1990), Ti-6Al-4V"

MATERIALS: dict[str, Material] = {
    "aluminium": Material(70e9, 0.3, 2700.0, _EN1999),
    "steel": Material(210e9, 0.3, 7850.0, _EN1993),
    "stainless_steel": Material(200e9, 0.3, 7900.0, _EN1993_4),
    "grey_cast_iron": Material(110e9, 0.26, 7200.0, _EN1561),
    "ductile_iron": Material(169e9, 0.275, 7100.0, _EN1563),
    "magnesium": Material(45e9, 0.35, 1800.0, _EN1753),
    "titanium": Material(114e9, 0.34, 4430.0, _ASM),
}
ALIASES = {"aluminum": "aluminium", "cast_iron": "grey_cast_iron"}
