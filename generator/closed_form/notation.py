"""Symbols in documents: a letter, dots over it, and an index; the same for every format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import sympy

from elastogen.generator.robot.robot import Robot

GREEK = frozenset(
    {
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi",
        "rho", "sigma", "tau", "phi", "chi", "psi", "omega",
    }
)  # fmt: skip
_PAYLOAD = {"mass": ("m", "P"), "com": ("r", "P"), "inertia": ("I", "P")}
_BEAM = {"rhoA": ("rho A", ""), "EI": ("EI", ""), "EIy": ("EI", "y"), "EIz": ("EI", "z"), "GJ": ("GJ", ""), "EA": ("EA", "")}
_PART = re.compile(r"([A-Za-z]+?)_?(\d+)?")


def coordinate_letter(robot: Robot) -> str:
    """Return q, or another letter if the robot has parameters called q1 or the like."""
    for letter in ("q", "theta", "xi"):
        if not any(name.startswith(letter) and name[-1:].isdigit() for name in robot.parameters):
            return letter
    return "coordinate"


@dataclass(frozen=True)
class Sign:
    """A printed symbol: ``letter`` is a letter, the name of a Greek one, a group of letters (EI), or a word."""

    letter: str
    index: str = ""
    dots: int = 0
    word: bool = False  # several letters that are printed upright

    @property
    def grouped(self) -> bool:
        """Whether an index needs brackets around the letter: (rho A)_2."""
        return " " in self.letter


def parameter_sign(name: str) -> Sign:
    """Of a named parameter: l1, theta_2, EI, rhoA2, payload_mass, gravity_x, anything_else."""
    first, _, rest = name.partition("_")
    if first == "gravity" and rest in ("x", "y", "z"):
        return Sign("g", rest)
    if first == "payload" and rest:
        kind, _, axes = rest.partition("_")
        if kind in _PAYLOAD:
            letter, index = _PAYLOAD[kind]
            return Sign(letter, f"{index}{axes}")
    match = _PART.fullmatch(name)
    if match:
        letters, number = match.group(1), match.group(2) or ""
        if letters in _BEAM:
            letter, index = _BEAM[letters]
            return Sign(letter, f"{index}{number}")
        if len(letters) == 1 or letters in GREEK:
            return Sign(letters, number)
        if letters in ("cx", "cy", "cz"):  # a mass centre; c with an index is a cosine
            return Sign("r", f"C{letters[1]}{number}")
        if number and len(letters) <= 3 and letters[1:].islower():  # cx1, Ixx2, lc1, Jm2
            return Sign(letters[0], f"{letters[1:]}{number}")
    return Sign(name, word=True)


class Notation:
    """The signs of all symbols of a closed form."""

    def __init__(
        self,
        q: tuple[sympy.Symbol, ...],
        qd: tuple[sympy.Symbol, ...],
        qdd: tuple[sympy.Symbol, ...],
        more: Mapping[sympy.Symbol, Sign] = MappingProxyType({}),
    ) -> None:
        self.numbers = {symbol: str(k) for k, symbol in enumerate(q, start=1)}
        self._signs: dict[sympy.Symbol, Sign] = {}
        letter = q[0].name.rstrip("0123456789") if q else "q"
        for dots, symbols in enumerate((q, qd, qdd)):
            self._signs |= {symbol: Sign(letter, str(k), dots) for k, symbol in enumerate(symbols, start=1)}
        self._signs |= more

    def sign(self, symbol: sympy.Symbol) -> Sign:
        """How a symbol is printed."""
        return self._signs.get(symbol) or parameter_sign(symbol.name)

    def index_of_angle(self, angle: sympy.Expr) -> str | None:
        """23 for q2 + q3, as in paper 004; None for angles that are not short sums of coordinates."""
        weights = angle.as_coefficients_dict()
        known = set(weights) <= set(self.numbers) and all(w.is_Integer for w in weights.values())
        if not known or not weights or sum(abs(w) for w in weights.values()) > 2 * len(weights) or len(weights) > 4:
            return None
        separator = "," if len(self.numbers) > 9 else ""
        index = ""
        for symbol, number in self.numbers.items():
            weight = int(weights.get(symbol, 0))
            for _ in range(abs(weight)):
                index += ("-" if weight < 0 else separator if index else "") + number
        return index
