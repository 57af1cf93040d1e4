"""Requests of a model to its builder; a model that was loaded has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from elastogen.runtime.loop.library import LoopLibrary
    from elastogen.runtime.model.model import Model


class Maker(Protocol):
    """Builds further functions, loops and pages for the robot of a model."""

    @property
    def completes(self) -> bool:
        """Whether functions that were not emitted are built when they are first called."""

    @property
    def own_functions(self) -> tuple[str, ...]:
        """Return the names of the robot's own functions, which can be controllers of a loop."""

    def functions(self, name: str, frames: tuple[str, ...]) -> Model:
        """Return a model with one function about some frames."""

    def sensing(self, sensors: tuple[str, ...]) -> Model:
        """Return a model with these sensors and the functions of a Kalman filter; () are its own sensors, or all."""

    def program(self, name: str) -> Any:
        """Return the program of a function for inspection."""

    def loop(
        self,
        controller_source: Any,
        plant_source: Any,
        controller: str | Sequence[str] | None,
        outputs: Sequence[str] | None = None,
        sensors: tuple[str, ...] | None = None,
    ) -> LoopLibrary:
        """Return the control loop, with the user's C or an own function as controller; ``sensors`` are those of an observer."""

    def casadi(self, name: str, parameters: bool, values: Mapping[str, float]) -> tuple[Path, str]:
        """Return a library with a function and its derivatives for CasADi, and the function's name in it."""

    def xla_library(self, include: Path) -> Path:
        """Return the library with which the XLA with these headers calls models."""

    def crocoddyl_module(self, prefix: Path) -> Path:
        """Return the extension module with which the Crocoddyl in ``prefix`` calls models."""

    def animate(self, simulation: Any, path: Any, **options: Any) -> Path:
        """Write a page that plays a motion."""
