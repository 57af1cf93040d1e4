"""Frame assignments of one robot; the derivation keeps the cheapest for each function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from elastogen.generator.algorithms import affine
from elastogen.generator.algorithms.newton_euler import SIMPLEST, Load, Placed, inverse_dynamics, place
from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.functions.own.expressions import OwnExpressions
from elastogen.generator.functions.own.terms import OwnTerms
from elastogen.generator.loops.analysis import LoopAnalysis, analysis_of
from elastogen.generator.mechanism.drives import Drive, drives
from elastogen.generator.mechanism.elasticity import Elasticity, elasticity
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.mechanism.points import PointedMechanism
from elastogen.generator.mechanism.simplest_form import simplest_forms
from elastogen.generator.program.arguments import POSITIONS
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.names import PARAMETERS
from elastogen.generator.program.program import Extent
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.program.symbolic.carrier import SympyGraph
from elastogen.generator.robot.loops.ranges import position_ranges
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import Indicators, selectors
from elastogen.generator.spatial.vectors import Mat, Vec

GRAPH, SYMPY = "graph", "sympy"
CARRIERS: dict[str, type[Graph]] = {GRAPH: Graph, SYMPY: SympyGraph}
"""What carries the recursions: the graph's own algebra, or SymPy's."""


@dataclass(frozen=True, eq=False)
class Variant:
    """One frame assignment: a mechanism with its frames, and the options of the recursions."""

    robot: Robot
    mechanism: Mechanism
    drives: tuple[Drive, ...]  # per coordinate
    elasticity: Elasticity
    merge: bool
    moment: str
    nominal: dict[str, float]  # values of the live parameters in the robot's description
    driven: tuple[bool, ...]  # which velocities a drive acts on
    clamped: Mapping[int, Value]  # 1 where a coordinate vanishes, else 0; see Indicators.clamped
    ranges: tuple[tuple[float, float], ...]  # per velocity, of the coordinate beside it: for random configurations
    elements: Mapping[str, int]  # which element is inside a sliding joint, where that is not an input
    separate: Mechanism | None = None  # the mechanism with coordinates for the slots of windows, where it has any
    carrier: Mechanism | None = None  # the mechanism with the chosen frames, where wrenches act on them
    expressions: OwnExpressions | None = None  # the user's own terms, where there are any
    closed: Mechanism | None = None  # the mechanism with fewer constants, whose closed motions are the same

    @property
    def own(self) -> OwnExpressions:
        """The user's own terms, lowered once for all frame assignments."""
        assert self.expressions is not None  # of a robot with terms
        return self.expressions

    @property
    def analysis(self) -> LoopAnalysis:
        """The analysis of the robot's loops."""
        return analysis_of(self.robot)

    @property
    def graph(self) -> Graph:
        """The graph of all values."""
        return self.mechanism.graph

    @property
    def size(self) -> Extent:
        """Number of velocities."""
        return Extent(self.mechanism.size, "NQ" if len(self.mechanism.order) == self.mechanism.size else "NV")

    @property
    def positions(self) -> Extent:
        """Number of coordinates."""
        return Extent(len(self.mechanism.order), "NQ")

    @property
    def frame_count(self) -> Extent:
        """Number of frames of the user."""
        return Extent(len(self.mechanism.link_frames), "NFRAMES")

    def input(self, name: str, size: int | None = None) -> list[Value]:
        """The input vector of that name; zero where clamped, positions in the mechanism's order."""
        if size is not None:
            return [self.graph.input(f"{name}[{index}]") for index in range(size)]
        order = self.mechanism.order if name in POSITIONS else range(self.size)
        return self.free([self.graph.input(f"{name}[{index}]") for index in order])

    def by_position(self, values: Sequence[Value]) -> list[list[Value]]:
        """Rows of the derivatives of values by q; along the velocities if there are fewer of them."""
        q = self.input("q")
        if len(q) == self.size:
            return jacobian(self.graph, values, q)
        columns = [self.mechanism.along(values, q, k) for k in range(self.size)]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def pointed(self) -> PointedMechanism:
        """The mechanism with points, if there are any."""
        found = self.carrier or self.mechanism
        assert isinstance(found, PointedMechanism)
        return found

    def free(self, values: Iterable[Value]) -> list[Value]:
        """A vector over all coordinates, with zeros for clamped ones."""
        return [value * (1 - self.clamped[k]) if k in self.clamped else value for k, value in enumerate(values)]

    @property
    def depends_on_elements(self) -> bool:
        """Whether even stiffness and damping change with the place of a telescopic joint."""
        return bool(self.clamped) or not all(body.has_constant_coefficients for body in self.elastic_bodies)

    def zeros(self, size: int | None = None) -> list[Value]:
        """A vector of zeros."""
        return [self.graph.value(0)] * (self.size if size is None else size)

    def place(self, q: Sequence[Value]) -> list[Placed]:
        """Poses of the frames in their parents."""
        return place(self.mechanism, q, merge=self.merge)

    def forces(
        self, q: Sequence[Value], qd: Sequence[Value], qdd: Sequence[Value], gravity: Vec, loads: Sequence[Load] = ()
    ) -> list[Value]:
        """M qdd + C qd + G by Newton-Euler (by transformations where tips are linear), with the inertia of the drives.

        ``loads`` act on frames of ``pointed`` and count against the forces; not where tips are linear.
        """
        if self.mechanism.has_linear_tips:
            variables = [self.input(name) for name in ("q", "qd", "qdd")]  # it differentiates by them
            given = [value for vector in (q, qd, qdd) for value in vector]
            named = [value for vector in variables for value in vector]
            forces = affine.inverse_dynamics(self.mechanism, variables, gravity)
            bodies = substitute(self.graph, forces, replacing(named, given))
        else:
            carrier = self.pointed if loads else self.mechanism
            bodies = inverse_dynamics(carrier, q, qd, qdd, gravity, self.moment, self.merge, loads)
        return self.free([f + drive.inertia * acc for f, drive, acc in zip(bodies, self.drives, qdd, strict=True)])

    def friction(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """D qd + dry friction, and the user's own forces without potential; no load friction."""
        with self.graph.section("friction and damping"):
            within = self.free(self.elasticity.internal_friction(qd))
            return [lost + internal for lost, internal in zip(self._outer_friction(q, qd), within, strict=True)]

    def _outer_friction(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """The same without the internal friction of links, which is proportional to their stiffness."""
        with self.graph.section("friction and damping"):
            start = [drive.dry_friction(rate) for drive, rate in zip(self.drives, qd, strict=True)]
            result = self.elasticity.other_dampers(start, qd)
            for body in self.elastic_bodies:
                body.add_forces(result, body.damping_forces(body.own(q), body.own(qd)))
            if self.robot.terms:
                result = [r + own for r, own in zip(result, OwnTerms(self, q, qd).other_forces, strict=True)]
            return self.free(result)

    @property
    def has_load_friction(self) -> bool:
        """Whether friction of some joint grows with the load of its drive."""
        return not all(drive.load.is_zero for drive in self.drives)

    def loaded(self, rows: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """Driving forces F from rows without load friction."""
        with self.graph.section("friction of loads"):
            return [drive.loaded(row, rate) for drive, row, rate in zip(self.drives, rows, qd, strict=True)]

    def unloaded(self, F: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """The inverse: rows from driving forces."""
        with self.graph.section("friction of loads"):
            return [drive.unloaded(force, rate) for drive, force, rate in zip(self.drives, F, qd, strict=True)]

    def own_potential(self, q: Sequence[Value]) -> Value:
        """The sum of the user's own potentials."""
        return OwnTerms(self, q, self.input("qd")).potential if self.robot.terms else self.graph.value(0)

    def own_potential_forces(self, q: Sequence[Value]) -> list[Value]:
        """dV/dq of the user's own potentials, without weights."""
        return OwnTerms(self, q, self.input("qd")).potential_forces if self.robot.terms else self.zeros()

    def elastic_forces(self, q: Sequence[Value]) -> list[Value]:
        """Q_e = dU/dq of the strain energy U: K q, and a term for the length of a beam outside of its joint."""
        return self._spring_forces(q, q)

    def _spring_forces(self, q: Sequence[Value], led: Sequence[Value]) -> list[Value]:
        """Q_e, with ``led`` (Elasticity.led) instead of q for constant stiffness."""
        with self.graph.section("elastic forces"):
            result = self.elasticity.springs(led)
            for body in self.elastic_bodies:
                body.add_forces(result, body.elastic_forces(body.own(q)))
            return self.free(result)

    def strain_energy(self, q: Sequence[Value]) -> Value:
        """U = 1/2 q^T K(q) q."""
        with self.graph.section("strain energy"):
            total = self.graph.value(0)
            for row, x in zip(self.elasticity.K, q, strict=False):
                for stiffness, y in zip(row, q, strict=False):
                    if not stiffness.is_zero:
                        total = total + 0.5 * stiffness * x * y
            for body in self.elastic_bodies:
                total = total + body.elastic_energy(body.own(q))
            return total

    def resistances(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """Q_e + D qd + dry friction, and the user's own terms; no load friction."""
        springs = self._spring_forces(q, self.elasticity.led(q, qd))
        rows = zip(springs, self._outer_friction(q, qd), self.own_potential_forces(q), strict=True)
        return [spring + lost + own for spring, lost, own in rows]

    @property
    def elastic_bodies(self) -> list[ElasticBody]:
        """The flexible bodies."""
        return [frame.elastic for frame in self.mechanism.frames if frame.elastic is not None]

    def stiffness(self, q: Sequence[Value]) -> Mat:
        """K, at q where it depends on the length of a beam outside of its joint."""
        K = [list(row) for row in self.elasticity.K]
        for body in self.elastic_bodies:
            body.add_block(K, body.elastic_matrix(body.own(q)))
        return self.masked(self._with_tangents(K, q, "q"), 0)

    def damping(self, q: Sequence[Value]) -> Mat:
        """D, at q where it depends on the length of a beam outside of its joint."""
        D = [list(row) for row in self.elasticity.D]
        for body in self.elastic_bodies:
            body.add_block(D, body.damping_matrix(body.own(q)))
        return self.masked(self._with_tangents(D, q, "qd"), 0)

    def _with_tangents(self, matrix: Mat, q: Sequence[Value], by: str) -> Mat:
        """A matrix plus the derivatives of the user's own forces at rest."""
        if not self.robot.terms:
            return matrix
        qd = self.input("qd")
        own = OwnTerms(self, q, qd)
        forces = [x + y for x, y in zip(own.potential_forces, own.other_forces, strict=True)]
        rows = self.by_position(forces) if by == "q" else jacobian(self.graph, forces, self.input(by))
        slopes = [value for row in rows for value in row]
        at_rest = substitute(self.graph, slopes, replacing(qd, self.zeros()))
        n = self.size
        return [[x + y for x, y in zip(row, at_rest[n * k : n * k + n], strict=True)] for k, row in enumerate(matrix)]

    def masked(self, matrix: Mat, diagonal: float) -> Mat:
        """A matrix with zero rows and columns for clamped coordinates, and a number on their diagonal."""
        columns = zip(*(self.free(row) for row in matrix), strict=True)
        result = [list(row) for row in zip(*(self.free(column) for column in columns), strict=True)]
        for k, clamped in self.clamped.items():
            result[k][k] = result[k][k] + clamped * diagonal
        return result

    def with_drive_inertia(self, M: Mat) -> Mat:
        """A mass matrix with the inertia of the drives on its diagonal; 1 for clamped coordinates."""
        result = [list(row) for row in M]
        for index, drive in enumerate(self.drives):
            result[index][index] = result[index][index] + drive.inertia
        return self.masked(result, 1)


class VariantFamily:
    """All frame assignments of one robot in one graph, made on request; ``safe``: only the description's frames.

    ``derivation`` is the carrier of the recursions, one of ``CARRIERS``; ``opening``: equations hold for open loops too.
    """

    def __init__(
        self,
        robot: Robot,
        elements: Mapping[str, int] = MappingProxyType({}),
        frames: tuple[str, ...] = (),
        *,
        safe: bool = False,
        derivation: str = GRAPH,
        opening: bool = False,
    ) -> None:
        self.safe, self.derivation, self.opening = safe, derivation, opening
        self.robot, self.elements, self.selectors, self.frames = robot, elements, selectors(robot), frames
        self.graph = CARRIERS[derivation]()
        self._mechanisms: dict[tuple[object, ...], Mechanism] = {}
        self._plain: dict[bool, Variant] = {}
        self._frame_assignments: dict[str, list[Variant]] = {}
        self._best: dict[str, Variant] = {}
        self._expressions = OwnExpressions(robot) if robot.terms else None
        self._nominal = {parameter.name: parameter.value for parameter in robot.live_parameters}
        lower, inside = Lowering(self.graph, robot), Indicators(self.graph, robot, elements)
        self._driven = tuple(velocity.driven for velocity in robot.velocities)
        self._ranges = position_ranges(robot)
        with self.graph.section(PARAMETERS):
            self._clamped = inside.clamped(robot)
            self._drives, self._elasticity = drives(lower, robot), elasticity(lower, robot, inside)

    def mechanism(
        self, *, reframe: bool, regroup: bool, separate: bool = False, points: bool = False, frames: tuple[str, ...] = (),
        closed: bool = False,
    ) -> Mechanism:  # fmt: skip
        """The mechanism with or without optimized frames, base parameters, slots of windows, and points."""
        key = (reframe, regroup, separate, points, frames, closed)
        if key not in self._mechanisms:
            with self.graph.section(PARAMETERS):
                self._mechanisms[key] = build_mechanism(
                    self.graph, self.robot, reframe=reframe, regroup=regroup, elements=self.elements, separate=separate,
                    points=points, frames=frames, closed=closed,
                )  # fmt: skip
        return self._mechanisms[key]

    def plain(self, *, merge: bool = False) -> Variant:
        """The description's own frames and inertial parameters."""
        if merge not in self._plain:
            self._plain[merge] = self._variant(False, False, merge, "tensor")
        return self._plain[merge]

    def kinematic(self) -> list[Variant]:
        """Frame assignments for functions in which the user's frames matter."""
        return [self.plain(merge=merge) for merge in ((False,) if self.safe else _merges(self.plain().mechanism))]

    @property
    def _alone(self) -> bool:
        """Whether each family has only one frame assignment: if linear tips shear frames, or on request."""
        return self.safe or self.plain().mechanism.has_linear_tips

    def dynamic(self, frames: tuple[str, ...] = ()) -> list[Variant]:
        """Frame assignments for functions in which only the motion matters, and wrenches on ``frames``."""
        if self._alone:
            return [self._variant(False, False, False, "tensor", frames) if frames else self.plain()]
        return [
            self._variant(reframe, True, merge, moment, frames)
            for reframe in (False, True)
            for merge in _merges(self.mechanism(reframe=reframe, regroup=True))
            for moment in ("tensor", "pseudo-inertia")
        ]

    def pointed(self, frames: tuple[str, ...] = ()) -> list[Variant]:
        """Frame assignments for functions of the robot's points, or of frames."""
        found = []
        for reframe in (False,) if self._alone else (False, True):
            mechanism = self.mechanism(reframe=reframe, regroup=False, points=not frames, frames=frames)
            merges = (False,) if self._alone else _merges(mechanism)
            found += [replace(self.plain(merge=merge), mechanism=mechanism) for merge in merges]
        return found

    def physical(self) -> list[Variant]:
        """Frame assignments in which every frame carries the bodies that are there, for forces between them."""
        if self._alone:
            return self.pointed()
        found = []
        for variant in self.pointed():
            simpler = any(form.is_other for form in simplest_forms(variant.mechanism, ahead=True))
            moments = ("tensor", "pseudo-inertia", *((SIMPLEST,) if simpler else ()))
            found += [replace(variant, moment=moment) for moment in moments]
        return found

    def frame_assignments(self, family: str) -> list[Variant]:
        """The frame assignments of a family ("plain" if it has no method), in a fixed order, made once."""
        if family not in self._frame_assignments:
            made: dict[str, Callable[[], list[Variant]]] = {
                "kinematic": self.kinematic, "dynamic": self.dynamic, "points": self.pointed, "physical": self.physical,
                "frames": lambda: self.pointed(self.frames), "loaded": lambda: self.dynamic(self.frames),
                "grounded": lambda: self.pointed(tuple(n for n, _ in self.robot.ground.points) if self.robot.ground else ()),
                "contacts": lambda: self.dynamic(tuple(contact.frame for contact in self.robot.contacts)),
            }  # fmt: skip
            self._frame_assignments[family] = made[family]() if family in made else [self.plain()]
        return self._frame_assignments[family]

    def best(self, family: str, cost: Callable[[Variant], float]) -> Variant:
        """The cheapest frame assignment of a family, found once."""
        if family not in self._best:
            self._best[family] = min(self.frame_assignments(family), key=cost)
        return self._best[family]

    def _variant(self, reframe: bool, regroup: bool, merge: bool, moment: str, frames: tuple[str, ...] = ()) -> Variant:
        mechanism = self.mechanism(reframe=reframe, regroup=regroup)
        windows = any(frame.window is not None for frame in mechanism.frames)
        return Variant(
            self.robot, mechanism, self._drives, self._elasticity, merge, moment, self._nominal, self._driven, self._clamped,
            self._ranges, self.elements,
            self.mechanism(reframe=reframe, regroup=regroup, separate=True) if windows else None,
            self.mechanism(reframe=reframe, regroup=regroup, frames=frames) if frames else None, self._expressions,
            self.mechanism(reframe=reframe, regroup=regroup, closed=True)
            if regroup and self.robot.loops and not self.opening else None,
        )  # fmt: skip


def _merges(mechanism: Mechanism) -> tuple[bool, ...]:
    """Whether to join parallel axes: both choices, or the only one."""
    return (False, True) if mechanism.has_parallel_axes else (False,)
