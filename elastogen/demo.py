"""``make demo``: from the description of a PUMA 560 to timed C; then a moving flexible arm with a picture and a report."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import elastogen
from elastogen.command_line import main as command_line
from elastogen.commands.code.build import print_model

RIGID, FLEXIBLE = "puma560", "flexible_two_link"


def main(folder: Path = Path("out")) -> int:
    """Run both parts; ``folder`` receives pictures and pages."""
    try:
        show_rigid()
    except elastogen.ElastogenError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    return show_flexible(folder)


def show_rigid() -> None:
    """Build a built-in robot, evaluate and time it, and print where the C files are."""
    start = time.perf_counter()
    model = elastogen.build_model(RIGID)
    print(f"built in {time.perf_counter() - start:.1f} s (a second time it comes from the cache)\n")
    print_model(model, seconds=0.05)
    q = np.array([0.1, -0.6, 0.4, 0.2, 0.5, -0.3])
    qd, qdd = np.full(model.nq, 0.5), np.full(model.nq, 1.0)
    forces = model.inverse_dynamics(q, qd, qdd)
    back = model.forward_dynamics(q, qd, forces)
    with np.printoptions(precision=4, suppress=True):
        print(f"\nq                  {q}")
        print(f"inverse dynamics F {forces}")
    print(f"forward dynamics of F gives qdd again to {abs(back - qdd).max():.0e}\n")


def show_flexible(folder: Path) -> int:
    """Simulate a flexible arm and the rigid one; draw the motion and write a report if the libraries are installed."""
    folder.mkdir(parents=True, exist_ok=True)
    plot = ["--plot", str(folder / f"{FLEXIBLE}.png")] if find_spec("matplotlib") else ["--no-plot"]
    code = command_line(["simulate", FLEXIBLE, *plot])
    if code == 0:
        code = command_line(["report", FLEXIBLE, str(folder / f"{FLEXIBLE}_report.html")])
    return code


if __name__ == "__main__":
    sys.exit(main())
