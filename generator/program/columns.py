"""Results that are one small program, the step, for each of many columns: its C is a loop, of which compilers make vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from elastogen.generator.program.graph import Graph, Op


@dataclass(frozen=True)
class Columns:
    """Columns of matrices among a program's outputs, from values of their own and from values that all of them share."""

    step: Graph  # with the inputs given[k], k a place in ``rows``, and shared[k]
    results: tuple[int, ...]  # references in the step, one for each row
    rows: tuple[int, ...]  # of the matrices, where the results belong
    places: tuple[int, ...]  # in ``rows``, of the given values
    given: tuple[tuple[int, ...], ...]  # for each place the values of all columns: references in the program
    shared: tuple[int, ...]  # references in the program
    columns: tuple[tuple[int, int], ...]  # number of the output that is a matrix, and column in it

    @property
    def refs(self) -> list[int]:
        """All references in the program."""
        return [*(ref for row in self.given for ref in row), *self.shared]

    def renamed(self, refs: Sequence[int]) -> Columns:
        """The same with other references, in the order of :attr:`refs`."""
        width = len(self.columns)
        given = tuple(tuple(refs[start : start + width]) for start in range(0, width * len(self.places), width))
        return replace(self, given=given, shared=tuple(refs[width * len(self.places) :]))

    def applied(self, graph: Graph) -> list[tuple[int, int, int, int]]:
        """What the columns are, in the program's graph: output, row, column, reference."""
        found = []
        order = self.step.cone(self.results)
        for lane, (output, column) in enumerate(self.columns):
            inputs = {f"given[{place}]": row[lane] for place, row in zip(self.places, self.given, strict=True)}
            inputs |= {f"shared[{k}]": ref for k, ref in enumerate(self.shared)}
            made: dict[int, int] = {}
            for node in order:
                op = self.step.op[node]
                if op is Op.CONSTANT:
                    made[node] = graph.constant(self.step.number[node])
                elif op is Op.INPUT:
                    made[node] = inputs[self.step.label[node]]
                else:
                    made[node] = graph.apply(op, [_signed(made, ref) for ref in self.step.operands(node)])
            found += [(output, row, column, _signed(made, ref)) for row, ref in zip(self.rows, self.results, strict=True)]
        return found


def _signed(made: dict[int, int], ref: int) -> int:
    found = made[ref >> 1]
    return found ^ (ref & 1) if found else 0
