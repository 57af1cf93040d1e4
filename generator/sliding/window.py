"""Coordinates that are others for every element inside a joint: which nodes a joint that slides along a beam is between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.program.graph import Value


@dataclass(frozen=True)
class Window:
    """Slots for coordinates; ``choices`` fill them. The indicator of one choice is 1, those of all others are 0.

    A choice lists the index in q of every slot; None: a node that is clamped, its coordinates are zero.
    """

    choices: tuple[tuple[Value, tuple[int | None, ...]], ...]

    @property
    def size(self) -> int:
        """Number of slots."""
        return len(self.choices[0][1])

    @property
    def touched(self) -> tuple[int, ...]:
        """Indices of all coordinates that can be in a slot."""
        return tuple(sorted({index for _, indices in self.choices for index in indices if index is not None}))

    def of(self, coordinates: Sequence[int]) -> Window:
        """The same window where indices count ``coordinates``."""
        choices = ((inside, tuple(None if k is None else coordinates[k] for k in ks)) for inside, ks in self.choices)
        return Window(tuple(choices))

    def gather(self, values: Sequence[Value]) -> list[Value]:
        """The elements of a vector over all coordinates that are in the slots."""
        result = [self.choices[0][0].graph.value(0)] * self.size
        for inside, indices in self.choices:
            for slot, index in enumerate(indices):
                if index is not None:
                    result[slot] = result[slot] + inside * values[index]
        return result

    def shares(self, slot: int) -> list[tuple[int, Value]]:
        """Where a value that belongs to a slot goes: index and indicator."""
        return [(index, inside) for inside, indices in self.choices if (index := indices[slot]) is not None]

    def pair_shares(self, first: int, second: int) -> list[tuple[int, int, Value]]:
        """Where a value that belongs to two slots goes: two different choices never meet."""
        found = []
        for inside, indices in self.choices:
            i, j = indices[first], indices[second]
            if i is not None and j is not None:
                found.append((i, j, inside))
        return found
