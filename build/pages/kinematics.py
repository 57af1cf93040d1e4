"""Where the nodes of a drawing are, as JavaScript: the derived program of ``point_positions``, for sliders in a page."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.build.pages.skeleton import Skeleton
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import Program
from elastogen.generator.sliding.elements_inside import selectors

NAMES = {"fabs": "abs", "fmin": "min", "fmax": "max"}  # of C that JavaScript calls otherwise
UNKNOWN = {Op.ERF}  # to Math of JavaScript


def kinematics(drawing: Skeleton) -> str:
    """An expression of JavaScript: a function of q that returns 3 numbers for each node [m].

    "" where there is none: joints that slide along beams choose elements, and loops close by iteration.
    """
    robot = drawing.robot
    if robot.loops or selectors(robot):
        return ""
    program = next(
        function.program
        for function in derive_model(robot, outputs=["point_positions"]).functions
        if function.name == "point_positions"
    )
    if any(program.graph.op[node] in UNKNOWN for node in program.order):
        return ""
    known = {name: parameter.value for name, parameter in robot.parameters.items()}
    return printed(program, known)


def printed(program: Program, known: dict[str, float]) -> str:
    """A program with the input q as JavaScript; ``known`` are the values of the parameters."""
    graph, lines = program.graph, []
    for node in program.order:
        lines.append(f"const v{node} = {_operation(graph, node, known)};")
    values = ", ".join(_read(ref) for ref in program.output_refs)
    return f"(q) => {{ {' '.join(lines)} return Float64Array.of({values}); }}"


def _operation(graph: Graph, node: int, known: dict[str, float]) -> str:
    op, operands = graph.op[node], [_read(ref) for ref in graph.operands(node)]
    if op is Op.CONSTANT:
        return repr(float(graph.number[node]))
    if op is Op.INPUT:
        label = graph.label[node]
        return label if label.startswith("q[") else repr(float(known[label]))
    if op is Op.SELECT:
        return f"{operands[0]} < 0 ? {operands[1]} : {operands[2]}"
    signs = {Op.ADD: "+", Op.MUL: "*", Op.DIV: "/"}
    return f" {signs[op]} ".join(operands) if op in signs else _call(ELEMENTARY[op].name, operands)


def _call(name: str, operands: Sequence[str]) -> str:
    return f"Math.{NAMES.get(name, name)}({', '.join(operands)})"


def _read(ref: int) -> str:
    return f"(-v{ref >> 1})" if ref & 1 else f"v{ref >> 1}"
