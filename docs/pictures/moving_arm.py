"""The moving picture of the README (make pictures): the same motor torques move a rigid arm and a flexible one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import elastogen
from elastogen.build.pages.animation import drawn_model
from elastogen.build.pages.skeleton import Skeleton, skeleton

MOVE, SECONDS, FRAMES, SHOWN = 0.7, 1.5, 60, 4.0  # times of the move and of the film [s], pictures, time to show it [s]
START = np.array([-0.95, 0.55])  # [rad]
ARM = {
    "elastogen": 1, "name": "soft_arm", "gravity": [0, 0, 0],
    "links": [{"name": "base"}, *(
        {"name": name, "flexible": {"type": "modes", "length": 0.5, "mass_per_length": 0.5, "EI": 8.0, "foreshortening": True,
                                    "modes": [{"direction": "y", "eigenfunction": k} for k in (1, 2)], "tip": {"mass": 0.2}}}
        for name in ("upper", "lower"))],
    "joints": [
        {"name": "shoulder", "type": "revolute", "child": "upper"}, {"name": "elbow", "type": "revolute", "child": "lower"},
    ],
}  # fmt: skip


def torques(times: np.ndarray) -> np.ndarray:
    """What moves the rigid arm from rest to rest in MOVE seconds, (times, 2) [N m]."""
    model = elastogen.build_model(elastogen.rigid_robot(elastogen.load(ARM)))
    s, goal = np.clip(times / MOVE, 0, 1)[:, None], np.array([1.9, -1.1])
    q, qd, qdd = goal * s**3 * (10 - 15 * s + 6 * s**2), goal * 30 * s**2 * (1 - s) ** 2, goal * 60 * s * (1 - s) * (1 - 2 * s)
    return np.asarray(model.inverse_dynamics(START + q, qd / MOVE, qdd / MOVE**2))


def motion(robot: elastogen.Robot) -> tuple[Skeleton, np.ndarray]:
    """The lines that draw a robot, and the places of their nodes at every frame, (frames, nodes, 3) [m]."""
    model = elastogen.build_model(robot)
    joints = [model.coordinate_names.index(name) for name in ("shoulder", "elbow")]
    times = np.linspace(0.0, SECONDS, 2001)
    start, forces = np.zeros(model.nq), np.zeros((len(times), model.nq))
    start[joints], forces[:, joints] = START, torques(times)
    moved = model.simulate(start, t=np.linspace(0.0, SECONDS, FRAMES), F=elastogen.Table(times, forces), stops="ignore")
    drawing = skeleton(robot)
    return drawing, np.asarray(drawn_model(drawing).point_positions(moved.q))


def main(target: Path) -> None:
    """Simulate both arms, and draw them in one film that repeats."""
    robot = elastogen.load(ARM)
    arms = [(*motion(elastogen.rigid_robot(robot)), "#adb5bd", "rigid"), (*motion(robot), "#1971c2", "flexible")]
    figure = Figure(figsize=(5.2, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()

    def draw(frame: int) -> None:
        axes.clear()
        for drawing, nodes, color, name in arms:
            trace = nodes[: frame + 1, drawing.tip]
            axes.plot(trace[:, 0], trace[:, 1], color=color, lw=1.0, alpha=0.6)
            for k, line in enumerate(drawing.lines):
                x, y, _ = nodes[frame][list(line.nodes)].T
                axes.plot(x, y, color=color, lw=3.5, solid_capstyle="round", label=name if k == 0 else None)
        axes.set(xlim=(-0.35, 1.25), ylim=(-0.8, 0.85), aspect="equal", xlabel="x [m]", ylabel="y [m]")
        axes.set_title(f"the same torques, a rigid and a flexible arm: {frame * SECONDS / (FRAMES - 1):.2f} s")
        axes.grid(color="#e9ecef")
        axes.legend(loc="upper left", frameon=False)

    film = FuncAnimation(figure, draw, frames=FRAMES)
    film.save(target, writer=PillowWriter(fps=FRAMES / SHOWN), dpi=85)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".gif"))
