"""A beam that slides through its joint with the clamp at the joint itself: the smooth form of P_b (paper 003, 4.3).

Of a beam of length l the part d is outside of the joint; the rest, behind it, is straight. The part outside is divided into n
elements of length d / n, its displacements are those of moving_shape.py. They, their rates and accelerations are polynomials on
every element, so that mass integrals are sums over their coefficients, times mu d: see element_polynomials.py. Where the beam
is reduced to modes, they are sums of fixed functions, with integrals that are numbers: see mode_functions.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

from elastogen.generator.beams.damping_parts import DampingParts
from elastogen.generator.bodies.elastic_body import (
    Chain,
    DeformedBody,
    ElasticBody,
    TimeDerivatives,
    moment_of,
    rigid_energy,
)
from elastogen.generator.bodies.modal_dampers import add_modal_forces, modal_dampers
from elastogen.generator.bodies.shaped_body import ShapedBody, undeformed_inertia
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.sliding.beam_functions import Scatter
from elastogen.generator.sliding.mode_functions import Modes, beam_functions
from elastogen.generator.sliding.moving_shape import Field, MovingShape
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Symmetric, Vec, dot, product


@dataclass(frozen=True)
class MovingBeam(ElasticBody):
    """The beam in its link frame, which the joint moves; its coordinates are d and the nodal ones or amplitudes of modes."""

    length: Value
    mass_per_length: Value
    EI: Value
    elements: int
    modes: Modes  # empty: nodal coordinates
    foreshortening: bool
    damping: tuple[tuple[int, Mat], ...]  # exponents e and matrices D_e: see robot.Telescope
    damping_parts: DampingParts | None  # of the only one

    @staticmethod
    def lowered(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> MovingBeam:
        """From the description of a beam on a telescopic joint; the first coordinate is the joint's."""
        beam = body.telescope
        assert beam is not None
        return MovingBeam(
            coordinates,
            undeformed_inertia(lower, body),
            lower.value(beam.length),
            lower.value(beam.mass_per_length),
            lower.value(beam.EI),
            beam.elements,
            beam.modes,
            beam.foreshortening,
            tuple((e, [[lower.value(entry) for entry in row] for row in matrix]) for e, matrix in beam.damping),
            beam.damping_parts,
        )

    def with_mass_factor(self, factor: Value) -> MovingBeam:
        """Mass per length and the straight beam."""
        return replace(self, rigid=self.rigid.scaled(factor), mass_per_length=self.mass_per_length * factor)

    def deformed(self, x: Sequence[Value]) -> MovingState:
        """The beam at (d, u)."""
        return MovingState(self, tuple(x))

    @property
    def has_constant_coefficients(self) -> bool:
        """No: both depend on d."""
        return False

    def elastic_energy(self, x: Sequence[Value]) -> Value:
        """1/2 int EI w''^2 dx = EI / (2 d^3) c^T K c (003 (16))."""
        shape = self.deformed(x).shape
        return self.EI * 0.5 * shape.strain / (shape.d * shape.d * shape.d)

    def elastic_forces(self, x: Sequence[Value]) -> list[Value]:
        """Derivatives of the energy by d and the elastic coordinates."""
        shape = self.deformed(x).shape
        cubed = self.EI / (shape.d * shape.d * shape.d)
        total = shape.drawn(-1.5 * shape.strain, shape.strains)
        by_u = [cubed * power * value for power, value in zip(shape.powers, shape.strains, strict=True)]
        return [cubed / shape.d * total, *by_u]

    def elastic_matrix(self, x: Sequence[Value]) -> Mat:
        """K(d) with 1/2 q^T K q the energy; the row and column of d are zero."""
        shape = self.deformed(x).shape
        cubed = self.EI / (shape.d * shape.d * shape.d)
        K = super().elastic_matrix(x)
        for i, row in enumerate(shape.space.stiffness_integrals):
            for j, number in row:
                K[1 + i][1 + j] = cubed * number * (shape.powers[i] * shape.powers[j])
        return K

    def damping_matrix(self, x: Sequence[Value]) -> Mat:
        """sum_e d^(e + p_i + p_j) D_e; the row and column of d are zero."""
        shape = self.deformed(x).shape
        D = super().damping_matrix(x)
        for exponent, matrix in self.damping:
            factor = _power(shape.d, exponent)
            for i, row in enumerate(matrix):
                for j, entry in enumerate(row):
                    D[1 + i][1 + j] = D[1 + i][1 + j] + factor * (shape.powers[i] * shape.powers[j]) * entry
        return D

    def damping_forces(self, x: Sequence[Value], xd: Sequence[Value]) -> list[Value]:
        """That matrix times the rates: each D_e with the rates d^p_j u_j'."""
        shape = self.deformed(x).shape
        rates = [power * rate for power, rate in zip(shape.powers, xd[1:], strict=True)]
        forces = super().damping_forces(x, xd)
        for exponent, matrix in self.damping:
            factor = _power(shape.d, exponent)
            for i, total in enumerate(self._damped(matrix, rates)):
                forces[1 + i] = forces[1 + i] + factor * shape.powers[i] * total
        return forces

    def _damped(self, matrix: Mat, rates: Vec) -> Iterable[Value]:
        """A matrix D_e times rates, by its parts where they cost less."""
        if self.damping_parts is None:
            return (dot(row, rates) for row in matrix)
        internal, zero = self.damping_parts.internal, self.graph.value(0)
        stiffness = beam_functions(self.graph, self.elements, self.modes).stiffness_integrals
        forces = [sum((internal * number * rates[j] for j, number in row), zero) for row in stiffness]
        add_modal_forces(forces, modal_dampers(self.graph, self.damping_parts.modal, range(len(forces))), rates)
        return forces


def lowered_body(lower: Lowering, body: FlexibleBody, coordinates: tuple[int, ...]) -> ElasticBody:
    """The flexible body of a link; where its joint moves its clamp, the joint's coordinate comes first."""
    return (MovingBeam.lowered if body.clamp_moves else ShapedBody.lowered)(lower, body, coordinates)


class MovingState(DeformedBody):
    """The beam in a deformed state."""

    def __init__(self, body: MovingBeam, x: tuple[Value, ...]) -> None:
        self.beam, self.graph = body, body.graph
        self.space = beam_functions(self.graph, body.elements, body.modes)
        self.shape = MovingShape(self.space, x, body.foreshortening)
        self.d = x[0]

    # ---- integrals over the mass

    @cached_property
    def _scale(self) -> Value:
        return self.beam.mass_per_length * self.d

    @cached_property
    def _behind(self) -> Value:
        return self.beam.length - self.d

    def _total(self, f: Scatter) -> Value:
        return self._scale * self.space.mean(f)

    def _pair(self, f: Scatter, g: Scatter) -> Value:
        return self._scale * self.space.inner(f, g)

    def _along(self, f: Scatter) -> Value:
        """int x f dm, with x = l - d + eta d."""
        return self._scale * (self._behind * self.space.mean(f) + self.d * self.space.moment(f))

    def _moments(self, f: Field) -> tuple[Vec, Mat]:
        """int f dm and int f r_e^T dm."""
        zero, (x, y) = self.graph.value(0), f
        total = [self._total(x), self._total(y), zero]
        rows = [[self._along(part) + self._pair(part, self.shape.s), self._pair(part, self.shape.w), zero] for part in (x, y)]
        return total, [*rows, [zero] * 3]

    def _on_shapes(self, force: Field) -> list[Value]:
        """int dr_e/dc_j . f deta, eta fixed: int n_j f_y - (1/d) int (int_0^eta w_eta n_j') f_x.

        Without foreshortening nothing moves along x.
        """
        space, (x, y) = self.space, force
        if not self.beam.foreshortening:
            return space.projected(y)
        return space.projected_with_slopes(y, self.shape.w, x, -1 / self.d)

    def _pulled(self, force: Field) -> list[Value]:
        """int dr_e/dx_j . f dm for d, which moves c_j by p_j c_j / d, s by -s / d and points by A / d, and for u_j."""
        space, (x, y), (ahead_s, ahead_w) = self.space, force, self.shape.ahead
        by_c = self._on_shapes(force)
        total = space.inner(ahead_w, y) + space.inner(space.sum(ahead_s, space.scaled(self.shape.s, -1.0)), x)
        total = self.shape.drawn(total, by_c)
        by_u = [self._scale * power * value for power, value in zip(self.shape.powers, by_c, strict=True)]
        return [self.beam.mass_per_length * total, *by_u]

    @cached_property
    def _by_d(self) -> Field:
        """d times the derivative by d of the displacements of points."""
        return self.shape.velocity([self.d, *[self.graph.value(0)] * len(self.shape.u)])

    # ---- points to second order in the coordinates

    def displacement_expansion(self) -> tuple[Field, dict[int, Field], dict[tuple[int, int], Field]]:
        """Displacement of the points and its derivatives by one and two of the beam's coordinates, material points kept."""
        zero, one, size = self.graph.value(0), self.graph.value(1), 1 + len(self.shape.u)
        still = [zero] * size

        def bent(*moving: int) -> Field:
            return self.shape.acceleration([one if k in moving else zero for k in range(size)], still)

        first = {k: self.shape.velocity([one if j == k else zero for j in range(size)]) for k in range(size)}
        single = {k: bent(k) for k in range(size)}  # quadratic in the rates
        second = {(k, k): field for k, field in single.items()}
        for k in range(size):
            for j in range(k + 1, size):
                parts = zip(bent(k, j), single[k], single[j], strict=True)
                x, y = (self.space.scaled(self.space.sum(f, self._less(g), self._less(h)), 0.5) for f, g, h in parts)
                second[k, j] = (x, y)
        return (self.shape.s, self.shape.w), first, second

    def _less(self, f: Scatter) -> Scatter:
        return self.space.scaled(f, -1.0)

    def basis_gram(self, places: Sequence[tuple[int, int]]) -> Mat:
        """int xi xi^T dm of xi = (x, y, z, 1) of the straight beam and the functions at these places."""
        zero, one = self.graph.value(0), self.graph.value(1)
        functions = []
        for e, r in places:
            unit = self.space.nothing
            unit[e] = [*[zero] * r, one]
            functions.append(unit)
        gram = [[*row, *[zero] * len(places)] for row in self.beam.rigid.pseudo]
        for f in functions:
            start = [self._along(f), zero, zero, self._total(f)]
            gram.append([*start, *(self._pair(f, g) for g in functions)])
        for k, row in enumerate(gram[4:], start=4):
            for c in range(4):
                gram[c][k] = row[c]
        return gram

    # ---- what the recursions ask for

    @cached_property
    def inertia(self) -> Inertia:
        """The straight beam, and the moments of the displacement."""
        rigid, zero = self.beam.rigid, self.graph.value(0)
        S, W = self._moments((self.shape.s, self.shape.w))
        xx = rigid.P.xx + W[0][0] + self._along(self.shape.s)
        P = [[xx, W[1][0], zero], [zero, W[1][1], zero], [zero, zero, zero]]
        return Inertia(rigid.m, [rigid.S[0] + S[0], S[1], zero], Symmetric.of(P))

    def rate_moments(self, xd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int dr_e dm and int dr_e r_e^T dm."""
        return self._moments(self.shape.velocity(xd))

    def acceleration_moments(self, xd: Sequence[Value], xdd: Sequence[Value]) -> tuple[Vec, Mat]:
        """int ddr_e dm and int ddr_e r_e^T dm."""
        return self._moments(self.shape.acceleration(xd, xdd))

    def rate_energy(self, xd: Sequence[Value]) -> Value:
        """1/2 int dr_e.dr_e dm."""
        x, y = self.shape.velocity(xd)
        return (self._pair(x, x) + self._pair(y, y)) * 0.5

    def rows(self, omega: Vec, U: Mat, a: Vec, xd: Sequence[Value], xdd: Sequence[Value]) -> list[Value]:
        """int dr_e/dx_j . (a + U r_e + 2 omega x dr_e + ddr_e) dm."""
        space, twist = self.space, 2 * omega[2]
        velocity, relative = self.shape.velocity(xd), self.shape.acceleration(xd, xdd)
        force = []
        for i, (across, turn) in enumerate(((velocity[1], -twist), (velocity[0], twist))):
            frozen = space.line(a[i] + U[i][0] * self._behind, U[i][0] * self.d)
            shifted = space.sum(space.scaled(self.shape.s, U[i][0]), space.scaled(self.shape.w, U[i][1]))
            force.append(space.sum(frozen, shifted, space.scaled(across, turn), relative[i]))
        return self._pulled((force[0], force[1]))

    def unit_wrenches(self) -> list[tuple[Vec, Vec]]:
        """Force and moment of a unit acceleration along every coordinate; for u_j by unit forces and moments on the body."""
        zero, one, space = self.graph.value(0), self.graph.value(1), self.space
        total, W = self._moments(self._by_d)
        share = 1 / self.d
        result = [([share * value for value in total], [share * value for value in moment_of(W)])]
        everywhere = space.line(one, zero)
        columns = [
            self._on_shapes(force)
            for force in (
                (everywhere, space.nothing),
                (space.nothing, everywhere),
                (space.nothing, space.line(zero, one)),
                (space.scaled(self.shape.w, -1.0), self.shape.s),
            )
        ]
        for power, along, across, lever, turn in zip(self.shape.powers, *columns, strict=True):
            factor = self._scale * power
            moment = factor * (self._behind * across + self.d * lever + turn)
            result.append(([factor * along, factor * across, zero], [zero, zero, moment]))
        return result

    def mass_block(self) -> Mat:
        """int dr_e/dx_j . dr_e/dx_k dm; the part of the elastic coordinates across is a matrix of numbers times powers of d."""
        zero, one, space, (x, y) = self.graph.value(0), self.graph.value(1), self.space, self._by_d
        mu, size = self.beam.mass_per_length, 1 + len(self.shape.u)
        block = [[zero] * size for _ in range(size)]
        block[0][0] = mu / self.d * (space.inner(x, x) + space.inner(y, y))
        for j, (power, value) in enumerate(zip(self.shape.powers, self._on_shapes((x, y)), strict=True)):
            block[0][1 + j] = block[1 + j][0] = mu * power * value
        units = [[one if k == j else zero for k in range(size - 1)] for j in range(size - 1)]
        along = [space.scaled(self.shape.shortened(self.shape.w, space.interpolated(unit)), 1 / self.d) for unit in units]
        for i, row in enumerate(space.mass_integrals):
            numbers = dict(row)
            for j in range(i, size - 1):
                value = space.inner(along[i], along[j]) + numbers.get(j, 0.0)
                block[1 + i][1 + j] = block[1 + j][1 + i] = self._scale * (self.shape.powers[i] * self.shape.powers[j]) * value
        return block

    def _moved(self, motion: TimeDerivatives, U: Sequence[Mat], a: Vec) -> tuple[list[Scatter], list[Scatter]]:
        """Per component, a + U_n r, and sum_i C(n, i) U_i f^(n-i) of the displacements f."""
        space, order = self.space, len(U) - 1
        fields = self.shape.derivatives(motion, self.beam.coordinates[0], order)
        frozen, added = [], []
        for r in range(3):
            frozen.append(space.line(a[r] + U[order][r][0] * self._behind, U[order][r][0] * self.d))
            terms = [
                space.scaled(part, operator[r][k] * float(comb(order, i)))
                for i, operator in enumerate(U)
                for k, part in enumerate(fields[order - i])
            ]
            added.append(space.sum(*terms))
        return frozen, added

    def centre_motion(self, motion: TimeDerivatives, chain: Chain, U: Sequence[Mat]) -> Vec:
        """The mean over the points; from third order on it is not the derivative of the centre of mass.

        The acceleration of points jumps at the clamp, by d'^2 w'': what passes through it adds to the derivative of the mean.
        """
        zero = self.graph.value(0)
        still = [[zero] * 3 for _ in range(3)]
        _, added = self._moved(motion, [*U[:-1], still], [zero] * 3)
        return [self._total(part) / self.beam.rigid.m for part in added]

    def acceleration_energy(self, motion: TimeDerivatives, U: Sequence[Mat], a: Vec) -> Value:
        """That of the straight beam, and what the displacements of the part outside add."""
        total = rigid_energy(self.beam.rigid, U[-1], a)
        for line, added in zip(*self._moved(motion, U, a), strict=True):
            total = total + self._pair(self.space.sum(line, self.space.scaled(added, 0.5)), added)
        return total

    def inertia_forces(self, motion: TimeDerivatives, R: Sequence[Mat], X: Mat) -> tuple[Mat, list[Value]]:
        """The integrals for the acceleration of every point, in the base's components."""
        space, zero = self.space, self.graph.value(0)
        U = [*R[:-1], [row[:3] for row in X]]
        frozen, added = self._moved(motion, U, [row[3] for row in X])
        acceleration = [space.sum(line, part) for line, part in zip(frozen, added, strict=True)]
        W = product(X, self.beam.rigid.pseudo)
        for r in range(3):
            shifted, across = self._pair(acceleration[r], self.shape.s), self._pair(acceleration[r], self.shape.w)
            own = [self._along(added[r]) + shifted, across, zero, self._total(added[r])]
            W[r] = [x + y for x, y in zip(W[r], own, strict=True)]
        x, y = (space.sum(*(space.scaled(acceleration[r], R[0][r][k]) for r in range(3))) for k in range(2))
        return W, self._pulled((x, y))


def _power(d: Value, exponent: int) -> Value:
    """d^exponent."""
    result = d.graph.value(1)
    for _ in range(abs(exponent)):
        result = result * d
    return result if exponent >= 0 else 1 / result
