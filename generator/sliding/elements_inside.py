"""Which element is inside a sliding joint, and what follows from it: the time-dependent boundary conditions of paper 003, 4.3.

The equations of a robot change from element to element, but not in their form: every element has an indicator, 1 where it
is inside the joint and 0 elsewhere, and the indicators are inputs of the equations. The rules, with equal elements of
length l_e:

    P_a                k = ceil(d / l_e) on the previous link, 1 for d = 0
    P_b, nodal         k = floor((l - d) / l_e) + 1 on the link itself
    P_a on a smooth P_b  k = ceil of the place among the elements of the part outside, 0 behind the joint
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from elastogen.generator.beams.piecewise import exact
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import FlexibleBody, Joint, JointType, Robot


@dataclass(frozen=True)
class Threshold:
    """The condition sum of weight * q[index] > bound."""

    terms: tuple[tuple[int, float], ...]  # index in q, weight
    bound: float

    def holds(self, q: Sequence[float]) -> bool:
        """Whether the state is beyond it."""
        return sum(weight * q[index] for index, weight in self.terms) > self.bound


@dataclass(frozen=True)
class Selector:
    """Element inside a joint: ``first`` + ``step`` times the number of thresholds that the state is beyond."""

    joint: str
    coordinate: int  # index in q of the joint's displacement d
    upper: float  # d is between 0 and this [m]; nothing is computed beyond
    positive: bool  # whether d = 0 is outside
    first: int = 1
    step: int = 1
    thresholds: tuple[Threshold, ...] = ()
    passage: str = "keep"
    """What goes on at a border between elements: "keep" positions and velocities, as the printed P_a; "refract": energy and the
    momenta along the border, where curvature and mass matrix jump; "clamp": the new element's coordinates vanish."""
    nodes: int = 0  # clamp: index in q of the first nodal coordinate

    @property
    def elements(self) -> tuple[int, ...]:
        """The elements in the order of the number of thresholds passed."""
        return tuple(self.first + self.step * count for count in range(len(self.thresholds) + 1))

    def element(self, q: Sequence[float]) -> int | None:
        """The element inside the joint at a state, or None where d is out of its range."""
        d = q[self.coordinate]
        if not (0 <= d <= self.upper) or (self.positive and d == 0):
            return None
        return self.first + self.step * sum(threshold.holds(q) for threshold in self.thresholds)


def selectors(robot: Robot) -> tuple[Selector, ...]:
    """The selectors of a robot's sliding and telescopic joints, in the order of the joints."""
    found = []
    for joint in robot.joints:
        if joint.type is JointType.SLIDING:
            found.append(_sliding(robot, joint))
        elif joint.type is JointType.TELESCOPIC:
            found.append(_telescopic(robot, joint))
    return tuple(found)


INDICATORS = "inside"
"""Name of the array of all indicators."""


def indicated(chosen: Sequence[Selector]) -> tuple[tuple[str, int], ...]:
    """Joint and element of every indicator, in the order of the array; a joint with one element only has none."""
    return tuple((s.joint, k) for s in chosen if len(s.elements) > 1 for k in sorted(s.elements))


def indicators_at(chosen: Sequence[Selector], q: Sequence[float]) -> list[float] | None:
    """The indicators at a state; None where a joint is out of its range."""
    inside = {selector.joint: selector.element(q) for selector in chosen}
    if None in inside.values():
        return None
    return [float(inside[joint] == k) for joint, k in indicated(chosen)]


class Indicators:
    """The indicators of a robot as values of a graph: inputs, or numbers for the joints whose element is given."""

    def __init__(self, graph: Graph, robot: Robot, elements: Mapping[str, int]) -> None:
        self._of: dict[str, dict[int, Value]] = {}
        self.symbols: dict[sympy.Symbol, Value] = {}
        for position, (joint, k) in enumerate(indicated(selectors(robot))):
            label = f"{INDICATORS}[{position}]"
            value = graph.value(elements[joint] == k) if joint in elements else graph.input(label)
            self._of.setdefault(joint, {})[k] = value
            self.symbols[indicator_symbol(joint, k)] = value
        for selector in selectors(robot):
            self._of.setdefault(selector.joint, {selector.first: graph.value(1)})

    def of(self, joint: str) -> dict[int, Value]:
        """Indicator of every element that can be inside a joint."""
        return self._of[joint]

    def clamped(self, robot: Robot) -> dict[int, Value]:
        """By index in q: 1 where a nodal coordinate vanishes because its element is inside a joint (003, 4.3), else 0."""
        found: dict[int, Value] = {}
        for joint in robot.joints:
            body = robot.link(joint.child).flexible
            if body is not None and body.telescope is not None and body.telescope.nodal:
                start = robot.coordinate_names.index(joint.name) + 1
                for k, inside in self.of(joint.name).items():
                    for place in range(start + 2 * k - 2, start + 2 * k + 2):
                        found[place] = found[place] + inside if place in found else inside
        return found


def indicator_symbol(joint: str, k: int) -> sympy.Symbol:
    """The indicator of an element in the scalars of a robot; see Lowering."""
    return sympy.Symbol(f"{INDICATORS}({joint}, {k})", real=True)


def check_sliding(robot: Robot, where: Location) -> None:
    """Refuse sliding and telescopic joints without a beam, and beams whose length is not fixed."""
    live = {parameter.symbol for parameter in robot.live_parameters}
    for joint in robot.joints:
        here = where.at("joints", joint.name)
        body = robot.link(joint.child).flexible
        telescopic = body is not None and body.telescope is not None
        if joint.type is JointType.SLIDING:
            body = robot.link(joint.parent).flexible
            if body is None or body.centreline is None:
                raise here.at("parent").error(
                    joint.parent, "a flexible beam that bends in y only", "slide along a rigid link by a prismatic joint"
                )
        if telescopic != (joint.type is JointType.TELESCOPIC):
            raise here.at("type").error(
                joint.type.value, "a telescopic joint with a link of elements on it", "load both from one description"
            )
        if joint.type not in (JointType.SLIDING, JointType.TELESCOPIC):
            continue
        if joint.slide not in ("smooth", "nodal"):
            raise here.at("slide").error(joint.slide, "smooth or nodal", "choose one")
        line = body.centreline if body is not None else None
        if line is not None and isinstance(line.length, sympy.Expr) and line.length.free_symbols & live:
            raise here.error(str(line.length), "a beam whose length is not live", "remove it from `live`")


def carrier(robot: Robot, joint: Joint) -> FlexibleBody:
    """The beam that a sliding joint slides along."""
    body = robot.link(joint.parent).flexible
    if body is None or body.centreline is None:
        raise ValueError(f"joint {joint.name}: {joint.parent} is no beam in the plane x, y that a joint can slide along")
    return body


def moving_clamp(robot: Robot, link: str) -> Joint | None:
    """The smooth telescopic joint that carries a link, if that is how it is carried."""
    body = robot.link(link).flexible
    if body is None or body.telescope is None or body.telescope.nodal:
        return None
    return next(joint for joint in robot.joints if joint.child == link)


def _sliding(robot: Robot, joint: Joint) -> Selector:
    body, index = carrier(robot, joint), robot.coordinate_names.index(joint.name)
    line = body.centreline
    assert line is not None
    length = nominal(line.length, robot.parameters)
    passage = "refract" if joint.slide == "smooth" else "keep"
    telescopic = moving_clamp(robot, joint.parent)
    if telescopic is None:
        inner = tuple(Threshold(((index, 1.0),), _place(length, b)) for b in line.breaks[1:-1])
        return Selector(joint.name, index, length, positive=False, thresholds=inner, passage=passage)
    # x = d lies beyond node i of the part outside where d > l - d_b (1 - i / n)
    outside = robot.coordinate_names.index(telescopic.name)
    n = len(line.breaks) - 1
    nodes = tuple(Threshold(((index, 1.0), (outside, 1.0 - i / n)), length) for i in range(n))
    return Selector(joint.name, index, length, positive=False, first=0, thresholds=nodes, passage=passage)


def _place(length: float, part: float) -> float:
    """A part of a length, both meant as the decimals or fractions that they look like, rounded once."""
    fraction = Fraction(part).limit_denominator(1000)
    return float(exact(length) * (fraction if float(fraction) == part else Fraction(part)))


def _telescopic(robot: Robot, joint: Joint) -> Selector:
    body, index = robot.link(joint.child).flexible, robot.coordinate_names.index(joint.name)
    if body is None or body.telescope is None:
        raise ValueError(f"joint {joint.name}: {joint.child} is no beam of elements that slides through its joint")
    beam = body.telescope
    length = nominal(beam.length, robot.parameters)
    if not beam.nodal:
        return Selector(joint.name, index, length, positive=True)
    n = beam.elements
    inner = tuple(Threshold(((index, 1.0),), _place(length, i / n)) for i in range(1, n))
    return Selector(
        joint.name, index, length, positive=True, first=n, step=-1, thresholds=inner, passage="clamp", nodes=index + 1
    )
