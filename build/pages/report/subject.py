"""The robot that a report is about, with the models that its sections ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.animation import drawn_model, pictures, recording
from elastogen.build.pages.home import home, joint_ranges
from elastogen.build.pages.page_text import script_json
from elastogen.build.pages.recording import Recording, text
from elastogen.build.pages.skeleton import Skeleton, skeleton
from elastogen.build.start import build_model
from elastogen.generator.robot.robot import Joint, Robot
from elastogen.runtime import Model

FEW = 8  # frames whose names do not cover each other


@dataclass(frozen=True)
class Swing:
    """Nodes that swing about where they are without deformation, both (n, nodes, 3) [m]."""

    nodes: NDArray[np.float64]
    still: NDArray[np.float64]
    strains: NDArray[np.float64] | None  # curvatures of the beams (n, nodes of beams) [1/m]


@dataclass(frozen=True)
class Subject:
    """A robot and what is computed from it once for all sections."""

    robot: Robot

    @cached_property
    def model(self) -> Model:
        """The model with the default functions; others are built when they are asked for."""
        return build_model(self.robot)

    @cached_property
    def drawing(self) -> Skeleton:
        """What is drawn."""
        return skeleton(self.robot)

    @cached_property
    def drawn(self) -> Model:
        """The model that computes the nodes of the drawing."""
        return drawn_model(self.drawing)

    @cached_property
    def home(self) -> NDArray[np.float64]:
        """Where the robot starts."""
        return home(self.robot, self.model)

    @cached_property
    def elastic(self) -> NDArray[np.bool_]:
        """Which coordinates are elastic."""
        return np.array([coordinate.elastic for coordinate in self.robot.coordinates], dtype=bool)

    def ranges(self) -> list[tuple[int, float, float]]:
        """Index and range of every driven coordinate."""
        return joint_ranges(self.robot, self.home)

    def motion(self, id: str, times: Sequence[float] | NDArray[Any], q: NDArray[Any], *, speed: str) -> Recording:
        """A motion to play."""
        return pictures(self.drawing, self.drawn, np.asarray(times), q, id=id, speed=speed)

    def bending(self, id: str, times: NDArray[Any], swing: Swing, *, speed: str) -> Recording:
        """A motion to play of nodes that are known."""
        return recording(self.drawing, times, swing.nodes, swing.still, strains=swing.strains, id=id, speed=speed)

    def labelled_motion(self, id: str, times: Sequence[float] | NDArray[Any], q: NDArray[Any], *, speed: str) -> Recording:
        """A motion with the frames of the links and the points of the description."""
        places = np.asarray(self.model.point_positions(q)) if self.robot.points else np.zeros((len(q), 0, 3))
        return replace(
            self.motion(id, times, q, speed=speed),
            frames_shown=len(self.drawing.frames) <= FEW,
            points=text(places) if self.robot.points else "", point_names=script_json([p.name for p in self.robot.points]),
        )  # fmt: skip

    def kind(self, joint: Joint) -> str:
        """Name of a joint's kind."""
        return joint.type.name
