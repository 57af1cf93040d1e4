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

import sympy

from elastogen.generator.joints.on_beams.selector import Selector
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.robot import Robot


def selectors(robot: Robot) -> tuple[Selector, ...]:
    """The selectors of a robot's sliding and telescopic joints, in the order of the joints."""
    found = (joint.type.selector(robot, joint) for joint in robot.joints)
    return tuple(selector for selector in found if selector is not None)


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
