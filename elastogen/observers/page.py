"""The page of an observer: observed and unobserved motions, decay of errors, and the estimate of a vibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.chart import COLORS, Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.skeleton import FORCE_UNITS
from elastogen.observers.design import ObserverDesign

SHOWN = 400  # steps of the simulated vibration
AMPLITUDE = 5e-3  # of the coordinate that moves most, in its unit


@dataclass(frozen=True)
class ObserverPage:
    """For ``pages/identification.html.j2``."""

    mark: str
    css: str
    title: str
    sections: tuple[ReportSection, ...]


def page(design: ObserverDesign) -> str:
    """Return the page as HTML."""
    sections = (_seen(design), _noise(design), _poles(design), _vibration(design))
    title = f"Observer of {design.model.name}"
    return fill("pages/identification.html.j2", ObserverPage(MARK, asset("page.css"), title, sections))


def _seen(design: ObserverDesign) -> ReportSection:
    rows = []
    for mode in design.modes:
        kind = f"{mode.hertz:.4g} Hz" if mode.hertz else "rigid"
        seen = mode.sensor if mode.observable else "nothing"
        rows.append([kind, mode.coordinate, seen, f"{mode.signal:.3g}", f"{mode.error:.3g}"])
    motions = table(["motion", "moves most", "seen by", "signal over noise, 1 mJ", "error of its amplitude"], rows, (3, 4))
    n, errors = design.model.nv, design.errors
    names = zip(design.model.velocity_names, design.model.metadata.velocity_units, strict=True)
    states = [[name, unit or "1", f"{errors[k]:.3g}", f"{errors[n + k]:.3g}"] for k, (name, unit) in enumerate(names)]
    text = (
        f"Sensors: {', '.join(design.sensors)}, {design.rate:g} readings per second. The slowest error decays by e in "
        f"{design.settling:.3g} s."
    )
    return ReportSection(
        "What is seen", text, (motions, table(["coordinate", "unit", "error of q", "error of qd"], states, (2, 3)))
    )


def _noise(design: ObserverDesign) -> ReportSection:
    readings = [[c.name, c.unit, f"{level:.3g}"] for c, level in zip(design.channels, design.noise, strict=True)]
    units = (FORCE_UNITS.get(unit, "N m") for unit in design.model.metadata.velocity_units)
    named = zip(design.model.velocity_names, units, design.force, strict=True)
    forces = [[name, unit, f"{value:.3g}"] for name, unit, value in named]
    parts = (table(["reading", "unit", "noise"], readings, (2,)), table(["unknown force on", "unit", "size"], forces, (2,)))
    return ReportSection(
        "What it was designed for", "Standard deviations, of one reading and of forces held for a period.", parts
    )


def _poles(design: ObserverDesign) -> ReportSection:
    circle, poles = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 181)), design.poles
    chart = Chart("real part", "imaginary part", height=420, equal=True)
    chart.add(circle.real, circle.imag, "unit circle", color=COLORS[1])
    chart.add(poles.real, poles.imag, "errors", color=COLORS[0], line=False, marks=True)
    return ReportSection(
        "How errors decay", "Poles of the errors from reading to reading: inside the circle they decay.", (chart.svg(),)
    )


def _vibration(design: ObserverDesign) -> ReportSection:
    """Simulate a vibration that the observer does not know of, and estimate it from noisy readings."""
    model = design.model
    vibrating = [mode for mode in design.modes if mode.hertz > 0.0]
    if not vibrating or model.metadata.quaternions:
        return ReportSection("A vibration", "The robot has no vibration to show.", ())
    q, qd, k = _truth(design)
    rng = np.random.default_rng(0)
    exact = model.measurement(q, qd, design.hold, sensors=design.asked).y
    readings = exact + design.noise * rng.standard_normal((len(q), len(design.noise)))
    fast = AMPLITUDE * 2.0 * np.pi * vibrating[0].hertz
    ekf = design.filter(design.q, np.zeros(model.nv), position_error=AMPLITUDE, velocity_error=fast)
    found = ekf.run(design.hold, readings, 1.0 / design.rate)
    t, chart = (
        np.arange(len(q)) / design.rate,
        Chart("time [s]", f"{model.velocity_names[k]} [{model.metadata.velocity_units[k] or '-'}]"),
    )
    for values, name, color in ((q[:, k], "true", COLORS[1]), (found.q[:, k], "estimated", COLORS[0])):
        chart.add(t, values, name, color=color)
    text = f"The lowest vibration ({vibrating[0].hertz:.3g} Hz) of the linearized robot, unknown to the filter at first."
    return ReportSection("A vibration", text, (chart.svg(),))


def _truth(design: ObserverDesign) -> tuple[Any, Any, int]:
    """Return the lowest vibration about the configuration."""
    modes = design.model.modes(design.q)
    lowest = int(np.flatnonzero(modes.frequencies > 0.0)[0])
    shape, rate = modes.shapes[:, lowest], modes.frequencies[lowest]
    k = int(np.argmax(np.abs(shape)))
    shape = shape * (AMPLITUDE / shape[k])
    t = np.arange(1, SHOWN + 1)[:, None] / design.rate
    return design.q + np.cos(rate * t) * shape, -rate * np.sin(rate * t) * shape, k
