"""Flexible bodies in the articulated-body recursion: elastic coordinates are eliminated before the joint of their body.

A body accelerated at rest by A (angular, then linear, of its frame) and by its elastic coordinates x needs the wrench
I A + sum_j G_j x_j, and the forces G_j . A + sum_k H_jk x_k on the coordinates. I, G and H are integrals over the body, and
what its interfaces carry, each of which moves as the frame does and by sum_j S_j x_j: G_j has I_t S_j more, H_jk has
S_j . I_t S_k. One after the other each coordinate is eliminated, x_k = (b_k - G_k . A - sum_i H_ki x_i) / H_kk by those that
have not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.bodies.elastic_body import DeformedBody
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.articulated_inertia import ArticulatedInertia
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, scale


@dataclass(frozen=True)
class _GivenWay:
    """The eliminated coordinate k: x_k = own - weighted . A - sum_i inner_i x_i."""

    k: int
    own: Value
    weighted: Vec
    inner: list[tuple[int, Value]]


class Deformation:
    """The equations of a flexible body's coordinates, to which the loads of its interfaces are added."""

    def __init__(self, body: DeformedBody, coordinates: Sequence[int], right: Sequence[Value]) -> None:
        self.inertia, self.coordinates = body.inertia, coordinates
        self._H = body.mass_block()
        self._G: list[Vec] = [[*moment, *force] for force, moment in body.unit_wrenches()]
        self._left = [right[k] for k in coordinates]
        self._twists: dict[int, list[Vec]] = {}  # by the frames of its interfaces
        self._given: list[_GivenWay] = []

    def carry(
        self, frame: int, twists: Sequence[Vec], p: Vec, inertia: ArticulatedInertia, wrench: Vec, block: Mat | None
    ) -> None:
        """Add the load of an interface at p: its twists S_j, inertia I_t and wrench about it; S_j . I_t S_k if known better."""
        self._twists[frame] = list(twists)
        for j, S in enumerate(twists):
            U = inertia.times(S[:3], S[3:])
            self._G[j] = add(self._G[j], [*add(U[:3], cross(p, U[3:])), *U[3:]])
            self._H[j] = add(self._H[j], [dot(other, U) for other in twists] if block is None else block[j])
            self._left[j] = self._left[j] - dot(S, wrench)

    def give_way(self, inertia: ArticulatedInertia, wrench: Vec) -> tuple[ArticulatedInertia, Vec, list[Value]]:
        """Eliminate the coordinates; return inertia and wrench of the body's frame, and the pivots."""
        H, G, left = self._H, self._G, self._left
        zero = self.inertia.m.graph.value(0)
        pivots, waiting = [zero] * len(left), self._order()
        while waiting:
            k = waiting.pop(0)
            pivots[k] = H[k][k]
            reciprocal = zero if pivots[k].is_zero else 1 / pivots[k]  # a pivot that is always zero: always a failure
            weighted = scale(G[k], reciprocal)
            inner = [(i, H[k][i] * reciprocal) for i in waiting if not H[k][i].is_zero]
            self._given.append(_GivenWay(k, left[k] * reciprocal, weighted, inner))
            for position, (i, factor) in enumerate(inner):
                left[i] = left[i] - factor * left[k]
                G[i] = [a - factor * b for a, b in zip(G[i], G[k], strict=True)]
                for j, _ in inner[position:]:
                    H[i][j] = H[j][i] = H[i][j] - factor * H[k][j]
            wrench = [value + share * left[k] for value, share in zip(wrench, weighted, strict=True)]
            inertia = inertia.without(G[k], weighted, None)
        return inertia, wrench, pivots

    def _order(self) -> list[int]:
        """Return the order of elimination: from the last to the first, but rows of numbers first from the root."""
        numbers = [k for k, row in enumerate(self._H) if all(entry.constant is not None for entry in row)]
        if len(numbers) == len(self._H):
            numbers = []  # whatever the order, there is nothing to compute
        return [*numbers, *(k for k in reversed(range(len(self._H))) if k not in numbers)]

    def accelerations(self, A: Vec) -> list[Value]:
        """Return the accelerations of the coordinates for the acceleration A of the body's frame."""
        found: dict[int, Value] = {}
        for given in reversed(self._given):
            x = given.own - dot(given.weighted, A)
            for i, share in given.inner:
                x = x - share * found[i]
            found[given.k] = x
        return [found[k] for k in range(len(found))]

    def at_interface(self, frame: int, A: Vec, x: Sequence[Value]) -> Vec:
        """Return the acceleration of the tip, or another interface, from that of its place in the body's frame."""
        for S, value in zip(self._twists[frame], x, strict=True):
            A = [a + s * value for a, s in zip(A, S, strict=True)]
        return A
