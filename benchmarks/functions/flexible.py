"""Robots with flexible links: times of the emitted functions, growth with the number of links, and Exudyn beside them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import elastogen
from benchmarks.race.kernels import FUNCTIONS, Race
from benchmarks.race.ours import our_kernels, rendered
from benchmarks.race.tables import nanoseconds, table, verdict
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

TARGETS = {  # [s]
    ("two links, 5 modes each", "inverse_dynamics"): 0.5e-6,
    ("two links, 5 modes each", "forward_dynamics"): 1.5e-6,
    ("6 joints, 2 flexible links", "forward_dynamics"): 4e-6,
}
DERIVE_TARGET = 10.0  # [s], 6 joints with two flexible links


def beam(directions: str, count: int) -> dict[str, Any]:
    """A flexible link of 0.5 m with polynomial modes (x/L)^2, (x/L)^3, ... in each direction."""
    modes = [{"direction": d, "shape": f"(x/L)**{k + 2}"} for d in directions for k in range(count)]
    return {"type": "modes", "length": 0.5, "mass_per_length": 0.2, "EI_y": 1.0, "EI_z": 1.0, "modes": modes}


def planar_arm(links: int, modes: int) -> Robot:
    """Flexible links on revolute joints with parallel axes, in a vertical plane."""
    return elastogen.load({
        "elastogen": 1,
        "name": "planar",
        "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}] + [
            {"name": f"link{k}", "flexible": {**beam("y", modes), "tip": {"mass": 0.1}}} for k in range(links)
        ],
        "joints": [{"name": f"j{k}", "type": "revolute", "child": f"link{k}", "axis": [0, 0, 1]} for k in range(links)],
    })  # fmt: skip


def six_joints() -> Robot:
    """An arm with a spherical wrist whose two long links bend in two planes, two modes each."""
    body = {"mass": 1.0, "com": [0.02, 0.01, 0.05], "inertia": [0.01, 0.02, 0.015]}
    axes = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    links: list[dict[str, Any]] = [{"name": "base"}]
    for k in range(6):
        links.append({"name": f"link{k}", **body})
        if k in (1, 2):
            links[-1]["flexible"] = beam("yz", 2)
    joints = [{"name": f"j{k}", "type": "revolute", "child": f"link{k}", "axis": axis} for k, axis in enumerate(axes)]
    return elastogen.load({"elastogen": 1, "name": "six", "links": links, "joints": joints})


def measure(name: str, robot: Robot, work: Path, rounds: int) -> tuple[list[list[str]], float]:
    """Rows of the table for one robot, and the time to derive and render it [s]."""
    start = time.process_time()
    text = rendered(derive_model(robot, tuple(FUNCTIONS)))
    seconds = time.process_time() - start
    size = len(robot.coordinates)
    rows = []
    for function, kernel in our_kernels(text, size, work, name).items():
        race = Race(function, size, work)
        elastic = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.elastic]
        for array in race.inputs[:2]:
            array[:, elastic] *= 0.02
        race.add(kernel)
        race.run(rounds)
        target = TARGETS.get((name, function))
        reached = "" if target is None else verdict(kernel.times.shortest <= target)
        wanted = "" if target is None else f"{target * 1e9:.0f}"
        rows.append([name, str(size), function, nanoseconds(kernel.times), wanted, reached])
    return rows, seconds


def exudyn_right_hand_side() -> float | None:
    """Time of Exudyn's right-hand side for two links of five cable elements each [s], or None without Exudyn."""
    try:
        import exudyn
        from exudyn import beams, utilities
    except ImportError:
        return None
    container = exudyn.SystemContainer()
    mbs = container.AddSystem()
    template = utilities.Cable2D(physicsMassPerLength=0.2, physicsBendingStiffness=1.0, physicsAxialStiffness=1e5)
    ends = []
    for k in range(2):
        nodes = beams.GenerateStraightLineANCFCable2D(
            mbs, positionOfNode0=[0.5 * k, 0, 0], positionOfNode1=[0.5 * (k + 1), 0, 0], numberOfElements=5,
            cableTemplate=template, massProportionalLoad=[0, -9.81, 0],
        )[0]  # fmt: skip
        ends.append([mbs.AddMarker(utilities.MarkerNodePosition(nodeNumber=node)) for node in (nodes[0], nodes[-1])])
    ground = mbs.AddMarker(utilities.MarkerNodePosition(nodeNumber=mbs.AddNode(utilities.NodePointGround())))
    mbs.AddObject(utilities.RevoluteJoint2D(markerNumbers=[ground, ends[0][0]]))
    mbs.AddObject(utilities.RevoluteJoint2D(markerNumbers=[ends[0][1], ends[1][0]]))
    mbs.Assemble()
    solver, settings = exudyn.MainSolverImplicitSecondOrder(), exudyn.SimulationSettings()
    solver.InitializeSolver(mbs, settings)
    best = float("inf")
    for _ in range(30):
        start = time.process_time()
        for _ in range(300):
            solver.ComputeODE2RHS(mbs)
        best = min(best, (time.process_time() - start) / 300)
    solver.FinalizeSolver(mbs, settings)
    return best


def growth() -> list[list[str]]:
    """Operations of inverse and forward dynamics against the number of flexible links of three modes."""
    functions = ("forward_dynamics", "inverse_dynamics")
    rows, before = [], [0, 0]
    for links in (4, 8, 12, 16):
        found = {f.name: f.program.count.total for f in derive_model(planar_arm(links, 3), functions).functions}
        counts = [found["inverse_dynamics"], found["forward_dynamics"]]
        more = [str(count - last) if last else "" for count, last in zip(counts, before, strict=True)]
        rows.append([str(links), str(counts[0]), more[0], str(counts[1]), more[1]])
        before = counts
    return rows


def report(work: Path, rounds: int) -> list[str]:
    """The section in Markdown."""
    rows, peer = [], exudyn_right_hand_side()
    planar, _ = measure("two links, 5 modes each", planar_arm(2, 5), work, rounds)
    six, seconds = measure("6 joints, 2 flexible links", six_joints(), work, rounds)
    rows = [*planar, *six]
    lines = ["## Flexible links", "", "Shortest (median) CPU time in ns:", ""]
    lines += table(["robot", "coordinates", "function", "ns", "target", "reached"], rows)
    forward = next(float(row[3].split()[0]) * 1e-9 for row in planar if row[2] == "forward_dynamics")
    if peer is None:
        lines += ["", "Exudyn: not installed."]
    else:
        lines += [
            "",
            f"Exudyn's right-hand side for two links of five cable elements each: {peer * 1e9:.0f} ns per call from Python, "
            f"{peer / forward:.1f} times the forward dynamics above (a comparable model, not the same one).",
        ]
    reached = verdict(seconds < DERIVE_TARGET)
    lines += [
        "",
        f"6 joints, derive and render the four functions: {seconds:.1f} s (target {DERIVE_TARGET:.0f} s: {reached}).",
        "",
        "Operations, three modes per link:",
        "",
    ]
    header = ["links", "inverse dynamics", "more than before", "forward dynamics", "more than before"]
    return [*lines, *table(header, growth()), ""]


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "results" / "work"
    folder.mkdir(parents=True, exist_ok=True)
    np.set_printoptions(precision=4)
    print("\n".join(report(folder, 200)))
