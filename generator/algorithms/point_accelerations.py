"""Accelerations of points in base components, 000 (80); which formulation is cheapest depends on the robot and the points.

R (a + U r), or (R U) r, from the frames' motions in their own components; or U_h (R_h r) with angular velocities and
accelerations carried outwards in the axes of one home h: of the base, which suits points on many links, or of a frame behind
the first rotations, where most of their components are zero: that suits points on few links, far out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from elastogen.generator.algorithms.kinematics import Twist, poses
from elastogen.generator.algorithms.newton_euler import MotionState, Placed, acceleration_operator, relative, rotation_of_group
from elastogen.generator.algorithms.points import still
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.mechanism.steps import TINY
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import AxisRotation, Mat, Vec, add, cross, scale, sub, times

WORTH_A_PRODUCT = 3  # points on a frame: 18 products each by R (a + U r), 27 and 9 each by R U


def columns(vectors: Sequence[Vec]) -> Mat:
    """Return the matrix with these columns."""
    return [list(row) for row in zip(*vectors, strict=True)]


class Carriers:
    """The frames that carry points, and the change to base components: by rotations near the base, else by R."""

    FEW_ROTATIONS = 2  # 4 products each, against 9 by R

    def __init__(
        self,
        mechanism: PointedMechanism,
        placed: Sequence[Placed],
        motions: Sequence[MotionState],
        q: Sequence[Value],
        qd: Sequence[Value],
        qdd: Sequence[Value],
    ) -> None:
        self.mechanism, self.placed, self.motions = mechanism, placed, motions
        self.q, self.qd, self.qdd = q, qd, qdd

    @cached_property
    def _axes(self) -> list[Mat]:
        return [pose.R for pose in poses(self.mechanism, self.placed)]

    def turns(self, index: int) -> list[int]:
        """Return the frame and those inward, with joints of parallel axes taken together; the last one rotates on the base."""
        chain: list[int] = []
        while index >= 0:
            chain.append(index)
            index = self.placed[index].group_parent
        return chain

    def in_base(self, index: int, v: Vec) -> Vec:
        """Return R v."""
        chain = self.turns(index)
        if len(chain) > self.FEW_ROTATIONS:
            return times(self._axes[index], v)
        for k in chain:
            v = self.placed[k].group_rotation.outward(v)
        return v

    def accelerations(self, formulation: Callable[[int], Callable[[Vec], Vec]]) -> list[Twist]:
        """Return the accelerations of all points; ``way`` gives for a frame the acceleration of a point by its place."""
        ready: dict[int, Callable[[Vec], Vec]] = {}
        result = []
        for point in self.mechanism.points:
            index = point.frame.frame
            if index < 0:
                result.append(still(self.mechanism))
                continue
            with self.mechanism.graph.section(f"{point.point.name}: acceleration"):
                if index not in ready:
                    ready[index] = formulation(index)
                result.append(Twist(ready[index](point.frame.position), self.in_base(index, self.motions[index].epsilon)))
        return result


def accelerations_by_frames(carriers: Carriers) -> list[Twist]:
    """Return the accelerations as R (a + U r) (000 (80))."""
    motions = carriers.motions
    return carriers.accelerations(lambda k: lambda r: carriers.in_base(k, add(motions[k].a, times(motions[k].U, r))))


def accelerations_by_operators(carriers: Carriers) -> list[Twist]:
    """Return the accelerations as R a + (R U) r for frames with enough points to justify the product, else as R (a + U r)."""
    carried = Counter(point.frame.frame for point in carriers.mechanism.points)

    def of(index: int) -> Callable[[Vec], Vec]:
        motion = carriers.motions[index]
        if carried[index] < WORTH_A_PRODUCT:
            return lambda r: carriers.in_base(index, add(motion.a, times(motion.U, r)))
        origin = carriers.in_base(index, motion.a)
        operator = columns([carriers.in_base(index, list(column)) for column in zip(*motion.U, strict=True)])
        return lambda r: add(origin, times(operator, r))

    return carriers.accelerations(of)


def _in_lengths(x: Value, length: float) -> Value:
    """Return x divided by a length; for a number the division happens here, so that a length over itself is exactly 1."""
    return x / length if x.constant is None else x.graph.value(x.constant / length)


@dataclass(frozen=True)
class Operator:
    """d2R/dt2 of a frame by its columns, each for a length [m] along an axis: one that a point has saves products."""

    columns: Sequence[Vec]
    lengths: Sequence[float]

    def of(self, r: Vec) -> Vec:
        """Return the second derivative of R r."""
        return times(columns(self.columns), [_in_lengths(x, length) for x, length in zip(r, self.lengths, strict=True)])

    def along(self, axis: Vec) -> tuple[Vec, float]:
        """Return the second derivative of R times an axis and a length, and that length."""
        used = [length for x, length in zip(axis, self.lengths, strict=True) if not x.is_zero]
        length = used[0] if len(used) == 1 else 1.0
        return self.of([x * length for x in axis]), length


class Carried:
    """Angular velocities and accelerations of frames in the axes of a home, carried outwards: w_i = w_k + spin, and so on.

    ``inside`` is the number of rotations inside of the home of what rotates more than twice: none, it is the base, up to two.
    """

    WORTH_AXES = 4  # vectors rotated by a frame and those beyond, its own axis among them: R of a frame costs 18, a rotation 6

    def __init__(self, carriers: Carriers, inside: int) -> None:
        self.carriers, self.mechanism, self._inside = carriers, carriers.mechanism, inside
        self.placed = list(carriers.placed)
        self._rotating: dict[tuple[int, int], tuple[Vec, Vec]] = {}
        self._operators: dict[int, Operator] = {}
        self._matrices: dict[tuple[int, int], Mat] = {}
        self._origins: dict[int, Vec] = {}
        zero, one = self.mechanism.graph.value(0), self.mechanism.graph.value(1)
        self._none: Vec = [zero] * 3
        self._units: list[Vec] = [[one if k == c else zero for k in range(3)] for c in range(3)]
        self._points: dict[int, list[Vec]] = {}
        for point in self.mechanism.points:
            self._points.setdefault(point.frame.frame, []).append(point.frame.position)
        leading = sorted({k for index in self._points for k in self.mechanism.ancestors(index)})
        for k in leading:  # an origin is a point of the parent
            if any(not x.is_zero for x in self.placed[k].position):
                self._points.setdefault(self.mechanism.frames[k].parent, []).append(self.placed[k].position)
        rotating = {k for index in self._points for k in carriers.turns(index)}
        self._passing: Counter[int] = Counter()  # axes of joints and points beyond each frame
        for index, count in [*((k, len(points)) for k, points in self._points.items()), *((k, 1) for k in rotating)]:
            for k in carriers.turns(index):
                self._passing[k] += count
        self._ahead = {index: ahead for index in sorted(rotating) if (ahead := self._first_direction(index)) is not None}
        for index, (c, s) in self._ahead.items():
            turn = rotation_of_group(self.mechanism, self.placed[index].group, carriers.q, math.atan2(s, c))
            self.placed[index] = replace(self.placed[index], group_rotation=turn)

    def _outermost(self, index: int) -> bool:
        """Whether only its own points rotate with a frame."""
        return index in self._points and self._passing[index] == len(self._points[index]) + 1

    def _first_direction(self, index: int) -> tuple[float, float] | None:
        """Return cosine and sine of the first point's direction about the axis, to which x points unless prevented."""
        if not self.mechanism.frames[index].motion.parallel_rotation or not self._outermost(index):
            return None
        if any(not (x.constant and y.constant) for x, y, _ in self._points[index]):
            return None
        x, y = (value.constant or 0.0 for value in self._points[index][0][:2])
        distance = math.hypot(x, y)  # from the axis [m]
        return x / distance, y / distance

    def seen(self, index: int, r: Vec) -> Vec:
        """Return a place in a frame, in the axes whose x points to the first point."""
        if index not in self._ahead:
            return r
        (c, s), graph = self._ahead[index], self.mechanism.graph
        rotated = AxisRotation(2, graph.value(c), graph.value(s)).inward(r)
        size = max(abs(x.constant or 0.0) for x in rotated[:2])
        return [graph.value(0) if abs(x.constant or 0.0) <= TINY * size else x for x in rotated[:2]] + rotated[2:]

    def home(self, index: int) -> int:
        """Return in whose axes a frame's operator is: the base's, or those of a frame after one or two rotations."""
        chain = self.carriers.turns(index)
        inside = self._inside if len(chain) > Carriers.FEW_ROTATIONS else len(chain) - 1
        return chain[-inside] if inside > 0 else -1

    def rotated(self, index: int, home: int, v: Vec) -> Vec:
        """Rotate a vector to the axes of its home, one rotation after the other; for many vectors the last ones as a matrix."""
        for k in self.carriers.turns(index):
            if k == home:
                break
            if self._passing[k] >= self.WORTH_AXES and self._depth(k) - self._depth(home) > Carriers.FEW_ROTATIONS:
                return times(self._axes(k, home), v)
            v = self.placed[k].group_rotation.outward(v)
        return v

    def _depth(self, index: int) -> int:
        """Return the number of rotations between a frame and the base; sliding does not count."""
        found = 0
        for k in self.carriers.turns(index):
            frame = self.mechanism.frames[k]
            found += any(not x.is_zero for angular, _ in frame.motion.twists(frame.at(self.carriers.q)) for x in angular)
        return found

    def _axes(self, index: int, home: int) -> Mat:
        """Return R of a frame in the axes of its home from the axes of the frame it rotates on."""
        if (index, home) not in self._matrices:
            place = self.placed[index]
            axes = [self.rotated(place.group_parent, home, place.group_rotation.outward(unit)) for unit in self._units]
            self._matrices[index, home] = columns(axes)
        return self._matrices[index, home]

    def rotating(self, index: int, home: int) -> tuple[Vec, Vec]:
        """Return angular velocity and acceleration; near the base in the axes after the first rotation, mostly zero."""
        if index < 0:
            return self._none, self._none
        if index == home:
            return self.carriers.motions[index].omega, self.carriers.motions[index].epsilon
        if (index, home) not in self._rotating:
            chain = self.carriers.turns(index)
            if home < 0 and 1 < len(chain) <= Carriers.FEW_ROTATIONS + 1:
                omega, epsilon = (self.carriers.in_base(chain[-1], v) for v in self.rotating(index, chain[-1]))
                self._rotating[index, home] = omega, epsilon
            else:
                self._rotating[index, home] = self._rotating_by_joint(index, home)
        return self._rotating[index, home]

    def _rotating_by_joint(self, index: int, home: int) -> tuple[Vec, Vec]:
        c, place = self.carriers, self.placed[index]
        omega, epsilon = self.rotating(place.group_parent, home)
        spin, spin_rate, _, _ = relative(self.mechanism, index, place, c.q, c.qd, c.qdd)
        if self.mechanism.frames[index].motion.parallel_rotation:  # about z: the axis is turned once for both
            axis = self.rotated(index, home, self._units[2])
            spin, spin_rate = scale(axis, spin[2]), scale(axis, spin_rate[2])
        else:
            spin, spin_rate = self.rotated(index, home, spin), self.rotated(index, home, spin_rate)
        return add(omega, spin), add(add(epsilon, spin_rate), cross(omega, spin))

    def angular(self, index: int) -> Vec:
        """Return the angular acceleration of a frame in base components."""
        home = self.home(index)
        epsilon = self.rotating(index, home)[1]
        return epsilon if home < 0 else self.carriers.in_base(home, epsilon)

    def _moved(self, index: int, r: Vec) -> Vec:
        """Return U (R r) in base components."""
        return self._moved_with(index, index, r)

    def _moved_with(self, index: int, seen_from: int, v: Vec) -> Vec:
        """U of a frame times a vector that is given in the axes of the same or an inner one, in base components."""
        home = self.home(index)
        U = acceleration_operator(self.mechanism.graph, *self.rotating(index, home))
        moved = times(U, self.rotated(seen_from, home, v))
        return moved if home < 0 else self.carriers.in_base(home, moved)

    def _has_operator(self, index: int) -> bool:
        """Whether a frame has enough points for an operator: three, or two if frames that rotate on it share its column."""
        on_it = [k for k in self._points if self.carriers.turns(k)[1:2] == [index] and self._has_operator(k)]
        if any(self._rotates_on_a_rotation(k) for k in on_it):  # by the product rule, which needs it anyway
            return True
        near = len(self.carriers.turns(index)) < Carriers.FEW_ROTATIONS
        return len(self._points[index]) >= WORTH_A_PRODUCT - (near or bool(on_it))

    def operator(self, index: int) -> Operator:
        """Return d2R/dt2 of a frame; along its joint's axis it equals that of the frame it rotates on."""
        if index not in self._operators:
            place = self.placed[index]
            root, S = place.group_parent, place.group_rotation
            if not self.mechanism.frames[index].motion.parallel_rotation:
                found = Operator([self._moved(index, unit) for unit in self._units], (1.0,) * 3)
            elif self._rotates_on_a_rotation(index):
                found = self._by_product_rule(index)
            else:
                alone = self._outermost(index) and len(self.carriers.turns(index)) > Carriers.FEW_ROTATIONS
                lengths = [self._length(index, (c,)) if alone else 1.0 for c in range(2)]
                x, y = (
                    self._moved_with(index, root, S.outward([e * length for e in unit]))
                    for unit, length in zip(self._units, lengths, strict=False)
                )
                z, length = self._moved(index, self._units[2]), 1.0
                if root in self._operators:
                    z, length = self._operators[root].along(S.outward(self._units[2]))
                found = Operator((x, y, z), (*lengths, length))
            self._operators[index] = found
        return self._operators[index]

    def _length(self, index: int, axes: Sequence[int]) -> float:
        """Return the greatest fixed coordinate of a frame's points along some axes, 1 if there is none."""
        found = [abs(self.seen(index, r)[c].constant or 0.0) for r in self._points[index] for c in axes]
        return max(found) or 1.0

    def _rotates_on_a_rotation(self, index: int) -> bool:
        chain = self.carriers.turns(index)
        return len(chain) == Carriers.FEW_ROTATIONS and self.mechanism.frames[chain[1]].motion.parallel_rotation

    def _by_product_rule(self, index: int) -> Operator:
        """Return R_k'' S + 2 R_k' S' + R_k S'', with S the rotation about z from frame k, which rotates on the base."""
        c, place = self.carriers, self.placed[index]
        root, S, length = place.group_parent, place.group_rotation, self._length(index, (0, 1))
        spin, spin_rate, _, _ = relative(self.mechanism, index, place, c.q, c.qd, c.qdd)
        rate, second = spin[2], spin_rate[2]
        x, y = (S.outward([e * length for e in unit]) for unit in self._units[:2])
        crossing = columns([c.in_base(root, cross(scale(c.motions[root].omega, rate), unit)) for unit in self._units])
        outer, found = self.operator(root), []
        for along, across in ((x, y), (y, [-value for value in x])):
            bent = sub(scale(across, second), scale(along, rate * rate))  # S''; S' is the rate times across
            own = add(outer.of(along), times(crossing, [2 * value for value in across]))
            found.append(add(own, c.in_base(root, bent)))
        axis, unit = outer.along(S.outward(self._units[2]))
        return Operator((*found, axis), (length, length, unit))

    def origin(self, index: int) -> Vec:
        """Return the acceleration of a frame's origin: a point of the frame it rotates on, if it only rotates."""
        if index not in self._origins:
            place, c = self.carriers.placed[index], self.carriers
            _, _, slide, slide_rate = relative(self.mechanism, index, place, c.q, c.qd, c.qdd)
            slides = any(not x.is_zero for x in (*slide, *slide_rate))
            parent = self.mechanism.frames[index].parent
            self._origins[index] = c.in_base(index, c.motions[index].a) if slides else self.point(parent, place.position)
        return self._origins[index]

    def point(self, index: int, r: Vec) -> Vec:
        """Return the acceleration of a point of a frame."""
        if index < 0:
            return self._none
        origin, r = self.origin(index), self.seen(index, r)
        if all(x.is_zero for x in r):
            return origin
        return add(origin, self.operator(index).of(r) if self._has_operator(index) else self._moved(index, r))


def accelerations_carried(carriers: Carriers, inside: int) -> list[Twist]:
    """Return the accelerations in the axes of the base, or of frames after the first rotations (see Carried)."""
    carried, result = Carried(carriers, inside), []
    for point in carriers.mechanism.points:
        index = point.frame.frame
        with carriers.mechanism.graph.section(f"{point.point.name}: acceleration"):
            result.append(Twist(carried.point(index, point.frame.position), carried.angular(index)))
    return result


FORMULATIONS: tuple[Callable[[Carriers], list[Twist]], ...] = (
    accelerations_by_frames,
    accelerations_by_operators,
    *(partial(accelerations_carried, inside=inside) for inside in range(Carriers.FEW_ROTATIONS + 1)),
)
"""All of them."""
