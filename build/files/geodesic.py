"""Geodesics as C99: tables and their evaluation, with the emitted model, which integrates on the manifold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elastogen.build.c.expression import literal
from elastogen.build.c.names import check_identifier, comment_text
from elastogen.build.files.templating import fill, origin_lines
from elastogen.build.files.trajectory import render_trajectory
from elastogen.build.files.write import write_files
from elastogen.build.options import checked_path
from elastogen.build.plain_c.emission import Emission, given
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.motion.geodesics import Geodesics


@dataclass(frozen=True)
class GeodesicContext:
    """For ``trajectory/path_tables.h.j2``."""

    legs: int
    points: tuple[str, ...]  # C literals, a row each
    displacements: tuple[str, ...]


def render_geodesics(path: Geodesics, name: str, *, brief: str = "") -> dict[str, str]:
    """Return the text of ``<name>_path.h`` and ``.c`` and of its time law, by file name, in the model's precision."""
    model = path.model
    if not model.metadata.quaternions:
        raise BuildError(
            f"path {name}: {model.name} has no quaternions, and integrate is not emitted for it. Fix: a Trajectory of its "
            "coordinates, by write_trajectory"
        )
    real = "float" if model.dtype == np.float32 else "double"
    law = render_trajectory(
        path.law, f"{check_identifier(name, 'path: name')}_law", precision=real, brief="Time law of a path."
    )
    table = repr((real, model.name, path.points.tolist(), path.displacements.tolist(), sorted(law.items())))
    context = GeodesicContext(
        legs=len(path.displacements),
        points=tuple(", ".join(literal(float(x), real) for x in row) for row in path.points[:-1]),
        displacements=tuple(", ".join(literal(float(x), real) for x in row) for row in path.displacements),
    )
    sizes = (f"#define ROBOT_PATH_NQ {model.nq}", f"#define ROBOT_PATH_NV {model.nv}")
    generated = {
        "robot_path_model.h": "\n".join((f'#include "{given(model.name)}.h"', "", *sizes, "")),
        "robot_path_tables.h": fill("trajectory/path_tables.h.j2", context),
    }
    about = (
        comment_text(brief) or f"Geodesics of {model.name}.",
        f"{len(path.displacements)} of them. Needs {model.name}.c.",
        "",
        *origin_lines("Path", hashlib.sha256(table.encode()).hexdigest()),
    )
    words = {f"robot_path_{word}": f"{model.name}_{word}" for word in ("params_t", "real_t", "integrate")}
    emission = Emission(name, real, {}, about, generated, words)
    return {**law, **{f"{name}_path.{kind}": emission.file(f"trajectory/robot_path.{kind}") for kind in ("h", "c")}}


def write_geodesics(
    path: Geodesics, directory: str | Path, name: str, *, brief: str = "", force: bool = False
) -> tuple[Path, ...]:
    """Write the files into a directory, and return their paths; ``force`` replaces files of others there."""
    return tuple(write_files(checked_path("directory", directory), render_geodesics(path, name, brief=brief), force=force))
