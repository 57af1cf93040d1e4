"""Solutions -M^-1 B of matrices with the zeros of M, as columns that are computed alike: see program/columns.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elastogen.generator.algorithms.solving.factorization import Factorization
from elastogen.generator.program.columns import Columns
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import Mat

FEW = 4  # columns of a matrix for which a loop of their own does not pay


def solution_columns(factors: Factorization, blocks: Sequence[Mat]) -> tuple[Columns, ...]:
    """The columns of -M^-1 B for matrices B, which are the first outputs; none where entries are not where M has them.

    Columns of one branch meet the same rows on the way inward, so that the same operations serve all of them.
    """
    n = len(factors.L)
    if factors.windows:
        return ()
    related = [_related(factors, k) for k in range(n)]
    outside = (
        not block[row][column].is_zero
        for block in blocks
        for column in range(n)
        for row in range(n)
        if row not in related[column]
    )
    if any(outside):
        return ()
    alike: dict[tuple[int, ...], list[int]] = {}
    for column in range(n):
        alike.setdefault(related[column], []).append(column)
    groups: dict[tuple[int, ...], list[int]] = {}
    for rows, columns in alike.items():  # few columns go together with the others of the tree on their innermost joint
        key = rows if len(columns) >= FEW else related[_root(factors, rows[0])]
        groups.setdefault(key, []).extend(columns)
    return tuple(_of_group(factors, blocks, rows, sorted(columns)) for rows, columns in groups.items())


def _related(factors: Factorization, k: int) -> tuple[int, ...]:
    """The coordinates inward and outward of one, and itself."""
    return tuple(r for r in range(len(factors.L)) if r == k or r in factors.inward[k] or k in factors.inward[r])


def _root(factors: Factorization, k: int) -> int:
    """The innermost coordinate of the tree that one belongs to."""
    return [k, *factors.inward[k]][-1]


def _of_group(factors: Factorization, blocks: Sequence[Mat], given: tuple[int, ...], columns: Sequence[int]) -> Columns:
    root = _root(factors, given[0])
    rows = tuple(r for r in range(len(factors.L)) if r == root or root in factors.inward[r])
    step, shared = Graph(), dict[int, Value]()

    def own(value: Value) -> Value:
        if value.constant is not None:
            return step.value(value.constant)
        found = shared.setdefault(value.ref & ~1, step.input(f"shared[{len(shared)}]"))
        return -found if value.ref & 1 else found

    copied = replace(
        factors,
        L=[[own(x) if r in rows else step.value(0) for x in row] for r, row in enumerate(factors.L)],
        reciprocals=[own(x) if r in rows else step.value(0) for r, x in enumerate(factors.reciprocals)],
    )
    right = [step.input(f"given[{rows.index(r)}]") if r in given else step.value(0) for r in range(len(factors.L))]
    solution = copied.solve(right)
    numbers = [(output, column) for output in range(len(blocks)) for column in columns]
    return Columns(
        step, tuple((-solution[r]).ref for r in rows), rows, tuple(rows.index(r) for r in given),
        tuple(tuple(blocks[output][r][column].ref for output, column in numbers) for r in given),
        tuple(shared), tuple(numbers),
    )  # fmt: skip
