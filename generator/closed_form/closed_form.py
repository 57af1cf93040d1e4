"""Closed forms of a rigid robot's kinematics and dynamics for reading: ``elastogen.derive(robot)``.

The results are SymPy matrices as papers print them (paper 004) and a second derivation, by Lagrange's
equations, that checks the recursive one behind the generated code. Coordinates are plain symbols q1, q2,
..., rates qd1, ..., qdd1, ... Every quantity is derived when it is first asked for and kept.
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
from elastogen.generator.closed_form.exact_numbers import exact, exact_array
from elastogen.generator.closed_form.exponentials import ExponentialForms
from elastogen.generator.closed_form.friction import friction_of
from elastogen.generator.closed_form.functions import closed_form
from elastogen.generator.closed_form.kinematics import Kinematics, number_of_joint_coordinates, skew
from elastogen.generator.closed_form.notation import Notation, coordinate_letter
from elastogen.generator.closed_form.quantities import QUANTITIES, check_frame, is_function, named_outputs, quantity
from elastogen.generator.closed_form.steps.recursion import Recursion, recursion
from elastogen.generator.closed_form.symbols import with_numbers, with_symbols
from elastogen.generator.closed_form.trigonometry import Polynomial, TrigonometricRing
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Actuation, Body, Robot

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
    """Return the closed forms of a robot; nothing is computed before it is asked for.

    ``robot`` is a Robot, a built-in name, a path or a mapping like a robot file. ``symbolic`` says which numbers are
    symbols: ``"named"`` the robot's named parameters, live ones included; ``"nonzero"`` those whose value is not 0, which
    leaves out an empty payload and two gravity components; ``"none"`` no number; ``"all"`` every length, mass, centre of
    mass, inertia, drive and gravity number, and of flexible links length, mass per length, stiffness and tip body.
    ``elements`` says which element of a beam is inside each sliding joint, where the equations depend on it.
    """
    loaded = robot if isinstance(robot, Robot) else load(robot)
    by_screws = all(joint.by_screws for joint in loaded.joints)
    if loaded.loops or loaded.terms or not by_screws or any(coordinate.elastic for coordinate in loaded.coordinates):
        from elastogen.generator.closed_form.by_programs import ProgramForm

        return ProgramForm(loaded, symbolic=symbolic, elements=elements)
    return ClosedForm(loaded, symbolic=symbolic)


class ClosedForm:
    """Closed forms of one robot: SymPy matrices, LaTeX and numpy functions.

    Frames are numbered 1, 2, ... in the order of ``frame_names``: every link except the base, then the tip.
    The equation of motion is ``F = M qdd + C qd + G + friction``, that of docs/equations/formulation.md;
    ``M`` and the kinetic energy contain the motors' reflected inertias, and all dynamics contain the
    payload at the tip.
    """

    def __init__(self, robot: Robot, *, symbolic: SymbolicChoice = "named") -> None:
        if not isinstance(symbolic, str) or symbolic not in _SYMBOLIC:
            raise OutputError(f"derive: symbolic={symbolic!r}, expected one of {', '.join(_SYMBOLIC)}.")
        self.robot, self._fractions = _SYMBOLIC[symbolic](robot), symbolic == "all"
        self.frame_names = (*(link.name for link in robot.links[1:]), "tip")
        letter = coordinate_letter(self.robot)
        numbers = range(1, number_of_joint_coordinates(robot) + 1)
        self.q, self.qd, self.qdd = (
            tuple(sympy.Symbol(f"{letter}{dots}{k}", real=True) for k in numbers) for dots in ("", "d", "dd")
        )
        self._vectors: dict[tuple[str, int, str, bool], Vectors] = {}

    # -- kinematics --------------------------------------------------------------------------------

    @cached_property
    def transforms(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """T_i0 of every frame, the tip last: products of the joints' transformations (paper 004 (4)-(7))."""
        bottom = np.array([[self._ring.zero] * 3 + [self._ring.one]], dtype=object)
        return tuple(
            self._matrix(np.vstack([np.column_stack([frame.rotation, frame.position]), bottom]))
            for frame in self._kinematics.frames
        )

    def angular_velocities(self, frame: FrameChoice = "base") -> Vectors:
        """Return omega_i of every frame, in frame 0 (paper 004 (42)) or in its own axes ((13)-(18))."""
        return self._motion("velocity", 3, frame)

    def linear_velocities(self, frame: FrameChoice = "base") -> Vectors:
        """Return v_i of every frame's origin, in frame 0 (paper 004 (41)) or in its own axes ((20)-(25))."""
        return self._motion("velocity", 0, frame)

    def angular_accelerations(self, frame: FrameChoice = "base") -> Vectors:
        """Return eps_i of every frame, in frame 0 (paper 004 (44)) or in its own axes ((26)-(31))."""
        return self._motion("acceleration", 3, frame)

    def linear_accelerations(self, frame: FrameChoice = "base", *, with_gravity: bool = False) -> Vectors:
        """Return a_i of every frame's origin, in frame 0 (paper 004 (43)) or in its own axes ((32)-(37)).

        ``with_gravity`` adds minus the gravity vector, the base acceleration of paper 004 (12).
        """
        return self._motion("acceleration", 0, frame, with_gravity)

    @cached_property
    def jacobian(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in frame 0, linear rows first (paper 002 (11))."""
        return self._matrix(self._kinematics.jacobian(-1))

    @cached_property
    def jacobian_tip(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in the axes of the tip frame (paper 002 (12))."""
        return self._matrix(self._kinematics.jacobian(-1, own_frame=True))

    @cached_property
    def jacobian_rate(self) -> sympy.ImmutableMatrix:
        """Time derivative of ``jacobian`` (paper 002 (11))."""
        return self._matrix(self._kinematics.jacobian_rate(-1))

    @cached_property
    def jacobian_tip_rate(self) -> sympy.ImmutableMatrix:
        """R^T dJ/dt, ``jacobian_rate`` in the tip frame (paper 002 (13)); not the rate of ``jacobian_tip``."""
        return self._matrix(self._kinematics.jacobian_rate(-1, own_frame=True))

    # -- dynamics, by Lagrange's equations ---------------------------------------------------------

    @cached_property
    def mass_matrix(self) -> sympy.ImmutableMatrix:
        """M(q), n x n, with the payload and the motors' reflected inertias."""
        return self._matrix(self._mass)

    @cached_property
    def coriolis_matrix(self) -> sympy.ImmutableMatrix:
        """C(q, qd), n x n, by Christoffel symbols: dM/dt - 2 C is skew."""
        return self._matrix(self._coriolis)

    @cached_property
    def coriolis_vector(self) -> sympy.ImmutableMatrix:
        """C(q, qd) qd, the Coriolis and centrifugal forces, n x 1."""
        return self._matrix(self._ring.product(self._coriolis, self._kinematics.qd))

    @cached_property
    def gravity_vector(self) -> sympy.ImmutableMatrix:
        """G(q) = dV/dq, n x 1: the forces that hold the robot against gravity."""
        return self._matrix(self._gravity)

    @cached_property
    def kinetic_energy(self) -> sympy.Expr:
        """qd^T M qd / 2."""
        qd = self._kinematics.qd
        return self._ring.readable(self._ring.product(qd, self._mass, qd) * self._ring(sympy.S.Half))

    @cached_property
    def potential_energy(self) -> sympy.Expr:
        """V(q) = - sum_i m_i g . r_Ci, zero for masses at the origin of frame 0."""
        return self._ring.readable(self._potential)

    @cached_property
    def inverse_dynamics(self) -> sympy.ImmutableMatrix:
        """F = M qdd + C qd + G + friction, n x 1: the forces of the drives on the joints' side."""
        ring, qd, qdd = self._ring, self._kinematics.qd, self._kinematics.qdd
        rigid = ring.product(self._mass, qdd) + ring.product(self._coriolis, qd) + self._gravity
        forces = [ring.readable(force) for force in rigid]
        for drive, (j, rate) in zip(self._drives, enumerate(self.qd), strict=True):
            forces[j] += friction_of(drive, rate, forces[j])
        return sympy.ImmutableMatrix(forces)

    # -- functions of the catalogue, and a second kinematics -----------------------------------------

    def function(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> dict[str, Any]:
        """Return the outputs of any function of the catalogue, of flexible robots too, by their names.

        For example ``function("acceleration_energy_2")["E"]``. Arguments are q1, qd1, qdd1, q3_1, q4_1, q5_1, ... ``elements``
        says which element of a beam is inside each sliding joint: ``{"joint2": 1}``.
        """
        return closed_form(self.robot, name, self.q[0].name.rstrip("0123456789"), elements, fractions=self._fractions)

    def steps(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> Recursion:
        """Return the recursion behind a function, equation by equation; ``steps("inverse_dynamics").written("latex")``."""
        return recursion(self.robot, name, self.q[0].name.rstrip("0123456789"), elements)

    @cached_property
    def by_matrix_exponentials(self) -> ExponentialForms:
        """The kinematics of paper 001: products of matrix exponentials."""
        return ExponentialForms(self.robot, self.q[0].name.rstrip("0123456789"))

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
        """Return LaTeX: of the named quantities the equations, without a name a section of a document with all of them.

        sin and cos are abbreviated as in paper 004: ``s_{2}``, ``c_{2}``, and ``s_{23}`` for sin(q2 + q3). ``frame`` is the
        one in which velocities and accelerations are written, ``digits`` those of decimal numbers, ``entry`` (row, column,
        from 1) and ``link`` choose one entry of a matrix and one frame; ``shared`` names parts that occur repeatedly. What is
        too long for a document is left out there and said; of named quantities everything is written.
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
        """A document to be written as LaTeX or Typst: symbols with units, then T, J, M, C, K, D, G, F or what is named."""
        return compose(self, names, frame, digits, shared)

    def _repr_html_(self) -> str:
        """What there is, and for small robots M and G as LaTeX, for notebooks."""
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
            result = function(*np.concatenate(motion), *({**parameters, **given}).values())
            return np.array(result, dtype=float).reshape(shape) if shape else float(result[0])

        return evaluate

    def entries(self, name: str, **options: Any) -> tuple[list[sympy.Expr], tuple[int, ...]]:
        """The entries of a quantity or function in one list, row by row, and their shape; see :meth:`lambdify`."""
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

    # -- the derivation ----------------------------------------------------------------------------

    @cached_property
    def _kinematics(self) -> Kinematics:
        if any(coordinate.elastic for coordinate in self.robot.coordinates):
            raise OutputError(
                f"{self.robot.name}: it has flexible links or joints, which these closed forms are not for. Fix: ask for a "
                "function of the catalogue, for example derive(robot).function('mass_matrix')['M']."
            )
        return Kinematics(self.robot, self.q, self.qd, self.qdd)

    @property
    def _ring(self) -> TrigonometricRing:
        return self._kinematics.ring

    def _matrix(self, polynomials: Any) -> sympy.ImmutableMatrix:
        return sympy.ImmutableMatrix(self._ring.map(self._ring.readable, polynomials))

    def _motion(self, kind: str, first: int, frame: FrameChoice, with_gravity: bool = False) -> Vectors:
        """Return rows first..first+2 of every frame's velocity or acceleration, in frame 0 or frame i."""
        check_frame(frame)
        if not isinstance(with_gravity, bool):
            raise OutputError(f"with_gravity={with_gravity!r}, expected True or False.")
        key = (kind, first, frame, with_gravity)
        if key not in self._vectors:
            kinematics, vectors = self._kinematics, []
            for i in range(len(self.frame_names)):
                vector = getattr(kinematics, kind)(i)[first : first + 3]
                if with_gravity:
                    vector = vector - self._gravity_acceleration
                vectors.append(self._matrix(kinematics.projected(i, vector) if frame == "own" else vector))
            self._vectors[key] = tuple(vectors)
        return self._vectors[key]

    @property
    def _gravity_acceleration(self) -> Any:
        return self._ring.array([exact(component) for component in self.robot.gravity])

    def _bodies(self) -> list[tuple[int, Polynomial, Any, Any]]:
        """Return (frame, mass, centre of mass, inertia about it) of every moving body, the payload last."""
        ring, bodies = self._ring, [*(link.body for link in self.robot.links[1:]), self.robot.payload]
        return [
            (i, ring(exact(body.mass)), *(ring.array(exact_array(part)) for part in (body.com, body.inertia)))
            for i, body in enumerate(bodies)
            if body != Body()
        ]

    @cached_property
    def _mass(self) -> Any:
        """M = sum_i m_i J_Ci^T J_Ci + J_wi^T I_i J_wi (+ n_j^2 J_mj), Koenig's theorem, columns in frame i.

        The kinetic energy of paper 000 (44); equal to paper 002 (21), M_jk = sum_i Tr(A_ij I_psi A_ik^T).
        """
        ring, kinematics = self._ring, self._kinematics
        total = np.full((kinematics.n, kinematics.n), ring.zero, dtype=object)
        for i, mass, centre, inertia in self._bodies():
            jacobian = kinematics.jacobian(i, own_frame=True)
            linear, angular = jacobian[:3], jacobian[3:]
            of_centre = linear - ring.product(skew(centre), angular)  # v_C = v + omega x r_C
            total = total + ring.product(of_centre.T, of_centre) * mass + ring.product(angular.T, inertia, angular)
        for j, drive in enumerate(self._drives):
            total[j, j] += ring(exact(drive.motor_inertia)) * ring(exact(drive.gear_ratio)) ** 2
        return ring.map(ring.normal, total)

    @property
    def _drives(self) -> list[Actuation]:
        """The drive of every coordinate."""
        return [joint.actuation for joint in self.robot.joints for _ in joint.type.coordinates]

    @cached_property
    def _coriolis(self) -> Any:
        """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2, by Christoffel symbols."""
        ring, qd, n = self._ring, self._kinematics.qd, self._kinematics.n
        partial = [ring.derivative(self._mass, k) for k in range(n)]
        half = ring(sympy.S.Half)
        coriolis = np.full((n, n), ring.zero, dtype=object)
        for i, j, k in np.ndindex(n, n, n):
            coriolis[i, j] += (partial[k][i, j] + partial[j][i, k] - partial[i][j, k]) * qd[k] * half
        return coriolis

    @cached_property
    def _potential(self) -> Polynomial:
        """V = - sum_i m_i g . (p_i0 + R_i0 r_Ci)."""
        ring, total = self._ring, self._ring.zero
        for i, mass, centre, _ in self._bodies():
            frame = self._kinematics.frames[i]
            total -= mass * (self._gravity_acceleration @ (frame.position + ring.product(frame.rotation, centre)))
        return ring.normal(total)

    @cached_property
    def _gravity(self) -> Any:
        """G_j = dV/dq_j; the opposite of the active forces of paper 002 (25)."""
        return np.array([self._ring.derivative(self._potential, j) for j in range(len(self.q))], dtype=object)
