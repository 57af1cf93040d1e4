"""Cases of a study that differ only in states and live parameters are simulated as one batch, in SIMD lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.integrators import names
from elastogen.runtime.simulation.inputs import CFunction
from elastogen.study_table import canonical

if TYPE_CHECKING:
    from elastogen.runtime import Model, Simulation

OWN = ("q0", "qd0", "parameters")
"""What each motion of a batch has for itself."""
EQUAL_STEPS = names(adaptive=False)
"""Methods whose motions can take their steps together."""


def simulate_all(model: Model, cases: Sequence[Mapping[str, Any]], threads: int | None) -> list[Simulation]:
    """Simulate every case; the results equal those of single simulations."""
    groups: dict[bytes, list[int]] = {}
    for k, case in enumerate(cases):
        groups.setdefault(canonical(_common(case)) if _fits(model, case) else b"alone %d" % k, []).append(k)
    found: dict[int, Simulation] = {}
    for members in groups.values():
        found.update(zip(members, _simulate_group(model, [cases[k] for k in members], threads), strict=True))
    return [found[k] for k in range(len(cases))]


def _simulate_group(model: Model, cases: Sequence[Mapping[str, Any]], threads: int | None) -> list[Simulation]:
    if len(cases) > 1:
        try:
            batch = model.simulate(**_usual(threads), **_together(cases))
            return [batch.motion(k) for k in range(len(cases))]
        except ModelError:  # one of them is wrong: which one, and how, is reported below
            pass
    return [model.simulate(**{**_usual(threads), **case}) for case in cases]


def _usual(threads: int | None) -> dict[str, Any]:
    return {"on_failure": "keep", "progress": False, "threads": threads}


def _fits(model: Model, case: Mapping[str, Any]) -> bool:
    """Whether a case is a single motion that can join a batch with the same result."""
    parameters = case.get("parameters") or {}
    if not isinstance(parameters, Mapping) or "on_failure" in case or "progress" in case or "threads" in case:
        return False
    equal, stops, F = case.get("method") in EQUAL_STEPS, case.get("stops", "report"), case.get("F")
    if not equal or stops not in ("report", "ignore") or callable(F) or isinstance(F, CFunction):
        return False
    try:
        states = [np.shape(case[name]) == (size,) for name, size in (("q0", model.nq), ("qd0", model.nv)) if name in case]
        return all(states) and all(np.ndim(value) == 0 for value in parameters.values())
    except ValueError:  # ragged
        return False


def _common(case: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what the motions of a batch share: all options, and which values they give for themselves."""
    shared = {name: value for name, value in case.items() if name not in OWN}
    return (shared, sorted(name for name in OWN if name in case), sorted(case.get("parameters") or {}))


def _together(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    batch = {name: value for name, value in cases[0].items() if name not in OWN}
    for name in OWN[:2]:
        if name in cases[0]:
            batch[name] = np.array([case[name] for case in cases], dtype=np.float64)
    names = cases[0].get("parameters") or {}
    return batch | {"parameters": {name: np.array([case["parameters"][name] for case in cases]) for name in names}}
