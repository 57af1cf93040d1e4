"""How long a model that is known takes to start, in a new process."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from benchmarks.race.tables import table, verdict

PROCESSES = 9
TARGET = 0.15  # CPU seconds more than ``import numpy``
ROBOT = "puma560"
CODES = {
    "import numpy": "import numpy",
    "build_model": "import elastogen; elastogen.build_model({robot!r}, cache_dir={cache!r})",
    "build_loop": "import elastogen; elastogen.build_loop({robot!r}, cache_dir={cache!r})",
}


def cpu_seconds(code: str) -> float:
    """The least CPU time of a new process that runs some code, with the start of Python."""
    measured = f"{code}\nimport time\nprint(time.process_time())"
    times = [
        float(subprocess.run([sys.executable, "-c", measured], capture_output=True, text=True, check=True).stdout)
        for _ in range(PROCESSES)
    ]
    return min(times)


def report() -> list[str]:
    """Table of starts."""
    with tempfile.TemporaryDirectory() as cache:
        codes = {name: code.format(robot=ROBOT, cache=cache) for name, code in CODES.items()}
        for code in codes.values():
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        seconds = {name: cpu_seconds(code) for name, code in codes.items()}
    alone = seconds.pop("import numpy")
    rows = [["`import numpy`", f"{alone:.3f}", "-", "-", "-"]]
    rows += [
        [f"`{name}({ROBOT!r})`, known", f"{each:.3f}", f"{each - alone:.3f}", f"{TARGET} s", verdict(each - alone <= TARGET)]
        for name, each in seconds.items()
    ]
    header = ["new process", "CPU [s]", "more than numpy [s]", "target", "reached"]
    words = f"CPU time with the start of Python, least of {PROCESSES} processes; the model and the loop are in the cache."
    return ["## Starts", "", words, "", *table(header, rows), ""]
