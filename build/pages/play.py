"""``elastogen play``: a page in which the emitted C of a robot runs, as WebAssembly, with sliders and a hand to push it."""

from __future__ import annotations

import base64
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elastogen.build.files.templating import fill
from elastogen.build.options import BuildOptions
from elastogen.build.pages.home import drives, home, joint_ranges
from elastogen.build.pages.page_text import MARK, VIEWER, asset, check_page, script_json, scripts, write_page
from elastogen.build.pages.skeleton import Skeleton, skeleton
from elastogen.build.pages.slider import Slider
from elastogen.build.pages.wasm import check_zig, compile_wasm
from elastogen.build.pipeline import render
from elastogen.build.plain_c.emission import Emission
from elastogen.build.start import build_model
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.live import make_live
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Link, Parameter, Robot
from elastogen.runtime import Model

OUTPUTS = ("simulation", "mass_matrix", "gravity_vector", "point_positions", "point_forces")
STEP = 0.001  # of the integrator [s]
BANDWIDTH = 8.0  # of the drives [rad/s]
STIFFNESS = Parameter("stiffness_scale", 1.0, "", "stiffness of all flexible links, in parts of the robot's own", live=True)
LAWS: Mapping[str, tuple[float, float, float, float]] = {
    "hold the targets, weight compensated": (1, 1, 1, 0),
    "hold the targets, PD alone": (0, 1, 1, 0),
    "computed torque": (1, 1, 1, 1),
    "carry the weight, led by hand": (1, 0, 0.05, 0),
    "drives off": (0, 0, 0, 0),
}
"""Laws of the drives: parts of the weight, of the stiffness and of the damping; 1: by inverse dynamics."""
COMPUTED = "computed torque"
GRAVITY = 12.0  # [m/s^2] to both sides


@dataclass(frozen=True)
class PlayPage:
    """For ``pages/play.html.j2``."""

    mark: str
    title: str
    css: str
    viewer: str
    scene: str
    setup: str
    wasm: str
    meshes: str
    note: str
    laws: tuple[tuple[str, str], ...]
    targets: tuple[Slider, ...]
    parameters: tuple[Slider, ...]


def play(robot: Robot, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the page of a robot to ``path``; needs the compiler of ``ziglang``, the extra ``play``."""
    check_page(path)
    return write_page(path, play_page(robot), force=force)


def play_page(robot: Robot) -> str:
    """The text of the page."""
    check_zig(robot.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # said when the robot was loaded
        drawing = skeleton(with_sliders(robot))
        model = build_model(drawing.robot, outputs=["mass_matrix", "point_positions"])
        wasm = robot_wasm(drawing)
    start = home(drawing.robot, model)
    places = np.asarray(model.point_positions(_spread(start, drawing.robot)))
    kp, kd = gains(drawing.robot, model, start)
    targets = np.zeros(model.nv)
    for place, rate in drives(drawing.robot).items():
        targets[rate] = start[place]
    mass = sum(_mass(link, robot) for link in robot.links[1:])
    scene = drawing.scene(places)
    radius = float(np.ptp(places[:, drawing.drawn_nodes].reshape(-1, 3), axis=0).max()) / 2
    setup = {
        "nq": model.nq, "nv": model.nv, "nodes": len(drawing.robot.points), "parameters": len(model.parameters),
        "start": list(start), "targets": list(targets), "kp": list(kp), "kd": list(kd), "step": STEP,
        "pull": max(mass, 0.1) * 9.81 / max(radius, 1e-6), "bent": [int(row) for row in drawing.bent_nodes],
        "rows": _bent_rows(drawing), "carriers": drawing.carriers(), "laws": [list(law) for law in LAWS.values()],
    }  # fmt: skip
    page = PlayPage(
        MARK, f"{robot.name}: its C, running here", asset("page.css"), scripts((*VIEWER, "viewer/play.js")), scene,
        script_json(setup), base64.b64encode(wasm).decode("ascii"), drawing.meshes_json(), drawing.note,
        tuple((str(k), name) for k, name in enumerate(LAWS) if name != COMPUTED or computes(drawing.robot)),
        _targets(drawing.robot, start), _parameters(drawing.robot, max(mass, 0.1), max(radius, 1e-3)),
    )  # fmt: skip
    return fill("pages/play.html.j2", page)


def with_sliders(robot: Robot) -> Robot:
    """The robot with a live payload and, where links are flexible, a live factor of their stiffness."""
    robot = make_live(robot, ["payload.mass"])
    if any(link.flexible is not None for link in robot.links) and STIFFNESS.name not in robot.parameters:
        links = tuple(link if link.flexible is None else replace(link, flexible=_scaled(link.flexible)) for link in robot.links)
        robot = replace(robot, links=links, parameters={**robot.parameters, STIFFNESS.name: STIFFNESS})
    return robot


def robot_wasm(drawing: Skeleton) -> bytes:
    """The emitted C of a drawn robot, its integrators and the page's program, as one WebAssembly module."""
    computed, bent = computes(drawing.robot), _bent_rows(drawing)
    outputs = [*OUTPUTS, *(["inverse_dynamics"] if computed else []), *(["point_curvatures"] if bent else [])]
    rendered = render(drawing.robot, BuildOptions.checked(outputs=outputs))
    name, robot = rendered.name, drawing.robot
    place = {rate: k for k, rate in drives(robot).items()}
    places = ", ".join(str(place.get(rate, 0)) for rate in range(len(robot.velocities)))  # without a drive: any, with no gain
    tables = (
        f"#define ROBOT_PLAY_NODES {len(robot.points)}\n"
        f"#define ROBOT_PLAY_BANDWIDTH {BANDWIDTH!r} /* [rad/s] */\n"
        f"static const int robot_play_places[ROBOT_NV] = {{{places}}}; /* position beside each velocity */\n"
    )
    emission = Emission(
        name,
        features={"PLAY_BENT": bent, "PLAY_COMPUTES": int(computed)},
        generated={"robot_play_tables.h": tables},
    )
    program = {f"{name}_play.{kind}": emission.file(f"pages/robot_play.{kind}") for kind in ("h", "c")}
    return compile_wasm({**rendered.c_files, **rendered.simulation, **program}, name)


def computes(robot: Robot) -> bool:
    """Whether inverse dynamics can be the law of the drives: each velocity has one."""
    return not robot.loops and len(drives(robot)) == len(robot.velocities) == len(robot.coordinates)


def _bent_rows(drawing: Skeleton) -> int:
    return len(drawing.on_beams)


def gains(robot: Robot, model: Model, q: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gains of the drives (nv,), zero for what has none: elastic coordinates, and free bases.

    For the inertia that a drive sees, and no more than one step of the integrator bears: behind a flexible link the inertia
    that follows at once, 1 / (M^-1)_ii, is much smaller.
    """
    M = np.asarray(model.mass_matrix(q), dtype=float)
    seen, at_once = np.diag(M), 1.0 / np.diag(np.linalg.inv(M))
    kd = np.minimum(2.0 * BANDWIDTH * seen, 0.25 * at_once / STEP)
    driven = np.zeros(model.nv)
    driven[list(drives(robot).values())] = 1.0
    return driven * kd * BANDWIDTH / 2.0, driven * kd


def _scaled(body: FlexibleBody) -> FlexibleBody:
    s = STIFFNESS.symbol
    telescope = body.telescope
    return replace(
        body,
        stiffness=tuple(tuple(entry * s for entry in row) for row in body.stiffness),
        telescope=None if telescope is None else replace(telescope, EI=telescope.EI * s),
    )


def _mass(link: Link, robot: Robot) -> float:
    return float(nominal(link.whole_mass, robot.parameters))


def _spread(start: NDArray[np.float64], robot: Robot) -> NDArray[np.float64]:
    """The start and some states around it, for the size of the picture."""
    rng = np.random.default_rng(1)
    states = np.repeat(start[None, :], 60, axis=0)
    for k in drives(robot):
        if robot.coordinates[k].unit == "rad":
            states[1:, k] += rng.uniform(-np.pi, np.pi, 59)
    return states


def _targets(robot: Robot, start: NDArray[np.float64]) -> tuple[Slider, ...]:
    coordinates, rates = robot.coordinates, drives(robot)
    return tuple(
        Slider(rates[k], coordinates[k].name, low, high, float(start[k]), coordinates[k].unit)
        for k, low, high in joint_ranges(robot, start)
    )


def _parameters(robot: Robot, mass: float, reach: float) -> tuple[Slider, ...]:
    """Sliders of the live parameters, the stiffness and the payload first; ``mass`` and ``reach`` are those of the robot."""
    found = []
    for k, parameter in enumerate(robot.live_parameters):
        if parameter.name == TIME:  # the page's own clock
            continue
        low, high = parameter_range(parameter, mass, reach)
        if low < high:
            found.append(Slider(k, parameter.name, low, high, parameter.value, parameter.unit, parameter.doc))
    first = (STIFFNESS.name, "payload_mass")
    return tuple(sorted(found, key=lambda slider: first.index(slider.label) if slider.label in first else len(first)))


def parameter_range(parameter: Parameter, mass: float, reach: float) -> tuple[float, float]:
    """Within which a slider moves a parameter of a robot of that mass [kg] and reach [m]; equal ends: it has no slider.

    Masses and moments of inertia stay positive, centres of mass near their place; a product of inertia goes no farther than
    its own value, as more would make a tensor that no body has.
    """
    v, name, unit = parameter.value, parameter.name, parameter.unit
    if name.startswith("gravity"):
        return -GRAVITY, GRAVITY
    if name.endswith(("_inertia_xy", "_inertia_xz", "_inertia_yz")):
        return min(v, 0.0), max(v, 0.0)
    if name.endswith(("_inertia_xx", "_inertia_yy", "_inertia_zz")):
        return v, 3.0 * v if v > 0 else 0.02 * mass * reach**2
    if "_com_" in name:
        return v - 0.25 * reach, v + 0.25 * reach
    if v != 0:
        return min(0.2 * v, 3.0 * v), max(0.2 * v, 3.0 * v)
    if unit == "":
        return -1.0, 1.0
    whole = {"kg": 0.5 * mass, "m": 0.25 * reach, "kg m^2": 0.02 * mass * reach**2}
    return 0.0, whole.get(unit, 0.1 * mass * 9.81 * (1.0 if unit.startswith("N") and "m" not in unit.split("/")[0] else reach))
