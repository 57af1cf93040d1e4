"""Eight dense modes of a link, in loops over tables and in straight lines: ``python -m benchmarks.functions.dense_modes``.

Prints bytes of C, time of a build from nothing, and the CPU time of a call in a batch, of both.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import elastogen
from elastogen.generator.functions import derivation
from elastogen.generator.functions.composed import composition

MODES, POINTS, STATES, ROUNDS = 8, 40, 4000, 15
TIMED = {
    "mass_matrix": 1, "coriolis_matrix": 2, "coriolis_vector": 2, "gravity_vector": 1, "jacobian": 1, "inertia_forces": 3,
    "inverse_dynamics": 3, "forward_dynamics": 3, "kinetic_energy": 2,
}  # fmt: skip  # with their numbers of arguments


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


def main() -> None:
    """Measure and print."""
    robot = elastogen.load(description())
    models, rows = {}, []
    for kind in ("tables", "straight"):
        chosen = derivation.dense_modes if kind == "tables" else lambda robot: 0
        with (
            tempfile.TemporaryDirectory() as place,
            mock.patch.dict(os.environ, {"ELASTOGEN_CACHE_DIR": place}),
            mock.patch.object(derivation, "dense_modes", chosen),
            mock.patch.object(composition, "dense_modes", chosen),
        ):
            elastogen.generate(robot, Path(place) / "c")
            size = len((Path(place) / "c" / "dense.c").read_bytes())
            start, before = time.perf_counter(), os.times()
            models[kind] = elastogen.build_model(robot)
            after = os.times()
            own, compilers = after.user - before.user, after.children_user - before.children_user
            seconds = f"{time.perf_counter() - start:.1f} s; CPU {own:.1f} s, compilers {compilers:.1f} s"
            rows.append(f"{kind}: {size} bytes of C, built in {seconds}")
    print("\n".join(rows))
    rng = np.random.default_rng(1)
    for name, count in TIMED.items():
        arguments = [0.1 * rng.normal(size=(STATES, MODES + 2)) for _ in range(count)]
        best = dict.fromkeys(models, np.inf)
        for _ in range(ROUNDS):
            for kind, model in models.items():
                start = time.process_time()
                getattr(model, name)(*arguments)
                best[kind] = min(best[kind], (time.process_time() - start) / STATES * 1e9)
        ratio = best["tables"] / best["straight"]
        print(f"{name}: {best['tables']:.0f} ns, straight {best['straight']:.0f} ns, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
