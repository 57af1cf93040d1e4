"""Pictures of a robot in motion, drawn by software: time, CPU time, meshes and triangles of one, simple and whole.

Run: python -m benchmarks.tool.pictures [ROBOT.urdf]     (Talos of example-robot-data by default; needs Chromium)

The page of ``elastogen view`` is opened in a headless Chromium that draws without a graphics card, and every joint moves. CPU
time is that of all processes of the browser, its own work for the page included; the last column is the same without a picture.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

import elastogen
from elastogen.build.pages.view import view_page

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
from browser import Browser

PICTURES = 60
TALOS = "cmeel.prefix/share/example-robot-data/robots/talos_data/robots/talos_full_v2.urdf"
MOVE = "poser.q = poser.start.map((x, i) => x + 0.3 * Math.sin(0.1 * k + i));"
RUN = """(async () => {
  const { poser } = window, { viewer } = poser, { studio } = viewer, times = [];
  viewer.still = %s;
  [studio.quick, studio.part, studio.patience] = [true, 0.5, Infinity];
  for (let k = 0; k < %d; k++) {
    const began = performance.now();
    %s
    viewer.context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - began);
    await new Promise((done) => requestAnimationFrame(done));
  }
  const { calls, triangles } = (viewer.still ? studio.renderer : studio.plain || studio.renderer).info.render;
  return { time: times.sort((a, b) => a - b)[times.length >> 1], calls, triangles };
})()"""


def cpu(pid: int) -> float:
    """CPU seconds of a process and of all that it started."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(cpu(int(child)) for child in children)


def main() -> None:
    """Print a table: in motion, and whole."""
    urdf = sys.argv[1] if len(sys.argv) > 1 else str(distribution("example-robot-data").locate_file(TALOS))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "view.html"
        page.write_text(view_page(elastogen.load(urdf)), encoding="utf-8")
        with Browser(Path(folder) / "profile") as browser:
            browser.open(page)

            def run(still: bool, pictures: int, drawn: str = "poser.show();") -> tuple[dict[str, float], float]:
                before = cpu(browser.process.pid)
                found = browser.ask(RUN % (str(still).lower(), pictures, MOVE + drawn))
                return found, 1000 * (cpu(browser.process.pid) - before) / pictures

            run(False, 10)
            print("pictures      meshes  triangles       ms   CPU ms   CPU ms of the page alone")
            for name, still, pictures in (("in motion", False, PICTURES), ("whole", True, PICTURES // 6)):
                found, busy = run(still, pictures)
                _, idle = run(still, pictures, "poser.nodes(poser.q);")
                print(
                    f"{name:12s} {found['calls']:7.0f} {found['triangles']:10.0f} {found['time']:8.1f} {busy:8.1f} {idle:26.1f}"
                )


if __name__ == "__main__":
    main()
