"""Derived functions of planar two-link robots as SymPy expressions in the symbols of paper 003, and exact comparison."""

from fractions import Fraction

import sympy
from sympy import Matrix, Symbol, cos, sin

from elastogen.generator.closed_form.functions import input_symbols, readable, with_live_parameters
from elastogen.generator.functions.variants import VariantFamily

P = sympy.symbols("p1 p2", real=True)  # joint variables: theta_i of R, d_i of Pa and Pb


def nodal_coordinates(link, elements):
    """u_(link)1 ... u_(link)(2n+2) by their printed index."""
    return {m: Symbol(f"u{link}_{m}", real=True) for m in range(1, 2 * elements + 3)}


def coordinate_symbols(robot):
    """The symbols of the paper for the robot's coordinates, by their names: node j has u_(i)(2j+1) and u_(i)(2j+2)."""
    found = []
    for name in robot.coordinate_names:
        owner, _, node = name.partition(".")
        link = int(owner[-1])
        if not node:
            found.append(P[link - 1])
            continue
        index, _, slope = node.removeprefix("y").partition("_")
        found.append(Symbol(f"u{link}_{2 * int(index) + (2 if slope else 1)}", real=True))
    return found


def derived(robot, inside, function):
    """The values of a function of the catalogue, with these elements inside the sliding joints, parameters as symbols."""
    variant = VariantFamily(with_live_parameters(robot), inside).plain()
    (values,) = function(variant).outputs
    read = readable(robot, variant.graph, list(values), "q")
    inputs = input_symbols(robot, "q")
    renamed = {inputs[f"q[{k}]"]: symbol for k, symbol in enumerate(coordinate_symbols(robot))}
    return [_with_fractions(read(value)).xreplace(renamed) for value in values]


def _with_fractions(expression):
    """With 1/420 for 0.002380952380952381: constants of the graph are numbers of double precision."""
    fractions = {}
    for number in expression.atoms(sympy.Float):
        fraction = Fraction(float(number)).limit_denominator(100_000)
        if abs(float(number) - fraction) <= 1e-14 * abs(fraction):
            fractions[number] = sympy.Rational(fraction.numerator, fraction.denominator)
    return expression.xreplace(fractions)


def laurent(expression):
    """An expression with exp(i x) as a symbol for each term x of its angles: equal functions are equal polynomials."""

    def turn(angle):
        factors = []
        for term in sympy.Add.make_args(sympy.expand(angle)):
            count, rest = term.as_coeff_Mul()
            if not count.is_Integer:
                count, rest = (-1, -term) if count.is_negative else (1, term)
            factors.append(Symbol(f"exp(i({rest}))") ** count)
        return sympy.Mul(*factors)

    def polynomial(function):
        z = turn(function.args[0])
        return (z + 1 / z) / 2 if isinstance(function, cos) else (z - 1 / z) / (2 * sympy.I)

    expression = sympy.sympify(expression)
    return sympy.expand(expression.xreplace({f: polynomial(f) for f in expression.atoms(sin, cos)}))


def is_same(found, expected):
    """Whether matrices are equal as functions, exactly."""
    found, expected = Matrix(found), Matrix(expected)
    return found.shape == expected.shape and all(laurent(difference) == 0 for difference in found - expected)
