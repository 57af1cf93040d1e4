"""A derivation as equations: a symbol on the left, a SymPy expression of earlier symbols on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import sympy

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.optimize import count_uses
from elastogen.generator.program.symbolic.operations import FUNCTIONS, number

DEEPEST = 20  # nesting of a right-hand side


@dataclass(frozen=True)
class Equation:
    """The equation ``symbol = expression``, which computes one node of a graph."""

    symbol: sympy.Symbol
    expression: sympy.Expr
    node: int


@dataclass(frozen=True)
class Equations:
    """Equations in the order in which they can be computed, and their results."""

    equations: tuple[Equation, ...]
    results: tuple[sympy.Expr, ...]


Named = Callable[[int], bool]


def equations(
    graph: Graph,
    refs: Sequence[int],
    named: Named,
    symbol: Callable[[int], sympy.Symbol],
    negative: Named = lambda node: False,
) -> Equations:
    """What the references need: an equation for each node that is ``named``, all others written into those that read them.

    The symbol of a node that is ``negative`` stands for minus what the node computes.
    """
    order = graph.cone(refs)
    read: dict[int, sympy.Expr] = {}
    depth: dict[int, int] = {}
    found: list[Equation] = []

    def signed(ref: int) -> sympy.Expr:
        return -read[ref >> 1] if ref & 1 else read[ref >> 1]

    for node in order:
        op = graph.op[node]
        if op is Op.CONSTANT:
            read[node], depth[node] = number(graph.number[node]), 0
            continue
        if op is Op.INPUT:
            read[node], depth[node] = sympy.Symbol(graph.label[node]), 0
            continue
        operands = graph.operands(node)
        form = _combined(op, [signed(ref) for ref in operands])
        depth[node] = 1 + max(depth[ref >> 1] for ref in operands)
        if named(node) or depth[node] > DEEPEST:
            minus = negative(node)
            found.append(Equation(symbol(node), -form if minus else form, node))
            form, depth[node] = -found[-1].symbol if minus else found[-1].symbol, 0
        read[node] = form
    return Equations(tuple(found), tuple(signed(ref) for ref in refs))


def _combined(op: Op, operands: Sequence[sympy.Expr]) -> sympy.Expr:
    if op is Op.ADD:
        return operands[0] + operands[1]
    if op is Op.MUL:
        return operands[0] * operands[1]
    if op is Op.DIV:
        return operands[0] / operands[1]
    return FUNCTIONS[op](*operands)


def shared_values(graph: Graph, refs: Sequence[int]) -> set[int]:
    """Nodes that need names so that nothing is computed twice.

    What is read once goes into the expression that reads it; but sums that are multiplied by a number have names, for SymPy
    multiplies such sums out, and so do quotients and choices.
    """
    order = graph.cone(refs)
    uses = count_uses(graph, order, refs)
    wanted = {node for node in order if _is_alone(graph, node, uses[node])}
    for node in order:
        for ref in _fenced(graph, node):
            if graph.op[ref >> 1] > Op.INPUT:
                wanted.add(ref >> 1)
    return wanted


def _is_alone(graph: Graph, node: int, uses: int) -> bool:
    op = graph.op[node]
    return op > Op.INPUT and (uses > 1 or bool(graph.label[node]) or op is Op.DIV or op is Op.SELECT)


def _fenced(graph: Graph, node: int) -> Iterable[int]:
    """Return the operands that must not be written into an operation."""
    op = graph.op[node]
    if op is Op.MUL:
        return [ref for ref in graph.operands(node) if graph.op[ref >> 1] is Op.ADD]
    if op is Op.DIV or op > Op.DIV:
        return graph.operands(node)
    return ()
