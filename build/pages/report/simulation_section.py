"""A motion of the robot: its own experiment, or a fall from its place with the drives off."""

from __future__ import annotations

from dataclasses import replace

from elastogen.build.pages.animation import recorded_motion
from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection
from elastogen.build.pages.report.subject import Subject
from elastogen.runtime import Simulation

SECONDS = 2.0
MOST_NUMBERS = 90_000  # of its pictures: a report has other motions, too
MOST_LINES = 8  # of one chart: as many as have a dash of their own


def simulation(subject: Subject, result: Simulation, note: str = "") -> ReportSection:
    """Coordinates by unit, energies, and the motion to play."""
    figures = [_panel(result, unit) for unit in dict.fromkeys(result.coordinate_units)]
    if result.kinetic is not None and result.potential is not None:
        chart = Chart("t [s]", "energy [J]")
        for name, values in (("kinetic", result.kinetic), ("potential", result.potential), ("sum", result.energy)):
            chart.add(result.t, values, name)
        figures.append(chart.svg())
    motion, count = recorded_motion(subject.drawing, subject.drawn, result, id="simulation", numbers=MOST_NUMBERS)
    motion = replace(motion, plots="[]")  # the charts above
    text = (f"{note} " if note else "") + result.report().replace("\n", "; ")
    if count < result.t.size:
        text += f"; {count} of {result.t.size} samples are drawn, to keep the page small"
    return ReportSection("Simulation", text, tuple(figures), (("", motion),))


def _panel(result: Simulation, unit: str) -> str:
    of_unit = [k for k, of in enumerate(result.coordinate_units) if of == unit]
    left_out = f" (the first {MOST_LINES} of {len(of_unit)})" if len(of_unit) > MOST_LINES else ""
    chart = Chart("t [s]", f"coordinates [{unit or '-'}]{left_out}")
    for k in of_unit[:MOST_LINES]:
        chart.add(result.t, result.q[..., k], result.coordinate_names[k])
    return chart.svg()
