"""Parts that sums and products have in common, in whatever order SymPy has their terms: each becomes one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.optimize import count_uses

LONGEST = 24  # terms of a sum, or factors of a product, whose pairs are compared with those of others


def share_parts(graph: Graph, refs: Sequence[int]) -> list[int]:
    """Return references to the same values: pairs of factors, then pairs of terms, that several contain are computed once."""
    for kind in (Op.MUL, Op.ADD):
        refs = _SharedParts(graph, refs, kind).results
    return list(refs)


class _SharedParts:
    """Sums, or products, as lists of references; a pair that several lists contain becomes a value of its own."""

    def __init__(self, graph: Graph, refs: Sequence[int], kind: Op) -> None:
        self._graph, self._kind = graph, kind
        order = graph.cone(refs)
        uses = count_uses(graph, order, refs)
        own = [node for node in order if graph.op[node] is kind]
        read = (ref >> 1 for node in own for ref in graph.operands(node))
        self._inner = {node for node in read if graph.op[node] is kind and uses[node] == 1}
        self._parts = {node: self._flat(node) for node in own if node not in self._inner}
        self._changed: set[int] = set()
        self._pairs: dict[int, tuple[int, int]] = {}  # of new values, numbered after the nodes
        self._where: dict[tuple[int, int], set[int]] = {}  # pair -> nodes whose lists contain it
        self._cancel()
        self._share()
        self._renamed = [0] * len(graph)
        outer = graph.current_section
        for node in order:
            graph.enter_section(graph.section_of[node])
            self._renamed[node] = self._rewritten(node)
        graph.enter_section(outer)
        self.results = [self._value(ref) for ref in refs]

    def _flat(self, root: int) -> list[int]:
        """Return the terms of a sum with their signs, or the factors of a product, which have none."""
        found, waiting = [], list(self._graph.operands(root))
        while waiting:
            ref = waiting.pop()
            if ref >> 1 in self._inner:
                waiting += (part ^ (ref & 1) for part in self._graph.operands(ref >> 1))
            else:
                found.append(ref)
        return found

    def _cancel(self) -> None:
        """Take out terms that are there with both signs."""
        if self._kind is Op.MUL or self._graph.literal:
            return
        for node, parts in self._parts.items():
            for ref in parts.copy():
                if ref in parts and ref ^ 1 in parts:
                    parts.remove(ref)
                    parts.remove(ref ^ 1)
                    self._changed.add(node)

    def _share(self) -> None:
        """Replace pairs by new values, the most frequent first."""
        for node, parts in self._parts.items():
            for pair in _pairs(parts):
                self._where.setdefault(pair, set()).add(node)
        frequent = [(-len(nodes), pair) for pair, nodes in self._where.items() if len(nodes) > 1]
        heapify(frequent)
        while frequent:
            count, pair = heappop(frequent)
            nodes = sorted(self._where[pair])
            if len(nodes) != -count:  # it became rarer or more frequent since, and stands in the heap once more if it matters
                continue
            number = len(self._graph) + len(self._pairs)
            self._pairs[number] = pair
            for node in nodes:
                for changed in self._replace(node, pair, number):
                    if len(self._where[changed]) > 1:
                        heappush(frequent, (-len(self._where[changed]), changed))

    def _replace(self, node: int, pair: tuple[int, int], number: int) -> set[tuple[int, int]]:
        """Put a new value in the place of a pair; return the pairs that were in the list or are now."""
        parts = self._parts[node]
        before, sign = set(_pairs(parts)), 0
        if self._kind is Op.ADD and not (pair[0] in parts and pair[1] in parts):
            sign = 1
        for ref in pair:
            parts.remove(ref ^ sign)
        parts.append(2 * number ^ sign)
        after = set(_pairs(parts))
        for gone in before - after:
            self._where[gone].discard(node)
        for new in after - before:
            self._where.setdefault(new, set()).add(node)
        self._changed.add(node)
        return before ^ after

    def _rewritten(self, node: int) -> int:
        graph = self._graph
        if graph.op[node] <= Op.INPUT:
            return 2 * node
        if node not in self._changed:
            return self._marked(node, graph.apply(graph.op[node], [self._value(ref) for ref in graph.operands(node)]))
        values = sorted(map(self._value, self._parts[node]), key=lambda ref: graph.op[ref >> 1] is Op.CONSTANT)
        if not values:
            return 0
        total, *others = values
        for ref in others:
            total = graph.apply(self._kind, (total, ref))
        return self._marked(node, total)

    def _marked(self, node: int, ref: int) -> int:
        graph, target = self._graph, ref >> 1
        if node in graph.smooth:
            graph.smooth.add(target)
        if graph.label[node] and not graph.label[target] and graph.op[target] > Op.INPUT:
            graph.label[target] = graph.label[node]
        return ref

    def _value(self, ref: int) -> int:
        """Return the reference to a rewritten node, or to the value of a pair."""
        pair = self._pairs.get(ref >> 1)
        found = self._renamed[ref >> 1] if pair is None else self._graph.apply(self._kind, list(map(self._value, pair)))
        return found ^ (ref & 1) if found else 0


def _pairs(parts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a list; of x + y and -x - y there is one."""
    if len(parts) <= LONGEST:
        for x, y in combinations(sorted(parts), 2):
            yield (x ^ 1, y ^ 1) if x & 1 else (x, y)
