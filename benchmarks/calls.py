"""What a call from Python costs."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np

import elastogen
from benchmarks.kernels import Times
from benchmarks.tables import table, verdict

CALLS = 2000


def time_call(call: Callable[[], object], rounds: int) -> Times:
    """CPU time of one call, less the time of the loop around it."""
    samples = []
    for _ in range(rounds):
        samples.append((_loop(call) - _loop(_nothing)) / CALLS)
    return Times(min(samples), statistics.median(samples))


def _nothing() -> None:
    """For the time of a loop with a call of a Python function (a lower bound of what a caller pays anyway)."""


def _loop(call: Callable[[], object]) -> float:
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return time.thread_time() - start


def report(rounds: int) -> list[str]:
    """Table of calls for a robot of 6 joints."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        model = elastogen.build_model("puma560", outputs=["inverse_dynamics"], cache_dir=folder)
        q, qd, qdd = rng.uniform(-1, 1, (3, 6))
        out = np.empty(6)
        bound = model.bind("inverse_dynamics")
        states = rng.uniform(-1, 1, (3, 1000, 6))
        measured = [
            ("model.inverse_dynamics(q, qd, qdd)", time_call(lambda: model.inverse_dynamics(q, qd, qdd), rounds), 2e-6),
            ("... with out=", time_call(lambda: model.inverse_dynamics(q, qd, qdd, out=out), rounds), 2e-6),
            ("bound fast path", time_call(bound, rounds), 0.3e-6),
        ]
        batch = time_call(lambda: model.inverse_dynamics(*states), max(2, rounds // 20))
    rows = [
        [name, f"{t.shortest * 1e9:.0f} ({t.median * 1e9:.0f})", f"{limit * 1e9:.0f}", verdict(t.shortest < limit)]
        for name, t, limit in measured
    ]
    rows.append(["batch of 1000 states, each", f"{batch.shortest * 1e6:.0f} ({batch.median * 1e6:.0f})", "-", "-"])
    header = ["PUMA 560 (6 joints), payload and gravity live", "ns, shortest (median)", "target [ns]", "reached"]
    return ["## Calls from Python", "", *table(header, rows), ""]
