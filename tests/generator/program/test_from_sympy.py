"""SymPy expressions lowered into a graph: values against SymPy's own numbers, derivatives against SymPy's own derivatives."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

from elastogen.generator.program import taylor
from elastogen.generator.program.differentiate import jacobian, pulled_back
from elastogen.generator.program.from_sympy import ExpressionLowering, LoweringError
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.interpret import DOUBLES, interpret
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

x, y = sympy.symbols("x y", real=True)
K = sympy.Symbol("K", integer=True)
SMOOTH = [
    x + 2 * y - 3, x * y / (1 + x**2), x**3 - y**-2, x**40, sympy.sqrt(1 + x**2), (1 + x**2) ** sympy.Rational(-3, 2),
    (1 + x**2) ** sympy.Rational(1, 3), (1 + x**2) ** 0.37, (1 + x**2) ** y, 2**x, sympy.exp(x * y),
    sympy.log(2 + sympy.sin(y)), sympy.sin(x), sympy.cos(x - y), sympy.tan(x), sympy.cot(x), sympy.sec(x), sympy.csc(x),
    sympy.asin(x / 2), sympy.acos(-x / 2), sympy.atan(x), sympy.acot(x), sympy.asec(3 + x), sympy.acsc(3 + x), sympy.sinh(x),
    sympy.cosh(x), sympy.tanh(x), sympy.coth(x), sympy.sech(x), sympy.csch(x), sympy.asinh(x), sympy.acosh(2 + x**2),
    sympy.atanh(x / 2), sympy.acoth(3 + x), sympy.asech(sympy.Rational(1, 2) + x / 10), sympy.acsch(x), sympy.atan2(y, x),
    sympy.atan2(-y, -x),
    sympy.Abs(x - y) * x, sympy.sign(y) * x**2, sympy.Min(x, y, x * y), sympy.Max(-x, y**2, sympy.sin(x)),
    sympy.Piecewise((x**2, x < y), (y**3, x > 2 * y), (x * y, True)),
    sympy.Piecewise((x, sympy.And(x > 0, y > 0)), (y, sympy.Or(x <= -1, y >= 1)), (x * y, sympy.Not(x < 0)), (1, True)),
    sympy.Piecewise((x, x < sympy.Piecewise((1, y > 0), (-2, True))), (y, sympy.Xor(x > 0, y > 0)), (1, True)),
    sympy.Piecewise((x, sympy.Implies(x > 0, y > 0)), (y, sympy.Equivalent(x > 1, y < -1)), (1, True)),
    sympy.Piecewise((sympy.sin(x) / x, sympy.Ne(x, 0)), (1, True)),
    sympy.erf(x * y), sympy.erfc(x) * y, sympy.sinc(x), sympy.sinc(x * y / 5),
    sympy.Sum(x**K / sympy.factorial(K), (K, 0, 8)), sympy.Product(1 + x * K * y, (K, 1, 4)),
    y * sympy.interpolating_spline(3, x, [-1, -0.5, 0, 0.5, 1], [1, 3, 2, 4, 1]),
    sympy.interpolating_spline(1, x * 1, [-1, 0, 1], [1, 3, 2]),
]  # fmt: skip
POINTS = [(0.7, -0.4), (-0.6, 0.9), (0.3, 0.8), (-0.45, -0.2)]


def lowered(*expressions: sympy.Expr) -> tuple[Graph, list[int], Program]:
    graph = Graph()
    lower = ExpressionLowering(graph, {x: graph.input("z[0]"), y: graph.input("z[1]")})
    refs = [lower(expression).ref for expression in expressions]
    return graph, refs, program_of(graph, refs)


def program_of(graph: Graph, refs: list[int]) -> Program:
    return Program(graph, [Argument("z", (2,), "", "")], [(Argument("w", (len(refs),), "", ""), refs)])


def exact(expression: sympy.Expr, point: tuple[float, float]) -> mpmath.mpf:
    """SymPy's own value."""
    return sympy.N(expression.xreplace({x: sympy.Float(point[0], 40), y: sympy.Float(point[1], 40)}), 30)


@pytest.mark.parametrize("expression", SMOOTH, ids=str)
def test_values_and_derivatives_are_those_of_sympy(expression: sympy.Expr) -> None:
    graph, refs, program = lowered(expression)
    z = [graph.input("z[0]"), graph.input("z[1]")]
    value = Value(graph, refs[0])
    forward = jacobian(graph, [value], z)[0]
    backward = pulled_back(graph, [value], [graph.value(1)], z)
    derivatives = program_of(graph, [d.ref for d in (*forward, *backward)])
    by_sympy = [sympy.diff(expression, symbol).doit() for symbol in (x, y)]
    for point in POINTS:
        scale = 1 + abs(exact(expression, point))
        assert abs(float(program.evaluate({"z": point})["w"][0]) - exact(expression, point)) < 1e-14 * scale
        precise = many_digits.evaluate(program, {"z": point}, digits=40)["w"][0]
        assert abs(sympy.Float(precise, 30) - exact(expression, point)) < 1e-15 * scale  # constants are doubles
        found = derivatives.evaluate({"z": point})["w"]
        for k, derivative in enumerate(by_sympy):
            expected = exact(derivative, point)
            assert abs(found[k] - expected) < 1e-13 * (1 + abs(expected))
            assert abs(found[k + 2] - expected) < 1e-13 * (1 + abs(expected))


def test_series_along_a_motion_are_those_of_sympy() -> None:
    """Third time derivatives along x = 0.7 + 0.3 t - 0.2 t^2, y = -0.4 + 0.5 t + t^2 / 4, for every function."""
    t = sympy.Symbol("t", real=True)
    _, _, program = lowered(*SMOOTH)
    program = Program(program.graph, [Argument("q", (2,), "", "")], program.outputs)
    for node in program.order:
        label = program.graph.label[node]
        program.graph.label[node] = label.replace("z[", "q[") if program.graph.op[node] is Op.INPUT else label
    found = taylor.along(program, [np.array([0.7, -0.4]), np.array([0.3, 0.5]), np.array([-0.4, 0.5])], 3)["w"]
    motion = {x: sympy.Rational(7, 10) + 3 * t / 10 - t**2 / 5, y: -sympy.Rational(2, 5) + t / 2 + t**2 / 4}
    for k, expression in enumerate(SMOOTH):
        if expression.has(sympy.Piecewise, sympy.Min, sympy.Max, sympy.Abs, sympy.sign):
            continue
        for order in range(4):
            expected = float(sympy.N(sympy.diff(expression.subs(motion), t, order).subs(t, 0), 25))
            assert abs(found[order, k] - expected) < 1e-11 * (1 + abs(expected)), (expression, order)


# SymPy has no derivatives of these: (expression, its derivatives by x and y between the steps)
STEPPED = [
    (x * sympy.floor(3 * y), sympy.floor(3 * y), 0),
    (y * sympy.ceiling(x) * x, y * sympy.ceiling(x), x * sympy.ceiling(x)),
    (y * sympy.Mod(x, 2), y, sympy.Mod(x, 2)),
    (y * sympy.Mod(x, y), y, x - 2 * y * sympy.floor(x / y)),
    (y * sympy.frac(3 * x), 3 * y, sympy.frac(3 * x)),
    (y * sympy.Heaviside(x), 0, sympy.Heaviside(x)),
]


@pytest.mark.parametrize(("expression", "by_x", "by_y"), STEPPED, ids=str)
def test_functions_with_steps(expression: sympy.Expr, by_x: sympy.Expr, by_y: sympy.Expr) -> None:
    graph, refs, program = lowered(expression)
    slopes = jacobian(graph, [Value(graph, refs[0])], [graph.input("z[0]"), graph.input("z[1]")])[0]
    derivatives = program_of(graph, [d.ref for d in slopes])
    for point in POINTS:
        assert abs(program.evaluate({"z": point})["w"][0] - float(exact(expression, point))) < 1e-14
        for found, wanted in zip(derivatives.evaluate({"z": point})["w"], (by_x, by_y), strict=True):
            assert abs(found - float(exact(sympy.sympify(wanted), point))) < 1e-14


def test_heaviside_and_sinc_at_zero() -> None:
    graph, refs, program = lowered(sympy.Heaviside(x), sympy.Heaviside(x, 1), sympy.sinc(x))
    np.testing.assert_array_equal(program.evaluate({"z": [0.0, 0.0]})["w"], [0.5, 1.0, 1.0])
    slope = jacobian(graph, [Value(graph, refs[2])], [graph.input("z[0]")])[0][0]
    curvature = jacobian(graph, [slope], [graph.input("z[0]")])[0][0]
    found = program_of(graph, [slope.ref, curvature.ref]).evaluate({"z": [0.0, 0.0]})["w"]
    np.testing.assert_allclose(found, [0.0, -1 / 3], atol=1e-15)


def test_a_spline_goes_on_beyond_its_ends() -> None:
    spline = sympy.interpolating_spline(3, x, [0, 1, 2, 3, 4], [1, 4, 2, 5, 3])
    _, _, program = lowered(spline)
    first, last = spline.args[0].expr, spline.args[-1].expr
    for place, piece in ((-0.5, first), (4.5, last), (0.0, first), (4.0, last)):
        assert abs(program.evaluate({"z": [place, 0.0]})["w"][0] - float(piece.subs(x, place))) < 1e-12


def test_the_branch_that_is_not_taken_may_be_anything() -> None:
    """Not the value, not the derivative: sqrt of a negative number stays outside."""
    graph, refs, _ = lowered(sympy.Piecewise((sympy.Integer(0), x < 0), (sympy.sqrt(x) * y, True)))
    z = [graph.input("z[0]"), graph.input("z[1]")]
    value = Value(graph, refs[0])
    derivative = jacobian(graph, [value], z)[0]
    program = program_of(graph, [refs[0], *(d.ref for d in derivative)])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(program.evaluate({"z": [-1.0, 2.0]})["w"], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(program.evaluate({"z": [4.0, 2.0]})["w"], [4.0, 0.5, 2.0], rtol=1e-15)


def test_derivatives_at_kinks_are_those_of_the_right_side() -> None:
    graph, refs, _ = lowered(sympy.Abs(x), sympy.Min(x, y), sympy.Max(x, y))
    z = [graph.input("z[0]"), graph.input("z[1]")]
    rows = jacobian(graph, [Value(graph, ref) for ref in refs], z)
    program = program_of(graph, [d.ref for row in rows for d in row])
    np.testing.assert_array_equal(program.evaluate({"z": [0.0, 0.0]})["w"], [1, 0, 0, 1, 0, 1])


def test_powers_beyond_one_have_a_derivative_at_zero() -> None:
    graph, refs, _ = lowered((x**2 + y**2) ** sympy.Rational(3, 2))
    row = jacobian(graph, [Value(graph, refs[0])], [graph.input("z[0]"), graph.input("z[1]")])[0]
    program = program_of(graph, [d.ref for d in row])
    np.testing.assert_array_equal(program.evaluate({"z": [0.0, 0.0]})["w"], [0.0, 0.0])
    np.testing.assert_allclose(program.evaluate({"z": [3.0, 4.0]})["w"], [45.0, 60.0], rtol=1e-15)


def test_powers_are_multiplied_out() -> None:
    _, _, program = lowered(x**2, x**4, x**-3)
    assert (program.count.mul, program.count.div, program.count.others) == (3, 1, ())


def test_counts_name_the_functions() -> None:
    _, _, program = lowered(sympy.exp(x) + sympy.atan2(y, x) + sympy.Max(x, 2), sympy.Piecewise((x, x < y), (y, True)))
    assert program.count.others == (("exp", 1), ("atan2", 1), ("fmax", 1), ("select", 1))
    assert program.count.cost == 20 + 30 + 1 + 2 + 3  # two sums, one difference


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (sympy.gamma(x), "gamma has no C; usable are"),
        (sympy.zeta(x), "zeta has no C"),
        (sympy.Sum(x**K, (K, 0, sympy.oo)), "bounds that are numbers"),
        (sympy.Sum(x**K, (K, 0, 10**9)), "too long"),
        (sympy.Piecewise((x, (x > 0) & (x < 1)), (y, (x > 2) & (x < 3))), "end it with"),
        (sympy.Function("f")(x), "f has no C"),
        (sympy.Integral(sympy.exp(sympy.sin(x)), x), "Integral has no C"),
        (x + sympy.I, "I is not real"),
        (x + sympy.sqrt(-2), "is not real"),
        (x + sympy.zoo, "not finite|no C"),
        (sympy.Symbol("z") * x, "the symbol z is not known"),
        (sympy.Piecewise((x, x < 0)), "end it with"),
        (sympy.Piecewise((x, sympy.Symbol("b", bool=True)), (y, True)), "is not a comparison"),
        (sympy.Mul(x, sympy.Pow(0, -1, evaluate=False), evaluate=False), "not finite|divides by zero"),
        (sympy.log(sympy.Integer(0), evaluate=False) + x, "not finite|finite real"),
        (sympy.Matrix([x]), "has no C"),
    ],
    ids=str,
)
def test_everything_else_is_refused_by_name(expression: sympy.Basic, words: str) -> None:
    with pytest.raises(LoweringError, match=words):
        lowered(expression)


def test_deep_and_large_expressions_are_refused() -> None:
    deep = x
    for _ in range(160):
        deep = sympy.sin(deep, evaluate=False)
    with pytest.raises(LoweringError, match="nested"):
        lowered(deep)


@pytest.mark.parametrize(
    "expression",
    [
        sympy.Integral(sympy.Symbol("y") ** 2, (sympy.Symbol("y"), 0, sympy.Symbol("x"))),
        sympy.Derivative(sympy.sin(sympy.Symbol("x")) * sympy.Symbol("x"), sympy.Symbol("x")),
        sympy.SingularityFunction(sympy.Symbol("x"), 1, 2),
        sympy.KroneckerDelta(sympy.Symbol("x"), 1),
        sympy.binomial(sympy.Symbol("x"), 2),
    ],
)
def test_functions_without_c_are_worked_out_or_rewritten(expression: sympy.Expr) -> None:
    x = sympy.Symbol("x")
    graph = Graph()
    value = ExpressionLowering(graph, {x: graph.input("x")})(expression)
    for number in (1.7, 0.4):
        read = interpret(graph, graph.cone([value.ref]), {"x": number}, DOUBLES).read
        expected = (
            float(expression.subs(x, sympy.Float(number)).doit())
            if not isinstance(expression, sympy.Derivative)
            else (float(expression.doit().subs(x, number)))
        )
        assert float(read(value.ref)) == pytest.approx(expected, rel=1e-13)


def test_functions_that_are_written_by_each_other_end() -> None:
    graph, x = Graph(), sympy.Symbol("x")
    for function in (sympy.factorial, sympy.gamma, sympy.besselj, sympy.LambertW):
        with pytest.raises(LoweringError, match="has no C"):
            ExpressionLowering(graph, {x: graph.input("x")})(function(0, x) if function is sympy.besselj else function(x))
