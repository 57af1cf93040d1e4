"""A Panda with link 3 from its own collision mesh, from the URDF to simulated C: ``python -m benchmarks.tool.panda_mesh``.

Prints what was meshed and the seconds of each step, by the clock and of CPU, with a cache that is empty at first. Needs the
extras ``mesh`` and ``test`` (example-robot-data).
"""

from __future__ import annotations

import os
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np

import elastogen

FILE = """elastogen: 1
name: panda_flex
base_description: {urdf}
links:
  - {{name: panda_link3, flexible: {{type: mesh, file: collision, material: aluminium, mass: link, modes: 8,
                                    damping: {{ratio: 0.02}}}}}}
"""


def main() -> None:
    """Measure and print."""
    data = metadata.distribution("example-robot-data")
    urdf = data.locate_file("cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf")
    with tempfile.TemporaryDirectory() as place:
        os.environ["ELASTOGEN_CACHE_DIR"] = place
        path = Path(place) / "panda_flex.yaml"
        path.write_text(FILE.format(urdf=urdf), encoding="utf-8")
        clock, cpu = time.perf_counter(), sum(os.times()[:4])

        def said(what: str) -> None:
            nonlocal clock, cpu
            now, spent = time.perf_counter(), sum(os.times()[:4])
            print(f"{what}: {now - clock:.1f} s, CPU {spent - cpu:.1f} s")
            clock, cpu = now, spent

        robot = elastogen.load(str(path))
        solid = robot.link("panda_link3").flexible
        assert solid is not None
        assert solid.solid is not None
        report = solid.solid.report
        said(f"loaded, {report['elements']} elements, frequencies {report['settling']}")
        model = elastogen.build_model(robot)
        said(f"built, {model.nq} coordinates")
        start = np.zeros(model.nq)
        start[model.coordinate_names.index("panda_joint4")] = -1.5  # within its limits
        run = model.simulate(start, t=0.1, energy=False, stops="ignore")
        said(f"simulated, {int(run.steps)} steps to 0.1 s")
        worst = np.max(np.abs(np.array(report["frequencies"]) / np.array(report["full"]) - 1))
        print(f"frequencies of 8 coordinates against all elements: {worst:.1e}")


if __name__ == "__main__":
    main()
