"""The motion of a joint by the user's formula: displacement and rotation as expressions in coordinates and parameters.

``T(q) = Trans(displacement) . Rot``, with Rot a product of rotations about fixed axes, outermost first, or the rotation of a
rotation vector. Text from files is in the language of terms; in Python SymPy expressions are accepted, with symbols by name.
"""

from __future__ import annotations

import keyword
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from elastogen.generator.program.symbolic.expression_size import excess
from elastogen.generator.robot.expressions import named, parse_scalar
from elastogen.generator.robot.grammar import RejectedError
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.own.term_expressions import FUNCTIONS, OPERATIONS, Choices, parse_expression
from elastogen.generator.robot.placement import unit_axis
from elastogen.generator.robot.robot import Parameter, Vector

UNITS = ("rad", "m")
MOST_COORDINATES = 6
MOST_REVOLUTIONS = 12
LONGEST_NAME = 40
LARGEST = 1e18  # no number of a robot is beyond, and integers of 400 digits are not floats
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
Components = tuple[sympy.Expr, sympy.Expr, sympy.Expr]
NONE: Components = (sympy.S.Zero, sympy.S.Zero, sympy.S.Zero)


def coordinate(name: str) -> sympy.Symbol:
    """The symbol of a coordinate in a formula; no parameter can have its name."""
    return sympy.Symbol(f"q({name})", real=True)


@dataclass(frozen=True)
class FormulaRotation:
    """A rotation about a fixed axis."""

    axis: Vector  # unit vector, in the frame before the rotation
    angle: sympy.Expr  # [rad]


@dataclass(frozen=True)
class Formula:
    """Displacement [m], in the joint frame, and rotation by ``turns`` or by the rotation vector ``vector`` [rad]."""

    coordinates: tuple[tuple[str, str], ...] = ()  # names and units
    displacement: Components = NONE
    turns: tuple[FormulaRotation, ...] = ()
    vector: Components | None = None
    series: bool = True  # whether small rotation vectors are served by series; without, formulas are short to read

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The coordinates."""
        return tuple(coordinate(name) for name, _ in self.coordinates)

    @property
    def expressions(self) -> dict[tuple[str | int, ...], sympy.Expr]:
        """Every expression, by its place in a robot file."""
        found: dict[tuple[str | int, ...], sympy.Expr] = {("displacement", k): e for k, e in enumerate(self.displacement)}
        found |= {("rotation", k): e for k, e in enumerate(self.vector or ())}
        return found | {("turns", k, "angle"): turn.angle for k, turn in enumerate(self.turns)}


def read_formula(given: Mapping[str, Any], parameters: Mapping[str, Parameter], where: Location) -> Formula:
    """The formula of the keys ``coordinates``, ``displacement``, ``rotation`` and ``turns``."""
    coordinates = _coordinates(given.get("coordinates"), parameters, where.at("coordinates"))
    words = _words([name for name, _ in coordinates], parameters)
    if "rotation" in given and "turns" in given:
        raise where.at("turns").error("both", "either rotation or turns", "remove one of them")
    if not {"displacement", "rotation", "turns"} & set(given):
        raise where.error("no motion", "displacement, rotation or turns", "add for example displacement: [0, 0, s]")
    displacement = _components(given.get("displacement", (0, 0, 0)), words, where.at("displacement"))
    turns = _rotates(given.get("turns", ()), words, where.at("turns"))
    if "rotation" not in given:
        return Formula(coordinates, displacement, turns)
    vector = _components(given["rotation"], words, where.at("rotation"))
    about_one = _about_one_axis(vector)
    return (
        Formula(coordinates, displacement, about_one)
        if about_one is not None
        else Formula(coordinates, displacement, (), vector)
    )


def _coordinates(given: Any, parameters: Mapping[str, Parameter], where: Location) -> tuple[tuple[str, str], ...]:
    if not isinstance(given, Mapping) or not 0 < len(given) <= MOST_COORDINATES:
        shown = f"{len(given)} coordinates" if isinstance(given, Mapping) else given
        raise where.error(shown, f"1 to {MOST_COORDINATES} names with their units", "for example {angle: rad, travel: m}")
    for name, unit in given.items():
        here = where.at(str(name))
        if not isinstance(name, str) or not _NAME.fullmatch(name) or "__" in name or len(name) > LONGEST_NAME:
            raise here.error(name, f"a name of at most {LONGEST_NAME} letters, digits and single _", "for example angle")
        if name in parameters:
            raise here.error(name, "a name that no parameter has", "rename the coordinate or the parameter")
        if name in FUNCTIONS or name in ("pi", "t", "q", "qd") or keyword.iskeyword(name):
            raise here.error(name, "a name that means nothing else in expressions", f"for example {name}_1")
        if unit not in UNITS:
            raise here.error(unit, "rad for an angle, m for a length", "write for example angle: rad")
    return tuple((str(name), str(unit)) for name, unit in given.items())


def _words(names: Sequence[str], parameters: Mapping[str, Parameter]) -> Choices:
    def name(word: str) -> sympy.Expr:
        if word in names:
            return coordinate(word)
        if word != "pi" and word not in parameters:
            fix = did_you_mean(word, [*names, *parameters], "declare it under coordinates or parameters")
            raise RejectedError(f"the joint's coordinates ({', '.join(names)}) and parameters", fix)
        return named(word, parameters)

    text = f"an expression of numbers, pi, the joint's coordinates ({', '.join(names)}), parameters, {OPERATIONS}"
    return Choices(text, name, {}, f"write for example 0.02*sin(2*{names[0]})")


def _expression(given: Any, words: Choices, where: Location) -> sympy.Expr:
    """An expression from a number, a text, or SymPy with symbols of the right names."""
    if isinstance(given, sympy.Expr) and not isinstance(given, sympy.MatrixBase):
        if too_much := excess(given):
            raise where.error("a large expression", "an expression that can become C", too_much)
        try:
            return given.xreplace({symbol: words.name(symbol.name) for symbol in given.free_symbols})
        except RejectedError as problem:
            raise where.error(given, problem.expected, problem.fix) from None
    if isinstance(given, bool) or not isinstance(given, (str, numbers.Real)):
        raise where.error(given, "a number or an expression", words.example)
    plain = given if isinstance(given, str) else int(given) if isinstance(given, numbers.Integral) else float(given)
    if not isinstance(plain, str) and not abs(plain) < LARGEST:
        raise where.error(given, "a finite number", words.example)
    return parse_expression(plain, words, where)


def _components(given: Any, words: Choices, where: Location) -> Components:
    entries = given if isinstance(given, (list, tuple)) else list(given) if isinstance(given, sympy.MatrixBase) else []
    if len(entries) != 3:
        raise where.error(given, "three expressions, along x, y and z of the joint", "for example [0, 0, 0.1]")
    x, y, z = (_expression(entry, words, where.at(k)) for k, entry in enumerate(entries))
    return (x, y, z)


def _rotates(given: Any, words: Choices, where: Location) -> tuple[FormulaRotation, ...]:
    if not isinstance(given, (list, tuple)) or len(given) > MOST_REVOLUTIONS:
        raise where.error(given, f"a list of at most {MOST_REVOLUTIONS} turns", "for example [{axis: [1, 0, 0], angle: alpha}]")
    found = []
    for k, turn in enumerate(given):
        here = where.at(k)
        if not isinstance(turn, Mapping) or set(turn) != {"axis", "angle"}:
            raise here.error(turn, "a rotation: its axis and its angle", "for example {axis: [1, 0, 0], angle: alpha}")
        axis, entries = turn["axis"], here.at("axis")
        if not isinstance(axis, (list, tuple)) or len(axis) != 3:
            raise entries.error(axis, "three numbers", "for example [0, 0, 1]")
        x, y, z = (parse_scalar(_plain(entry, entries), {}, entries.at(i)) for i, entry in enumerate(axis))
        found.append(FormulaRotation(unit_axis((x, y, z), entries), _expression(turn["angle"], words, here.at("angle"))))
    return tuple(found)


def _plain(given: Any, where: Location) -> int | float | str:
    plain = isinstance(given, str) or (isinstance(given, (int, float)) and abs(given) < LARGEST)
    if isinstance(given, bool) or not plain:
        raise where.error(given, "three numbers", "for example [0, 0, 1]")
    return given  # type: ignore[no-any-return]


def _about_one_axis(vector: Components) -> tuple[FormulaRotation, ...] | None:
    """The rotation of a rotation vector with a fixed direction, or None: it needs no limit at zero, and few sines."""
    used = [k for k in range(3) if not _is_zero(vector[k])]
    if not used:
        return ()
    first = vector[used[0]]
    ratios = [sympy.S.Zero if _is_zero(e) else e / first for e in vector]
    if not all(ratio.is_number and ratio.is_finite for ratio in ratios):
        return None
    length = sympy.sqrt(sum(ratio**2 for ratio in ratios))
    x, y, z = (ratio / length for ratio in ratios)
    axis = tuple(int(e) if e.is_Integer else float(e) for e in (x, y, z))
    return (FormulaRotation((axis[0], axis[1], axis[2]), first * length),)


def _is_zero(expression: sympy.Expr) -> bool:
    """Whether it is the number zero; in SymPy 0.0 == 0 is false."""
    return bool(expression.is_Number and expression.is_zero)
