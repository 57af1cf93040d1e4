"""A user's own functions: expressions in the robot's symbols, inputs of their own, and calls of the catalogue."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.program.symbolic.expression_size import excess
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.own.plain_symbols import by_symbols
from elastogen.generator.robot.own.states import states_of
from elastogen.generator.robot.own.terms import TIME, Symbols, symbol
from elastogen.generator.robot.reserved import is_word

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

LONGEST_NAME = 40
LONGEST_DOC = 1000
LARGEST = 1000  # elements of an input or output
STATE = ("q", "qd", "qdd")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TAKEN = frozenset({
    *STATE, "p", "k", "w", "i", "status", "sincos", "sincos_odd", "real_t", "params_t", "params_nominal", "newton_euler",
    "polynomial",
})  # fmt: skip
_SYMBOLS = frozenset({"simulate", "simulate_input", "two_t", "four_t", "two_place_t", "four_place_t"})
"""Behind the robot's name, in the C beside the functions."""


@dataclass(frozen=True)
class Block:
    """An array of expressions, row-major; ``shape`` () is a single number."""

    shape: tuple[int, ...]
    elements: tuple[sympy.Expr, ...]


@dataclass(frozen=True)
class OwnFunction:
    """A user-defined function; with ``by`` it is the derivative of another one, ``of``, by these inputs."""

    name: str
    inputs: Mapping[str, tuple[int, ...]]  # shapes of the inputs beside q, qd, qdd
    outputs: Mapping[str, Block]
    doc: str = ""
    of: str = ""
    by: tuple[str, ...] = field(default=())
    initial: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata={"later": True})
    """States: inputs that the loop keeps and begins with these numbers; ``<state>_next`` or ``<state>_rate`` moves them on."""

    @property
    def state(self) -> tuple[str, ...]:
        """The inputs q, qd, qdd whose symbols occur."""
        used = {s.name.partition("[")[0] for block in self.outputs.values() for e in block.elements for s in e.free_symbols}
        return tuple(name for name in STATE if name in used)

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        """Every symbol that occurs."""
        return {s for block in self.outputs.values() for e in block.elements for s in e.free_symbols}


def input_symbols(name: str, shape: int | Sequence[int] | None) -> sympy.Expr | sympy.ImmutableMatrix:
    """Symbols of an input: a column, a matrix, or with None one number."""
    _check_name(name, Location("symbols", "input"))
    if shape is None or shape == ():
        return symbol(f"{name}[0]")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, (tuple, list)) or len(sizes) > 2 or not all(type(n) is int and n > 0 for n in sizes):
        raise (
            Location("symbols", "input").at(name).error(shape, "None, a size or (rows, columns)", "for example s.input('r', 6)")
        )
    rows, columns = (*sizes, 1)[:2]
    return sympy.ImmutableMatrix(rows, columns, lambda r, c: symbol(f"{name}[{r * columns + c}]"))


def with_function(
    robot: Robot,
    name: str,
    inputs: Mapping[str, Any] | None,
    outputs: Mapping[str, Any],
    doc: str = "",
    states: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
) -> Robot:
    """See :meth:`Robot.with_function`."""
    from elastogen.generator.robot.names import check_text

    where = Location(robot.source or "python", "functions").at(str(name))
    _check_function_name(robot, name, where)
    if not isinstance(inputs, (Mapping, type(None))):
        raise where.at("inputs").error(inputs, "a mapping from names to sizes", "for example {'q_ref': 6}")
    if not isinstance(doc, str):
        raise where.at("doc").error(doc, "a text", "put it in quotes")
    check_text(" ".join(doc.split()), where.at("doc"), LONGEST_DOC)
    shapes = {key: _shape(key, given, where.at("inputs", str(key))) for key, given in (inputs or {}).items()}
    if not isinstance(outputs, Mapping) or not outputs:
        raise where.at("outputs").error(outputs, "a mapping from names to expressions", "for example {'F': ...}")
    blocks = {key: _block(key, given, robot, where.at("outputs", str(key))) for key, given in outputs.items()}
    both = set(shapes) & set(blocks)
    if both:
        raise where.error(sorted(both)[0], "names that inputs and outputs do not share", "rename one of them")
    kept = states_of(states, initial, shapes, blocks, where)
    shapes |= {key: shape for key, (shape, _) in kept.items()}
    both = set(shapes) & set(blocks)
    if both:
        raise where.error(sorted(both)[0], "names that states and outputs do not share", "rename one of them")
    begin = {key: numbers for key, (_, numbers) in kept.items()}
    made = OwnFunction(name, shapes, blocks, " ".join(doc.split()), initial=begin)
    if symbol(TIME) in made.free_symbols:
        from elastogen.generator.robot.own.with_terms import with_time

        robot = with_time(robot, where)
    _check_symbols(robot, made, where)
    robot = replace(robot, functions=(*robot.functions, made))
    _check_code(robot, made, where)
    return robot


def derivatives_of(robot: Robot, name: str, by: str | Iterable[str]) -> Robot:
    """See :meth:`Robot.derivatives_of`."""
    where = Location(robot.source or "python", "functions").at(str(name))
    known = {function.name: function for function in robot.functions if not function.by}
    if not isinstance(name, str) or name not in known:
        raise where.error(name, "a function of the robot's own", did_you_mean(str(name), known, "add it by with_function"))
    of, wanted = known[name], tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    possible = (*of.state, *of.inputs)
    for key in wanted:
        if key not in possible:
            raise where.at("by").error(key, f"inputs of {name}: {', '.join(possible)}", did_you_mean(str(key), possible))
    if not wanted:
        raise where.at("by").error("nothing", f"inputs of {name}", f"for example by={possible[0]!r}")
    made = replace(of, name=f"{name}_derivatives", of=name, by=wanted, initial={})
    _check_function_name(robot, made.name, where)
    return replace(robot, functions=(*robot.functions, made))


def _check_function_name(robot: Robot, name: Any, where: Location) -> None:
    _check_name(name, where)
    if Symbols(robot).f.is_taken(name):
        raise where.error(name, "a name that no function of the catalogue has", f"choose another one, for example my_{name}")
    if name in _SYMBOLS or name.startswith("sim_"):
        raise where.error(name, "a name that C and the generated code do not use", f"for example my_{name}")
    if any(function.name == name for function in robot.functions):
        raise where.error(name, "a name that no other function of the robot has", "choose another one")


def _check_name(name: Any, where: Location) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or "__" in name or len(name) > LONGEST_NAME:
        expected = f"a C identifier of at most {LONGEST_NAME} letters, digits and single _"
        raise where.error(name, expected, "choose another name")
    if is_word(name) or name in _TAKEN:
        raise where.error(name, "a name that C and the generated code do not use", f"for example my_{name}")


def _shape(name: Any, given: Any, where: Location) -> tuple[int, ...]:
    """The shape of an input: None for a number, n for a column, (rows, columns)."""
    _check_name(name, where)
    shape = () if given is None else (given,) if isinstance(given, int) else given
    sound = isinstance(shape, tuple) and len(shape) <= 2 and all(type(n) is int and n > 0 for n in shape)
    if not sound or int(sympy.prod(shape)) > LARGEST:
        raise where.error(given, f"None, a size or (rows, columns), at most {LARGEST} elements", "for example {'q_ref': 6}")
    return tuple(shape)


def _block(name: Any, given: Any, robot: Robot, where: Location) -> Block:
    _check_name(name, where)
    if isinstance(given, sympy.MatrixExpr) and not isinstance(given, sympy.MatrixBase):
        raise where.error(
            f"a {type(given).__name__} of {given.shape}", "a matrix of expressions", "write it out: .as_explicit()"
        )
    elements = list(given) if isinstance(given, sympy.MatrixBase) else [given]
    if not 0 < len(elements) <= LARGEST:
        raise where.error(len(elements), f"1 to {LARGEST} elements", "split it into several outputs")
    shape = () if len(elements) == 1 and elements[0] is given else (len(elements),) if given.cols == 1 else given.shape
    found = []
    for element in elements:
        if isinstance(element, (str, bool)) or not isinstance(element, (numbers.Real, sympy.Expr)):
            raise where.error(element, "a SymPy expression or matrix", "write it with the symbols of elastogen.symbols(robot)")
        if isinstance(element, sympy.Basic) and (too_much := excess(element)):
            raise where.error("a large expression", "an expression that can become C", too_much)
        found.append(by_symbols(sympy.sympify(element), robot, where))
    return Block(tuple(shape), tuple(found))


def _check_symbols(robot: Robot, made: OwnFunction, where: Location) -> None:
    meanings = Symbols(robot).meanings
    declared = {f"{name}[{k}]" for name, shape in made.inputs.items() for k in range(int(sympy.prod(shape)))}
    for used in sorted(made.free_symbols, key=str):
        if used.name in robot.parameters or used.name in declared:
            continue
        if used in meanings and meanings[used].kind in STATE:
            continue
        if used in meanings:
            raise where.error(used.name, "q, qd, qdd, inputs and parameters", "use s.f.forward_kinematics(...) for frames")
        if isinstance(used, sympy.MatrixSymbol):
            size = used.shape[0] if used.shape[1] == 1 else tuple(used.shape)
            fix = f"use s.input({used.name!r}, {size}), a {'column' if used.shape[1] == 1 else 'matrix'} of symbols"
            raise where.error(f"the MatrixSymbol {used.name}", "symbols of numbers", fix)
        if used.name in made.inputs:  # a symbol of that name is none of the input's elements
            given = made.inputs[used.name]
            size = given[0] if len(given) == 1 else tuple(given) or None
            expected = f"{used.name}[0] and so on, the elements of the declared input"
            raise where.error(f"the symbol {used.name}", expected, f"use s.input({used.name!r}, {size})")
        fix = did_you_mean(used.name, [*made.inputs, *robot.parameters], "declare it by inputs={...}")
        raise where.error(used.name, "symbols of the robot and of the declared inputs", fix)


def _check_code(robot: Robot, made: OwnFunction, where: Location) -> None:
    """Refuse expressions without C, by lowering them once with calls as unknowns."""
    from elastogen.generator.program.from_sympy import ExpressionLowering, LoweringError
    from elastogen.generator.program.graph import Graph, Value

    graph = Graph()
    known = set(Symbols(robot).f.call_names)

    def call(node: AppliedUndef, arguments: Sequence[Value]) -> Value:
        if node.func.__name__ not in known:
            raise LoweringError(f"{node.func.__name__} is not a function of the catalogue; call them by s.f")
        return graph.input(f"call {len(graph)}")

    lower = ExpressionLowering(graph, {s: graph.input(s.name) for s in made.free_symbols}, call)
    for key, block in made.outputs.items():
        for element in block.elements:
            try:
                lower(element)
            except LoweringError as problem:
                raise where.at("outputs", key).error(element, "an expression that can become C", str(problem)) from None
