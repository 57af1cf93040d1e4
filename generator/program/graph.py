"""A hash-consed graph of scalar operations: the material that programs are made of.

A value is a *reference*: twice the number of a node, plus one if negated. Signs live on the edges, so ``a - b`` and
``b - a`` are one node, and zeros, ones and constants fold while the graph grows. Nodes are numbered in the order of
their creation, which is a topological order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import TypeAlias

from elastogen.generator.derivation_errors import NumberError
from elastogen.generator.program.names import propose
from elastogen.generator.program.operations import ELEMENTARY, Parity, takes_sign
from elastogen.generator.program.operations import Op as Op

Number: TypeAlias = "int | float"


# Asked for millions of times: a global is found faster than a member.
_CONSTANT, _INPUT, _ADD, _MUL = Op.CONSTANT, Op.INPUT, Op.ADD, Op.MUL


class Value:
    """A value in a graph, with Python's arithmetic."""

    __slots__ = ("graph", "ref")

    def __init__(self, graph: Graph, ref: int) -> None:
        self.graph = graph
        self.ref = ref

    def __add__(self, other: Scalar) -> Value:
        graph = self.graph
        return Value(graph, graph.add(self.ref, other.ref if isinstance(other, Value) else graph.constant(other)))

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Value:
        graph = self.graph
        return Value(graph, graph.add(self.ref, (other.ref if isinstance(other, Value) else graph.constant(other)) ^ 1))

    def __rsub__(self, other: Scalar) -> Value:
        return Value(self.graph, self.graph.add(self.graph.as_ref(other), self.ref ^ 1))

    def __mul__(self, other: Scalar) -> Value:
        graph = self.graph
        return Value(graph, graph.mul(self.ref, other.ref if isinstance(other, Value) else graph.constant(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Value:
        return Value(self.graph, self.graph.div(self.ref, self.graph.as_ref(other)))

    def __rtruediv__(self, other: Scalar) -> Value:
        return Value(self.graph, self.graph.div(self.graph.as_ref(other), self.ref))

    def __neg__(self) -> Value:
        return Value(self.graph, self.ref ^ 1)

    def __repr__(self) -> str:
        return self.graph.text(self.ref)

    @property
    def is_zero(self) -> bool:
        """Whether this is the constant 0."""
        return self.ref >> 1 == 0

    @property
    def constant(self) -> float | None:
        """Return the number that this is, or None if it depends on an input."""
        return self.graph.constant_of(self.ref)


Scalar: TypeAlias = "Value | int | float"


class CodeSection:
    """What is being derived, for readers of the emitted code: nodes made inside the ``with`` belong to this section."""

    def __init__(self, graph: Graph, label: str) -> None:
        self.graph, self.label, self._outer = graph, label, ""

    def __enter__(self) -> None:
        self._outer, self.graph.current_section = self.graph.current_section, self.label

    def __exit__(self, *failure: object) -> None:
        self.graph.current_section = self._outer


class Graph:
    """The nodes of one derivation."""

    def __init__(self) -> None:
        self.op: list[Op] = []
        self.a: list[int] = []  # first operand: a reference
        self.b: list[int] = []  # second operand: a reference, or -1
        self.c: list[int] = []  # third operand: a reference, or -1
        self.number: list[float] = []  # of constants
        self.label: list[str] = []  # of inputs; elsewhere a proposed name of the intermediate, or ""
        self.smooth: set[int] = set()  # nodes whose sign chooses between formulas without a kink: see choose()
        self.owners: dict[str, int] = {}  # which node a name was proposed for first
        self.section_of: list[str] = []
        self.sections: dict[str, None] = {}  # in the order in which they were opened
        self.current_section = ""  # read only; see section() and enter_section()
        self._index: dict[tuple[int, ...] | float | str, int] = {}
        self.literal = False  # whether numbers stay where they stand: brought together they change the last bits
        self.zero = self.constant(0.0)
        self.one = self.constant(1.0)

    def __len__(self) -> int:
        return len(self.op)

    def section(self, label: str) -> CodeSection:
        """Name the purpose of the nodes made inside: ``with graph.section("elbow: force"):``."""
        self.sections[label] = None
        return CodeSection(self, label)

    def enter_section(self, label: str) -> None:
        """Put nodes that are made from now on into a section, for passes that process single nodes."""
        if label != self.current_section:
            self.sections[label] = None
            self.current_section = label

    def outline(self, labels: Iterable[str]) -> None:
        """Fix the order in which sections are printed if it is not the one in which they are derived."""
        self.sections.update(dict.fromkeys(labels))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Remove nodes and sections made inside the ``with`` afterwards, so that derivations do not see each other's names."""
        kept, sections, labels, owners = len(self.op), dict(self.sections), list(self.label), dict(self.owners)
        try:
            yield
        finally:
            for _ in range(len(self.op) - kept):  # the index has one entry for each node, in the order of the nodes
                self._index.popitem()
            for column in (self.op, self.a, self.b, self.c, self.number, self.section_of):
                del column[kept:]
            self.sections, self.label, self.owners = sections, labels, owners
            self.smooth = {node for node in self.smooth if node < kept}

    # ---- leaves

    def _node(self, key: tuple[int, ...] | float | str, op: Op, a: int, b: int, c: int = -1) -> int:
        found = self._index.get(key)
        if found is None:
            found = len(self.op)
            self._index[key] = found
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)
            self.c.append(c)
            self.number.append(0.0)
            self.label.append("")
            self.section_of.append(self.current_section)
        return found

    def constant(self, value: Number) -> int:
        """Return a reference to a finite number."""
        value = float(value)
        node = self._index.get(abs(value))
        if node is None:
            if not math.isfinite(value):
                raise NumberError(value)
            node = self._node(abs(value), _CONSTANT, -1, -1)
            self.number[node] = abs(value)
        return 2 * node + (1 if value < 0.0 else 0)

    def input(self, label: str) -> Value:
        """Return the input variable of that name; the same name gives the same variable."""
        node = self._node(label, Op.INPUT, -1, -1)
        self.label[node] = label
        return Value(self, 2 * node)

    def value(self, scalar: Scalar) -> Value:
        """Return ``scalar`` as a value of this graph."""
        return scalar if isinstance(scalar, Value) else Value(self, self.constant(scalar))

    def as_ref(self, scalar: Scalar) -> int:
        """Return ``scalar`` as a reference."""
        return scalar.ref if isinstance(scalar, Value) else self.constant(scalar)

    def constant_of(self, ref: int) -> float | None:
        """Return the number behind a reference, or None."""
        if self.op[ref >> 1] is not _CONSTANT:
            return None
        value = self.number[ref >> 1]
        return -value if ref & 1 else value

    def name(self, value: Scalar, label: str) -> Value:
        """Return the value, with a readable name proposed for it if it is an intermediate: see names.py."""
        value = self.value(value)
        propose(self, value.ref >> 1, label)
        return value

    # ---- operations on references

    # Sums and products are most of every derivation: their usual way is short, and what folds is looked for in order of cost.

    def add(self, x: int, y: int) -> int:
        """Return a reference to x + y."""
        if x > y:
            x, y = y, x
        if x < 2:
            return y if y > 1 else 0
        first, second = x >> 1, y >> 1
        if first == second and x != y:
            return 0
        op, a, b = self.op, self.a, self.b
        op_x, op_y = op[first], op[second]
        if op_x is _CONSTANT or op_y is _CONSTANT:
            if op_x is op_y:
                return self.constant((self.constant_of(x) or 0.0) + (self.constant_of(y) or 0.0))
            number, other = (x, y) if op_x is _CONSTANT else (y, x)
            node = other >> 1
            if op[node] is _ADD and not self.literal:
                for inner, rest in ((a[node], b[node]), (b[node], a[node])):
                    if op[inner >> 1] is _CONSTANT:  # c1 + (c2 + z) = (c1 + c2) + z
                        return self.add(self.add(number, inner ^ (other & 1)), rest ^ (other & 1))
        elif not self.literal:
            many_x = op_x is _MUL and op[a[first] >> 1] is _CONSTANT  # x is a number times b of its node
            many_y = op_y is _MUL and op[a[second] >> 1] is _CONSTANT
            if (b[first] if many_x else x & ~1) == (b[second] if many_y else y & ~1):  # c1 z + c2 z = (c1 + c2) z
                count_x = self.number[a[first] >> 1] if many_x else 1.0
                count_y = self.number[a[second] >> 1] if many_y else 1.0
                total = (-count_x if x & 1 else count_x) + (-count_y if y & 1 else count_y)
                return self.mul(self.constant(total), b[first] if many_x else x & ~1)
            if op_x is _MUL and op_y is _MUL and self._is_cos2_plus_sin2(x, y):
                return self.one ^ (x & 1)
        sign = x & 1
        return 2 * self._node((_ADD, x ^ sign, y ^ sign), _ADD, x ^ sign, y ^ sign) + sign

    def mul(self, x: int, y: int) -> int:
        """Return a reference to x * y."""
        sign, x, y = (x ^ y) & 1, x & ~1, y & ~1
        if x > y:
            x, y = y, x
        if x == 0:
            return 0
        if x == self.one:
            return y ^ sign
        if y == self.one:
            return x ^ sign
        op_x, op_y = self.op[x >> 1], self.op[y >> 1]
        if op_y is _CONSTANT:
            x, y, op_x, op_y = y, x, op_y, op_x
        if op_x is _CONSTANT:
            if op_y is _CONSTANT:
                return self.constant(self.number[x >> 1] * self.number[y >> 1]) ^ sign
            if op_y is _MUL and self.op[self.a[y >> 1] >> 1] is _CONSTANT and not self.literal:
                product = self.constant(self.number[x >> 1] * self.number[self.a[y >> 1] >> 1])
                return self.mul(product, self.b[y >> 1]) ^ sign
        return 2 * self._node((_MUL, x, y), _MUL, x, y) + sign

    def div(self, x: int, y: int) -> int:
        """Return a reference to x / y; a constant divisor becomes a factor."""
        divisor = self.constant_of(y)
        if divisor is not None:
            if divisor == 0.0:
                raise ZeroDivisionError("division by the constant 0 in a derived expression")
            return self.mul(x, self.constant(1.0 / divisor))
        if x >> 1 == 0:
            return 0
        if x >> 1 == y >> 1:
            return self.one ^ ((x ^ y) & 1)
        sign, x, y = (x ^ y) & 1, x & ~1, y & ~1
        return 2 * self._node((Op.DIV, x, y), Op.DIV, x, y) + sign

    def unary(self, op: Op, x: int) -> int:
        """Return a reference to an elementary function of x; odd and even functions take their sign outside."""
        number = self.constant_of(x)
        if number is not None:
            return self.constant(ELEMENTARY[op].number(number))
        sign = 0 if takes_sign(op) else x & 1
        x ^= sign
        ref = 2 * self._node((op, x, -1), op, x, -1)
        return ref if ELEMENTARY[op].parity is Parity.EVEN else ref + sign

    def binary(self, op: Op, x: int, y: int) -> int:
        """Return a reference to atan2, pow, min or max of x and y."""
        first, second = self.constant_of(x), self.constant_of(y)
        if first is not None and second is not None:
            return self.constant(ELEMENTARY[op].number(first, second))
        if op is Op.POW and second in (0.0, 0.5, 1.0, 2.0):
            return {0.0: self.one, 1.0: x, 2.0: self.mul(x, x)}[second] if second != 0.5 else self.unary(Op.SQRT, x)
        sign = 0
        if op in (Op.MIN, Op.MAX):
            if x == y:
                return x
            x, y = min(x, y), max(x, y)
            if x & y & 1:  # min(-x, -y) = -max(x, y)
                x, y, sign, op = x ^ 1, y ^ 1, 1, Op.MAX if op is Op.MIN else Op.MIN
        return 2 * self._node((op, x, y), op, x, y) + sign

    def select(self, decides: int, x: int, y: int) -> int:
        """Return a reference to x where ``decides`` is negative, else to y."""
        number = self.constant_of(decides)
        if number is not None or x == y:
            return x if number is not None and number < 0.0 else y
        sign = 1 if (x & 1 or not x) and (y & 1 or not y) else 0  # zero has no sign
        x, y = (ref ^ sign if ref else 0 for ref in (x, y))
        return 2 * self._node((Op.SELECT, decides, x, y), Op.SELECT, decides, x, y) + sign

    def sin(self, x: Scalar) -> Value:
        """Return sin x."""
        return Value(self, self.unary(Op.SIN, self.as_ref(x)))

    def cos(self, x: Scalar) -> Value:
        """Return cos x."""
        return Value(self, self.unary(Op.COS, self.as_ref(x)))

    def sqrt(self, x: Scalar) -> Value:
        """Return the square root of x."""
        return Value(self, self.unary(Op.SQRT, self.as_ref(x)))

    def tanh(self, x: Scalar) -> Value:
        """Return the hyperbolic tangent of x."""
        return Value(self, self.unary(Op.TANH, self.as_ref(x)))

    def elementary(self, op: Op, x: Scalar, y: Scalar | None = None) -> Value:
        """Return an elementary function of one or two values."""
        first = self.as_ref(x)
        return Value(self, self.unary(op, first) if y is None else self.binary(op, first, self.as_ref(y)))

    def choose(self, decides: Scalar, x: Scalar, y: Scalar, *, smooth: bool = False) -> Value:
        """Return ``x`` where ``decides`` is negative, else ``y``; ``smooth`` where both agree there, or it reads a mask."""
        self.smooth.update([self.as_ref(decides) >> 1] * smooth)
        return Value(self, self.select(self.as_ref(decides), self.as_ref(x), self.as_ref(y)))

    def apply(self, op: Op, operands: Sequence[int]) -> int:
        """Return a reference to the result of an operation on its operands."""
        if op is Op.ADD:
            return self.add(*operands)
        if op is Op.MUL:
            return self.mul(*operands)
        if op is Op.DIV:
            return self.div(*operands)
        if op is Op.SELECT:
            return self.select(*operands)
        return self.unary(op, *operands) if len(operands) == 1 else self.binary(op, *operands)

    def _is_cos2_plus_sin2(self, x: int, y: int) -> bool:
        """Whether the sum of two products is cos^2 + sin^2."""
        a, b, x, y, signs = self.a, self.b, x >> 1, y >> 1, (x ^ y) & 1
        if signs or a[x] != b[x] or a[y] != b[y]:
            return False
        s, c = a[x] >> 1, a[y] >> 1
        return {self.op[s], self.op[c]} == {Op.SIN, Op.COS} and a[s] == a[c]

    # ---- reading

    def cone(self, refs: Iterable[int]) -> list[int]:
        """Return the nodes that the references need, in topological order."""
        first, second, third = self.a, self.b, self.c
        needed = bytearray(len(first))
        stack = [ref >> 1 for ref in refs]
        while stack:
            node = stack.pop()
            if not needed[node]:
                needed[node] = 1
                a = first[node]
                if a >= 0:
                    stack.append(a >> 1)
                    if second[node] >= 0:
                        stack.append(second[node] >> 1)
                        if third[node] >= 0:
                            stack.append(third[node] >> 1)
        return list(compress(range(len(needed)), needed))

    def operands(self, node: int) -> tuple[int, ...]:
        """Return the references that a node reads."""
        a, b, c = self.a[node], self.b[node], self.c[node]
        if c >= 0:
            return a, b, c
        return (a, b) if b >= 0 else (a,) if a >= 0 else ()

    def text(self, ref: int, depth: int = 4) -> str:
        """Return the expression behind a reference, for debugging and messages."""
        node, sign = ref >> 1, "-" if ref & 1 else ""
        op = self.op[node]
        if op is Op.CONSTANT:
            return f"{sign}{self.number[node]!r}"
        if op is Op.INPUT:
            return sign + self.label[node]
        if depth == 0:
            return f"{sign}..."
        operands = [self.text(ref, depth - 1) for ref in self.operands(node)]
        mark = {Op.ADD: " + ", Op.MUL: " * ", Op.DIV: " / "}.get(op)
        return f"{sign}({mark.join(operands)})" if mark else f"{sign}{op.name.lower()}({', '.join(operands)})"


def values(graph: Graph, refs: Sequence[int]) -> list[Value]:
    """Convert references to values."""
    return [Value(graph, ref) for ref in refs]
