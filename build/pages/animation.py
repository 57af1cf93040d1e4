"""A simulated motion as a page that can be rotated and played."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.files.templating import fill
from elastogen.build.pages.film import FILMS, check_motion_file, film_times, write_film
from elastogen.build.pages.motion_plots import motion_plots
from elastogen.build.pages.page_text import MARK, PLAYER, asset, script_json, scripts, write_page
from elastogen.build.pages.recording import MOST_NUMBERS, Ghost, Recording, chosen_pictures, text
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
    meshes: str
    motion: Recording


def animate(
    robot: Robot,
    simulation: Simulation,
    path: str | os.PathLike[str],
    *,
    rigid: Simulation | None = None,
    beside: Mapping[str, Simulation] | None = None,
    title: str = "",
    force: bool = False,
) -> Path:
    """Write a simulation as a page to ``path``.

    ``rigid`` is the motion of the rigid robot of the same numbers (:func:`elastogen.compare_with_rigid`), drawn as a ghost;
    without it, the ghost of a flexible robot is the robot at the same joint coordinates without deformation. ``beside`` are
    further motions of the same robot by their labels, drawn as ghosts, too.
    """
    check_motion_file(path)
    if Path(path).suffix.lower() in FILMS:
        drawing = skeleton(robot)
        return _film(drawing, drawn_model(drawing), simulation, rigid, path)
    return write_page(path, animation_page(robot, simulation, rigid=rigid, beside=beside, title=title), force=force)


def animation_page(
    robot: Robot,
    simulation: Simulation,
    *,
    rigid: Simulation | None = None,
    beside: Mapping[str, Simulation] | None = None,
    title: str = "",
) -> str:
    """The text of the page; see :func:`animate`."""
    drawing = skeleton(robot)
    motion, chosen = recorded_motion(drawing, drawn_model(drawing), simulation, rigid, beside or {})
    notes = [f"{simulation.name}, {simulation.method}, {simulation.t[0]:g} s to {simulation.t[-1]:g} s"]
    if chosen < simulation.t.size:
        notes.append(f"{chosen} of {simulation.t.size} samples are drawn, to keep the page small.")
    page = AnimationPage(
        MARK, title or f"{robot.name}: motion", (*notes, *([drawing.note] if drawing.note else [])), asset("page.css"),
        scripts(PLAYER), drawing.meshes_json(), motion,
    )  # fmt: skip
    return fill("pages/animate.html.j2", page)


def _film(
    drawing: Skeleton, model: Model, simulation: Simulation, rigid: Simulation | None, path: str | os.PathLike[str]
) -> Path:
    _check_one(simulation)
    times = film_times(simulation.t)
    q = np.stack([np.interp(times, simulation.t, column) for column in np.asarray(simulation.q, dtype=float).T], axis=-1)
    elastic = np.array([coordinate.elastic for coordinate in drawing.robot.coordinates], dtype=bool)
    positions, still = (np.asarray(model.point_positions(state)) for state in (q, np.where(elastic, 0.0, q)))
    ghost = _positions_of(model, drawing.robot, rigid, times) if rigid is not None else still if elastic.any() else None
    return write_film(drawing, positions, ghost, float(times[-1] - times[0]), path)


def drawn_model(drawing: Skeleton) -> Model:
    """The model that computes the nodes of a drawing, and the curvatures of its beams."""
    return build_model(drawing.robot, outputs=["point_positions", *(["point_curvatures"] if drawing.bent_nodes.size else [])])


def bending(drawing: Skeleton, model: Model, q: NDArray[Any]) -> NDArray[np.float64] | None:
    """Curvatures (n, nodes of beams) of the beams at the states q (n, nq) [1/m]; None where there are no beams."""
    if not drawing.bent_nodes.size:
        return None
    curvatures = np.asarray(model.point_curvatures(q), dtype=float)[:, drawing.bent_nodes]
    return np.asarray(np.linalg.norm(curvatures, axis=-1), dtype=float)


def colours(drawing: Skeleton, curved: bool) -> str:
    """What the colours of flexible links show."""
    return " and ".join([*(["curvature"] if curved else []), *(["strain"] if drawing.skins else [])])


def recorded_motion(
    drawing: Skeleton,
    model: Model,
    simulation: Simulation,
    rigid: Simulation | None = None,
    beside: Mapping[str, Simulation] | None = None,
    *,
    id: str = "motion",
    numbers: int = MOST_NUMBERS,
) -> tuple[Recording, int]:
    """The pictures of a simulation, of at most so many numbers, and how many pictures there are."""
    others = {**({} if rigid is None else {"rigid robot": rigid}), **(beside or {})}
    for one in (simulation, *others.values()):
        _check_one(one)
    elastic = any(coordinate.elastic for coordinate in drawing.robot.coordinates)
    chosen = chosen_pictures(simulation.t.size, len(drawing.robot.points) * (1 + elastic + len(others)), numbers)
    times, q = simulation.t[chosen], np.asarray(simulation.q[chosen], dtype=float)
    ghosts = {label: _positions_of(model, drawing.robot, one, times) for label, one in others.items()}
    made = pictures(drawing, model, times, q, ghosts=ghosts, id=id, speed=_speed(simulation.t))
    forces = np.asarray(simulation.F, dtype=float)[chosen]
    drawn = any(mark.force >= 0 for mark in drawing.marks) and bool(np.any(np.nan_to_num(forces)))
    plots = motion_plots(drawing.robot, simulation, chosen)
    return replace(made, forces=text(np.nan_to_num(forces)) if drawn else "", plots=script_json(plots)), len(chosen)


def pictures(
    drawing: Skeleton,
    model: Model,
    times: NDArray[Any],
    q: NDArray[Any],
    *,
    ghosts: Mapping[str, NDArray[Any]] | None = None,
    id: str,
    speed: str,
) -> Recording:
    """Pictures of the states q (n, nq) at these times; ``ghosts`` are nodes (n, nodes, 3) of other robots by their labels."""
    elastic = np.array([coordinate.elastic for coordinate in drawing.robot.coordinates], dtype=bool)
    positions, still = (np.asarray(model.point_positions(state)) for state in (q, np.where(elastic, 0.0, q)))
    strains = bending(drawing, model, q)
    return recording(
        drawing, times, positions, still if elastic.any() else None, strains=strains, ghosts=ghosts, id=id, speed=speed
    )


def recording(
    drawing: Skeleton,
    times: NDArray[Any],
    positions: NDArray[Any],
    still: NDArray[Any] | None,
    *,
    strains: NDArray[Any] | None = None,
    ghosts: Mapping[str, NDArray[Any]] | None = None,
    id: str,
    speed: str,
) -> Recording:
    """Pictures of nodes (n, nodes, 3) at these times; ``still`` are those without deformation, None where nothing deforms."""
    bends = still is not None
    found = tuple(Ghost(label, text(nodes)) for label, nodes in (ghosts or {}).items())
    rest = positions if still is None else still
    drawn = drawing.drawn_nodes
    return Recording(
        id=id, scene=drawing.scene(np.concatenate([positions, rest])), nodes=positions.shape[1], times=text(times),
        positions=text(positions), still=text(rest) if bends else "",
        ghosts=found or ((Ghost("without deformation"),) if bends else ()), trace=text(positions[:, drawing.tip]), bends=bends,
        factor=_factor(positions[:, drawn], rest[:, drawn]) if bends else 1, largest_factor=LARGEST_FACTOR, speed=speed,
        skinned=bool(drawing.meshes), colours=colours(drawing, strains is not None),
        strains="" if strains is None else text(strains),
    )  # fmt: skip


def _check_one(simulation: Simulation) -> None:
    if simulation.q.ndim != 2 or simulation.t.size < 1:
        raise ModelError(
            f"{simulation.name}.animate: got {simulation.q.ndim - 2} batch axes and {simulation.t.size} samples, "
            "expected one motion. Fix: animate one motion of the batch, simulated alone."
        )


def _positions_of(model: Model, robot: Robot, other: Simulation, times: NDArray[Any]) -> NDArray[Any]:
    """Another motion at these times; a rigid robot is drawn as the flexible one without deformation, at its coordinates."""
    known = robot.coordinate_names
    if not set(other.coordinate_names) <= set(known):
        raise ModelError(
            f"{robot.name}.animate: got a motion of {other.name} with coordinates {', '.join(other.coordinate_names)}, "
            f"expected some of {', '.join(known)}. Fix: draw motions of one robot."
        )
    columns = [known.index(name) for name in other.coordinate_names]
    q = np.zeros((times.size, len(robot.coordinate_names)))
    for column, values in zip(columns, np.asarray(other.q, dtype=float).T, strict=True):
        q[:, column] = np.interp(times, other.t, values)
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
