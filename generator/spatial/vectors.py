"""Vectors, rotations and symmetric matrices in three dimensions over the values of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.program.graph import Graph, Value

Vec = list[Value]
Mat = list[list[Value]]


def add(u: Vec, v: Vec) -> Vec:
    """u + v."""
    return [a + b for a, b in zip(u, v, strict=True)]


def sub(u: Vec, v: Vec) -> Vec:
    """u - v."""
    return [a - b for a, b in zip(u, v, strict=True)]


def scale(u: Vec, factor: Value) -> Vec:
    """Factor times u."""
    return [a * factor for a in u]


def dot(u: Vec, v: Vec) -> Value:
    """Scalar product."""
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total


def cross(u: Vec, v: Vec) -> Vec:
    """Vector product u x v."""
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def times(m: Mat, v: Vec) -> Vec:
    """Matrix times vector."""
    return [dot(row, v) for row in m]


def product(a: Mat, b: Mat) -> Mat:
    """Matrix product."""
    columns = [list(column) for column in zip(*b, strict=True)]
    return [[dot(row, column) for column in columns] for row in a]


QUANTITIES = {
    "w": "angular velocity",
    "e": "angular acceleration",
    "a": "acceleration of the origin, less gravity",
    "f": "force",
    "n": "moment",
}  # letters of named vectors


def named(letter: str, number: int, v: Vec) -> Vec:
    """The vector with readable names proposed for its components: letter, number of the frame (from 1), axis."""
    return [value.graph.name(value, f"{letter}{number + 1}{axis}") for value, axis in zip(v, "xyz", strict=True)]


def combination(graph: Graph, weights: Sequence[Value], vectors: Sequence[Vec]) -> Vec:
    """Sum of weight times vector."""
    total = [graph.value(0)] * 3
    for weight, vector in zip(weights, vectors, strict=True):
        total = add(total, scale(vector, weight))
    return total


def combination_scalar(graph: Graph, weights: Sequence[Value], values: Sequence[Value]) -> Value:
    """Sum of weight times value."""
    total = graph.value(0)
    for weight, value in zip(weights, values, strict=True):
        total = total + weight * value
    return total


@dataclass(frozen=True)
class Symmetric:
    """A symmetric 3 x 3 matrix."""

    xx: Value
    xy: Value
    xz: Value
    yy: Value
    yz: Value
    zz: Value

    @staticmethod
    def of(m: Sequence[Sequence[Value]]) -> Symmetric:
        """From the upper triangle of a full matrix."""
        return Symmetric(m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self.entries, other.entries, strict=True)))

    @property
    def entries(self) -> tuple[Value, ...]:
        """Upper triangle by rows: xx, xy, xz, yy, yz, zz."""
        return (self.xx, self.xy, self.xz, self.yy, self.yz, self.zz)

    @property
    def products(self) -> int:
        """How many entries beside the diagonal are not zero."""
        return sum(not entry.is_zero for entry in (self.xy, self.xz, self.yz))

    @property
    def full(self) -> Mat:
        """As three rows."""
        return [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]


@dataclass(frozen=True)
class AxisRotation:
    """Rotation about a coordinate axis (0 = x, 1 = y, 2 = z) by an angle given by its cosine and sine."""

    axis: int
    c: Value
    s: Value

    @property
    def inverse(self) -> AxisRotation:
        """Return the inverse rotation."""
        return AxisRotation(self.axis, self.c, -self.s)

    def outward(self, v: Vec) -> Vec:
        """R v: components in the rotated frame become components in the frame before the rotation."""
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        result = list(v)
        result[i] = self.c * v[i] - self.s * v[j]
        result[j] = self.s * v[i] + self.c * v[j]
        return result

    def inward(self, v: Vec) -> Vec:
        """R^T v."""
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        result = list(v)
        result[i] = self.c * v[i] + self.s * v[j]
        result[j] = self.c * v[j] - self.s * v[i]
        return result

    def outward_symmetric(self, m: Symmetric) -> Symmetric:
        """R m R^T with 8 multiplications and 8 additions instead of 54 and 36."""
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        a = m.full
        mixed = self.outward([a[0][k], a[1][k], a[2][k]])
        # with w = s (a_ii - a_jj) + c (2 a_ij): a'_ii = a_ii - s w, a'_jj = a_jj + s w, a'_ij = c w - a_ij
        w = self.s * (a[i][i] - a[j][j]) + self.c * (2 * a[i][j])
        out = [list(row) for row in a]
        out[i][i], out[j][j] = self._swung(a, self.s * w)
        out[i][j] = out[j][i] = self.c * w - a[i][j]
        out[i][k] = out[k][i] = mixed[i]
        out[j][k] = out[k][j] = mixed[j]
        return Symmetric.of(out)

    def _swung(self, a: Mat, swing: Value) -> tuple[Value, Value]:
        """The diagonal entries across the axis; of a right angle they change places."""
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        return (a[j][j], a[i][i]) if self.c.is_zero else (a[i][i] - swing, a[j][j] + swing)

    def outward_matrix(self, a: Mat) -> Mat:
        """R a R^T of any matrix with 12 multiplications."""
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        column, row = self.outward([a[0][k], a[1][k], a[2][k]]), self.outward(a[k])
        w = self.s * (a[i][i] - a[j][j]) + self.c * (a[i][j] + a[j][i])  # as for symmetric matrices
        across = self.c * w
        out = [list(r) for r in a]
        out[i][i], out[j][j] = self._swung(a, self.s * w)
        out[i][j], out[j][i] = across - a[j][i], across - a[i][j]
        out[i][k], out[j][k] = column[i], column[j]
        out[k][i], out[k][j] = row[i], row[j]
        return out


@dataclass(frozen=True)
class Matrix3:
    """A rotation given by its nine entries, where it depends on live parameters."""

    rows: Mat

    @property
    def inverse(self) -> Matrix3:
        """The rotation back."""
        return Matrix3([list(column) for column in zip(*self.rows, strict=True)])

    def outward(self, v: Vec) -> Vec:
        """R v."""
        return times(self.rows, v)

    def inward(self, v: Vec) -> Vec:
        """R^T v."""
        return times([list(column) for column in zip(*self.rows, strict=True)], v)

    def outward_symmetric(self, m: Symmetric) -> Symmetric:
        """R m R^T."""
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        return Symmetric.of(product(product(self.rows, m.full), columns))

    def outward_matrix(self, a: Mat) -> Mat:
        """R a R^T of any matrix."""
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        return product(product(self.rows, a), columns)


@dataclass(frozen=True)
class Rotation:
    """A sequence of rotations, outermost first: few operations where most of them are right angles."""

    steps: tuple[AxisRotation | Matrix3, ...]

    def outward(self, v: Vec) -> Vec:
        """R v: from the inner frame to the outer one."""
        for step in reversed(self.steps):
            v = step.outward(v)
        return v

    def inward(self, v: Vec) -> Vec:
        """R^T v: from the outer frame to the inner one."""
        for step in self.steps:
            v = step.inward(v)
        return v

    def outward_symmetric(self, m: Symmetric) -> Symmetric:
        """R m R^T."""
        for step in reversed(self.steps):
            m = step.outward_symmetric(m)
        return m

    def outward_matrix(self, a: Mat) -> Mat:
        """R a R^T of any matrix."""
        for step in reversed(self.steps):
            a = step.outward_matrix(a)
        return a

    def after(self, m: Mat) -> Mat:
        """The product m R of a matrix with this rotation: R^T applied to the rows of m."""
        return [self.inward(row) for row in m]
