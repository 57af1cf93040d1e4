"""Kinetic and acceleration energies by component: the parts of 1/2 int |r^(n)|^2 dm of every body, n = p + 1.

With s = r - r_C from the mass centre and U_i = R^T R^(i), the derivative of order n of a point is, in body components,

    r_C^(n) + {w^(p) x} s + Q s + sum_(i<n) C(n, i) U_i s^(n-i),        Q = U_n - {w^(p) x},

w^(p) the derivative of order p of the angular velocity. The squares of these four are the energies of translation (Koenig, 000
(44)), rotation, of the centrifugal terms (002 (16), 000 (53)-(56): for p = 1, 1/2 w.w w.I w; nothing for p = 0) and of the
deformation; all products between them are the coupling. Translation has no product with the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.acceleration_energy import BodyMotion, body_motions
from elastogen.generator.algorithms.kinematics import local_motions
from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.bodies.elastic_body import Chain, DeformedBody
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial import dense_matrices as dense
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, product, scale, sub, times

NAMES = ("translation", "rotation", "coupling", "centrifugal", "deformation")


@dataclass(frozen=True)
class Parts:
    """The energies of a body by component."""

    translation: Value
    rotation: Value
    coupling: Value
    centrifugal: Value
    deformation: Value

    def __add__(self, other: Parts) -> Parts:
        return Parts(*(a + b for a, b in zip(self.values, other.values, strict=True)))

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the energies in the order of NAMES."""
        return (self.translation, self.rotation, self.coupling, self.centrifugal, self.deformation)


@dataclass(frozen=True)
class Rotating:
    """The motion of a frame to order n in its components: U_0 .. U_n, the derivative of order n of its origin, and w^(n-1)."""

    U: list[Mat]
    a: Vec
    alpha: Vec

    @property
    def swing(self) -> Mat:
        """Return {w^(p) x}."""
        columns = [cross(self.alpha, column) for column in self.U[0]]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def rest(self) -> Mat:
        """Return Q = U_n - {w^(p) x}."""
        return [[u - s for u, s in zip(*rows, strict=True)] for rows in zip(self.U[-1], self.swing, strict=True)]


def turnings(mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], p: int) -> list[Rotating]:
    """Return the rotations of all frames for the energy of order p; p = 0 is the kinetic energy."""
    graph = mechanism.graph
    zero, one = graph.value(0), graph.value(1)
    unit = [[one if r == c else zero for c in range(3)] for r in range(3)]
    accelerations = motion[2] if p else [zero] * mechanism.size
    velocities, states = local_motions(mechanism, placed, motion[0], motion[1], accelerations)
    if p == 0:
        found = []
        for velocity in velocities:
            columns = [cross(velocity.angular, column) for column in unit]
            spin = [list(row) for row in zip(*columns, strict=True)]
            found.append(Rotating([unit, spin], velocity.linear, velocity.angular))
        return found
    moved: list[BodyMotion] = body_motions(mechanism, placed, motion, p + 1)
    alphas, chain = [state.epsilon for state in states], mechanism.in_time(motion)
    for _ in range(p - 1):  # absolute derivatives: d/dt of the components, and omega x
        rates = time_derivative(graph, [x for alpha in alphas for x in alpha], chain)
        alphas = [add(rates[3 * k : 3 * k + 3], cross(state.omega, alphas[k])) for k, state in enumerate(states)]
    return [Rotating(body.U, body.a, alpha) for body, alpha in zip(moved, alphas, strict=True)]


def _square(U: Mat, P: Mat) -> Value:
    """Return 1/2 Tr(U P U^T)."""
    return dense.inner(P[0][0].graph, product(U, P), U) * 0.5


def _central(inertia: Inertia) -> tuple[Vec, Mat]:
    """Return the mass centre and int s s^T dm about it; a body without mass keeps its moments."""
    if inertia.m.is_zero:
        return inertia.S, inertia.P.full
    centre = scale(inertia.S, 1 / inertia.m)
    return centre, [[inertia.P.full[r][c] - centre[r] * inertia.S[c] for c in range(3)] for r in range(3)]


def rigid_parts(inertia: Inertia, rotating: Rotating) -> Parts:
    """Return the parts of a rigid body."""
    graph = inertia.m.graph
    centre, P = _central(inertia)
    moved = add(rotating.a, times(rotating.U[-1], centre))
    swing, rest = rotating.swing, rotating.rest
    return Parts(
        translation=inertia.m * dot(moved, moved) * 0.5,
        rotation=_square(swing, P),
        coupling=dense.inner(graph, product(swing, P), rest),
        centrifugal=_square(rest, P),
        deformation=graph.value(0),
    )


def flexible_parts(body: DeformedBody, rotating: Rotating, motion: Sequence[Sequence[Value]], chain: Chain) -> Parts:
    """Return the parts of a flexible body about its present mass centre; ``chain`` pairs variables with their rates."""
    graph = body.graph
    centre, P = _central(body.inertia)
    inner = body.centre_motion(motion, chain, rotating.U)
    moved = add(rotating.a, add(times(rotating.U[-1], centre), inner))
    still = [[graph.value(0)] * 3 for _ in range(3)]
    deformation = body.acceleration_energy(motion, [*rotating.U[:-1], still], [-x for x in inner])
    about_centre = body.acceleration_energy(motion, rotating.U, sub(rotating.a, moved))
    swing, rest = rotating.swing, rotating.rest
    rotation, centrifugal = _square(swing, P), _square(rest, P)
    return Parts(
        translation=body.inertia.m * dot(moved, moved) * 0.5,
        rotation=rotation,
        coupling=about_centre - rotation - centrifugal - deformation,
        centrifugal=centrifugal,
        deformation=deformation,
    )


def energy_parts(
    mechanism: Mechanism, placed: Sequence[Placed], motion: Sequence[Sequence[Value]], p: int
) -> list[list[Parts]]:
    """Return for each frame the parts of its rigid and of its flexible body."""
    found = []
    for frame, rotating in zip(mechanism.frames, turnings(mechanism, placed, motion, p), strict=True):
        with mechanism.graph.section(f"{frame.label}: energy by component"):
            parts = [rigid_parts(frame.inertia, rotating)]
            if frame.elastic is not None:
                parts.append(flexible_parts(frame.elastic.moved(motion[0]), rotating, motion, mechanism.in_time(motion)))
            found.append(parts)
    return found
