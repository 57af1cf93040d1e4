"""The validated robot: frozen data in SI units and radians, from which everything else is derived.

A scalar is a plain number or a SymPy expression in the robot's named :class:`Parameter` symbols. Parameters
that are *live* stay inputs of the generated C; the others are replaced by their values when code is generated
and stay symbols when closed forms are derived for reading.

Every joint carries its child link: ``T_parent_child(q) = before . motion(axis, q) . after``, where ``before`` goes
from the parent's link frame to the joint, the motion is that of the joint's kind (generator/joints), and ``after``
goes from the moved joint frame to the child's link frame (identity except for standard DH tables).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import sympy

from elastogen.generator.robot.experiment import Experiment
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.looks import Look
from elastogen.generator.robot.own.extensible import Extensible
from elastogen.generator.robot.own.functions import OwnFunction
from elastogen.generator.robot.own.terms import Term

if TYPE_CHECKING:
    from elastogen.generator.beams.damping_parts import DampingParts
    from elastogen.generator.beams.integrals import ShapedBeam

Scalar: TypeAlias = "int | float | sympy.Expr"
Vector: TypeAlias = "tuple[Scalar, Scalar, Scalar]"
Matrix: TypeAlias = "tuple[tuple[Scalar, ...], ...]"

IDENTITY: Matrix = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
ZERO3: Matrix = ((0, 0, 0), (0, 0, 0), (0, 0, 0))


@dataclass(frozen=True)
class Parameter:
    """A named number of the robot; ``live`` ones become fields of the generated ``<name>_params_t``."""

    name: str
    value: float
    unit: str = ""
    doc: str = ""
    live: bool = False

    @property
    def symbol(self) -> sympy.Symbol:
        """The SymPy symbol that stands for this parameter in the robot's expressions."""
        return sympy.Symbol(self.name, real=True)


@dataclass(frozen=True)
class Limits:
    """Range of a joint's motion; used by checks, simulation and watchdogs, never by the equations of motion."""

    lower: float | None = None  # [rad] or [m]
    upper: float | None = None  # [rad] or [m]
    velocity: float | None = None  # [rad/s] or [m/s]
    effort: float | None = None  # [N m] or [N]


@dataclass(frozen=True)
class Actuation:
    """Drive of a joint: reflected motor inertia ``gear_ratio**2 * motor_inertia``, viscous and Coulomb friction.

    Friction force on the joint side: ``viscous * qd + coulomb * tanh(qd / coulomb_velocity)``.
    """

    motor_inertia: Scalar = 0  # rotor side [kg m^2] (for a prismatic joint with gear_ratio in rad/m likewise)
    gear_ratio: Scalar = 1  # motor turns per joint turn [-], or [rad/m] for a prismatic joint
    viscous: Scalar = 0  # [N m s/rad] or [N s/m], joint side
    coulomb: Scalar = 0  # [N m] or [N], joint side
    coulomb_velocity: Scalar = 0.01  # width of the smoothed sign [rad/s] or [m/s]


@dataclass(frozen=True)
class JointElasticity:
    """A spring and a damper between the drive and the link.

    The joint's own coordinate is then the position of the drive (on the joint's side of the gear), which carries the motor
    inertia; the deflection is a further coordinate, directly behind it. The link turns (slides) by their sum.
    """

    stiffness: Scalar  # [N m/rad] or [N/m]
    damping: Scalar = 0  # [N m s/rad] or [N s/m]


@dataclass(frozen=True)
class Coupling:
    """What a coupled joint follows: its position, an expression in the coordinates called ``leaders`` and in parameters."""

    position: sympy.Expr  # in the symbols of generator/joints/coupled.py
    leaders: tuple[str, ...]


@dataclass(frozen=True)
class Joint:
    """A joint between two links, see the module's text for its transformation."""

    name: str
    type: JointKind
    parent: str
    child: str
    axis: Vector = (0, 0, 1)  # unit vector in the joint frame
    before: Matrix = IDENTITY
    after: Matrix = IDENTITY
    limits: Limits = field(default_factory=Limits)
    actuation: Actuation = field(default_factory=Actuation)
    elasticity: JointElasticity | None = None
    slide: str = "smooth"  # sliding and telescopic joints: "smooth", or "nodal" as paper 003 prints it
    details: Mapping[str, Scalar | Vector] = field(default_factory=dict, hash=False, metadata={"later": True})
    """Numbers that only joints of its kind have, by their keys in a file: a pitch, a second axis."""

    coupling: Coupling | None = field(default=None, metadata={"later": True})  # of coupled kinds
    driven: bool | None = field(default=None, metadata={"later": True})  # whether it has drives; None: as its kind

    def detail(self, key: str) -> Scalar:
        """A scalar of its kind."""
        value = self.details[key]
        assert not isinstance(value, tuple)  # validated
        return value

    def direction(self, key: str) -> Vector:
        """A unit vector of its kind."""
        value = self.details[key]
        assert isinstance(value, tuple)  # validated
        return value

    @property
    def by_screws(self) -> bool:
        """Whether its motion is made of turns and displacements, each by one coordinate of its own."""
        kind = self.type
        moved = kind.rides_parent or kind.feeds_child or self.coupling is not None
        return not moved and len(kind.screws(self)) == len(kind.coordinates)

    @property
    def has_drives(self) -> bool:
        """Whether forces act on its velocities."""
        return self.type.driven if self.driven is None else self.driven

    @property
    def unit(self) -> str:
        """Unit of the first coordinate: that of limits, drive and spring of a joint with one coordinate."""
        return self.type.coordinates[0].unit if self.type.moves else ""


@dataclass(frozen=True)
class Body:
    """Inertial data of something rigid, in the axes of the frame it is attached to."""

    mass: Scalar = 0  # [kg]
    com: Vector = (0, 0, 0)  # centre of mass [m]
    inertia: Matrix = ZERO3  # about the centre of mass [kg m^2]


@dataclass(frozen=True)
class Centreline:
    """The axis of a beam in the plane x, y, along which a joint can slide: the shape fields there, piece by piece.

    On piece i, from breaks[i] to breaks[i + 1], with t going from 0 to 1, component c (x, y) of field n is the polynomial
    sum_k pieces[i][n][c][k] t^k.
    """

    length: Scalar  # [m]
    breaks: tuple[float, ...]  # places x / length
    pieces: tuple[tuple[tuple[tuple[Scalar, ...], tuple[Scalar, ...]], ...], ...]


@dataclass(frozen=True)
class Telescope:
    """A uniform beam that slides through its joint: what of it sticks out is the flexible part, of length d.

    ``nodal`` clamps (paper 003, 4.3): all nodes, the first one too, have coordinates, and those of the element inside
    the joint vanish. Else the clamp is the material point inside the joint, and equal elements divide what sticks out.
    Then ``foreshortening`` belongs to the part outside, and ``damping`` lists exponents e and matrices D_e of a damping
    sum_e d^(e + p_i + p_j) D_e beside the body's constant one, with p = 1 for slopes and 0 for deflections and amplitudes; a
    single one may have parts that cost less, with the stiffness K of EI = d = 1. With
    nodal clamps ``held_damping`` may hold a matrix for each element inside the joint, likewise beside the constant one.

    ``modes`` of a beam that is reduced to them, one in every column: their deflections and slopes at the free nodes, in turn,
    as functions of eta that goes from 0 to 1 along what sticks out, however long that is. Empty: the coordinates are nodal.
    """

    length: Scalar  # [m]
    mass_per_length: Scalar  # [kg/m]
    EI: Scalar  # [N m^2]
    elements: int
    nodal: bool
    foreshortening: bool = False
    damping: tuple[tuple[int, Matrix], ...] = ()
    held_damping: tuple[Matrix, ...] = ()
    modes: tuple[tuple[float, ...], ...] = ()
    damping_parts: DampingParts | None = field(default=None, metadata={"later": True})

    @property
    def moves_tip(self) -> bool:
        """Whether the tip moves in the link frame when d does and the elastic coordinates do not."""
        return self.foreshortening or bool(self.modes)


@dataclass(frozen=True)
class Reduction:
    """How the modes of a beam were computed: from how many elements, and by how much each frequency is too high."""

    elements: int
    errors: tuple[float, ...]  # relative, against a mesh twice as fine


@dataclass(frozen=True)
class FlexibleBody:
    """The standard data of a flexible body, clamped in its link frame.

    A material point r of the undeformed body is at ``r + sum_n c_n(x) b_n(r)``, where x are the elastic coordinates, b_n the
    shape fields and c_n their coefficients: a coordinate x_j for a mode, a product x_j x_k for a second-order field
    (foreshortening). ``monomials[n]`` lists the coordinates in c_n: (j,) or (j, k). All integrals are over the undeformed
    body, in the axes of the link frame and about its origin. Links further out are attached to the tip frame.
    """

    coordinates: tuple[str, ...]  # names of the elastic coordinates
    monomials: tuple[tuple[int, ...], ...]
    mass: Scalar  # int dm [kg]
    first_moments: Vector  # int r dm [kg m]
    second_moments: Matrix  # int r r^T dm, 3 x 3 [kg m^2]
    field_integrals: Matrix  # int b_n dm, fields x 3
    field_position_integrals: tuple[Matrix, ...]  # int b_n r^T dm, per field 3 x 3 (row: b, column: r)
    field_field_integrals: tuple[tuple[Matrix, ...], ...]  # int b_n b_m^T dm, per pair of fields 3 x 3
    stiffness: Matrix  # coordinates x coordinates
    damping: Matrix  # coordinates x coordinates
    tip_pose: Matrix  # undeformed tip frame in the link frame, 4 x 4
    tip_displacements: Matrix  # b_n at the tip, fields x 3, in link axes
    tip_rotations: Matrix  # rotation vector of the tip per unit coordinate, coordinates x 3, in link axes
    tip: str = "exponential"  # rotation of the tip: exp{delta x} ("exponential") or E + {delta x} ("linear", 000 (66))
    centreline: Centreline | None = None  # of a beam in the plane x, y
    telescope: Telescope | None = None  # of a beam on a telescopic joint; the integrals are those with all of it outside
    reduction: Reduction | None = None  # of finite elements that were reduced to their lowest modes
    units: tuple[str, ...] = ()  # of the elastic coordinates; none where they are those of the modes in given data
    beam: ShapedBeam | None = field(default=None, compare=False, repr=False)  # what the integrals were computed from
    damping_parts: DampingParts | None = field(default=None, metadata={"later": True})  # where they cost less than the matrix

    @property
    def clamp_moves(self) -> bool:
        """Whether its joint moves the place where it is clamped: then the joint's coordinate deforms it as well."""
        return self.telescope is not None and not self.telescope.nodal

    @property
    def tip_moves(self) -> bool:
        """Whether the tip moves in the link frame when the clamp does and the elastic coordinates do not."""
        return self.clamp_moves and self.telescope is not None and self.telescope.moves_tip

    @property
    def foreshortened(self) -> bool:
        """Whether the body has displacements of second order, which stiffen it when it spins."""
        moving = self.telescope is not None and self.telescope.foreshortening
        return moving or any(len(monomial) > 1 for monomial in self.monomials)


@dataclass(frozen=True)
class Link:
    """A link: its name and its inertial data in the link frame; ``tip_body`` sits on the tip of a flexible link."""

    name: str
    body: Body = field(default_factory=Body)
    flexible: FlexibleBody | None = None
    tip_body: Body = field(default_factory=Body)


@dataclass(frozen=True)
class Gauge:
    """A strain gauge along the beam: it reads -offset w''(x) for bending in its direction, and u' where the link stretches."""

    direction: str  # "y" or "z": of the deflection w
    offset: Scalar  # from the neutral line, along the direction [m]


@dataclass(frozen=True)
class Point:
    """A frame that moves with the material of a link, or with a joint.

    On a link, ``pose`` is the frame in the undeformed link; on a beam the section at x = pose[0][3] carries it, turned as
    the tip is turned by the slopes there (003 (3)-(5)). On a joint, ``pose`` is seen from where the joint sits: on the parent
    before the motion; of a sliding joint on the beam, wherever it is.
    """

    name: str
    link: str = ""
    joint: str = ""
    pose: Matrix = IDENTITY
    strain: Gauge | None = None


@dataclass(frozen=True)
class Coordinate:
    """A generalized coordinate; without a unit where that is the unit of a mode in given data."""

    name: str
    unit: str
    elastic: bool
    driven: bool  # whether a drive acts on it: not on elastic ones, not on a free base


@dataclass(frozen=True)
class Robot(Extensible):
    """A fixed-base tree of links. ``joints`` are in coordinate order: every parent link comes before its children.

    The base link is the root of the tree, its frame is the base frame (frame 0). The tip frame is
    ``tool`` seen from the link called ``tip``; the payload is attached to the tip frame.
    """

    name: str
    links: tuple[Link, ...]  # the base link first, then the child of joints[0], joints[1], ...
    joints: tuple[Joint, ...]
    gravity: Vector = (0, 0, -9.81)  # [m/s^2] in the base frame
    tip: str = ""  # name of the link that carries the tip frame
    tool: Matrix = IDENTITY  # tip frame in the frame of that link
    payload: Body = field(default_factory=Body)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    description: str = ""
    points: tuple[Point, ...] = field(default=(), metadata={"later": True})  # sensors and other places of interest
    experiment: Experiment | None = None  # what a simulation shows by default; shapes no code
    terms: tuple[Term, ...] = field(default=(), metadata={"later": True})  # own potentials, dissipation and forces
    functions: tuple[OwnFunction, ...] = field(default=(), metadata={"later": True})  # own control laws, observers, ...
    source: str = ""  # what the user loaded: a file's name or "python"; for messages only
    looks: tuple[Look, ...] = field(default=(), compare=False, repr=False)  # meshes, for pictures only
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)  # absolute paths of all files that it was read from

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        """The joints with a coordinate, in coordinate order."""
        return tuple(joint for joint in self.joints if joint.type.moves)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The generalized coordinates in the papers' order: joint 1, its deflection, link 1's modes, joint 2, ..."""
        return self._listed(lambda kind: kind.coordinates)

    @property
    def velocities(self) -> tuple[Coordinate, ...]:
        """What velocities and forces have an entry for: the coordinates, but for quasi-velocities; units are those of q."""
        return self._listed(lambda kind: kind.velocities)

    def _listed(self, of_kind: Callable[[JointKind], Sequence[JointCoordinate]]) -> tuple[Coordinate, ...]:
        found: list[Coordinate] = []
        for joint in self.joints:
            drive = joint.has_drives
            found += [Coordinate(c.name(joint.name), c.unit, elastic=False, driven=drive) for c in of_kind(joint.type)]
            if joint.elasticity is not None:
                found.append(Coordinate(f"{joint.name}.deflection", joint.unit, elastic=True, driven=False))
            flexible = self.link(joint.child).flexible
            if flexible is not None:
                units = flexible.units or ("",) * len(flexible.coordinates)
                named = zip(flexible.coordinates, units, strict=True)
                found += [Coordinate(f"{joint.child}.{name}", unit, elastic=True, driven=False) for name, unit in named]
        return tuple(found)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the generalized coordinates."""
        return tuple(coordinate.name for coordinate in self.coordinates)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocities."""
        return tuple(velocity.name for velocity in self.velocities)

    @property
    def has_quasi_velocities(self) -> bool:
        """Whether some velocities are not the time derivatives of coordinates: those of joints with a quaternion."""
        return any(joint.type.velocities != joint.type.coordinates for joint in self.joints)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where the quaternions start in q."""
        starts, place = [], 0
        for joint in self.joints:
            beyond = len(joint.type.coordinates) - len(joint.type.velocities)
            place += len(joint.type.coordinates)
            starts += [place - 4] * beyond
            flexible = self.link(joint.child).flexible
            place += (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        return tuple(starts)

    @property
    def live_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that stay inputs of the generated code, in the order of their declaration."""
        return tuple(p for p in self.parameters.values() if p.live)

    def with_points(self, *points: Point) -> Robot:
        """The robot with further points."""
        return replace(self, points=(*self.points, *points))

    def link(self, name: str) -> Link:
        """Return the link of that name."""
        if (found := next((link for link in self.links if link.name == name), None)) is not None:
            return found
        fix = did_you_mean(name, [link.name for link in self.links], "name one of the robot's links")
        raise Location(self.source or "python", "links").error(name, "the name of a link", fix)
