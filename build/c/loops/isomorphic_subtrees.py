"""Isomorphic branches of a robot, both legs or both arms, computed together: loops with one column for each of them.

The operations of such branches differ in constants, inputs and signs only. Each group of nodes that do the same in all branches
becomes one operation on vectors of two or four numbers (column_loop.py), whose text is there once. A sign is no hindrance: a
group holds the values of the first branch as they are, those of the others as they are or negated: the bits stay the same but
for the sign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from elastogen.build.c.split import crossing_counts
from elastogen.generator.program.arguments import POSITIONS
from elastogen.generator.program.columns import GIVEN, MADE, SHARED, Columns
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.names import keep_label
from elastogen.generator.program.program import Branch, InLoops, Program
from elastogen.generator.program.tables.unknown_signs import UnknownSigns
from elastogen.runtime.interface.argument import Argument

Branches = Sequence[Sequence[Branch]]
"""Sets of isomorphic branches: their coordinates correspond to each other in order."""

GROUPED = (Op.ADD, Op.MUL, Op.DIV)
LONGEST_LOOP, SHORTEST_LOOP = 250, 150  # operations
SHORTEST_STAGE = 30  # operations for which a loop is worth its call
SHORTEST = {"double": 300, "float": 3000}
"""Operations of a program for which loops pay. Float is for microcontrollers: they have no vectors and execute a sixth more."""
LEAST = 0.5  # of all operations, that must be in groups

_COMMON = (-1, -1)  # owner of what depends on no branch
_MIXED = (-2, -2)  # on several, or in no group; what one branch makes of it is that branch's own


@dataclass
class _Group:
    """Nodes that do the same in all branches of a set."""

    nodes: tuple[int, ...]
    operands: tuple[tuple[int, ...], ...]  # for each branch references, in the same order
    inside: bool  # computed by a loop; else one by one, and free to be held with any sign
    rotated: set[int] = field(default_factory=set)  # second operands of sums that have to be negated before
    stage: int = 0
    loop: int = -1


def together(program: InLoops, branches: Branches, real: str, flipped: Set[int] | None = None) -> InLoops:
    """The same with isomorphic branches in loops, where there are any.

    ``flipped`` is what to compute with the opposite sign, for few negations, where that is known.
    """
    refs = [*(ref for _, refs in program.outputs for ref in refs), *program.pivots]
    refs += [ref for columns in program.columns for ref in columns.refs]
    operations = sum(program.graph.op[node] in GROUPED for node in program.graph.cone(refs))
    if operations < SHORTEST[real]:
        return program
    found = _Grouping(program, refs, branches)
    grouped = sum(len(group.nodes) for group in found.groups if group.inside)
    return _Emission(found, flipped).run() if grouped >= LEAST * operations else program


class _Grouping:
    """Finds the groups, beginning at the inputs: nodes with the same operation on the same groups."""

    def __init__(self, program: InLoops, refs: Sequence[int], branches: Branches) -> None:
        self.program, self.graph, self.refs = program, program.graph, refs
        self.order = self.graph.cone(refs)
        self.place_of_position, self.place_of_velocity = (
            {
                index: (number, member, place)
                for number, isomorphic in enumerate(branches)
                for member, branch in enumerate(isomorphic)
                for place, index in enumerate(branch[kind])
            }
            for kind in (0, 1)
        )
        self.members = [len(isomorphic) for isomorphic in branches]
        self.groups: list[_Group] = []
        self.number_of: dict[int, int] = {}
        self.signs = UnknownSigns()
        self.sign: dict[int, int] = {}  # of the nodes of groups: see unknown_signs.py
        self.kind: dict[int, int] = {}  # of what is in no group: the same number for the same operations
        self.owner: dict[int, tuple[int, int]] = {}
        self._run()

    def _run(self) -> None:
        graph, kinds = self.graph, dict[tuple[object, ...], int]()
        rotating = [node for node in self.order if graph.op[node] not in (Op.CONSTANT, Op.INPUT, *GROUPED)]
        self.early = set(graph.cone(2 * node for node in rotating))  # sines and cosines come first, and what they need
        for level in _levels(graph, self.order):  # nodes of one level do not depend on each other
            self.owner |= {node: self._owner(node) for node in level}
            for strict in (True, False):
                self._match([node for node in level if self.owner[node][0] >= 0 and node not in self.number_of], strict)
            for node in level:
                if node not in self.number_of:
                    if self.owner[node] != _COMMON:
                        self.owner[node] = _MIXED
                    self.kind[node] = kinds.setdefault(self._kind_key(node), len(kinds))
        self.negated = {node for node, sign in self.sign.items() if self.signs.solved(sign)}

    def _match(self, nodes: Sequence[int], strict: bool) -> None:
        """Groups of nodes with equal keys, in their order; not ``strict``: whatever else than groups they read."""
        waiting: dict[tuple[int, tuple[object, ...]], dict[int, list[int]]] = {}
        for node in nodes:
            number, member = self.owner[node]
            waiting.setdefault((number, self._key(node, strict)), {}).setdefault(member, []).append(node)
        for (number, _), found in waiting.items():
            if len(found) == self.members[number]:
                for isomorphic in zip(*(found[member] for member in sorted(found)), strict=False):
                    self._group(isomorphic)

    def _owner(self, node: int) -> tuple[int, int]:
        """Return the set of branches, and the branch in it, that a node depends on."""
        if self.graph.op[node] is Op.INPUT:
            name, index = _element(self.graph.label[node])
            if name == MADE:
                return _MIXED
            place = self._place(name, index)
            return _COMMON if place is None else place[:2]
        owners = {self.owner[ref >> 1] for ref in self.graph.operands(node)} - {_COMMON}
        single = owners - {_MIXED}
        if len(single) == 1:
            return single.pop()
        return _MIXED if owners else _COMMON

    def _place(self, name: str, index: int) -> tuple[int, int, int] | None:
        """Return the set, the branch, and the place in it of an element of an input."""
        return (self.place_of_position if name in POSITIONS else self.place_of_velocity).get(index)

    def _kind_key(self, node: int) -> tuple[object, ...]:
        op = self.graph.op[node]
        if op is Op.CONSTANT or (op is Op.INPUT and _element(self.graph.label[node])[1] < 0):
            return ()  # numbers and parameters may differ from branch to branch
        if op is Op.INPUT:
            return (self.graph.label[node],)
        operands = [ref >> 1 for ref in self.graph.operands(node)]
        keys = [(-1, self.kind[x]) if x in self.kind else (self.owner[x][1], self.number_of[x]) for x in operands]
        return (op, *(sorted(keys) if op in (Op.ADD, Op.MUL) else keys))

    def _operand_key(self, ref: int) -> tuple[int, int]:
        node = ref >> 1
        return (0, self.number_of[node]) if node in self.number_of else (1, self.kind[node])

    def _sorted(self, node: int) -> list[int]:
        """Return references to the operands in an order that is the same in all branches."""
        operands = list(self.graph.operands(node))
        return sorted(operands, key=self._operand_key) if self.graph.op[node] in (Op.ADD, Op.MUL) else operands

    def _key(self, node: int, strict: bool) -> tuple[object, ...]:
        """Return a key that is equal for nodes that do the same."""
        if self.graph.op[node] is Op.INPUT:
            name, index = _element(self.graph.label[node])
            place = self._place(name, index)
            return (name, -1 if place is None else place[2])
        keys = [self._operand_key(ref) for ref in self._sorted(node)]
        return (self.graph.op[node], *((kind, number if strict or not kind else -1) for kind, number in keys))

    def _group(self, nodes: tuple[int, ...]) -> None:
        op, first = self.graph.op[nodes[0]], self._sorted(nodes[0])
        operands = [self._sorted(node) for node in nodes]
        inside = op in GROUPED and not any(node in self.early for node in nodes)
        group = _Group(nodes, tuple(map(tuple, operands)), inside)
        for node, own in zip(nodes[1:], operands[1:], strict=True):
            self.sign[node] = self._result_sign(op, first, own, group) if inside else self.signs.free()
        self.sign[nodes[0]] = 0
        self.groups.append(group)
        for node in nodes:
            self.number_of[node] = len(self.groups) - 1

    def _result_sign(self, op: Op, first: Sequence[int], own: Sequence[int], group: _Group) -> int:
        """Return the sign of a result if its operands are read as the first branch reads its own."""
        rotated = [
            ((one ^ other) & 1) ^ self.sign[other >> 1]
            for one, other in zip(first, own, strict=True)
            if other >> 1 in self.sign
        ]
        if op is not Op.ADD:
            return self.signs.free() if len(rotated) < 2 else rotated[0] ^ rotated[1]
        if len(rotated) == 2 and not self.signs.equal(*rotated):
            group.rotated.add(own[1] >> 1)
        return rotated[0]

    def lanes(self, group: _Group) -> list[tuple[int, ...]]:
        """Return for every operand the references, with signs, that the loop reads in each branch."""
        op, first = self.graph.op[group.nodes[0]], group.operands[0]
        found: list[tuple[int, ...]] = []
        for k in range(len(first)):
            row = []
            for node, own in zip(group.nodes, group.operands, strict=True):
                sign = int(node in self.negated)
                for j, other in enumerate(own):
                    if j == k or op is not Op.ADD:
                        sign ^= ((first[j] ^ other) & 1) ^ (other >> 1 in self.negated and j != k)
                held = int(own[k] >> 1 in self.negated)
                row.append((own[k] & ~1) | (held if own[k] >> 1 in self.sign else sign))
            found.append(tuple(row))
        return found


class _Emission:
    """Makes loops of the groups, and a graph of the remaining nodes."""

    def __init__(self, found: _Grouping, flipped: Set[int] | None) -> None:
        self.found, self.old, self.new = found, found.graph, Graph()
        self.new.sections = dict(found.graph.sections)
        self.group_of: dict[int, _Group] = {}
        self.renamed: dict[int, int] = {}  # nodes of the old graph: references in the new one
        every = (Argument("all", (len(found.refs),), "", ""), found.refs)
        self.flipped = Program(found.graph, (), [every]).flipped if flipped is None else flipped

    def run(self) -> InLoops:
        program = self.found.program
        self._choose_stages()
        while self._leave_few():
            self._choose_stages()
        loops = self._cut()
        first = max((c.first + len(c.results) * c.width for c in program.columns), default=0)
        results = self._results(loops)
        firsts: list[int] = []
        for groups in results:
            firsts.append(first)
            for group in groups:
                for member, node in enumerate(group.nodes):
                    leaf = self.new.input(f"{MADE}[{first + member}]").ref
                    self.renamed[node] = leaf ^ (node in self.found.negated) ^ (group.nodes[0] in self.flipped)
                first += len(group.nodes)
        self._rest()
        columns = [self._columns(*loop) for loop in zip(loops, results, firsts, strict=True)]
        columns += [each.renamed([self._ref(ref) for ref in each.refs]) for each in program.columns]
        outputs = [(argument, [self._ref(ref) for ref in refs]) for argument, refs in program.outputs]
        return InLoops(self.new, outputs, [self._ref(ref) for ref in program.pivots], tuple(columns))

    def _choose_stages(self) -> None:
        """Assign even numbers to nodes computed one by one and odd numbers to loops; each comes after what it reads."""
        self.group_of = {node: group for group in self.found.groups if group.inside for node in group.nodes}
        stage: dict[int, int] = {}
        for node in chain.from_iterable(_levels(self.old, self.found.order)):
            group = self.group_of.get(node)
            if group is None:
                latest = max((stage[ref >> 1] for ref in self.old.operands(node)), default=0)
                stage[node] = latest + latest % 2
            elif node == group.nodes[0]:
                latest = max(stage[ref >> 1] for operands in group.operands for ref in operands)
                group.stage = latest + 1 - latest % 2
                stage |= dict.fromkeys(group.nodes, group.stage)

    def _leave_few(self) -> bool:
        """Compute short loops one by one; return whether there was any."""
        inside = [group for group in self.found.groups if group.inside]
        count = Counter((group.stage, len(group.nodes)) for group in inside)
        short = [group for group in inside if count[group.stage, len(group.nodes)] < SHORTEST_STAGE]
        for group in short:
            group.inside = False
        return bool(short)

    def _cut(self) -> list[list[_Group]]:
        """Cut the groups into loops of some hundred operations, where few values cross."""
        loops: list[list[_Group]] = []
        inside = [group for group in self.found.groups if group.inside]
        for stage in sorted({group.stage for group in inside}):
            groups = sorted((group for group in inside if group.stage == stage), key=lambda group: group.nodes[0])
            for width in sorted({len(group.nodes) for group in groups}):
                loops += self._pieces([group for group in groups if len(group.nodes) == width])
        for number, loop in enumerate(loops):
            for group in loop:
                group.loop = number
        return loops

    def _pieces(self, groups: list[_Group]) -> Iterable[list[_Group]]:
        at = {group.nodes[0]: position for position, group in enumerate(groups)}
        last = dict.fromkeys(at, -1)
        for position, group in enumerate(groups):
            last.update({ref >> 1: position for ref in group.operands[0] if ref >> 1 in at})
        crossing = crossing_counts(len(groups), at, last)
        start = 0
        while len(groups) - start > LONGEST_LOOP:
            end = min(range(start + SHORTEST_LOOP, start + LONGEST_LOOP + 1), key=lambda cut: (crossing[cut], -cut))
            yield groups[start:end]
            start = end
        yield groups[start:]

    def _results(self, loops: Sequence[Sequence[_Group]]) -> list[list[_Group]]:
        """Return for every loop the groups that are read outside of it."""
        read = {ref >> 1 for ref in self.found.refs}
        for node in self.found.order:
            if node not in self.group_of:
                read.update(ref >> 1 for ref in self.old.operands(node))
        for loop in loops:
            for group in loop:
                for operands in group.operands:
                    for ref in operands:
                        other = self.group_of.get(ref >> 1)
                        if other is not None and other.loop != group.loop:
                            read.add(ref >> 1)
        return [[group for group in loop if not read.isdisjoint(group.nodes)] for loop in loops]

    def _rest(self) -> None:
        """Compute the remaining nodes one by one."""
        old, new = self.old, self.new
        for node in self.found.order:
            if node in self.group_of:
                continue
            if old.op[node] is Op.CONSTANT:
                self.renamed[node] = new.constant(old.number[node])
            elif old.op[node] is Op.INPUT:
                self.renamed[node] = new.input(old.label[node]).ref
            else:
                new.enter_section(old.section_of[node])
                self.renamed[node] = new.apply(old.op[node], [self._ref(ref) for ref in old.operands(node)])
                if old.label[node]:
                    keep_label(new, self.renamed[node], old.label[node])
        new.enter_section("")

    def _ref(self, ref: int) -> int:
        found = self.renamed[ref >> 1]
        return found ^ (ref & 1) if found else 0

    def _columns(self, loop: Sequence[_Group], results: Sequence[_Group], first: int) -> Columns:
        step, given, shared = Graph(), dict[tuple[int, ...], int](), dict[int, int]()
        made: dict[int, int] = {}

        def operand(refs: tuple[int, ...]) -> int:
            if refs[0] >> 1 in made:
                return made[refs[0] >> 1]
            lanes = tuple(self._ref(ref) for ref in refs)
            if len(set(lanes)) == 1:
                number = self.new.constant_of(lanes[0])
                if number is not None:
                    return step.constant(number)
                sign = lanes[0] & 1
                return step.input(f"{SHARED}[{shared.setdefault(lanes[0] ^ sign, len(shared))}]").ref ^ sign
            sign = lanes[0] & 1
            lanes = tuple(ref ^ sign for ref in lanes)
            return step.input(f"{GIVEN}[{given.setdefault(lanes, len(given))}]").ref ^ sign

        for group in loop:
            step.enter_section(self.old.section_of[group.nodes[0]])
            refs = [operand(row) for row in self.found.lanes(group)]
            if group.rotated:
                signs = tuple(self.new.one ^ (own[1] >> 1 in group.rotated) for own in group.operands)
                refs[1] = step.mul(refs[1], step.input(f"{GIVEN}[{given.setdefault(signs, len(given))}]").ref)
            signed = [ref ^ (one & 1) if ref else 0 for ref, one in zip(refs, group.operands[0], strict=True)]
            made[group.nodes[0]] = step.apply(self.old.op[group.nodes[0]], signed)
            if self.old.label[group.nodes[0]]:
                keep_label(step, made[group.nodes[0]], self.old.label[group.nodes[0]])
        found = tuple(made[group.nodes[0]] ^ (group.nodes[0] in self.flipped) for group in results)
        return Columns(step, found, tuple(given), tuple(shared), first, "")


def _levels(graph: Graph, order: Sequence[int]) -> list[list[int]]:
    """Sort the nodes by the number of operations before them."""
    depth: dict[int, int] = {}
    levels: list[list[int]] = []
    for node in order:
        depth[node] = 1 + max((depth[ref >> 1] for ref in graph.operands(node)), default=-1)
        if depth[node] == len(levels):
            levels.append([])
        levels[depth[node]].append(node)
    return levels


def _element(label: str) -> tuple[str, int]:
    """Return name and index of an element of an input; -1 for a parameter."""
    found = re.fullmatch(r"(\w+)\[(\d+)\]", label)
    return (found[1], int(found[2])) if found else (label, -1)
