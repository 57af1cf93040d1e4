"""What a call from Python costs."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import elastogen
from benchmarks.race.kernels import Times
from benchmarks.race.tables import nanoseconds, table, verdict

CALLS = 2000


def time_call(call: Callable[[], object], rounds: int, calls: int = CALLS) -> Times:
    """CPU time of one call, with the loop around it."""
    samples = [_loop(call, calls) / calls for _ in range(rounds)]
    return Times(min(samples), statistics.median(samples))


def _loop(call: Callable[[], object], calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
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
        few = [each.copy() for each in rng.uniform(-1, 1, (3, 4, 6))]
        few_out, lists = np.empty((4, 6)), [each.tolist() for each in (q, qd, qdd)]
        method = model.inverse_dynamics
        plain, fast = time_call(partial(method, q, qd, qdd), rounds), time_call(bound, rounds)
        into = time_call(partial(method, q, qd, qdd, out=out), rounds, 200)
        batch = time_call(partial(method, *states), rounds, 10)
        small = time_call(partial(method, *few), rounds, 200)
        small_into = time_call(partial(method, *few, out=few_out), rounds, 200)
        listed = time_call(partial(method, *lists), rounds, 200)
        rows_listed = time_call(partial(method, *(each.tolist() for each in few)), rounds, 200)
    batched = Times(batch.shortest / 1000, batch.median / 1000)
    rows = [
        ["model.inverse_dynamics(q, qd, qdd)", nanoseconds(plain), "2000", verdict(plain.shortest < 2e-6)],
        ["model.inverse_dynamics(q, qd, qdd, out=F)", nanoseconds(into), "-", "-"],
        ["bound fast path", nanoseconds(fast), "300", verdict(fast.shortest < 0.3e-6)],
        ["lists in place of arrays", nanoseconds(listed), "2000 more", verdict(listed.shortest < plain.shortest + 2e-6)],
        ["batch of 4 states", nanoseconds(small), "3000", verdict(small.shortest < 3e-6)],
        ["batch of 4 states, out=F", nanoseconds(small_into), "no more", verdict(small_into.shortest < 1.05 * small.shortest)],
        [
            "batch of 4 states, lists",
            nanoseconds(rows_listed),
            "2000 more",
            verdict(rows_listed.shortest < small.shortest + 2e-6),
        ],
        ["batch of 1000 states, each state", nanoseconds(batched), "-", "-"],
    ]
    header = ["PUMA 560 (6 joints), payload and gravity live", "ns, shortest (median)", "target [ns]", "reached"]
    return ["## Calls from Python", "", *table(header, rows), ""]
