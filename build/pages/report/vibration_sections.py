"""How a flexible robot vibrates: frequencies and shapes at rest, over configurations, and how well they are resolved."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.animation import bending
from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.report.subject import Subject, Swing
from elastogen.generator.beams.finite_elements import element_modes
from elastogen.generator.beams.integrals import beam_body
from elastogen.generator.beams.natural_frequencies import clamped_modes, mass_matrix, natural_frequencies, numeric
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Link
from elastogen.runtime.errors import ModelError

Frequencies: TypeAlias = "NDArray[np.float64]"
_NODE = re.compile(r"[yz](\d+)_slope")  # a coordinate of finite elements
SHOWN = 3  # modes that are drawn
PICTURES = 36  # of a period
SMALL = 1e-4  # largest coordinate of a mode while its displacements are taken [rad, m]
UNCHANGED = 1e-4  # of a frequency: what no joint changes more than that is said not to change
FINE = 12  # elements of the mesh that others are compared with
STOPS = 5  # places at which the lowest mode is drawn
SWING = 0.12  # of the largest displacement in a drawn mode, in parts of the robot's size


def modes(subject: Subject) -> ReportSection:
    """Frequencies at home with joints locked and free, and the lowest shapes on the arm."""
    if not subject.elastic.any():
        return ReportSection("Vibrations", "Nothing is elastic: a rigid robot has none.")
    locked, free = (subject.model.modes(subject.home, joints=joints) for joints in ("locked", "free"))
    count = min(8, len(locked.frequencies))
    moving = [w for w in free.frequencies if w > 1e-3 * locked.frequencies[0]][:count]
    rows = [
        (k + 1, f"{locked.hertz[k]:.5g}", f"{moving[k] / (2 * np.pi):.5g}" if k < len(moving) else "") for k in range(count)
    ]
    shown = table(("mode", "joints locked [Hz]", "joints free [Hz]"), rows, numbers=(0, 1, 2))
    found = []
    for k in range(min(SHOWN, count)):
        swing = _swinging(subject, subject.home, np.asarray(locked.shapes, dtype=np.float64)[:, k], locked.coordinates)
        motion = subject.bending(f"mode{k + 1}", np.linspace(0.0, 2.0, len(swing.nodes)), swing, speed="1")
        found.append((f"Mode {k + 1}, {locked.hertz[k]:.4g} Hz with locked joints, enlarged", motion))
    return ReportSection("Vibrations", "At the configuration of the picture.", (shown,), tuple(found))


def _swinging(
    subject: Subject, place: NDArray[np.float64], shape: NDArray[np.float64], coordinates: tuple[int, ...], periods: int = 2
) -> Swing:
    """Nodes in some periods of a mode at a place, as large as can be seen and linear as modes are."""
    model, drawn = subject.model, subject.drawing.drawn_nodes
    direction = np.zeros(model.nv)
    direction[list(coordinates)] = shape
    small = SMALL / max(float(np.abs(direction).max()), 1e-300)
    states = np.stack([np.asarray(model.integrate(place, side * small * direction)) for side in (-1, 0, 1)])
    back, rest, ahead = np.asarray(subject.drawn.point_positions(states))
    moved = (ahead - back) / 2
    largest, size = float(np.linalg.norm(moved[drawn], axis=-1).max()), float(np.ptp(rest[drawn], axis=0).max())
    swing = SWING * size / largest if largest > 0 else 1.0
    phases = np.cos(np.linspace(0.0, 2.0 * np.pi * periods, periods * PICTURES))
    curved = bending(subject.drawing, subject.drawn, states[2:])
    strains = None if curved is None else swing * np.abs(phases)[:, None] * curved
    return Swing(rest + swing * phases[:, None, None] * moved, np.repeat(rest[None], len(phases), axis=0), strains)


def over_configurations(subject: Subject) -> ReportSection | None:
    """The lowest frequencies with locked joints while the joint that changes them most goes through its range."""
    if not subject.elastic.any():
        return None
    best, spread = None, -1.0
    for k, low, high in subject.ranges():
        tried = np.linspace(low + 1e-3 * (high - low), high - 1e-3 * (high - low), 25)
        known = [(place, line) for place in tried if (line := _frequencies(subject, k, place)) is not None]
        if not known:
            continue
        places, lines = np.array([place for place, _ in known]), np.array([found for _, found in known])
        change = float(np.ptp(lines[:, 0]) / max(lines[:, 0].mean(), 1e-300))
        if change > spread:
            best, spread = (k, places, lines), change
    if best is None:
        return None
    if spread < UNCHANGED:
        text = "No joint changes the frequencies that the links have with locked joints."
        return ReportSection("Frequencies over configurations", text)
    k, places, lines = best
    coordinate = subject.robot.coordinates[k]
    chart = Chart(f"{coordinate.name} [{coordinate.unit}]", "frequency [Hz]", log_y=True)
    for i, line in enumerate(lines.T):
        chart.add(places, line / (2 * np.pi), f"mode {i + 1}")
    text = f"Joints locked; {coordinate.name} is the joint that changes the lowest frequency most ({100 * spread:.2g} %)."
    shown = places[np.linspace(0, len(places) - 1, STOPS).round().astype(int)]
    found = [_first_mode(subject, k, float(place)) for place in shown]
    strains = [swing.strains for swing in found if swing.strains is not None]
    nodes, still = np.concatenate([swing.nodes for swing in found]), np.concatenate([swing.still for swing in found])
    swing = Swing(nodes, still, np.concatenate(strains) if strains else None)
    motion = subject.bending("modes_over", np.linspace(0.0, 1.0 * STOPS, len(nodes)), swing, speed="1")
    caption = f"The lowest mode at {STOPS} places of {coordinate.name}, one period each, enlarged"
    return ReportSection("Frequencies over configurations", text, (chart.svg(),), ((caption, motion),))


def _with_place(subject: Subject, k: int, place: float) -> NDArray[np.float64]:
    """The home with one coordinate elsewhere; ModelError where the loops of a mechanism do not close there."""
    state = subject.home.copy()
    state[k] = place
    return np.asarray(subject.model.close_loops(state) if subject.robot.loops else state, dtype=np.float64)


def _first_mode(subject: Subject, k: int, place: float) -> Swing:
    state = _with_place(subject, k, place)
    found = subject.model.modes(state, joints="locked")
    return _swinging(subject, state, np.asarray(found.shapes, dtype=np.float64)[:, 0], found.coordinates, periods=1)


def _frequencies(subject: Subject, k: int, place: float) -> NDArray[np.float64] | None:
    """The lowest ones; None where a mechanism does not come, or loses rank."""
    try:
        state = _with_place(subject, k, place)
        return np.asarray(subject.model.modes(state, joints="locked").frequencies, dtype=np.float64)[:4]
    except ModelError:
        if not subject.robot.loops:
            raise
        return None


def convergence(subject: Subject) -> ReportSection | None:
    """How the lowest frequencies of each flexible link fall as more elements, or more of its shapes, are used."""
    chart = Chart("elements, or modes in use", "frequency too high by [%]", log_y=True)
    for link in subject.robot.links:
        body = link.flexible
        if body is None or body.telescope is not None or len(body.coordinates) < 2:
            continue
        unit, by_count, exact = _refinement(subject, link, body)
        for mode in range(min(2, len(exact))):
            shown = [(count, found[mode]) for count, found in by_count if len(found) > mode]
            errors = [max(100 * float(w / exact[mode] - 1), 1e-12) for _, w in shown]
            chart.add([c for c, _ in shown], errors, f"{link.name}, mode {mode + 1} ({unit})", marks=True)
    if chart.empty:
        return None
    text = (
        "Each link clamped, with its own tip body, compared with a mesh of at least twice as many elements; modal data of "
        "another program with all of its modes. Where a line still falls at its end, more of them would change that frequency."
    )
    return ReportSection("Convergence of the frequencies", text, (chart.svg(),))


def _refinement(subject: Subject, link: Link, body: FlexibleBody) -> tuple[str, list[tuple[int, Frequencies]], Frequencies]:
    """What is refined, the frequencies by its number, and those to compare with."""
    nodes = [int(match.group(1)) for name in body.coordinates if (match := _NODE.fullmatch(name))]
    known = subject.robot.parameters
    M, K = numeric(mass_matrix(body, link.tip_body), known), numeric(body.stiffness, known)
    by_modes = [(k, clamped_modes(M[:k, :k], K[:k, :k])[0]) for k in range(1, len(M) + 1)]
    if body.beam is None:
        return "modes", by_modes[:-1], by_modes[-1][1]
    beam, directions = body.beam.beam, tuple(dict.fromkeys(mode.direction for mode in body.beam.modes))
    degree = 5 if any(name.endswith("_curvature") for name in body.coordinates) else 3

    def frequencies(elements: int) -> Frequencies:
        finer = beam_body(beam, element_modes(elements, directions, beam.length, degree=degree))
        return natural_frequencies(finer, link.tip_body, known)

    if not nodes:
        return "modes", by_modes, frequencies(FINE)
    most = max(nodes)
    counts = sorted({*range(1, min(most, 4)), *(most // 2 or 1, most)})
    return "elements", [(count, frequencies(count)) for count in counts], frequencies(max(2 * most, FINE))
