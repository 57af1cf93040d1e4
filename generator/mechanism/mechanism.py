"""The mechanism behind a robot: moving frames with their joint along z, and the inertia each frame carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.joints.frame_motion import FrameMotion
from elastogen.generator.program.differentiate import pulled_back, time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.sliding.window import Window
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import AxisRotation, Rotation, Vec

if TYPE_CHECKING:
    from elastogen.generator.mechanism.loops import LoopChains


@dataclass(frozen=True)
class Frame:
    """A frame: ``rotation`` and ``position`` lead from the parent frame to the joint, ``motion`` from there to the frame.

    ``coordinates`` are the indices of the motion's velocities and, as q is in the order of :attr:`Mechanism.order`, of the
    coordinates beside them; those beyond are at ``extras``. ``window`` has those that depend on the element inside
    the joint; ``elastic`` is the flexible body that is clamped in this frame, if any, beside the rigid ``inertia``.
    """

    label: str
    parent: int  # index of the parent frame, -1 for the base
    rotation: Rotation
    position: Vec  # in the parent frame [m]
    motion: FrameMotion
    coordinates: tuple[int, ...]
    inertia: Inertia
    elastic: ElasticBody | None = None
    window: Window | None = None
    extras: tuple[int, ...] = ()  # indices in q of coordinates beyond the velocities: of a quaternion, w

    def at(self, q: Sequence[Value]) -> list[Value]:
        """The coordinates of this frame's motion."""
        return [*self.own(q), *(q[k] for k in self.extras)]

    @property
    def touched(self) -> tuple[int, ...]:
        """Indices of all coordinates that can move this frame against its parent."""
        return self.coordinates if self.window is None else (*self.coordinates, *self.window.touched)

    def own(self, values: Sequence[Value]) -> list[Value]:
        """The elements of a vector over all velocities that belong to this frame's motion."""
        direct = [values[k] for k in self.coordinates]
        return direct if self.window is None else [*direct, *self.window.gather(values)]

    @property
    def shares(self) -> list[list[tuple[int, Value]]]:
        """For each of the motion's coordinates, the coordinates of the robot that it stands for, and how much (1 or 0)."""
        one = self.inertia.m.graph.value(1)
        direct = [[(k, one)] for k in self.coordinates]
        return direct if self.window is None else [*direct, *map(self.window.shares, range(self.window.size))]

    def scatter(self, values: Sequence[Value]) -> list[tuple[int, Value]]:
        """What belongs to the motion's coordinates, for the robot's: pairs of a coordinate and what to add there."""
        return [(k, share * value) for shares, value in zip(self.shares, values, strict=True) for k, share in shares]

    def pair_shares(self, r: int, c: int) -> list[tuple[int, int, Value]]:
        """The same for two of the motion's coordinates: entries of a matrix over all coordinates."""
        count = len(self.coordinates)
        if self.window is not None and r >= count and c >= count:
            return self.window.pair_shares(r - count, c - count)
        shares = self.shares
        return [(i, j, a * b) for i, a in shares[r] for j, b in shares[c]]


@dataclass(frozen=True)
class LinkFrame:
    """A frame of the user: pose (rotation, position) in the frame ``frame`` (-1: in the base)."""

    name: str
    frame: int
    rotation: Rotation
    position: Vec


@dataclass(frozen=True)
class SeparateWindow:
    """A window whose slots have coordinates of their own, which the robot's coordinates determine."""

    coordinates: tuple[int, ...]
    window: Window


@dataclass(frozen=True)
class Mechanism:
    """Frames, every parent before its children, and what the user calls frames."""

    graph: Graph
    frames: tuple[Frame, ...]
    link_frames: tuple[LinkFrame, ...]  # every link but the base, then the tip
    gravity: Vec  # [m/s^2] in the base frame
    size: int  # number of velocities
    order: tuple[int, ...]  # where the robot's q has what the algorithms' q has: beside each velocity, then the extras
    separate: tuple[SeparateWindow, ...] = ()  # slots that are coordinates of their own; see build_mechanism
    loops: tuple[LoopChains, ...] = ()  # those between frames

    @property
    def moves_by_screws(self) -> bool:
        """Whether every frame moves by one joint coordinate."""
        return all(frame.motion.screw for frame in self.frames)

    @property
    def has_linear_tips(self) -> bool:
        """Whether some tip is E + {delta x}: then frames are sheared, and only affine.py applies."""
        return any(not frame.motion.orthogonal for frame in self.frames)

    def in_robot_order(self, q: Sequence[Value]) -> list[Value]:
        """Positions in the order of the robot's coordinates."""
        return [value for _, value in sorted(zip(self.order, q, strict=True), key=lambda pair: pair[0])]

    def forces_of(self, q: Sequence[Value], gradient: Sequence[Value]) -> list[Value]:
        """A derivative by q as forces: by the map from velocities to dq/dt, where there are fewer of them."""
        if len(q) == self.size:
            return list(gradient)
        unit = [self.graph.input(f"velocity[{k}]") for k in range(self.size)]  # the map is linear: none of them is left
        return pulled_back(self.graph, self.rates(q, unit), gradient, unit)

    def rates(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """dq/dt: the velocities, and what quasi-velocities make of them."""
        result = [*qd, *([self.graph.value(0)] * (len(q) - len(qd)))]
        for frame in self.frames:
            if frame.extras:
                own = frame.motion.rates(frame.at(q), frame.own(qd))
                for k, value in zip((*frame.coordinates, *frame.extras), own, strict=True):
                    result[k] = value
        return result

    def along(self, values: Sequence[Value], q: Sequence[Value], velocity: int) -> list[Value]:
        """Derivatives of values along a unit velocity: by the coordinate of that index where it has one as its rate."""
        unit = [self.graph.value(1 if k == velocity else 0) for k in range(self.size)]
        return time_derivative(self.graph, values, [(q, self.rates(q, unit))])

    def in_time(self, motion: Sequence[Sequence[Value]]) -> list[tuple[Sequence[Value], Sequence[Value]]]:
        """Pairs of variables and their rates along a motion q, qd, qdd, ...: dq/dt is qd but for quasi-velocities."""
        return [(motion[0], self.rates(motion[0], motion[1])), *pairwise(motion[1:])]

    def is_parallel_to_parent(self, index: int) -> bool:
        """Whether a frame and its parent rotate about axes of the same direction."""
        frame = self.frames[index]
        if frame.parent < 0:
            return False
        both_rotate = frame.motion.parallel_rotation and self.frames[frame.parent].motion.parallel_rotation
        steps = frame.rotation.steps  # of a tilt below 1e-8 the cosine is 1 too, and the sine is not 0
        return both_rotate and all(
            isinstance(turn, AxisRotation) and turn.c.constant == 1.0 and turn.s.is_zero for turn in steps
        )

    @property
    def has_parallel_axes(self) -> bool:
        """Whether some frame and its parent do."""
        return any(self.is_parallel_to_parent(index) for index in range(len(self.frames)))

    def ancestors(self, index: int) -> list[int]:
        """The frame itself and the frames between it and the base, from the frame inwards."""
        chain = []
        while index >= 0:
            chain.append(index)
            index = self.frames[index].parent
        return chain

    @property
    def depth(self) -> int:
        """Number of frames on the longest way from the base outward."""
        depths: list[int] = []
        for frame in self.frames:
            depths.append(1 + (depths[frame.parent] if frame.parent >= 0 else 0))
        return max(depths, default=0)

    @property
    def coordinate_parents(self) -> list[int]:
        """For each coordinate the next one inward, -1 at the base; a link's modes follow one another."""
        if any(frame.motion.coupled for frame in self.frames):
            return self._elimination_tree()
        parents = [-1] * self.size
        last: list[int] = []  # outermost coordinate of each frame
        outermost: dict[int, int] = {}  # of the frame that a coordinate moves first
        gathered = {
            index: separate.window.touched
            for index, frame in enumerate(self.frames)
            for separate in self.separate
            if set(separate.coordinates) <= set(frame.coordinates)
        }
        for index, frame in enumerate(self.frames):
            inner = last[frame.parent] if frame.parent >= 0 else -1
            for coordinate in (*frame.touched, *gathered.get(index, ())):  # a joint comes behind all of the beam it slides on
                inner = max(inner, outermost.get(coordinate, -1))
            for coordinate in sorted(frame.coordinates):
                if coordinate not in outermost:
                    parents[coordinate] = inner
                    inner = coordinate
            last.append(inner)
            outermost.update({c: inner for c in frame.coordinates if c not in outermost})
        return parents

    def _elimination_tree(self) -> list[int]:
        """The same where couplings join branches: by the entries of M that are not zero, filled in from the tips inward.

        Two coordinates meet in M where one body is moved by both. Eliminating coordinate k joins all that it meets further
        inward; the last of them is its parent.
        """
        inward: list[set[int]] = [set() for _ in range(self.size)]
        moved: list[set[int]] = []  # coordinates that move each frame
        for frame in self.frames:
            own = {*frame.touched, *(moved[frame.parent] if frame.parent >= 0 else ())}
            moved.append(own)
            body = own if frame.elastic is None else own | set(frame.elastic.coordinates)
            for k in body:
                inward[k] |= {j for j in body if j < k}
        for separate in self.separate:  # a slot meets what it stands for
            for k in separate.coordinates:
                inward[k] |= {j for j in separate.window.touched if j < k}
        parents = [-1] * self.size
        for k in reversed(range(self.size)):
            if inward[k]:
                parents[k] = max(inward[k])
                inward[parents[k]] |= inward[k] - {parents[k]}
        return parents

    @property
    def actual(self) -> list[int]:
        """Indices of the coordinates that are the robot's own."""
        slots = {k for separate in self.separate for k in separate.coordinates}
        return [k for k in range(self.size) if k not in slots]

    def extended(self, values: Sequence[Value]) -> list[Value]:
        """A vector over the robot's coordinates, with the slots that have coordinates of their own."""
        result = [self.graph.value(0)] * self.size
        for k, value in zip(self.actual, values, strict=True):
            result[k] = value
        for separate in self.separate:
            for k, value in zip(separate.coordinates, separate.window.gather(result), strict=True):
                result[k] = value
        return result
