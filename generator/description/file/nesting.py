"""How deep the values of a description may be in each other, how long its whole numbers may be, and which are not values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location

MAX_NESTING = 60
MAX_BITS = 1100  # of whole numbers: more than 1e308 is not a number of a robot
_STRANGE = (bytes, bytearray, memoryview, Iterator, np.void, np.datetime64, np.timedelta64, np.complexfloating)
"""What a reader of structures would take for an empty list, a text or a number, and nobody means as such."""


def check_nesting(data: Any, where: Location) -> None:
    """Refuse what would end a recursion further on, and integers that are too long to be printed; circles are too deep."""
    stack: list[tuple[Any, Location, int]] = [(data, where, 0)]
    while stack:
        value, here, depth = stack.pop()
        if depth > MAX_NESTING:
            raise where.error("deeper nesting", f"at most {MAX_NESTING} values inside each other", "write it flatter")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise here.error(f"an integer of {value.bit_length()} bits", "a number of at most 1e300", "check the unit")
        if isinstance(value, _STRANGE):
            expected = "a number, a text, a list or a mapping"
            raise here.error(f"a value of type {type(value).__name__}", expected, "write it out as one of them")
        if isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(key, int) and key.bit_length() > MAX_BITS:
                    raise here.error(f"an integer of {key.bit_length()} bits", "names as keys", "write a name")
                stack.append((item, here.at(key) if isinstance(key, str) else here, depth + 1))
        elif isinstance(value, (list, tuple)):
            stack.extend((item, here.at(_name_or_place(item, i)), depth + 1) for i, item in enumerate(value))


def _name_or_place(item: Any, place: int) -> str | int:
    """How messages name an entry of a list: a joint or a link by its name, anything else by its number."""
    name = item.get("name") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else place
