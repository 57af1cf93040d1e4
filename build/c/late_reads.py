"""Sines and cosines are read from the arrays of their call where they are needed, and once more much later.

A value that is read on the way out and again on the way back would hold a register for all the time between, or be loaded
for every single use. Compilers join two reads of one array, so the second time it is read by a pointer that they cannot follow.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

LONG = 25  # statements without a use, after which it is read again


def late_reads(reads: Sequence[Sequence[int]], values: Set[int]) -> dict[int, list[int]]:
    """Return the values to read before each statement, given what every statement reads."""
    last_use: dict[int, int] = {}
    plan: dict[int, list[int]] = {}
    for index, nodes in enumerate(reads):
        for node in dict.fromkeys(nodes):
            if node in values:
                if index - last_use.get(node, -LONG - 1) > LONG:
                    plan.setdefault(index, []).append(node)
                last_use[node] = index
    return plan
