"""Inertial parameters of rigid bodies: mass m, first moments S = int r dm, pseudo-inertia P = int r r^T dm.

The planar-centrifugal form (paper 002 (19): the 4 x 4 matrix I_ps, paper 000 (49)) is used because body and composite
inertias, base parameters, energies of any order and flexible links all have the same simple law: J -> X J X^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import Mat, Symmetric, Vec, add, cross, scale

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], first moments [kg m] and pseudo-inertia [kg m^2] of a body about the origin of its frame."""

    m: Value
    S: Vec
    P: Symmetric

    @staticmethod
    def zero(graph: Graph) -> Inertia:
        """No body at all."""
        z = graph.value(0)
        return Inertia(z, [z, z, z], Symmetric(z, z, z, z, z, z))

    @staticmethod
    def of_array(graph: Graph, J: Array) -> Inertia:
        """From the numeric 4 x 4 pseudo-inertia [[P, S], [S^T, m]]."""
        v = [[graph.value(float(entry)) for entry in row] for row in J]
        return Inertia(v[3][3], [v[0][3], v[1][3], v[2][3]], Symmetric.of(v))

    @staticmethod
    def of_body(m: Value, com: Vec, inertia: Symmetric) -> Inertia:
        """From mass, centre of mass and inertia tensor about the centre of mass."""
        i, half = inertia, m.graph.value(0.5)
        trace = (i.xx + i.yy + i.zz) * half  # P* = tr(I*)/2 E - I*, paper 002 (17)
        central = Symmetric(trace - i.xx, -i.xy, -i.xz, trace - i.yy, -i.yz, trace - i.zz)
        S = scale(com, m)
        steiner = Symmetric.of([[S[r] * com[c] for c in range(3)] for r in range(3)])
        return Inertia(m, S, central + steiner)

    @property
    def pseudo(self) -> Mat:
        """The 4 x 4 pseudo-inertia [[P, S], [S^T, m]] (002 (19))."""
        P, S = self.P.full, self.S
        return [[*P[0], S[0]], [*P[1], S[1]], [*P[2], S[2]], [*S, self.m]]

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, add(self.S, other.S), self.P + other.P)

    def scaled(self, factor: Value) -> Inertia:
        """The same body with its mass times a factor."""
        P = Symmetric(*(entry * factor for entry in self.P.entries))
        return Inertia(self.m * factor, scale(self.S, factor), P)

    def shifted(self, p: Vec) -> Inertia:
        """The same body seen from a parallel frame in which this frame's origin is at p."""
        S = add(self.S, scale(p, self.m))
        # P' = P + p S^T + S p^T + m p p^T = P + p S^T + S' p^T
        cross = Symmetric.of([[p[r] * self.S[c] + S[r] * p[c] for c in range(3)] for r in range(3)])
        return Inertia(self.m, S, self.P + cross)

    def times_twist(self, angular: Vec, linear: Vec) -> tuple[Vec, Vec]:
        """Force int a dm and moment int r x a dm for the acceleration field a = linear + angular x r of a body at rest."""
        P, S = self.P, self.S
        force = add(scale(linear, self.m), cross(angular, S))
        x, y, z = angular
        rotating = [
            (P.yy + P.zz) * x - P.xy * y - P.xz * z,
            (P.xx + P.zz) * y - P.xy * x - P.yz * z,
            (P.xx + P.yy) * z - P.xz * x - P.yz * y,
        ]
        return force, add(rotating, cross(S, linear))
