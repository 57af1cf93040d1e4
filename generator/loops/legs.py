"""Legs: chains from a fixed base to a loop whose own coordinates the loop's point determines, as those of parallel robots.

The velocity u of the point at a leg's end, in the axes of its last frame, gives the velocities of its joints by a small system
of its own, u = J_L qd_L, in axes in which J_L has few entries. So the body at the other side of the loop feels a leg as an
inertia at a point: L = J_L^-T M_L J_L^-1. All this is found in one frame assignment, and only where every loop has such a leg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from elastogen.generator.algorithms.kinematics import add_column, base_pose, jacobian_in_tip, poses
from elastogen.generator.algorithms.newton_euler import MotionState, Placed
from elastogen.generator.loops.analysis import MOTIONS, Choice, LoopAnalysis, eliminated
from elastogen.generator.loops.elimination import Elimination
from elastogen.generator.loops.numbers import Array
from elastogen.generator.mechanism.loops import LoopChains
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.program.polynomials import shorter, without
from elastogen.generator.program.program import Program
from elastogen.generator.program.substitute import extract
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import AxisRotation, Mat, Matrix3, Rotation, Vec, add, cross, times
from elastogen.runtime.interface.argument import Argument

NOTHING: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True)
class Leg:
    """A leg: its frames from the end inward, its coordinates, its end, and the end of the loop at the other side.

    The motion of its end is in the axes before the last rotation, in which it has the fewest terms.
    """

    frames: tuple[int, ...]
    coordinates: tuple[int, ...]
    end: LinkFrame
    other: LinkFrame

    def turns(self, placed: Sequence[Placed]) -> tuple[int, Rotation]:
        """The frame in whose axes the motion of the end is, and the rotation from the last frame to there."""
        index, steps = self.end.frame, tuple[AxisRotation | Matrix3, ...]()
        while not steps and placed[index].group_parent >= 0:
            index, steps = placed[index].group_parent, placed[index].group_rotation.steps
        return (index, Rotation(steps)) if steps else (self.end.frame, Rotation(()))

    def base_rotation(self, placed: Sequence[Placed]) -> Rotation:
        """From the base to these axes."""
        return base_rotation(placed, self.turns(placed)[0])

    def start(self, placed: Sequence[Placed], motions: Sequence[MotionState]) -> Vec:
        """The acceleration of the end at qdd = 0, less gravity, in these axes."""
        own, (index, turn) = motions[self.end.frame], self.turns(placed)
        within = self.frames[: self.frames.index(index)]
        if all(entry.is_zero for k in within for entry in placed[k].position):  # these frames have the same origin
            spin = [shorter(value) for value in turn.outward(times(own.U, self.end.position))]
            return add(motions[index].a, spin)
        return turn.outward(add(own.a, times(own.U, self.end.position)))


def legs_of(robot: Robot, mechanism: Mechanism, analysis: LoopAnalysis) -> list[Leg]:
    """One leg for each loop, in the order of the loops; none where some loop has none."""
    if len(mechanism.loops) != len(robot.loops) or mechanism.has_linear_tips:
        return []
    found: list[Leg] = []
    taken: set[int] = set()
    for chains, rank in zip(mechanism.loops, analysis.ranks, strict=True):
        a, b = chains.carriers
        sides = ((a, b), (b, a)) if chains.loop.kind.place == "all" else ()
        legs = [_leg(mechanism, chains, end, other) for end, other in sides]
        fits = [leg for leg in legs if leg is not None and len(leg.coordinates) == rank and not taken & {*leg.frames}]
        if not fits:
            return []
        leg = min(fits, key=lambda leg: len(leg.frames))
        taken |= {*leg.frames}
        found.append(leg)
    return found if all(leg.other.frame not in taken for leg in found) else []


def pairs_of(robot: Robot, mechanism: Mechanism, analysis: LoopAnalysis) -> list[tuple[Leg, Leg]]:
    """Both sides of each loop as legs, where nothing but the point of the loop joins them; none where some loop is another."""
    found: list[tuple[Leg, Leg]] = []
    if len(mechanism.loops) != len(robot.loops) or mechanism.has_linear_tips:
        return []
    for chains, rank in zip(mechanism.loops, analysis.ranks, strict=True):
        a, b = chains.carriers
        legs = [_leg(mechanism, chains, end, other) for end, other in ((a, b), (b, a))]
        fits = [leg for leg in legs if leg is not None and len(leg.coordinates) == rank]
        if chains.loop.kind.place != "all" or len(fits) < 2:
            return []
        found.append((fits[0], fits[1]))
    return found


def base_rotation(placed: Sequence[Placed], index: int) -> Rotation:
    """From the base to a frame; rotations about one axis after the other are one rotation."""
    found: list[AxisRotation | Matrix3] = []
    while index >= 0:
        found = [*placed[index].group_rotation.steps, *found]
        index = placed[index].group_parent
    return Rotation(_joined(found))


def _joined(steps: Sequence[AxisRotation | Matrix3]) -> tuple[AxisRotation | Matrix3, ...]:
    """Rotations about the same axis joined, by cosine and sine of the sum of their angles."""
    found: list[AxisRotation | Matrix3] = []
    for step in steps:
        last = found[-1] if found else None
        if isinstance(step, AxisRotation) and isinstance(last, AxisRotation) and last.axis == step.axis:
            found[-1] = AxisRotation(step.axis, last.c * step.c - last.s * step.s, last.s * step.c + last.c * step.s)
        elif not (isinstance(step, AxisRotation) and step.c.constant == 1 and step.s.is_zero):
            found.append(step)
    return tuple(found)


def relative_rotation(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], a: int, b: int) -> Rotation:
    """From the components of frame b to those of frame a: by one angle where all axes between them are parallel."""
    found = None if placed[a].group_parent >= 0 or placed[b].group_parent >= 0 else _about_one_axis(mechanism, placed, q, a, b)
    if found is not None:
        return found
    inner, outer = base_rotation(placed, a).steps, base_rotation(placed, b).steps
    return Rotation(_joined([*(step.inverse for step in reversed(inner)), *outer]))


def _about_one_axis(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], a: int, b: int) -> Rotation | None:
    """The rotation by the difference of all angles, where both groups begin with the same constant rotation."""
    groups = [placed[index].group for index in (a, b)]
    first = [mechanism.frames[group[0]] for group in groups]
    if not all(mechanism.frames[k].motion.parallel_rotation for group in groups for k in group):
        return None
    angle = mechanism.graph.input("angle")
    constant, kinds = ([_known(frame.rotation) for frame in first], [_known(f.motion.rotation([angle])) for f in first])
    if constant[0] != constant[1] or kinds[0] != kinds[1] or None in (*constant[0], *kinds[0]):
        return None
    total = mechanism.graph.value(0)
    for sign, group in zip((-1, 1), groups, strict=True):
        for k in group:
            total = total + sign * mechanism.frames[k].at(q)[0]
    return first[0].motion.rotation([total])


def _known(rotation: Rotation) -> list[tuple[int, int, int] | None]:
    """The steps of a rotation, for comparing them; None for a matrix."""
    return [(turn.axis, turn.c.ref, turn.s.ref) if isinstance(turn, AxisRotation) else None for turn in rotation.steps]


def _leg(mechanism: Mechanism, chains: LoopChains, end: LinkFrame, other: LinkFrame) -> Leg | None:
    """One side of a loop as a leg, if nothing else hangs on it or moves with it."""
    if end.frame < 0 or other.frame < 0:
        return None
    frames = tuple(mechanism.ancestors(end.frame))
    own = {k for index in frames for k in mechanism.frames[index].touched}
    for index, frame in enumerate(mechanism.frames):
        apart = index not in frames
        if frame.elastic is not None or frame.window is not None or frame.motion.coupled:
            return None
        if apart and (frame.parent in frames or own & {*frame.touched}):
            return None
    ends = [link.frame for loop in mechanism.loops for link in loop.carriers if loop is not chains]
    return None if {*ends} & {*frames} else Leg(frames, tuple(sorted(own)), end, other)


class LegMap:
    """u = J_L w of one leg, factorized; u has the components that the leg can give.

    The velocities w are those of its joints, and about parallel axes their sums: those of the links.
    """

    def __init__(
        self,
        robot: Robot,
        mechanism: Mechanism,
        placed: Sequence[Placed],
        q: Sequence[Value],
        leg: Leg,
        analysis: LoopAnalysis,
    ) -> None:
        self.before = _before(mechanism, placed, leg)
        self.axes, self.rows = leg_rows(mechanism, placed, q, leg, self.before)
        self.size = len(self.axes)
        self.square = False  # whether the point determines the leg
        if self.size == len(leg.coordinates):
            choice = choose(robot, mechanism, self.rows, analysis, [range(self.size)])
            self.square = len(choice.pivots) == self.size
        if self.square:
            with mechanism.graph.section(f"{leg.end.name}: velocities of the leg by that of its end"):
                self.elimination = Elimination(self.rows, choice)

    def forces(self, values: Sequence[Value]) -> list[Value]:
        """Forces on w from those on the joints."""
        return _of_links(values, self.before)

    def mass(self, M: Mat) -> Mat:
        """The mass matrix of w from that of the joints."""
        rows = [self.forces(row) for row in M]
        columns = [self.forces([row[k] for row in rows]) for k in range(len(M))]
        return [list(row) for row in zip(*columns, strict=True)]

    def rates(self, u: Sequence[Value]) -> list[Value]:
        """Velocities of the joints by u."""
        zero = u[0].graph.value(0)
        w = self.elimination.completed([zero] * self.size, u)[: self.size]
        return [value - w[self.before[k]] if k in self.before else value for k, value in enumerate(w)]


def _of_links(values: Sequence[Value], before: Mapping[int, int]) -> list[Value]:
    """Forces on the velocities of links, or columns of these, from those of joints."""
    after = {first: k for k, first in before.items()}
    return [without(value, values[after[k]]) if k in after else value for k, value in enumerate(values)]


def _before(mechanism: Mechanism, placed: Sequence[Placed], leg: Leg) -> dict[int, int]:
    """By the places of a leg's velocities: the velocity about a parallel axis before it, which its link has too."""
    found = {}
    for index in leg.frames:
        ways = [mechanism.frames[k].touched for k in placed[index].group[-2:]]
        if len(ways) == 2 and all(len(way) == 1 for way in ways) and ways[0] != ways[1]:
            other, own = (leg.coordinates.index(way[0]) for way in ways)
            found[own] = other
    return found


def leg_rows(
    mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], leg: Leg, before: Mapping[int, int] = NOTHING
) -> tuple[list[int], Mat]:
    """The components of u that a leg can give, and rows of J_L w - u over its velocities and these components."""
    graph = mechanism.graph
    J = [_of_links([row[k] for k in leg.coordinates], before) for row in _jacobian_of(mechanism, placed, q, leg)]
    axes = [r for r in range(3) if not all(entry.is_zero for entry in J[r])]
    return axes, [[*J[r], *(graph.value(-1 if axis == r else 0) for axis in axes)] for r in axes]


def _jacobian_of(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], leg: Leg) -> Mat:
    """Velocities of a leg's end by those of its joints, from the end inward."""
    zero = mechanism.graph.value(0)
    J = [[zero] * mechanism.size for _ in range(3)]
    within = list(leg.frames[: leg.frames.index(leg.turns(placed)[0])])
    columns: list[tuple[list[tuple[int, Value]], Vec]] = []
    B, arm = base_pose(mechanism).R, leg.end.position
    for index in leg.frames:
        frame, place = mechanism.frames[index], placed[index]
        with mechanism.graph.section(f"{frame.label}: column of the Jacobian"):
            for shares, (angular, linear) in zip(frame.shares, frame.motion.twists(frame.at(q)), strict=True):
                turn, slide = times(B, angular), times(B, frame.motion.to_moved(frame.at(q), linear))
                columns.append((shares, add(slide, cross(turn, arm))))
            if index in within:  # what is further out comes into the axes of the parent
                columns = [(shares, place.rotation.outward(column)) for shares, column in columns]
                arm = add(place.position, place.rotation.outward(arm))
            else:
                B = [place.rotation.outward(row) for row in B]
                arm = add(arm, times(B, place.position))
    for shares, column in columns:
        add_column(J, shares, column)
    return J


class LegElimination:
    """All velocities by those of the drives: rows of legs, of the points that carry bodies, and of these bodies.

    Beside the velocities there are others: u of each leg, the velocity w of its point in base components, and per body that
    legs carry the velocity z of its origin and its angular velocity, in base components. Each row has few entries, and so has
    what an elimination makes of them.
    """

    def __init__(
        self,
        robot: Robot,
        mechanism: Mechanism,
        placed: Sequence[Placed],
        q: Sequence[Value],
        legs: Sequence[Leg],
        analysis: LoopAnalysis,
    ) -> None:
        graph, n = mechanism.graph, mechanism.size
        zero, one = graph.value(0), graph.value(1)
        found = poses(mechanism, placed)
        bodies = list(dict.fromkeys(leg.other.frame for leg in legs))
        entries: list[dict[int, Value]] = []
        width = n

        def columns(count: int) -> list[int]:
            nonlocal width
            width += count
            return list(range(width - count, width))

        on = [leg.other.frame for leg in legs]
        z = {body: columns(6) for body in bodies if on.count(body) > 1}
        for body in z:
            with graph.section(f"{mechanism.frames[body].label}: rows of the body"):
                at_origin = LinkFrame("", body, Rotation(()), [zero] * 3)
                J, R = jacobian_in_tip(mechanism, placed, q, at_origin), found[body].R
                for r in range(6):
                    row = {k: J[r][k] for k in range(n)}
                    row |= {z[body][3 * (r // 3) + k]: -R[k][r % 3] for k in range(3)}
                    entries.append(row)
        for leg in legs:
            with graph.section(f"{leg.end.name}: rows of the leg"):
                axes, rows = leg_rows(mechanism, placed, q, leg)
                u = columns(len(axes))
                entries += [dict(zip((*leg.coordinates, *u), row, strict=True)) for row in rows]
                if leg.other.frame not in z:  # by the point's velocity w in the axes of the other side
                    w = columns(3)
                    tip = LinkFrame(leg.other.name, leg.other.frame, Rotation(()), leg.other.position)
                    there = jacobian_in_tip(mechanism, placed, q, tip)
                    turn = relative_rotation(mechanism, placed, q, leg.turns(placed)[0], leg.other.frame)
                    units = [turn.outward([one if r == c else zero for r in range(3)]) for c in range(3)]
                    entries += [{w[r]: one, **{k: -there[r][k] for k in range(n)}} for r in range(3)]
                    entries += [{u[k]: one, **{w[c]: -units[c][axis] for c in range(3)}} for k, axis in enumerate(axes)]
                    continue
                inner: list[int | None] = [None] * 3
                for k, axis in enumerate(axes):
                    inner[axis] = u[k]
                for step in reversed(leg.base_rotation(placed).steps):
                    outer: list[int | None] = [None] * 3
                    units = [step.inward([one if r == c else zero for r in range(3)]) for c in range(3)]
                    for r in range(3):
                        alone = [c for c in range(3) if units[c][r].constant == 1]
                        if inner[r] is not None and alone:  # not rotated by this step
                            outer[alone[0]] = inner[r]
                    outer = [c if c is not None else columns(1)[0] for c in outer]
                    for r in range(3):
                        own = inner[r]
                        if own is not None and own not in outer:
                            entries.append({own: one, **{c: -units[k][r] for k, c in enumerate(outer) if c is not None}})
                    inner = outer
                w = [c if c is not None else columns(1)[0] for c in inner]
                x, y, last = times(found[leg.other.frame].R, leg.other.position)
                arm = [[zero, last, -y], [-last, zero, x], [y, -x, zero]]  # omega x r = arm omega
                place = z[leg.other.frame]
                for r in range(3):
                    entries.append({w[r]: one, place[r]: -one, **{place[3 + c]: -arm[r][c] for c in range(3)}})
        J_all = [[row.get(k, zero) for k in range(width)] for row in entries]
        driven = list(analysis.driven)
        first = [k for k in range(width) if k not in driven]
        choice = choose(robot, mechanism, J_all, analysis, [first])
        self.fits = choice.independent == tuple(driven) and len(choice.pivots) == len(J_all)
        self.width = width
        if self.fits:
            with graph.section("elimination of dependent velocities"):
                self.elimination = Elimination(J_all, choice)


def choose(robot: Robot, mechanism: Mechanism, J: Mat, analysis: LoopAnalysis, tiers: Sequence[Sequence[int]]) -> Choice:
    """Pivots for rows at the closed configurations of the analysis; columns count by their own size."""
    found = evaluated(robot, mechanism, J, analysis)
    sizes = np.abs(found).max(axis=(0, 1))
    sizes = 10.0 ** np.round(np.log10(np.where(sizes > 0, sizes, 1.0)))
    chosen = eliminated(found / sizes, len(J), tiers)
    pivots = tuple(replace(pivot, size=pivot.size * sizes[pivot.column]) for pivot in chosen.pivots)
    return Choice(pivots, chosen.independent)


def evaluated(robot: Robot, mechanism: Mechanism, J: Mat, analysis: LoopAnalysis) -> Array:
    """Rows at the closed configurations of the analysis, as numbers."""
    count, width, order = len(J), len(J[0]), mechanism.order
    small, refs = extract(mechanism.graph, [entry.ref for row in J for entry in row])
    program = Program(small, (Argument("q", (len(order),), "", ""),), ((Argument("J", (count, width), "", ""), refs),))
    parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
    q = np.array([state[0] for state in analysis.samples[::MOTIONS]])
    return np.array(np.broadcast_to(program.evaluate({"q": q}, parameters)["J"], (len(q), count, width)))


def smallest_pivots(matrices: Array, choice: Choice) -> Array:
    """Of each of several matrices the smallest pivot of a choice, relative to its usual size."""
    found: Array = (_pivots(matrices, choice) / [pivot.size for pivot in choice.pivots]).min(axis=1)
    return found


def resized(matrices: Array, choice: Choice) -> Choice:
    """The choice with pivots whose usual sizes are those at these matrices, the same on all machines."""
    sizes = 10.0 ** np.round(np.log10(np.maximum(np.median(_pivots(matrices, choice), axis=0), 1e-6)))
    pivots = (replace(pivot, size=float(size)) for pivot, size in zip(choice.pivots, sizes, strict=True))
    return Choice(tuple(pivots), choice.independent)


def _pivots(matrices: Array, choice: Choice) -> Array:
    """Sizes of the pivots of a choice, of each of several matrices."""
    A, found = np.array(matrices), np.empty((len(matrices), len(choice.pivots)))
    rows = [pivot.row for pivot in choice.pivots]
    for k, pivot in enumerate(choice.pivots):
        p = A[:, pivot.row, pivot.column]
        found[:, k] = np.abs(p)
        factors = A[:, rows[k + 1 :], pivot.column] / np.where(np.abs(p) > 1e-12 * pivot.size, p, 1.0)[:, None]
        A[:, rows[k + 1 :]] -= factors[:, :, None] * A[:, pivot.row][:, None, :]
    return found
