"""What the tests of the loop share: robots, the user's own code, the stand-alone checks in C, short runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

import elastogen
from elastogen.build.files.real_time.loop import CONSTANTS
from elastogen.runtime.loop.loop import Loop

STATUS = {constant.name: int(constant.value) for constant in CONSTANTS if constant.name.startswith("STATUS_")}
BENDER = {
    "elastogen": 1,
    "name": "bender",
    "gravity": [0, -9.81, 0],
    "live": ["gravity"],
    "links": [
        {"name": "base"},
        {
            "name": "beam",
            "flexible": {
                "type": "modes", "length": 1.0, "mass_per_length": 0.5, "EI": 60.0, "tip": {"mass": 0.3},
                "damping": {"ratio": 0.01},
                "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "y", "eigenfunction": 2}],
            },
        },
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1], "motor": {"inertia": 0.1}}],
}  # fmt: skip


def _bending_link(name: str, length: float, mass_per_length: float, EI: float, payload: float) -> dict[str, object]:
    modes = [{"direction": "y", "eigenfunction": k} for k in (1, 2)]
    beam = {"type": "modes", "length": length, "mass_per_length": mass_per_length, "EI": EI, "modes": modes}
    return {"name": name, "mass": 0.2, "flexible": {**beam, "tip": {"mass": payload}, "damping": {"ratio": 0.01}}}


def _hub(name: str, child: str, inertia: float) -> dict[str, object]:
    return {"name": name, "type": "revolute", "child": child, "axis": [0, 0, 1], "motor": {"inertia": inertia}}


BENDING_ARM = {
    "elastogen": 1,
    "name": "bending_arm",
    "gravity": [0, -9.81, 0],
    "links": [
        {"name": "base"},
        _bending_link("upper", 0.8, 0.6, 300.0, 0.3),
        _bending_link("fore", 0.7, 0.4, 120.0, 0.5),
    ],
    "joints": [_hub("shoulder", "upper", 0.1), _hub("elbow", "fore", 0.05)],
}
USER_CODE = """
/* A controller: PD with gains from view->tuning->user; counts its calls in *context and spins where it is reported to. */
#include <time.h>
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    const double *const user = view->tuning->user;
    if (context != 0) {
        ++*(long *)context;
    }
    for (int i = 0; i < 2; ++i) {
        F[i] = user[0] * (view->q_ref[i] - view->q[i]) - user[1] * view->qd[i];
    }
    if (user[2] > 0.0 && view->tick % 100 == 50) {
        struct timespec t = { 0, (long)(1e9 * user[2]) };
        nanosleep(&t, 0);
    }
    return user[3] > 0.0 && view->tick >= (unsigned long)user[3];
}
"""
USER_PLANT = """
/* A plant: two integrators; io is its state q, qd. */
int user_read(void *io, uint64_t tick, two_link_real_t *q, two_link_real_t *qd)
{
    const double *const state = (const double *)io;
    for (int i = 0; i < 2; ++i) {
        q[i] = state[i];
        qd[i] = state[2 + i];
    }
    return tick >= 900;
}
int user_write(void *io, uint64_t tick, const two_link_real_t *F)
{
    double *const state = (double *)io;
    (void)tick;
    for (int i = 0; i < 2; ++i) {
        state[2 + i] += 0.001 * F[i];
        state[i] += 0.001 * state[2 + i];
    }
    return 0;
}
"""


def make_checks(folder: Path) -> Path:
    """The stand-alone program with the checks, compiled beside its sources."""
    elastogen.generate_loop("two_link", folder)
    shutil.copy(Path(__file__).parents[1] / "c" / "loop_checks.c", folder)
    return compile_checks(folder, "checks", "-O2", "-DCOUNT_ALLOCATIONS")


def compile_checks(folder, name, *flags):
    sources = ["two_link.c", "two_link_loop.c", "two_link_loop_thread.c", "two_link_shared.c", "loop_checks.c"]
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", *flags, *sources, "-pthread", "-lm", "-o", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run_checks(folder, name, *arguments):
    """The program's output, and the numbers in it by name."""
    command = [f"./{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return lines, {words[0]: int(words[1]) for words in lines}


def run_free(library, cycles: int, **options):
    loop = Loop(library, free_running=True, telemetry=1 << 15, keep="oldest", **options)
    return loop, cycles


def finish(loop: Loop, cycles: int):
    """Run so many cycles, or to the end of a stop; the records up to the first fault, or to the end of the run."""
    loop.start(cycles=cycles)
    loop.wait(timeout=60)
    loop.stop()
    records = loop.read()
    stopping = np.flatnonzero(records["phase"])
    if not stopping.size:
        return records
    return records[: stopping[0] + int(records["status"][stopping[0]] != 0)]
