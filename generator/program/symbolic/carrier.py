"""SymPy in the place of the graph's own algebra: a graph whose values are SymPy expressions.

The algorithms are written over values (``program/graph.py``). Here every value stands for a SymPy expression: SymPy adds,
multiplies and applies functions, and its result decides what is zero, a number, or known already in another form. Values that
the algorithms name become symbols at once, and so do sums that are multiplied: expressions stay small, as with a person who
derives a recursion by hand. Which operands a value was made of stays known: derivatives follow the chain rule from value to
value. ``equations.py`` writes the equations down, ``lowering.py`` makes a program of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sympy

from elastogen.generator.derivation_errors import DerivationError
from elastogen.generator.program.graph import Graph, Op, Scalar, Value
from elastogen.generator.program.operations import ELEMENTARY, Parity, takes_sign
from elastogen.generator.program.symbolic.operations import FUNCTIONS, number

MOST_TERMS, MOST_FACTORS = 8, 3  # of an expression without a name that another takes in
MOST_VALUES = 3_000_000  # of one derivation: about 2 minutes and 6 GB
_ADD, _MUL, _DIV, _INPUT, _CONSTANT = Op.ADD, Op.MUL, Op.DIV, Op.INPUT, Op.CONSTANT


class SympyGraph(Graph):
    """A graph whose algebra is SymPy's."""

    def __init__(self) -> None:
        self.forms: list[sympy.Expr] = []  # of each node: what it is, in symbols of inputs and of named values
        self._symbols: dict[int, sympy.Symbol] = {}  # of nodes that have a symbol, inputs among them
        self._named: dict[sympy.Symbol, int] = {}  # the inverse
        self._known: dict[sympy.Expr, int] = {}  # form -> node
        self._done: dict[tuple[int, ...], int] = {}  # operation -> reference: SymPy is asked once
        self._negated: dict[int, sympy.Expr] = {}
        self.negative: set[int] = set()  # nodes whose name was given to their negative
        super().__init__()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """As that of a graph; forms and symbols made inside are gone, too."""
        forms, known, done = len(self.forms), len(self._known), len(self._done)
        try:
            with super().apart():
                yield
        finally:
            del self.forms[forms:]
            for table, kept in ((self._known, known), (self._done, done)):
                while len(table) > kept:
                    table.popitem()
            for node in [node for node in self._symbols if node >= forms]:
                del self._named[self._symbols.pop(node)]
            self.negative = {node for node in self.negative if node < forms}
            self._negated = {node: form for node, form in self._negated.items() if node < forms}

    # ---- leaves

    def constant(self, value: float) -> int:
        """Return a reference to a finite number."""
        ref = super().constant(value)
        if len(self.forms) < len(self.op):
            self._has_form(ref >> 1, number(self.number[ref >> 1]))
        return ref

    def input(self, label: str) -> Value:
        """Return the input variable of that name, a symbol of SymPy."""
        value = super().input(label)
        if len(self.forms) < len(self.op):
            symbol = sympy.Symbol(label)
            self._has_form(value.ref >> 1, symbol)
            self._symbols[value.ref >> 1], self._named[symbol] = symbol, value.ref >> 1
        return value

    def name(self, value: Scalar, label: str) -> Value:
        """Return the value, which becomes a symbol; the label is the name of its equation."""
        known = self.label[self.value(value).ref >> 1]
        value = super().name(value, label)
        if self.op[value.ref >> 1] > _INPUT:
            self.symbol(value.ref >> 1)
            if value.ref & 1 and not known:
                self.negative.add(value.ref >> 1)
        return value

    def symbol(self, node: int) -> sympy.Symbol:
        """Return the symbol that represents a node in the expressions of others."""
        found = self._symbols.get(node)
        if found is None:
            found = self._symbols[node] = sympy.Symbol(f"v{node}")
            self._named[found] = node
            self._negated.pop(node, None)
        return found

    # ---- operations on references

    def add(self, x: int, y: int) -> int:
        """Return a reference to x + y, as SymPy adds."""
        if x > y:
            x, y = y, x
        if x < 2:
            return y if y > 1 else 0
        if x ^ 1 == y:
            return 0
        sign = x & 1
        x, y = x ^ sign, y ^ sign
        key = (_ADD, x, y)
        done = self._done.get(key)
        if done is None:
            if self.op[x >> 1] is _MUL and self.op[y >> 1] is _MUL and self._is_cos2_plus_sin2(x, y):
                done = self.one
            else:
                first, second = self._term(x), self._term(y)
                done = self._result(first + second, key, _terms(first) + _terms(second))
            self._done[key] = done
        return done ^ sign if done else 0

    def mul(self, x: int, y: int) -> int:
        """Return a reference to x * y, as SymPy multiplies."""
        sign, x, y = (x ^ y) & 1, x & ~1, y & ~1
        if x > y:
            x, y = y, x
        if x == 0:
            return 0
        if x == self.one:
            return y ^ sign
        if y == self.one:
            return x ^ sign
        if self.op[y >> 1] is _CONSTANT:  # a number stands first
            x, y = y, x
        key = (_MUL, x, y)
        done = self._done.get(key)
        if done is None:
            done = self._done[key] = self._result(self._factor(x >> 1) * self._factor(y >> 1), key)
        return done ^ sign

    def div(self, x: int, y: int) -> int:
        """Return a reference to x / y, as SymPy divides; a constant divisor becomes a factor."""
        if self.constant_of(y) is not None or x >> 1 == 0 or x >> 1 == y >> 1:
            return super().div(x, y)
        sign, x, y = (x ^ y) & 1, x & ~1, y & ~1
        key = (_DIV, x, y)
        done = self._done.get(key)
        if done is None:
            done = self._done[key] = self._result(self._factor(x >> 1) / self._factor(y >> 1), key)
        return done ^ sign if done else 0

    def unary(self, op: Op, x: int) -> int:
        """Return a reference to an elementary function of x; odd and even functions take their sign outside."""
        if self.constant_of(x) is not None:
            return super().unary(op, x)
        sign = 0 if takes_sign(op) else x & 1
        x ^= sign
        done = self._applied((op, x, -1))
        return done if ELEMENTARY[op].parity is Parity.EVEN or not done else done ^ sign

    def binary(self, op: Op, x: int, y: int) -> int:
        """Return a reference to atan2, pow, min or max of x and y."""
        second = self.constant_of(y)
        if (self.constant_of(x) is not None and second is not None) or (op is Op.POW and second in (0.0, 0.5, 1.0, 2.0)):
            return super().binary(op, x, y)
        sign = 0
        if op in (Op.MIN, Op.MAX):
            if x == y:
                return x
            x, y = min(x, y), max(x, y)
            if x & y & 1:  # min(-x, -y) = -max(x, y)
                x, y, sign, op = x ^ 1, y ^ 1, 1, Op.MAX if op is Op.MIN else Op.MIN
        return self._applied((op, x, y)) ^ sign

    def select(self, decides: int, x: int, y: int) -> int:
        """Return a reference to x where ``decides`` is negative, else to y."""
        if self.constant_of(decides) is not None or x == y:
            return super().select(decides, x, y)
        sign = 1 if (x & 1 or not x) and (y & 1 or not y) else 0  # zero has no sign
        x, y = (ref ^ sign if ref else 0 for ref in (x, y))
        return self._applied((Op.SELECT, decides, x, y)) ^ sign

    def _applied(self, key: tuple[int, ...]) -> int:
        """Return a reference to a function of its operands."""
        done = self._done.get(key)
        if done is None:
            op = Op(key[0])
            operands = [self._argument(ref) for ref in key[1:] if ref >= 0]
            done = self._done[key] = self._result(FUNCTIONS[op](*operands), key)
        return done

    # ---- expressions

    def _term(self, ref: int) -> sympy.Expr:
        """Return a value as a term of a sum; sums are expanded unless they are long."""
        node = ref >> 1
        form: sympy.Expr | None = self._symbols.get(node)
        if form is None:
            form = self.forms[node]
            if form.is_Add and len(form.args) > MOST_TERMS:
                form = self.symbol(node)
        if not ref & 1:
            return form
        negated = self._negated.get(node)
        if negated is None:
            negated = self._negated[node] = -form
        return negated

    def _factor(self, node: int) -> sympy.Expr:
        """Return a value as a factor; sums, quotients and long products are represented by their symbols."""
        found = self._symbols.get(node)
        if found is not None:
            return found
        form, op = self.forms[node], self.op[node]
        if form.is_Add or op is _DIV or op is Op.SELECT or (form.is_Mul and len(form.args) > MOST_FACTORS):
            return self.symbol(node)
        return form

    def _argument(self, ref: int) -> sympy.Expr:
        """Return a value as an argument of a function; short sums stay as they are."""
        form = self.forms[ref >> 1]
        small = form.is_Atom or (form.is_Add and len(form.args) <= MOST_FACTORS and all(term.is_Symbol for term in form.args))
        found = self._symbols.get(ref >> 1) or (form if small else self.symbol(ref >> 1))
        return -found if ref & 1 else found

    def _result(self, form: sympy.Expr, key: tuple[int, ...], expected: int = 0) -> int:
        """Reference to an expression that an operation gave; ``expected`` is the number of terms if nothing came together."""
        if form.is_Number:
            return self.constant(float(form))
        known = self._found(form)
        if known is not None:
            return known
        first = form.args[0]
        if form.is_Mul and first.is_Number and abs(first) == 1:  # 1.0 x, -1 x
            return self._written(form / first) ^ (1 if first < 0 else 0)
        if expected and _terms(form) < min(expected, 3):
            return self._written(form)
        near = self._near(form) if expected > _terms(form) else None
        return 2 * self._fresh(key, form) if near is None else near  # what came together may be needed elsewhere as it was

    def _near(self, form: sympy.Expr) -> int | None:
        """Return the reference to a sum that is a known sum and one known term more."""
        for term in form.args:
            rest = sympy.Add(*(other for other in form.args if other is not term))
            if term.is_Number or self._found(term) is not None:
                for sign, known in ((0, self._found(rest)), (1, self._found(-rest))):
                    if known is not None:
                        return self.add(known ^ sign, self._written(term))
        return None

    def _found(self, form: sympy.Expr) -> int | None:
        """Return the reference to an expression that exists already."""
        node = self._named.get(form) if form.is_Symbol else self._known.get(form)
        return None if node is None else 2 * node

    def _written(self, form: sympy.Expr) -> int:
        """Return a reference to an expression of SymPy, part by part."""
        if form.is_Number:
            return self.constant(float(form))
        known = self._found(form)
        if known is not None:
            return known
        if form.is_Add:
            terms = [self._written(term) for term in form.args]
            return self._folded(self.add, sorted(terms, key=lambda ref: self.op[ref >> 1] is _CONSTANT))
        if form.is_Mul:
            return self._folded(self.mul, [self._written(factor) for factor in form.args])
        if form.is_Pow and form.exp.is_Rational and form.exp.q <= 2:
            base = self._written(form.base)
            base = self.unary(Op.SQRT, base) if form.exp.q == 2 else base
            power = self._folded(self.mul, [base] * abs(int(form.exp.p)))
            return power if form.exp > 0 else self.div(self.one, power)
        if form.is_Pow:
            return self.binary(Op.POW, self._written(form.base), self._written(form.exp))
        raise AssertionError(f"no operation gives {form}")

    def _folded(self, operation: object, refs: list[int]) -> int:
        total = refs[0]
        for ref in refs[1:]:
            total = operation(total, ref)  # type: ignore[operator]
        return total

    def _fresh(self, key: tuple[int, ...], form: sympy.Expr) -> int:
        """Make a new node for an operation, with its expression."""
        if len(self.op) >= MOST_VALUES:
            raise DerivationError(
                f"derivation 'sympy': more than {MOST_VALUES} values and no end. "
                "Fix: ask for fewer functions or points, or derive on the graph (derivation='graph')"
            )
        op = Op(key[0])
        node = self._node(key, op, *key[1:])
        if len(self.forms) < len(self.op):
            self._has_form(node, form)
        return node

    def _has_form(self, node: int, form: sympy.Expr) -> None:
        self.forms.append(form)
        self._known.setdefault(form, node)


def _terms(form: sympy.Expr) -> int:
    return len(form.args) if form.is_Add else 1
