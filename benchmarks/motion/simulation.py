"""Simulation: 10 s of motion with RK4 steps of 0.1 ms, the adaptive and the implicit method beside them.

``python -m benchmarks.motion.simulation`` prints a table; the times are of whole calls of ``model.simulate``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import elastogen
from benchmarks.race.tables import table, verdict

SECONDS = 10.0
FLEXIBLE_TARGET = 1.5  # [s] for 10 s of the RR arm with 5 elements in each link, RK4 steps of 0.1 ms
ELEMENTS: dict[str, Any] = {  # the beam of paper 003, Table 3, with the modulus of steel
    "type": "elements", "length": 0.8, "mass_per_length": 0.942, "EI": 18.0, "elements": 5,
    "damping": {"ratio": 0.01},
}  # fmt: skip
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rk4, 0.1 ms, no energies", {"method": "rk4", "step": 1e-4, "energy": False}),
    ("rk4, 0.1 ms", {"method": "rk4", "step": 1e-4}),
    ("tsit5, rtol 1e-8", {"method": "tsit5", "rtol": 1e-8, "atol": 1e-10}),
    ("generalized alpha, 1 ms", {"method": "generalized_alpha", "step": 1e-3}),
)


def flexible_arm() -> dict[str, Any]:
    """Two links of five beam elements each on revolute joints, in the horizontal plane: 22 coordinates."""
    links = [{"name": f"link{k}", "flexible": {**ELEMENTS, "tip": {"mass": 0.1}}} for k in range(2)]
    joints = [{"name": f"j{k}", "type": "revolute", "child": f"link{k}", "axis": [0, 0, 1]} for k in range(2)]
    return {
        "elastogen": 1,
        "name": "flexible_arm",
        "gravity": [0, 0, -9.81],
        "links": [{"name": "base"}, *links],
        "joints": joints,
    }


def motion_of(model: elastogen.Model) -> dict[str, Any]:
    """Joints away from equilibrium under gravity; the flexible arm is driven by a bang-bang torque of 1 N m for 2 s."""
    driven = np.zeros(model.nq)
    driven[list(model.driven)] = 1.0
    if model.nq == len(model.driven):
        return {"q0": 0.4 * driven}
    return {"q0": 0.4 * driven, "F": elastogen.BangBang(driven, 2.0)}


def measure(name: str, build: Callable[[], elastogen.Model], rounds: int = 3) -> list[list[str]]:
    """Rows of the table for one robot."""
    model = build()
    rows = []
    for label, options in METHODS:
        runs = [model.simulate(**motion_of(model), t=SECONDS, samples=101, **options) for _ in range(rounds)]
        best = min(runs, key=lambda run: run.seconds)
        flexible = model.nq > len(model.driven) and label.startswith("rk4")
        reached = verdict(best.seconds <= FLEXIBLE_TARGET) if flexible else ""
        error = "" if best.kinetic is None else f"{np.abs(best.balance).max() / best.kinetic.max():.1e}"
        rate = best.steps / best.seconds
        rows.append([name, str(model.nq), label, f"{best.seconds:.3f}", f"{rate:,.0f}", error, reached])
    return rows


def report(robots: Sequence[str] = ("two_link", "puma560", "flexible_arm")) -> list[str]:
    """The section in Markdown."""
    sources: dict[str, Any] = {"flexible_arm": flexible_arm()}
    rows: list[list[str]] = []
    for name in robots:
        source = sources.get(name, name)
        rows += measure(name, lambda source=source: elastogen.build_model(source, outputs="simulation"))  # type: ignore[misc]
    header = ("robot", "nq", "method", "time of 10 s [s]", "steps/s", "energy error / kinetic", "below 1.5 s")
    return ["## Simulation", "", *table(header, rows), ""]


if __name__ == "__main__":
    print("\n".join(report()))
