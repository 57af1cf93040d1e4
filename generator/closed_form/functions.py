"""Closed forms of emitted functions: the values of a derivation, converted back to SymPy.

They exist for any function of the catalogue and any robot that is small enough. Named parameters stay symbols. Sines and
cosines of sums of joint angles are combined as in :mod:`elastogen.generator.closed_form.trigonometry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from elastogen.generator.closed_form.document import TooLongError, index_of_entry
from elastogen.generator.closed_form.exact_numbers import exact, rotation_entry
from elastogen.generator.closed_form.parallel_axes import sums_of_angles
from elastogen.generator.closed_form.symbols import with_exact_numbers
from elastogen.generator.closed_form.trigonometry import Polynomial, TrigonometricRing, Weights
from elastogen.generator.functions.derivation import CATALOGUE, entry_of, output_names
from elastogen.generator.functions.own.functions import ARRANGED, own_entries
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.arguments import MOTION
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.runtime.interface.argument import Argument

DOTS = dict(zip(MOTION, ("", "d", "dd", "3_", "4_", "5_", "6_"), strict=True))  # q2, qd2, qdd2, q3_2, q4_2, q5_2


@dataclass(frozen=True)
class _Angle:
    """The argument of a sine or cosine: coordinates, other terms, and a fixed angle."""

    weights: Weights
    rest: sympy.Expr
    fixed: sympy.Expr


_IN_RING = (Op.CONSTANT, Op.INPUT, Op.ADD, Op.MUL, Op.DIV, Op.SIN, Op.COS)
_FUNCTIONS: dict[Op, Callable[..., sympy.Expr]] = {
    Op.SIN: sympy.sin, Op.COS: sympy.cos, Op.SQRT: sympy.sqrt, Op.TANH: sympy.tanh, Op.EXP: sympy.exp, Op.LOG: sympy.log,
    Op.ASIN: sympy.asin, Op.ACOS: sympy.acos, Op.ATAN: sympy.atan, Op.SINH: sympy.sinh, Op.COSH: sympy.cosh,
    Op.ASINH: sympy.asinh, Op.ACOSH: sympy.acosh, Op.ATANH: sympy.atanh, Op.ABS: sympy.Abs, Op.ATAN2: sympy.atan2,
    Op.ERF: sympy.erf, Op.FLOOR: sympy.floor, Op.POW: sympy.Pow, Op.MIN: sympy.Min, Op.MAX: sympy.Max,
    Op.SELECT: lambda decides, x, y: sympy.Piecewise((x, decides < 0), (y, True)),
}  # fmt: skip
LARGEST_PRODUCT = 100_000  # of terms, when two polynomials are multiplied
MOST_PRODUCTS = 300_000  # of terms, in a whole derivation
LONGEST_POLYNOMIAL = 10_000  # terms: a hundred pages
MOST_TERMS = 40_000  # of all entries together
WAYS_ON = (
    "ask for the recursion (steps=True), for one entry, or with symbolic='none', where numbers add up; build_model has no "
    "such limit"
)
MOST_PLAIN = 20_000  # operations of an entry that is not a polynomial in sines and cosines


class ReadableValues:
    """Values of one graph as SymPy expressions.

    ``symbols`` are those of the inputs by label: ``name[k]`` for arguments, else parameters. ``sums`` are angles of parallel
    axes, which may shorten an expression.
    """

    def __init__(
        self,
        graph: Graph,
        values: Sequence[Value],
        symbols: Mapping[str, sympy.Symbol],
        coordinates: Sequence[sympy.Symbol],
        sums: Sequence[Weights] = (),
    ) -> None:
        self.graph, self.symbols, self.coordinates = graph, symbols, tuple(coordinates)
        self._plain: dict[int, sympy.Expr] = {}
        order = graph.cone(value.ref for value in values)
        self._is_polynomial = all(graph.op[node] in _IN_RING for node in order)
        if not self._is_polynomial:  # exp, sqrt, selections, ... of own terms and functions: as they are
            sizes: dict[int, int] = {}  # of the expressions, shared parts written out
            for node in order:
                sizes[node] = 1 + sum(sizes[ref >> 1] for ref in graph.operands(node))
            largest = max(sizes[value.ref >> 1] for value in values)
            if largest > MOST_PLAIN:
                raise TooLongError(
                    f"no closed form to read: an entry has {largest} operations with other functions than sines and cosines, "
                    f"more than {MOST_PLAIN}. Fix: ask for a smaller function, or for the recursion (steps=True)"
                )
            return
        labels = [graph.label[node] for node in order if graph.op[node] is Op.INPUT]
        self._angles = {node: self._angle(node) for node in order if graph.op[node] in (Op.SIN, Op.COS)}
        arguments = [symbols[label] for label in labels if label.endswith("]")]
        arguments = [symbol for symbol in arguments if symbol not in self.coordinates]
        constants = [symbols[label] for label in labels if not label.endswith("]")]
        numbers = {graph.number[node] for node in order if graph.op[node] is Op.CONSTANT}
        constants += [rotation_entry(number) for number in sorted(numbers)]
        for angle in self._angles.values():
            constants += [f(angle.fixed) for f in (sympy.sin, sympy.cos) if angle.fixed != 0]
            constants += [f(angle.rest) for f in (sympy.sin, sympy.cos) if angle.rest != 0]
        constants += [1 / self._expression(graph.b[node]) for node in order if graph.op[node] is Op.DIV]
        rotating = [angle.weights for angle in self._angles.values() if any(angle.weights)]
        self.ring = TrigonometricRing(
            self.coordinates,
            arguments,
            dict.fromkeys([*rotating, *sums]),
            range(len(self.coordinates)),
            [exact(constant) for constant in constants],
        )
        self._polynomials: dict[int, Polynomial] = {}
        self._products, self._count = 0, len(order)
        for node in order:
            self._polynomials[node] = self._polynomial(node)
            if len(self._polynomials[node]) > LONGEST_POLYNOMIAL:
                raise self._too_long(f"an expression has {len(self._polynomials[node])} terms")
        total = sum(len(self._read(value.ref)) for value in values)
        if total > MOST_TERMS:
            raise self._too_long(f"its {len(values)} entries have {total} terms")

    def __call__(self, value: Value) -> sympy.Expr:
        """The value as a readable expression."""
        if not self._is_polynomial:
            return self._expression(value.ref)
        return self.ring.readable(self._read(value.ref))

    @property
    def fractions(self) -> bool:
        """Whether numbers are written as fractions rather than as decimals."""
        return self._is_polynomial and self.ring.fractions

    @fractions.setter
    def fractions(self, wanted: bool) -> None:
        if self._is_polynomial:
            self.ring.fractions = wanted

    def matrix(self, values: Sequence[Value], rows: int, columns: int) -> sympy.ImmutableMatrix:
        """Row-major values as a matrix."""
        return sympy.ImmutableMatrix(rows, columns, [self(value) for value in values])

    def _read(self, ref: int) -> Polynomial:
        return -self._polynomials[ref >> 1] if ref & 1 else self._polynomials[ref >> 1]

    def _polynomial(self, node: int) -> Polynomial:
        graph, ring = self.graph, self.ring
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op is Op.CONSTANT:
            return ring(exact(rotation_entry(graph.number[node])))
        if op is Op.INPUT:
            return ring(self.symbols[graph.label[node]])
        if op is Op.ADD:
            return self._read(a) + self._read(b)
        if op is Op.MUL:
            first, second = self._read(a), self._read(b)
            self._check_product(len(first) * len(second))
            return ring.normal(first * second)
        if op is Op.DIV:
            return ring.normal(self._read(a) * ring(exact(1 / self._expression(b))))
        if op in (Op.SIN, Op.COS):
            return self._rotated(self._angles[node], op)
        raise OutputError(f"no closed form: {op.name.lower()} occurs. Fix: leave out Coulomb friction")

    def _check_product(self, size: int) -> None:
        """Refuse a product with too many terms, alone or with all before, before it is multiplied out."""
        self._products += size
        if size > LARGEST_PRODUCT:
            raise self._too_long(f"the next product has {size} terms")
        if self._products > MOST_PRODUCTS:
            raise self._too_long(f"products have {self._products} terms")

    def _too_long(self, what: str) -> TooLongError:
        done = f"after {len(self._polynomials)} of {self._count} steps"
        return TooLongError(f"no closed form to read: {done} {what}. Fix: {WAYS_ON}")

    def _rotated(self, angle: _Angle, op: Op) -> Polynomial:
        """sin or cos of coordinates + rest + fixed angle, by the addition theorem."""
        ring = self.ring
        s, c = ring.zero, ring.one
        parts: list[tuple[Any, Any]] = []
        if any(angle.weights):
            parts.append((ring.sine(angle.weights), ring.cosine(angle.weights)))
        for part in (angle.rest, angle.fixed):
            if part != 0:
                parts.append((ring(exact(sympy.sin(part))), ring(exact(sympy.cos(part)))))
        for sine, cosine in parts:
            s, c = ring.normal(s * cosine + c * sine), ring.normal(c * cosine - s * sine)
        return s if op is Op.SIN else c

    def _angle(self, node: int) -> _Angle:
        expression = sympy.expand(self._expression(self.graph.a[node]))
        fixed, moving = expression.as_independent(*expression.free_symbols, as_Add=True)
        turns = moving.as_coefficients_dict()
        weights = [turns.get(q, sympy.S.Zero) for q in self.coordinates]
        whole = sympy.Add(*(w * q for w, q in zip(weights, self.coordinates, strict=True)))
        if all(w.is_Integer for w in weights) and moving == whole:
            return _Angle(tuple(int(w) for w in weights), sympy.S.Zero, _nice_angle(fixed))
        return _Angle((0,) * len(self.coordinates), moving, _nice_angle(fixed))

    def _expression(self, ref: int) -> sympy.Expr:
        """A value as plain SymPy, for short ones: arguments of sines, and divisors."""
        graph, node = self.graph, ref >> 1
        if node not in self._plain:
            op = graph.op[node]
            if op is Op.CONSTANT:
                self._plain[node] = exact(graph.number[node])
            elif op is Op.INPUT:
                self._plain[node] = self.symbols[graph.label[node]]
            elif op is Op.ADD:
                self._plain[node] = self._expression(graph.a[node]) + self._expression(graph.b[node])
            elif op is Op.MUL:
                self._plain[node] = self._expression(graph.a[node]) * self._expression(graph.b[node])
            elif op is Op.DIV:
                self._plain[node] = self._expression(graph.a[node]) / self._expression(graph.b[node])
            else:
                self._plain[node] = _FUNCTIONS[op](*(self._expression(ref) for ref in graph.operands(node)))
        return -self._plain[node] if ref & 1 else self._plain[node]


def _nice_angle(angle: sympy.Expr) -> sympy.Expr:
    """A fixed angle, as a fraction of pi if possible."""
    parts = sympy.Rational(round(float(angle) / float(sympy.pi) * 12), 12)
    return parts * sympy.pi if abs(float(angle - parts * sympy.pi)) < 1e-15 * max(1.0, abs(float(angle))) else angle


def input_symbols(robot: Robot, letter: str) -> dict[str, sympy.Symbol]:
    """Symbols of the inputs of all functions, by their labels in the graph: q[1] is q2, qd[1] is qd2, q3[1] is q3_2."""
    n, points = len(robot.coordinates), len(robot.points)
    found = {f"q[{k}]": sympy.Symbol(f"{letter}{k + 1}", real=True) for k in range(n)}
    for name, dots in DOTS.items():
        if name != "q":
            found.update({f"{name}[{k}]": sympy.Symbol(f"{letter}{dots}{k + 1}", real=True) for k in range(n)})
    for name in ("F", "b", "v", "wrench", "wrenches", "q0", "q1", "u"):
        size, mark = max(n, 6 * points, 6), "_" if name[-1].isdigit() else ""
        found.update({f"{name}[{k}]": sympy.Symbol(f"{name}{mark}{k + 1}", real=True) for k in range(size)})
    for name in ("delta_m", "delta_theta", "tau"):
        found[f"{name}[0]"] = sympy.Symbol(name, real=True)
    for function in robot.functions:
        for name, shape in function.inputs.items():
            numbers = range(int(sympy.prod(shape)))
            found.update({f"{name}[{k}]": sympy.Symbol(f"{name}{k + 1}" if shape else name, real=True) for k in numbers})
    found.update({parameter.name: parameter.symbol for parameter in robot.parameters.values()})
    return found


def with_live_parameters(robot: Robot) -> Robot:
    """The robot with all named parameters as inputs, so that they stay symbols, and with joints in their readable form."""
    joints = tuple(replace(joint, type=joint.type.for_reading) for joint in robot.joints)
    return replace(robot, joints=joints, parameters={name: replace(p, live=True) for name, p in robot.parameters.items()})


def readable(
    robot: Robot,
    graph: Graph,
    values: Sequence[Value],
    letter: str,
    exact_numbers: Mapping[str, sympy.Expr] = MappingProxyType({}),
) -> ReadableValues:
    """Readable values of a graph that was derived from ``with_live_parameters(robot)``."""
    symbols = {**input_symbols(robot, letter), **exact_numbers}
    coordinates = [symbols[f"q[{k}]"] for k in range(len(robot.coordinates))]
    by_screws = all(joint.by_screws for joint in robot.joints)
    return ReadableValues(graph, values, symbols, coordinates, sums_of_angles(robot) if by_screws else ())


def closed_form(
    robot: Robot, name: str, letter: str, elements: Mapping[str, int], *, fractions: bool = False
) -> dict[str, Any]:
    """The outputs of a function of the catalogue by name: expressions, matrices, or nested tuples of matrices."""
    graph, outputs, numbers = _derived(robot, name, elements)
    read = readable(robot, graph, [value for _, values in outputs for value in values], letter, numbers)
    read.fractions = fractions
    return {argument.name: _shaped(read, values, argument.shape) for argument, values in outputs}


def closed_entry(
    robot: Robot, name: str, letter: str, elements: Mapping[str, int], entry: tuple[int, ...], *, fractions: bool = False
) -> tuple[str, sympy.Expr]:
    """One entry (counted from 1) of the only output of a function, without the others, and its index."""
    graph, outputs, numbers = _derived(robot, name, elements)
    (argument, values), *others = outputs
    if others:
        raise OutputError(f"{name} has several outputs: {', '.join(a.name for a, _ in outputs)}. Fix: leave out the entry.")
    index = index_of_entry(name, argument.shape, entry)
    value = values[int(np.ravel_multi_index(tuple(k - 1 for k in entry), argument.shape))]
    read = readable(robot, graph, [value], letter, numbers)
    read.fractions = fractions
    return index, read(value)


def one_function(robot: Robot, name: str) -> str:
    """The name of one function of the robot; sets of functions are refused."""
    if not isinstance(name, str):
        raise OutputError(f"got {name!r}, expected the name of a function, for example 'mass_matrix'.")
    names = output_names(name, robot)
    if len(names) > 1 and name not in names:
        raise OutputError(
            f"{name!r} is a set of {len(names)} functions, expected one. Fix: name one, for example {names[0]!r}."
        )
    return name if name in names else names[0]


def _derived(
    robot: Robot, name: str, elements: Mapping[str, int]
) -> tuple[Graph, list[tuple[Argument, list[Value]]], dict[str, sympy.Expr]]:
    """The outputs of a function in a graph whose inputs include all parameters and numbers such as 1/3 and sqrt(2)."""
    name = one_function(robot, name)
    check_elements(robot, elements)
    written, numbers = with_exact_numbers(robot)
    family = VariantFamily(with_live_parameters(written), elements)
    entry = entry_of(name, CATALOGUE | own_entries(family, CATALOGUE))
    variant = family.frame_assignments(entry.frame_assignment)[0] if entry.frame_assignment in ARRANGED else family.plain()
    derived = entry.first_formulation(variant)(variant)
    if derived.pivots:
        raise OutputError(
            f"{name} has no closed form to read: it solves linear equations. Fix: ask for what they consist of, "
            "mass_matrix and inverse_dynamics"
        )
    outputs = [(a, list(values)) for a, values in zip(entry.outputs(variant), derived.outputs, strict=True)]
    return variant.graph, outputs, numbers


def check_elements(robot: Robot, elements: Mapping[str, int]) -> None:
    """Refuse elements that cannot be inside a joint, and joints without an element."""
    if not isinstance(elements, Mapping):
        raise OutputError(
            f"{robot.name}: got elements={elements!r}, expected a mapping of sliding joints to elements, {{'d': 1}}."
        )
    known = {selector.joint: sorted(selector.elements) for selector in selectors(robot)}
    for joint, k in elements.items():
        if k not in known.get(joint, ()):
            choice = f"one of {known[joint]}" if joint in known else f"a sliding joint, one of {list(known)}"
            if not known:
                choice = (
                    "none, since the robot has no joint that slides along a beam of several elements. Fix: leave elements out"
                )
            raise OutputError(f"{robot.name}: got elements={{{joint!r}: {k!r}}}, expected {choice}.")
    for joint, numbers in known.items():
        if len(numbers) > 1 and joint not in elements:
            raise OutputError(
                f"{robot.name}: its equations depend on the element inside {joint}. Fix: say which, for example "
                f"elements={{{joint!r}: {numbers[0]}}}, one of {numbers}."
            )


def _shaped(read: ReadableValues, values: list[Value], shape: tuple[int, ...]) -> Any:
    if not shape:
        return read(values[0])
    if len(shape) <= 2:
        return read.matrix(values, shape[0], shape[1] if len(shape) == 2 else 1)
    size = len(values) // shape[0]
    return tuple(_shaped(read, values[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0]))
