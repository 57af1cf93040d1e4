"""How long a model that is known takes to start, in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.race.tables import table, verdict

PROCESSES = 9
TARGET = 0.15  # CPU seconds more than ``import numpy``
CODES = {
    "import numpy": "import numpy",
    "build_model('puma560')": "import elastogen; elastogen.build_model('puma560')",
    "build_model(load('puma560', base='floating'))": (
        "import elastogen; elastogen.build_model(elastogen.load('puma560', base='floating'))"
    ),
    "build_model(load('puma560', lock={'waist': 0.1}))": (
        "import elastogen; elastogen.build_model(elastogen.load('puma560', lock={'waist': 0.1}))"
    ),
    "build_model(load('desk_arm.urdf'))": (
        "import elastogen; elastogen.build_model(elastogen.load('docs/tutorials/desk_arm.urdf'))"
    ),
    "build_loop('puma560')": "import elastogen; elastogen.build_loop('puma560')",
}


def cpu_seconds(code: str, environment: dict[str, str]) -> float:
    """The least CPU time of a new process that runs some code, with the start of Python."""
    measured = f"{code}\nimport time\nprint(time.process_time())"
    times = [
        float(
            subprocess.run([sys.executable, "-c", measured], capture_output=True, text=True, check=True, env=environment).stdout
        )
        for _ in range(PROCESSES)
    ]
    return min(times)


def report() -> list[str]:
    """Table of starts."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "ELASTOGEN_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their bytecode
        for code in CODES.values():
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
        seconds = {name: cpu_seconds(code, environment) for name, code in CODES.items()}
    alone = seconds.pop("import numpy")
    rows = [["`import numpy`", f"{alone:.3f}", "-", "-", "-"]]
    rows += [
        [f"`{name}`, known", f"{each:.3f}", f"{each - alone:.3f}", f"{TARGET} s", verdict(each - alone <= TARGET)]
        for name, each in seconds.items()
    ]
    header = ["new process", "CPU [s]", "more than numpy [s]", "target", "reached"]
    words = f"CPU time with the start of Python, least of {PROCESSES} processes; models, loops and bytecode are in caches."
    return ["## Starts", "", words, "", *table(header, rows), ""]
