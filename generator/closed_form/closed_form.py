"""Closed forms of a robot's kinematics and dynamics for reading: ``elastogen.derive(robot)``.

The results are SymPy matrices as in paper 004: the recursions of the generated code with all intermediates inserted, and
sines and cosines combined. Coordinates are plain symbols q1, q2, ..., rates qd1, ..., qdd1, ... A quantity is derived on its
first use and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from html import escape
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
import sympy

from elastogen.generator.closed_form import latex
from elastogen.generator.closed_form.compose import compose, entries_of, one_entry, one_frame, shape_of
from elastogen.generator.closed_form.document import Document, Equation, with_shared_parts
from elastogen.generator.closed_form.exponentials import ExponentialForms
from elastogen.generator.closed_form.friction import friction_of, without_dry_friction
from elastogen.generator.closed_form.functions import closed_entry, closed_form
from elastogen.generator.closed_form.notation import Notation, coordinate_letter
from elastogen.generator.closed_form.quantities import QUANTITIES, check_frame, is_function, named_outputs, quantity
from elastogen.generator.closed_form.steps.recursion import Recursion, recursion
from elastogen.generator.closed_form.symbols import with_numbers, with_symbols
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot

FrameChoice: TypeAlias = Literal["base", "own"]
SymbolicChoice: TypeAlias = Literal["named", "nonzero", "none", "all"]
Vectors: TypeAlias = "tuple[sympy.ImmutableMatrix, ...]"


_SYMBOLIC: dict[str, Callable[[Robot], Robot]] = {
    "named": lambda robot: robot,
    "nonzero": partial(with_numbers, only_zeros=True),
    "none": with_numbers,
    "all": lambda robot: with_symbols(with_numbers(robot, only_zeros=True)),
}


def derive(
    robot: RobotSource, *, symbolic: SymbolicChoice = "named", elements: Mapping[str, int] = MappingProxyType({})
) -> ClosedForm:
    """Return the closed forms of a robot; nothing is computed before its first use.

    ``robot`` is a Robot, a built-in name, a path or a mapping like a robot file. ``symbolic`` says which numbers are
    symbols: ``"named"`` the robot's named parameters, live ones included; ``"nonzero"`` those whose value is not 0, which
    leaves out an empty payload and two gravity components; ``"none"`` no number; ``"all"`` every length, mass, centre of
    mass, inertia, drive and gravity number, and of flexible links length, mass per length, stiffness and tip body.
    ``elements`` says which element of a beam is inside each sliding joint, where the equations depend on it.
    """
    return ClosedForm(robot if isinstance(robot, Robot) else load(robot), symbolic=symbolic, elements=elements)


class ClosedForm:
    """Closed forms of one robot: SymPy matrices, LaTeX and numpy functions.

    Frames are numbered 1, 2, ... in the order of ``frame_names``: every link except the base, then the tip.
    The equation of motion is that of docs/equations/formulation.md; ``M`` and the kinetic energy contain the motors'
    reflected inertias, and all dynamics contain the payload at the tip. Elastic coordinates are numbered with the others.
    """

    def __init__(
        self, robot: Robot, *, symbolic: SymbolicChoice = "named", elements: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        if not isinstance(symbolic, str) or symbolic not in _SYMBOLIC:
            raise OutputError(f"derive: symbolic={symbolic!r}, expected one of {', '.join(_SYMBOLIC)}.")
        self.robot, self._fractions = _SYMBOLIC[symbolic](robot), symbolic == "all"
        self._elements = elements
        self.frame_names = (*(link.name for link in robot.links[1:]), "tip")
        self._letter = coordinate_letter(self.robot)
        counts = {"": len(robot.coordinates), "d": len(robot.velocities), "dd": len(robot.velocities)}
        self.q, self.qd, self.qdd = (
            tuple(sympy.Symbol(f"{self._letter}{dots}{k}", real=True) for k in range(1, n + 1)) for dots, n in counts.items()
        )
        self._smooth, self._dry = without_dry_friction(self.robot)
        self._kept: dict[str, Any] = {}

    # -- kinematics --------------------------------------------------------------------------------

    @property
    def transforms(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """T_i0 of every frame, the tip last: products of the joints' transformations (paper 004 (4)-(7))."""
        return tuple(self._only("forward_kinematics"))

    def angular_velocities(self, frame: FrameChoice = "base") -> Vectors:
        """Return omega_i of every frame, in frame 0 (paper 004 (42)) or in its own axes ((13)-(18))."""
        return self._motion("frame_velocities", 3, frame)

    def linear_velocities(self, frame: FrameChoice = "base") -> Vectors:
        """Return v_i of every frame's origin, in frame 0 (paper 004 (41)) or in its own axes ((20)-(25))."""
        return self._motion("frame_velocities", 0, frame)

    def angular_accelerations(self, frame: FrameChoice = "base") -> Vectors:
        """Return eps_i of every frame, in frame 0 (paper 004 (44)) or in its own axes ((26)-(31))."""
        return self._motion("frame_accelerations", 3, frame)

    def linear_accelerations(self, frame: FrameChoice = "base", *, with_gravity: bool = False) -> Vectors:
        """Return a_i of every frame's origin, in frame 0 (paper 004 (43)) or in its own axes ((32)-(37)).

        ``with_gravity`` adds minus the gravity vector, the base acceleration of paper 004 (12).
        """
        if not isinstance(with_gravity, bool):
            raise OutputError(f"with_gravity={with_gravity!r}, expected True or False.")
        found = self._motion("frame_accelerations", 0, frame)
        if not with_gravity:
            return found
        g = sympy.ImmutableMatrix(self.robot.gravity)
        seen = [transform[:3, :3].T * g if frame == "own" else g for transform in self.transforms]
        return tuple(sympy.ImmutableMatrix(a - part) for a, part in zip(found, seen, strict=True))

    @property
    def jacobian(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in frame 0, linear rows first (paper 002 (11))."""
        return self._only("jacobian")

    @property
    def jacobian_tip(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in the axes of the tip frame (paper 002 (12))."""
        return self._only("jacobian_tip")

    @property
    def jacobian_rate(self) -> sympy.ImmutableMatrix:
        """Time derivative of ``jacobian`` (paper 002 (11))."""
        return self._only("jacobian_rate")

    @property
    def jacobian_tip_rate(self) -> sympy.ImmutableMatrix:
        """R^T dJ/dt, ``jacobian_rate`` in the tip frame (paper 002 (13)); not the rate of ``jacobian_tip``."""
        return self._only("jacobian_rate_tip")

    # -- dynamics ----------------------------------------------------------------------------------

    @property
    def mass_matrix(self) -> sympy.ImmutableMatrix:
        """M(q), n x n, with the payload and the motors' reflected inertias (paper 002 (21))."""
        return self._only("mass_matrix")

    @property
    def coriolis_matrix(self) -> sympy.ImmutableMatrix:
        """C(q, qd), n x n, by Christoffel symbols: dM/dt - 2 C is skew."""
        return self._only("coriolis_matrix")

    @property
    def coriolis_vector(self) -> sympy.ImmutableMatrix:
        """C(q, qd) qd, the Coriolis and centrifugal forces, n x 1."""
        return self._only("coriolis_vector")

    @property
    def gravity_vector(self) -> sympy.ImmutableMatrix:
        """G(q) = dV/dq of weights and own potentials, n x 1: the forces that hold the robot against gravity."""
        return self._only("gravity_vector")

    @property
    def kinetic_energy(self) -> sympy.Expr:
        """qd^T M qd / 2 (paper 000 (44))."""
        return self._only("kinetic_energy")

    @property
    def potential_energy(self) -> sympy.Expr:
        """V(q): weights (zero for masses at the origin of frame 0), deformation and own potentials."""
        return self._only("potential_energy")

    @cached_property
    def inverse_dynamics(self) -> sympy.ImmutableMatrix:
        """F, n x 1, with everything: friction, elastic forces, own terms."""
        if not self._dry:
            return self._only("inverse_dynamics")
        found = closed_form(self._smooth, "inverse_dynamics", self._letter, self._elements, fractions=self._fractions)
        return sympy.ImmutableMatrix([force + self._friction(j, force) for j, force in enumerate(found["F"])])

    # -- functions of the catalogue, and a second kinematics -----------------------------------------

    def function(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> dict[str, Any]:
        """Return the outputs of any function of the catalogue, of flexible robots too, by their names.

        For example ``function("acceleration_energy_2")["E"]``. Arguments are q1, qd1, qdd1, q3_1, q4_1, q5_1, ... ``elements``
        says which element of a beam is inside each sliding joint: ``{"joint2": 1}``; those of :func:`derive` hold otherwise.
        """
        return closed_form(self.robot, name, self._letter, elements or self._elements, fractions=self._fractions)

    def steps(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> Recursion:
        """Return the recursion behind a function, equation by equation; ``steps("inverse_dynamics").written("latex")``."""
        return recursion(self.robot, name, self._letter, elements or self._elements)

    @cached_property
    def by_matrix_exponentials(self) -> ExponentialForms:
        """The kinematics of paper 001: products of matrix exponentials."""
        return ExponentialForms(self.robot, self._letter)

    # -- for documents and numbers -----------------------------------------------------------------

    def latex(
        self,
        *names: str,
        frame: FrameChoice = "own",
        digits: int = 6,
        entry: tuple[int, ...] | None = None,
        link: str | None = None,
        shared: bool = False,
    ) -> str:
        """Return LaTeX: the equations of the named quantities, or a section of a document with all of them.

        sin and cos are abbreviated as in paper 004: ``s_{2}``, ``c_{2}``, and ``s_{23}`` for sin(q2 + q3). ``frame`` is the
        one in which velocities and accelerations are written, ``digits`` those of decimal numbers, ``entry`` (row, column,
        from 1) and ``link`` choose one entry of a matrix and one frame; ``shared`` names parts that occur repeatedly. A
        document leaves out what is too long and says so; named quantities are complete.
        """
        if not names:
            return latex.section(self.document(frame=frame, digits=digits, shared=shared))
        found = (equation for name in names for equation in self.equations(name, frame=frame, entry=entry, link=link))
        return latex.equations(with_shared_parts(found) if shared else found, self.notation, digits)

    @property
    def notation(self) -> Notation:
        """How symbols are printed."""
        return Notation(self.q, self.qd, self.qdd)

    def document(self, *names: str, frame: FrameChoice = "own", digits: int = 6, shared: bool = False) -> Document:
        """A document for LaTeX or Typst: symbols with units, then T, J, M, C, K, D, G, F or the named quantities."""
        return compose(self, names, frame, digits, shared)

    def _repr_html_(self) -> str:
        """The list of quantities, and for small robots M and G as LaTeX, for notebooks."""
        names = ", ".join(f"<code>{name}</code>" for name in QUANTITIES)
        text = f"<p>Closed forms of {escape(self.robot.name)}: {names}; in LaTeX by <code>latex</code>.</p>"
        if len(self.robot.coordinates) > 3:  # long ones say little, and take long
            return text
        return text + "".join(f"<div>{escape(self.latex(name))}</div>" for name in ("mass_matrix", "gravity_vector"))

    def lambdify(self, name: str, **options: Any) -> Callable[..., Any]:
        """Return a numpy function ``f(q, qd=0, qdd=0, **parameters)`` of a quantity, for checks and plots.

        Parameters have their nominal values unless given by name. Vectors come as (n,), frames are stacked:
        ``transforms`` as (frames, 4, 4), velocities and accelerations as (frames, 3). ``options`` (``frame``,
        ``with_gravity``) go to the quantities that take them. ``name`` may also be a function of the catalogue or an own one
        with one output; its further inputs are given like parameters: ``F1=2.0``.
        """
        values, shape = self.entries(name, **options)
        parameters = {parameter.name: parameter.value for parameter in self.robot.parameters.values()}
        symbols = [*self.q, *self.qd, *self.qdd, *(p.symbol for p in self.robot.parameters.values())]
        more = sorted({s for entry in values for s in entry.free_symbols} - set(symbols), key=str)
        parameters |= dict.fromkeys([s.name for s in more], 0.0)
        function = sympy.lambdify([*symbols, *more], values, modules="numpy", cse=True)
        sizes = [len(part) for part in (self.q, self.qd, self.qdd)]

        def evaluate(q: Any, qd: Any = None, qdd: Any = None, **given: float) -> Any:
            if unknown := set(given) - set(parameters):
                raise OutputError(f"{name}: unknown parameters {sorted(unknown)}, expected some of {sorted(parameters)}.")
            given_motion = zip((q, qd, qdd), sizes, strict=True)
            motion = [np.zeros(n) if part is None else np.asarray(part, dtype=float) for part, n in given_motion]
            for key, part, n in zip(("q", "qd", "qdd"), motion, sizes, strict=True):
                if part.shape != (n,):
                    raise OutputError(
                        f"{name}: got {key} of shape {part.shape}, expected {(n,)}, one state of {self.robot.name}."
                    )
            result = function(*np.concatenate(motion), *({**parameters, **given}).values())
            return np.array(result, dtype=float).reshape(shape) if shape else float(result[0])

        return evaluate

    def entries(self, name: str, **options: Any) -> tuple[list[sympy.Expr], tuple[int, ...]]:
        """The entries of a quantity or function, row by row, and their shape; see :meth:`lambdify`."""
        values = self._value(name, **options)
        parts = values if isinstance(values, tuple) else (values,)
        return [entry for value in parts for entry in entries_of(value)], shape_of(values)

    def _value(self, name: str, **options: Any) -> Any:
        """Return a quantity, or the only output of a function of the catalogue."""
        if not is_function(self.robot, name):
            return self._evaluate(name, **options)
        found = tuple(self.function(name).values())
        if len(found) > 1:
            raise OutputError(
                f"{name} has several outputs: {', '.join(self.function(name))}. Fix: derive(robot).function({name!r})"
            )
        return found[0]

    def _evaluate(self, name: str, **options: Any) -> Any:
        """Return a quantity by its name."""
        if options and not quantity(name).takes_frame:
            raise OutputError(f"{name} takes no options, got {', '.join(options)}.")
        return getattr(self, name)(**options) if quantity(name).takes_frame else getattr(self, name)

    def equations(
        self, name: str, *, frame: FrameChoice = "own", entry: tuple[int, ...] | None = None, link: str | None = None
    ) -> list[Equation]:
        """The equations of a quantity or function: one, or one for each frame; see :meth:`latex`."""
        check_frame(frame)
        if entry is not None and link is None and not (name in QUANTITIES and QUANTITIES[name].per_frame):
            return [self._entry(name, entry)]
        if is_function(self.robot, name):
            found = named_outputs(name, self.function(name))
        else:
            what = quantity(name)
            values = self._evaluate(name, **({"frame": frame} if what.takes_frame else {}))
            results = values if what.per_frame else (values,)
            found = [what.equation(i, i if frame == "own" else 0, value) for i, value in enumerate(results, start=1)]
        if link is not None:
            found = one_frame(name, found, self.frame_names, link)
        return found if entry is None else [one_entry(name, equation, entry) for equation in found]

    # -- what the quantities are read from -----------------------------------------------------------

    def _only(self, name: str) -> Any:
        """The only output of a function of the catalogue."""
        if name not in self._kept:
            (self._kept[name],) = self.function(name).values()
        return self._kept[name]

    def _entry(self, name: str, entry: tuple[int, ...]) -> Equation:
        """One entry, derived without the others."""
        called = "jacobian_rate_tip" if name == "jacobian_tip_rate" else name
        robot = self._smooth if name == "inverse_dynamics" else self.robot
        index, value = closed_entry(robot, called, self._letter, self._elements, entry, fractions=self._fractions)
        value += self._friction(entry[0] - 1, value) if name == "inverse_dynamics" else 0
        whole = QUANTITIES[name].equation(0, 0, value) if name in QUANTITIES else named_outputs(name, {"": value})[0]
        return whole.of_entry(index, value)

    def _friction(self, j: int, load: sympy.Expr) -> sympy.Expr:
        """The friction in a row of the forces, if the rest was derived without it."""
        return friction_of(self._dry[j], self.qd[j], load) if j in self._dry else sympy.S.Zero

    def _motion(self, name: str, first: int, frame: FrameChoice) -> Vectors:
        """Rows first..first+2 of every frame's velocity or acceleration, in frame 0 or frame i."""
        check_frame(frame)
        rows = self._only(name + ("_local" if frame == "own" else ""))
        return tuple(sympy.ImmutableMatrix(rows[i, first : first + 3]).T for i in range(rows.rows))
