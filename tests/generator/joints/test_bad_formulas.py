"""Wrong formula joints are refused with the joint, the key and the fix; nothing of a file is evaluated as Python."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from formula_robots import BALL, CAM, description

import elastogen
from elastogen.generator.program.symbolic import expression_size
from elastogen.generator.robot.errors import RobotError

S = sympy.Symbol("s")
GOOD: dict[str, Any] = {"name": "rail", "type": "formula", "coordinates": {"s": "m"}, "displacement": ["s", "sin(s)", 0]}
TWO = {"coordinates": {"s": "m", "u": "m"}, "displacement": ["s", "u", 0]}
TURN = {"axis": [0, 0, 1], "angle": "s"}
HUGE = "+".join(["s"] * 600_000)
DEEP = "(" * 500 + "s" + ")" * 500


def nested(depth: int) -> sympy.Expr:
    found = S
    for _ in range(depth):
        found = sympy.sin(found, evaluate=False)
    return found


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        ({"coordinates": None}, "coordinates", "coordinates"),
        ({"coordinates": {}}, "coordinates", "1 to 6 names"),
        ({"coordinates": ["s"]}, "coordinates", "1 to 6 names"),
        ({"coordinates": {f"s{k}": "m" for k in range(7)}}, "coordinates", "7 coordinates"),
        ({"coordinates": {"s": "mm"}}, "coordinates.s", "rad for an angle, m for a length"),
        ({"coordinates": {"s": ["m"]}}, "coordinates.s", "rad for an angle"),
        ({"coordinates": {"ecc": "m"}}, "coordinates.ecc", "no parameter has"),
        ({"coordinates": {"sin": "m"}}, "coordinates.sin", "means nothing else"),
        ({"coordinates": {"pi": "m"}}, "coordinates.pi", "means nothing else"),
        ({"coordinates": {"lambda": "m"}}, "coordinates.lambda", "means nothing else"),
        ({"coordinates": {"a b": "m"}}, "coordinates", "letters, digits"),
        ({"coordinates": {3: "m"}}, "coordinates", "letters, digits"),
        ({"displacement": None}, "joints.rail", "displacement, rotation or turns"),
        ({"displacement": ["s", 0]}, "displacement", "three expressions"),
        ({"displacement": "s"}, "displacement", "three expressions"),
        ({"displacement": sympy.Matrix([S, 0])}, "displacement", "three expressions"),
        ({"displacement": ["s", "x", 0]}, "displacement[1]", "coordinates (s)"),
        ({"displacement": ["s", "ec", 0]}, "displacement[1]", "did you mean 'ecc'"),
        ({"displacement": ["s", "t", 0]}, "displacement[1]", "coordinates (s)"),
        ({"displacement": ["s", "q('rail')", 0]}, "displacement[1]", "q is not a function"),
        ({"displacement": ["s", "gamma(s)", 0]}, "displacement[1]", "gamma is not a function"),
        ({"displacement": ["s", "__import__('os')", 0]}, "displacement[1]", "not a function"),
        ({"displacement": ["s", "s.real", 0]}, "displacement[1]", "not arithmetic"),
        ({"displacement": ["s", "s +", 0]}, "displacement[1]", "an expression"),
        ({"displacement": ["s", True, 0]}, "displacement[1]", "a number or an expression"),
        ({"displacement": ["s", [1], 0]}, "displacement[1]", "a number or an expression"),
        ({"displacement": ["s", float("nan"), 0]}, "displacement[1]", "a finite number"),
        ({"displacement": ["s", "s/0", 0]}, "displacement[1]", "zero"),
        ({"displacement": ["s", "sqrt(-1)*s", 0]}, "displacement[1]", "not real"),
        ({"displacement": ["s", HUGE, 0]}, "displacement[1]", "at most 2000 characters"),
        ({"displacement": ["s", "-" * 40 + "s", 0]}, "displacement[1]", "nested at most 32"),
        ({"displacement": [S, sympy.Symbol("z"), 0]}, "displacement[1]", "coordinates (s)"),
        ({"displacement": [S, sympy.gamma(S), 0]}, "displacement[1]", "gamma has no C; usable are"),
        ({"displacement": [S, sympy.Integral(sympy.sin(sympy.cos(S)), S), 0]}, "displacement[1]", "Integral has no C"),
        ({"displacement": [S, S / sympy.S.Zero, 0]}, "displacement[1]", "not finite"),
        ({"displacement": [S, sympy.I * S, 0]}, "displacement[1]", "not real"),
        ({"displacement": [S, nested(300), 0]}, "displacement[1]", "nested"),
        ({"displacement": [0, "1 + ecc", 0]}, "coordinates", "s in an expression"),
        ({"displacement": [0, "s - s", 0]}, "coordinates", "coordinates that move the joint"),
        ({"displacement": ["sqrt(-1 - s**2)", 0, 0]}, "coordinates", "no real value anywhere"),
        ({"coordinates": {"s": "m", "u": "m"}, "displacement": ["s + 2*u", "2*s + 4*u", 0]}, "coordinates", "independent"),
        ({"coordinates": {"s": "m", "u": "m"}, "displacement": ["s", 0, 0]}, "coordinates", "use u in an expression"),
        ({"rotation": [0, 0, "s"], "turns": [TURN]}, "turns", "either rotation or turns"),
        ({"rotation": [0, 0]}, "rotation", "three expressions"),
        ({"turns": TURN}, "turns", "a list of at most 12"),
        ({"turns": [TURN] * 13}, "turns", "a list of at most 12"),
        ({"turns": [{"axis": [0, 0, 1]}]}, "turns[0]", "its axis and its angle"),
        ({"turns": [{**TURN, "axis": [0, 0, 0]}]}, "turns[0].axis", "not the zero vector"),
        ({"turns": [{**TURN, "axis": [0, 1]}]}, "turns[0].axis", "three numbers"),
        ({"turns": [{**TURN, "axis": "z"}]}, "turns[0].axis", "three numbers"),
        ({"turns": [{**TURN, "axis": [0, 10**400, 1]}]}, "turns[0].axis", "at most 1e300"),
        ({"rotation": ["9" * 200, "s", "s**2"]}, "coordinates", "not finite"),
        ({"turns": [{**TURN, "axis": ["ecc", 0, 1]}]}, "turns[0].axis", "parameters"),
        ({"turns": [{**TURN, "angle": "a"}]}, "turns[0].angle", "coordinates (s)"),
        ({"axis": [0, 0, 1]}, "axis", "no axis for a formula joint"),
        ({"elasticity": {"stiffness": 10}}, "elasticity", "no elasticity for a formula joint"),
        ({"pitch": 1}, "pitch", "one of the keys"),
        ({**TWO, "limits": {"lower": 0}}, "limits", "several coordinates"),
        ({**TWO, "motor": {"inertia": 1}}, "motor", "several coordinates"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change: dict[str, Any], key: str, says: str) -> None:
    joint = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(RobotError) as caught:
        elastogen.load(description(joint))
    text = str(caught.value)
    assert "rail" in text
    assert key in text
    assert says in text
    assert len(text) < 3000


def test_the_size_of_sympy_expressions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression_size, "MOST_OPERATIONS", 100)
    many = sum((sympy.sin(k * S) for k in range(1, 120)), S)
    with pytest.raises(RobotError, match=r"rail.displacement\[1\].*more than 100 operations"):
        elastogen.load(description({**GOOD, "displacement": [S, many, 0]}))


def test_the_good_ones_load() -> None:
    for joint in (GOOD, CAM, BALL):
        elastogen.load(description(joint))


def test_parentheses_alone_do_not_nest() -> None:
    with pytest.raises(RobotError, match=r"rail.*displacement"):
        elastogen.load(description({**GOOD, "displacement": ["s", DEEP, 0]}))
    elastogen.load(description({**GOOD, "displacement": ["s", "((((s))))", 0]}))


def test_it_cannot_follow_but_can_be_followed() -> None:
    follower = {"name": "other", "type": "revolute", "follows": "2*q('rail')"}
    assert elastogen.load(description(GOOD, follower)).coordinate_names == ("rail",)
    with pytest.raises(RobotError, match="rail"):
        elastogen.load(description({"name": "turn", "type": "revolute"}, {**GOOD, "follows": "q('turn')"}))
