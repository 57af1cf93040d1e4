"""Forward dynamics of parallel robots by legs: each acts as an inertia and a force at a point of the body it carries.

With u the acceleration of a leg's end in the axes of its last frame, less what it has at qdd = 0, and L = J^-T M J^-1, the leg
needs the force L u + J^-T (tau - F) there. The remaining bodies are a tree, solved by articulated bodies.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from elastogen.generator.algorithms.kinematics import Pose, poses
from elastogen.generator.algorithms.newton_euler import MotionState, Placed, outward
from elastogen.generator.algorithms.solving import articulated_bodies
from elastogen.generator.algorithms.solving.factorization import factorize
from elastogen.generator.functions.catalogue import Derived, Formulation
from elastogen.generator.functions.loops.closing import Closing
from elastogen.generator.functions.loops.dynamics import FORWARD, closed_accelerations, closed_inverse_dynamics, tree_forces
from elastogen.generator.functions.mass_and_coriolis import mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.loops.analysis import Choice, eliminated
from elastogen.generator.loops.elimination import Elimination
from elastogen.generator.loops.legs import (
    Leg,
    LegElimination,
    LegMap,
    evaluated,
    legs_of,
    pairs_of,
    relative_rotation,
    resized,
    smallest_pivots,
)
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.articulated_inertia import ArticulatedInertia
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Matrix3, Rotation, Symmetric, Vec, add, cross, dot, product, sub, times

WORST = 3  # configurations, at least, for which another choice of independent velocities is made
FEW = 2  # legs on a body up to which the accelerations of its points are rotated one by one


def has_legs(variant: Variant) -> bool:
    """Whether every loop has a leg, and articulated bodies can solve the rest."""
    legs = legs_of(variant.robot, variant.mechanism, variant.analysis)
    if not legs:
        return False
    gone = {index for leg in legs for index in leg.frames}
    rest, _ = _without(variant.mechanism, variant.place(variant.input("q")), gone)
    return articulated_bodies.applies_to(rest) and all(leg_map.square for leg_map in _maps(variant, legs))


def _maps(variant: Variant, legs: Sequence[Leg]) -> list[LegMap]:
    q = variant.input("q")
    placed = variant.place(q)
    return [LegMap(variant.robot, variant.mechanism, placed, q, leg, variant.analysis) for leg in legs]


def _without(mechanism: Mechanism, placed: Sequence[Placed], gone: Set[int]) -> tuple[Mechanism, list[Placed]]:
    """The tree without some frames, and the indices of its frames in order."""
    left = [index for index in range(len(mechanism.frames)) if index not in gone]
    numbers = {-1: -1, **{index: k for k, index in enumerate(left)}}
    frames = tuple(replace(mechanism.frames[k], parent=numbers[mechanism.frames[k].parent]) for k in left)
    return replace(mechanism, frames=frames, loops=()), [placed[k] for k in left]


def closed_forward_formulations(variant: Variant) -> tuple[Formulation, ...]:
    """Equal formulations of forward dynamics, of which the cheapest is kept."""
    by_legs = (forward_dynamics_by_legs,) if has_legs(variant) else ()
    by_points = (forward_dynamics_by_points,) if has_pairs(variant) else ()
    return _on_both((*FORWARD, *by_legs, *by_points), variant)


def closed_inverse_formulations(variant: Variant) -> tuple[Formulation, ...]:
    """Equal formulations of inverse dynamics, of which the cheapest is kept."""
    by_legs = (inverse_dynamics_by_legs,) if _leg_elimination(variant) is not None else ()
    return _on_both((closed_inverse_dynamics, *by_legs), variant)


def _on_both(formulations: tuple[Formulation, ...], variant: Variant) -> tuple[Formulation, ...]:
    """Each on the tree as it is and, if different, with masses moved to other links as loops allow."""

    def on_closed(formulation: Formulation) -> Formulation:
        return lambda v: formulation(v if v.closed is None else replace(v, mechanism=v.closed))

    return formulations if variant.closed is None else (*formulations, *map(on_closed, formulations))


def forward_dynamics_by_other_coordinates(variant: Variant) -> Derived:
    """Accelerations by other independent velocities, for configurations where those of the other formulations fail."""
    qdd, pivots, _ = closed_accelerations(variant, at_drift=False, choice=_other_choice(variant))
    return Derived((qdd,), pivots)


def _other_choice(variant: Variant) -> Choice:
    """The elimination for configurations in which the other formulations have their smallest pivots."""
    mechanism, analysis = variant.mechanism, variant.analysis
    J = evaluated(variant.robot, mechanism, Closing(variant).loops.rows(variant.input("q")), analysis)
    least = np.minimum(smallest_pivots(J, analysis.choice), smallest_pivots(J, analysis.sparse))
    pairs = [leg for pair in pairs_of(variant.robot, mechanism, analysis) for leg in pair]
    legs = pairs or legs_of(variant.robot, mechanism, analysis)
    for leg_map in _maps(variant, legs):
        if leg_map.square:
            found = evaluated(variant.robot, mechanism, leg_map.rows, analysis)
            least = np.minimum(least, smallest_pivots(found, leg_map.elimination.choice))
    worst = np.argsort(least, kind="stable")[: max(WORST, len(least) // 4)]
    elastic = [k for k, velocity in enumerate(variant.robot.velocities) if velocity.elastic]
    rigid = [k for k in range(variant.size) if k not in elastic]
    generic = np.array([np.linalg.matrix_rank(matrix, 1e-6) == analysis.rank for matrix in J])
    chosen = eliminated(J[[k for k in worst if generic[k]] or generic], analysis.rank, [rigid, elastic])
    return resized(J[generic], chosen) if len(chosen.pivots) == analysis.rank else analysis.sparse


def has_pairs(variant: Variant) -> bool:
    """Whether every loop joins two legs with the same components on both sides, and the robot is nothing but legs."""
    pairs = pairs_of(variant.robot, variant.mechanism, variant.analysis)
    if sorted(k for pair in pairs for leg in pair for k in leg.coordinates) != list(range(variant.size)):
        return False  # another arm beside them, or a leg of two loops
    q = variant.input("q")
    placed = variant.place(q)
    for pair in pairs:
        maps = _maps(variant, pair)
        turn = relative_rotation(variant.mechanism, placed, q, *(leg.turns(placed)[0] for leg in pair))
        one, zero = variant.graph.value(1), variant.graph.value(0)
        for c in maps[1].axes:
            image = turn.outward([one if r == c else zero for r in range(3)])
            if any(not image[r].is_zero for r in range(3) if r not in maps[0].axes):
                return False
        if not all(leg_map.square for leg_map in maps):
            return False
    return bool(pairs)


def forward_dynamics_by_points(variant: Variant) -> Derived:
    """Accelerations of a mechanism whose loops join two legs each, by the accelerations of the points where they meet.

    With x the acceleration of the point in the axes of leg a, less what this has at qdd = 0, and o its difference for leg b:
    (L_a + R L_b R^T) x = -f_a - R (L_b o + f_b).
    """
    mechanism, graph = variant.mechanism, variant.graph
    q, qd, zeros = variant.input("q"), variant.input("qd"), variant.zeros()
    placed, right = variant.place(q), _accelerating(variant)
    motions, M = outward(mechanism, placed, q, qd, zeros, variant.zeros(3)), mass(variant)
    solved, positive = [*zeros], []
    for pair in pairs_of(variant.robot, mechanism, variant.analysis):
        maps = _maps(variant, pair)
        with graph.section(f"{pair[0].end.name} and {pair[1].end.name}: acceleration of the point where they meet"):
            a, b = (_Reaction(variant, leg, m, M, [-r for r in right]) for leg, m in zip(pair, maps, strict=True))
            starts = [leg.start(placed, motions) for leg in pair]
            turn = relative_rotation(mechanism, placed, q, *(leg.turns(placed)[0] for leg in pair))
            offset = sub(turn.inward(starts[0]), starts[1])
            inertia = a.inertia + turn.outward_symmetric(b.inertia)
            force = add(a.force, turn.outward(add(b.force, times(b.inertia.full, offset))))
            factors = factorize([[inertia.full[r][c] for c in a.map.axes] for r in a.map.axes], list(range(-1, a.map.size - 1)))
            x = a.spatial(factors.solve([-force[axis] for axis in a.map.axes]))
            for reaction, u in ((a, x), (b, add(turn.inward(x), offset))):
                found = reaction.map.rates([u[axis] for axis in reaction.map.axes])
                for k, value in zip(reaction.leg.coordinates, found, strict=True):
                    solved[k] = value
                positive += reaction.map.elimination.pivots
            positive += factors.pivots
    return Derived((solved,), positive)


def _accelerating(variant: Variant) -> list[Value]:
    """F minus all forces at qdd = 0."""
    qd = variant.input("qd")
    bias = tree_forces(variant, variant.zeros())
    return [f - b for f, b in zip(variant.unloaded(variant.input("F"), qd), bias, strict=True)]


def inverse_dynamics_by_legs(variant: Variant) -> Derived:
    """Drive forces if every loop has a leg and the drives fit the freedoms; else as for any mechanism."""
    elimination = _leg_elimination(variant)
    if elimination is None:  # in this frame assignment, though in others there is one
        return closed_inverse_dynamics(variant)
    tree = tree_forces(variant, variant.input("qdd"))
    F, zero = variant.zeros(), variant.graph.value(0)
    with variant.graph.section("forces on the independent velocities"):
        found = elimination.projected([*tree, *([zero] * (elimination.size - variant.size))])
    for k, value in zip(elimination.choice.independent, found, strict=True):
        F[k] = value
    return Derived((variant.loaded(F, variant.input("qd")),), elimination.pivots)


def _leg_elimination(variant: Variant) -> Elimination | None:
    legs = legs_of(variant.robot, variant.mechanism, variant.analysis)
    if not legs or variant.analysis.fit != "exactly":
        return None
    q = variant.input("q")
    found = LegElimination(variant.robot, variant.mechanism, variant.place(q), q, legs, variant.analysis)
    return found.elimination if found.fits else None


class _Reaction:
    """The force that one leg needs at its end, in base components."""

    def __init__(self, variant: Variant, leg: Leg, leg_map: LegMap, M: Mat, forces: Sequence[Value]) -> None:
        self.leg, self.map = leg, leg_map
        self.zero = variant.graph.value(0)
        n = leg_map.size
        G = leg_map.elimination.map()[:n]  # J^-1
        own = leg_map.mass([[M[r][c] for c in leg.coordinates] for r in leg.coordinates])
        MG = product(own, G)
        L = [[self.zero] * 3 for _ in range(3)]
        for r in range(n):
            for c in range(r + 1):
                value = self.zero
                for k in range(n):
                    value = value + G[k][r] * MG[k][c]
                L[leg_map.axes[r]][leg_map.axes[c]] = L[leg_map.axes[c]][leg_map.axes[r]] = value
        self.inertia = Symmetric.of(L)
        needed = leg_map.elimination.projected([*leg_map.forces([forces[k] for k in leg.coordinates]), *([self.zero] * n)])
        self.force = self.spatial(needed)

    def spatial(self, values: Sequence[Value]) -> Vec:
        """A vector from the components that the leg can exert."""
        found = [self.zero] * 3
        for axis, value in zip(self.map.axes, values, strict=True):
            found[axis] = value
        return found


def forward_dynamics_by_legs(variant: Variant) -> Derived:
    """Accelerations of the closed mechanism."""
    mechanism, graph = variant.mechanism, variant.graph
    q, qd, zeros = variant.input("q"), variant.input("qd"), variant.zeros()
    legs = legs_of(variant.robot, mechanism, variant.analysis)
    maps, placed = _maps(variant, legs), variant.place(q)
    found, motions = poses(mechanism, placed), outward(mechanism, placed, q, qd, zeros, variant.zeros(3))
    right, M = _accelerating(variant), mass(variant)
    reactions, points, offsets = [], [], []
    carried: dict[int, tuple[ArticulatedInertia, Vec]] = {}
    point_of = _Points(mechanism, found, motions, legs)
    for leg, leg_map in zip(legs, maps, strict=True):
        with graph.section(f"{leg.end.name}: inertia and force at the end of the leg"):
            reaction = _Reaction(variant, leg, leg_map, M, [-value for value in right])
            start = leg.start(placed, motions)
            r, beta = point_of.arm(leg), point_of.acceleration(leg)
            turn = leg.base_rotation(placed)
            offset = sub(turn.inward(beta), start)
            force = turn.outward(add(reaction.force, times(reaction.inertia.full, offset)))
            inertia = turn.outward_symmetric(reaction.inertia)
            nothing = Symmetric(*([graph.value(0)] * 6))
            at_point = ArticulatedInertia(nothing, [[graph.value(0)] * 3 for _ in range(3)], inertia)
            moved, wrench = at_point.outward(Rotation(()), r), [*cross(r, force), *force]
            before = carried.get(leg.other.frame)
            carried[leg.other.frame] = (moved, wrench) if before is None else (before[0] + moved, add(before[1], wrench))
        reactions.append(reaction)
        points.append(r)
        offsets.append(offset)
    solved, positive = variant.zeros(), list[Value]()
    turned: dict[int, list[Vec]] = {}  # accelerations of the bodies that legs carry, in base components
    free = [index for index in carried if _is_free(variant, index)]
    for index in free:
        with graph.section(f"{mechanism.frames[index].label}: accelerations of the body"):
            found_here, turned[index], pivots = _free_body(mechanism, found[index], q, index, right, *carried.pop(index))
            positive += pivots
            for k, value in found_here.items():
                solved[k] = value
    for index, (inertia6, wrench) in carried.items():
        back = Rotation((Matrix3([list(column) for column in zip(*found[index].R, strict=True)]),))
        with graph.section(f"{mechanism.frames[index].label}: legs"):
            rotated = [*back.outward(wrench[:3]), *back.outward(wrench[3:])]
            carried[index] = inertia6.outward(back, variant.zeros(3)), rotated
    gone = {*free, *(index for leg in legs for index in leg.frames)}
    rest, places = _without(mechanism, placed, gone)
    left = [index for index in range(len(mechanism.frames)) if index not in gone]
    others, pivots, moving = articulated_bodies.solve_carrying(
        rest, places, q, [drive.inertia for drive in variant.drives], right, {left.index(k): v for k, v in carried.items()}
    )
    for k in (k for frame in rest.frames for k in frame.coordinates):
        solved[k] = others[k]
        positive.append(pivots[k])
    accelerations = {left[k]: A for k, A in enumerate(moving)}
    turned |= {k: [times(found[k].R, accelerations[k][:3]), times(found[k].R, accelerations[k][3:])] for k in carried}
    for leg, reaction, r, offset in zip(legs, reactions, points, offsets, strict=True):
        with graph.section(f"{leg.end.name}: accelerations of the leg"):
            angular, linear = turned[leg.other.frame]
            u = add(leg.base_rotation(placed).inward(add(linear, cross(angular, r))), offset)
            for k, value in zip(leg.coordinates, reaction.map.rates([u[axis] for axis in reaction.map.axes]), strict=True):
                solved[k] = value
            positive += reaction.map.elimination.pivots
    return Derived((solved,), positive)


def _is_free(variant: Variant, index: int) -> bool:
    """Whether a body moves freely and carries nothing but legs."""
    frames = variant.mechanism.frames
    frame = frames[index]
    alone = frame.parent < 0 and all(other.parent != index for other in frames)
    without_drives = all(variant.drives[k].inertia.is_zero for k in frame.coordinates)
    return alone and without_drives and len(frame.coordinates) == 6 and frame.elastic is None


def _free_body(
    mechanism: Mechanism,
    pose: Pose,
    q: Sequence[Value],
    index: int,
    right: Sequence[Value],
    carried: ArticulatedInertia,
    wrench: Vec,
) -> tuple[dict[int, Value], list[Vec], list[Value]]:
    """Accelerations of a free body with an added inertia and wrench, and pivots; in base axes, to rotate one inertia only."""
    frame = mechanism.frames[index]
    rotation = Rotation((Matrix3(pose.R),))
    own_inertia = Inertia(frame.inertia.m, rotation.outward(frame.inertia.S), rotation.outward_symmetric(frame.inertia.P))
    inertia = ArticulatedInertia.of(own_inertia) + carried
    given = [mechanism.graph.value(0)] * 6
    directions = {}
    for k, (angular, linear) in zip(frame.coordinates, frame.motion.twists(frame.at(q)), strict=True):
        directions[k] = [*angular, *frame.motion.to_moved(frame.at(q), linear)]
        given = [g + s * right[k] for g, s in zip(given, directions[k], strict=True)]
    moment, force = rotation.outward(given[:3]), rotation.outward(given[3:])
    J, N, H = inertia.J.full, inertia.N.full, inertia.H
    full = [[*J[r], *H[r]] for r in range(3)] + [[*(H[k][r] for k in range(3)), *N[r]] for r in range(3)]
    factors = factorize(full, list(range(-1, 5)))
    A = factors.solve(sub([*moment, *force], wrench))
    own = [*rotation.inward(A[:3]), *rotation.inward(A[3:])]
    return {k: dot(S, own) for k, S in directions.items()}, [A[:3], A[3:]], factors.pivots


class _Points:
    """Lever arms and accelerations at qdd = 0 of the ends of legs, in base components."""

    def __init__(
        self, mechanism: Mechanism, found: Sequence[Pose], motions: Sequence[MotionState], legs: Sequence[Leg]
    ) -> None:
        self.mechanism, self.found, self.motions = mechanism, found, motions
        on = [leg.other.frame for leg in legs]
        self.many = {index for index in on if on.count(index) > FEW}
        self.U = {index: product(found[index].R, motions[index].U) for index in self.many}
        self.a = {index: times(found[index].R, motions[index].a) for index in self.many}

    def arm(self, leg: Leg) -> Vec:
        """From the body's origin to the point."""
        return times(self.found[leg.other.frame].R, leg.other.position)

    def acceleration(self, leg: Leg) -> Vec:
        """The acceleration of the point minus gravity."""
        index, p = leg.other.frame, leg.other.position
        if index in self.many:
            return add(self.a[index], times(self.U[index], p))
        return times(self.found[index].R, add(self.motions[index].a, times(self.motions[index].U, p)))
