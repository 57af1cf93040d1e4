"""The robot that a report is about, with the models that its sections ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.animation import drawn_model, pictures
from elastogen.build.pages.home import home, joint_ranges
from elastogen.build.pages.recording import Recording
from elastogen.build.pages.skeleton import Skeleton, skeleton
from elastogen.build.start import build_model
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Joint, Link, Robot
from elastogen.runtime import Model


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
        """The model that tells where the nodes of the drawing are."""
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
        return joint_ranges(self.robot, self.model, self.home)

    def motion(self, id: str, times: Sequence[float] | NDArray[Any], q: NDArray[Any], *, speed: str) -> Recording:
        """A motion to play."""
        return pictures(self.drawing, self.drawn, np.asarray(times), q, id=id, speed=speed)

    def mass(self, link: Link) -> float:
        """Mass of a link with what it carries at its tip [kg]."""
        parts = [link.body.mass, link.tip_body.mass, *([] if link.flexible is None else [link.flexible.mass])]
        return float(sum(nominal(part, self.robot.parameters) for part in parts))

    def kind(self, joint: Joint) -> str:
        """Name of a joint's kind."""
        return joint.type.name
