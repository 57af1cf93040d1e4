"""Loops of a description: rows from its own poses, their derivatives along motions, and Gauss' principle.

Velocities that keep loops closed are the null space of the rows, found by singular values; in such velocities only drives do
work. The elimination of the derivation is not used.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from elastogen.generator.beams.sections import interface_at
from elastogen.generator.loops.analysis import ROUNDED, LoopAnalysis, analysis_of
from elastogen.generator.loops.rows import BAND, Rotated, across, rotated_rows
from elastogen.generator.mechanism.loops import place_of
from elastogen.generator.reference.evaluated import Evaluated
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Quantities, Sized, without_inverse
from elastogen.generator.robot.bodies.flexible_body import TIP
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd

Array = npt.NDArray[np.float64]
Difference = tuple[Array, Array, "Array | float"]
SMALL = 1e-3  # relative to the largest entry: the least size of a row
DEPENDENT = 1e-9  # smallest over largest singular value, below which some rows follow from others


class OpenChoiceError(Exception):
    """The description leaves open what a function returns: the derivation chooses it."""


class LoopSeries:
    """Rows of all loops along a motion: coefficients (width, ..., rows)."""

    def __init__(self, of: Quantities, evaluated: Evaluated, shape: tuple[int, ...]) -> None:
        self.of, self.evaluated, self.shape = of, evaluated, shape
        self.width = evaluated.q[0].data.shape[-1]

    def rows(self, *, folded: bool) -> Array:
        """e(q(t)); ``folded`` beyond a right angle, as residuals are."""
        found = [row for loop in self.of.of.robot.loops for row in self._loop(loop, folded)]
        return np.stack(found, axis=-1)

    def ends(self, loop: ClosedLoop) -> tuple[MatrixSeries, MatrixSeries]:
        """a and b in the base frame."""
        return self._end(loop, "a"), self._end(loop, "b")

    def _end(self, loop: ClosedLoop, side: str) -> MatrixSeries:
        of, end = self.of.of, getattr(loop, side)
        link = of.robot.links[0].name if end.link == WORLD else end.link
        name = place_of(of.robot, loop, side)
        if name == TIP:
            at = self.evaluated.ends[link, TIP]
        else:
            body = of.robot.link(link).flexible
            assert body is not None
            assert body.beam is not None
            assert end.x is not None
            place = of.once(f"loop {name}", lambda: interface_at(body.beam, name, end.x, of.robot.parameters))
            at = of.interface(self.evaluated, link, place)
        return at @ MatrixSeries.constant(of.array(end.pose))

    def _way(self, end: LoopEnd) -> list[str]:
        robot = self.of.of.robot
        parents = {joint.child: joint.parent for joint in robot.joints}
        way = [robot.links[0].name if end.link == WORLD else end.link]
        while way[-1] in parents:
            way.append(parents[way[-1]])
        return way

    def _common(self, loop: ClosedLoop) -> MatrixSeries:
        """The pose of the last link that both chains share."""
        other = self._way(loop.b)
        return self.evaluated.links[next(link for link in self._way(loop.a) if link in other)]

    def _loop(self, loop: ClosedLoop, folded: bool) -> list[Array]:
        if not loop.kind.between_frames:
            return [self._gear(loop)]
        back = self._common(loop).inverse()
        a, b = (self.coefficients(back @ end) for end in self.ends(loop))
        d = b[..., :3, 3] - a[..., :3, 3]
        found: list[Array] = []
        if loop.kind.place == "all":
            found += [d[..., k] for k in range(3)]
        elif loop.kind.place == "across":
            found += [_product(self._direction(a, u), d) for u in across(loop.axis)]
        elif loop.kind.place == "length":
            length = self.of.of.number(loop.length)
            square = _product(d, d)
            square[0] -= length**2
            found.append(square / (2 * length))
        return found + [self._rotated(row, a, b, folded) for row in rotated_rows(loop)]

    def _rotated(self, row: Rotated, a: Array, b: Array, folded: bool) -> Array:
        e = _product(self._direction(a, row.u_a), self._direction(b, row.u_b)) * row.sign
        if not row.along or not folded:
            return e
        cosine = sum((_product(self._direction(a, u), self._direction(b, v))[0] for u, v in row.along), np.zeros(()))
        beyond, sign = cosine / len(row.along) < BAND, np.where(e[0] < 0, -1.0, 1.0)
        mirrored = -e
        mirrored[0] += 2 * sign
        return np.where(beyond, mirrored, e)

    def _direction(self, T: Array, u: object) -> Array:
        return T[..., :3, :3] @ self.of.of.array(u)

    def coefficients(self, pose: MatrixSeries) -> Array:
        """Of a pose (width, ..., 4, 4)."""
        return np.stack([np.broadcast_to(pose.values[k] if k < pose.width else np.zeros((4, 4)), (*self.shape, 4, 4))
                         for k in range(self.width)])  # fmt: skip

    def _gear(self, loop: ClosedLoop) -> Array:
        of = self.of.of
        total = np.zeros((self.width, *self.shape))
        total[0] -= of.number(loop.constant)
        names = of.robot.coordinate_names
        for name, factor in loop.coefficients.items():
            data = np.moveaxis(self.evaluated.q[names.index(name)].data[..., 0, :], -1, 0)
            total = total + of.number(factor) * np.broadcast_to(data, total.shape)
        return total


def _product(u: Array, v: Array) -> Array:
    """Series of u . v."""
    return np.stack([sum(((u[i] * v[k - i]).sum(axis=-1) for i in range(k + 1)), np.zeros(())) for k in range(len(u))])


class Closed:
    """The closed loops of a description, at some states."""

    def __init__(self, of: Quantities) -> None:
        self.of = of
        self.analysis: LoopAnalysis = analysis_of(of.of.original)
        self.independent = list(self.analysis.choice.independent)
        self.driven = list(self.analysis.driven)

    @cached_property
    def _unit(self) -> Array:
        count = len(self.of.at("q"))
        return LoopSeries(self.of, self.of.unit, (count, self.of.n)).rows(folded=False)

    @cached_property
    def J(self) -> Array:
        """All rows (states, rows, n), as derivatives along unit velocities."""
        return np.swapaxes(self._unit[1], -1, -2)

    @cached_property
    def kept(self) -> list[int]:
        """Rows that determine the others: those of the derivation if they do so in the description's axes."""
        rows, count = [pivot.row for pivot in self.analysis.choice.pivots], self.analysis.rank
        values = np.linalg.svd(self.J[:, rows], compute_uv=False)
        if (values[:, -1] > DEPENDENT * values[:, 0]).all():
            return rows
        found, left = list[int](), self.J[0].copy()
        for _ in range(count):
            row = int(np.argmax(np.linalg.norm(left, axis=1)))
            found.append(row)
            unit = left[row] / np.linalg.norm(left[row])
            left -= np.outer(left @ unit, unit)
        return found

    @cached_property
    def residual_rows(self) -> Array:
        """The same rows of residuals."""
        count = len(self.of.at("q"))
        return np.swapaxes(LoopSeries(self.of, self.of.unit, (count, self.of.n)).rows(folded=True)[1], -1, -2)

    @cached_property
    def residual(self) -> Array:
        """e(q)."""
        found: Array = LoopSeries(self.of, self.of.unit, (len(self.of.at("q")), self.of.n)).rows(folded=True)[0][:, 0]
        return found

    @cached_property
    def contradiction(self) -> Array:
        """A factor of sizes (states, 1), 1 where the loops close.

        If a file's rounded numbers make redundant rows contradict each other, gaps stay open, and accelerations depend on the
        choice of rows by about as much.
        """
        gaps = np.abs(self.residual).max(axis=1, keepdims=True)
        found: Array = 1 + np.where(gaps <= ROUNDED, gaps, 0.0) / 1e-9
        return found

    @cached_property
    def bias(self) -> Array:
        """d2e/dt2 of a motion without accelerations."""
        still = self.of.elsewhere({**self.of.states, "qdd": np.zeros_like(self.of.states["qdd"])})
        return Closed(still).acceleration_rows

    @cached_property
    def acceleration_rows(self) -> Array:
        """d2e/dt2 of the motion of the states."""
        found: Array = 2 * LoopSeries(self.of, self.of.moving, (len(self.of.at("q")),)).rows(folded=False)[2]
        return found

    @cached_property
    def null_space(self) -> Array:
        """Velocities that keep the loops closed (states, n, freedoms), in terms of the independent ones."""
        rows = self.J[:, self.kept]
        _, _, V = np.linalg.svd(rows, full_matrices=True)
        N = np.swapaxes(V[:, len(self.kept) :], -1, -2)
        found: Array = N @ np.linalg.inv(N[:, self.independent])
        return found

    @cached_property
    def singular(self) -> npt.NDArray[np.bool_]:
        """States in which forces do not determine the motion: rotors without inertia behind springs."""
        G = self.null_space
        return without_inverse(np.swapaxes(G, -1, -2) @ self.of.mass @ G)

    @cached_property
    def drift(self) -> Array:
        """Accelerations that keep the loops closed while the independent ones are zero."""
        rows = self.J[:, self.kept]
        some = -(np.linalg.pinv(rows) @ self.bias[:, self.kept, None])[..., 0]
        moved = self.null_space @ some[:, self.independent, None]
        found: Array = some - moved[..., 0]
        return found

    def projected(self, forces: Array) -> Array:
        """G^T times forces."""
        found: Array = np.einsum("skf,sk->sf", self.null_space, forces)
        return found

    def drive_forces(self, tree: Sized) -> Sized:
        """Drive forces equivalent to forces on the tree; not unique if there are more drives than freedoms."""
        if len(self.driven) > len(self.independent):
            raise OpenChoiceError
        G, wanted = self.null_space, self.projected(tree.value)
        value = np.zeros_like(tree.value)
        rows = [r for r, k in enumerate(self.independent) if k in self.driven]
        if rows and self.driven:
            A = np.swapaxes(G[:, self.driven][:, :, rows], -1, -2)
            value[:, self.driven] = (np.linalg.pinv(A) @ wanted[:, rows, None])[..., 0]
        for r, k in enumerate(self.independent):
            if k not in self.driven:
                value[:, k] = wanted[:, r] - np.einsum("sd,sd->s", G[:, self.driven, r], value[:, self.driven])
        size = np.abs(G).max(axis=(1, 2))[:, None] * tree.size.max(axis=1, keepdims=True)
        return Sized(value, size + np.abs(value))

    def accelerations(self, forces: Array, tree_at_drift: Array, mass: Array) -> Array:
        """G a + d with G^T M G a = G^T (F - tree(d))."""
        G = self.null_space
        reduced = np.where(self.singular[:, None, None], np.eye(G.shape[-1]), np.swapaxes(G, -1, -2) @ mass @ G)
        a = np.linalg.solve(reduced, self.projected(forces - tree_at_drift)[..., None])
        found: Array = (G @ a)[..., 0] + self.drift
        return found

    def judged(self, qdd: Array, forces: Array, tree: Sized) -> list[Difference]:
        """Check accelerations: loops stay closed, and no force remains along closed velocities."""
        rows = self.J[:, self.kept]
        left = np.einsum("srk,sk->sr", rows, qdd)
        size = np.einsum("srk,sk->sr", np.abs(rows), np.abs(qdd)) + np.abs(self.bias[:, self.kept])
        size = size + SMALL * np.abs(rows).max(axis=(1, 2))[:, None] * np.abs(qdd).max(axis=1)[:, None]  # loops may be at rest
        G = np.abs(self.null_space)
        scale = np.einsum("skf,sk->sf", G, tree.size + np.abs(forces))
        size, scale = size * self.contradiction, scale * self.contradiction
        parts = ((left, -self.bias[:, self.kept], size), (self.projected(tree.value), self.projected(forces), scale))
        return [(a[~self.singular], b[~self.singular], c[~self.singular]) for a, b, c in parts]
