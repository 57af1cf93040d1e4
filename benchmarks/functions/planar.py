"""Speed of planar robots with finite elements: python -m benchmarks.functions.planar."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import elastogen
from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import derive_model

BATCH, ROUNDS = 1000, 30
FUNCTIONS = {"mass_matrix": 1, "forward_dynamics": 3}  # number of inputs


def two_links(joint: str, elements: int) -> dict[str, Any]:
    """Two links with so many elements on each, the second on a revolute or a sliding joint."""
    link = {"joint": "R", "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "elements": elements}
    second = link if joint == "R" else {**link, "joint": joint, "gamma": 0.3}
    planar = {"links": [link, second], "payload": {"mass": 0.1}, "gravity": [0, -9.81]}
    return {"elastogen": 1, "name": f"r{joint.lower()}_{elements}", "planar": planar}


def microseconds(model: Any, function: str, inputs: int) -> float:
    """Best time of one evaluation in a C loop."""
    states = 0.01 * np.random.default_rng(0).normal(size=(inputs, BATCH, model.nq))
    states[0, :, [0, *(joint.coordinate for joint in model.metadata.sliding)]] = 0.4
    best = np.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        getattr(model, function)(*states)
        best = min(best, (time.perf_counter() - start) / BATCH)
    return 1e6 * float(best)


def telescopic(**more: Any) -> dict[str, Any]:
    """A smooth telescopic link on a turning rod."""
    rod = {"joint": "R", "rigid": True, "length": 0.2, "mass": 0.4, "inertia": 0.002}
    link = {"joint": "Pb", "gamma": 0, "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "elements": 5, **more}
    return {"elastogen": 1, "name": "telescopic", "planar": {"links": [rod, link]}}


def operations() -> None:
    """Print the operations of inverse dynamics of telescopic links: elements and modes, without and with foreshortening."""
    for title, more in [("5 elements", {}), *((f"{m} modes", {"elements": 10, "reduce_to": m}) for m in (2, 3, 4, 6))]:
        counts = []
        for foreshortening in (False, True):
            robot = elastogen.load(telescopic(**more, foreshortening=foreshortening))
            counts.append(derive_model(robot, ["inverse_dynamics"]).functions[0].program.count.total)
        print(f"telescopic, {title:10}  inverse_dynamics {counts[0]} operations, with foreshortening {counts[1]}")


def main() -> None:
    """Print one line per robot."""
    chains = [two_links(joint, elements) for joint in ("R", "Pa") for elements in (5, 10, 20)]
    for source in (*chains, "par_table3", "rpb_table3"):
        robot = elastogen.load(source)
        start = time.process_time()
        rendered = render_model(derive_model(robot), EmitOptions())
        seconds = time.process_time() - start
        model = elastogen.build_model(robot, outputs=tuple(FUNCTIONS))
        times = "  ".join(f"{name} {microseconds(model, name, n):.2f} us" for name, n in FUNCTIONS.items())
        size = len(rendered.source) >> 10
        print(f"{robot.name:12} nq {model.nq:3}  {times}  derive and render {seconds:.1f} s, {size} KiB of C")
    operations()


if __name__ == "__main__":
    main()
