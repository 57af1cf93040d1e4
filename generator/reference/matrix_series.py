"""Matrices whose entries are Taylor series in time, each coefficient with its derivative along a direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.numbers.jets import Jet

Array = npt.NDArray[np.float64]


class MatrixSeries:
    """Coefficients (..., rows, columns) of t^0, t^1, ..., and their derivatives along a direction, if there is one."""

    def __init__(self, values: list[Array], slopes: list[Array] | None = None) -> None:
        self.values, self.slopes = values, slopes

    @classmethod
    def constant(cls, matrix: Array) -> MatrixSeries:
        """A matrix that does not change: one coefficient."""
        return cls([matrix])

    @classmethod
    def of_entries(cls, entries: Sequence[Sequence[Jet]]) -> MatrixSeries:
        """From series of the entries."""
        shape = np.broadcast_shapes(*(entry.data.shape for row in entries for entry in row))
        full = np.stack([np.stack([np.broadcast_to(e.data, shape) for e in row], axis=-3) for row in entries], axis=-4)
        return cls.of_array(full)

    @classmethod
    def of_array(cls, data: Array) -> MatrixSeries:
        """From an array (..., rows, columns, 2, width)."""
        width = range(data.shape[-1])
        slopes = [data[..., 1, k] for k in width] if data[..., 1, :].any() else None
        return cls([data[..., 0, k] for k in width], slopes)

    @property
    def width(self) -> int:
        """Number of coefficients."""
        return len(self.values)

    def slope(self, k: int) -> Array:
        """Derivative of a coefficient along the direction."""
        return np.zeros(()) if self.slopes is None else self.slopes[k]

    def __matmul__(self, other: MatrixSeries) -> MatrixSeries:
        width = max(self.width, other.width)

        def coefficient(a: list[Array] | None, b: list[Array] | None, k: int) -> Array | None:
            if a is None or b is None:
                return None
            terms = [a[i] @ b[k - i] for i in range(k + 1) if i < len(a) and k - i < len(b)]
            return sum(terms[1:], terms[0]) if terms else None

        values: list[Array] = []
        slopes: list[Array] = []
        for k in range(width):
            found = coefficient(self.values, other.values, k)
            values.append(np.zeros_like(values[0]) if found is None else found)
            parts = [coefficient(self.slopes, other.values, k), coefficient(self.values, other.slopes, k)]
            present = [part for part in parts if part is not None]
            slopes.append(sum(present[1:], present[0]) if present else np.zeros_like(values[0]))
        return MatrixSeries(values, slopes if self.slopes is not None or other.slopes is not None else None)

    def times(self, factor: Jet) -> MatrixSeries:
        """Every entry times a series."""
        data = factor.data[..., None, None, :, :]
        scaled = [(data[..., 0, k], data[..., 1, k]) for k in range(data.shape[-1])]
        values, slopes = [], []
        for k in range(max(self.width, len(scaled))):
            pairs = [(i, k - i) for i in range(k + 1) if i < self.width and k - i < len(scaled)]
            values.append(sum((self.values[i] * scaled[j][0] for i, j in pairs), np.zeros(())))
            own = sum((self.values[i] * scaled[j][1] for i, j in pairs), np.zeros(()))
            slopes.append(own + sum((self.slope(i) * scaled[j][0] for i, j in pairs), np.zeros(())))
        return MatrixSeries(values, slopes)

    def inverse(self) -> MatrixSeries:
        """Of square matrices, coefficient by coefficient; without a direction."""
        found: list[Array] = [np.linalg.inv(self.values[0]).astype(np.float64)]
        for k in range(1, self.width):
            found.append(-found[0] @ sum((self.values[i] @ found[k - i] for i in range(1, k + 1)), np.zeros(())))
        return MatrixSeries(found)

    def rows(self, stop: int) -> MatrixSeries:
        """The first rows."""
        slopes = None if self.slopes is None else [s[..., :stop, :] for s in self.slopes]
        return MatrixSeries([v[..., :stop, :] for v in self.values], slopes)


def beside(blocks: Sequence[MatrixSeries]) -> MatrixSeries:
    """Matrices side by side."""
    width = max(block.width for block in blocks)

    def joined(parts: list[Array]) -> Array:
        shape = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
        return np.concatenate([np.broadcast_to(part, (*shape, *part.shape[-2:])) for part in parts], axis=-1)

    def at(block: MatrixSeries, k: int, sloped: bool) -> Array:
        found = block.slopes if sloped else block.values
        return np.zeros_like(block.values[0]) if found is None or k >= block.width else found[k]

    values = [joined([at(block, k, False) for block in blocks]) for k in range(width)]
    if all(block.slopes is None for block in blocks):
        return MatrixSeries(values)
    return MatrixSeries(values, [joined([at(block, k, True) for block in blocks]) for k in range(width)])
