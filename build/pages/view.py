"""A robot to look at: its joints move by sliders; where a page cannot compute that, one after the other."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elastogen.build.files.templating import fill
from elastogen.build.pages.animation import AnimationPage
from elastogen.build.pages.home import joint_ranges
from elastogen.build.pages.kinematics import kinematics
from elastogen.build.pages.page_text import MARK, PLAYER, VIEWER, asset, script_json, scripts
from elastogen.build.pages.report.robot_sections import exercise
from elastogen.build.pages.report.subject import Subject
from elastogen.build.pages.slider import Slider
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.shown_page import ShownPage


@dataclass(frozen=True)
class ViewPage:
    """For ``pages/view.html.j2``."""

    mark: str
    title: str
    css: str
    viewer: str
    meshes: str
    scene: str
    kinematics: str  # JavaScript
    start: str  # JSON
    note: str
    sliders: tuple[Slider, ...]


def view_page(robot: Robot) -> str:
    """The text of the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # said when the robot was loaded
        subject = Subject(robot)
        drawing, program = subject.drawing, kinematics(subject.drawing)
        if not program:
            return _recorded(subject)
        start = subject.home
        ranges, names = joint_ranges(robot, start), robot.coordinates
        corners = np.stack([start, *(_with(start, k, value) for k, low, high in ranges for value in (low, high))])
        places = np.asarray(subject.drawn.point_positions(corners))
    sliders = tuple(Slider(k, names[k].name, low, high, float(start[k]), names[k].unit) for k, low, high in ranges)
    page = ViewPage(
        MARK, robot.name, asset("page.css"), scripts((*VIEWER, "viewer/poser.js")), drawing.meshes_json(),
        drawing.scene(places), program, script_json([float(x) for x in start]), drawing.note, sliders,
    )  # fmt: skip
    return fill("pages/view.html.j2", page)


def shown_robot(robot: Robot) -> ShownPage:
    """The page for notebooks."""
    return ShownPage(view_page(robot))


def _recorded(subject: Subject) -> str:
    states = exercise(subject)
    motion = subject.labelled_motion("robot", np.linspace(0.0, 0.05 * (len(states) - 1), len(states)), states, speed="1")
    note = (subject.drawing.note,) if subject.drawing.note else ()
    page = AnimationPage(
        MARK, subject.robot.name, note, asset("page.css"), scripts(PLAYER), subject.drawing.meshes_json(), motion
    )
    return fill("pages/animate.html.j2", page)


def _with(q: NDArray[np.float64], k: int, value: float) -> NDArray[np.float64]:
    moved: NDArray[np.float64] = q.copy()
    moved[k] = np.clip(value, q[k] - 0.5, q[k] + 0.5)
    return moved
