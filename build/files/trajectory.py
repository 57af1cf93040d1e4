"""Trajectories as C99: a table of coefficients and its evaluation, for controllers without Python."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import elastogen
from elastogen.build.c.expression import literal
from elastogen.build.c.names import check_identifier, comment_text
from elastogen.build.files.templating import fill
from elastogen.build.files.write import write_files
from elastogen.build.options import checked_path
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.motion.trajectory import Trajectory


@dataclass(frozen=True)
class TrajectoryContext:
    """For ``trajectory/trajectory.h.j2`` and ``trajectory/trajectory.c.j2``."""

    name: str
    macro: str
    brief: str
    real: str  # "double" or "float"
    tool_version: str
    sha256: str  # of the table and the precision
    segments: int
    size: int
    degree: int
    hold: bool
    outside: str  # what is computed outside of the range of time
    start: str  # first and last time for readers
    end: str
    first_break: str  # C literals from here on
    last_break: str
    breaks: tuple[str, ...]  # lines
    coefficients: tuple[tuple[str, ...], ...]  # per segment and coordinate
    zero: str
    two: str


def render_trajectory(trajectory: Trajectory, name: str, *, precision: str = "double", brief: str = "") -> dict[str, str]:
    """Return the text of ``<name>_trajectory.h`` and ``.c``, by file name."""
    if precision not in ("double", "float"):
        raise BuildError(f"trajectory {name}: precision={precision!r}, expected 'double' or 'float'.")
    context = _context(trajectory, check_identifier(name, "trajectory: name"), precision, brief)
    return {f"{name}_trajectory.{kind}": fill(f"trajectory/trajectory.{kind}.j2", context) for kind in ("h", "c")}


def write_trajectory(
    trajectory: Trajectory,
    directory: str | Path,
    name: str,
    *,
    precision: str = "double",
    brief: str = "",
    force: bool = False,
) -> tuple[Path, ...]:
    """Write the two files into a directory, and return their paths; ``force`` replaces files of others there."""
    files = render_trajectory(trajectory, name, precision=precision, brief=brief)
    return tuple(write_files(checked_path("directory", directory), files, force=force))


def _context(trajectory: Trajectory, name: str, real: str, brief: str) -> TrajectoryContext:
    breaks = [literal(float(time), real) for time in trajectory.breaks]
    if len(set(breaks)) != len(breaks):
        raise BuildError(f"trajectory {name}: two of its times are the same in {real} precision. Fix: precision='double'")
    table = repr((real, trajectory.hold, trajectory.breaks.tolist(), trajectory.coefficients.tolist()))
    return TrajectoryContext(
        name=name,
        macro=name.upper(),
        brief=comment_text(brief) or f"A trajectory of {trajectory.size} coordinates.",
        real=real,
        tool_version=elastogen.__version__,
        sha256=hashlib.sha256(table.encode()).hexdigest(),
        segments=len(trajectory.coefficients),
        size=trajectory.size,
        degree=trajectory.degree,
        hold=trajectory.hold,
        outside="held with zero rates" if trajectory.hold else "all zero",
        start=f"{trajectory.breaks[0]:.6g}",
        end=f"{trajectory.breaks[-1]:.6g}",
        first_break=breaks[0],
        last_break=breaks[-1],
        breaks=tuple(", ".join(breaks[k : k + 4]) + "," for k in range(0, len(breaks), 4)),
        coefficients=tuple(
            tuple(", ".join(literal(float(number), real) for number in row) for row in segment)
            for segment in trajectory.coefficients
        ),
        zero=literal(0.0, real),
        two=literal(2.0, real),
    )
