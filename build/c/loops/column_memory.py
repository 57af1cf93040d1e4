"""The array in which loops over columns find their inputs and store their results, row by row.

The columns of a value lie side by side. A loop runs over two columns or over a multiple of four, so that compilers vectorize
it; the results of its surplus columns are not used. A result is left where the loops that go
on with it read it, and rows that are not read any more are used again. Where both columns of a result go into different rows,
as entries of both arms do, the loop that makes them puts them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from elastogen.build.c.loops.direct_results import VECTORS, DirectResults, Result, Scatter, origins
from elastogen.generator.program.columns import Columns
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import InLoops

COLUMNS = "columns"  # the array with everything that the columns start from and make
LANES = 4  # of which the number of columns is made a multiple
NOWHERE = -1  # the place of constants

Row = tuple[int, tuple[int, ...]]
"""What a loop starts from: the number of columns that it runs over, and the values."""


def padded(columns: Columns) -> int:
    """Return the number of columns that a loop runs over."""
    return columns.width if columns.width <= 2 else -(-columns.width // LANES) * LANES


@dataclass
class ColumnMemory:
    """The places of everything that the loops of a program read and write."""

    program: InLoops
    direct: DirectResults
    size: int = 0
    given: list[list[int]] = field(default_factory=list)  # place of the first column, by loop and given value
    results: dict[Result, int] = field(default_factory=dict)  # place of the first column of every result that is used
    starts: list[list[tuple[int, int]]] = field(default_factory=list)  # by loop: places, and the values to be put there
    zeroed: list[tuple[int, int]] = field(default_factory=list)  # first and end of what is to be zero from the beginning
    places: dict[int, int] = field(default_factory=dict)  # of the nodes made[k] that are read one by one
    nowhere: list[int] = field(default_factory=list)  # nodes made[k] that go where they are read at once
    scatters: dict[Result, list[Scatter]] = field(default_factory=dict)  # into rows that other loops start from

    def __post_init__(self) -> None:
        self._origin = origins(self.program)
        self._pairs = self._find_pairs()
        self._put = {cell for *_, cells in self._pairs for cell in cells}
        self._allocate()
        self.places = {
            node: self.results[result] + column for node, (result, column) in self._origin.items() if result in self.results
        }
        self.nowhere = [node for node, (result, _) in self._origin.items() if result not in self.results]

    def _same(self, refs: Sequence[int]) -> Result | None:
        """Return the result whose columns are exactly these values."""
        found = [None if ref & 1 else self._origin.get(ref >> 1) for ref in refs]
        first = found[0]
        if first is None or self.program.columns[first[0][0]].width != len(refs):
            return None
        return first[0] if found == [(first[0], c) for c in range(len(refs))] else None

    def _is_constant(self, refs: Sequence[int]) -> bool:
        return all(self.program.graph.op[ref >> 1] is Op.CONSTANT for ref in refs)

    def _find_pairs(self) -> list[tuple[Result, bool, tuple[tuple[Row, int], ...]]]:
        """Find results of two columns, or their negatives, and places in rows that receive both."""
        rows = dict.fromkeys((padded(columns), refs) for columns in self.program.columns for refs in columns.given)
        found: dict[tuple[Result, bool], tuple[list[tuple[Row, int]], list[tuple[Row, int]]]] = {}
        for row in rows:
            if not self._is_constant(row[1]) and self._same(row[1]) is None:
                for place, ref in enumerate(row[1]):
                    result, column = self._origin.get(ref >> 1, (None, 0))
                    if result is not None and self.program.columns[result[0]].width == 2:
                        found.setdefault((result, bool(ref & 1)), ([], []))[column].append((row, place))
        return [(*key, cells) for key, both in found.items() for cells in zip(*both, strict=False)]

    def _allocate(self) -> None:
        loops, last_row = self.program.columns, dict[tuple[int, ...], int]()
        for number, columns in enumerate(loops):
            last_row |= dict.fromkeys(columns.given, number)
        last, lasting = self._last_reads()
        known: dict[Row, int] = {}  # places of rows
        free: dict[int, list[int]] = {}  # by width
        for number, columns in enumerate(loops):
            width = padded(columns)
            self.given.append([])
            self.starts.append([])
            own: list[int] = []  # rows that only this loop and those before it read
            begin = self.size
            for refs in columns.given:
                same, key = self._same(refs), (width, refs)
                if self._is_constant(refs):
                    self.given[-1].append(NOWHERE)
                elif same is not None:
                    self.given[-1].append(self.results[same])
                else:
                    if key not in known:
                        known[key] = self.size
                        self.starts[-1] += [(self.size + c, ref) for c, ref in enumerate(refs) if (key, c) not in self._put]
                        self.size += width
                    self.given[-1].append(known[key])
                    own += [known[key]] if last_row[refs] == number and known[key] not in own else []
            if width > columns.width and self.size > begin:
                self.zeroed.append((begin, self.size))
                self.starts[-1] = [(place, ref) for place, ref in self.starts[-1] if ref]
            for r in range(len(columns.results)):
                if (number, r) not in last and (number, r) not in lasting:
                    continue
                if own and columns.width not in VECTORS:  # in place: a column is read before it is written
                    self.results[number, r] = own.pop(0)
                elif free.get(width) and (number, r) not in lasting:
                    self.results[number, r] = free[width].pop()
                else:
                    self.results[number, r], self.size = self.size, self.size + width
            if columns.width in VECTORS:
                free.setdefault(width, []).extend(own)
            done = [result for result, end in last.items() if end == number and result not in lasting]
            for result in done:
                free.setdefault(padded(loops[result[0]]), []).append(self.results[result])
        for result, negative, cells in self._pairs:
            first, second = (known[row] + place for row, place in cells)
            self.scatters.setdefault(result, []).append(Scatter(COLUMNS, first, second - first, negative))

    def _last_reads(self) -> tuple[dict[Result, int], set[Result]]:
        """Return the last loop that reads a result in place, and the results that are also read one by one."""
        program, last = self.program, dict[Result, int]()
        refs = [
            ref
            for argument, refs in program.outputs
            for index, ref in enumerate(refs)
            if (argument.name, index) not in self.direct.elements
        ]
        refs += [*program.pivots, *(ref for columns in program.columns for ref in columns.shared)]
        for number, columns in enumerate(program.columns):
            for row in columns.given:
                same = self._same(row)
                if same is None:
                    key = (padded(columns), row)
                    refs += [ref for place, ref in enumerate(row) if (key, place) not in self._put]
                else:
                    last[same] = number
        return last, {self._origin[node][0] for node in program.graph.cone(refs) if node in self._origin}
