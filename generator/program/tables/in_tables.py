"""A program whose isomorphic sums are loops over constant tables: the loops, and what remains as a program of its own.

Blocks of one stage and width become one loop: values that only their own lane reads stay variables of the loop, all others go
into an array of the function, or straight into an output.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from elastogen.generator.program.columns import MADE
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.names import keep_label
from elastogen.generator.program.program import OperationCount, Program
from elastogen.generator.program.tables.isomorphic_sums import Block, IsomorphicSums, IsomorphicTerm, Row, element
from elastogen.generator.program.tables.lane_loops import (
    LANES,
    Elements,
    LaneLoop,
    LaneSum,
    Local,
    Operand,
    Series,
    Shared,
    Term,
)
from elastogen.generator.program.tables.polynomials import polynomials
from elastogen.runtime.interface.argument import Argument

LEAST = 0.25  # of all operations, that must be in loops
LOOP_TIME = 0.85  # of a function with loops by that of straight lines with as many operations: measured 0.59 to 0.81


class InTables:
    """A program whose isomorphic sums are loops: the remaining program, the loops in their order, the size of their array."""

    def __init__(self, program: Program, fewest: int) -> None:
        self.program, self.old = program, program.graph
        refs = program.output_refs
        self.found = IsomorphicSums(self.old, refs, [refs for _, refs in program.outputs], fewest)
        self.new = Graph()
        self.new.sections = dict(self.old.sections)
        self.polynomials = {
            node: polynomial
            for node, polynomial in polynomials(self.old, self.found.sums.order, refs).items()
            if node not in self.found.block_of
        }
        self._with_parts = set(self.found.sums.parts.values())
        self.size = 0
        self.places: dict[int, str] = {}  # of the inputs of the new graph that stand for what loops have made
        self._renamed: dict[int, int] = {}
        self._choose_stages()
        self._make_loops()

    # ---- stages: even numbers for what is computed one by one, odd ones for loops

    def _choose_stages(self) -> None:
        found = self.found
        self.stage: dict[int, int] = {}
        self.needed: set[int] = set()  # nodes that are computed one by one
        self._mark_needed()
        self.dots = {  # sums over all lanes, by the sums that they are terms of
            node: [Block((), (term,), len(run)) for run in runs for term in [found.run_term(node, run)]]
            for node, runs in found.runs.items()
            if node in self.needed
        }
        levels: dict[int, tuple[list[Block], list[int]]] = {}
        for block in found.blocks:
            levels.setdefault(found.sums.level[block.members[0]], ([], []))[0].append(block)
        level: dict[int, int] = {}
        for node in (*found.sums.order, *found.sums.parts):
            if node in self.needed and node not in found.block_of:
                below = max((level.get(other, found.sums.level.get(other, 0)) for other in self._read(node)), default=0)
                level[node] = found.sums.level.get(node, below)
                levels.setdefault(level[node], ([], []))[1].append(node)
        for number in sorted(levels):
            blocks, nodes = levels[number]
            for block in blocks:
                block.stage = self._stage_of(block)
                self.stage |= dict.fromkeys(block.members, block.stage)
            for node in nodes:
                latest = max((self.stage[other] for other in self._read(node)), default=0)
                self.stage[node] = latest + (1 + latest % 2 if node in self.polynomials else latest % 2)
                for dot in self.dots.get(node, ()):
                    dot.stage = self._stage_of(dot)
                    self.stage[node] = max(self.stage[node], dot.stage + 1)

    def _mark_needed(self) -> None:
        found = self.found
        waiting, live = [ref >> 1 for ref in self.program.output_refs], dict[int, Block]()
        while waiting:
            node = waiting.pop()
            if node in self.needed:
                continue
            self.needed.add(node)
            block = found.block_of.get(node)
            if block is None:
                waiting += self._read(node)
            elif id(block) not in live:
                live[id(block)] = block
                waiting += [other for term in block.terms for row in term.rows for other in row]
        found.blocks = [block for block in found.blocks if id(block) in live]

    def _is_rebuilt(self, node: int) -> bool:
        """Whether a sum that is computed one by one has other terms than in the program."""
        if node in self.polynomials:
            return False
        return node in self.found.runs or node in self.found.sums.parts or node in self._with_parts

    def _read(self, node: int) -> list[int]:
        """What a node that is computed one by one reads: the factors of its terms where some of them are apart."""
        if node in self.polynomials:
            return [self.polynomials[node].variable]
        if self._is_rebuilt(node):
            return [factor for product in self.found.sums.products[node] for factor in product.nodes]
        return [ref >> 1 for ref in self.old.operands(node)]

    def _stage_of(self, block: Block) -> int:
        """Behind what it reads; in the same loop as blocks of which every lane reads its own value."""
        latest = 1
        for term in block.terms:
            for row in term.rows:
                other = self.found.block_of.get(row[0])
                if other is not None and other.members == row:
                    latest = max(latest, other.stage)
                else:
                    latest = max(latest, *(self.stage[node] + 1 + self.stage[node] % 2 for node in row))
        return latest

    # ---- loops

    def _make_loops(self) -> None:
        loops: dict[tuple[int, int], LaneLoop] = {}
        dots = [dot for found in self.dots.values() for dot in found]
        blocks = sorted(self.found.blocks, key=lambda b: (b.stage, self.found.sums.level[b.members[0]]))
        for block in (*blocks, *dots):
            loop = loops.setdefault((block.stage, block.width), LaneLoop(block.width, block.stage))
            loop.blocks.append(block)
        series = [
            LaneLoop(len(polynomial.coefficients), self.stage[node], series=Series(polynomial, node))
            for node, polynomial in self.polynomials.items()
            if node in self.needed
        ]
        self.loops = sorted((*loops.values(), *series), key=lambda loop: (loop.stage, loop.width))
        self._loop_of = {id(block): loop for loop in self.loops for block in loop.blocks}
        direct = self._targets()
        self._give_places()
        self._rest()
        local: set[int] = set()
        for loop in self.loops:
            if loop.series is not None:
                loop.series.ref = self.ref(2 * loop.series.polynomial.variable)
            for block in loop.blocks:
                terms = [self._term(term, loop, local) for term in block.terms]
                if all(term.negative for term in terms) and any(term.numbers for term in terms):  # no minus in front
                    k = next(k for k, term in enumerate(terms) if term.numbers)
                    terms[k] = replace(terms[k], negative=False, numbers=tuple(-number for number in terms[k].numbers))
                terms.sort(key=lambda term: term.negative)
                loop.sums.append(LaneSum(terms, list(direct.get(id(block), ())), not block.members))
                if block.place >= 0:
                    loop.sums[-1].targets.append(
                        Elements(LANES, tuple(range(block.place, block.place + (block.width if block.members else 1))))
                    )
            for block, made in zip(loop.blocks, loop.sums, strict=True):
                made.local = id(block) in local

    def _targets(self) -> dict[int, list[Elements]]:
        """Blocks that go straight into an output, all of them; notes which elements these are."""
        self.direct: set[tuple[str, int]] = set()
        targets: dict[int, list[Elements]] = {}
        for argument, refs in self.program.outputs:
            where: dict[int, list[int]] = {}
            for index, ref in enumerate(refs):
                if ref >> 1 in self.found.block_of and (ref & 1) == (ref >> 1 in self.found.negated):
                    where.setdefault(ref >> 1, []).append(index)
            for block in self.found.blocks:
                if all(node in where for node in block.members):
                    for k in range(max(len(where[node]) for node in block.members)):
                        indices = [where[node][k if k < len(where[node]) else 0] for node in block.members]
                        targets.setdefault(id(block), []).append(Elements(argument.name, tuple(indices)))
                        self.direct |= {(argument.name, index) for index in indices}
        return targets

    def _give_places(self) -> None:
        """Places for blocks that are read outside of the same lane of the same loop."""
        block_of, read = self.found.block_of, set[int]()
        for node in self.needed - block_of.keys():
            if self._is_rebuilt(node):
                read.update(factor for product in self.found.others(node) for factor in product.nodes)
            else:
                read.update(self._read(node))
        for argument, refs in self.program.outputs:
            read.update(ref >> 1 for index, ref in enumerate(refs) if (argument.name, index) not in self.direct)
        read.update(ref >> 1 for ref in self.program.pivots)
        last: dict[int, float] = {id(block_of[node]): float("inf") for node in read if node in block_of}
        for number, loop in enumerate(self.loops):
            for block in loop.blocks:
                for row in (row for term in block.terms for row in term.rows):
                    own = block_of.get(row[0])
                    if own is not None and own.members == row and self._loop_of[id(own)] is loop:
                        continue
                    single = len(set(row)) == 1
                    for node in row:
                        if node in block_of:  # what all lanes share is read under a name, maybe later
                            key = id(block_of[node])
                            last[key] = max(last.get(key, 0), float("inf") if single else number)
        free: dict[int, list[int]] = {}
        for number, loop in enumerate(self.loops):
            if loop.series is not None:
                loop.series.place, self.size = self.size, self.size + 1
            for block in loop.blocks:
                if not block.members:
                    block.place, self.size = self.size, self.size + 1
                elif id(block) in last:
                    if free.get(block.width):
                        block.place = free[block.width].pop()
                    else:
                        block.place, self.size = self.size, self.size + block.width
            for earlier in self.loops[: number + 1]:
                for block in earlier.blocks:
                    if last.get(id(block)) == number:
                        free.setdefault(block.width, []).append(block.place)

    def _rest(self) -> None:
        """What is computed one by one, in a graph of its own; values of loops are inputs of it."""
        old, new, found = self.old, self.new, self.found
        places = {loop.series.node: loop.series.place for loop in self.loops if loop.series is not None}
        for node in (*found.block_of, *found.sums.order):  # what loops have made needs nothing here
            if node not in self.needed or node in self._renamed:
                continue
            new.enter_section(old.section_of[node] if node < len(old) else "")
            if node in found.block_of:
                block = found.block_of[node]
                leaf = new.input(f"{MADE}[{node}]").ref
                if block.place >= 0:
                    self.places[leaf >> 1] = f"{LANES}[{block.place + block.members.index(node)}]"
                else:
                    self.places[leaf >> 1] = ""
                self._renamed[node] = leaf ^ (node in found.negated)
            elif node in places:
                leaf = new.input(f"{MADE}[{node}]").ref
                self.places[leaf >> 1], self._renamed[node] = f"{LANES}[{places[node]}]", leaf
            elif old.op[node] is Op.CONSTANT:
                self._renamed[node] = new.constant(old.number[node])
            elif old.op[node] is Op.INPUT:
                self._renamed[node] = new.input(old.label[node]).ref
            else:
                operands = () if self._is_rebuilt(node) else [self.ref(ref) for ref in old.operands(node)]
                self._renamed[node] = new.apply(old.op[node], operands) if operands else self._sum(node)
                if old.label[node]:
                    keep_label(new, self._renamed[node], old.label[node])
        new.enter_section("")

    def _sum(self, node: int) -> int:
        """A sum some of whose terms are added by loops, or apart."""
        new, total = self.new, 0
        for k, dot in enumerate(self.dots.get(node, ())):
            leaf = new.input(f"{MADE}[{node}.{k}]").ref
            self.places[leaf >> 1] = f"{LANES}[{dot.place}]"
            total = new.add(total, leaf)
        for product in self.found.others(node):
            term = new.constant(product.number)
            for factor in product.nodes:
                if factor not in self._renamed:  # a part
                    self._renamed[factor] = self._sum(factor)
                term = new.mul(term, self.ref(2 * factor))
            total = new.add(total, term)
        return total

    def ref(self, ref: int) -> int:
        """A reference of the program in the new graph."""
        found = self._renamed[ref >> 1]
        return found ^ (ref & 1) if found else 0

    def _held(self, node: int) -> int:
        """A reference to what the terms of blocks mean by a node: blocks hold some values negated."""
        return self.ref(2 * node ^ (node in self.found.negated))

    def _term(self, term: IsomorphicTerm, loop: LaneLoop, local: set[int]) -> Term:
        negative, numbers, operands = term.negative, term.numbers, list[Operand]()
        for row in term.rows:
            operand = self._operand(row, loop, local)
            if isinstance(operand, Shared) and operand.ref & 1:
                operand, negative, numbers = Shared(operand.ref ^ 1), not negative, tuple(-number for number in numbers)
            operands.append(operand)
        if len(set(numbers)) == 1:
            return Term(numbers[0] < 0, (abs(numbers[0]),), tuple(operands))
        return Term(bool(negative and not numbers), numbers, tuple(operands))

    def _operand(self, row: Row, loop: LaneLoop, local: set[int]) -> Operand:
        graph, block_of = self.old, self.found.block_of
        if len(set(row)) == 1:
            return Shared(self._held(row[0]))
        own = block_of.get(row[0])
        if own is not None and own.members == row and self._loop_of[id(own)] is loop:
            local.add(id(own))
            return Local(loop.blocks.index(own))
        if all(node < len(graph) and graph.op[node] is Op.INPUT for node in row):
            elements = [element(graph.label[node]) for node in row]
            if len({name for name, _ in elements}) == 1 and elements[0][1] >= 0:
                return Elements(elements[0][0], tuple(index for _, index in elements))
        if all(node in block_of for node in row):
            return Elements(LANES, tuple(block_of[node].place + block_of[node].members.index(node) for node in row))
        first, self.size = self.size, self.size + len(row)
        loop.stores += [(first + k, self._held(node)) for k, node in enumerate(row)]
        return Elements(LANES, tuple(range(first, self.size)))

    # ---- what remains

    @cached_property
    def nowhere(self) -> int:
        """The node that elements of the outputs have which loops write themselves."""
        return self.new.input(f"{MADE}[-1]").ref >> 1

    @cached_property
    def straight(self) -> Program:
        """The program that remains; its last output is what loops read of it."""
        starts = [ref for loop in self.loops for ref in (*loop.refs, *(ref for _, ref in loop.stores))]
        outputs = [
            (argument, [2 * self.nowhere if (argument.name, k) in self.direct else self.ref(ref) for k, ref in enumerate(refs)])
            for argument, refs in self.program.outputs
        ]
        outputs.append((Argument("starts", (len(starts),), "", ""), starts))
        return Program(self.new, self.program.inputs, outputs, [self.ref(ref) for ref in self.program.pivots])

    @cached_property
    def in_loops(self) -> int:
        """The number of operations in loops."""
        return self.count.total - self.straight.count.total

    @cached_property
    def count(self) -> OperationCount:
        """Exact numbers of operations, those of the loops included."""
        straight = self.straight
        mul = add = neg = 0
        for loop in self.loops:
            mul, add = (count + (loop.width - 1) * (loop.series is not None) for count in (mul, add))
            for made in loop.sums:
                add += loop.width * (len(made.terms) - (not made.added))
                mul += loop.width * sum(term.factors - 1 for term in made.terms)
                neg += loop.width * (made.terms[0].negative and not made.added)
            read = [o.ref for made in loop.sums for term in made.terms for o in term.operands if isinstance(o, Shared)]
            neg += loop.width * sum(straight.sign(ref) for ref in read) - sum(straight.sign(ref) for ref in loop.refs)
        rest = straight.count
        return replace(rest, mul=rest.mul + mul, add=rest.add + add, neg=rest.neg + neg)


def in_tables(program: Program, fewest: int) -> InTables | None:
    """The program with loops over ``fewest`` lanes or more, where enough of it is isomorphic."""
    found = InTables(program, fewest)
    if not found.loops or found.in_loops < LEAST * found.count.total:
        return None
    return found if LOOP_TIME * found.count.cost <= program.straight_count.cost else None
