"""C text of a user that is compiled into a loop."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.errors import suggestion
from elastogen.runtime.interface.error import shortened

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

OTHER_FILES = ("loop", "shared", "switch", "ik", "simulate", "integrate")  # first words of functions that belong to no model
ESTIMATES = ("momentum_observer_", "collision_detector_", "online_estimator_", "elastic_states")
"""How names of functions begin that are emitted with ``identification=``."""


@dataclass(frozen=True)
class UserCode:
    """C text of a user: a controller (defines ``user_controller``), a plant (``user_read`` and ``user_write``)."""

    controller: str | None = None
    plant: str | None = None

    @classmethod
    def read(cls, controller: str | os.PathLike[str] | None, plant: str | os.PathLike[str] | None) -> UserCode:
        """Take C text, or the path of a .c file, for each."""
        return cls(
            _c_text("controller_source", controller, ("user_controller",)),
            _c_text("plant_source", plant, ("user_read", "user_write")),
        )

    @property
    def files(self) -> dict[str, str]:
        """File name -> text."""
        both = {"user_controller.c": self.controller, "user_plant.c": self.plant}
        return {name: text for name, text in both.items() if text is not None}


def called_functions(robot: Robot, code: UserCode, with_frames: bool) -> tuple[str, ...]:
    """Functions of the model that the user's C calls, to be emitted; one that no model has is refused."""
    from elastogen.generator.functions.derivation import CATALOGUE, FRAMED

    own = [function.name for function in robot.functions]
    found: dict[str, None] = {}
    for file, text in code.files.items():
        plain = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", " ", text, flags=re.S)
        defined = set(re.findall(rf"\b{robot.name}_(\w+)\s*\([^;{{}}()]*\)\s*\{{", plain))
        for name in re.findall(rf"\b{robot.name}_(\w+)\s*\(", plain):
            known = name.removesuffix("_in") if name.removesuffix("_in") in CATALOGUE else name
            if known in CATALOGUE or known in own:
                found[known] = None
            elif name.startswith(ESTIMATES):
                continue  # emitted with identification=; else the compiler says that it is missing
            elif name.partition("_")[0] in OTHER_FILES or name in defined or (with_frames and name.startswith(tuple(FRAMED))):
                continue
            else:
                framed = next((entry for entry in FRAMED if name.startswith(entry)), None)
                fix = (
                    suggestion(name, [*CATALOGUE, *own])
                    if framed is None
                    else " Fix: frames=[...] names the frames of such functions."
                )
                raise BuildError(f"{file} calls {robot.name}_{name}, which is not a function of the model {robot.name}.{fix}")
    return tuple(found)


def _c_text(argument: str, given: str | os.PathLike[str] | None, needed: tuple[str, ...]) -> str | None:
    """C text from a text or the path of a .c file."""
    if given is None:
        return None
    is_text = isinstance(given, str) and "\n" in given
    try:
        text = str(given) if is_text else Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, TypeError, ValueError) as error:
        shown = shortened(os.fspath(given) if isinstance(given, os.PathLike) else given)
        reason = getattr(error, "strerror", None) or error
        raise BuildError(
            f"{argument}: got {shown}, which cannot be read ({reason}). Fix: pass C text, or the path of a .c file."
        ) from error
    missing = [name for name in needed if name not in text]
    if missing:
        raise BuildError(f"{argument}: does not define {missing[0]!r}, expected {', '.join(needed)} as in <name>_loop.h.")
    return text
