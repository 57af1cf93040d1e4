"""The matrices of paper 002, (9)-(30) as corrected, for rigid and flexible robots alike.

With A_ij = dT_i0/dq_j and A_ijk = d2T_i0/dq_j dq_k (002 (10); by elastic coordinates these are F_a and F_ab of
000 (73)-(77) as corrected),

    M_ij = sum_k Tr(A_ki I_psk A_kj^T),  V_ijm = sum_k Tr(A_ki I_psk A_kjm^T),  D_ijlm = sum_k Tr(A_kij I_psk A_klm^T).

A flexible body has points r + sum_n c_n b_n: with the basis xi = (r; 1; b_1; b_2; ...) they are at Y xi, Y = T S(q),
and S = [E4, c_1 [E3; 0], c_2 [E3; 0], ...]. The formulas above then hold with Y in place of T_k0, and in place of I_psk
the constant matrix int xi xi^T dm, which consists of I_ps, I_rd and I_dd of 000 (97).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from elastogen.generator.algorithms import affine
from elastogen.generator.bodies.shaped_body import ShapedBody
from elastogen.generator.mechanism.mechanism import Frame, LinkFrame, Mechanism
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.sliding.moving_beam import MovingBeam
from elastogen.generator.sliding.moving_shape import Field
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross

Matrix: TypeAlias = Any  # numpy array of values (dtype object)
Pair: TypeAlias = "tuple[int, int]"


@dataclass(frozen=True)
class Expansion:
    """A matrix with its first and second partial derivatives by the coordinates; absent ones vanish."""

    value: Matrix
    first: dict[int, Matrix]
    second: dict[Pair, Matrix]  # keys (a, b) with a <= b

    def __matmul__(self, other: Expansion) -> Expansion:
        first: dict[int, Matrix] = {}
        second: dict[Pair, Matrix] = {}
        for a, left in self.first.items():
            _accumulate(first, a, left @ other.value)
            for b, right in other.first.items():  # both orders of (a, b) where the factors share coordinates
                _accumulate(second, _pair(a, b), (left @ right) * (2 if a == b else 1))
        for a, right in other.first.items():
            _accumulate(first, a, self.value @ right)
        for pair, left in self.second.items():
            _accumulate(second, pair, left @ other.value)
        for pair, right in other.second.items():
            _accumulate(second, pair, self.value @ right)
        return Expansion(self.value @ other.value, first, second)

    def second_by(self, a: int, b: int) -> Matrix | None:
        """Return the second derivative by two coordinates, None if it vanishes."""
        return self.second.get(_pair(a, b))


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a <= b else (b, a)


def _accumulate(target: dict[Any, Matrix], key: Any, matrix: Matrix) -> None:
    target[key] = target[key] + matrix if key in target else matrix


def _expanded(graph: Graph, rows: Mat, coordinates: Sequence[int], q: Sequence[Value]) -> Expansion:
    """Differentiate a matrix that depends on few coordinates, entry by entry."""
    first = {a: affine.partial(graph, rows, q[a]) for a in coordinates}
    second = {
        (a, b): np.array(affine.partial(graph, first[a], q[b]), dtype=object)
        for a in coordinates
        for b in coordinates
        if a <= b
    }
    return _expansion(rows, first, second)


def _expanded_along(mechanism: Mechanism, rows: Mat, velocities: Sequence[int], q: Sequence[Value]) -> Expansion:
    """Differentiate along quasi-velocities."""

    def along(matrix: Mat, a: int) -> Mat:
        values, width = mechanism.along([value for row in matrix for value in row], q, a), len(matrix[0])
        return [values[start : start + width] for start in range(0, len(values), width)]

    first = {a: along(rows, a) for a in velocities}
    second = {
        (a, b): (_array(along(first[a], b)) + _array(along(first[b], a))) * 0.5
        for a in velocities
        for b in velocities
        if a <= b
    }
    return _expansion(rows, first, second)


def _expansion(rows: Mat, first: dict[int, Mat], second: dict[Pair, Matrix]) -> Expansion:
    second = {pair: matrix for pair, matrix in second.items() if any(not x.is_zero for x in matrix.flat)}
    return Expansion(_array(rows), {a: _array(slope) for a, slope in first.items()}, second)


def _array(rows: Sequence[Sequence[Value]]) -> Matrix:
    return np.array([list(row) for row in rows], dtype=object)


def _inner(graph: Graph, a: Matrix, b: Matrix) -> Value:
    """Tr(a b^T)."""
    total = graph.value(0)
    for x, y in zip(a.flat, b.flat, strict=True):
        total = total + x * y
    return total


@dataclass(frozen=True)
class BodyExpansion:
    """The motion of one frame for its body: Y (3 rows) and int xi xi^T dm."""

    Y: Expansion
    gram: Matrix


class AccelerationMatrices:
    """M, V, D, B, C of 002 (21), (22), Q_g of (25) and the differential matrices of (10)."""

    def __init__(self, mechanism: Mechanism, q: Sequence[Value]) -> None:
        self.mechanism, self.graph, self.q = mechanism, mechanism.graph, q
        self.size = mechanism.size

    # ---- transformations

    @cached_property
    def transforms(self) -> list[Expansion]:
        """Return T_i0 of the moving frames with A_ij, A_ijk."""
        found: list[Expansion] = []
        locals_ = affine.local_transforms(self.mechanism, self.q)
        for frame, rows in zip(self.mechanism.frames, locals_, strict=True):
            with self.graph.section(f"{frame.label}: differential matrices"):
                if frame.extras:
                    local = _expanded_along(self.mechanism, rows, frame.coordinates, self.q)
                else:
                    local = _expanded(self.graph, rows, frame.touched, self.q)
                found.append(found[frame.parent] @ local if frame.parent >= 0 else local)
        return found

    def link_transform(self, link: LinkFrame) -> Expansion:
        """Return T_i0 of a frame of the user with A_ij, A_ijk."""
        zero, one = self.graph.value(0), self.graph.value(1)
        unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
        rows = [[*row, p] for row, p in zip(link.rotation.after(unit), link.position, strict=True)]
        pose = Expansion(_array([*rows, [zero, zero, zero, one]]), {}, {})
        return self.transforms[link.frame] @ pose if link.frame >= 0 else pose

    # ---- dynamics

    @cached_property
    def bodies(self) -> list[BodyExpansion]:
        """Return all bodies that move."""
        found = []
        for frame, T in zip(self.mechanism.frames, self.transforms, strict=True):
            with self.graph.section(f"{frame.label}: positions of the points"):
                upper = Expansion(
                    T.value[:3], {a: X[:3] for a, X in T.first.items()}, {pair: X[:3] for pair, X in T.second.items()}
                )
                gram = _array(frame.inertia.pseudo)
                if frame.elastic is None:
                    found.append(BodyExpansion(upper, gram))
                else:
                    found.append(BodyExpansion(upper @ self._shapes(frame), self._gram(frame, gram)))
        return found

    def _shapes(self, frame: Frame) -> Expansion:
        """Return S(q) = [E4, c_1 [E3; 0], ...]."""
        elastic, zero, one = frame.elastic, self.graph.value(0), self.graph.value(1)
        if isinstance(elastic, MovingBeam):
            return self._moving(elastic)[0]
        assert isinstance(elastic, ShapedBody)
        c = elastic.deformed([self.q[k] for k in elastic.coordinates]).c
        rows = [
            [one if column == row else zero for column in range(4)]
            + [weight if column == row else zero for weight in c for column in range(3)]
            for row in range(4)
        ]
        return _expanded(self.graph, rows, elastic.coordinates, self.q)

    def _gram(self, frame: Frame, rigid: Matrix) -> Matrix:
        elastic = frame.elastic
        if isinstance(elastic, MovingBeam):
            own = self._moving(elastic)[1]
            own[:4, :4] = own[:4, :4] + rigid
            return own
        assert isinstance(elastic, ShapedBody)
        count = len(elastic.monomials)
        gram = np.full((4 + 3 * count, 4 + 3 * count), self.graph.value(0), dtype=object)
        gram[:4, :4] = rigid + _array(elastic.rigid.pseudo)
        for n in range(count):
            own = slice(4 + 3 * n, 7 + 3 * n)
            gram[own, :3], gram[own, 3] = _array(elastic.B[n]), np.array(elastic.D[n], dtype=object)
            gram[:4, own] = gram[own, :4].T
            for m, block in elastic.G[n].items():
                gram[own, 4 + 3 * m : 7 + 3 * m] = _array(block)
        return gram

    def _moving(self, beam: MovingBeam) -> tuple[Expansion, Matrix]:
        """The same for a beam that slides through its joint: xi = (r; 1; fixed functions of the place between clamp and tip).

        The functions stay with the material to second order only, which is what M, V and D need; their weights in S are the
        displacements of points and their derivatives by the coordinates (moving_shape.py), int xi xi^T dm is that of now.
        """
        state = beam.deformed(beam.own(self.q))
        value, first, second = state.displacement_expansion()
        fields = [value, *first.values(), *second.values()]
        places = sorted({(e, r) for field in fields for part in field for e, line in enumerate(part) for r in range(len(line))})
        zero, one = self.graph.value(0), self.graph.value(1)

        def rows(field: Field, diagonal: Value) -> Matrix:
            parts = [[line[r] if r < len(line := part[e]) else zero for e, r in places] for part in field]
            parts += [[zero] * len(places)] * 2
            return _array([[diagonal if k == c else zero for c in range(4)] + parts[k] for k in range(4)])

        S = Expansion(
            rows(value, one),
            {beam.coordinates[a]: rows(field, zero) for a, field in first.items()},
            {_pair(beam.coordinates[a], beam.coordinates[b]): rows(field, zero) for (a, b), field in second.items()},
        )
        return S, _array(state.basis_gram(places))

    @cached_property
    def mass(self) -> Mat:
        """Return M_ij (002 (21))."""
        zero = self.graph.value(0)
        M = [[zero] * self.size for _ in range(self.size)]
        for body in self.bodies:
            for i, slope in body.Y.first.items():
                weighted = slope @ body.gram
                for j, other in body.Y.first.items():
                    if j >= i:
                        M[i][j] = M[i][j] + _inner(self.graph, weighted, other)
        for i in range(self.size):
            for j in range(i):
                M[i][j] = M[j][i]
        return M

    @cached_property
    def coefficients(self) -> dict[tuple[int, int, int], Value]:
        """Return V_ijm for j <= m (002 (22)); absent ones vanish."""
        found: dict[tuple[int, int, int], Value] = {}
        for body in self.bodies:
            for (j, m), bend in body.Y.second.items():
                weighted = bend @ body.gram
                for i, slope in body.Y.first.items():
                    value = _inner(self.graph, slope, weighted)
                    found[i, j, m] = found[i, j, m] + value if (i, j, m) in found else value
        return found

    def B(self) -> Mat:
        """Coriolis coefficients 2 V_ijm, j < m in lexicographic order (002 (22) with the factor that (30) needs)."""
        zero = self.graph.value(0)
        return [[2 * self.coefficients.get((i, j, m), zero) for j, m in pairs(self.size)] for i in range(self.size)]

    def C(self) -> Mat:
        """Centrifugal coefficients V_ijj (002 (22))."""
        zero = self.graph.value(0)
        return [[self.coefficients.get((i, j, j), zero) for j in range(self.size)] for i in range(self.size)]

    def _bends(self, qd: Sequence[Value]) -> list[Matrix | None]:
        """Return for each body sum_jm A_kjm qd_j qd_m: the acceleration at qdd = 0."""
        result: list[Matrix | None] = []
        for body in self.bodies:
            total: Matrix | None = None
            for (j, m), bend in body.Y.second.items():
                term = bend * (qd[j] * qd[m] * (1 if j == m else 2))
                total = term if total is None else total + term
            result.append(total)
        return result

    def V(self, qd: Sequence[Value]) -> Vec:
        """V_i = qd^T [V_ijm] qd: Coriolis and centrifugal forces (002 (22))."""
        result = [self.graph.value(0)] * self.size
        for body, bend in zip(self.bodies, self._bends(qd), strict=True):
            if bend is not None:
                weighted = bend @ body.gram
                for i, slope in body.Y.first.items():
                    result[i] = result[i] + _inner(self.graph, slope, weighted)
        return result

    def D(self, qd: Sequence[Value]) -> Mat:
        """D_ij = qd^T [D_ijlm] qd (002 (22)): 1/2 qd^T D qd is the acceleration energy at qdd = 0."""
        result = [[self.graph.value(0)] * self.size for _ in range(self.size)]
        for body, bend in zip(self.bodies, self._bends(qd), strict=True):
            if bend is not None:
                weighted = bend @ body.gram
                for (i, j), other in body.Y.second.items():
                    value = _inner(self.graph, other, weighted)
                    for r, c in {(i, j), (j, i)}:
                        result[r][c] = result[r][c] + value
        return result

    def weight(self, gravity: Sequence[Value]) -> Vec:
        """Q_g: the active forces of the weights, sum_j M_j g^T A_ji r_Cj (002 (25))."""
        result = [self.graph.value(0)] * self.size
        for body in self.bodies:
            for i, slope in body.Y.first.items():
                moment = slope @ body.gram[:, 3]
                for g, x in zip(gravity, moment, strict=True):
                    result[i] = result[i] + g * x
        return result

    # ---- Jacobian of the tip

    def jacobian_terms(self, angular: Sequence[Vec]) -> tuple[list[Vec], list[Vec]]:
        """Columns of J_B (pairs i < j) and of J_C: dJ/dt qd = J_B [qd_i qd_j] + J_C [qd_i^2] (002 (13) as corrected).

        ``angular`` are the angular columns of the Jacobian. Of two joints the angular part of J_B is a_i x a_j; with
        elastic tips it is 2 vect(A_nij(R) R^T), which is the same for joints.
        """
        tip = self.link_transform(self.mechanism.link_frames[-1])
        coriolis = [[2 * x for x in self._bend(tip, i, j, angular)] for i, j in pairs(self.size)]
        return coriolis, [self._bend(tip, i, i, angular) for i in range(self.size)]

    def _bend(self, tip: Expansion, i: int, j: int, angular: Sequence[Vec]) -> Vec:
        """Return A_nij(p) and vect(A_nij(R) R^T)."""
        bend = tip.second_by(i, j)
        linear = [self.graph.value(0)] * 3 if bend is None else list(bend[:3, 3])
        if self.mechanism.moves_by_screws:
            return [*linear, *(x * 0.5 for x in cross(angular[i], angular[j]))]
        if self.mechanism.has_linear_tips:  # R is not orthogonal: differentiate the columns themselves
            one = affine.partial(self.graph, [angular[i]], self.q[j])[0]
            other = affine.partial(self.graph, [angular[j]], self.q[i])[0]
            return [*linear, *((x + y) * 0.5 for x, y in zip(one, other, strict=True))]
        if bend is None:
            return [*linear, *linear]
        W = bend[:3, :3] @ tip.value[:3, :3].T
        return [*linear, *((W[a][b] - W[b][a]) * 0.5 for a, b in ((2, 1), (0, 2), (1, 0)))]


def pairs(size: int) -> list[Pair]:
    """Return (0, 1), (0, 2), ..., (1, 2), ...: the order of [qd_i qd_j] and of the columns of B and J_B."""
    return [(i, j) for i in range(size) for j in range(i + 1, size)]


def joint_operators(mechanism: Mechanism) -> list[Mat]:
    """Return U_i of every coordinate in the frame of the link that it moves: dT_i0/dq_i = T_i0 U_i (002 (9), tau_i = 1).

    Of quasi-velocities those of the moving frame.
    """
    zero = mechanism.graph.value(0)
    found: dict[int, Mat] = {}
    for link in mechanism.link_frames:
        for index in mechanism.ancestors(link.frame):
            frame = mechanism.frames[index]
            if not frame.coordinates or frame.coordinates[0] in found:
                break
            at_zero = [zero] * (len(frame.coordinates) + len(frame.extras))
            for coordinate, (turn, slide) in zip(frame.coordinates, frame.motion.twists(at_zero), strict=True):
                w = link.rotation.inward(turn)
                v = link.rotation.inward(add(cross(turn, link.position), frame.motion.to_moved(at_zero, slide)))
                rows = [[zero, -w[2], w[1], v[0]], [w[2], zero, -w[0], v[1]], [-w[1], w[0], zero, v[2]], [zero] * 4]
                found[coordinate] = rows
    return [found[k] for k in range(mechanism.size)]
