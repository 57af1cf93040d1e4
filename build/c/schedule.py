"""The order of the statements of one emitted function.

Sines and cosines that a call computes for many angles at once come first, in levels: the angles that need no other sine
or cosine, the call, the angles that need its results, the next call, ... Then follow all other nodes section by
section, in the order in which the derivation opened the sections: each with what it needs and is not there yet, so that
a section is one stretch. Within a section what most depends on comes first, which keeps the processor's units busy; steps of
loops keep the order in which they were derived, which needs fewer registers. An
output element is stored as soon as it is known; elements that are inputs or constants come last, runs of zeros as
loops.

Programs that are to be printed outward (see association.py) are then sorted by the highest index of an input that is needed,
so that whatever is known of a link is computed with it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from elastogen.build.c.expression import Expressions
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program

SHORTEST_ZERO_LOOP = 4
ANGLES = "angles"  # section of what the sines and cosines need
RESULTS = "results"  # section of what the derivation puts into none


@dataclass(frozen=True)
class Define:
    """The statement ``const real name = operation;``."""

    node: int
    section: str = ""

    @property
    def nodes(self) -> tuple[int, ...]:
        """Return the variables that the statement defines."""
        return (self.node,)


@dataclass(frozen=True)
class SineCosine:
    """A call for the sines and cosines of several angles; ``nodes`` are those that are used."""

    level: int
    angles: tuple[int, ...]  # nodes
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """The statement ``output[index] = value;``."""

    output: str
    index: int
    ref: int
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class StoreZeros:
    """Zeros for ``output[first]`` up to but excluding ``output[end]``."""

    output: str
    first: int
    end: int
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class LoopCall:
    """A call of the loop with that number, after all stores that it needs."""

    number: int
    stores: tuple[Store, ...]
    refs: tuple[int, ...] = ()  # what it reads of the straight-line program itself
    nodes: tuple[int, ...] = ()


Statement = Define | SineCosine | Store | StoreZeros | LoopCall


def reads(statement: Statement, expressions: Expressions) -> list[int]:
    """Return the leaves and variables that a statement reads, once for each read."""
    if isinstance(statement, Define):
        return expressions.definition_variables(statement.node)
    if isinstance(statement, SineCosine):
        return [node for angle in statement.angles for node in expressions.variables(2 * angle)]
    if isinstance(statement, LoopCall):
        return [node for ref in statement.refs for node in expressions.variables(ref)]
    return expressions.variables(statement.ref) if isinstance(statement, Store) else []


def schedule(
    program: Program,
    expressions: Expressions,
    calls: Sequence[LoopCall] = (),
    made: Container[int] = (),
    in_derived_order: bool = False,
) -> list[Statement]:
    """Return all statements in order, with calls of loops; results that loops ``made`` are stored in outputs at the end."""
    statements = _Scheduler(program, expressions, calls, made, in_derived_order).run()
    return _outward(statements, program.reach) if program.outward else statements


def _outward(statements: list[Statement], reach: Mapping[int, int]) -> list[Statement]:
    """Sort by the highest index of an input that is needed; sines and cosines stay in front."""

    def furthest(statement: Statement) -> float:
        if isinstance(statement, Define):
            return reach[statement.node]
        return reach[statement.ref >> 1] if isinstance(statement, Store) else math.inf

    first = 1 + max((k for k, statement in enumerate(statements) if isinstance(statement, SineCosine)), default=-1)
    return [*statements[:first], *sorted(statements[first:], key=furthest)]


class _Scheduler:
    def __init__(
        self,
        program: Program,
        expressions: Expressions,
        calls: Sequence[LoopCall],
        made: Container[int],
        in_derived_order: bool,
    ) -> None:
        self.program, self.graph, self.expressions = program, program.graph, expressions
        self.calls, self.made, self.in_derived_order = calls, made, in_derived_order
        self.outputs = program.outputs[:-1] if calls else program.outputs  # the last one is what loops start from
        self.statements: list[Statement] = []
        self.done: set[int] = set()
        self.named = [section for section in self.graph.sections if section]
        self.stores: dict[int, list[Store]] = {}
        stores = [Store(argument.name, index, ref) for argument, refs in self.outputs for index, ref in enumerate(refs)]
        for store in (*stores, *(store for call in calls for store in call.stores)):
            if not expressions.is_leaf(store.ref >> 1):
                self.stores.setdefault(store.ref >> 1, []).append(store)

    def run(self) -> list[Statement]:
        for level, nodes in enumerate(self._sine_levels(), start=1):
            angles = tuple(dict.fromkeys(self.graph.a[node] >> 1 for node in nodes))
            self._define(self.graph.cone(2 * angle for angle in angles), ANGLES if self.named else "")
            self.statements.append(SineCosine(level, angles, tuple(nodes)))
            self._finish(nodes)
        sections = self._sections()
        for call in self.calls:
            needed = set(self.graph.cone([*(store.ref for store in call.stores), *call.refs]))
            for section, nodes in sections.items():
                for node in nodes:
                    if node in needed:
                        self._define(self._missing(node), section)
            self.statements += [store for store in call.stores if self.expressions.is_leaf(store.ref >> 1)]
            self.statements.append(call)
        for section, nodes in sections.items():
            for node in nodes:
                self._define(self._missing(node), section)
        self._store_leaves()
        return self.statements

    def _sine_levels(self) -> list[list[int]]:
        """Return the sines and cosines that calls compute, by the number of calls before theirs."""
        depth: dict[int, int] = {}
        levels: list[list[int]] = []
        for node in self.program.order:
            deepest = max((depth[ref >> 1] for ref in self.expressions.operands(node)), default=0)
            if self.expressions.by_call(node):
                if deepest == len(levels):
                    levels.append([])
                levels[deepest].append(node)
                deepest += 1
            depth[node] = deepest
        return [sorted(nodes, key=self._angle_order) for nodes in levels]

    def _angle_order(self, node: int) -> tuple[int, str, int, int]:
        """Put plain inputs first, in the order of their array, so that a call can read the array itself."""
        angle = self.graph.a[node] >> 1
        if self.graph.op[angle] is Op.INPUT:
            name, _, index = self.graph.label[angle].partition("[")
            return (0, name, int(index[:-1]) if index else 0, node)
        return (1, "", angle, node)

    def _sections(self) -> dict[str, list[int]]:
        """Return the nodes of every section in the order of sections; nodes without a section come last."""
        nodes: dict[str, list[int]] = {section: [] for section in (*self.named, "")}
        order: Sequence[int] = self.program.order
        if not self.in_derived_order:
            height = self._heights()
            order = sorted(order, key=lambda node: (-height[node], node))
        for node in order:
            nodes[self.graph.section_of[node]].append(node)
        return {section or (RESULTS if self.named else ""): found for section, found in nodes.items()}

    def _heights(self) -> dict[int, int]:
        """Return the length of the longest chain of operations from every node to a result."""
        height = dict.fromkeys(self.program.order, 0)
        for node in reversed(self.program.order):
            for ref in self.expressions.operands(node):
                height[ref >> 1] = max(height[ref >> 1], height[node] + 1)
        return height

    def _missing(self, node: int) -> list[int]:
        """Return the node and all nodes it needs that are not computed yet, in topological order."""
        found, stack = set(), [node]
        while stack:
            node = stack.pop()
            if node not in self.done and node not in found:
                found.add(node)
                stack.extend(ref >> 1 for ref in self.expressions.operands(node))
        return sorted(found)

    def _define(self, nodes: Iterable[int], section: str) -> None:
        for node in nodes:
            if node in self.done or self.expressions.is_leaf(node) or self.expressions.by_call(node):
                continue
            if node not in self.expressions.inlined:
                self.statements.append(Define(node, section))
            self._finish((node,))

    def _finish(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            self.done.add(node)
            self.statements.extend(self.stores.get(node, ()))

    def _store_leaves(self) -> None:
        """Return stores for the output elements that are inputs or constants."""
        for argument, refs in self.outputs:
            index = 0
            while index < len(refs):
                end = index
                while end < len(refs) and refs[end] >> 1 == 0:
                    end += 1
                if end - index >= SHORTEST_ZERO_LOOP:
                    self.statements.append(StoreZeros(argument.name, index, end))
                    index = end
                else:
                    if self.expressions.is_leaf(refs[index] >> 1) and refs[index] >> 1 not in self.made:
                        self.statements.append(Store(argument.name, index, refs[index]))
                    index += 1
