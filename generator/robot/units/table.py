"""Units by name: value in SI units, and dimension.

A unit is a product of names with integer powers: ``kg m^2``, ``N m/(rad/s)``, ``g/cm^3``, ``1/s``. A slash divides by what
stands next to it. Names may have SI prefixes (``mm``, ``GPa``, ``kN``). An angle has no dimension, as in SI.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

Dimension = tuple[Fraction, ...]  # exponents of these units
_BASE = ("kg", "m", "s", "A", "K")
NUMBER: Dimension = (Fraction(0),) * len(_BASE)


@dataclass(frozen=True)
class Unit:
    """The value of a unit: ``ratio`` times pi to the power ``pi`` SI units, which are written ``si``."""

    ratio: Fraction
    dimension: Dimension
    si: str
    pi: int = 0

    @property
    def is_si(self) -> bool:
        """Whether one of it is one SI unit."""
        return self.ratio == 1 and self.pi == 0

    def in_si(self, value: float) -> float:
        """A number of this unit in SI, correctly rounded if it contains no pi; SI stays as it is."""
        return value if self.is_si else float(Fraction(value) * self.ratio) * math.pi**self.pi


class UnknownUnitError(ValueError):
    """A text that is not made of known units; ``name`` is the part that is not known."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _dimension(kg: int = 0, m: int = 0, s: int = 0, a: int = 0, k: int = 0) -> Dimension:
    return tuple(Fraction(power) for power in (kg, m, s, a, k))


_MASS, _LENGTH, _TIME = _dimension(kg=1), _dimension(m=1), _dimension(s=1)
_FORCE, _PRESSURE, _ENERGY, _RATE = _dimension(1, 1, -2), _dimension(1, -1, -2), _dimension(1, 2, -2), _dimension(s=-1)
_COHERENT = {  # units of SI that take prefixes
    "m": _LENGTH, "s": _TIME, "A": _dimension(a=1), "K": _dimension(k=1), "rad": NUMBER,
    "N": _FORCE, "Pa": _PRESSURE, "J": _ENERGY, "W": _dimension(1, 2, -3), "Hz": _RATE,
    "V": _dimension(1, 2, -3, -1), "Ohm": _dimension(1, 2, -3, -2), "ohm": _dimension(1, 2, -3, -2),
    "H": _dimension(1, 2, -2, -2), "F": _dimension(-1, -2, 4, 2), "C": _dimension(s=1, a=1),
    "T": _dimension(1, 0, -2, -1), "Wb": _dimension(1, 2, -2, -1),
}  # fmt: skip
_PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9, "T": 12}  # powers of ten
_INCH, _POUND, _GRAVITY = Fraction("0.0254"), Fraction("0.45359237"), Fraction("9.80665")  # m, kg, m/s^2, by definition
_OTHERS = {
    "kg": Unit(Fraction(1), _MASS, "kg"),
    "g": Unit(Fraction(1, 10**3), _MASS, "kg"),
    "mg": Unit(Fraction(1, 10**6), _MASS, "kg"),
    "t": Unit(Fraction(10**3), _MASS, "kg"),
    "lb": Unit(_POUND, _MASS, "kg"),
    "oz": Unit(_POUND / 16, _MASS, "kg"),
    "in": Unit(_INCH, _LENGTH, "m"),
    "ft": Unit(12 * _INCH, _LENGTH, "m"),
    "min": Unit(Fraction(60), _TIME, "s"),
    "h": Unit(Fraction(3600), _TIME, "s"),
    "deg": Unit(Fraction(1, 180), NUMBER, "rad", pi=1),
    "rev": Unit(Fraction(2), NUMBER, "rad", pi=1),
    "rpm": Unit(Fraction(1, 30), _RATE, "rad/s", pi=1),
    "Nm": Unit(Fraction(1), _ENERGY, "N m"),
    "lbf": Unit(_POUND * _GRAVITY, _FORCE, "N"),
    "kgf": Unit(_GRAVITY, _FORCE, "N"),
    "bar": Unit(Fraction(10**5), _PRESSURE, "Pa"),
    "psi": Unit(_POUND * _GRAVITY / _INCH**2, _PRESSURE, "Pa"),
    "1": Unit(Fraction(1), NUMBER, "1"),
    "%": Unit(Fraction(1, 100), NUMBER, "1"),
}
_TOKENS = re.compile(r"\s*([A-Za-z]+|%|\^|\*\*|\*|/|\.|\(|\)|-?\d+)")
EXAMPLES = "m, mm, kg, g, s, rad, deg, N m, kg m^2, g/cm^3, GPa, N m s/rad, rpm"
KNOWN = (*_COHERENT, *_OTHERS)


@lru_cache(maxsize=256)
def parse_unit(text: str) -> Unit:
    """The value of a unit; ``""`` and ``-`` are plain numbers. Raises UnknownUnitError."""
    if text.strip() in ("", "-"):
        return Unit(Fraction(1), NUMBER, text.strip())
    tokens = _TOKENS.findall(text)
    if "".join(tokens) != "".join(text.split()):
        raise UnknownUnitError(text)
    unit, rest = _product(tokens, text)
    if rest:
        raise UnknownUnitError(text)
    return unit


def _product(tokens: list[str], text: str) -> tuple[Unit, list[str]]:
    unit, tokens = _power(tokens, text)
    while tokens and tokens[0] != ")":
        divides = tokens[0] == "/"
        factor, tokens = _power(tokens[1:] if tokens[0] in ("/", "*", ".") else tokens, text)
        unit = _times(unit, factor, -1 if divides else 1)
    return unit, tokens


def _power(tokens: list[str], text: str) -> tuple[Unit, list[str]]:
    if not tokens:
        raise UnknownUnitError(text)
    if tokens[0] == "(":
        inside, tokens = _product(tokens[1:], text)
        if not tokens:
            raise UnknownUnitError(text)
        unit = Unit(inside.ratio, inside.dimension, f"({inside.si})", inside.pi)
    else:
        unit = _named(tokens[0])
    tokens = tokens[1:]
    if tokens and tokens[0] in ("^", "**"):
        tokens = tokens[1:]
        if not tokens or not re.fullmatch(r"-?\d", tokens[0]):
            raise UnknownUnitError(text)
    if tokens and re.fullmatch(r"-?\d", tokens[0]):
        power = int(tokens[0])
        scaled = tuple(power * exponent for exponent in unit.dimension)
        name = unit.si if re.fullmatch(r"[A-Za-z]+|\(.*\)", unit.si) else f"({unit.si})"
        return Unit(unit.ratio**power, scaled, f"{name}^{power}", unit.pi * power), tokens[1:]
    return unit, tokens


def _times(unit: Unit, factor: Unit, sign: int) -> Unit:
    dimension = tuple(a + sign * b for a, b in zip(unit.dimension, factor.dimension, strict=True))
    name = f"({factor.si})" if sign < 0 and re.search("[ /]", factor.si) and not factor.si.startswith("(") else factor.si
    written = f"{unit.si}/{name}" if sign < 0 else f"{unit.si} {name}"
    return Unit(unit.ratio * factor.ratio**sign, dimension, written, unit.pi + sign * factor.pi)


def _named(name: str) -> Unit:
    if name in _OTHERS:
        return _OTHERS[name]
    if name in _COHERENT:
        return Unit(Fraction(1), _COHERENT[name], name)
    if name[0] in _PREFIXES and name[1:] in _COHERENT:
        return Unit(Fraction(10) ** _PREFIXES[name[0]], _COHERENT[name[1:]], name[1:])
    raise UnknownUnitError(name)


def shown(dimension: Dimension) -> str:
    """A dimension by its usual unit, or by powers of the base units."""
    if dimension == NUMBER:
        return "a plain number or an angle"
    usual = {**_COHERENT, "N m": _ENERGY, "1/s": _RATE}
    for name, known in usual.items():
        if known == dimension and name not in ("J", "Hz", "H"):
            return name
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in zip(_BASE, dimension, strict=True) if power)
