"""A program as sums of products: every node that is read more than once, or by another operation, is such a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import frexp

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.optimize import count_uses

_SUMS = (Op.ADD, Op.MUL)
SHORTEST_PART = 4  # terms of a sum that are worth being a sum of their own


@dataclass(frozen=True)
class Product:
    """A term of a sum: a number times nodes; ``plain``: the product of the nodes, or its negative."""

    number: float
    plain: bool
    nodes: tuple[int, ...]


class Sums:
    """The sums that a program consists of, and how many come one after the other."""

    def __init__(self, graph: Graph, refs: Sequence[int]) -> None:
        self.graph, self.order = graph, graph.cone(refs)
        uses = count_uses(graph, self.order, refs)
        self._inside: set[int] = set()  # nodes that are a part of the only sum or product that reads them
        for node in self.order:
            if graph.op[node] in _SUMS:
                for ref in graph.operands(node):
                    other = ref >> 1
                    if uses[other] == 1 and graph.op[other] in _SUMS and (graph.op[node], graph.op[other]) != (Op.MUL, Op.ADD):
                        self._inside.add(other)
        read = {ref >> 1 for node in self.order for ref in graph.operands(node)}
        self.products: dict[int, tuple[Product, ...]] = {}
        self.level: dict[int, int] = {}
        self.parts: dict[int, int] = {}  # sums that are a part of another one, which reads them: their numbers follow the nodes
        for node in self.order:
            if graph.op[node] in _SUMS and node not in self._inside:
                found = () if node in read else self._scaled(node, uses)
                found = found or self._terms(node)
                self.products[node] = _collected(found)  # terms may cancel: what they read is read all the same
                self.level[node] = 1 + max((self.level[factor] for term in found for factor in term.nodes), default=0)
            elif node not in self._inside:
                self.level[node] = 1 + max((self.level[ref >> 1] for ref in graph.operands(node)), default=-1)
        self._leave_out_unread(refs)

    def beginnings(self, node: int) -> dict[int, tuple[Product, ...]]:
        """By level, the terms of a sum of which everything is known there, but not all of them."""
        found: dict[int, tuple[Product, ...]] = {}
        terms = self.products[node]
        levels = [1 + max((self.level[factor] for factor in term.nodes), default=0) for term in terms]
        for level in sorted(set(levels))[:-1]:
            known = tuple(term for term, own in zip(terms, levels, strict=True) if own <= level)
            if len(known) >= SHORTEST_PART:
                found[level] = known
        return found

    def split(self, node: int, terms: tuple[Product, ...], level: int) -> int:
        """Make some terms of a sum a sum of their own."""
        part = len(self.graph) + len(self.parts)
        self.parts[part] = node
        self.products[part], self.level[part] = terms, level
        rest = tuple(term for term in self.products[node] if term not in terms)
        self.products[node] = (*rest, Product(1.0, True, (part,)))
        return part

    def _leave_out_unread(self, refs: Sequence[int]) -> None:
        """Forget the sums that are a part of all that read them."""
        live, waiting = set[int](), [ref >> 1 for ref in refs]
        while waiting:
            node = waiting.pop()
            if node not in live:
                live.add(node)
                if node in self.products:
                    waiting += [factor for product in self.products[node] for factor in product.nodes]
                else:
                    waiting += [ref >> 1 for ref in self.graph.operands(node)]
        self.products = {node: terms for node, terms in self.products.items() if node in live}

    def _scaled(self, node: int, uses: Sequence[int]) -> tuple[Product, ...]:
        """The terms of a sum times a power of two, which their numbers take: the same bits."""
        graph = self.graph
        a, b = graph.operands(node)
        number, total = graph.constant_of(a), b >> 1
        if graph.op[node] is not Op.MUL or number is None or abs(frexp(number)[0]) != 0.5 or graph.op[total] is not Op.ADD:
            return ()
        if uses[total] != 1 or any(term.plain for term in self.products[total]):
            return ()
        del self.level[total]
        factor = -number if b & 1 else number
        return tuple(replace(term, number=factor * term.number) for term in self.products.pop(total))

    def _terms(self, root: int) -> tuple[Product, ...]:
        graph, terms = self.graph, list[Product]()
        waiting = [2 * root]
        while waiting:
            ref = waiting.pop()
            node, sign = ref >> 1, ref & 1
            if graph.op[node] is Op.ADD and (node == root or node in self._inside):
                waiting += (graph.b[node] ^ sign, graph.a[node] ^ sign)
            else:
                terms.append(self._product(ref, root))
        return tuple(terms)

    def _product(self, ref: int, root: int) -> Product:
        graph, number, nodes = self.graph, -1.0 if ref & 1 else 1.0, list[int]()
        waiting = [ref >> 1]
        while waiting:
            node = waiting.pop()
            scaled = graph.op[node] is Op.MUL and graph.op[graph.a[node] >> 1] is Op.CONSTANT
            if scaled or (graph.op[node] is Op.MUL and (node == root or node in self._inside)):
                for operand in (graph.b[node], graph.a[node]):
                    number = -number if operand & 1 else number
                    waiting.append(operand >> 1)
            elif graph.op[node] is Op.CONSTANT:
                number *= graph.number[node]
            else:
                nodes.append(node)
        return Product(number, abs(number) == 1.0 and bool(nodes), tuple(nodes))


def _collected(terms: Sequence[Product]) -> tuple[Product, ...]:
    """The terms with those of the same nodes together."""
    found: dict[tuple[int, ...], list[Product]] = {}
    for term in terms:
        found.setdefault(tuple(sorted(term.nodes)), []).append(term)
    result = []
    for nodes, same in found.items():
        number = sum(term.number for term in same)
        if number or len(same) == 1:
            result.append(Product(number, abs(number) == 1.0 and bool(nodes), nodes))
    return tuple(result) or (Product(0.0, False, terms[0].nodes),)
