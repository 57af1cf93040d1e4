"""The order in which sums are computed: terms that are known early are added early, so that few values wait.

What a link itself adds to a force is known as soon as its motion is, what comes back from the tip much later. Summed at once,
six numbers of a link wait for the way back; term by term it would be all that they are made of. Processors with few registers
spill less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from elastogen.build.c.expression import Expressions
from elastogen.build.c.schedule import reads, schedule
from elastogen.build.c.split import crossing_counts
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.program import Program
from elastogen.generator.program.substitute import extract

LONGEST = 1000  # operations: longer ones are printed in parts, and most of their values are in memory
REGISTERS = 24  # for values that wait, of 32


def for_few_registers(derivation: ModelDerivation) -> ModelDerivation:
    """Reorder sums of a model in single precision, which mostly runs on a microcontroller, such that fewer values wait."""
    functions = [replace(function, program=with_few_waiting(function.program)) for function in derivation.functions]
    return replace(derivation, functions=tuple(functions))


def with_few_waiting(program: Program) -> Program:
    """Return the program, or the same with early terms first, whichever keeps fewer values waiting at no more operations."""
    if program.in_loops or program.count.total > LONGEST:
        return program
    again = early_terms_first(program)
    before, after = program.count, again.count
    if after.mul > before.mul or after.add > before.add or _waiting(again) >= _waiting(program):
        return program
    return again


def _waiting(program: Program) -> int:
    """Sum over all statements the values that wait beyond what the registers hold."""
    expressions = Expressions(program, "float", sincos_by_call=True)
    statements = schedule(program, expressions)
    defined = {node: index for index, statement in enumerate(statements) for node in statement.nodes}
    read = {node: index for index, s in enumerate(statements) for node in reads(s, expressions) if node in defined}
    last = {node: read.get(node, -1) for node in defined}
    return sum(max(0, crossing - REGISTERS) for crossing in crossing_counts(len(statements), defined, last))


def early_terms_first(program: Program) -> Program:
    """Return the same values with sums ordered from terms near the inputs to terms far from them."""
    graph, refs = extract(program.graph, program.output_refs)
    outputs = _summed_again(graph, refs)
    sizes = [len(refs) for _, refs in program.outputs]
    starts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    parts = [(argument, outputs[starts[k] : starts[k + 1]]) for k, (argument, _) in enumerate(program.outputs)]
    again = Program(graph, program.inputs, parts, outputs[starts[-1] :], modes=program.modes)
    again.outward, again.otherwise = True, program.otherwise
    return again


def _summed_again(graph: Graph, outputs: Sequence[int]) -> list[int]:
    order = graph.cone(outputs)
    uses = dict.fromkeys(order, 0)
    for ref in (*outputs, *(ref for node in order for ref in graph.operands(node))):
        uses[ref >> 1] += 1
    inner = {
        ref >> 1
        for node in order
        if graph.op[node] is Op.ADD
        for ref in graph.operands(node)
        if graph.op[ref >> 1] is Op.ADD and uses[ref >> 1] == 1 and not graph.label[ref >> 1]
    }  # sums that are only a term of one larger sum
    renamed: dict[int, int] = {}
    depth: dict[int, int] = {}
    for node in order:
        op = graph.op[node]
        if op in (Op.CONSTANT, Op.INPUT) or node in inner:
            renamed[node] = 2 * node
            continue
        with graph.section(graph.section_of[node]):
            if op is Op.ADD:
                terms = [_signed(renamed, ref) for ref in _terms(graph, node, inner)]
                terms.sort(key=lambda ref: _depth(graph, ref >> 1, depth))
                total = 0
                for ref in terms:
                    total = graph.add(total, ref)
                renamed[node] = total
            else:
                renamed[node] = graph.apply(op, [_signed(renamed, ref) for ref in graph.operands(node)])
        target = renamed[node] >> 1
        if graph.label[node] and not graph.label[target] and graph.op[target] > Op.INPUT:
            graph.label[target] = graph.label[node]
    return [_signed(renamed, ref) for ref in outputs]


def _terms(graph: Graph, root: int, inner: set[int]) -> list[int]:
    """Return the terms of a sum from left to right."""
    terms, waiting = [], [2 * root]
    while waiting:
        ref = waiting.pop()
        node, sign = ref >> 1, ref & 1
        if node == root or node in inner:
            waiting += [graph.b[node] ^ sign, graph.a[node] ^ sign]
        else:
            terms.append(ref)
    return terms


def _depth(graph: Graph, node: int, known: dict[int, int]) -> int:
    """Return the length of the longest chain of operations from an input to a node."""
    waiting = [node]
    while waiting:
        current = waiting[-1]
        missing = [ref >> 1 for ref in graph.operands(current) if ref >> 1 not in known]
        if missing:
            waiting += missing
        else:
            known[current] = 1 + max((known[ref >> 1] for ref in graph.operands(current)), default=-1)
            waiting.pop()
    return known[node]


def _signed(renamed: Mapping[int, int], ref: int) -> int:
    return renamed[ref >> 1] ^ (ref & 1) if renamed[ref >> 1] else 0
