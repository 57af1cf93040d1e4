"""A user's own terms of the equations of motion, and their symbols.

Symbols have names instead of numbers, so that a term survives changes of the robot: ``q[elbow]``, ``qd[elbow]``,
``position[tip].x``. Parameters, which are C identifiers, cannot have such names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import sympy

from elastogen.generator.robot.frames import frame_names
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.runtime.interface.provided import provided

if TYPE_CHECKING:
    from elastogen.generator.functions.own.calls import Calls
    from elastogen.generator.robot.robot import Robot

TIME = "time"  # the live parameter that holds the time [s] where a term depends on it
AXES = ("x", "y", "z")
MOMENTS = ("mx", "my", "mz")


@dataclass(frozen=True)
class Term:
    """Adds dV/dq + dR/dqd - Q to the left side of the equations of motion, M qdd + ... = F.

    ``potential`` is V(q, t) [J], ``dissipation`` Rayleigh's function R(q, qd, t) [W], ``forces`` Q(q, qd, t) by coordinate
    [N m] or [N], and ``frame_forces`` forces in base components [N] by the frame at whose origin they act, three components or,
    with a moment [N m] behind them, six.
    """

    name: str
    potential: sympy.Expr = sympy.S.Zero
    dissipation: sympy.Expr = sympy.S.Zero
    forces: Mapping[str, sympy.Expr] = field(default_factory=dict)
    frame_forces: Mapping[str, tuple[sympy.Expr, ...]] = field(default_factory=dict)

    @property
    def expressions(self) -> dict[str, sympy.Expr]:
        """All expressions, by their names in messages."""
        found = {"potential": self.potential, "dissipation": self.dissipation}
        found |= {f"forces.{name}": force for name, force in self.forces.items()}
        for name, force in self.frame_forces.items():
            found |= {f"forces.{name}.{axis}": component for axis, component in zip((*AXES, *MOMENTS), force, strict=False)}
        return found

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        """Every symbol that occurs."""
        return {symbol for expression in self.expressions.values() for symbol in expression.free_symbols}

    def replaced(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> Term:
        """The term with symbols replaced."""
        forces = {name: force.xreplace(values) for name, force in self.forces.items()}
        frame_forces = {
            name: tuple(component.xreplace(values) for component in force) for name, force in self.frame_forces.items()
        }
        return Term(self.name, self.potential.xreplace(values), self.dissipation.xreplace(values), forces, frame_forces)


@dataclass(frozen=True)
class Meaning:
    """The meaning of a symbol; ``of`` is a coordinate or a frame."""

    kind: str  # q, qd, qdd, position, velocity, angular_velocity or rotation
    of: str
    index: int = 0  # component; of rotations 3 * row + column


def symbol(name: str) -> sympy.Symbol:
    """The real symbol of that name."""
    return sympy.Symbol(name, real=True)


class Symbols:
    """The symbols of a robot: ``s.q``, ``s.qd``, ``s.qdd``, ``s.t``, ``s.parameter("k")``, ``s.position("tip")``, ..."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._where = Location(robot.source or "python", "symbols")

    def _vector(self, kind: str) -> sympy.ImmutableMatrix:
        return sympy.ImmutableMatrix([symbol(f"{kind}[{name}]") for name in self._names(kind)])

    def _names(self, kind: str) -> tuple[str, ...]:
        """Names of the entries of q, qd or qdd; with quaternions velocities differ from coordinates."""
        return self._robot.coordinate_names if kind == "q" else self._robot.velocity_names

    @cached_property
    def q(self) -> sympy.ImmutableMatrix:
        """Coordinates [rad] or [m], a column."""
        return self._vector("q")

    @cached_property
    def qd(self) -> sympy.ImmutableMatrix:
        """Velocities [rad/s] or [m/s], a column."""
        return self._vector("qd")

    @cached_property
    def qdd(self) -> sympy.ImmutableMatrix:
        """Accelerations [rad/s^2] or [m/s^2], a column."""
        return self._vector("qdd")

    @property
    def t(self) -> sympy.Symbol:
        """The time [s]."""
        return symbol(TIME)

    def coordinate(self, name: str) -> sympy.Symbol:
        """The coordinate of that name, an entry of ``q``."""
        return symbol(f"q[{self._known(name, self._robot.coordinate_names, 'coordinate')}]")

    def velocity_of(self, name: str) -> sympy.Symbol:
        """The velocity of that name (that of the coordinate, but for quasi-velocities), an entry of ``qd``."""
        return symbol(f"qd[{self._known(name, self._robot.velocity_names, 'velocity')}]")

    def parameter(self, name: str) -> sympy.Symbol:
        """The named parameter."""
        return symbol(self._known(name, tuple(self._robot.parameters), "parameter"))

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames: every link, ``tip``, and the robot's points."""
        return frame_names(self._robot)

    def position(self, frame: str) -> sympy.ImmutableMatrix:
        """Origin of a frame in the base frame [m], a column."""
        return self._components("position", frame)

    def velocity(self, frame: str) -> sympy.ImmutableMatrix:
        """Velocity of the origin of a frame, in base components [m/s], a column."""
        return self._components("velocity", frame)

    def angular_velocity(self, frame: str) -> sympy.ImmutableMatrix:
        """Angular velocity of a frame, in base components [rad/s], a column."""
        return self._components("angular_velocity", frame)

    def rotation(self, frame: str) -> sympy.ImmutableMatrix:
        """Rotation matrix of a frame: its axes, in base components, are the columns."""
        self._known(frame, self.frames, "frame")
        return sympy.ImmutableMatrix(3, 3, lambda r, c: symbol(f"rotation[{frame}].{AXES[r]}{AXES[c]}"))

    def _components(self, kind: str, frame: str) -> sympy.ImmutableMatrix:
        self._known(frame, self.frames, "frame")
        return sympy.ImmutableMatrix([symbol(f"{kind}[{frame}].{axis}") for axis in AXES])

    def _known(self, name: str, known: tuple[str, ...], kind: str) -> str:
        if name not in known:
            fix = did_you_mean(str(name), known, f"known are {', '.join(known) or 'none'}")
            raise self._where.at(kind).error(name, f"the name of a {kind}", fix)
        return name

    def input(self, name: str, shape: int | tuple[int, int] | None = None) -> sympy.Expr | sympy.ImmutableMatrix:
        """Symbols of an input of an own function: one number, a column of n, or a matrix (rows, columns)."""
        from elastogen.generator.robot.own.functions import input_symbols

        return input_symbols(name, shape)

    @cached_property
    def f(self) -> Calls:
        """The functions of the catalogue, to call with SymPy arguments inside own functions: ``s.f.mass_matrix(s.q)``."""
        calls: Calls = provided("catalogue_calls")(self._robot)
        return calls

    @cached_property
    def meanings(self) -> dict[sympy.Symbol, Meaning]:
        """The meaning of every symbol except parameters and time."""
        found: dict[sympy.Symbol, Meaning] = {}
        for kind, vector in (("q", self.q), ("qd", self.qd), ("qdd", self.qdd)):
            found |= {s: Meaning(kind, name) for s, name in zip(vector, self._names(kind), strict=True)}
        for frame in self.frames:
            for kind, matrix in (
                ("position", self.position(frame)),
                ("velocity", self.velocity(frame)),
                ("angular_velocity", self.angular_velocity(frame)),
                ("rotation", self.rotation(frame)),
            ):
                found |= {s: Meaning(kind, frame, index) for index, s in enumerate(matrix)}
        return found
