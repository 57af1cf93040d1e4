"""What a model that was built can ask its builder for; a model that was loaded has nobody to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from elastogen.runtime.loop.library import LoopLibrary
    from elastogen.runtime.model.model import Model


class Maker(Protocol):
    """Makes more of the robot that a model was built from."""

    @property
    def completes(self) -> bool:
        """Whether functions that were not emitted are built when they are first called."""

    @property
    def own_functions(self) -> tuple[str, ...]:
        """Names of the robot's own functions, which can be controllers of a loop."""

    def functions(self, name: str, frames: tuple[str, ...]) -> Model:
        """A model with one function, about some frames."""

    def sensing(self, sensors: tuple[str, ...]) -> Model:
        """A model of the robot with these sensors, and what a Kalman filter needs; () are its own, or all."""

    def program(self, name: str) -> Any:
        """The program of a function, to look at."""

    def loop(
        self,
        controller_source: Any,
        plant_source: Any,
        controller: str | Sequence[str] | None,
        outputs: Sequence[str] | None = None,
        sensors: tuple[str, ...] | None = None,
    ) -> LoopLibrary:
        """The control loop, with the user's C or with an own function as its controller; ``sensors`` are an observer's."""

    def casadi(self, name: str, parameters: bool, values: Mapping[str, float]) -> tuple[Path, str]:
        """A library with a function and its derivatives for CasADi, and the function's name in it."""

    def xla_library(self, include: Path) -> Path:
        """The library through which the XLA with these headers calls models."""

    def crocoddyl_module(self, prefix: Path) -> Path:
        """The extension module through which the Crocoddyl installed in ``prefix`` calls models."""

    def animate(self, simulation: Any, path: Any, **options: Any) -> Path:
        """Write a page that plays a motion."""
