"""From SymPy expressions to values of a graph: arithmetic, powers, elementary functions and piecewise definitions.

Everything else is refused by its name. What is not real (``I``, ``sqrt(-1)``) or not finite (``zoo``, ``oo``, ``nan``, a
division by a literal zero) is refused, too. Both branches of a piecewise definition are computed and one is chosen, so the
other one may be anything, even NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import sympy
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import BooleanFalse, BooleanFunction, BooleanTrue

from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.symbolic.expression_size import excess

LARGEST_PRODUCT = 64  # an integer power up to this is multiplied out

_UNARY: dict[type[sympy.Basic], Op] = {
    sympy.sin: Op.SIN, sympy.cos: Op.COS, sympy.tanh: Op.TANH, sympy.exp: Op.EXP, sympy.log: Op.LOG, sympy.asin: Op.ASIN,
    sympy.acos: Op.ACOS, sympy.atan: Op.ATAN, sympy.sinh: Op.SINH, sympy.cosh: Op.COSH, sympy.asinh: Op.ASINH,
    sympy.acosh: Op.ACOSH, sympy.atanh: Op.ATANH, sympy.Abs: Op.ABS,
    sympy.erf: Op.ERF, sympy.floor: Op.FLOOR,
}  # fmt: skip
_BY_OTHERS: dict[type[sympy.Basic], Callable[[Graph, Value], Value]] = {
    sympy.tan: lambda g, x: g.sin(x) / g.cos(x),
    sympy.cot: lambda g, x: g.cos(x) / g.sin(x),
    sympy.sec: lambda g, x: 1 / g.cos(x),
    sympy.csc: lambda g, x: 1 / g.sin(x),
    sympy.acot: lambda g, x: g.elementary(Op.ATAN, 1 / x),
    sympy.asec: lambda g, x: g.elementary(Op.ACOS, 1 / x),
    sympy.acsc: lambda g, x: g.elementary(Op.ASIN, 1 / x),
    sympy.coth: lambda g, x: 1 / g.tanh(x),
    sympy.sech: lambda g, x: 1 / g.elementary(Op.COSH, x),
    sympy.csch: lambda g, x: 1 / g.elementary(Op.SINH, x),
    sympy.acoth: lambda g, x: g.elementary(Op.ATANH, 1 / x),
    sympy.asech: lambda g, x: g.elementary(Op.ACOSH, 1 / x),
    sympy.acsch: lambda g, x: g.elementary(Op.ASINH, 1 / x),
    sympy.sign: lambda g, x: g.choose(x, -1, g.choose(-x, 1, 0)),
    sympy.ceiling: lambda g, x: -g.elementary(Op.FLOOR, -x),
    sympy.erfc: lambda g, x: 1 - g.elementary(Op.ERF, x),
    sympy.sinc: lambda g, x: _sinc(g, x),
}
USABLE = (
    "+ - * /, powers, sqrt, exp, log, sin, cos, tan, cot, sec, csc and their inverses, atan2, "
    "sinh, cosh, tanh, coth, sech, csch and their inverses, erf, erfc, sinc, Abs, sign, Heaviside, floor, ceiling, Mod, frac, "
    "Min, Max, Piecewise with comparisons, splines, and finite Sum and Product"
)
MOST_TERMS = 1000  # of a Sum or a Product
MOST_COMPARED = 8  # in a condition of other operations than And, Or and Not


class LoweringError(ValueError):
    """An expression cannot become code; the message says why, and what can be used."""


Call: TypeAlias = "Callable[[AppliedUndef, Sequence[Value]], Value]"


class ExpressionLowering:
    """Lowers expressions whose symbols have ``values``; equal parts become one value.

    ``call`` gives the values of undefined functions from those of their arguments.
    """

    def __init__(self, graph: Graph, values: Mapping[sympy.Symbol, Value], call: Call | None = None) -> None:
        self.graph = graph
        self._values: dict[sympy.Symbol, Value] = dict(values)
        self._known: dict[sympy.Basic, Value] = {}
        self._call = call
        self._rewriting: set[type[sympy.Basic]] = set()

    def __call__(self, expression: sympy.Basic) -> Value:
        """Return the value of an expression."""
        if not isinstance(expression, sympy.Expr) or isinstance(expression, sympy.MatrixBase):
            raise LoweringError(f"{type(expression).__name__} has no C: it is not a scalar expression")
        if too_much := excess(expression):
            raise LoweringError(too_much)
        try:
            return self._lower(expression)
        except ZeroDivisionError:
            raise LoweringError("it divides by zero") from None
        except (OverflowError, ValueError) as problem:
            if isinstance(problem, LoweringError):
                raise
            raise LoweringError(f"a constant part of it has no finite real value ({problem})") from None

    def _lower(self, node: sympy.Basic) -> Value:
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._fresh(node)
        return known

    def _fresh(self, node: sympy.Basic) -> Value:
        graph = self.graph
        if isinstance(node, sympy.Symbol):
            known = self._values.get(node)
            if known is None:
                raise LoweringError(f"the symbol {node} is not known")
            return known
        if isinstance(node, sympy.Expr) and node.is_number:
            return graph.value(_real(node))
        if isinstance(node, (sympy.Add, sympy.Mul)):
            return self._combined(node)
        if isinstance(node, sympy.Pow):
            return self._power(node)
        if isinstance(node, sympy.Piecewise):
            return self._piecewise(node)
        if isinstance(node, (sympy.Sum, sympy.Product)):
            return self._written_out(node)
        if isinstance(node, AppliedUndef) and self._call is not None:
            return self._call(node, [self._lower(argument) for argument in node.args])
        operands = [self._lower(argument) for argument in node.args] if self._is_function(node) else []
        if node.func in _UNARY and len(operands) == 1:
            return graph.elementary(_UNARY[node.func], operands[0])
        if node.func in _BY_OTHERS:
            return _BY_OTHERS[node.func](graph, operands[0])
        if node.func is sympy.atan2:
            return graph.elementary(Op.ATAN2, *operands)
        if isinstance(node, (sympy.Min, sympy.Max)):
            first, *others = sorted(operands, key=lambda value: value.ref)
            for other in others:
                first = graph.elementary(Op.MIN if isinstance(node, sympy.Min) else Op.MAX, first, other)
            return first
        if isinstance(node, (sympy.Heaviside, sympy.Mod, sympy.frac)):
            return self._stepped(node)
        written = None if node.func in self._rewriting else _rewritten(node)
        if written is None:
            raise LoweringError(f"{node.func.__name__} has no C; usable are {USABLE}")
        self._rewriting.add(node.func)  # two functions may be written by each other for ever
        value = self._lower(written)
        self._rewriting.discard(node.func)
        return value

    def _combined(self, node: sympy.Basic) -> Value:
        """Lower a sum or a product."""
        total, *operands = [self._lower(argument) for argument in node.args]
        for operand in operands:
            total = total + operand if isinstance(node, sympy.Add) else total * operand
        return total

    def _stepped(self, node: sympy.Basic) -> Value:
        """Lower functions with steps: Heaviside, and remainders of a division."""
        graph, x = self.graph, self._lower(node.args[0])
        if isinstance(node, sympy.Heaviside):
            return graph.choose(x, 0, graph.choose(-x, 1, self._lower(node.args[1])))
        if isinstance(node, sympy.frac):
            return x - graph.elementary(Op.FLOOR, x)
        divisor = self._lower(node.args[1])
        return x - divisor * graph.elementary(Op.FLOOR, x / divisor)

    def _written_out(self, node: sympy.Sum | sympy.Product) -> Value:
        """Write out a finite sum or product, term by term."""
        count = 1
        for limits in node.limits:
            if len(limits) != 3 or not (limits[1].is_Integer and limits[2].is_Integer):
                raise LoweringError(f"a {node.func.__name__} needs bounds that are numbers, not {limits}")
            count *= max(1, int(limits[2] - limits[1]) + 1)
        if count > MOST_TERMS:
            raise LoweringError(f"a {node.func.__name__} of {count} terms is too long; at most {MOST_TERMS} are written out")
        written = node.doit()
        if isinstance(written, (sympy.Sum, sympy.Product)):
            raise LoweringError(f"the {node.func.__name__} cannot be written out")
        if too_much := excess(written):
            raise LoweringError(too_much)
        return self._lower(written)

    def _is_function(self, node: sympy.Basic) -> bool:
        return node.func in _UNARY or node.func in _BY_OTHERS or isinstance(node, (sympy.atan2, sympy.Min, sympy.Max))

    def _power(self, node: sympy.Pow) -> Value:
        graph, exponent = self.graph, node.exp
        if node.base is sympy.S.Exp1:
            return graph.elementary(Op.EXP, self._lower(exponent))
        base = self._lower(node.base)
        by_root = exponent.is_Rational and exponent.q == 2 and exponent < 1  # beyond, pow has a derivative at zero
        if (exponent.is_Integer or by_root) and abs(exponent) <= LARGEST_PRODUCT:
            product = _product(graph.sqrt(base) if exponent.q == 2 else base, abs(int(exponent.p)))
            return 1 / product if exponent.p < 0 else product
        return graph.elementary(Op.POW, base, self._lower(exponent))

    def _piecewise(self, node: sympy.Piecewise) -> Value:
        """Lower a Piecewise: the first branch whose condition holds; the last condition must be True."""
        branches = [(branch.expr, branch.cond) for branch in node.args]
        if not isinstance(branches[-1][1], BooleanTrue):
            spline = spline_pieces(node)
            if spline is not None:
                return self._spline(*spline)
            raise LoweringError("a Piecewise has no value where none of its conditions holds; end it with (..., True)")
        value = self._lower(branches[-1][0])
        for expression, condition in reversed(branches[:-1]):
            value = self._where(condition, self._lower(expression), value)
        return value

    def _spline(self, x: sympy.Symbol, pieces: Sequence[tuple[sympy.Expr, sympy.Expr]]) -> Value:
        """Return the piece that contains x; beyond the ends the outer pieces continue."""
        value = self._lower(pieces[-1][1])
        for (_, piece), (end, _) in zip(reversed(pieces[:-1]), reversed(pieces[1:]), strict=True):
            value = self.graph.choose(self._lower(x) - self._lower(end), self._lower(piece), value)
        return value

    def _where(self, condition: sympy.Basic, x: Value, y: Value) -> Value:
        """Return ``x`` where the condition holds, else ``y``."""
        graph = self.graph
        if isinstance(condition, (BooleanTrue, BooleanFalse)):
            return x if condition else y
        if isinstance(condition, sympy.Not):
            return self._where(condition.args[0], y, x)
        if isinstance(condition, sympy.And):
            for part in condition.args:
                x = self._where(part, x, y)
            return x
        if isinstance(condition, sympy.Or):
            for part in condition.args:
                y = self._where(part, x, y)
            return y
        few = len(condition.atoms(sympy.core.relational.Relational)) <= MOST_COMPARED  # Xor doubles with each
        if isinstance(condition, BooleanFunction) and few:  # ITE of a Piecewise inside of a condition, Xor, Implies, ...
            return self._where(condition.to_nnf(simplify=False), x, y)
        if not isinstance(condition, sympy.core.relational.Relational):
            raise LoweringError(f"the condition {condition} is not a comparison; use <, <=, >, >=, And, Or, Not")
        difference = self._lower(condition.lhs) - self._lower(condition.rhs)
        if isinstance(condition, sympy.StrictLessThan):
            return graph.choose(difference, x, y)
        if isinstance(condition, sympy.StrictGreaterThan):
            return graph.choose(-difference, x, y)
        if isinstance(condition, sympy.LessThan):
            return graph.choose(-difference, y, x)
        if isinstance(condition, sympy.GreaterThan):
            return graph.choose(difference, y, x)
        unequal, equal = (x, y) if isinstance(condition, sympy.Ne) else (y, x)
        return graph.choose(difference, unequal, graph.choose(-difference, unequal, equal))


def _rewritten(node: sympy.Basic) -> sympy.Basic | None:
    """What SymPy makes of a function that has no C, in others that have: worked out, or written by other functions."""
    ways: tuple[Callable[[], sympy.Basic], ...] = (
        lambda: node.doit(), lambda: node.rewrite(sympy.Piecewise), lambda: node.rewrite(sympy.exp),
        lambda: node.rewrite(sympy.log), lambda: node.rewrite(sympy.erf), lambda: sympy.expand_func(node),
    )  # fmt: skip
    if isinstance(node, AppliedUndef):
        return None
    for way in ways:
        written = way()
        if written != node and not written.has(node.func, sympy.I, sympy.Integral, sympy.nan, sympy.zoo):
            return written
    return None


def spline_pieces(node: sympy.Piecewise) -> tuple[sympy.Symbol, list[tuple[sympy.Expr, sympy.Expr]]] | None:
    """The variable, and where each piece begins with its formula, of a Piecewise over intervals that follow each other.

    SymPy writes splines so (``interpolating_spline``, ``bspline_basis``), without a value beyond their ends. None: no spline.
    """
    found = []
    variables = {symbol for _, condition in node.args for symbol in condition.free_symbols}
    if len(variables) != 1:
        return None
    x = variables.pop()
    for piece, condition in node.args:
        interval = condition.as_set() if condition.free_symbols == {x} else None
        if not isinstance(interval, sympy.Interval) or not (interval.start.is_finite and interval.end.is_finite):
            return None
        found.append((interval.start, interval.end, piece))
    found.sort(key=lambda entry: entry[0])
    if any(one[1] != other[0] for one, other in pairwise(found)):
        return None
    return x, [(start, piece) for start, _, piece in found]


def _sinc(graph: Graph, x: Value) -> Value:
    """Return sin(x) / x, by its series near zero, where the division and its derivatives lose all digits (1e-18 off at 0.1)."""
    square = x * x
    series = graph.value(1 / 362880)
    for coefficient in (-1 / 5040, 1 / 120, -1 / 6, 1.0):
        series = series * square + coefficient
    return graph.choose(square - 0.01, series, graph.sin(x) / graph.choose(square - 0.01, 1, x), smooth=True)


def _product(base: Value, count: int) -> Value:
    """Return base^count by squaring, with few multiplications."""
    result: Value | None = None
    while count:
        if count & 1:
            result = base if result is None else result * base
        base, count = (base * base, count >> 1) if count > 1 else (base, 0)
    assert result is not None  # sympy has no power of 0
    return result


def _real(number: sympy.Expr) -> float:
    try:
        value = sympy.N(number, 30)
        if value.has(sympy.zoo, sympy.oo, sympy.nan, sympy.S.NegativeInfinity):
            raise LoweringError(f"{number} is not finite; it divides by zero or leaves the domain of a function")
        return float(number)
    except (TypeError, IndexError, AttributeError):  # of complex numbers, and of what is none
        raise LoweringError(f"{number} is not real") from None
