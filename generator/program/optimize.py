"""Algebraic rewriting of values in a graph: common factors are taken out of sums.

``a*b + c + a*d`` becomes ``a*(b + d) + c`` wherever the products have no other use. Folding of constants and
elimination of common subexpressions happen while the graph grows, dead code never enters a program.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from elastogen.generator.program.graph import Graph, Op

_INPUT, _ADD, _MUL, _DIV = Op.INPUT, Op.ADD, Op.MUL, Op.DIV  # asked for millions of times: see graph.py


def factor_sums(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """Return references to the same values as ``outputs``, with common factors taken out of sums."""
    order = graph.cone(outputs)
    uses = count_uses(graph, order, outputs)
    absorbed = _absorbed_sums(graph, order, uses)
    renamed = [0] * len(graph)  # node -> reference to its rewritten value
    op, first, second, label = graph.op, graph.a, graph.b, graph.label
    outer = graph.current_section

    def rewritten(ref: int) -> int:
        return renamed[ref >> 1] ^ (ref & 1) if renamed[ref >> 1] else 0

    for node in order:
        kind = op[node]
        if kind <= _INPUT or node in absorbed:  # an absorbed sum is never read: its terms belong to the sum above
            renamed[node] = 2 * node
            continue
        graph.enter_section(graph.section_of[node])
        if kind is _ADD:
            terms = _collect(graph, node, uses, absorbed)
            renamed[node] = _sum(graph, [tuple([rewritten(factor) for factor in term]) for term in terms])
        elif kind is _MUL:
            renamed[node] = graph.mul(rewritten(first[node]), rewritten(second[node]))
        elif kind is _DIV and graph.constant_of(rewritten(second[node])) == 0.0:
            renamed[node] = 2 * node  # by a pivot that factoring shows to be zero always: stays, the pivot reports it
        else:
            renamed[node] = graph.apply(kind, [rewritten(ref) for ref in graph.operands(node)])
        target = renamed[node] >> 1
        if node in graph.smooth:
            graph.smooth.add(target)
        if label[node] and not label[target] and op[target] > _INPUT:
            label[target] = label[node]
    graph.enter_section(outer)
    return [rewritten(ref) for ref in outputs]


def count_uses(graph: Graph, nodes: Iterable[int], refs: Iterable[int]) -> list[int]:
    """Count how often each node of the graph is read by the given nodes and references."""
    uses = [0] * len(graph)
    first, second, third = graph.a, graph.b, graph.c
    for node in nodes:
        if first[node] >= 0:
            uses[first[node] >> 1] += 1
            if second[node] >= 0:
                uses[second[node] >> 1] += 1
                if third[node] >= 0:
                    uses[third[node] >> 1] += 1
    for ref in refs:
        uses[ref >> 1] += 1
    return uses


def _absorbed_sums(graph: Graph, order: Sequence[int], uses: Sequence[int]) -> set[int]:
    """Return sums that are only a term of one larger sum."""
    op, first, second = graph.op, graph.a, graph.b
    absorbed = set()
    for node in order:
        if op[node] is _ADD:
            a, b = first[node] >> 1, second[node] >> 1
            if op[a] is _ADD and uses[a] == 1:
                absorbed.add(a)
            if op[b] is _ADD and uses[b] == 1:
                absorbed.add(b)
    return absorbed


def _collect(graph: Graph, root: int, uses: Sequence[int], absorbed: set[int]) -> list[tuple[int, ...]]:
    """Return the terms of the sum behind a node, each as its factors (the first factor carries the sign)."""
    op, first, second = graph.op, graph.a, graph.b
    terms: list[tuple[int, ...]] = []
    waiting = [second[root], first[root]]
    while waiting:
        ref = waiting.pop()
        node, sign = ref >> 1, ref & 1
        if node in absorbed:
            waiting += (second[node] ^ sign, first[node] ^ sign)
        elif uses[node] == 1 and op[node] is _MUL:
            terms.append((first[node] ^ sign, second[node]))
        else:
            terms.append((ref,))
    return terms


def _sum(graph: Graph, terms: list[tuple[int, ...]]) -> int:
    """Return a sum of products with common factors taken out, the most frequent first."""
    if _share_factors(terms):
        terms = _with_common_factors_out(graph, terms)
    total, number = 0, 0
    for term in terms:
        product = term[0] if len(term) == 1 else graph.mul(term[0], term[1])
        if graph.op[product >> 1] is Op.CONSTANT:
            number = graph.add(number, product)
        else:
            total = graph.add(total, product)
    return graph.add(total, number)


def _share_factors(terms: Sequence[tuple[int, ...]]) -> bool:
    """Whether two products have a factor in common."""
    seen: set[int] = set()
    for term in terms:
        if len(term) > 1:
            a, b = term[0] >> 1, term[1] >> 1
            if a in seen or b in seen:
                return True
            seen.add(a)
            seen.add(b)
    return False


def _with_common_factors_out(graph: Graph, terms: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the terms with every common factor in one product with the sum of its cofactors."""
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
    return [term for term in places if term is not None]


def _enter(where: dict[int, list[int]], place: int, term: tuple[int, ...]) -> tuple[int, ...]:
    """Note the places of the factors of a product; return their nodes."""
    nodes = tuple(dict.fromkeys(ref >> 1 for ref in term)) if len(term) > 1 else ()
    for node in nodes:
        insort(where.setdefault(node, []), place)
    return nodes


def _product(term: tuple[int, ...] | None) -> tuple[int, int]:
    """Return the two factors of a term that is a product."""
    if term is None or len(term) != 2:
        raise AssertionError(f"{term} is not a product of two factors")
    return term[0], term[1]
