"""Algebraic rewriting of values in a graph: common factors are taken out of sums.

``a*b + c + a*d`` becomes ``a*(b + d) + c`` wherever the products serve nobody else. Folding of constants and
elimination of common subexpressions happen while the graph grows, dead code never enters a program.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from elastogen.generator.program.graph import Graph, Op


def factor_sums(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """References to the same values as ``outputs``, with common factors taken out of sums."""
    order = graph.cone(outputs)
    uses = dict.fromkeys(order, 0)
    for node in order:
        for ref in graph.operands(node):
            uses[ref >> 1] += 1
    for ref in outputs:
        uses[ref >> 1] += 1
    absorbed = _absorbed_sums(graph, order, uses)
    renamed: dict[int, int] = {}  # node -> reference to its rewritten value

    def rewritten(ref: int) -> int:
        return renamed[ref >> 1] ^ (ref & 1) if renamed[ref >> 1] else 0

    for node in order:
        op = graph.op[node]
        if op in (Op.CONSTANT, Op.INPUT):
            renamed[node] = 2 * node
            continue
        if op is Op.ADD and node in absorbed:
            renamed[node] = 2 * node  # never read: its terms belong to the sum above
            continue
        with graph.section(graph.section_of[node]):
            if op is Op.DIV and graph.constant_of(rewritten(graph.b[node])) == 0.0:
                renamed[node] = 2 * node  # by a pivot that factoring shows to be zero always: stays, the pivot reports it
            elif op is Op.ADD:
                terms = _collect(graph, node, uses, absorbed)
                renamed[node] = _sum(graph, [tuple(rewritten(f) for f in term) for term in terms])
            else:
                renamed[node] = graph.apply(op, [rewritten(ref) for ref in graph.operands(node)])
        target = renamed[node] >> 1
        if graph.label[node] and not graph.label[target] and graph.op[target] > Op.INPUT:
            graph.label[target] = graph.label[node]
    return [rewritten(ref) for ref in outputs]


def _absorbed_sums(graph: Graph, order: Sequence[int], uses: dict[int, int]) -> set[int]:
    """Sums that are only a term of one larger sum."""
    absorbed = set()
    for node in order:
        if graph.op[node] is Op.ADD:
            for ref in (graph.a[node], graph.b[node]):
                if graph.op[ref >> 1] is Op.ADD and uses[ref >> 1] == 1:
                    absorbed.add(ref >> 1)
    return absorbed


def _collect(graph: Graph, root: int, uses: dict[int, int], absorbed: set[int]) -> list[tuple[int, ...]]:
    """Terms of the sum behind a node, each as its factors (the first factor carries the sign)."""
    terms: list[tuple[int, ...]] = []
    waiting = [2 * root]
    while waiting:
        ref = waiting.pop()
        node, sign = ref >> 1, ref & 1
        if graph.op[node] is Op.ADD and (node == root or node in absorbed):
            waiting += [graph.b[node] ^ sign, graph.a[node] ^ sign]
        elif graph.op[node] is Op.MUL and uses[node] == 1:
            terms.append((graph.a[node] ^ sign, graph.b[node]))
        else:
            terms.append((ref,))
    return terms


def _sum(graph: Graph, terms: list[tuple[int, ...]]) -> int:
    """Reference to a sum of products, common factors taken out, most frequent first."""
    places: list[tuple[int, ...] | None] = list(terms)  # a term keeps its place; None: it went into a product further up
    where: dict[int, list[int]] = {}  # factor -> places of the products that have it, in order
    for place, term in enumerate(terms):
        _enter(where, place, term)
    frequent = [(-len(found), node) for node, found in where.items() if len(found) > 1]
    heapify(frequent)
    while frequent:
        count, factor = heappop(frequent)
        members = where[factor].copy()
        if len(members) != -count:  # it became rarer or more frequent since, and stands in the heap once more if it matters
            continue
        inner = []
        for place in members:
            a, b = _product(places[place])
            inner.append((a, b) if b >> 1 == factor else (b, a))  # the factor last
            for node in {a >> 1, b >> 1}:
                where[node].remove(place)
                if node != factor and len(where[node]) > 1:
                    heappush(frequent, (-len(where[node]), node))
            places[place] = None
        cofactor = _sum(graph, [(a ^ (b & 1),) for a, b in inner])
        if cofactor:
            places[members[0]] = (cofactor, 2 * factor)
            for node in _enter(where, members[0], (cofactor, 2 * factor)):
                if len(where[node]) > 1:
                    heappush(frequent, (-len(where[node]), node))
    terms = [term for term in places if term is not None]
    total, number = 0, 0
    for term in terms:
        product = term[0]
        for ref in term[1:]:
            product = graph.mul(product, ref)
        if graph.op[product >> 1] is Op.CONSTANT:
            number = graph.add(number, product)
        else:
            total = graph.add(total, product)
    return graph.add(total, number)


def _enter(where: dict[int, list[int]], place: int, term: tuple[int, ...]) -> tuple[int, ...]:
    """Note where the factors of a product are; return their nodes."""
    nodes = tuple(dict.fromkeys(ref >> 1 for ref in term)) if len(term) > 1 else ()
    for node in nodes:
        insort(where.setdefault(node, []), place)
    return nodes


def _product(term: tuple[int, ...] | None) -> tuple[int, int]:
    """The two factors of a term that is a product."""
    if term is None or len(term) != 2:
        raise AssertionError(f"{term} is no product of two factors")
    return term[0], term[1]
