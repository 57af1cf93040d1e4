"""Matrices of values, of any size."""

from __future__ import annotations

from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import Mat


def transposed(a: Mat) -> Mat:
    """a^T."""
    return [list(column) for column in zip(*a, strict=True)]


def added(a: Mat, b: Mat) -> Mat:
    """a + b."""
    return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def mirrored(a: Mat) -> Mat:
    """The symmetric matrix whose upper triangle is that of a."""
    return [[a[min(r, c)][max(r, c)] for c in range(len(a))] for r in range(len(a))]


def scaled(a: Mat, factor: Value | float) -> Mat:
    """Factor times a."""
    return [[x * factor for x in row] for row in a]


def inner(graph: Graph, a: Mat, b: Mat) -> Value:
    """Sum of the products of corresponding entries: Tr(a b^T)."""
    total = graph.value(0)
    for r, s in zip(a, b, strict=True):
        for x, y in zip(r, s, strict=True):
            total = total + x * y
    return total
