"""Arguments s of matrix exponentials exp(A s) as functions of the coordinates, and their derivatives.

A joint's is its coordinate; that of a flexible link a coordinate, or the product of two where it is shortened. Where a joint
slides along a beam (P_a of paper 003) or a tip moves as its beam slides through a joint (P_b), they are place and slope of
the beam there, functions of the joint's and the beam's coordinates; those of a coupled joint follow its leaders.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from elastogen.generator.bodies.elastic_tip import monomial, monomial_slope
from elastogen.generator.mechanism.mechanism import Frame
from elastogen.generator.program.differentiate import directional
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.substitute import replacing, substitute


class Amplitude(ABC):
    """The argument of an exponential."""

    @abstractmethod
    def value(self, q: Sequence[Value]) -> Value:
        """Return s(q)."""

    @abstractmethod
    def slopes(self, q: Sequence[Value]) -> list[tuple[int, Value]]:
        """Return ds/dq_a for the coordinates a that it depends on; entries for the same coordinate add up."""

    @abstractmethod
    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> Value:
        """Return d2s/dt2 without accelerations of the coordinates."""

    def rate(self, q: Sequence[Value], qd: Sequence[Value]) -> Value:
        """Return ds/dt, or with accelerations in place of the velocities their share of d2s/dt2."""
        total = q[0].graph.value(0)
        for a, slope in self.slopes(q):
            total = total + slope * qd[a]
        return total


@dataclass(frozen=True)
class Product(Amplitude):
    """The product of one or two coordinates: q_a, or q_a q_b."""

    graph: Graph
    coordinates: tuple[int, ...]

    def value(self, q: Sequence[Value]) -> Value:
        """Return the product."""
        return monomial(self.graph, self.coordinates, q)

    def slopes(self, q: Sequence[Value]) -> list[tuple[int, Value]]:
        """Return the product without one of the coordinates."""
        return [(a, monomial_slope(self.graph, self.coordinates, a, q)) for a in dict.fromkeys(self.coordinates)]

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> Value:
        """Return 2 qd_a qd_b."""
        return 2 * monomial(self.graph, self.coordinates, qd) if len(self.coordinates) == 2 else self.graph.value(0)


@dataclass(frozen=True)
class MotionArgument(Amplitude):
    """One argument of a frame's motion: see FrameMotion.arguments."""

    frame: Frame
    number: int

    @cached_property
    def _variables(self) -> list[Value]:
        graph = self.frame.motion.graph
        return [graph.input(f"argument[{k}]") for k in range(len(self.frame.shares))]  # replaced wherever they are used

    @cached_property
    def _local(self) -> Value:
        return self.frame.motion.arguments(self._variables)[self.number]

    def _at(self, value: Value, q: Sequence[Value]) -> Value:
        return substitute(value.graph, [value], replacing(self._variables, self.frame.own(q)))[0]

    @property
    def vanishes(self) -> bool:
        """Whether it is always zero, so that the exponential is the identity."""
        return self._local.is_zero

    def value(self, q: Sequence[Value]) -> Value:
        """Return the value at the frame's coordinates."""
        return self._at(self._local, q)

    def slopes(self, q: Sequence[Value]) -> list[tuple[int, Value]]:
        """Return the slopes by every coordinate that stands in a slot of the frame."""
        found = []
        for x, shares in zip(self._variables, self.frame.shares, strict=True):
            (slope,) = directional(x.graph, [self._local], {x.ref >> 1: x.graph.one})
            slope = self._at(slope, q)
            found += [(k, share * slope) for k, share in shares if not slope.is_zero]
        return found

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> Value:
        """Return the second derivative along the rates."""
        graph = self._local.graph
        rates = {x.ref >> 1: rate.ref for x, rate in zip(self._variables, self.frame.own(qd), strict=True)}
        return self._at(directional(graph, directional(graph, [self._local], rates), rates)[0], q)
