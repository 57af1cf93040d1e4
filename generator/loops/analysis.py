"""What is known of a mechanism: ranks, rows that are redundant, freedoms, independent coordinates; by numbers, at generation.

Rank is that of J at random configurations in which the loops are closed: a mechanism that is overconstrained everywhere moves
because its rows are dependent there, and only there. Rows and columns are chosen by one elimination of J at all these
configurations at once: a pivot must be large at most of them, and should leave few entries to eliminate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from elastogen.generator.loops.numbers import CLOSED, Array, LoopNumbers
from elastogen.generator.loops.rows import row_names, rows_of_loops
from elastogen.generator.loops.two_links import TwoLinks, two_links_of
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Graph
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Robot

SAMPLES, ENOUGH, STARTS = 32, 6, 400  # starts that are tried first, closed ones that are enough, and all that are tried
NEARBY = 8  # starts near the one in which no joint has moved, where robots are at home
SEED = 20
MOTIONS = 4  # random ones at each closed configuration
REMEMBERED = 8  # analyses of robots
POLISHED = 1e-5  # singular values below this part of the largest are zero, if the loops close as well without them
OFTEN = 0.25  # part of the configurations at which a pivot may be smaller: it is judged by this quantile
ROUNDED = 1e-6  # [m, or sine of an angle]: loops of a file whose numbers were rounded close that well
OPEN = 1e-2  # [m, or sine of an angle]: a gap that no rounding of numbers explains
SETTLED = 16  # searches that end with the same gap, after which no other one is likely
BESIDE = 0.3  # [rad or m]: how far from the best configurations further searches start
SMALL = 1e-7  # of the largest pivot: what is less is zero
FIRM = 1e-2  # smallest singular value of a configuration beside the best: those above come first
NEAR = 0.1  # of the largest pivot: those above are good enough to choose the sparsest among them


@dataclass(frozen=True)
class Pivot:
    """A step of the elimination: row and column of J, and the usual size of the pivot."""

    row: int
    column: int
    size: float


@dataclass(frozen=True)
class Choice:
    """Which coordinates depend on which: pivots in the order of elimination, and the columns that are left."""

    pivots: tuple[Pivot, ...]
    independent: tuple[int, ...]

    @property
    def dependent(self) -> tuple[int, ...]:
        """Columns of the pivots."""
        return tuple(pivot.column for pivot in self.pivots)


@dataclass(frozen=True)
class LoopAnalysis:
    """What is known of a mechanism."""

    rows: tuple[str, ...]  # names of all rows
    ranks: tuple[int, ...]  # of each loop alone
    rank: int  # of all together
    redundant: tuple[int, ...]  # rows that are left out
    choice: Choice  # with drives independent as far as possible
    sparse: Choice  # with the fewest operations, for forward dynamics
    driven: tuple[int, ...]  # velocities with drives
    unforced: tuple[int, ...]  # independent velocities of joints without drives: more freedoms than drives
    start_gap: float  # largest residual where no joint has moved [m or 1]
    start: tuple[float, ...]  # the closed configuration nearest to that
    varies: bool  # whether rank is less at some closed configurations
    two_links: tuple[TwoLinks, ...] = ()  # how explicit formulas close all loops, where they do
    samples: tuple[tuple[Array, Array, Array], ...] = field(default=(), compare=False, repr=False)
    """Closed configurations with velocities and accelerations that keep them closed; those that lose rank come last."""

    @property
    def freedoms(self) -> int:
        """Number of independent velocities."""
        return len(self.choice.independent)

    @property
    def fit(self) -> str:
        """How drives and freedoms fit: exactly, too few, over-actuated."""
        if self.unforced:
            return "too few"
        return "over-actuated" if set(self.driven) - set(self.choice.independent) else "exactly"

    @property
    def determined(self) -> bool:
        """Whether drives determine the motion: every independent velocity is that of a drive."""
        return set(self.choice.independent) <= set(self.driven)


_KNOWN: dict[int, tuple[Robot, LoopAnalysis]] = {}  # of the robots that were analysed last


def analysis_of(robot: Robot) -> LoopAnalysis:
    """The analysis of a robot with loops; that of the last few robots is remembered."""
    known = _KNOWN.get(id(robot))
    if known is None or known[0] is not robot:
        mechanism = build_mechanism(Graph(), robot, reframe=False, regroup=False)
        known = _KNOWN[id(robot)] = (robot, analyse(robot, mechanism))
        while len(_KNOWN) > REMEMBERED:
            del _KNOWN[next(iter(_KNOWN))]
    return known[1]


def analyse(robot: Robot, mechanism: Mechanism) -> LoopAnalysis:
    """Analyse the loops of a robot in its own frames; RobotError where they cannot be closed."""
    numbers = LoopNumbers(robot, mechanism)
    start = numbers.start
    gap = float(np.abs(numbers.at(start)[0]).max())
    closed, nearest = _samples(robot, numbers, start)
    matrices = numbers.at(closed)[1]
    usual = np.linalg.norm(matrices, axis=2).max(axis=0)  # rows that are tiny at some configurations are zero there
    ranks = [_rank(J, usual) for J in matrices]
    rank = max(ranks)
    if rank == numbers.size:
        raise Location(robot.source or "python", "loops").error(
            f"{rank} independent rows on {numbers.size} velocities, which leave nothing to move",
            "loops that leave at least one freedom",
            "leave out a loop, or choose a type with fewer rows, or add the joint that moves",
        )
    generic = np.array([J for J, found in zip(matrices, ranks, strict=True) if found == rank])
    velocities, generator = robot.velocities, np.random.default_rng(SEED)
    driven = tuple(k for k, velocity in enumerate(velocities) if velocity.driven)
    elastic = [k for k, velocity in enumerate(velocities) if velocity.elastic]
    passive = [k for k in range(numbers.size) if k not in driven and k not in elastic]
    choice = eliminated(generic, rank, [passive, list(driven), elastic])
    sparse = eliminated(generic, rank, [[*passive, *driven], elastic])
    kept = {pivot.row for pivot in choice.pivots}
    free = _free_by_kind(robot)
    held = matrices[:, sorted(kept)][:, :, list(choice.dependent)] / usual[sorted(kept), None]
    firm = np.linalg.svd(held, compute_uv=False)[:, -1] if rank else np.ones(len(closed))
    firm_first = np.argsort(firm < FIRM * firm.max(), kind="stable")  # nothing is compared well where rank is lost
    states = np.repeat(closed[firm_first], MOTIONS, axis=0)
    return LoopAnalysis(
        rows=tuple(row_names(robot)),
        ranks=tuple(max(_rank(J[list(rows)], usual[list(rows)]) for J in generic) for rows in rows_of_loops(robot)),
        rank=rank,
        redundant=tuple(k for k in range(generic.shape[1]) if k not in kept),
        choice=choice,
        sparse=sparse,
        driven=driven,
        unforced=tuple(k for k in choice.independent if k in passive and k not in free),
        start_gap=gap,
        start=tuple(float(x) for x in nearest),
        varies=min(ranks) < rank,
        two_links=two_links_of(robot, numbers, choice, closed[firm_first]),
        samples=tuple(zip(states, *numbers.motions(states, generator), strict=True)),
    )


def _free_by_kind(robot: Robot) -> set[int]:
    """Velocities of a floating base: of a joint that never has drives, and carries all that have. A platform is passive."""
    within = {robot.links[0].name: set[str]()}  # of each link: the joints that it hangs on
    for joint in robot.joints:
        within[joint.child] = {*within[joint.parent], joint.name}
    moving = [joint for joint in robot.joints if joint.type.velocities]
    bases = {
        joint.name
        for joint in moving
        if joint.driven is None and not joint.type.driven
        if all(joint.name in within[other.parent] for other in moving if other.has_drives)
        if any(joint.name in within[other.parent] for other in moving)
    }
    found, place = set[int](), 0
    for joint in robot.joints:
        count = len(joint.type.velocities)
        if joint.name in bases:
            found |= set(range(place, place + count))
        flexible = robot.link(joint.child).flexible
        place += count + (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
    return found


def _samples(robot: Robot, numbers: LoopNumbers, start: Array) -> tuple[Array, Array]:
    """Closed configurations, the first of them near the start."""
    generator = np.random.default_rng(SEED)
    rigid = numbers.weights == 1.0
    near = [numbers.moved(start, generator.normal(scale=0.05 * k, size=numbers.size) * rigid) for k in range(NEARBY)]
    starts, found, gaps, tried = np.empty((0, len(start))), np.empty((0, len(start))), np.empty(0), 0
    while tried < STARTS:
        count = min(max(SAMPLES, tried), STARTS - tried)  # few where loops close easily
        tried += count
        others = [_another(numbers, generator, found, gaps, k) for k in range(count - (NEARBY if not len(found) else 0))]
        starts = np.concatenate([starts, np.array([*(near if not len(found) else ()), *others])])
        q, gap = numbers.close(starts[len(found) :].copy())
        found, gaps = np.concatenate([found, q]), np.concatenate([gaps, gap])
        if (gaps <= CLOSED * 1e3).sum() >= ENOUGH:
            break
        least = gaps.min()
        if CLOSED * 1e3 < least < OPEN and len(nearly := _nearly_closed(robot, numbers, starts)) >= ENOUGH:
            return nearly[:SAMPLES], nearly[0]
        if least >= OPEN and tried >= STARTS // 4 and (gaps <= 1.05 * least).sum() >= SETTLED:
            break  # the search ends in the same place again and again
    closed = found[gaps <= CLOSED * 1e3]
    if not len(closed):
        e = numbers.at(found)[0]
        least = e[np.argmin(np.linalg.norm(e, axis=1))]
        gaps_of = zip(rows_of_loops(robot), robot.loops, strict=True)
        (gap_left, name), *rest = sorted(((float(np.linalg.norm(least[list(rows)])), loop.name) for rows, loop in gaps_of))[
            ::-1
        ]
        beside = [other for gap, other in rest if gap > 0.01 * gap_left]
        where = Location(robot.source or "python", "loops").at(name)
        raise where.error(
            f"a gap of {gap_left:.3g} (m, or sine of an angle) at best, from {tried} starts"
            + (f", with others at {', '.join(beside[:6])}{', ...' if len(beside) > 6 else ''}" if beside else ""),
            "loops that can be closed, all at once",
            "check lengths and placements, and whether two loops contradict each other",
        )
    polished, gap = numbers.close(closed.copy(), rank=POLISHED)
    closed = np.where((gap <= CLOSED)[:, None], polished, closed)
    return closed[:SAMPLES], closed[0]


def _another(numbers: LoopNumbers, generator: np.random.Generator, found: Array, gaps: Array, number: int) -> Array:
    """A further start: random, or, while nothing closes, every other one beside the best of those found."""
    if not len(found) or number % 2 or gaps.min() <= CLOSED * 1e3:
        return numbers.random(generator)
    best = found[np.argsort(gaps, kind="stable")[:NEARBY]]
    beside = generator.normal(scale=BESIDE, size=numbers.size) * (numbers.weights == 1.0)
    return numbers.moved(best[number // 2 % len(best)], beside)


def _nearly_closed(robot: Robot, numbers: LoopNumbers, starts: Array) -> Array:
    """Configurations that close all loops but for the rounding of a file's numbers, with a warning; none where it is more.

    Loops that hold each other twice (a linkage in a plane, pinned in space) contradict each other by such errors: rows that
    would follow from the others keep them.
    """
    q, gaps = numbers.close(starts.copy(), rank=POLISHED)
    least = float(gaps.min())
    q = q[gaps <= 2.0 * least]
    if least > ROUNDED or len(q) < ENOUGH:
        return q[:0]
    Location(robot.source or "python", "loops").warn(
        f"loops that close to {least:.2g} (m, or sine of an angle) and no better",
        f"loops that close to {CLOSED:g}; up to {ROUNDED:g} is taken for the rounding of numbers",
        "give lengths and placements with more digits, or leave out loops that follow from the others",
    )
    return q


def _rank(J: Array, usual: Array) -> int:
    """Rank of rows, each over its usual length."""
    scaled = np.divide(J, usual[:, None], out=np.zeros_like(J), where=usual[:, None] > 1e-12)
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > SMALL * 10).sum()) if len(values) else 0


def eliminated(matrices: Array, rank: int, tiers: Sequence[Sequence[int]]) -> Choice:
    """Choose pivots at several configurations at once; columns of the first tier before those of the next."""
    A = np.array(matrices, dtype=float)
    norms = np.linalg.norm(A, axis=2, keepdims=True)
    A = np.divide(A, norms, out=np.zeros_like(A), where=norms > 1e-12)
    rows, n = list(range(A.shape[1])), A.shape[2]
    pivots: list[Pivot] = []
    left = [list(tier) for tier in tiers]
    while len(pivots) < rank:
        for tier in left:
            if not tier or not rows:
                continue
            block = np.abs(A[:, rows][:, :, tier])
            sizes = np.quantile(block, OFTEN, axis=0)
            if sizes.max() > SMALL * 10:
                break
        else:
            break
        present = np.abs(A[:, rows]).max(axis=0) > SMALL
        in_row, in_column = present.sum(axis=1), present.sum(axis=0)
        good = np.argwhere(sizes >= NEAR * sizes.max())
        costs = [((in_row[r] - 1) * (in_column[tier[c]] - 1), -sizes[r, c], rows[r], tier[c]) for r, c in good]
        _, _, row, column = min(costs)
        p = A[:, row, column]
        A, norms, p = (x[np.abs(p) > SMALL] for x in (A, norms, p))  # a singular configuration has nothing more to say
        usual = 10.0 ** round(math.log10(float(np.median(np.abs(p) * norms[:, row, 0]))))  # the same on all machines
        rows.remove(row)
        for tier in left:
            if column in tier:
                tier.remove(column)
        factors = A[:, rows, column] / p[:, None]
        A[:, rows] -= factors[:, :, None] * A[:, row][:, None, :]
        pivots.append(Pivot(row, column, usual))
    chosen = {pivot.column for pivot in pivots}
    return Choice(tuple(pivots), tuple(k for k in range(n) if k not in chosen))
