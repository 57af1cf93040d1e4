"""Trajectories as C99: a table of coefficients and its evaluation, for controllers without Python."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from elastogen.build.c.expression import literal
from elastogen.build.c.names import check_identifier, comment_text
from elastogen.build.files.templating import fill, origin_lines
from elastogen.build.files.write import write_files
from elastogen.build.options import checked_path
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.motion.trajectory import Trajectory


@dataclass(frozen=True)
class TrajectoryContext:
    """For ``trajectory/tables.h.j2``."""

    segments: int
    degree: int
    first_break: str  # C literals
    last_break: str
    breaks: tuple[str, ...]  # lines
    coefficients: tuple[tuple[str, ...], ...]  # per segment and coordinate


def render_trajectory(trajectory: Trajectory, name: str, *, precision: str = "double", brief: str = "") -> dict[str, str]:
    """Return the text of ``<name>_trajectory.h`` and ``.c``, by file name."""
    if precision not in ("double", "float"):
        raise BuildError(f"trajectory {name}: precision={precision!r}, expected 'double' or 'float'.")
    check_identifier(name, "trajectory: name")
    table = repr((precision, trajectory.hold, trajectory.breaks.tolist(), trajectory.coefficients.tolist()))
    size, outside = trajectory.size, "the ends are held with zero rates" if trajectory.hold else "everything is zero"
    about = (
        comment_text(brief) or f"A trajectory of {size} coordinates.",
        f"{len(trajectory.coefficients)} segments of degree {trajectory.degree}, {size} coordinates, from "
        f"{trajectory.breaks[0]:.6g} s to {trajectory.breaks[-1]:.6g} s; outside, {outside}.",
        "",
        *origin_lines("Trajectory", hashlib.sha256(table.encode()).hexdigest()),
    )
    tables = fill("trajectory/tables.h.j2", _context(trajectory, name, precision))
    generated = {
        "robot_trajectory_size.h": f"#define ROBOT_TRAJECTORY_SIZE {size} /* number of coordinates */\n",
        "robot_trajectory_tables.h": tables,
    }
    emission = Emission(name, precision, {"TRAJECTORY_HOLDS": int(trajectory.hold)}, about, generated)
    return {f"{name}_trajectory.{kind}": emission.file(f"trajectory/robot_trajectory.{kind}") for kind in ("h", "c")}


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


def _context(trajectory: Trajectory, name: str, real: str) -> TrajectoryContext:
    breaks = [literal(float(time), real) for time in trajectory.breaks]
    if len(set(breaks)) != len(breaks):
        raise BuildError(f"trajectory {name}: two of its times are the same in {real} precision. Fix: precision='double'")
    return TrajectoryContext(
        segments=len(trajectory.coefficients),
        degree=trajectory.degree,
        first_break=breaks[0],
        last_break=breaks[-1],
        breaks=tuple(", ".join(breaks[k : k + 4]) + "," for k in range(0, len(breaks), 4)),
        coefficients=tuple(
            tuple(", ".join(literal(float(number), real) for number in row) for row in segment)
            for segment in trajectory.coefficients
        ),
    )
