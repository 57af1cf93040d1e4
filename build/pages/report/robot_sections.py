"""The robot itself: its picture, joints, links and parameters, what was warned about, where its tip can go."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.report.subject import Subject
from elastogen.generator.robot.expressions import nominal

WORKSPACE_POINTS = 3000
TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
PICTURES = 400  # of all joints' exercise together
MOST_LETTERS = 60_000  # of a robot file that is shown


def picture(subject: Subject) -> ReportSection:
    """The robot as it moves one joint after the other."""
    states = exercise(subject)
    motion = subject.labelled_motion("robot", np.linspace(0.0, 0.05 * (len(states) - 1), len(states)), states, speed="1")
    text = "Turn it by dragging, zoom with the wheel. Play moves one joint after the other through a part of its range."
    return ReportSection("The robot", f"{text} {subject.drawing.note}".strip(), motions=(("", motion),))


def exercise(subject: Subject) -> NDArray[np.float64]:
    """States in which every driven coordinate goes there and back."""
    states, ranges = [subject.home], subject.ranges()
    pictures = int(np.clip(PICTURES // max(len(ranges), 1), 6, 24))
    for k, low, high in ranges:
        reach = min(high - subject.home[k], 1.0) if high > subject.home[k] else -min(subject.home[k] - low, 1.0)
        for phase in np.linspace(0.0, np.pi, pictures)[1:]:
            state = subject.home.copy()
            state[k] += reach * np.sin(phase)
            states.append(state)
    return np.array(states)


def warned(messages: Sequence[str]) -> ReportSection:
    """What loading the robot warned about."""
    if not messages:
        return ReportSection("Warnings", "None.")
    return ReportSection("Warnings", html=tuple(f'<p class="warning">{escape(message)}</p>' for message in messages))


def description(subject: Subject, robot_text: str = "") -> ReportSection:
    """Joints, links and named numbers, with units; and the file, whose comments say where the numbers come from."""
    robot = subject.robot

    def number(value: Any) -> str:
        return f"{float(nominal(value, robot.parameters)):.6g}"

    joints = table(
        ("joint", "kind", "from", "to", "axis", "lower [rad, m]", "upper [rad, m]"),
        (
            (
                j.name, subject.kind(j), j.parent, j.child, " ".join(number(a) for a in j.axis), _bound(j.limits.lower),
                _bound(j.limits.upper),
            )
            for j in robot.joints
        ),
        numbers=(5, 6),
    )  # fmt: skip
    links = table(
        (
            "link", "mass [kg]", "rigid part, or hub [kg]", "its centre of mass [m]", "its inertia xx yy zz xy xz yz [kg m^2]",
            "kind", "elastic coordinates",
        ),
        (
            (
                link.name, number(link.whole_mass), number(link.body.mass), " ".join(number(c) for c in link.body.com),
                " ".join(number(link.body.inertia[i][j]) for i, j in TENSOR),
                "rigid" if link.flexible is None else "flexible",
                "" if link.flexible is None else len(link.flexible.coordinates),
            )
            for link in robot.links
        ),
        numbers=(1, 2, 6),
    )  # fmt: skip
    parameters = table(
        ("parameter", "value", "unit", "live", "meaning"),
        ((p.name, f"{p.value:.6g}", p.unit, "yes" if p.live else "", p.doc) for p in robot.parameters.values()),
        numbers=(1,),
    )
    html: tuple[str, ...] = (
        f"<p>{escape(robot.description)}</p>",
        joints,
        "<p></p>",
        links,
        "<p></p>",
        parameters if robot.parameters else "",
    )
    html += (_file(robot_text),) if 0 < len(robot_text) <= MOST_LETTERS else ()
    source = f"Read from {robot.source}. " if robot.source else ""
    gravity = ", ".join(number(g) for g in robot.gravity)
    return ReportSection("Description", f"{source}SI units, radians. Gravity ({gravity}) m/s^2.", html)


def _file(text: str) -> str:
    return f"<details><summary>The robot file, with the sources of its numbers</summary><pre>{escape(text)}</pre></details>"


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def workspace(subject: Subject) -> ReportSection:
    """Where the tip can go, without deformation."""
    rng = np.random.default_rng(7)
    states = np.repeat(subject.home[None, :], WORKSPACE_POINTS, axis=0)
    for k, low, high in subject.ranges():
        states[:, k] = rng.uniform(low, high, WORKSPACE_POINTS)
    tips = np.asarray(subject.drawn.point_positions(states))[:, subject.drawing.tip]
    tips = tips[np.all(np.isfinite(tips), axis=1)]
    flat = float(np.ptp(tips[:, 2])) < 1e-9 * max(float(np.ptp(tips)), 1e-12)
    charts = []
    for title, k in (("", 1),) if flat else (("From above", 1), ("From the side", 2)):
        chart = Chart("x [m]", f"{'xyz'[k]} [m]", title, height=460, equal=True)
        chart.add(tips[:, 0], tips[:, k], line=False, marks=True)
        charts.append(chart.svg())
    text = f"{len(tips)} random configurations within the limits; angles without limits go all around."
    return ReportSection("Workspace of the tip", text, tuple(charts))
