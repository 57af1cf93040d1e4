"""A simulated motion as a page that can be turned and played."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.files.templating import fill
from elastogen.build.pages.film import FILMS, check_motion_file, film_times, write_film
from elastogen.build.pages.page_text import MARK, asset, write_page
from elastogen.build.pages.recording import Recording, chosen_pictures, text
from elastogen.build.pages.skeleton import Skeleton, skeleton
from elastogen.build.start import build_model
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import Model, ModelError, Simulation

DRAWN_BENDING = 0.06  # of the robot's size: what deformation is enlarged to where it is smaller
LARGEST_FACTOR = 100


@dataclass(frozen=True)
class AnimationPage:
    """For ``pages/animate.html.j2``."""

    mark: str
    title: str
    notes: tuple[str, ...]
    css: str
    viewer: str
    player: str
    meshes: str
    motion: Recording


def animate(
    robot: Robot,
    simulation: Simulation,
    path: str | os.PathLike[str],
    *,
    rigid: Simulation | None = None,
    title: str = "",
    force: bool = False,
) -> Path:
    """Write a simulation as a page to ``path``.

    ``rigid`` is the motion of the rigid robot of the same numbers (:func:`elastogen.compare_with_rigid`), drawn as a ghost;
    without it, the ghost of a flexible robot is the robot at the same joint coordinates without deformation.
    """
    check_motion_file(path)
    drawing = skeleton(robot)
    model = drawn_model(drawing)
    if Path(path).suffix.lower() in FILMS:
        return _film(drawing, model, simulation, rigid, path)
    motion, chosen = recorded_motion(drawing, model, simulation, rigid)
    notes = [f"{simulation.name}, {simulation.method}, {simulation.t[0]:g} s to {simulation.t[-1]:g} s"]
    if chosen < simulation.t.size:
        notes.append(f"{chosen} of {simulation.t.size} samples are drawn, to keep the page small.")
    page = AnimationPage(
        MARK, title or f"{robot.name}: motion", (*notes, *([drawing.note] if drawing.note else [])), asset("page.css"),
        asset("viewer.js"), asset("player.js"), drawing.meshes_json(), motion,
    )  # fmt: skip
    return write_page(path, fill("pages/animate.html.j2", page), force=force)


def _film(
    drawing: Skeleton, model: Model, simulation: Simulation, rigid: Simulation | None, path: str | os.PathLike[str]
) -> Path:
    _check_one(simulation)
    times = film_times(simulation.t)
    q = np.stack([np.interp(times, simulation.t, column) for column in np.asarray(simulation.q, dtype=float).T], axis=-1)
    elastic = np.array([coordinate.elastic for coordinate in drawing.robot.coordinates], dtype=bool)
    positions, still = (np.asarray(model.point_positions(state)) for state in (q, np.where(elastic, 0.0, q)))
    ghost = _rigid_positions(model, drawing.robot, rigid, times) if rigid is not None else still if elastic.any() else None
    return write_film(drawing, positions, ghost, float(times[-1] - times[0]), path)


def drawn_model(drawing: Skeleton) -> Model:
    """The model that computes the nodes of a drawing."""
    return build_model(drawing.robot, outputs=["point_positions"])


def recorded_motion(
    drawing: Skeleton, model: Model, simulation: Simulation, rigid: Simulation | None = None, *, id: str = "motion"
) -> tuple[Recording, int]:
    """The pictures of a simulation, and how many there are."""
    _check_one(simulation)
    chosen = chosen_pictures(simulation.t.size, len(drawing.robot.points))
    times, q = simulation.t[chosen], np.asarray(simulation.q[chosen], dtype=float)
    ghost = None if rigid is None else _rigid_positions(model, drawing.robot, rigid, times)
    return pictures(drawing, model, times, q, ghost=ghost, id=id, speed=_speed(simulation.t)), len(chosen)


def pictures(
    drawing: Skeleton,
    model: Model,
    times: NDArray[Any],
    q: NDArray[Any],
    *,
    ghost: NDArray[Any] | None = None,
    id: str,
    speed: str,
) -> Recording:
    """Pictures of the states q (n, nq) at these times; ``ghost`` are nodes (n, nodes, 3) of another robot."""
    elastic = np.array([coordinate.elastic for coordinate in drawing.robot.coordinates], dtype=bool)
    positions, still = (np.asarray(model.point_positions(state)) for state in (q, np.where(elastic, 0.0, q)))
    return recording(drawing, times, positions, still if elastic.any() else None, ghost=ghost, id=id, speed=speed)


def recording(
    drawing: Skeleton,
    times: NDArray[Any],
    positions: NDArray[Any],
    still: NDArray[Any] | None,
    *,
    ghost: NDArray[Any] | None = None,
    id: str,
    speed: str,
) -> Recording:
    """Pictures of nodes (n, nodes, 3) at these times; ``still`` are those without deformation, None where nothing deforms."""
    bends = still is not None
    label = "rigid robot" if ghost is not None else "without deformation" if bends else ""
    rest = positions if still is None else still
    return Recording(
        id=id, scene=drawing.scene(np.concatenate([positions, rest])), nodes=positions.shape[1], times=text(times),
        positions=text(positions), still=text(rest) if bends else "", ghost=text(ghost) if ghost is not None else "",
        ghost_label=label, trace=text(positions[:, drawing.tip]), bends=bends,
        factor=_factor(positions, rest) if bends else 1, largest_factor=LARGEST_FACTOR, speed=speed,
    )  # fmt: skip


def _check_one(simulation: Simulation) -> None:
    if simulation.q.ndim != 2 or simulation.t.size < 1:
        raise ModelError(
            f"{simulation.name}.animate: got {simulation.q.ndim - 2} batch axes and {simulation.t.size} samples, "
            "expected one motion. Fix: animate one motion of the batch, simulated alone."
        )


def _rigid_positions(model: Model, robot: Robot, rigid: Simulation, times: NDArray[Any]) -> NDArray[Any]:
    """The rigid robot is drawn as the flexible one without deformation, at the rigid robot's joint coordinates."""
    columns = [robot.coordinate_names.index(name) for name in rigid.coordinate_names]
    q = np.zeros((times.size, len(robot.coordinate_names)))
    for column, values in zip(columns, np.asarray(rigid.q, dtype=float).T, strict=True):
        q[:, column] = np.interp(times, rigid.t, values)
    return np.asarray(model.point_positions(q))


def _factor(positions: NDArray[Any], still: NDArray[Any]) -> int:
    """How much deformation is enlarged at first: so that it is seen, and not at all where it is large."""
    bending = float(np.nanmax(np.linalg.norm(positions - still, axis=-1)))
    size = float(np.nanmax(np.ptp(still.reshape(-1, 3), axis=0)))
    return int(np.clip(DRAWN_BENDING * size / bending, 1, LARGEST_FACTOR)) if bending > 0 else 1


def _speed(times: NDArray[Any]) -> str:
    """Motions shorter than a second are shown slowly."""
    span = float(times[-1] - times[0])
    return "0.01" if span < 0.1 else "0.1" if span < 0.5 else "0.25" if span < 1.0 else "1"
