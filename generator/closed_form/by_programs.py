"""Closed forms of robots with flexible links or own terms: the same quantities, read back from programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import sympy

from elastogen.generator.closed_form.closed_form import ClosedForm, FrameChoice, SymbolicChoice, Vectors
from elastogen.generator.closed_form.document import Equation
from elastogen.generator.closed_form.functions import closed_entry
from elastogen.generator.closed_form.notation import coordinate_letter
from elastogen.generator.closed_form.quantities import QUANTITIES, named_outputs
from elastogen.generator.closed_form.steps.recursion import Recursion
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot


class ProgramForm(ClosedForm):
    """As :class:`ClosedForm`, with a coordinate for each elastic one; friction, springs and own terms are in the forces."""

    def __init__(
        self, robot: Robot, *, symbolic: SymbolicChoice = "named", elements: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        super().__init__(robot, symbolic=symbolic)
        self._elements = elements
        letter = coordinate_letter(self.robot)
        counts = {"": len(robot.coordinates), "d": len(robot.velocities), "dd": len(robot.velocities)}
        self.q, self.qd, self.qdd = (
            tuple(sympy.Symbol(f"{letter}{dots}{k}", real=True) for k in range(1, n + 1)) for dots, n in counts.items()
        )

    def function(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> dict[str, Any]:
        """As of rigid robots; the elements that :func:`derive` was given hold unless others are given."""
        return super().function(name, elements or self._elements)

    def steps(self, name: str, elements: Mapping[str, int] = MappingProxyType({})) -> Recursion:
        """As of rigid robots; the elements that :func:`derive` was given hold unless others are given."""
        return super().steps(name, elements or self._elements)

    def equations(
        self, name: str, *, frame: FrameChoice = "own", entry: tuple[int, ...] | None = None, link: str | None = None
    ) -> list[Equation]:
        """As of rigid robots; one entry is read without the others."""
        if entry is None or link is not None or (name in QUANTITIES and QUANTITIES[name].per_frame):
            return super().equations(name, frame=frame, entry=entry, link=link)
        called = "jacobian_rate_tip" if name == "jacobian_tip_rate" else name
        letter = coordinate_letter(self.robot)
        value = closed_entry(self.robot, called, letter, self._elements, entry, fractions=self._fractions)
        whole = QUANTITIES[name].equation(0, 0, value) if name in QUANTITIES else named_outputs(name, {"": value})[0]
        return [whole.of_entry(",".join(map(str, entry)), value)]

    def _one(self, name: str) -> Any:
        (value,) = self.function(name).values()
        return value

    @cached_property
    def transforms(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """T_i0 of every frame, the tip last."""
        return tuple(self._one("forward_kinematics"))

    def _motion(self, kind: str, first: int, frame: FrameChoice, with_gravity: bool = False) -> Vectors:
        if frame not in ("base", "own"):
            raise OutputError(f"frame={frame!r}, expected 'base' (components in frame 0) or 'own' (in frame i).")
        if with_gravity:
            raise OutputError("with_gravity is for rigid robots. Fix: add minus the gravity vector yourself")
        plural = {"velocity": "frame_velocities", "acceleration": "frame_accelerations"}[kind]
        rows = self._one(plural + ("_local" if frame == "own" else ""))
        return tuple(sympy.ImmutableMatrix(rows[i, first : first + 3]).T for i in range(rows.rows))

    @cached_property
    def jacobian(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in frame 0, linear rows first."""
        return self._one("jacobian")

    @cached_property
    def jacobian_tip(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in the axes of the tip frame."""
        return self._one("jacobian_tip")

    @cached_property
    def jacobian_rate(self) -> sympy.ImmutableMatrix:
        """Time derivative of ``jacobian``."""
        return self._one("jacobian_rate")

    @cached_property
    def jacobian_tip_rate(self) -> sympy.ImmutableMatrix:
        """R^T dJ/dt, ``jacobian_rate`` in the tip frame."""
        return self._one("jacobian_rate_tip")

    @cached_property
    def mass_matrix(self) -> sympy.ImmutableMatrix:
        """M(q), n x n."""
        return self._one("mass_matrix")

    @cached_property
    def coriolis_matrix(self) -> sympy.ImmutableMatrix:
        """C(q, qd), n x n."""
        return self._one("coriolis_matrix")

    @cached_property
    def coriolis_vector(self) -> sympy.ImmutableMatrix:
        """C(q, qd) qd, n x 1."""
        return self._one("coriolis_vector")

    @cached_property
    def gravity_vector(self) -> sympy.ImmutableMatrix:
        """G(q) = dV/dq of weights and own potentials, n x 1."""
        return self._one("gravity_vector")

    @cached_property
    def kinetic_energy(self) -> sympy.Expr:
        """qd^T M qd / 2."""
        return self._one("kinetic_energy")

    @cached_property
    def potential_energy(self) -> sympy.Expr:
        """V(q): weights, deformation and own potentials."""
        return self._one("potential_energy")

    @cached_property
    def inverse_dynamics(self) -> sympy.ImmutableMatrix:
        """F, n x 1, with everything: friction, elastic forces, own terms."""
        return self._one("inverse_dynamics")
