"""Kinematics by matrix exponentials (MEK, paper 001 as corrected): a second kinematics, independent of the recursion.

Everything follows from the zero configuration: with k_i the axis of joint i, p_i a point on it, both in frame 0 at q = 0,
and D_i = 1 for a rotation, 0 for a translation,

    A_i = [ {D_i k_i x}, v_i ; 0 0 ],    v_i = D_i (p_i x k_i) + (1 - D_i) k_i,
    T_x0 = prod_i exp(A_i q_i) T_x0^(0)                                                          (001 (2))
    exp(A_i q_i) = [ E_i, b_i ; 0 1 ],   E_i = exp({k_i x} q_i D_i),
    b_i = { E q_i + {k_i x} (1 - cos q_i D_i) + {k_i x}^2 (q_i - sin q_i D_i) } v_i              (000 (33) as corrected)

An elastic joint is two exponentials of one A_i. An elastic tip adds an exponential exp(DT_ij q_ij) for each mode, with
DT_ij = [ {delta_ij x}, d_ij ; 0 0 ] in the undeformed tip frame; in frame 0 that is one more A, of a screw with pitch.
The emitted functions take the tip as displacement sum q_ij d_ij, then rotation exp{sum q_ij delta_ij x}. Two ways to
write it as exponentials:

    tip="split"   prod_j exp([0, d_ij; 0 0] q_ij) prod_j exp([{delta_ij x}, 0; 0 0] q_ij): exactly the emitted tip where
                  the delta_ij of a link are parallel (planar bending, one mode), else different at O(q_ij^2);
    tip="screw"   prod_j exp(DT_ij q_ij), 001 (33), 000 (68) as corrected: different at O(q_ij^2) always.

Foreshortening enters with its product of coordinates as argument. Linear tips, E + {delta x}, are not exponentials:
both forms differ from them at O(q_ij^2).

A joint that slides along a beam (P_a of paper 003) is at place x, y of the beam's plane and rotated by its slope, all functions
of its own d and the beam's coordinates u. With screws along x, along y and about z of the beam's frame it is exactly

    exp(A_x x(d, u)) exp(A_y y(d, u)) exp(A_z w'(d, u)) ,

and the same holds for the tip of a beam that slides through its joint (P_b). The arguments s are functions of the coordinates
then (amplitudes.py), the operators A stay constant: dT/dq_a = sum_i A_ki ds_i/dq_a, and so with all that is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from elastogen.generator.algorithms.exponentials.zero_configuration import TipForm, ZeroConfiguration, skew
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat, Vec, add, combination, cross, product, scale, times


@dataclass(frozen=True)
class TransferFactors:
    """A column of the linear Jacobian as a product of four matrices, J_iv = V1 V2 V3 M (001 (7)-(11))."""

    V1: Mat  # 3 x 3
    V2: Mat  # 3 x 6
    V3: Mat  # 6 x (9 + 3 (n - i))
    M: Vec  # 9 + 3 (n - i)

    @property
    def column(self) -> Vec:
        """Return J_iv."""
        return times(self.V1, times(self.V2, times(self.V3, self.M)))


class MatrixExponentials:
    """Poses, Jacobians, velocities and accelerations of a robot's frames (links without the base, then the tip).

    ``motion`` are the coordinates and, as far as asked for, their velocities and accelerations, as values of ``graph``.
    """

    def __init__(
        self,
        graph: Graph,
        robot: Robot,
        motion: Sequence[Sequence[Value]],
        *,
        tip: TipForm = "split",
        elements: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.graph, self.motion = graph, motion
        start = ZeroConfiguration(graph, robot, tip, elements)
        self.factors, self.chains, self.size = start.factors, start.chains, start.size
        self._runs: dict[tuple[int, ...], Mat] = {}
        self._columns: dict[int, list[Vec]] = {}

    # ---- exponentials and their products

    def amplitude(self, i: int, order: int = 0) -> Value:
        """Return the argument s of exponential i, or its first or second time derivative."""
        amplitude, q = self.factors[i].amplitude, self.motion[0]
        if order == 0:
            return amplitude.value(q)
        total = amplitude.rate(q, self.motion[order])
        return total + amplitude.bias(q, self.motion[1]) if order == 2 else total

    def slopes(self) -> Mat:
        """Return ds_i/dq_a of every exponential (rows) by every coordinate (columns)."""
        rows = []
        for factor in self.factors:
            row = [self.graph.value(0)] * self.size
            for a, slope in factor.amplitude.slopes(self.motion[0]):
                row[a] = row[a] + slope
            rows.append(row)
        return rows

    @cached_property
    def exponentials(self) -> list[Mat]:
        """Return exp(A_i s_i) of all factors, 4 x 4, by Rodrigues' formula (000 (71)) and b_i as corrected."""
        return [self._exponential(i) for i in range(len(self.factors))]

    def inverse_product(self, path: Sequence[int]) -> Mat:
        """Invert a product of exponentials: exp(-A_i s_i), the last one first (001 (12), (14), (15))."""
        total = self._identity
        for i in reversed(path):
            total = product(total, self._exponential(i, -1))
        return total

    def inverse(self, frame: int) -> Mat:
        """Return T_x0^-1 = (T_x0^(0))^-1 prod exp(-A_i s_i), from the frame inward (001 (12))."""
        chain, graph = self.chains[frame], self.graph
        R = [row[:3] for row in chain.zero_pose[:3]]
        inward = [list(column) for column in zip(*R, strict=True)]
        p = times(inward, [row[3] for row in chain.zero_pose[:3]])
        start = [*([*row, -x] for row, x in zip(inward, p, strict=True)), [graph.value(0)] * 3 + [graph.value(1)]]
        return product(start, self.inverse_product(chain.factors))

    def partial_product(self, path: Sequence[int]) -> Mat:
        """Return prod exp(A_j s_j) of successive exponentials (001 (4), (14b) as corrected)."""
        return self._run(path)

    def _exponential(self, i: int, sign: int = 1) -> Mat:
        graph, factor, s = self.graph, self.factors[i], sign * self.amplitude(i)
        zero, one = graph.value(0), graph.value(1)
        if factor.rate.is_zero:
            E, b = [[one, zero, zero], [zero, one, zero], [zero, zero, one]], scale(factor.v, s)
        else:
            sine, versine = graph.sin(factor.rate * s), 1 - graph.cos(factor.rate * s)
            K = skew(factor.unit)
            K2 = product(K, K)
            E = [[K[r][c] * sine + K2[r][c] * versine + (1 if r == c else 0) for c in range(3)] for r in range(3)]
            # v + {k x}^2 v is what lies along the axis; the rest rotates
            b = add(scale(factor.along, s), scale(times(K, factor.v), versine / factor.rate))
            b = add(b, scale(times(K2, factor.v), -(sine / factor.rate)))
        return [*([*row, x] for row, x in zip(E, b, strict=True)), [zero, zero, zero, one]]

    def _run(self, path: Sequence[int]) -> Mat:
        """Return the product of exponentials, 4 x 4."""
        if not path:
            return self._identity
        key = tuple(path)
        if key not in self._runs:
            last = self.exponentials[key[-1]]
            self._runs[key] = product(self._run(key[:-1]), last) if len(key) > 1 else last
        return self._runs[key]

    @property
    def _identity(self) -> Mat:
        return [[self.graph.value(1 if r == c else 0) for c in range(4)] for r in range(4)]

    # ---- poses and Jacobians

    def transform(self, frame: int) -> Mat:
        """Return T_x0 (001 (2))."""
        chain = self.chains[frame]
        return product(self._run(chain.factors), chain.zero_pose)

    def transfer_factors(self, frame: int, i: int) -> TransferFactors:
        """Return the matrices of the i-th exponential on the path to a frame (001 (7)-(10); k = i..n)."""
        chain, graph = self.chains[frame], self.graph
        tail = chain.factors[i:]
        factor = self.factors[chain.factors[i]]
        zero = graph.value(0)
        unit, none = [row[:3] for row in self._identity[:3]], [[zero] * 3 for _ in range(3)]
        V1 = [row[:3] for row in self._run(chain.factors[:i])[:3]]
        V2 = [[*unit[r], *skew(factor.turn)[r]] for r in range(3)]
        inner = [[row[:3] for row in self._run(tail[:k])[:3]] for k in range(len(tail) + 1)]
        V3 = [[*unit[r], *([zero] * (3 * len(inner)))] for r in range(3)]
        V3 += [[*none[r], *(x for block in inner for x in block[r])] for r in range(3)]
        M = [*factor.v]
        for k in tail:
            M += [row[3] for row in self.exponentials[k][:3]]
        M += [row[3] for row in chain.zero_pose[:3]]
        return TransferFactors(V1, V2, V3, M)

    def columns(self, frame: int) -> list[Vec]:
        """Return J_i = (J_iv, J_iw) for every exponential on the path to a frame (001 (19), (20)); J_iw = V1 D_i k_i (18)."""
        if frame not in self._columns:
            found = []
            for i, number in enumerate(self.chains[frame].factors):
                parts = self.transfer_factors(frame, i)
                found.append([*parts.column, *times(parts.V1, self.factors[number].turn)])
            self._columns[frame] = found
        return self._columns[frame]

    def jacobian(self, frame: int = -1) -> Mat:
        """Return the 6 x nq Jacobian of a frame in base components, linear rows first."""
        J = [[self.graph.value(0)] * self.size for _ in range(6)]
        for number, column in zip(self.chains[frame].factors, self.columns(frame), strict=True):
            for a, slope in self.factors[number].amplitude.slopes(self.motion[0]):
                for row in range(6):
                    J[row][a] = J[row][a] + column[row] * slope
        return J

    # ---- motion

    def differential(self, frame: int, i: int) -> Mat:
        """Return A_ki = dT_k0/ds_i: A_i inserted before the i-th exponential (001 (3), (25))."""
        chain = self.chains[frame]
        before, after = self._run(chain.factors[:i]), self._run(chain.factors[i:])
        inserted = product(before, self.factors[chain.factors[i]].A)
        return product(product(inserted, after), chain.zero_pose)

    def second_differential(self, frame: int, j: int, m: int) -> Mat:
        """Return A_kjm = d2T_k0/ds_j ds_m: A_m and A_j inserted, m <= j (001 (25) as corrected)."""
        m, j = min(m, j), max(m, j)
        chain = self.chains[frame]
        path = chain.factors
        result = product(self._run(path[:m]), self.factors[path[m]].A)
        result = product(product(result, self._run(path[m:j])), self.factors[path[j]].A)
        return product(product(result, self._run(path[j:])), chain.zero_pose)

    def velocity(self, frame: int) -> Vec:
        """Return (v, omega) of a frame in base components (001 (22), (23))."""
        return self._weighted(frame, 1)

    def acceleration(self, frame: int) -> Vec:
        """Return (a, eps) of a frame in base components (001 (24), (22b) as corrected: a_k x a_j for k < j)."""
        chain, total = self.chains[frame], self._weighted(frame, 2)
        rates = [self.amplitude(i, 1) for i in chain.factors]
        axes = [column[3:] for column in self.columns(frame)]
        for j in range(len(rates)):
            for k in range(j + 1):
                speed = rates[j] * rates[k]
                bend = [row[3] for row in self.second_differential(frame, j, k)[:3]]
                linear = scale(bend, speed if j == k else 2 * speed)
                angular = scale(cross(axes[k], axes[j]), speed)
                total = [*add(total[:3], linear), *add(total[3:], angular)]
        return total

    def _weighted(self, frame: int, order: int) -> Vec:
        weights = [self.amplitude(i, order) for i in self.chains[frame].factors]
        columns = self.columns(frame)
        linear = combination(self.graph, weights, [column[:3] for column in columns])
        return [*linear, *combination(self.graph, weights, [column[3:] for column in columns])]
