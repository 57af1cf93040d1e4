"""Polynomials in sines and cosines of joint angles: fast, in a normal form, converted to readable SymPy.

Every entry of a rigid robot's transformations, Jacobians and mass matrix is a polynomial in sin and cos of sums of joint
angles, in displacements, rates and parameters. The ring keeps such polynomials in the normal form ``cos**2 -> 1 - sin**2``, in
which equal results are identical. :meth:`TrigonometricRing.readable` converts them to SymPy: products of sines and cosines of
parallel axes become those of sums (``c2*c23 + s2*s23 -> c3``), equal factors are collected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from math import gcd
from typing import Any, TypeAlias

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyRing

from elastogen.generator.closed_form.exact_numbers import LONGEST_DENOMINATOR, readable_number

Polynomial: TypeAlias = Any  # sympy.polys.rings.PolyElement, which has no type of its own for mypy
Weights: TypeAlias = "tuple[int, ...]"  # an angle: integer factor of each coordinate
Harmonics: TypeAlias = "dict[tuple[str, Weights], Any]"  # coefficient of ("sin" | "cos", angle)
TrigTerm: TypeAlias = "tuple[tuple[str, Weights, int], ...]"  # product of sin(angle)**power, cos(angle)**power

# Decimal numbers that somebody typed are exact. Longer ones are rounded results: what should cancel leaves dust, which is
# removed, and their products are kept on a grid, or their fractions would grow without end.
_DUST = QQ(1, 10**14)  # relative to the largest coefficient of a polynomial
_SMALLEST = QQ(1, 10**15)  # absolute, for polynomials that are nothing but dust
_GRID = 2**160

_LONGEST_TO_FACTOR = 12  # terms; longer coefficients stay expanded, factoring them takes time and helps nobody


def polynomial_leaves(expr: sympy.Expr) -> list[sympy.Expr]:
    """Return the generators of an expression as a polynomial: symbols, cosines, roots, reciprocals."""
    if expr.is_Rational:
        return []
    if expr.is_Add or expr.is_Mul or (expr.is_Pow and expr.exp.is_Integer and expr.exp > 0):
        arguments = expr.args if not expr.is_Pow else (expr.base,)
        return [leaf for argument in arguments for leaf in polynomial_leaves(argument)]
    return _prime_roots(expr) or [expr]


def _prime_roots(expr: sympy.Expr) -> list[sympy.Expr]:
    """Return sqrt(2), sqrt(3) for sqrt(6): SymPy joins roots, but only those of primes are independent of each other."""
    if not (expr.is_Pow and expr.exp == sympy.S.Half and expr.base.is_Integer):
        return []
    return [sympy.sqrt(prime) for prime in sympy.factorint(expr.base)]


class TrigonometricRing:
    """Polynomials over the rationals in sin, cos of ``angles``, in coordinates, their rates and constants.

    ``angles`` are integer combinations of the coordinates ``q`` (tuples of their factors); ``lengths`` are
    the numbers of the coordinates that also occur by themselves (prismatic joints); ``constants`` are the
    expressions of the robot's parameters that will be used.
    """

    def __init__(
        self,
        q: Sequence[sympy.Symbol],
        rates: Sequence[sympy.Symbol],
        angles: Iterable[Weights],
        lengths: Iterable[int],
        constants: Sequence[sympy.Expr],
    ) -> None:
        self.q = tuple(q)
        self.angles = tuple(dict.fromkeys(angles))
        leaves = list(dict.fromkeys(leaf for expr in constants for leaf in polynomial_leaves(expr)))
        fixed_angles = list(dict.fromkeys(leaf.args[0] for leaf in leaves if leaf.func in (sympy.sin, sympy.cos)))
        roots = [leaf for leaf in leaves if leaf.is_Pow and leaf.exp == sympy.S.Half and leaf.base.is_Rational]
        arguments = [*(self._argument(weights) for weights in self.angles), *fixed_angles]
        pairs = [(sympy.sin(argument), sympy.cos(argument)) for argument in arguments]
        generators = [function for pair in pairs for function in pair]
        generators += [leaf for leaf in leaves if leaf.func not in (sympy.sin, sympy.cos)]
        generators += [self.q[j] for j in lengths]
        self._motion_from = len(generators)  # generators from here on are rates
        generators += rates
        stand_ins = [sympy.Dummy(f"x{k}") for k in range(len(generators))]
        self._ring = PolyRing(stand_ins, QQ)
        self._generators = tuple(generators)
        self._index = {generator: k for k, generator in enumerate(generators)}
        gens = self._ring.gens
        self._squares = [(2 * k + 1, 1 - gens[2 * k] ** 2) for k in range(len(pairs))]
        self._squares += [(self._index[root], self._ring(QQ.from_sympy(root.base))) for root in roots]
        self._families = _families(self.angles)
        self._has_rounded_constants = any(
            number.q > LONGEST_DENOMINATOR for expr in constants for number in expr.atoms(sympy.Rational)
        )
        self.fractions = False  # whether numbers are written as fractions rather than as decimals
        self._factorings: dict[Polynomial, sympy.Expr] = {}
        self._functions: dict[tuple[str, Weights], sympy.Expr] = {}  # of sums of angles
        self.zero, self.one = self._ring.zero, self._ring.one

    # -- into the ring -----------------------------------------------------------------------------

    def __call__(self, value: object) -> Polynomial:
        """Return the polynomial of a SymPy expression or a number."""
        expr = sympy.sympify(value)
        if expr in self._index:
            return self._ring.gens[self._index[expr]]
        if expr.is_Rational:
            return self._ring(QQ.from_sympy(expr))
        if expr.is_Add:
            return sum((self(argument) for argument in expr.args), self.zero)
        if expr.is_Mul:
            return self.normal(reduce(lambda product, argument: product * self(argument), expr.args, self.one))
        if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
            return self.normal(self(expr.base) ** int(expr.exp))
        if roots := _prime_roots(expr):
            return reduce(lambda product, root: product * self._ring.gens[self._index[root]], roots, self.one)
        raise ValueError(f"{expr} is not a polynomial in {', '.join(map(str, self._generators))}")

    def sine(self, angle: Weights) -> Polynomial:
        """Return sin(angle)."""
        return self._ring.gens[2 * self.angles.index(angle)]

    def cosine(self, angle: Weights) -> Polynomial:
        """Return cos(angle)."""
        return self._ring.gens[2 * self.angles.index(angle) + 1]

    # -- inside ------------------------------------------------------------------------------------

    def normal(self, polynomial: Polynomial) -> Polynomial:
        """Return the normal form: cos**2 -> 1 - sin**2 for every angle, sqrt(n)**2 -> n."""
        for index, square in self._squares:
            while high := {monomial: c for monomial, c in polynomial.items() if monomial[index] >= 2}:
                lowered = {(*m[:index], m[index] - 2, *m[index + 1 :]): c for m, c in high.items()}
                polynomial = polynomial - self._ring.from_dict(high) + self._ring.from_dict(lowered) * square
        return _rounded(polynomial) if self._has_rounded_constants else polynomial

    # -- out of the ring ---------------------------------------------------------------------------

    def readable(self, polynomial: Polynomial) -> sympy.Expr:
        """Return the polynomial as SymPy: by rates, then by sines and cosines, with factored coefficients."""
        by_rates: dict[Weights, dict[TrigTerm, Any]] = defaultdict(lambda: defaultdict(dict))
        for (rates, rest, term), coefficient in self._with_sums_of_angles(polynomial).items():
            by_rates[rates][term][rest] = coefficient
        by_bracket: dict[sympy.Expr, list[sympy.Expr]] = defaultdict(list)
        for rates, terms in by_rates.items():
            number, bracket = self._collected(terms)
            by_bracket[bracket].append(number * self._monomial(rates))
        return sympy.Add(*(_product(sympy.Add(*rates), bracket) for bracket, rates in by_bracket.items()))

    def _collected(self, terms: dict[TrigTerm, Any]) -> tuple[sympy.Expr, sympy.Expr]:
        """Return the sum of the terms as (number, bracket), terms of the same coefficient together."""
        by_coefficient: dict[Polynomial, list[tuple[int, sympy.Expr]]] = defaultdict(list)
        for term, coefficients in terms.items():
            coefficient = self._ring.from_dict(coefficients)
            sign = 1 if coefficient.LC > 0 else -1
            by_coefficient[coefficient * sign].append((sign, self._trigonometric(term)))
        parts = []
        for coefficient, functions in by_coefficient.items():
            sign, bracket = _sum(functions)
            parts.append((sign, sympy.Mul(self._factored(coefficient), bracket)))
        sign, bracket = _sum(parts)
        number, bracket = bracket.as_coeff_Mul()
        return sign * number, bracket

    def _with_sums_of_angles(self, polynomial: Polynomial) -> dict[tuple[Weights, Weights, TrigTerm], Any]:
        """Return the coefficients by (rates, rest, term), for parallel axes in the shorter form."""
        moving, first_rate = 2 * len(self.angles), self._motion_from
        width = len(self._generators)
        terms: dict[tuple[Weights, Weights, TrigTerm], Any] = {}
        for monomial, coefficient in polynomial.items():
            rest = (0,) * moving + monomial[moving:first_rate] + (0,) * (width - first_rate)
            rates = (0,) * first_rate + monomial[first_rate:]
            term = tuple(
                (("sin", "cos")[k % 2], self.angles[k // 2], power) for k, power in enumerate(monomial[:moving]) if power
            )
            terms[rates, rest, term] = coefficient
        for family in self._families:
            contexts: dict[Any, dict[TrigTerm, Any]] = defaultdict(dict)
            for (rates, rest, term), coefficient in terms.items():
                inside = tuple(factor for factor in term if factor[1] in family)
                outside = tuple(factor for factor in term if factor[1] not in family)
                contexts[rates, rest, outside][inside] = coefficient
            terms = {
                (rates, rest, outside + inside): coefficient
                for (rates, rest, outside), parts in contexts.items()
                for inside, coefficient in _shorter(parts).items()
            }
        return _with_squared_cosines(_without_dust(terms) if self._has_rounded_constants else terms)

    def _argument(self, angle: Weights) -> sympy.Expr:
        return sympy.Add(*(weight * coordinate for weight, coordinate in zip(angle, self.q, strict=True)))

    def _trigonometric(self, term: TrigTerm) -> sympy.Expr:
        return sympy.Mul(*(self._function(name, angle) ** power for name, angle, power in term))

    def _function(self, name: str, angle: Weights) -> sympy.Expr:
        if (name, angle) not in self._functions:
            self._functions[name, angle] = getattr(sympy, name)(self._argument(angle))
        return self._functions[name, angle]

    def _monomial(self, powers: Weights, used: Sequence[int] | None = None) -> sympy.Expr:
        numbers = range(len(powers)) if used is None else used
        return sympy.Mul(*(self._generators[k] ** p for k, p in zip(numbers, powers, strict=True) if p))

    def _factored(self, polynomial: Polynomial) -> sympy.Expr:
        """Return the common monomial times the rest, which is factored if it is short."""
        if polynomial not in self._factorings:
            common = tuple(map(min, zip(*polynomial, strict=True)))
            rest = {tuple(a - b for a, b in zip(m, common, strict=True)): c for m, c in polynomial.items()}
            factors = self._factors(rest) if 1 < len(rest) <= _LONGEST_TO_FACTOR else [self._expanded(rest)]
            self._factorings[polynomial] = sympy.Mul(self._monomial(common), *factors)
        return self._factorings[polynomial]

    def _factors(self, polynomial: dict[Weights, Any]) -> list[sympy.Expr]:
        """Return the factors of a polynomial, found with its own generators."""
        used = [k for k in range(len(self._generators)) if any(monomial[k] for monomial in polynomial)]
        ring = PolyRing([self._ring.symbols[k] for k in used], QQ)
        small = ring.from_dict({tuple(m[k] for k in used): c for m, c in polynomial.items()})
        content, factors = small.factor_list()
        if content.denominator != 1 and len(factors) == 1 and factors[0][1] == 1:
            return [self._expanded(small, used)]
        if content.denominator != 1:  # decimal numbers read better in (q3 + 0.03) than in 0.01 (100 q3 + 3)
            content = reduce(lambda c, item: c * item[0].LC ** item[1], factors, content)
            factors = [(factor.monic(), power) for factor, power in factors]
        return [readable_number(content, self.fractions), *(self._expanded(factor, used) ** power for factor, power in factors)]

    def _expanded(self, polynomial: Any, used: Sequence[int] | None = None) -> sympy.Expr:
        """Return the sum of the monomials, of all generators or of the ``used`` ones."""
        terms = polynomial.items()
        return sympy.Add(*(readable_number(c, self.fractions) * self._monomial(monomial, used) for monomial, c in terms))


def _product(rates: sympy.Expr, bracket: sympy.Expr) -> sympy.Expr:
    """Return rates times bracket, with the sign in front if it is that of every rate."""
    if rates.is_Add and all(rate.could_extract_minus_sign() for rate in rates.args):
        return -(-rates * bracket)
    return rates * bracket


def _sum(parts: Sequence[tuple[int, sympy.Expr]]) -> tuple[int, sympy.Expr]:
    """Return the sum of signed parts as (sign, sum), so that not every part in a bracket has a minus."""
    sign = -1 if all(sign < 0 for sign, _ in parts) else 1
    return sign, sympy.Add(*(sign * part_sign * part for part_sign, part in parts))


def _with_squared_cosines(terms: dict[Any, Any]) -> dict[Any, Any]:
    """Return the terms with a - a sin**2 written as a cos**2."""
    for key in list(terms):
        rates, rest, term = key
        for position, (name, angle, power) in enumerate(term):
            if name != "sin" or power < 2 or key not in terms:
                continue
            lowered = (("sin", angle, power - 2),) if power > 2 else ()
            partner = (rates, rest, (*term[:position], *lowered, *term[position + 1 :]))
            cosine = (rates, rest, (*partner[2], ("cos", angle, 2)))
            if terms.get(partner) == -terms[key] and cosine not in terms:
                terms[cosine] = terms.pop(partner)
                del terms[key]
    return terms


def _rounded(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial of rounded numbers without dust and with its coefficients on the grid."""
    return polynomial.ring.from_dict({monomial: _on_grid(c) for monomial, c in _without_dust(polynomial).items()})


def _without_dust(coefficients: Any) -> dict[Any, Any]:
    """Return the coefficients that are more than rounding errors of the largest one."""
    limit = max(_DUST * max((abs(c) for c in coefficients.values()), default=QQ(0)), _SMALLEST)
    return {key: c for key, c in coefficients.items() if abs(c) >= limit}


def _on_grid(number: Any) -> Any:
    """Return a number with few digits as it is, another one on the grid; opposite numbers stay opposite."""
    if number.denominator <= LONGEST_DENOMINATOR:
        return number
    size = QQ(abs(number.numerator) * _GRID // number.denominator, _GRID)
    return size if number > 0 else -size


def _families(angles: Sequence[Weights]) -> list[frozenset[Weights]]:
    """Return the sets of two or more angles that share coordinates: those of parallel axes."""
    families: list[frozenset[Weights]] = []
    for angle in angles:
        related = [f for f in families if any(a and b for other in f for a, b in zip(angle, other, strict=True))]
        families = [f for f in families if f not in related]
        families.append(frozenset({angle}).union(*related))
    return [family for family in families if len(family) > 1]


def _shorter(terms: dict[TrigTerm, Any]) -> dict[TrigTerm, Any]:
    """Return the polynomial in one family as it is or with sums of angles, whichever has fewer terms."""
    summed = _with_harmonics(terms)
    return summed if len(summed) < len(terms) else terms


def _with_harmonics(terms: dict[TrigTerm, Any]) -> dict[TrigTerm, Any]:
    """Return the polynomial by sines and cosines of sums; of a double angle: 1 - 2 sin**2 and 2 sin cos."""
    harmonics: Harmonics = defaultdict(lambda: QQ(0))
    for term, coefficient in terms.items():
        for harmonic, part in _product_to_sum(term).items():
            harmonics[harmonic] += coefficient * part
    result: dict[TrigTerm, Any] = defaultdict(lambda: QQ(0))
    for (name, angle), coefficient in harmonics.items():
        if not any(angle):
            result[()] += coefficient if name == "cos" else 0
        elif gcd(*angle) == 2:
            half = tuple(weight // 2 for weight in angle)
            if name == "cos":
                result[()] += coefficient
                result[("sin", half, 2),] -= 2 * coefficient
            else:
                result[("sin", half, 1), ("cos", half, 1)] += 2 * coefficient
        else:
            result[(name, angle, 1),] += coefficient
    return {term: coefficient for term, coefficient in result.items() if coefficient}


def _product_to_sum(term: TrigTerm) -> Harmonics:
    """Return a product of sines and cosines as a sum: cos a cos b = (cos(a+b) + cos(a-b)) / 2, ..."""
    harmonics: Harmonics = {("cos", (0,) * len(term[0][1]) if term else ()): QQ(1)}
    for factor, angle, power in term:
        for _ in range(power):
            product: Harmonics = defaultdict(lambda: QQ(0))
            for (name, other), coefficient in harmonics.items():
                name_of_sum = "cos" if name == factor else "sin"
                of_sum = of_difference = coefficient / 2
                if factor == "sin":
                    of_sum, of_difference = (-of_sum, of_sum) if name == "sin" else (of_sum, -of_sum)
                for sign, part in ((1, of_sum), (-1, of_difference)):
                    total = tuple(a + sign * b for a, b in zip(other, angle, strict=True))
                    if next((weight for weight in total if weight), 0) < 0:  # sin(-a) = -sin a, cos(-a) = cos a
                        total = tuple(-weight for weight in total)
                        part = -part if name_of_sum == "sin" else part
                    product[name_of_sum, total] += part
            harmonics = product
    return harmonics
