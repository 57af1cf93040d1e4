"""Changes of the element inside a sliding joint, as a simulation or a user's own integrator meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Switch:
    """A sliding joint that passed from one element to the next."""

    time: float  # [s]; NaN where an integrator of the user's own knows it
    joint: str
    before: int  # element inside the joint
    after: int
    energy_before: float  # kinetic and potential [J]
    energy_after: float
    motion: tuple[int, ...] = ()
    """Which motion of a batch."""

    @property
    def energy_change(self) -> float:
        """What the switch added [J]: zero but for rounding where energy goes on."""
        return self.energy_after - self.energy_before


def energy_changes(switches: Sequence[Switch], t: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Sum of the energy changes of all switches up to each sample time, (..., n) [J]."""
    total = np.zeros((*batch, len(t)))
    for switch in switches:
        total[switch.motion][t >= switch.time] += switch.energy_change
    return total


def table(met: Sequence[Any], kind: type[Any]) -> NDArray[Any]:
    """Switches, or events of the ground, as a structured array, which a file can hold."""
    names = [field.name for field in fields(kind)]
    axes = max((len(each.motion) for each in met), default=0)
    kinds = {"before": "i8", "after": "i8", "motion": f"({axes},)i8"}
    for name in {"joint", "frame", "kind"} & {*names}:
        kinds[name] = f"U{max((len(getattr(each, name)) for each in met), default=1)}"
    rows = [tuple(getattr(each, name) for name in names) for each in met]
    return np.array(rows, dtype=[(name, kinds.get(name, "f8")) for name in names])


def lines(switches: Sequence[Switch], count: int, most: int = 5) -> list[str]:
    """What a report says: the first few, and how many there were."""
    shown = []
    for switch in switches[:most]:
        elements = f"element {switch.before} -> {switch.after}"
        shown.append(f"  t = {switch.time:.6g} s, {switch.joint}: {elements}, energy {switch.energy_change:+.2g} J")
    if count > len(shown):
        shown.append(f"  ... and {count - len(shown)} more")
    return [f"{count} {'border' if count == 1 else 'borders'} of elements passed", *shown] if count else []
