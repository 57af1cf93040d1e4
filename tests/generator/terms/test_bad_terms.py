"""Terms that cannot be: every error names the term, the field, what was given and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sympy
from descriptions import changed, serial_arm
from sympy.physics.mechanics import dynamicsymbols

import elastogen

ROBOT = elastogen.load("two_link")
S = elastogen.symbols(ROBOT)
COLUMN = sympy.MatrixSymbol("k", 2, 1)
x, k = S.q[0], sympy.Symbol("k")


def nested(depth: int) -> sympy.Expr:
    """sin(sin(...)), which SymPy itself cannot print."""
    found = x
    for _ in range(depth):
        found = sympy.sin(found, evaluate=False)
    return found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "terms.mine: got 'nothing', expected a potential, a dissipation or forces"),
        ({"potential": sympy.Float(0)}, "terms.mine: got 'nothing', expected a potential"),
        ({"potential": k * x**2}, r"terms.mine.potential: got 'k'.*declare it by parameters=\{'k': ...\}"),
        ({"potential": S.qd[0] ** 2}, r"potential: got 'qd\[shoulder\]', expected no qd in potential"),
        ({"potential": "x**2"}, "potential: got 'x\\*\\*2', expected a SymPy expression"),
        ({"potential": S.q}, "potential: .*expected"),
        ({"potential": sympy.gamma(x)}, "potential: .*gamma has no C; usable are"),
        ({"potential": x + sympy.I}, "potential: .*I is not real"),
        ({"potential": sympy.zoo * x}, "potential: .*(finite|zero)"),
        ({"potential": sympy.Mul(x, sympy.Pow(0, -1, evaluate=False), evaluate=False)}, "potential: .*(finite|zero)"),
        ({"forces": {"elbw": x}}, r"forces.elbw: .*did you mean 'elbow'\?"),
        ({"forces": {"tip": sympy.Matrix([1, 2])}}, r"forces.tip: got \(2, 1\), expected a column of three"),
        ({"forces": {"elbow": S.qdd[0]}}, "no qdd in forces.elbow"),
        ({"forces": [x]}, "forces: .*expected a mapping"),
        ({"potential": x**2, "parameters": {"l1": 2.0}}, "parameters.l1: .*does not have yet"),
        ({"potential": x**2, "parameters": {"double": 2.0}}, "parameters.double: .*reserved"),
        ({"potential": x**2, "parameters": {"k": float("nan")}}, "parameters.k: .*finite number"),
        ({"potential": x**2, "parameters": {"k": 1.0}, "live": ["kk"]}, r"live: .*did you mean 'k'\?"),
        ({"potential": sympy.Symbol("q[wrist]", real=True)}, r"got 'q\[wrist\]'"),
        ({"potential": nested(300)}, "potential: .*nested more than 150 deep"),
        ({"forces": {"elbow": nested(3000)}}, "forces.elbow: .*nested more than 150 deep"),
        ({"potential": sympy.Lambda(x, x)}, "potential: .*Lambda"),
        ({"potential": sympy.IndexedBase("a")[0]}, "potential: "),
        ({"potential": sympy.MatrixSymbol("A", 2, 2)}, r"potential: got \(2, 2\), expected one scalar"),
        ({"potential": sympy.Derivative(sympy.Function("f")(x), x)}, "potential: .*has no C"),
        ({"potential": sympy.Piecewise((x, x > 0))}, "potential: .*end it with"),
        ({"potential": sympy.Float("1e400") * x}, "potential: .*finite"),
        ({"potential": float("nan")}, "potential: .*finite"),
        ({"forces": {"tip": sympy.Matrix([[x]])}}, r"forces.tip: got 'a matrix of \(1, 1\)', expected a column of three"),
        ({"forces": {"tip": x}}, "forces.tip: got 'one expression', expected a column of three"),
        (
            {"potential": COLUMN[0, 0] * x, "parameters": {"k": 2.0}},
            "potential: got 'the MatrixSymbol k'",
        ),
        (
            {"potential": sympy.IndexedBase("k")[0] * x, "parameters": {"k": 2.0}},
            r"potential: got 'k\[0\]', expected k, a parameter.*use sympy.Symbol\('k'\)",
        ),
        ({"forces": {"tip": sympy.MatrixSymbol("k", 3, 1)}}, r"forces.tip: got 'a MatrixSymbol of \(3, 1\)'"),
        ({"potential": dynamicsymbols("elbw") ** 2}, r"potential: got 'elbw\(t\)'.*did you mean 'elbow'\?"),
        ({"potential": dynamicsymbols("q3") ** 2}, "name dynamicsymbols like coordinates .shoulder, elbow"),
        ({"forces": {"elbow": dynamicsymbols("qd1")}}, "name dynamicsymbols like coordinates .shoulder, elbow"),
        ({"potential": sympy.Symbol("q3") ** 2}, "potential: got 'q3'"),
        ({"potential": dynamicsymbols("elbow", 1) ** 2}, r"got 'qd\[elbow\]', expected no qd in potential"),
        ({"forces": {"elbow": dynamicsymbols("elbow", 3)}}, "at most second derivatives"),
        ({"potential": None}, "potential: .*a SymPy expression"),
        ({"potential": x**2, "parameters": 5}, "parameters: .*a mapping from names to numbers"),
        ({"potential": x**2, "live": None}, "live: .*a name of `parameters`"),
    ],
)
def test_bad_terms_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(elastogen.RobotError, match=words):
        ROBOT.with_terms(name="mine", **given)
    assert ROBOT.terms == ()


def test_a_symbol_with_two_meanings_is_refused() -> None:
    arm = serial_arm()
    for joint, name in zip(arm["joints"], ("q2", "q1"), strict=True):
        joint["name"] = name
    with pytest.raises(elastogen.RobotError, match=r"potential: got 'q1', expected one meaning.*number of q\[q2\]"):
        elastogen.load(arm).with_terms(name="mine", potential=sympy.Symbol("q1") ** 2)


def test_names_of_terms_are_unique_and_plain() -> None:
    robot = ROBOT.with_terms(name="mine", potential=x**2)
    with pytest.raises(elastogen.RobotError, match="no other term"):
        robot.with_terms(name="mine", potential=x**4)
    with pytest.raises(elastogen.RobotError, match="letters, digits"):
        robot.with_terms(name="*/ evil", potential=x**4)
    assert [term.name for term in robot.with_terms(potential=x).terms] == ["mine", "term2"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: S.position("tipp"), r"did you mean 'tip'\?"),
        (lambda: S.rotation("hand"), "known are base, upper, lower, tip"),
        (lambda: S.parameter("mass"), "the name of a parameter"),
        (lambda: S.coordinate("wrist"), "known are shoulder, elbow"),
        (lambda: S.velocity_of("wrist"), "known are shoulder, elbow"),
    ],
)
def test_unknown_frames_and_names(call: Any, words: str) -> None:
    with pytest.raises(elastogen.RobotError, match=words):
        call()


def load_with(**term: Any) -> elastogen.Robot:
    return elastogen.load(serial_arm(terms=[{"name": "mine", **term}]))


def test_a_fixed_parameter_called_time_is_in_the_way() -> None:
    robot = elastogen.load(changed("parameters", "time", 2.0))
    with pytest.raises(elastogen.RobotError, match="no fixed parameter called `time`"):
        robot.with_terms(potential=elastogen.symbols(robot).q[0] * elastogen.symbols(robot).t)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q('nobody')", "terms.mine.potential: .*the name of a coordinate"),
        ("__import__('os').system('true')", "terms.mine.potential: .*expected an expression"),
        ("q.__class__", "expected an expression"),
        ("position('tip')", "expected a frame and an axis"),
        ("position('tip', 'w')", "expected a frame and an axis"),
        ("rotation('tip', 'x')", "a frame, a base axis"),
        ("unknown * 2", "names of declared parameters"),
        ("gamma(2)", "gamma is not a function of this language"),
        ("1 if t else 2", "a comparison by <"),
        ("t / 0", "(finite|zero)"),
        ("sqrt(-1) * t", "not real"),
        ("1 +", "write for example"),
        ("(" * 40 + "t" + ")" * 40 + "+ sin(" * 40 + "t" + ")" * 40, "nested|expected"),
        ("t + " * 600 + "t", "at most 2000 characters"),
        ("2 ** 9999999999", "integer powers"),
        ("atan2(1)", "atan2 of 2 arguments"),
        ("lambda: 1", "expected an expression"),
    ],
)
def test_text_of_files_goes_through_the_safe_grammar(text: str, words: str) -> None:
    with pytest.raises(elastogen.RobotError, match=words):
        load_with(potential=text)


def test_files_say_the_same_as_python() -> None:
    robot = elastogen.load(serial_arm(terms=[]))
    joint = robot.coordinate_names[0]
    s = elastogen.symbols(robot)
    text = (
        f"2*q('{joint}')**2 + exp(-t)*position('tip', 'z')*rotation(tip, x, z) + (0 if q({joint}) < 1 else (q({joint}) - 1)**2)"
    )
    loaded = load_with(potential=text, dissipation=f"abs(qd('{joint}'))**1.5", forces={joint: "min(t, 2.5)"})
    angle = s.q[0]
    (term,) = loaded.terms
    extra = sympy.Piecewise((0, angle < 1), ((angle - 1) ** 2, True))
    assert term.potential == 2 * angle**2 + sympy.exp(-s.t) * s.position("tip")[2] * s.rotation("tip")[0, 2] + extra
    assert term.dissipation == sympy.Abs(s.qd[0]) ** 1.5
    assert term.forces == {joint: sympy.Min(s.t, 2.5)}
    assert [p.name for p in loaded.live_parameters] == ["time"]
    assert loaded.parameters["time"].live


def test_nothing_is_written_for_a_bad_file(tmp_path: Path) -> None:
    file = serial_arm(terms=[{"name": "mine", "potential": "1/0"}])
    with pytest.raises(elastogen.RobotError, match=r"terms.mine.potential"):
        elastogen.generate(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_text_of_a_megabyte_is_refused_at_once() -> None:
    with pytest.raises(elastogen.RobotError, match="at most 2000 characters") as caught:
        load_with(potential="t + " * 300_000 + "t")
    assert len(str(caught.value)) < 1000
