"""The real-time loop of every built-in robot, to the last bit: ``python -m benchmarks.tool.loop_bits FILE [--against FILE]``.

Each loop runs with every emitted controller, both integrators of the simulated robot, three kinds of references, a shaper, a
change of the controller, a failing sensor and each kind of stop; FILE gets a checksum over all records of every run. Run it
before and after a change of the loop's C that must not change results: with ``--against`` it ends with 1 where one differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elastogen
from elastogen.generator.description.files import builtin_names
from elastogen.runtime.loop.controllers import BY_NAME
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.motion.shaping import Shaper

CYCLES = 40  # of each part of a run
STOPS = (("damped", "rk4"), ("ramp", "semi_implicit"), ("hold", "rk4"), ("off", "semi_implicit"))
FIELDS = ("cycle", "tick", "status", "saturated", "reference", "phase", "bridged", "blind", "q", "qd", "q_ref", "qd_ref", "F")


def checksum(records: NDArray[Any]) -> str:
    """Over what a cycle computes; times of a clock are not part of it."""
    digest = hashlib.sha256()
    for name in FIELDS:
        values = np.where(np.isnan(records[name]), np.nan, records[name])  # which of two NaN goes on is the compiler's choice
        digest.update(np.ascontiguousarray(values).tobytes())
    return f"{len(records)} {digest.hexdigest()[:16]}"


def runs(library: LoopLibrary) -> Iterator[tuple[str, str]]:
    """Name and checksum of every run."""
    for number, name in enumerate(library.controllers):
        for stop, method in STOPS:
            yield f"{name} {stop} {method}", checksum(_run(library, name, stop, method, np.random.default_rng(number)))


def _run(library: LoopLibrary, name: str, stop: str, method: str, rng: np.random.Generator) -> NDArray[Any]:
    model = library.model
    elastic = np.isin(np.arange(model.nv), model.elastic)
    way = rng.uniform(0.02, 0.1, model.nv) * np.where(elastic, 0.001, 1.0)
    start, goal = (_moved(library, scale * way) for scale in (1.0, 2.0))
    gains: dict[str, Any] = {"kp": 4.0, "kd": 1.0}
    other = BY_NAME["computed_torque" if name == "pd_gravity" else "pd_gravity"](kp=2.0, kd=0.3)
    if name == "state_feedback":
        gains = {"K": 0.5 * rng.standard_normal((model.nv, 2 * model.nv)), "feedforward": True}
    if name == "scheduled_feedback":
        first = model.coordinate_names[model.driven_coordinates[0]]
        K = 0.5 * rng.standard_normal((2, len(model.driven), 2 * model.nv))
        gains = {"K": K, "coordinates": [first], "knots": [[-1.0, 1.0]], "feedforward": True}
    plant = Simulated(start, way, method=method, substeps=3)
    loop = Loop(
        library,
        controllers=[BY_NAME[name](**gains), other],
        plant=plant,
        limits=Limits(force=np.inf, velocity=np.inf, position=(-np.inf, np.inf), jump=np.inf, bridge=2, force_rate=5e3),
        safe=SafeCommand(stop, seconds=0.03, fade=0.005, predict=stop == "hold"),
        shaper=Shaper([0.0, 0.004], [0.6, 0.4]),
    )  # fmt: skip
    loop.step(5)
    loop.set_reference(goal, 0.1, F=0.01, seconds=0.01)
    loop.step(CYCLES)
    loop.move_to(start, 0.02)
    loop.step(CYCLES // 2)
    loop.use(loop.controllers[1], seconds=0.004)
    rows = np.linspace(0.0, 1.0, 20)[:, None]
    loop.follow(np.array([_moved(library, (1.0 + row) * way) for row in rows]), rows * way, 0.1 * rows * way)
    loop.step(CYCLES)
    plant.qd[0] = np.nan
    loop.step(3 * CYCLES)
    return loop.read()


def _moved(library: LoopLibrary, way: NDArray[Any]) -> NDArray[Any]:
    """A configuration off the neutral one."""
    model = library.model
    neutral = np.array(model.neutral(), dtype=float)
    neutral[[joint.coordinate for joint in model.metadata.sliding]] = 0.4  # inside their beams [m]
    return np.asarray(model.integrate(neutral, way)) if model.nq != model.nv else neutral + way


def measure(optimization: str, *, linked: bool) -> dict[str, str]:
    """Robot, precision and run -> checksum; robots that loops refuse are left out."""
    found: dict[str, str] = {}
    for name in builtin_names():
        for precision in ("double", "float"):
            label = f"{name} {precision}"
            try:
                if linked:
                    elastogen.build_model(name, precision=precision, cflags=optimization)
                library = elastogen.build_loop(name, precision=precision, cflags=optimization)
            except elastogen.OutputError as refusal:
                print(f"{label}: {refusal}", file=sys.stderr)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found |= {f"{label}, {run}": value for run, value in runs(library)}
            print(f"{label}: {len(found)} runs", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """0, or 1 where a run differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tool.loop_bits", description=__doc__)
    parser.add_argument("file", type=Path, help="where the checksums are written")
    parser.add_argument("--against", type=Path, help="checksums of another time")
    parser.add_argument("--optimization", default="-O1 -ffp-contract=off", help="flags of the compiler")
    parser.add_argument("--linked", action="store_true", help="build models first, which the loops are linked with")
    options = parser.parse_args()
    found = measure(options.optimization, linked=options.linked)
    options.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.against is None:
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    differ = [run for run in sorted({*found, *before}) if found.get(run) != before.get(run)]
    print(f"{len(found)} runs, {len(differ)} differ", *differ, sep="\n")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
