"""Numbers of a robot as they were written: doubles to exact fractions and roots, and to print."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from sympy.polys.domains import QQ

from elastogen.generator.robot.robot import Scalar

LONGEST_DENOMINATOR = 10**12  # decimals up to this were typed; longer ones are results, rounded to 53 bits
_LARGEST_DENOMINATOR = 1000  # of squares of roots that are recognized in their doubles
_LARGEST_FRACTION = 10**5  # denominator of fractions that are: integrals over 5 elements have 420 5^3
_ROUNDED = 4e-16  # a rotation's entry this close to the root of a simple fraction is that root
_LARGEST_SQUARE = 64  # denominator of such fractions: 1/2 for cos 45, 3/8 for cos 45 cos 30, ...
_SIMPLE_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12)  # of fractions that are not written as decimal numbers
_LONGEST_FRACTION = 10**4  # largest denominator of a fraction without a finite decimal that is written as such


def exact(value: object) -> sympy.Expr:
    """Return the scalar with every floating point number as the number that was written: see :func:`exact_number`."""
    expr = sympy.sympify(value)
    return expr.xreplace({number: exact_number(float(number)) for number in expr.atoms(sympy.Float)})


@lru_cache(maxsize=4096)
def exact_number(number: float) -> sympy.Expr:
    """Return the number that rounds to this one: a short decimal, a fraction as 1/3, a root as sqrt(2)/10, else all its digits.

    Among all doubles one in 1e6 is a fraction or root of this kind by chance; the number that is meant then differs from it by
    less than the double's rounding.
    """
    decimal = sympy.Rational(repr(number))
    if decimal.q <= LONGEST_DENOMINATOR:
        return decimal
    fraction = Fraction(number).limit_denominator(_LARGEST_FRACTION)
    if float(fraction) == number:
        return sympy.Rational(fraction.numerator, fraction.denominator)
    root = _root_of(number, _LARGEST_DENOMINATOR)
    return root if float(root) == number else decimal


def is_decimal(number: sympy.Expr) -> bool:
    """Whether it has finitely many digits, like 0.3 and unlike 1/3 and sqrt(2)."""
    if not number.is_Rational:
        return False
    odd = number.q
    for prime in (2, 5):
        while odd % prime == 0:
            odd //= prime
    return bool(odd == 1)


def rotation_entry(value: Scalar) -> sympy.Expr:
    """Return an entry of a rotation or unit vector exactly: sqrt(2)/2 for 0.7071067811865476, 0 for 6e-17."""
    if isinstance(value, float) or getattr(value, "is_Float", False):
        number = float(value)
        if abs(number) <= _ROUNDED:
            return sympy.S.Zero
        root = _root_of(number, _LARGEST_SQUARE)
        if abs(number - float(root)) <= _ROUNDED:
            return root
    return exact(value)


def _root_of(number: float, largest: int) -> sympy.Expr:
    """Return the root of the fraction that is nearest to the square, with the sign of the number."""
    square = Fraction(number * number).limit_denominator(largest)
    root = sympy.sqrt(sympy.Rational(square.numerator, square.denominator))
    return root if number > 0 else -root


def readable_number(value: Any, fractions: bool = False) -> sympy.Expr:
    """Return a coefficient as SymPy: a simple fraction, or one that no decimal equals, as it is, else a decimal number.

    With ``fractions``, where all numbers of the robot are symbols and what is left comes from integrals, any short fraction.
    """
    fraction = QQ.to_sympy(value)
    if fractions and fraction.q <= _LARGEST_FRACTION:
        return fraction
    is_fraction = fraction.q in _SIMPLE_DENOMINATORS or (not is_decimal(fraction) and fraction.q <= _LONGEST_FRACTION)
    return fraction if is_fraction else sympy.Float(fraction, 15)
