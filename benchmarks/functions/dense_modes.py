"""Eight dense modes of a link, in loops over tables and in straight lines: ``python -m benchmarks.functions.dense_modes``.

Prints bytes of C, time of a build from nothing, and the CPU time of a call in C, of both.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import elastogen
from elastogen.generator.bodies.shaped_body import dense_modes
from elastogen.generator.functions import derivation
from elastogen.generator.functions.composed import composition
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.functions.kernel import Batch
from elastogen.runtime.model.model import Model

MODES, POINTS, STATES, ROUNDS = 8, 40, 64, 2000
KINDS = ("tables", "straight")
TIMED = (
    "mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "jacobian", "inertia_forces", "inverse_dynamics",
    "forward_dynamics", "kinetic_energy",
)  # fmt: skip
ALONE = "forward_dynamics"


def description() -> dict[str, Any]:
    """Two joints, a link by lumped masses whose modes know no symmetry, and a rigid one."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(MODES, MODES))
    modes = [
        {"name": f"m{j + 1}", "tip_displacement": rng.normal(size=3).tolist(), "tip_rotation": rng.normal(size=3).tolist()}
        for j in range(MODES)
    ]
    nodes = [
        {
            "mass": float(rng.uniform(0.5, 1.5) * 3 / POINTS),
            "position": (rng.uniform(-1, 1, size=3) * [0.3, 0.05, 0.05] + [0.3, 0, 0]).tolist(),
            "displacements": rng.normal(size=(MODES, 3)).tolist(),
        }
        for _ in range(POINTS)
    ]
    body = {"type": "lumped_masses", "modes": modes, "nodes": nodes, "tip_frame": {"xyz": [0.6, 0, 0]}}
    body["stiffness"] = ((factor @ factor.T + MODES * np.eye(MODES)) * 1e3).round(6).tolist()
    fore = {"name": "fore", "mass": 1.0, "com": [0.1, 0.02, 0.03], "inertia": [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]}
    joints = [{"name": "hub", "type": "revolute"}, {"name": "elbow", "type": "revolute", "axis": [0, 1, 0]}]
    links = [{"name": "base"}, {"name": "upper", "flexible": body}, fore]
    return {"elastogen": 1, "name": "dense", "links": links, "joints": joints}


@contextmanager
def _as(kind: str) -> Iterator[Path]:
    """Functions as tables or in straight lines, and an empty cache."""
    chosen = dense_modes if kind == "tables" else lambda robot: 0
    with (
        tempfile.TemporaryDirectory() as place,
        mock.patch.dict(os.environ, {"ELASTOGEN_CACHE_DIR": place}),
        mock.patch.object(derivation, "dense_modes", chosen),
        mock.patch.object(composition, "dense_modes", chosen),
    ):
        yield Path(place)


def _built(robot: Robot, kind: str, outputs: Sequence[str] | None = None) -> Model:
    with _as(kind):
        return elastogen.build_model(robot, outputs=outputs)


def main() -> None:
    """Measure and print."""
    robot = elastogen.load(description())
    models = {}
    for kind in KINDS:
        with _as(kind) as place:
            elastogen.generate(robot, place / "c")
            size = len((place / "c" / "dense.c").read_bytes())
        start, before = time.perf_counter(), os.times()
        models[kind] = _built(robot, kind)
        after = os.times()
        own, compilers = after.user - before.user, after.children_user - before.children_user
        seconds = f"{time.perf_counter() - start:.1f} s; CPU {own:.1f} s, compilers {compilers:.1f} s"
        print(f"{kind}: {size} bytes of C, built in {seconds}")
    for name in TIMED:
        _compare(name, name, models)
    alone = {kind: _built(robot, kind, [ALONE]) for kind in KINDS}
    _compare(ALONE, f"{ALONE} alone", alone)


def _compare(name: str, shown: str, models: dict[str, Model]) -> None:
    """The two in turn, so that what else the machine does meets both; the ratio is the median."""
    loops = {kind: _Loop(model, name) for kind, model in models.items()}
    times = {kind: np.empty(ROUNDS) for kind in models}
    for k in range(ROUNDS):
        for kind, loop in loops.items():
            start = time.process_time_ns()
            loop()
            times[kind][k] = (time.process_time_ns() - start) / STATES
    ratio = np.median(times["tables"] / times["straight"])
    best = {kind: values.min() for kind, values in times.items()}
    print(f"{shown}: {best['tables']:.0f} ns, straight {best['straight']:.0f} ns, ratio {ratio:.2f}")


class _Loop:
    """Calls of a function for random states, in C."""

    def __init__(self, model: Model, name: str) -> None:
        kernel, rng = model.kernel(name), np.random.default_rng(1)
        self.states = [0.1 * rng.normal(size=(STATES, *argument.shape)) for argument in kernel.info.inputs]
        self.states[0][:, 1 : 1 + MODES] *= 0.01
        self.results = [np.empty((STATES, *argument.shape)) for argument in kernel.info.outputs]
        strides = [0, *(argument.size for argument in kernel.info.inputs)]
        self.job = Batch([model.parameters.snapshot, *self.states], strides, self.results)
        self.call = kernel.loop(self.job, 0, STATES)

    def __call__(self) -> None:
        self.call()


if __name__ == "__main__":
    main()
