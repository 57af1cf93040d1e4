"""``elastogen report``: everything about a robot on one page that needs no network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, PLAYER, asset, scripts, write_page
from elastogen.build.pages.recording import Recording
from elastogen.build.pages.report import dynamics_sections, robot_sections, solid_sections, vibration_sections
from elastogen.build.pages.report.section import ReportSection
from elastogen.build.pages.report.simulation_section import simulation
from elastogen.build.pages.report.subject import Subject
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import Simulation


@dataclass(frozen=True)
class ReportPage:
    """For ``pages/report.html.j2``."""

    mark: str
    title: str
    css: str
    viewer: str
    meshes: str
    sections: tuple[ReportSection, ...]
    motions: tuple[Recording, ...]


def report(
    robot: Robot,
    path: str | os.PathLike[str],
    *,
    motion: Simulation | None = None,
    note: str = "",
    messages: Sequence[str] = (),
    robot_text: str = "",
    more: Sequence[ReportSection] = (),
    force: bool = False,
) -> Path:
    """Write the report of a robot to ``path``.

    ``motion`` is a simulation to show, ``note`` a sentence about it, ``messages`` what loading the robot warned about,
    ``robot_text`` the robot's file, ``more`` further sections for the end.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # said when the robot was loaded
        subject = Subject(robot)
        sections = (*report_sections(subject, motion, note, messages, robot_text), *more)
    page = ReportPage(
        MARK, f"{robot.name}: report", asset("page.css"), scripts(PLAYER),
        subject.drawing.meshes_json(), sections, tuple(motion for section in sections for _, motion in section.motions),
    )  # fmt: skip
    return write_page(path, fill("pages/report.html.j2", page), force=force)


def report_sections(
    subject: Subject, motion: Simulation | None, note: str = "", messages: Sequence[str] = (), robot_text: str = ""
) -> tuple[ReportSection, ...]:
    """The sections in their order."""
    found: list[Any] = [
        robot_sections.picture(subject),
        robot_sections.warned(messages),
        robot_sections.description(subject, robot_text),
        vibration_sections.modes(subject),
        solid_sections.solids(subject),
        vibration_sections.over_configurations(subject),
        vibration_sections.convergence(subject),
        robot_sections.workspace(subject),
        simulation(subject, motion, note) if motion is not None else None,
        dynamics_sections.sparsity(subject),
        dynamics_sections.functions(subject),
        dynamics_sections.interface(subject),
    ]
    return tuple(section for section in found if section is not None)
