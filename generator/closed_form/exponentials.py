"""Kinematics by matrix exponentials (paper 001) in closed form: ``elastogen.derive(robot).by_matrix_exponentials``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import get_args

import sympy

from elastogen.generator.algorithms.exponentials.matrix_exponentials import MatrixExponentials
from elastogen.generator.algorithms.exponentials.zero_configuration import TipForm
from elastogen.generator.closed_form.functions import check_elements, readable, with_live_parameters
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat


class ExponentialForms:
    """SymPy matrices of a robot's frames (links without the base, then the tip), rigid or flexible.

    The exponentials are numbered from 0 as they follow one another from the base: ``names`` are their coordinates.
    """

    def __init__(
        self,
        robot: Robot,
        letter: str = "q",
        *,
        tip: TipForm = "split",
        elements: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        if tip not in get_args(TipForm):
            raise OutputError(f"tip={tip!r}, expected 'split' (displacements, then rotations) or 'screw' (001 (33)).")
        self.robot, self._letter, self._tip, self._elements = robot, letter, tip, elements
        self._graph = Graph()

    def with_tip(self, tip: TipForm) -> ExponentialForms:
        """The forms with elastic tips as "split" (displacements, then rotations) or "screw": prod exp(DT_ij q_ij), 001 (33)."""
        return ExponentialForms(self.robot, self._letter, tip=tip, elements=self._elements)

    def with_elements(self, elements: Mapping[str, int]) -> ExponentialForms:
        """The forms where these elements of beams are inside the sliding joints: ``{"joint2": 1}``."""
        return ExponentialForms(self.robot, self._letter, tip=self._tip, elements=elements)

    @cached_property
    def _mek(self) -> MatrixExponentials:
        check_elements(self.robot, self._elements)
        n = len(self.robot.coordinates)
        motion = [[self._graph.input(f"{name}[{k}]") for k in range(n)] for name in ("q", "qd", "qdd")]
        robot = with_live_parameters(self.robot)
        return MatrixExponentials(self._graph, robot, motion, tip=self._tip, elements=self._elements)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the exponentials: the coordinates, and the parts of what slides along beams."""
        return tuple(factor.name for factor in self._mek.factors)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Of the frames."""
        return tuple(chain.name for chain in self._mek.chains)

    @cached_property
    def arguments(self) -> sympy.ImmutableMatrix:
        """s_i of every exponential exp(A_i s_i): coordinates, or functions of them where a joint slides along a beam."""
        return self._matrices([[[self._mek.amplitude(i)] for i in range(len(self._mek.factors))]])[0]

    @cached_property
    def operators(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """A_i = [ {D_i k_i x}, v_i ; 0 0 ] of every exponential, in frame 0 at zero configuration."""
        return self._matrices([factor.A for factor in self._mek.factors])

    @cached_property
    def exponentials(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """exp(A_i s_i) of every exponential."""
        return self._matrices(self._mek.exponentials)

    @cached_property
    def zero_poses(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """T_x0^(0) of every frame."""
        return self._matrices([chain.zero_pose for chain in self._mek.chains])

    @cached_property
    def transforms(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """T_x0 = prod exp(A_i s_i) T_x0^(0) of every frame (001 (2))."""
        return self._matrices([self._mek.transform(frame) for frame in self._frames])

    @cached_property
    def jacobian(self) -> sympy.ImmutableMatrix:
        """6 x n Jacobian of the tip in frame 0, linear rows first (001 (6)-(20))."""
        return self._matrices([self._mek.jacobian()])[0]

    def transfer_factors(self, i: int, frame: int = -1) -> tuple[sympy.ImmutableMatrix, ...]:
        """Return ME(V_i1), ME(V_i2), ME(V_i3) and M_iv of a frame's i-th column (001 (7)-(10)), i from 0."""
        parts = self._mek.transfer_factors(frame, i)
        return self._matrices([parts.V1, parts.V2, parts.V3, [[x] for x in parts.M]])

    def differential_matrices(self, frame: int = -1) -> tuple[sympy.ImmutableMatrix, ...]:
        """Return A_ki = dT_k0/dq_i of a frame for every exponential on the way to it (001 (25))."""
        count = len(self._mek.chains[frame].factors)
        return self._matrices([self._mek.differential(frame, i) for i in range(count)])

    @cached_property
    def linear_velocities(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """v of every frame in frame 0 (001 (23))."""
        return self._vectors([self._mek.velocity(frame)[:3] for frame in self._frames])

    @cached_property
    def angular_velocities(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """omega of every frame in frame 0 (001 (22))."""
        return self._vectors([self._mek.velocity(frame)[3:] for frame in self._frames])

    @cached_property
    def linear_accelerations(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """a of every frame in frame 0 (001 (24))."""
        return self._vectors([self._mek.acceleration(frame)[:3] for frame in self._frames])

    @cached_property
    def angular_accelerations(self) -> tuple[sympy.ImmutableMatrix, ...]:
        """eps of every frame in frame 0 (001 (22b) as corrected)."""
        return self._vectors([self._mek.acceleration(frame)[3:] for frame in self._frames])

    @property
    def _frames(self) -> range:
        return range(len(self._mek.chains))

    def _vectors(self, vectors: Sequence[list[Value]]) -> tuple[sympy.ImmutableMatrix, ...]:
        return self._matrices([[[x] for x in vector] for vector in vectors])

    def _matrices(self, matrices: Sequence[Mat]) -> tuple[sympy.ImmutableMatrix, ...]:
        flat = [[x for row in matrix for x in row] for matrix in matrices]
        read = readable(self.robot, self._graph, [x for values in flat for x in values], self._letter)
        return tuple(read.matrix(values, len(matrix), len(matrix[0])) for values, matrix in zip(flat, matrices, strict=True))
