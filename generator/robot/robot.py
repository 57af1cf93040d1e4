"""The validated robot: frozen data in SI units and radians, from which everything else is derived.

A scalar is a number or a SymPy expression in the robot's named :class:`Parameter` symbols. *Live* parameters stay inputs of
the generated C; the others become numbers in code, and stay symbols in closed forms.

Every joint carries its child link: ``T_parent_child(q) = before . motion(axis, q) . after``, where ``before`` goes
from the parent's link frame to the joint, the motion is that of the joint's kind (generator/joints), and ``after``
goes from the moved joint frame to the child's link frame (identity except for standard DH tables).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.drive.actuation import Actuation as Actuation
from elastogen.generator.robot.drive.actuation import JointElasticity as JointElasticity
from elastogen.generator.robot.drive.actuation import Limits as Limits
from elastogen.generator.robot.experiment import Experiment
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.looks import Look
from elastogen.generator.robot.loops.loop import ClosedLoop
from elastogen.generator.robot.own.extensible import Extensible

if TYPE_CHECKING:  # SymPy is imported when a symbol is asked for: a robot that is known starts without it
    import sympy

    from elastogen.generator.robot.loops.contacts import Contact
    from elastogen.generator.robot.own.functions import OwnFunction
    from elastogen.generator.robot.own.ground import Ground
    from elastogen.generator.robot.own.terms import Term
    from elastogen.runtime.interface.channel import Channel

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
        import sympy

        return sympy.Symbol(self.name, real=True)


@dataclass(frozen=True)
class Coupling:
    """The position of a coupled joint: an expression in the coordinates called ``leaders`` and in parameters."""

    position: sympy.Expr  # in the symbols of generator/joints/coupled.py
    leaders: tuple[str, ...]


@dataclass(frozen=True, repr=False)
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
    interface: str = field(default="", metadata={"later": True})
    """On a flexible parent, the interface it sits on, ``before`` seen from there; "": on the tip, as nothing was said."""

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
        """Whether its motion consists of rotations and displacements, each by one coordinate of its own."""
        kind = self.type
        moved = kind.rides_parent or kind.feeds_child or self.coupling is not None
        return not moved and len(kind.screws(self)) == len(kind.coordinates)

    @property
    def has_drives(self) -> bool:
        """Whether forces act on its velocities."""
        return self.type.driven if self.driven is None else self.driven

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.type.name}, {self.parent!r} -> {self.child!r})"

    @property
    def unit(self) -> str:
        """Unit of the first coordinate: that of limits, drive and spring of a joint with one coordinate."""
        return self.type.coordinates[0].unit if self.type.moves else ""


@dataclass(frozen=True)
class Body:
    """Inertial data of a rigid body, in the axes of the frame it is attached to."""

    mass: Scalar = 0  # [kg]
    com: Vector = (0, 0, 0)  # centre of mass [m]
    inertia: Matrix = ZERO3  # about the centre of mass [kg m^2]


@dataclass(frozen=True, repr=False)
class Link:
    """A link: its name and its inertial data in the link frame; ``tip_body`` sits on the tip of a flexible link."""

    name: str
    body: Body = field(default_factory=Body)
    flexible: FlexibleBody | None = None
    tip_body: Body = field(default_factory=Body)

    @property
    def whole_mass(self) -> Scalar:
        """Mass of the whole link [kg]: ``body`` (the hub of a flexible link), flexible body and tip body."""
        return self.body.mass + self.tip_body.mass + (0 if self.flexible is None else self.flexible.mass)

    def __repr__(self) -> str:
        bends = "" if self.flexible is None else f", flexible by {len(self.flexible.coordinates)} coordinates"
        return f"Link({self.name!r}, {self.whole_mass} kg{bends})"


@dataclass(frozen=True)
class Gauge:
    """A strain gauge along the beam: it reads -offset w''(x) for bending in its direction, and u' where the link stretches."""

    direction: str  # "y" or "z": of the deflection w; on a solid "x", "y" or "z" of the point's frame: of the strain itself
    offset: Scalar | None = None  # from the neutral line of a beam, along the direction [m]


@dataclass(frozen=True)
class Point:
    """A frame that moves with the material of a link, or with a joint.

    On a link, ``pose`` is the frame in the undeformed link; on a beam the section at x = pose[0][3] carries it, rotated as
    the tip is rotated by the slopes there (003 (3)-(5)). On a joint, ``pose`` is relative to the joint on the parent, before
    the motion; for a sliding joint, relative to its present place on the beam.
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


@dataclass(frozen=True, repr=False)
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
    loops: tuple[ClosedLoop, ...] = field(default=(), metadata={"later": True})  # what closes the tree to a mechanism
    sensors: tuple[Channel, ...] = field(default=(), metadata={"later": True})  # what the own function measurement reads
    contacts: tuple[Contact, ...] = field(default=(), metadata={"later": True})  # frames that touch something
    ground: Ground | None = field(default=None, metadata={"later": True})  # what the own terms ground_<frame> are made from
    source: str = ""  # what the user loaded: a file's name or "python"; for messages only
    looks: tuple[Look, ...] = field(default=(), compare=False, repr=False)  # meshes, for pictures only
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)  # absolute paths of all files that it was read from

    def __repr__(self) -> str:
        elastic = sum(coordinate.elastic for coordinate in self.coordinates)
        bends = f", {elastic} of them elastic" if elastic else ""
        loops = f", {len(self.loops)} loops" if self.loops else ""
        size = f"{len(self.moving_joints)} moving joints, {len(self.coordinates)} coordinates{bends}{loops}"
        return f"Robot({self.name!r}, {size}, {len(self.live_parameters)} live parameters)"

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
        """The entries of velocities and forces: the coordinates, except quasi-velocities; units are those of q."""
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
        """Whether some velocities are not time derivatives of coordinates, as in joints with a quaternion."""
        return any(joint.type.velocities != joint.type.coordinates for joint in self.joints)

    @property
    def has_load_friction(self) -> bool:
        """Whether some joint has load friction."""
        return any(joint.actuation.load != 0 for joint in self.joints if joint.type.moves)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """The indices in q at which quaternions start."""
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

    def link(self, name: str) -> Link:
        """Return the link of that name."""
        if (found := next((link for link in self.links if link.name == name), None)) is not None:
            return found
        fix = did_you_mean(name, links := [link.name for link in self.links], f"known are {', '.join(links)}")
        raise Location(self.source or "python", "links").error(name, "the name of a link", fix)
