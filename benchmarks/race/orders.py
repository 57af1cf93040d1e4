"""Other orders of a program's operations: what the order of the emitted statements is worth."""

from __future__ import annotations

import copy
from dataclasses import replace

from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program


def few_live_values(derivation: ModelDerivation) -> ModelDerivation:
    """The same functions, ordered for few values that wait to be read rather than by link and pass."""
    functions = []
    for function in derivation.functions:
        program = copy.copy(function.program)
        program.order = tuple(_ordered(function.program))
        functions.append(replace(function, program=program))
    return replace(derivation, functions=tuple(functions))


def without_branches(derivation: ModelDerivation) -> ModelDerivation:
    """The same functions without the marks of isomorphic branches."""
    functions = []
    for function in derivation.functions:
        program = copy.copy(function.program)
        program.branches = ()
        functions.append(replace(function, program=program))
    return replace(derivation, functions=tuple(functions))


def _ordered(program: Program) -> list[int]:
    """List scheduling: next comes what frees most values, of those what reads the youngest value."""
    graph = program.graph
    leaves = [node for node in program.order if graph.op[node] in (Op.CONSTANT, Op.INPUT)]
    rest = [node for node in program.order if graph.op[node] not in (Op.CONSTANT, Op.INPUT)]
    inside = set(rest)
    operands = {node: {ref >> 1 for ref in (graph.a[node], graph.b[node]) if ref >> 1 in inside} for node in rest}
    users: dict[int, list[int]] = {node: [] for node in rest}
    for node in rest:
        for operand in operands[node]:
            users[operand].append(node)
    unread = {node: len(users[node]) for node in rest}
    missing = {node: len(operands[node]) for node in rest}
    ready = {node for node in rest if not missing[node]}
    age = dict.fromkeys(rest, 0)
    order = list(leaves)

    def merit(node: int) -> tuple[int, int, int]:
        freed = sum(unread[operand] == 1 for operand in operands[node]) - bool(unread[node])
        return freed, max((age[operand] for operand in operands[node]), default=0), -node

    while ready:
        node = max(ready, key=merit)
        ready.remove(node)
        order.append(node)
        age[node] = len(order)
        for operand in operands[node]:
            unread[operand] -= 1
        for user in users[node]:
            missing[user] -= 1
            if not missing[user]:
                ready.add(user)
    return order
