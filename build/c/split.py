"""Places at which a long body is cut into parts.

Compilers need time that grows faster than the length of a function, and C99 promises no more than 511 identifiers in
a block, so long bodies become several functions. The cuts lie where few values cross them. Where very many values travel
between the parts, those that are never needed at the same time share memory, or stacks of boards would overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LONGEST_WHOLE_BODY = 400
LONGEST_PART = 150
SHORTEST_PART = 100
MOST_LOADS = 300
MOST_FIELDS = 512  # that travel under their own names: 4 KiB of stack in double


@dataclass(frozen=True)
class Cuts:
    """``bounds`` of the parts (part k has the statements bounds[k]:bounds[k+1]), and the values that pass between parts."""

    bounds: tuple[int, ...]
    travelling: frozenset[int]
    slots: Mapping[int, int] = field(default_factory=dict)  # place of every value that travels, where they share memory


def choose_cuts(defines: Sequence[Sequence[int]], reads: Sequence[Sequence[int]], last: Sequence[int]) -> Cuts:
    """Cut a list of statements, given the values that each defines and reads, and the values that are read at the end."""
    count = len(defines)
    defined_at = {value: index for index, values in enumerate(defines) for value in values}
    last_read = dict.fromkeys(defined_at, -1)
    for index, values in enumerate(reads):
        for value in values:
            if value in last_read:
                last_read[value] = index
    last_read.update({value: count for value in last if value in defined_at})
    crossing = crossing_counts(count, defined_at, last_read)
    bounds = [0]
    while count - bounds[-1] > LONGEST_PART:
        start = bounds[-1]
        longest = _longest_part(start, min(start + LONGEST_PART, count - 1), reads, defined_at)
        shortest = min(start + SHORTEST_PART, longest)
        bounds.append(min(range(shortest, longest + 1), key=lambda cut: (crossing[cut], -cut)))
    bounds.append(count)
    part_of = [part for part in range(len(bounds) - 1) for _ in range(bounds[part], bounds[part + 1])]
    part_of.append(len(bounds))  # the end belongs to no part
    travelling = frozenset(
        value for value, index in defined_at.items() if last_read[value] >= 0 and part_of[last_read[value]] != part_of[index]
    )
    if len(travelling) <= MOST_FIELDS:
        return Cuts(tuple(bounds), travelling)
    lives = {value: (part_of[defined_at[value]], part_of[last_read[value]]) for value in travelling}
    return Cuts(tuple(bounds), travelling, _slots(lives))


def _slots(lives: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """Assign a place to every value between its first and last part; a place is free again in the part after that."""
    slots: dict[int, int] = {}
    busy_until: list[int] = []
    for value in sorted(lives, key=lambda value: (lives[value], value)):
        first, last = lives[value]
        place = next((place for place, until in enumerate(busy_until) if until < first), len(busy_until))
        if place == len(busy_until):
            busy_until.append(last)
        busy_until[place] = last
        slots[value] = place
    return slots


def crossing_counts(count: int, defined_at: dict[int, int], last_read: dict[int, int]) -> list[int]:
    """Count for each statement the values that are defined before it and read after it."""
    change = [0] * (count + 2)
    for value, index in defined_at.items():
        if last_read[value] > index:
            change[index + 1] += 1
            change[last_read[value] + 1] -= 1
    total, crossing = 0, []
    for step in change[: count + 1]:
        total += step
        crossing.append(total)
    return crossing


def _longest_part(start: int, limit: int, reads: Sequence[Sequence[int]], defined_at: dict[int, int]) -> int:
    """Return the furthest end of a part that does not load too many values of earlier parts."""
    loads: set[int] = set()
    for index in range(start, limit):
        loads.update(value for value in reads[index] if defined_at.get(value, start) < start)
        if len(loads) > MOST_LOADS:
            return max(index, start + 1)
    return limit
