"""Which sums of a program are isomorphic: equal but for numbers and for elements of arrays, and in which order they stand.

Sums are compared level by level: the same number of terms, of products of the same values, or of isomorphic values themselves.
Then, from the results inward, isomorphic sums are put into blocks in the order in which their readers want them side by side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.tables.sums import Product, Sums
from elastogen.generator.program.tables.unknown_signs import UnknownSigns

FEWEST = 4  # isomorphic sums of products of isomorphic values that are worth a loop

Row = tuple[int, ...]
"""Nodes, one for every member of a block."""
Key = tuple[tuple[bool, tuple[tuple[int, int], ...]], ...]
"""Of every term of a sum whether it is without a number, and the kinds of its factors, or these themselves."""


@dataclass(frozen=True)
class IsomorphicTerm:
    """A term of a block: for every member a number, or one sign for all of them, and for every factor a row."""

    numbers: tuple[float, ...]  # empty: only a sign
    negative: bool
    rows: tuple[Row, ...]


@dataclass(eq=False)
class Block:
    """Sums that are computed side by side."""

    members: Row  # of one sum over all lanes no nodes
    terms: tuple[IsomorphicTerm, ...]
    width: int
    stage: int = 0
    place: int = -1  # of its first value in the array, where it has one


@dataclass
class _Kind:
    """Isomorphic sums."""

    level: int
    members: list[int] = field(default_factory=list)
    requests: list[Row] = field(default_factory=list)


def element(label: str) -> tuple[str, int]:
    """Name and index of an element of an input; -1 for a parameter."""
    found = re.fullmatch(r"(\w+)\[(\d+)\]", label)
    return (found[1], int(found[2])) if found else (label, -1)


class IsomorphicSums:
    """Finds the blocks of a program."""

    def __init__(self, graph: Graph, refs: Sequence[int], outputs: Sequence[Sequence[int]], fewest: int) -> None:
        self.graph, self.sums, self.fewest = graph, Sums(graph, refs), fewest
        self.kind_of: dict[int, int] = {}
        self.negated: set[int] = set()  # nodes whose blocks hold their negatives
        self._signs, self._sign = UnknownSigns(), dict[int, int]()  # of the members of kinds: see unknown_signs.py
        self._sorted: dict[int, list[tuple[Product, Row]]] = {}  # of every sum the terms, in the order of all isomorphic ones
        self._kinds: list[_Kind] = []
        self.blocks: list[Block] = []
        self.block_of: dict[int, Block] = {}
        self._find_kinds()
        self.runs: dict[int, list[list[int]]] = {}  # of sums alone: numbers of isomorphic terms
        self._find_runs([node for node in self.sums.products if node not in self.kind_of])
        for ref in (ref for refs in outputs for ref in refs if ref >> 1 in self._sign):
            self._signs.equal(self._sign[ref >> 1], ref & 1)  # held as it is wanted; the same rows then serve many functions
        self.negated = {node for node, sign in self._sign.items() if self._signs.solved(sign)}
        self._choose_blocks(outputs)
        self._find_runs([node for node in self.kind_of if node in self.sums.products and node not in self.block_of])

    # ---- which are isomorphic

    def _find_kinds(self) -> None:
        graph, by_level = self.graph, dict[int, list[int]]()
        arrays: dict[str, list[int]] = {}
        for node in self.sums.order:
            if graph.op[node] is Op.INPUT and element(graph.label[node])[1] >= 0:
                arrays.setdefault(element(graph.label[node])[0], []).append(node)
        for nodes in arrays.values():
            self._new_kind(0, nodes)
        begun: dict[
            int, list[int]
        ] = {}  # sums of higher levels of which some terms are known at a level, and not at a lower one
        for node in self.sums.products:
            by_level.setdefault(self.sums.level[node], []).append(node)
            for level in self.sums.beginnings(node):
                begun.setdefault(level, []).append(node)
        for level in sorted({*by_level, *begun}):
            found: dict[Key, list[int]] = {}
            for node in by_level.get(level, ()):
                found.setdefault(self._key(node, self.sums.products[node]), []).append(node)
            for part in self._split(begun.get(level, ()), level, found):
                found[self._key(part, self.sums.products[part])].append(part)
            self._fill(found)
            for nodes in found.values():
                if len(nodes) >= self.fewest or (len(nodes) >= FEWEST and self._is_bilinear(nodes[0])):
                    self._choose_signs(nodes)
                    self._new_kind(level, nodes)

    def _new_kind(self, level: int, nodes: Sequence[int]) -> None:
        for node in nodes:
            self.kind_of[node] = len(self._kinds)
        self._kinds.append(_Kind(level, list(nodes)))

    def _split(self, nodes: Sequence[int], level: int, found: dict[Key, list[int]]) -> list[int]:
        """Parts of sums, which go on later, that are isomorphic to others or to each other, as sums of their own."""
        waiting: dict[Key, list[tuple[int, tuple[Product, ...]]]] = {}
        for node in nodes:
            terms = self.sums.beginnings(node).get(level)
            if terms is not None:
                waiting.setdefault(self._key(node, terms), []).append((node, terms))
        parts: list[int] = []
        for key, sums in waiting.items():
            if len(sums) + len(found.get(key, ())) >= self.fewest:
                found.setdefault(key, [])
                parts += [self.sums.split(node, terms, level) for node, terms in sums]
        return parts

    def _fill(self, found: dict[Key, list[int]]) -> None:
        """Sums that leave out one value which many others have a number times get a zero times it: a diagonal of zeros."""
        for key, many in sorted(found.items(), key=lambda entry: -len(entry[1])):
            for k, term in enumerate(key):
                shorter = (*key[:k], *key[k + 1 :])
                values = {self._sorted[node][k][1] for node in many}
                if len(found.get(shorter, many)) < len(many) / 2 and len(values) == 1 and not term[0]:
                    zero = Product(0.0, False, values.pop())
                    for node in found.pop(shorter):
                        self.sums.products[node] = (*self.sums.products[node], zero)
                        found[self._key(node, self.sums.products[node])].append(node)

    def _key(self, node: int, products: Sequence[Product]) -> Key:
        """The same for isomorphic sums; notes the terms in their common order."""
        terms = []
        for product in products:
            factors = sorted((self._factor_key(factor), factor) for factor in product.nodes)
            terms.append(((product.plain, tuple(key for key, _ in factors)), tuple(n for _, n in factors), product))
        terms.sort(key=lambda term: term[:2])
        self._sorted[node] = [(product, nodes) for _, nodes, product in terms]
        return tuple(key for key, _, _ in terms)

    def _is_bilinear(self, node: int) -> bool:
        """Whether a sum consists for the most part of products of isomorphic values: entries of an elimination."""
        terms = self.sums.products[node]
        found = [any(self._kinds[self.kind_of[n]].level for n in term.nodes if n in self.kind_of) for term in terms]
        return len(terms) > 1 and 2 * sum(found) >= len(terms)

    def _choose_signs(self, nodes: Sequence[int]) -> None:
        """Members may be held negated, so that terms with the same number in all of them have one sign."""
        terms = list(zip(*(self._sorted[node] for node in nodes), strict=True))
        plain = [k for k, entries in enumerate(terms) if len({abs(product.number) for product, _ in entries}) == 1]
        plain.sort(key=lambda k: not terms[k][0][0].plain)
        held = self._signs.free()
        first = [self._term_sign(nodes[0], k) ^ held for k in plain]
        self._sign[nodes[0]] = held
        for node in nodes[1:]:
            own = [self._term_sign(node, k) for k in plain]
            self._sign[node] = own[0] ^ first[0] if plain else self._signs.free()
            for one, other in zip(first[1:], own[1:], strict=True):
                self._signs.equal(one, other ^ self._sign[node])  # where they cannot be, the term gets a row of both signs

    def _term_sign(self, node: int, term: int) -> int:
        """The sign of a term in terms of what blocks hold."""
        product, nodes = self._sorted[node][term]
        sign = int(product.number < 0)
        for factor in nodes:
            sign ^= self._sign.get(factor, 0)
        return sign

    def _factor_key(self, node: int) -> tuple[int, int]:
        return (0, self.kind_of[node]) if node in self.kind_of else (1, node)

    # ---- in which order

    def _choose_blocks(self, outputs: Sequence[Sequence[int]]) -> None:
        self._ask_for_outputs(outputs)
        later: dict[int, list[Row]] = {}
        for node, runs in self.runs.items():
            for row in (row for run in runs for row in self.run_term(node, run).rows):
                if row[0] in self.kind_of:
                    later.setdefault(self.kind_of[row[0]], []).append(row)
        for number in sorted(range(len(self._kinds)), key=lambda k: (-self._kinds[k].level, k)):
            kind = self._kinds[number]
            if kind.level:
                self._cut(kind, [*kind.requests, *later.get(number, ())])

    def _ask_for_outputs(self, outputs: Sequence[Sequence[int]]) -> None:
        """Elements of an output that are equally far from each other, first ones first, are wanted side by side."""
        for refs in outputs:
            by_kind: dict[int, dict[int, int]] = {}
            for index, ref in enumerate(refs):
                if ref >> 1 in self.kind_of:
                    by_kind.setdefault(self.kind_of[ref >> 1], {}).setdefault(ref >> 1, index)
            for kind, places in by_kind.items():
                run: list[int] = []
                for node, index in places.items():
                    if len(run) > 1 and index - places[run[-1]] != places[run[1]] - places[run[0]]:
                        self._kinds[kind].requests.append(tuple(run))
                        run = []
                    run.append(node)
                self._kinds[kind].requests.append(tuple(run))

    def _cut(self, kind: _Kind, requests: Sequence[Row]) -> None:
        left = dict.fromkeys(kind.members)
        for row in requests:
            wanted = tuple(dict.fromkeys(row))
            if len(wanted) >= FEWEST and all(node in left for node in wanted):
                self._block(wanted)
                for node in wanted:
                    del left[node]
        least = FEWEST if kind.members and self._is_bilinear(kind.members[0]) else self.fewest
        if len(left) >= least:  # fewer are sums over all lanes, if they have as many terms
            self._block(tuple(left))

    def _block(self, members: Row) -> None:
        terms = [self._term(members, entries) for entries in zip(*(self._sorted[node] for node in members), strict=True)]
        block = Block(members, tuple(_filled(terms)), len(members))
        for term in block.terms:
            for row in term.rows:
                kind = self._kinds[self.kind_of[row[0]]] if row[0] in self.kind_of else None
                if kind is not None and kind.level and len(set(row)) > 1:
                    kind.requests.append(row)
        self.blocks.append(block)
        self.block_of |= dict.fromkeys(members, block)

    def _term(self, members: Row, entries: Sequence[tuple[Product, Row]]) -> IsomorphicTerm:
        """A term of a block; a sum alone, which is not held negated, has members -1."""
        rows = tuple(zip(*(nodes for _, nodes in entries), strict=True))
        numbers = tuple(
            -product.number if sum(n in self.negated for n in (member, *nodes)) % 2 else product.number
            for member, (product, nodes) in zip(members, entries, strict=True)
        )
        plain = entries[0][0].plain and len(set(numbers)) == 1
        return IsomorphicTerm(() if plain else numbers, numbers[0] < 0, rows)

    # ---- sums alone, of many isomorphic terms

    def _find_runs(self, nodes: Sequence[int]) -> None:
        for node in nodes:
            by_key: dict[tuple[bool, tuple[tuple[int, int], ...]], list[int]] = {}
            for k, (product, nodes) in enumerate(self._sorted[node]):
                by_key.setdefault((product.plain, tuple(map(self._factor_key, nodes))), []).append(k)
            found = [run for (_, keys), run in by_key.items() if keys and len(run) >= self.fewest]
            if found:
                self.runs[node] = found
            for run in found:
                if self._sorted[node][run[0]][0].plain:
                    first = self._term_sign(node, run[0])
                    for k in run[1:]:
                        self._signs.equal(first, self._term_sign(node, k))

    def run_term(self, node: int, run: Sequence[int]) -> IsomorphicTerm:
        """The terms of a run of a sum, as one of as many lanes."""
        return self._term((-1,) * len(run), [self._sorted[node][k] for k in run])

    def others(self, node: int) -> list[Product]:
        """The terms of a sum that are in no run."""
        inside = {k for run in self.runs.get(node, ()) for k in run}
        return [product for k, (product, _) in enumerate(self._sorted[node]) if k not in inside]


def _filled(terms: Sequence[IsomorphicTerm]) -> list[IsomorphicTerm]:
    """Numbers times one value each: where lanes leave out one or two values, these get zeros, so that all read the same."""
    linear = [term for term in terms if term.numbers and len(term.rows) == 1]
    nodes = dict.fromkeys(node for term in linear for node in term.rows[0])
    varying = sum(len(set(term.rows[0])) > 1 for term in linear)
    if not varying or len(nodes) > len(linear) + 2:
        return list(terms)
    width = len(linear[0].numbers)
    table = {node: [0.0] * width for node in sorted(nodes)}
    for term in linear:
        for lane, (number, node) in enumerate(zip(term.numbers, term.rows[0], strict=True)):
            table[node][lane] += number
    made = [IsomorphicTerm(tuple(numbers), False, ((node,) * width,)) for node, numbers in table.items()]
    return [*(term for term in terms if not (term.numbers and len(term.rows) == 1)), *made]
