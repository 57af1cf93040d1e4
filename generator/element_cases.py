"""Which element is inside a sliding joint, and what follows from it: the time-dependent boundary conditions of seed 003, 4.3.

A robot whose equations change from element to element is derived once for every combination of elements; the emitted
function chooses by its coordinates. The rules, with equal elements of length l_e:

    P_a                k = ceil(d / l_e) on the previous link, 1 for d = 0
    P_b, nodal         k = floor((l - d) / l_e) + 1 on the link itself
    P_a on a smooth P_b  k = ceil of the place among the elements of the part outside, 0 behind the joint
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy

from elastogen.generator.expressions import nominal
from elastogen.generator.location import Location
from elastogen.generator.robot import FlexibleBody, Joint, JointType, Robot


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

    @property
    def elements(self) -> tuple[int, ...]:
        """The elements in the order of the number of thresholds passed."""
        return tuple(self.first + self.step * count for count in range(len(self.thresholds) + 1))

    def case(self, q: Sequence[float]) -> int | None:
        """Position in ``elements`` for a state, or None where d is out of its range."""
        d = q[self.coordinate]
        if not (0 <= d <= self.upper) or (self.positive and d == 0):
            return None
        return sum(threshold.holds(q) for threshold in self.thresholds)


def selectors(robot: Robot) -> tuple[Selector, ...]:
    """The selectors of a robot's sliding and telescopic joints, in the order of the joints."""
    found = []
    for joint in robot.joints:
        if joint.type is JointType.SLIDING:
            found.append(_sliding(robot, joint))
        elif joint.type is JointType.TELESCOPIC:
            found.append(_telescopic(robot, joint))
    return tuple(found)


def cases(chosen: Sequence[Selector]) -> Iterator[dict[str, int]]:
    """All combinations of elements, by joint; the last selector's element changes fastest."""
    for combination in itertools.product(*(selector.elements for selector in chosen)):
        yield dict(zip((selector.joint for selector in chosen), combination, strict=True))


def case_number(chosen: Sequence[Selector], q: Sequence[float]) -> int | None:
    """Number of the combination that a state is in, in the order of :func:`cases`; None where it is out of range."""
    number = 0
    for selector in chosen:
        case = selector.case(q)
        if case is None:
            return None
        number = number * len(selector.elements) + case
    return number


def clamped_coordinates(robot: Robot, elements: Mapping[str, int]) -> frozenset[int]:
    """Indices in q of the nodal coordinates that vanish because their element is inside a joint (003, 4.3)."""
    clamped: set[int] = set()
    for joint in robot.joints:
        body = robot.link(joint.child).flexible
        if body is not None and body.telescope is not None and body.telescope.nodal:
            start = robot.coordinate_names.index(joint.name) + 1
            k = elements[joint.name]
            clamped |= {start + offset for offset in range(2 * k - 2, 2 * k + 2)}
    return frozenset(clamped)


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
    telescopic = moving_clamp(robot, joint.parent)
    if telescopic is None:
        inner = tuple(Threshold(((index, 1.0),), length * b) for b in line.breaks[1:-1])
        return Selector(joint.name, index, length, positive=False, thresholds=inner)
    # x = d lies beyond node i of the part outside where d > l - d_b (1 - i / n)
    outside = robot.coordinate_names.index(telescopic.name)
    n = len(line.breaks) - 1
    nodes = tuple(Threshold(((index, 1.0), (outside, 1.0 - i / n)), length) for i in range(n))
    return Selector(joint.name, index, length, positive=False, first=0, thresholds=nodes)


def _telescopic(robot: Robot, joint: Joint) -> Selector:
    body, index = robot.link(joint.child).flexible, robot.coordinate_names.index(joint.name)
    if body is None or body.telescope is None:
        raise ValueError(f"joint {joint.name}: {joint.child} is no beam of elements that slides through its joint")
    beam = body.telescope
    length = nominal(beam.length, robot.parameters)
    if not beam.nodal:
        return Selector(joint.name, index, length, positive=True)
    n = beam.elements
    inner = tuple(Threshold(((index, 1.0),), length * i / n) for i in range(1, n))
    return Selector(joint.name, index, length, positive=True, first=n, step=-1, thresholds=inner)
