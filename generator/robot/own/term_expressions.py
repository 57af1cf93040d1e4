"""The language of ``terms:``, ``follows:`` and formula joints in a robot file.

Arithmetic, elementary functions and conditions of the robot's symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy

from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.expressions import named
from elastogen.generator.robot.grammar import Grammar, RejectedError
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.own.terms import AXES, Symbols
from elastogen.generator.robot.robot import Robot

MAX_LENGTH = 2000  # characters of one expression
_ONE = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc", "sinh",
    "cosh", "tanh", "coth", "sech", "csch", "asinh", "acosh", "atanh", "acoth", "asech", "acsch", "sign",
    "erf", "erfc", "sinc", "floor",
)  # fmt: skip
FUNCTIONS = {
    **{name: (getattr(sympy, name), range(1, 2)) for name in _ONE},
    "abs": (sympy.Abs, range(1, 2)),
    "ceil": (sympy.ceiling, range(1, 2)),
    "heaviside": (sympy.Heaviside, range(1, 3)),
    "mod": (sympy.Mod, range(2, 3)),
    "atan2": (sympy.atan2, range(2, 3)),
    "min": (sympy.Min, range(2, 9)),
    "max": (sympy.Max, range(2, 9)),
}
OPERATIONS = f"+ - * / **, {', '.join(FUNCTIONS)}, `x if a < b else y` and parentheses"
_TEXT = (
    "an expression of numbers, pi, t, parameters, q('joint'), qd('joint'), position('frame', 'x'), velocity('frame', 'x'), "
    f"rotation('frame', 'x', 'z'), {OPERATIONS}"
)


def parse_term(given: int | float | str, robot: Robot, where: Location) -> sympy.Expr:
    """The SymPy expression of a term's field."""
    symbols = Symbols(robot)
    references = {
        "q": _checked(symbols.coordinate, 1), "qd": _checked(symbols.velocity_of, 1),
        "position": _component(symbols.position), "velocity": _component(symbols.velocity),
        "angular_velocity": _component(symbols.angular_velocity), "rotation": _entry(symbols),
    }  # fmt: skip

    def name(word: str) -> sympy.Expr:
        return symbols.t if word == "t" else named(word, robot.parameters)

    words = Choices(_TEXT, name, references, "write for example \"0.5*k*q('elbow')**2\"")
    return parse_expression(given, words, where)


@dataclass(frozen=True)
class Choices:
    """The meaning of an expression's names and references."""

    text: str  # what may be written, for messages
    name: Callable[[str], sympy.Expr]  # raises RejectedError
    references: Mapping[str, Callable[..., sympy.Expr]]
    example: str


def parse_expression(given: int | float | str, words: Choices, where: Location) -> sympy.Expr:
    """The SymPy expression of a number or a text in the language of terms."""
    if not isinstance(given, str):
        return sympy.sympify(given)
    if len(given) > MAX_LENGTH:
        raise where.error(given, f"at most {MAX_LENGTH} characters", "split it, or name parts of it")
    grammar = Grammar(words.text, words.name, FUNCTIONS, words.references, conditions=True, any_power=True)
    try:
        return grammar.parse(given)
    except RejectedError as problem:
        raise where.error(given, problem.expected, problem.fix) from None
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, OverflowError):
        raise where.error(given, words.text, words.example) from None


def _checked(lookup: Callable[[str], sympy.Expr], count: int) -> Callable[..., sympy.Expr]:
    def find(*words: str) -> sympy.Expr:
        if len(words) != count:
            raise RejectedError("one name in q(...) and qd(...)", "write for example q('elbow')")
        try:
            return lookup(*words)
        except RobotError as problem:
            raise RejectedError(problem.expected, problem.fix) from None

    return find


def _component(vector: Callable[[str], sympy.Matrix]) -> Callable[..., sympy.Expr]:
    def find(*words: str) -> sympy.Expr:
        if len(words) != 2 or words[1] not in AXES:
            raise RejectedError("a frame and an axis", "write for example position('tip', 'z')")
        return _checked(lambda name: vector(name)[AXES.index(words[1])], 1)(words[0])

    return find


def _entry(symbols: Symbols) -> Callable[..., sympy.Expr]:
    def find(*words: str) -> sympy.Expr:
        if len(words) != 3 or not {*words[1:]} <= {*AXES}:
            raise RejectedError("a frame, a base axis and an axis of the frame", "write for example rotation('tip', 'x', 'z')")
        row, column = (AXES.index(axis) for axis in words[1:])
        return _checked(lambda name: symbols.rotation(name)[row, column], 1)(words[0])

    return find
