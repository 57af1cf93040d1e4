"""Every function that expressions can have, in emitted C: values of double and float code, names of math.h, strict warnings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy
from c_compilers import COMPILERS, WARNINGS

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.robot.robot import Robot

A, B = sympy.symbols("z[0] z[1]", real=True)
UNARY = (
    sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc, sympy.atan, sympy.acot, sympy.sinh, sympy.cosh,
    sympy.tanh, sympy.coth, sympy.sech, sympy.csch, sympy.asinh, sympy.acsch, sympy.exp, sympy.Abs, sympy.sign,
)  # fmt: skip
EXPRESSIONS = [
    *(f(A) for f in UNARY), sympy.log(2 + A), sympy.asin(A / 2), sympy.acos(A / 2), sympy.asec(3 + A), sympy.acsc(3 + A),
    sympy.acosh(2 + A**2), sympy.atanh(A / 2), sympy.acoth(3 + A), sympy.asech(sympy.Rational(1, 2) + A / 10),
    sympy.sqrt(1 + A**2), (1 + A**2) ** sympy.Rational(1, 3), (1 + A**2) ** B, A**-3, sympy.atan2(B, A), sympy.Min(A, B),
    sympy.Max(A, B, A * B), sympy.erf(A * B), sympy.sinc(A), A * sympy.floor(3 * B), sympy.Mod(A, B),
    sympy.Heaviside(A) * B, sympy.Piecewise((A**2, A < B), (B**3, A > 2 * B), (A * B, True)),
]  # fmt: skip
POINTS = [(0.7, -0.4), (-0.6, 0.9), (0.3, 0.8), (-0.45, -0.2)]


@pytest.fixture(scope="module")
def robot() -> Robot:
    """With a function of every expression, and its derivatives."""
    plain = elastogen.load("two_link")
    made = plain.with_function("every", inputs={"z": 2}, outputs={"values": sympy.Matrix(EXPRESSIONS)})
    return made.derivatives_of("every", by="z")


@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-13), ("float", 2e-5)])
def test_values_in_c(robot: Robot, precision: str, tolerance: float) -> None:
    model = elastogen.build_model(robot, outputs=["every", "every_derivatives"], precision=precision)
    for point in POINTS:
        numbers = {A: sympy.Float(point[0], 40), B: sympy.Float(point[1], 40)}
        expected = np.array([float(sympy.N(e.xreplace(numbers), 30)) for e in EXPRESSIONS])
        found = model.evaluate("every", z=point)
        np.testing.assert_allclose(np.ravel(found), expected, rtol=tolerance, atol=tolerance)
        slopes = model.evaluate("every_derivatives", z=point)
        exact = [[_slope(e, by, numbers) for by in (A, B)] for e in EXPRESSIONS]
        np.testing.assert_allclose(slopes, exact, rtol=10 * tolerance, atol=10 * tolerance)


def _slope(expression: sympy.Expr, by: sympy.Symbol, numbers: dict[sympy.Symbol, sympy.Expr]) -> float:
    """By SymPy's numbers, a central difference in 40 digits: kinks are elsewhere."""
    h = sympy.Float("1e-12", 40)
    ends = [sympy.N(expression.xreplace({**numbers, by: numbers[by] + sign * h}), 40) for sign in (1, -1)]
    return float((ends[0] - ends[1]) / (2 * h))


@pytest.mark.parametrize("precision", ["double", "float"])
def test_names_and_warnings(robot: Robot, precision: str, tmp_path: Path) -> None:
    elastogen.generate(robot, tmp_path, outputs=["every", "every_derivatives"], precision=precision)
    text = next(tmp_path.rglob("two_link.c")).read_text()
    called = set(re.findall(r"\b([a-z][a-z0-9]*)\(", text))
    for known in ELEMENTARY.values():
        name = known.name + ("f" if precision == "float" else "")
        if known.name not in ("sin", "cos"):  # by a call for both
            assert name in called, name
            assert (known.name in called) is (precision == "double"), known.name
    for compiler in COMPILERS:
        subprocess.run([compiler, *WARNINGS, "-I", tmp_path, "-c", tmp_path / "two_link.c", "-o", tmp_path / "x.o"], check=True)


def test_each_has_its_cost(robot: Robot) -> None:
    (function,) = derive_model(robot, ["every"]).functions
    counted = {name for name, _ in function.program.count.others}
    alone = {"sin", "cos", "sqrt", "tanh"}
    assert counted >= {known.name for known in ELEMENTARY.values()} - alone | {"select"}
    assert all(known.cost > 0 for known in ELEMENTARY.values())
