"""The recursion of a function, equation by equation, as SymPy derives it, with names where a person would give them.

Components of vectors that an algorithm names keep their names (angular velocity, force, ...). An intermediate that is needed
repeatedly or is too long has an auxiliary name; all others are inserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy

from elastogen.generator.closed_form.functions import check_elements, input_symbols, one_function, with_live_parameters
from elastogen.generator.closed_form.notation import Notation, Sign
from elastogen.generator.functions.catalogue import Entry
from elastogen.generator.functions.derivation import CATALOGUE, entry_of
from elastogen.generator.functions.own.functions import ARRANGED, own_entries
from elastogen.generator.functions.variants import SYMPY, VariantFamily
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.names import UNNAMED
from elastogen.generator.program.optimize import count_uses
from elastogen.generator.program.symbolic.carrier import SympyGraph
from elastogen.generator.program.symbolic.equations import equations
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import QUANTITIES
from elastogen.runtime.interface.argument import Argument

LETTERS = {"w": "omega", "e": "epsilon", "a": "a", "f": "f", "n": "n"}  # of named vectors, as the papers write them
AUXILIARY = "t"
LONGEST = 12  # operations of an intermediate that is needed twice, or is inserted, without a name
MOST_EQUATIONS = 3_000  # beyond, nobody reads them: about 60 pages


@dataclass(frozen=True)
class Step:
    """``symbol = expression``, with the meaning of the symbol, or the vector of a component."""

    symbol: sympy.Symbol
    sign: Sign
    expression: sympy.Expr
    meaning: str


@dataclass(frozen=True)
class Stage:
    """Steps that belong together, with a title."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Recursion:
    """The equations of one function, in the order in which they can be computed; ``results`` are its outputs."""

    robot: Robot
    name: str
    brief: str
    stages: tuple[Stage, ...]
    results: tuple[tuple[Argument, tuple[sympy.Symbol, ...]], ...]
    inputs: tuple[tuple[str, sympy.Symbol], ...]  # those that occur: label q[0], symbol q1
    shapes: Mapping[str, tuple[int, ...]]  # of the arguments whose entries they are
    coordinates: tuple[sympy.Symbol, ...]
    frames: tuple[str, ...]  # those that are numbered
    notation: Notation

    @property
    def used(self) -> set[sympy.Basic]:
        """All symbols of the right-hand sides."""
        return {symbol for stage in self.stages for step in stage.steps for symbol in step.expression.free_symbols}

    @property
    def count(self) -> int:
        """The number of equations."""
        return sum(len(stage.steps) for stage in self.stages)

    def written(self, format: str = "text", digits: int = 6) -> str:
        """As "text", "latex", "markdown", "typst" or "python"; ``digits`` are those of decimal numbers (not in Python)."""
        from elastogen.generator.closed_form.steps.write import FORMATS

        if format not in FORMATS:
            raise OutputError(f"steps: got format {format!r}, expected one of {', '.join(FORMATS)}.")
        return FORMATS[format](self, digits)

    def substituted(self) -> dict[str, list[sympy.Expr]]:
        """The outputs with all intermediates inserted, in inputs and parameters only."""
        known: dict[sympy.Symbol, sympy.Expr] = {}
        for stage in self.stages:
            for step in stage.steps:
                known[step.symbol] = step.expression.xreplace(known)
        return {argument.name: [known[symbol] for symbol in symbols] for argument, symbols in self.results}


def recursion(
    robot: Robot, name: str, letter: str, elements: Mapping[str, int] = MappingProxyType({}), *, derivation: str = SYMPY
) -> Recursion:
    """The recursion of a function, the robot's own ones included, in the description's frames, parameters as symbols."""
    name = one_function(robot, name)
    check_elements(robot, elements)
    family = VariantFamily(with_live_parameters(robot), elements, derivation=derivation)
    return recursion_of(robot, family, entry_of(name, CATALOGUE | own_entries(family, CATALOGUE)), letter, MOST_EQUATIONS)


def recursion_of(robot: Robot, family: VariantFamily, entry: Entry, letter: str, limit: int | None = None) -> Recursion:
    """The recursion of an entry's first formulation, in a family that was made ``with_live_parameters``."""
    name = entry.name
    variant = family.frame_assignments(entry.frame_assignment)[0] if entry.frame_assignment in ARRANGED else family.plain()
    graph, derived = variant.graph, entry.first_formulation(variant)(variant)
    outputs = list(zip(entry.outputs(variant), derived.outputs, strict=True))
    refs = [value.ref for _, values in outputs for value in values]
    inputs = input_symbols(robot, letter)
    occurring = {graph.label[node] for node in graph.cone(refs) if graph.op[node] is Op.INPUT}
    for label in sorted(occurring - set(inputs)):  # of functions that nobody writes by hand
        start, _, index = label.partition("[")
        inputs[label] = sympy.Symbol(f"{start}_{int(index[:-1]) + 1}" if index else label, real=True)
    frames = tuple(frame.label for frame in variant.mechanism.frames)
    names = _Names(graph, frames, refs, {inputs[label].name for label in occurring})
    written = equations(graph, refs, names.has, names.symbol, names.is_negative)
    if limit is not None and len(written.equations) > limit:
        raise OutputError(
            f"{robot.name}: the recursion of {name} has {len(written.equations)} equations, more than {limit}. "
            "Fix: ask for a smaller function or fewer links; build_model has no such limit"
        )
    known = {sympy.Symbol(label): symbol for label, symbol in inputs.items()}
    stages = _Stages()
    for equation in written.equations:
        expression = _plain(equation.expression.xreplace(known))
        step = Step(equation.symbol, names.sign(equation.symbol), expression, names.meaning(equation.node))
        stages.take(graph.section_of[equation.node], step)
    results, last = _results(outputs, [_plain(result.xreplace(known)) for result in written.results], names)
    titled = [Stage(_title(title), tuple(steps)) for title, steps in stages.found]
    titled.append(Stage("Results", last))
    coordinates = tuple(inputs[f"q[{k}]"] for k in range(len(robot.coordinates)))
    rates = [tuple(inputs[f"{d}[{k}]"] for k in range(len(robot.velocities))) for d in ("qd", "qdd")]
    notation = Notation(coordinates, rates[0], rates[1], {step.symbol: step.sign for stage in titled for step in stage.steps})
    starts = {label.partition("[")[0] for label in occurring}
    shapes = {argument.name: argument.shape for argument in entry.input_arguments(variant, starts)}
    shown = tuple((label, symbol) for label, symbol in inputs.items() if label in occurring and label.endswith("]"))
    return Recursion(robot, name, entry.brief, tuple(titled), results, shown, shapes, coordinates, frames, notation)


def _plain(expression: sympy.Expr) -> sympy.Expr:
    """As a person writes it: whole numbers without decimals, and sums that do not begin with a minus."""
    floats = {number: float(number) for number in expression.atoms(sympy.Float)}
    whole = {number: sympy.Integer(int(value)) for number, value in floats.items() if value.is_integer()}
    return _with_signs_outside(expression.xreplace(whole) if whole else expression)


def _with_signs_outside(expression: sympy.Expr) -> sympy.Expr:
    """x (-a - b) as -x (a + b)."""
    if not expression.args or not expression.has(sympy.Add):
        return expression
    parts = [_with_signs_outside(part) if isinstance(part, sympy.Expr) else part for part in expression.args]
    if expression.is_Mul:
        minus = [part.is_Add and all(term.could_extract_minus_sign() for term in part.args) for part in parts]
        parts = [-part if flip else part for part, flip in zip(parts, minus, strict=True)]
        parts += [sympy.S.NegativeOne] if sum(minus) % 2 else []
    return expression.func(*parts)


class _Names:
    """Which nodes have names, and which."""

    def __init__(self, graph: Graph, frames: Sequence[str], refs: Sequence[int], taken: set[str]) -> None:
        self.graph, self.taken, self._frames = graph, set(taken), frames
        order = graph.cone(refs)
        uses = count_uses(graph, order, refs)
        self._sizes: dict[int, int] = {}
        self._wanted: set[int] = set()
        for node in order:
            if graph.op[node] <= Op.INPUT:
                self._sizes[node] = 0
                continue
            size = 1 + sum(self._sizes[ref >> 1] for ref in graph.operands(node))
            label = graph.label[node]
            long = uses[node] > 1 and size > 2 and graph.op[node] is not Op.SIN and graph.op[node] is not Op.COS
            if (label and not label.startswith(UNNAMED)) or long or size > LONGEST or graph.op[node] in (Op.DIV, Op.SELECT):
                self._wanted.add(node)
                size = 0
            self._sizes[node] = size
        self._symbols: dict[int, sympy.Symbol] = {}
        self._signs: dict[sympy.Symbol, Sign] = {}
        self._count = 0

    def has(self, node: int) -> bool:
        """Whether a node has an equation of its own."""
        return node in self._wanted

    def symbol(self, node: int) -> sympy.Symbol:
        """The name of a node."""
        if node not in self._symbols:
            label = self.graph.label[node]
            if label and not label.startswith(UNNAMED):
                name, sign = self._free(label), _sign(label)
            else:
                self._count += 1
                name, sign = self._free(f"{AUXILIARY}{self._count}"), Sign(AUXILIARY, str(self._count))
            self._symbols[node] = sympy.Symbol(name)
            self._signs[self._symbols[node]] = sign
        return self._symbols[node]

    def result(self, argument: Argument, index: int) -> sympy.Symbol:
        """The name of an output."""
        text = ",".join(str(k) for k in _position(index, argument.shape))
        plain = text.replace(",", "_")
        symbol = sympy.Symbol(self._free(f"{argument.name}{plain}" if argument.shape else argument.name))
        self._signs[symbol] = Sign(argument.name, text, word=len(argument.name) > 1)
        return symbol

    def sign(self, symbol: sympy.Symbol) -> Sign:
        """The printed sign of a node."""
        return self._signs[symbol]

    def meaning(self, node: int) -> str:
        """The named vector of which a node is a component: quantity and frame."""
        label = self.graph.label[node]
        if not label or label.startswith(UNNAMED) or label[0] not in QUANTITIES:
            return ""
        quantity, comma, less = QUANTITIES[label[0]].partition(",")
        return f"{quantity} of {self._frames[int(label[1:-1]) - 1]}{comma}{less}"

    def is_negative(self, node: int) -> bool:
        """Whether the name stands for the negative of the node."""
        return isinstance(self.graph, SympyGraph) and node in self.graph.negative

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _sign(label: str) -> Sign:
    letter = LETTERS.get(label[0], label[0])
    return Sign(letter, label[1:])


def _position(index: int, shape: tuple[int, ...]) -> list[int]:
    """The indices of an entry, from 1."""
    found: list[int] = []
    for length in reversed(shape):
        index, k = divmod(index, length)
        found.insert(0, k + 1)
    return found


def _results(
    outputs: Sequence[tuple[Argument, Sequence[Any]]], values: Sequence[sympy.Expr], names: _Names
) -> tuple[tuple[tuple[Argument, tuple[sympy.Symbol, ...]], ...], tuple[Step, ...]]:
    """The symbols of all outputs, and the equations that define them."""
    results, steps, rest = [], [], list(values)
    for argument, entries in outputs:
        symbols = [names.result(argument, k) for k in range(len(entries))]
        for symbol in symbols:
            steps.append(Step(symbol, names.sign(symbol), rest.pop(0), ""))
        results.append((argument, tuple(symbols)))
    return tuple(results), tuple(steps)


class _Stages:
    """Steps by the sections of the derivation, in an order in which they can be computed."""

    def __init__(self) -> None:
        self.found: list[tuple[str, list[Step]]] = []
        self._stage_of: dict[sympy.Basic, int] = {}
        self._last: dict[str, int] = {}

    def take(self, section: str, step: Step) -> None:
        """Add a step to the last stage of its section, or to a new one if it needs later steps."""
        needed = max((self._stage_of.get(symbol, 0) for symbol in step.expression.free_symbols), default=0)
        place = self._last.get(section, -1)
        if place < needed:
            place = self._last[section] = len(self.found)
            self.found.append((section, []))
        self.found[place][1].append(step)
        self._stage_of[step.symbol] = place


def _title(section: str) -> str:
    text = section or "sums of these"
    return text[:1].upper() + text[1:]
