"""Straight-line programs: the computation of one emitted function, ready to print, count, evaluate and split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.program.columns import Columns
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.interpret import DOUBLES, interpret
from elastogen.generator.program.operations import COST, COUNTED_ALONE, ELEMENTARY, KINKS, SELECTION, Parity
from elastogen.generator.program.optimize import count_uses
from elastogen.runtime.interface.argument import Argument

if TYPE_CHECKING:
    from elastogen.generator.program.tables.in_tables import InTables


class Extent(int):
    """A length with a name in the emitted header, such as the number of coordinates, or a plain number."""

    macro: str  # without the robot's prefix

    def __new__(cls, length: int, macro: str) -> Extent:
        """Make ``length``, known as ``macro``."""
        extent = super().__new__(cls, length)
        extent.macro = macro
        return extent


@dataclass(frozen=True)
class OperationCount:
    """Exact numbers of operations. A subtraction counts as an addition, sin and cos count one each.

    ``others`` are the further functions, by their names in C, and how often each is called.
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    neg: int = 0
    sincos: int = 0
    sqrt: int = 0
    tanh: int = 0
    others: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """Return the number of all operations."""
        named = self.mul + self.add + self.div + self.neg + self.sincos + self.sqrt + self.tanh
        return named + sum(number for _, number in self.others)

    def plus(self, other: OperationCount) -> OperationCount:
        """Add both counts."""
        names = ("mul", "add", "div", "neg", "sincos", "sqrt", "tanh")
        others = dict(self.others)
        for name, number in other.others:
            others[name] = others.get(name, 0) + number
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return OperationCount(**sums, others=tuple(others.items()))

    @property
    def cost(self) -> float:
        """Return the rough time in units of an addition, with which derivations of the same function are compared."""
        named = self.mul + self.add + 0.5 * self.neg + 8 * self.div + 10 * self.sincos + 10 * self.sqrt + 20 * self.tanh
        return named + sum(_COST_OF[name] * number for name, number in self.others)


_COST_OF = {known.name: known.cost for known in ELEMENTARY.values()} | {SELECTION: COST[Op.SELECT]}


@dataclass(frozen=True)
class InLoops:
    """A program with loops over columns, whose results are the inputs made[k] of its graph."""

    graph: Graph
    outputs: Sequence[tuple[Argument, Sequence[int]]]
    pivots: Sequence[int]
    columns: tuple[Columns, ...]


class Branch(NamedTuple):
    """The indices of a branch's positions and velocities."""

    positions: tuple[int, ...]
    velocities: tuple[int, ...]


class Program:
    """Nodes of a graph in evaluation order, from input arguments to output arguments.

    ``outputs`` holds one reference for every element of every output argument, in order. ``pivots`` are references
    to numbers that must be positive (the pivots of a factorization): a program with pivots can fail, its C returns a
    status and sets the outputs to zero when a pivot is not positive. The graph is only read. A node in ``flipped`` is
    computed with the opposite sign, so that negations vanish. ``in_loops`` is the same with loops over
    columns that are of one pattern, for those who print it; ``branches`` are sets of isomorphic branches; ``modes`` is the
    number of coordinates of a flexible body whose modes are isomorphic, or 0.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[Argument],
        outputs: Sequence[tuple[Argument, Sequence[int]]],
        pivots: Sequence[int] = (),
        in_loops: InLoops | None = None,
        branches: Sequence[Sequence[Branch]] = (),
        modes: int = 0,
    ) -> None:
        self.graph, self.in_loops, self.branches, self.modes = graph, in_loops, branches, modes
        self.otherwise = ""  # the function with the same arguments that is called where a pivot is not positive, if any
        self.outward = False  # whether it is printed in the order of the coordinates: see build/c/association.py
        self.pivots = tuple(pivots)
        self.inputs = tuple(inputs)
        self.outputs = tuple((argument, tuple(refs)) for argument, refs in outputs)
        for argument, refs in self.outputs:
            if len(refs) != argument.size:
                raise ValueError(f"output {argument.name} of shape {argument.shape} got {len(refs)} values")
        self.output_refs = (*(ref for _, refs in self.outputs for ref in refs), *self.pivots)
        self.order = tuple(graph.cone(self.output_refs))
        self.flipped: set[int] | frozenset[int] = frozenset()
        self.flipped = self._choose_polarity()

    def used_inputs(self) -> list[str]:
        """Return the labels of the input variables that the outputs depend on."""
        return [self.graph.label[node] for node in self.order if self.graph.op[node] is Op.INPUT]

    @cached_property
    def has_kinks(self) -> bool:
        """Whether its outputs have no derivative where it changes its choice between formulas; pivots do not count."""
        graph, order = self.graph, self.graph.cone(ref for _, refs in self.outputs for ref in refs)
        return any(
            (graph.op[node] in KINKS and not (graph.op[node] is Op.SELECT and graph.a[node] >> 1 in graph.smooth))
            or graph.op[node] is Op.FLOOR
            for node in order
        )

    @cached_property
    def uses(self) -> dict[int, int]:
        """Count how often each node is used, outputs included."""
        uses = count_uses(self.graph, self.order, self.output_refs)
        return {node: uses[node] for node in self.order}

    @cached_property
    def reach(self) -> dict[int, int]:
        """Return the highest index of an input that each node needs: how far outward the links are that it depends on."""
        graph, reach = self.graph, dict[int, int]()
        for node in self.order:
            if graph.op[node] is Op.INPUT:
                index = graph.label[node].partition("[")[2]
                reach[node] = int(index[:-1]) if index else 0
            else:
                reach[node] = max((reach[ref >> 1] for ref in graph.operands(node)), default=0)
        return reach

    def _choose_polarity(self) -> frozenset[int]:
        """Nodes to compute with the opposite sign, found by local search: flip while that saves negations."""
        graph = self.graph
        candidates = [node for node in reversed(self.order) if graph.op[node] > Op.INPUT]
        users: dict[int, list[int]] = {node: [] for node in self.order}
        for node in self.order:
            for ref in graph.operands(node):
                users[ref >> 1].append(node)
        outputs: dict[int, list[int]] = {}
        for ref in self.output_refs:
            outputs.setdefault(ref >> 1, []).append(ref & 1)
        self.flipped = flipped = set[int]()
        inside = {node: self._negations_inside(node) for node in self.order}
        for _ in range(6):
            changed = False
            for node in candidates:
                signs, readers = outputs.get(node, ()), users[node]
                flip = 1 if node in flipped else 0
                before = inside[node] + sum([sign ^ flip for sign in signs]) + sum([inside[user] for user in readers])
                if before:
                    flipped ^= {node}
                    touched = {user: self._negations_inside(user) for user in (node, *readers)}
                    after = touched[node] + sum([sign ^ flip ^ 1 for sign in signs]) + sum([touched[user] for user in readers])
                    if after < before:
                        changed = True
                        inside.update(touched)
                    else:
                        flipped ^= {node}
            if not changed:
                break
        return frozenset(flipped)

    def sign(self, ref: int) -> int:
        """Return 1 where the reference needs the negative of the node's value."""
        return (ref & 1) ^ (1 if ref >> 1 in self.flipped and self.graph.op[ref >> 1] is not Op.CONSTANT else 0)

    @cached_property
    def in_tables(self) -> InTables | None:
        """Return the same with loops over constant tables, for isomorphic modes."""
        from elastogen.generator.program.tables.in_tables import in_tables  # which makes programs

        return in_tables(self, self.modes) if self.modes else None

    @cached_property
    def count(self) -> OperationCount:
        """Return the exact operation counts of the program as it is printed."""
        return self.straight_count if self.in_tables is None else self.in_tables.count

    @cached_property
    def straight_count(self) -> OperationCount:
        """Return the exact operation counts without loops over tables."""
        graph = self.graph
        tally = dict.fromkeys(Op, 0)
        for node in self.order:
            tally[graph.op[node]] += 1
        neg = sum(1 for ref in self.output_refs if self.sign(ref) and graph.op[ref >> 1] is not Op.CONSTANT)
        for node in self.order:
            neg += self._negations_inside(node)
        others = [(known.name, tally[op]) for op, known in ELEMENTARY.items() if tally[op] and op not in COUNTED_ALONE]
        others += [(SELECTION, tally[Op.SELECT])] if tally[Op.SELECT] else []
        return OperationCount(
            mul=tally[Op.MUL], add=tally[Op.ADD], div=tally[Op.DIV], neg=neg,
            sincos=tally[Op.SIN] + tally[Op.COS], sqrt=tally[Op.SQRT], tanh=tally[Op.TANH],
            others=tuple(others),
        )  # fmt: skip

    def _negations_inside(self, node: int) -> int:
        """Count the unary minus signs that printing this node needs."""
        graph = self.graph
        op, flip = graph.op[node], 1 if node in self.flipped else 0
        if op is Op.ADD:  # prints as a + b, a - b or b - a; only -a - b needs a sign
            return 1 if (self.sign(graph.a[node]) ^ flip) and (self.sign(graph.b[node]) ^ flip) else 0
        if op is Op.MUL:  # a constant factor takes the sign
            signs = self.sign(graph.a[node]) ^ self.sign(graph.b[node]) ^ flip
            return 1 if signs and graph.op[graph.a[node] >> 1] is not Op.CONSTANT else 0
        if op is Op.DIV:
            return self.sign(graph.a[node]) ^ self.sign(graph.b[node]) ^ flip
        if op is Op.SELECT:  # the comparison with zero turns round for free
            return sum(self._is_negation(ref ^ flip) for ref in (graph.b[node], graph.c[node]) if ref)
        if op in ELEMENTARY:
            if ELEMENTARY[op].parity is Parity.ODD:
                return self.sign(graph.a[node]) ^ flip
            if ELEMENTARY[op].parity is Parity.EVEN:
                return flip
            return flip + sum(map(self._is_negation, graph.operands(node)))
        return 0

    def _is_negation(self, ref: int) -> int:
        """Return 1 where an argument is written with a minus that is an operation: not that of a negative number."""
        return self.sign(ref) if self.graph.op[ref >> 1] is not Op.CONSTANT else 0

    def evaluate(
        self, arguments: Mapping[str, Any], parameters: Mapping[str, float] | None = None, dtype: type = float
    ) -> dict[str, Any]:
        """Evaluate in plain Python and numpy; with ``np.float32`` every operation rounds as in single precision.

        Each argument has its shape, with any leading batch axes; each result likewise. Used by tests as the meaning
        of the program, and at generation time to find base parameters numerically.
        """
        graph = self.graph
        batch: tuple[int, ...] = ()
        environment: dict[str, Any] = {name: dtype(value) for name, value in (parameters or {}).items()}
        for argument in self.inputs:
            array: NDArray[Any] = np.asarray(arguments[argument.name], dtype=dtype)
            batch = array.shape[: array.ndim - len(argument.shape)]
            flat = array.reshape((*batch, argument.size))
            for index in range(argument.size):
                environment[argument.element(index)] = flat[..., index]
        arithmetic = replace(DOUBLES, constant=dtype)  # before numpy 2 a single times Python's float was a double
        read = interpret(graph, self.order, environment, arithmetic).read
        answers: dict[str, Any] = {}
        for argument, refs in self.outputs:
            columns = np.empty((*batch, len(refs)))
            for index, ref in enumerate(refs):
                columns[..., index] = read(ref)
            answers[argument.name] = columns.reshape((*batch, *argument.shape))
        return answers
