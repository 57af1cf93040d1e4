"""Copies of single elements between arrays, printed as few loops over neighbours and over rows of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.c.lines import INDENT


@dataclass(frozen=True)
class Copy:
    """The copy ``target[at] = source[place];``, or of its negative."""

    target: str
    at: int
    source: str
    place: int
    negative: bool


@dataclass(frozen=True)
class _Run:
    """Several copies at equal steps."""

    first: Copy
    count: int = 1
    step: tuple[int, int] = (1, 1)  # in the target, in the source


def copies(wanted: Sequence[Copy]) -> list[str]:
    """Print the copies; no two of them have the same target."""
    runs = _runs(sorted(wanted, key=lambda copy: (copy.target, copy.source, copy.negative, copy.place, copy.at)))
    lines: list[str] = []
    index = 0
    while index < len(runs):
        run, rows = runs[index], 1
        step = _step(run.first, runs[index + 1].first) if index + 1 < len(runs) else None
        while step and index + rows < len(runs) and _continues(run, step, rows, runs[index + rows]):
            rows += 1
        lines += _lines(run, rows, step if rows > 1 and step else (0, 0))
        index += rows
    return lines


def _step(one: Copy, other: Copy) -> tuple[int, int] | None:
    if (one.target, one.source, one.negative) != (other.target, other.source, other.negative):
        return None
    return other.at - one.at, other.place - one.place


def _continues(run: _Run, step: tuple[int, int], rows: int, other: _Run) -> bool:
    further = _step(run.first, other.first)
    return (run.count, run.step) == (other.count, other.step) and further == (step[0] * rows, step[1] * rows)


def _runs(ordered: Sequence[Copy]) -> list[_Run]:
    """Find neighbours in the source whose targets have equal distances."""
    remaining, runs = dict.fromkeys(ordered), list[_Run]()
    known = {(copy.target, copy.source, copy.negative, copy.place): list[Copy]() for copy in ordered}
    for copy in ordered:
        known[copy.target, copy.source, copy.negative, copy.place].append(copy)
    for copy in ordered:
        if copy not in remaining:
            continue
        best = [copy]
        for second in known.get((copy.target, copy.source, copy.negative, copy.place + 1), ()):
            step, found = second.at - copy.at, [copy]
            while (
                following := Copy(copy.target, found[-1].at + step, copy.source, found[-1].place + 1, copy.negative)
            ) in remaining:
                found.append(following)
            best = max(best, found, key=len)
        for each in best:
            del remaining[each]
        runs.append(_Run(copy, len(best), (best[1].at - copy.at, 1) if len(best) > 1 else (1, 1)))
    return runs


def _lines(run: _Run, rows: int, step: tuple[int, int]) -> list[str]:
    first, sign, depth = run.first, "-" if run.first.negative else "", 1
    lines: list[str] = []
    row = "row" if "r" in (first.target, first.source) else "r"  # the output of point_positions is r
    for variable, count in ((row, rows), ("i", run.count)):
        if count > 1:
            lines.append(f"{depth * INDENT}for (int {variable} = 0; {variable} < {count}; ++{variable}) {{")
            depth += 1
    at = _index(((row, rows, step[0]), ("i", run.count, run.step[0])), first.at)
    place = _index(((row, rows, step[1]), ("i", run.count, run.step[1])), first.place)
    lines.append(f"{depth * INDENT}{first.target}[{at}] = {sign}{first.source}[{place}];")
    return lines + [f"{level * INDENT}}}" for level in range(depth - 1, 0, -1)]


def _index(terms: Sequence[tuple[str, int, int]], start: int) -> str:
    """Print an index that depends on loop counters."""
    parts = [name if step == 1 else f"({name} * {step})" for name, count, step in terms if count > 1]
    return " + ".join([*parts, str(start)]) if start or not parts else " + ".join(parts)
