"""The picture of the README (make pictures): a flexible arm falls from rest, drawn as `elastogen animate` draws it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import elastogen
from elastogen.build.pages.animation import drawn_model
from elastogen.build.pages.skeleton import skeleton

SECONDS, PICTURES = 0.8, 9
ARM = {
    "elastogen": 1, "name": "soft_arm", "gravity": [0, -9.81, 0],
    "links": [{"name": "base"}, *(
        {"name": name, "flexible": {"type": "modes", "length": 0.5, "mass_per_length": 0.5, "EI": 0.16, "foreshortening": True,
                                    "modes": [{"direction": "y", "eigenfunction": k} for k in (1, 2)], "tip": {"mass": 0.2}}}
        for name in ("upper", "lower"))],
    "joints": [
        {"name": "shoulder", "type": "revolute", "child": "upper"}, {"name": "elbow", "type": "revolute", "child": "lower"},
    ],
}  # fmt: skip


def main(target: Path) -> None:
    """Simulate, and draw the arm at equal distances in time, early ones pale."""
    robot = elastogen.load(ARM)
    model = elastogen.build_model(robot)
    start = np.zeros(model.nq)
    start[model.coordinate_names.index("elbow")] = 0.6
    motion = model.simulate(start, t=np.linspace(0.0, SECONDS, PICTURES), stops="ignore")
    drawing = skeleton(robot)
    nodes = np.asarray(drawn_model(drawing).point_positions(motion.q))
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for k, places in enumerate(nodes):
        shade = 0.12 + 0.88 * k / (PICTURES - 1)
        for line in drawing.lines:
            x, y, _ = places[list(line.nodes)].T
            axes.plot(x, y, color="#1971c2" if line.kind == "beam" else "#3b4a5a", alpha=shade, lw=2.5, solid_capstyle="round")
    trace = nodes[:, drawing.tip]
    axes.plot(trace[:, 0], trace[:, 1], "o", color="#d9480f", ms=3.5)
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_title(f"two flexible links fall from rest, {SECONDS:g} s")
    axes.grid(color="#e9ecef")
    figure.savefig(target, dpi=110, metadata={"Software": "elastogen"})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
