"""States of own functions: numbers that a loop keeps from cycle to cycle, and their updates."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy

from elastogen.generator.robot.location import Location

if TYPE_CHECKING:
    from elastogen.generator.robot.own.functions import Block

NEXT, RATE = "_next", "_rate"
State = tuple[tuple[int, ...], tuple[float, ...]]  # shape, and numbers to begin with


def states_of(
    states: Any, initial: Any, inputs: Mapping[str, tuple[int, ...]], outputs: Mapping[str, Block], where: Location
) -> dict[str, State]:
    """Checked states: each has one output that updates it, ``z_next`` or ``z_rate``, of its own shape."""
    from elastogen.generator.robot.own.functions import _shape

    for name, given in (("states", states), ("initial", initial)):
        if not isinstance(given, (Mapping, type(None))):
            raise where.at(name).error(given, "a mapping from names", "for example states={'z': 4}, initial={'z': 0.0}")
    begin = dict(initial or {})
    found: dict[str, State] = {}
    for key, given in (states or {}).items():
        place = where.at("states", str(key))
        shape = _shape(key, given, place)
        if key in inputs:
            raise place.error(key, "a name that no input has", "a state is an input already: leave it out of inputs=")
        moved = [end for end in (NEXT, RATE) if f"{key}{end}" in outputs]
        if not moved:
            fix = f"add {key}_next (its value in the next cycle) or {key}_rate (its time derivative) to outputs="
            raise place.error(key, "a state with an update", fix)
        if len(moved) > 1:
            raise place.error(key, f"{key}_next or {key}_rate", "leave one of them out")
        update = outputs[key + moved[0]]
        if update.shape != shape:
            raise place.error(update.shape, f"{key}{moved[0]} of the state's shape {shape}", "give both one shape")
        found[key] = (shape, _numbers(begin.pop(key, 0.0), int(sympy.prod(shape)), where.at("initial", str(key))))
    if begin:
        raise where.at("initial").error(next(iter(begin)), "names of states", "name it in states=, too")
    return found


def _numbers(given: Any, size: int, where: Location) -> tuple[float, ...]:
    flat: list[Any] = []
    waiting = [given]
    while waiting:
        each = waiting.pop(0)
        if hasattr(each, "tolist"):
            each = each.tolist()
        if isinstance(each, Sequence) and not isinstance(each, str):
            waiting = [*each, *waiting]
        else:
            flat.append(each)
    sound = all(isinstance(x, numbers.Real) and not isinstance(x, bool) and math.isfinite(x) for x in flat)
    if not sound or len(flat) not in (1, size) or (len(flat) == 1 and not isinstance(given, numbers.Real) and size != 1):
        raise where.error(given, f"a number, or {size} finite numbers", "for example 0.0")
    return tuple(float(x) for x in (flat if len(flat) == size else flat * size))
