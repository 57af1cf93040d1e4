"""A motion of the robot: its own experiment, or a fall from its place with the drives off."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.animation import recorded_motion
from elastogen.build.pages.recording import chosen_pictures
from elastogen.build.pages.report.section import COLORS, ReportSection, figure, graph_objects
from elastogen.build.pages.report.subject import Subject
from elastogen.runtime import Simulation

SECONDS = 2.0


def simulation(subject: Subject, result: Simulation, note: str = "") -> ReportSection:
    """Coordinates by unit, energies, and the motion to play."""
    go, chosen = graph_objects(), chosen_pictures(result.t.size, len(subject.drawing.robot.points))
    figures = [_panel(go, result, unit, chosen) for unit in dict.fromkeys(result.coordinate_units)]
    if result.kinetic is not None and result.potential is not None:
        chart = go.Figure()
        for name, values in (("kinetic", result.kinetic), ("potential", result.potential), ("sum", result.energy)):
            chart.add_scatter(x=result.t[chosen], y=np.asarray(values)[chosen], name=name)
        chart.update_layout(xaxis_title="t [s]", yaxis_title="energy [J]")
        figures.append(figure(chart))
    motion, count = recorded_motion(subject.drawing, subject.drawn, result, id="simulation")
    motion = replace(motion, plots="[]")  # the charts above
    text = (f"{note} " if note else "") + result.report().replace("\n", "; ")
    if count < result.t.size:
        text += f"; {count} of {result.t.size} samples are drawn, to keep the page small"
    return ReportSection("Simulation", text, tuple(figures), (("", motion),))


def _panel(go: Any, result: Simulation, unit: str, chosen: NDArray[np.intp]) -> str:
    chart = go.Figure()
    of_unit = [k for k, of in enumerate(result.coordinate_units) if of == unit]
    for number, k in enumerate(of_unit[:12]):
        values, color = np.asarray(result.q)[chosen, k], COLORS[number % len(COLORS)]
        chart.add_scatter(x=result.t[chosen], y=values, name=result.coordinate_names[k], line_color=color)
    left_out = f" (the first 12 of {len(of_unit)})" if len(of_unit) > 12 else ""
    chart.update_layout(xaxis_title="t [s]", yaxis_title=f"coordinates [{escape(unit) or '-'}]{left_out}")
    return figure(chart)
