"""What is plotted beside a motion: joint coordinates, elastic coordinates, forces of the drives, energies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.recording import text
from elastogen.build.pages.skeleton import FORCE_UNITS
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import Simulation

MOST_LINES = 6  # of one plot: as many as one can keep apart without colours


def motion_plots(robot: Robot, simulation: Simulation, chosen: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Plots with their lines for the page, at the chosen samples; what is zero throughout is left out."""
    plots: list[dict[str, Any]] = []
    for elastic, what in ((False, "joints"), (True, "elastic coordinates")):
        kind = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.elastic == elastic]
        for unit in dict.fromkeys(robot.coordinates[k].unit for k in kind):
            lines = [(robot.coordinates[k].name, simulation.q[:, k]) for k in kind if robot.coordinates[k].unit == unit]
            plots += _plot(f"{what} [{unit or '-'}]", lines, chosen)
    for unit, of_force in FORCE_UNITS.items():
        driven = [k for k, velocity in enumerate(robot.velocities) if velocity.unit == unit and not velocity.elastic]
        lines = [(robot.velocities[k].name, simulation.F[:, k]) for k in driven if np.any(np.nan_to_num(simulation.F[:, k]))]
        plots += _plot(f"forces of the drives [{of_force}]", lines, chosen)
    energies = (("kinetic", simulation.kinetic), ("potential", simulation.potential))
    return plots + _plot("energy [J]", [(name, np.asarray(values)) for name, values in energies if values is not None], chosen)


def _plot(label: str, lines: list[tuple[str, NDArray[Any]]], chosen: NDArray[np.intp]) -> list[dict[str, Any]]:
    if not lines:
        return []
    more = f", the first {MOST_LINES} of {len(lines)}" if len(lines) > MOST_LINES else ""
    shown = [{"name": name, "values": text(np.asarray(values)[chosen])} for name, values in lines[:MOST_LINES]]
    return [{"label": label + more, "lines": shown}]
