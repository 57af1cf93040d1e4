"""The rotation of a rotation vector and its rates, accurate at any angle, zero included, with all derivatives.

All that is needed are the entire functions S_m(u) = sum_k (-u)^k / (2 k + m)! of the squared angle u (Stumpff's functions):
S_0 = cos, S_1 = sin(t)/t, S_2 = (1 - cos t)/t^2, S_3 = (t - sin t)/t^3, with S_m = 1/m! - u S_(m+2) and dS_m/du = (m S_(m+2) -
S_(m+1)) / 2. S_4 and S_5 are series for angles below 2 rad and come from sine and cosine beyond; where the sine is not
used it has the argument 2, so that nothing is divided by zero in any derivative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from elastogen.generator.program.graph import Value
from elastogen.generator.program.operations import Op
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, scale, sub

BORDER = 4.0  # u up to which the series are used; sine and cosine lose a factor of 8 there, and less beyond
TERMS = 15  # the last one is 1e-21 of the first at the border: exact in its fourth derivative, too


def _series(u: Value, m: int) -> Value:
    """Evaluate S_m by Horner's rule."""
    total = u.graph.value((-1.0) ** (TERMS - 1) / math.factorial(2 * (TERMS - 1) + m))
    for k in reversed(range(TERMS - 1)):
        total = total * u + (-1.0) ** k / math.factorial(2 * k + m)
    return total


@dataclass(frozen=True)
class RotationVector:
    """A rotation vector and S_1 to S_5 of its squared length."""

    phi: Vec
    S: tuple[Value, ...]  # S_0 to S_5

    @staticmethod
    def of(phi: Vec) -> RotationVector:
        """Evaluate the functions at this vector."""
        graph = phi[0].graph
        u = dot(phi, phi)
        far = graph.elementary(Op.MAX, u, graph.value(BORDER))
        angle = graph.sqrt(far)
        square = far * far
        beyond4 = (graph.cos(angle) - 1 + far * 0.5) / square
        beyond5 = (graph.sin(angle) / angle - 1 + far * (1 / 6)) / square
        S4 = graph.choose(u - BORDER, _series(u, 4), beyond4, smooth=True)
        S5 = graph.choose(u - BORDER, _series(u, 5), beyond5, smooth=True)
        S3, S2 = 1 / 6 - u * S5, 0.5 - u * S4
        return RotationVector(phi, (1 - u * S2, 1 - u * S3, S2, S3, S4, S5))

    @staticmethod
    def beyond_zero(phi: Vec) -> RotationVector:
        """Evaluate by sine and cosine alone, as books print it: not for zero."""
        graph = phi[0].graph
        u = dot(phi, phi)
        angle = graph.sqrt(u)
        S0, S1 = graph.cos(angle), graph.sin(angle) / angle
        S2, S3 = (1 - S0) / u, (1 - S1) / u
        return RotationVector(phi, (S0, S1, S2, S3, (0.5 - S2) / u, (1 / 6 - S3) / u))

    @property
    def matrix(self) -> Mat:
        """Return exp{phi x} = cos E + S_1 {phi x} + S_2 phi phi^T."""
        x, y, z = self.phi
        cosine, s1, s2 = self.S[:3]
        sx, sy, sz = s1 * x, s1 * y, s1 * z
        bx, by, bz = s2 * x, s2 * y, s2 * z
        xy, xz, yz = bx * y, bx * z, by * z
        return [
            [cosine + bx * x, xy - sz, xz + sy],
            [xy + sz, cosine + by * y, yz - sx],
            [xz - sy, yz + sx, cosine + bz * z],
        ]

    def velocity(self, rate: Vec) -> Vec:
        """Return omega in the rotated frame: rate - S_2 phi x rate + S_3 phi x (phi x rate)."""
        once = cross(self.phi, rate)
        return add(sub(rate, scale(once, self.S[2])), scale(cross(self.phi, once), self.S[3]))

    def acceleration(self, rate: Vec, change: Vec) -> Vec:
        """Return d omega/dt in the rotated frame, with ``change`` the second derivative of the vector."""
        _, _, _, s3, s4, s5 = self.S
        once = cross(self.phi, rate)
        growth = 2 * dot(self.phi, rate)  # du/dt
        bend, fold = growth * (s4 - 0.5 * s3), growth * (1.5 * s5 - 0.5 * s4)  # rates of S_2 and S_3
        convective = add(scale(cross(self.phi, once), fold), scale(cross(rate, once), s3))
        return add(self.velocity(change), sub(convective, scale(once, bend)))
