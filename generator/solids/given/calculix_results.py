"""Results of CalculiX (``.frd``, as text): nodes, tetrahedra, displacements of modes and of static cases with their forces.

Lines have fields of fixed width and begin with what they are: -1 a number and values, -2 more of it, -3 the end of a block,
-4 the name of a result; 2C begins nodes, 3C elements, 100C a result with its time or frequency and the kind of its step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elastogen.generator.solids.given.number_lines import at_line, wrong
from elastogen.generator.solids.solid import Array, Indices

CORNERS = {3: 4, 6: 10}  # nodes of tetrahedra, by the number of their type
MODAL = 2  # kind of a step


@dataclass(frozen=True)
class Case:
    """A mode, or a static case."""

    displacements: Array  # (n, 3), in the order of the nodes
    forces: Array | None  # (n, 3): internal ones, K u; of static cases where they were written
    frequency: float | None  # [1/s] of a mode


@dataclass(frozen=True)
class Results:
    """What a file holds, in its own units."""

    numbers: Indices
    places: Array  # (n, 3)
    tetrahedra: Indices  # (t, 10): indices of corners and middles; middles are -1 where elements have four nodes
    cases: tuple[Case, ...]


def read_results(text: str) -> Results:
    """The content; raises ``ValueError`` with the line that is wrong."""
    lines = enumerate(text.splitlines(), start=1)
    numbers: list[int] = []
    places: list[list[float]] = []
    cells: list[list[int]] = []
    fields: list[tuple[str, float, bool, Array]] = []
    for number, line in lines:
        kind = line[:6].strip()
        if kind == "2C":
            for _, (node, values) in _rows(lines, 3):
                numbers.append(node)
                places.append(values)
            index = {node: k for k, node in enumerate(numbers)}
        elif kind == "3C":
            cells = _elements(lines, number)
        elif kind == "100C":
            value, modal = at_line(number, line, "a result: time or frequency, kind of step", _result)
            name_line = next(lines, (number, ""))
            name = name_line[1][5:13].strip()
            if name not in ("DISP", "FORC"):
                _skip(lines, name_line[0])
                continue
            found = np.zeros((len(numbers), 3))
            for at, (node, values) in _rows(lines, 3):
                if node not in index:
                    raise ValueError(f"line {at}: node {node}, which the file does not have")
                found[index[node]] = values
            fields.append((name, value, modal, found))
    if not numbers or not cells:
        raise ValueError("no nodes, or no tetrahedra (C3D4, C3D10)")
    unknown = [node for cell in cells for node in cell if node >= 0 and node not in index]
    if unknown:
        raise ValueError(f"an element with node {unknown[0]}, which the file does not have")
    tetrahedra = np.array([[index[node] if node >= 0 else -1 for node in cell] for cell in cells], dtype=np.int64)
    return Results(np.array(numbers, dtype=np.int64), np.array(places), tetrahedra, tuple(_cases(fields)))


def _cases(fields: list[tuple[str, float, bool, Array]]) -> Iterator[Case]:
    """Forces come behind the displacements that they belong to."""
    for k, (name, value, modal, moved) in enumerate(fields):
        if name == "DISP":
            behind = fields[k + 1] if k + 1 < len(fields) and fields[k + 1][0] == "FORC" else None
            same = behind is not None and behind[1:3] == (value, modal)
            yield Case(moved, behind[3] if behind is not None and same else None, value if modal else None)


def _rows(lines: Iterator[tuple[int, str]], count: int) -> Iterator[tuple[int, tuple[int, list[float]]]]:
    """Numbers of nodes with so many values, to the end of the block."""
    number = 0
    for number, line in lines:
        if line.startswith(" -3"):
            return
        if line.startswith(" -1"):
            yield number, at_line(number, line, f"a node and {count} numbers of 12 characters", lambda text: _row(text, count))
        elif not line.startswith((" -4", " -5")):
            raise wrong(number, line, "-1, a node and its numbers, or -3")
    raise ValueError(f"line {number}: the end of the file within a block")


def _row(line: str, count: int) -> tuple[int, list[float]]:
    values = [float(line[13 + 12 * k : 25 + 12 * k]) for k in range(count)]
    if not np.isfinite(values).all():
        raise ValueError(line)
    return int(line[3:13]), values


def _result(line: str) -> tuple[float, bool]:
    return float(line[12:24]), int(line[56:58]) == MODAL


def _skip(lines: Iterator[tuple[int, str]], start: int) -> None:
    if not any(line.startswith(" -3") for _, line in lines):
        raise ValueError(f"line {start}: the end of the file within this result")


def _elements(lines: Iterator[tuple[int, str]], at: int) -> list[list[int]]:
    """Numbers of ten nodes each; -1 for middles that an element does not have."""
    cells: list[list[int]] = []
    wanted, nodes = 0, list[int]()
    for at, line in lines:
        if line.startswith(" -1"):
            kind = at_line(at, line, "an element and its type", lambda text: int(text[13:18]))
            if kind not in CORNERS:
                raise ValueError(f"line {at}: an element of type {kind}, expected tetrahedra (C3D4, C3D10)")
            wanted, nodes = CORNERS[kind], []
        elif line.startswith(" -2"):
            nodes += at_line(at, line, "numbers of nodes, 10 characters each", _ten_characters)
            if len(nodes) == wanted:
                cells.append(nodes + [-1] * (10 - wanted))
        elif line.startswith(" -3"):
            return cells
    raise ValueError(f"line {at}: the end of the file within the elements")


def _ten_characters(line: str) -> list[int]:
    text = line[3:].rstrip()
    return [int(text[k : k + 10]) for k in range(0, len(text), 10)]
