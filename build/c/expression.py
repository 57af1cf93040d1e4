"""The text of a program's operations: literals, signs, parentheses, and which operations are inlined.

Operations are printed as :attr:`Program.count` counts them and in the order in which :meth:`Program.evaluate`
computes them, so that C without contraction gives the same bits as Python.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from elastogen.generator.program.graph import Op
from elastogen.generator.program.operations import ELEMENTARY, Parity, takes_sign
from elastogen.generator.program.program import Program
from elastogen.generator.robot.errors import BuildError

LEAVES = (Op.CONSTANT, Op.INPUT)
OPERATIONS_PER_STATEMENT = 6

Resolve = Callable[[int], str]
"""Gives the C text of a leaf or of a node that has a variable."""


class Shape(IntEnum):
    """The outermost operator of a piece of text, which decides where parentheses are needed."""

    ATOM = 0
    SUM = 1
    PRODUCT = 2
    OTHER = 3


def literal(number: float, real: str) -> str:
    """Return the shortest text that reads back as ``number`` in the given real type."""
    if real == "double":
        return repr(float(number))
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.float32(number)
    if not np.isfinite(rounded):
        raise BuildError(
            f"the number {number!r} does not fit a float (largest: 3.4e38). "
            'Generate with precision="double", or rescale the parameter it comes from.'
        )
    text = str(rounded)
    return (text if "." in text or "e" in text else f"{text}.0") + "F"


class Expressions:
    """The expressions of one program: a node is either a leaf, a variable, or inlined into its only user."""

    def __init__(self, program: Program, real: str, sincos_by_call: bool, kept: frozenset[int] = frozenset()) -> None:
        self.program, self.real, self._kept = program, real, kept
        self._sincos_by_call = sincos_by_call
        self.inlined = self._choose_inlined()

    def is_leaf(self, node: int) -> bool:
        """Whether the node is an input or a constant."""
        return self.program.graph.op[node] in LEAVES

    def by_call(self, node: int) -> bool:
        """Whether a call for many angles computes the node, a sine or cosine."""
        return self._sincos_by_call and self.program.graph.op[node] in (Op.SIN, Op.COS)

    def operands(self, node: int) -> list[int]:
        """Return the references that the node reads."""
        return list(self.program.graph.operands(node))

    def _choose_inlined(self) -> frozenset[int]:
        program, graph = self.program, self.program.graph
        uses = dict(program.uses)
        angles_of_sines = {graph.a[node] >> 1 for node in program.order if graph.op[node] is Op.SIN}
        for node in program.order:  # the sine and the cosine of one angle read it once, in one call
            if self.by_call(node) and graph.op[node] is Op.COS and graph.a[node] >> 1 in angles_of_sines:
                uses[graph.a[node] >> 1] -= 1
        kept = {*(ref >> 1 for ref in program.pivots), *self._kept}
        size: dict[int, int] = {}
        inlined: set[int] = set()
        for node in program.order:
            if self.is_leaf(node):
                continue
            total = 1
            for operand in dict.fromkeys(ref >> 1 for ref in self.operands(node)):
                if self.is_leaf(operand) or self.by_call(operand) or uses[operand] != 1 or operand in kept:
                    continue
                if program.outward and program.reach[operand] < program.reach[node]:
                    continue  # it is computed earlier
                if not graph.label[operand] and total + size[operand] <= OPERATIONS_PER_STATEMENT:
                    inlined.add(operand)
                    total += size[operand]
            size[node] = total
        for ref in program.output_refs:  # used by one output only: computed where it is stored
            node = ref >> 1
            if uses[node] == 1 and node not in kept and not self.is_leaf(node) and not self.by_call(node):
                inlined.add(node)
        return frozenset(inlined)

    def variables(self, ref: int) -> list[int]:
        """Return the leaves and variables that the printed reference reads, once for each read."""
        found, stack = [], [ref >> 1]
        while stack:
            node = stack.pop()
            if node in self.inlined:
                stack.extend(operand >> 1 for operand in self.operands(node))
            else:
                found.append(node)
        return found

    def definition_variables(self, node: int) -> list[int]:
        """Return the leaves and variables that the definition of a variable reads."""
        return [leaf for ref in self.operands(node) for leaf in self.variables(ref)]

    # ---- text

    def reference(self, ref: int, resolve: Resolve) -> str:
        """Print a reference on its own: an output, a pivot or an angle."""
        node = ref >> 1
        text, shape = self._value(node, resolve)
        if not self.program.sign(ref):
            return text
        return f"-{text}" if shape is Shape.ATOM else f"-({text})"

    def computed(self, node: int, resolve: Resolve) -> str:
        """Print what a node computes, whatever the sign with which it is read."""
        return self._value(node, resolve)[0]

    def negated_result(self, node: int) -> bool:
        """Whether a function is negated: odd functions pass the sign of their argument to their result."""
        odd = ELEMENTARY[self.program.graph.op[node]].parity is Parity.ODD
        return bool((node in self.program.flipped) ^ (odd and self.program.sign(self.program.graph.a[node])))

    def definition(self, node: int, resolve: Resolve) -> str:
        """Print the operation that computes a variable."""
        return self._operation(node, resolve)[0]

    def _value(self, node: int, resolve: Resolve) -> tuple[str, Shape]:
        if node in self.inlined:
            return self._operation(node, resolve)
        return resolve(node), Shape.ATOM

    def _operand(self, ref: int, resolve: Resolve, bare: Shape = Shape.ATOM) -> str:
        """Print an operand without its sign, in parentheses unless it is an atom or of the shape ``bare``."""
        text, shape = self._value(ref >> 1, resolve)
        return text if shape in (Shape.ATOM, bare) else f"({text})"

    def _operation(self, node: int, resolve: Resolve) -> tuple[str, Shape]:
        graph, sign = self.program.graph, self.program.sign
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        flip = 1 if node in self.program.flipped else 0
        if op is Op.ADD:
            return self._sum(a, b, sign(a) ^ flip, sign(b) ^ flip, resolve)
        if op is Op.MUL:
            text = f"{self._operand(a, resolve, Shape.PRODUCT)} * {self._operand(b, resolve)}"
            if not sign(a) ^ sign(b) ^ flip:
                return text, Shape.PRODUCT
            return (f"-{text}", Shape.PRODUCT) if graph.op[a >> 1] is Op.CONSTANT else (f"-({text})", Shape.OTHER)
        if op is Op.DIV:
            text = f"{self._operand(a, resolve)} / {self._operand(b, resolve)}"
            return (f"-({text})" if sign(a) ^ sign(b) ^ flip else text), Shape.OTHER
        if op is Op.SELECT:
            return self._selection(node, flip, resolve), Shape.ATOM
        function = ELEMENTARY[op].name + ("f" if self.real == "float" else "")
        arguments = [self.reference(ref, resolve) for ref in self.operands(node)] if takes_sign(op) else []
        text = f"{function}({', '.join(arguments) or self.computed(a >> 1, resolve)})"
        return (f"-{text}", Shape.OTHER) if self.negated_result(node) else (text, Shape.ATOM)

    def _selection(self, node: int, flip: int, resolve: Resolve) -> str:
        """Select one of two values by the sign of a third."""
        decides, x, y = self.operands(node)
        order = ">" if self.program.sign(decides) else "<"
        chosen, other = (self.reference(ref ^ flip if ref else 0, resolve) for ref in (x, y))
        return f"(({self.computed(decides >> 1, resolve)} {order} {literal(0.0, self.real)}) ? {chosen} : {other})"

    def _sum(self, a: int, b: int, minus_a: int, minus_b: int, resolve: Resolve) -> tuple[str, Shape]:
        if minus_a and not minus_b:
            a, b = b, a
        left, right = self._operand(a, resolve, Shape.SUM), self._operand(b, resolve)
        if minus_a and minus_b:
            return f"-({left} + {right})", Shape.OTHER
        return f"{left} {'-' if minus_a or minus_b else '+'} {right}", Shape.SUM
