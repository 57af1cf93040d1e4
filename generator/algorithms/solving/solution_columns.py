"""Solutions -M^-1 B of matrices with the sparsity of M, by loops over columns of one pattern: see program/columns.py."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms.solving.factorization import Factorization
from elastogen.generator.program.columns import Loops
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat

FEW = 4  # columns of a matrix for which a loop of their own does not pay


def solution_columns(loops: Loops, factors: Factorization, blocks: Sequence[Mat]) -> list[Mat] | None:
    """-M^-1 B for matrices B; None where they have entries where M has none.

    Columns of one branch meet the same rows on the way inward, so that the same operations serve all of them.
    """
    n = len(factors.L)
    if factors.windows:
        return None
    related = [_related(factors, k) for k in range(n)]
    outside = (
        not block[row][column].is_zero
        for block in blocks
        for column in range(n)
        for row in range(n)
        if row not in related[column]
    )
    if any(outside):
        return None
    isomorphic: dict[tuple[int, ...], list[int]] = {}
    for column in range(n):
        isomorphic.setdefault(related[column], []).append(column)
    groups: dict[tuple[int, ...], list[int]] = {}
    for rows, columns in isomorphic.items():  # few columns go together with the others of the tree on their innermost joint
        key = rows if len(columns) >= FEW else related[_root(factors, rows[0])]
        groups.setdefault(key, []).extend(columns)
    zero = loops.graph.value(0)
    solutions: list[Mat] = [[[zero] * n for _ in range(n)] for _ in blocks]
    with loops.graph.section("columns of the solution"):
        for rows, columns in groups.items():
            _solve_group(loops, factors, blocks, rows, sorted(columns), solutions)
    return solutions


def _related(factors: Factorization, k: int) -> tuple[int, ...]:
    """Return the coordinates inward and outward of one, and itself."""
    return tuple(r for r in range(len(factors.L)) if r == k or r in factors.inward[k] or k in factors.inward[r])


def _root(factors: Factorization, k: int) -> int:
    """Return the innermost coordinate of the tree that contains one."""
    return [k, *factors.inward[k]][-1]


def _solve_group(
    loops: Loops,
    factors: Factorization,
    blocks: Sequence[Mat],
    given: tuple[int, ...],
    columns: Sequence[int],
    solutions: Sequence[Mat],
) -> None:
    """Solve some columns of all blocks, in which only the given rows are not zero."""
    root, n = _root(factors, given[0]), len(factors.L)
    rows = [r for r in range(n) if r == root or root in factors.inward[r]]

    def step(own: list[Value]) -> list[Value]:
        right = [loops.graph.value(0)] * n
        for r, value in zip(given, own, strict=True):
            right[r] = value
        solved = factors.solve(right)
        return [-solved[r] for r in rows]

    lanes = [(block, column) for block in range(len(blocks)) for column in columns]
    results = loops.over([[blocks[block][r][column] for block, column in lanes] for r in given], step)
    for r, values in zip(rows, results, strict=True):
        for (block, column), value in zip(lanes, values, strict=True):
            solutions[block][r][column] = value
