"""Operation counts are exact, stay at their best values, and grow as they should."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, random_chain, random_robot

from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import Program
from elastogen.generator.robot.robot import Body, Robot

# (mul, add, sin and cos): the best published counts, and what is reached now. A derivation that needs more than
# REACHED is a step back. One that needs less is a step forward: write the new numbers here.
PUBLISHED = {"inverse_dynamics": (203, 150, 10), "mass_matrix": (138, 85, 8)}
REACHED = {"inverse_dynamics": (181, 147, 10), "mass_matrix": (88, 69, 8)}


@cache
def puma560() -> Programs:
    """The PUMA 560 with constant gravity and no payload: all parameters are constants."""
    robot = quietly_loaded("puma560")
    constant = {name: replace(parameter, live=False) for name, parameter in robot.parameters.items()}
    robot = replace(robot, parameters=constant, gravity=(0, 0, -9.81), payload=Body())
    assert not robot.live_parameters
    return Programs(robot, list(PUBLISHED))


def counts(function: str) -> tuple[int, int, int]:
    count = puma560().program[function].count
    assert (count.div, count.sqrt, count.tanh) == (0, 0, 0)
    return count.mul, count.add, count.sincos


@pytest.mark.parametrize("function", REACHED)
def test_puma560_counts_are_those_reached_before(function: str) -> None:
    found = counts(function)
    assert found == REACHED[function], f"if this is an improvement, set REACHED[{function!r}] = {found}"


@pytest.mark.parametrize("function", PUBLISHED)
def test_puma560_needs_no_more_operations_than_published(function: str) -> None:
    for mine, best in zip(counts(function), PUBLISHED[function], strict=True):
        assert mine <= best


def test_inverse_dynamics_grows_linearly() -> None:
    """Per further joint of a chain without special geometry the same number of operations; to 100: python -m benchmarks."""
    sizes = (10, 25, 40, 55)
    totals = [Programs(random_chain(n), ["inverse_dynamics"]).program["inverse_dynamics"].count.total for n in sizes]
    steps = np.diff(totals)
    assert steps.max() <= 1.02 * steps.min()
    assert totals[-1] <= 1.02 * 55 / 40 * totals[2]


# ---- counts are exact


def printed(program: Program) -> dict[str, int]:
    """Count by writing the program down, statement by statement, and counting the marks in the text; ~ is a sign.

    Starts from the outputs and follows operands, so that it shares no code with the program's own order and counts.
    """
    graph, lines = program.graph, []
    seen: set[int] = set()

    def operand(ref: int) -> tuple[str, bool]:
        """A name, and whether its negative is needed."""
        node, negative = ref >> 1, bool(ref & 1)
        if graph.op[node] is Op.CONSTANT:
            return "K", negative
        if node not in seen:
            seen.add(node)
            write(node)
        return f"t{node}", negative ^ (node in program.flipped)

    def write(node: int) -> None:
        op, flip = graph.op[node], node in program.flipped
        if op is Op.INPUT:
            return
        a, minus_a = operand(graph.a[node])
        _, minus_b = operand(graph.b[node]) if graph.b[node] >= 0 else ("", False)
        if op is Op.ADD:
            signs = {(0, 0): "a + b", (0, 1): "a - b", (1, 0): "b - a", (1, 1): "~a - b"}
            lines.append(signs[minus_a ^ flip, minus_b ^ flip])
        elif op in (Op.MUL, Op.DIV):
            free = op is Op.MUL and a == "K"  # the literal takes the sign
            sign = minus_a ^ minus_b ^ flip and not free
            lines.append(("~" if sign else "") + ("a * b" if op is Op.MUL else "a / b"))
        elif op is Op.SQRT:
            lines.append(f"{'~' if flip else ''}SQRT({'~' if minus_a else ''}a)")
        else:
            sign = flip if op is Op.COS else flip ^ minus_a
            lines.append(f"{'~' if sign else ''}{op.name}(a)")

    for ref in program.output_refs:
        name, negative = operand(ref)
        lines.append("~t" if negative and name != "K" else "t")
    code = "\n".join(lines)
    marks = {"mul": "*", "div": "/", "neg": "~", "sqrt": "SQRT(", "tanh": "TANH("}
    twice = {"add": (" + ", " - "), "sincos": ("SIN(", "COS(")}
    return {key: code.count(mark) for key, mark in marks.items()} | {
        key: code.count(one) + code.count(other) for key, (one, other) in twice.items()
    }


@pytest.mark.parametrize("seed", [503, 505, 508, 511])
def test_counts_are_those_of_the_printed_program(seed: int) -> None:
    names = ["inverse_dynamics", "forward_dynamics", "coriolis_matrix", "jacobian_rate", "kinetic_energy"]
    programs = Programs(random_robot(seed, 3, drives=True), names)
    for name in names:
        program = programs.program[name]
        count = printed(program)
        assert count | {"others": ()} == asdict(program.count), name
        assert program.count.total == sum(count.values())
        if name == "inverse_dynamics":
            assert min(count["mul"], count["add"], count["sincos"], count["tanh"]) > 0


def test_a_robot_without_zeros_needs_more() -> None:
    """The counts react to geometry: the PUMA's zeros and right angles are worth more than half of the operations."""

    def total(robot: Robot) -> int:
        return Programs(robot, ["inverse_dynamics"]).program["inverse_dynamics"].count.total

    assert total(random_chain(6)) > 2 * puma560().program["inverse_dynamics"].count.total
