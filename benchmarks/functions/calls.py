"""What a call from Python costs."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping

import numpy as np

import elastogen
from benchmarks.race.kernels import Times
from benchmarks.race.tables import nanoseconds, table, verdict

CALLS = 200
NOISE = 1.02  # between two runs of the same call


def time_calls(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Times]:
    """CPU time of one call each, with the loop and the lambda around it, taken in turns so that all see the same machine."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(5 * rounds):
        for name, call in calls.items():
            samples[name].append(_loop(call) / CALLS)
    return {name: Times(min(times), statistics.median(times)) for name, times in samples.items()}


def _loop(call: Callable[[], object]) -> float:
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return time.thread_time() - start


def report(rounds: int) -> list[str]:
    """Table of calls for a robot of 6 joints."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "frame_jacobian"]
        model = elastogen.build_model("puma560", outputs=outputs, frames=["tip"], cache_dir=folder)
        times = time_calls(_calls(model), rounds) | time_calls({"bound": model.bind("inverse_dynamics")}, rounds)
    rows = [
        _row("model.inverse_dynamics(q, qd, qdd)", times["one"], 2e-6),
        _row("the same, out=F", times["one into"], times["one"]),
        _row("the same, lists", times["one of lists"], times["one"], 2e-6),
        _row("bound fast path", times["bound"], 0.3e-6),
        _row("4 states", times["few"], 3e-6),
        _row("4 states, out=F", times["few into"], times["few"]),
        _row("4 states, out= a row of a larger array", times["few into a row"], times["few"]),
        _row("4 states, lists", times["few of lists"], times["few"], 2e-6),
        _row("4 states, float32 in place of float64", times["few of float32"]),
        _row("100 states", times["many"]),
        _row("100 states, out=F", times["many into"], times["many"]),
        _row("model.mass_matrix(q), 4 states", times["matrices"]),
        _row("the same, out=M", times["matrices into"], times["matrices"]),
        _row("model.frame_jacobian('tip', q)", times["frame"]),
        _row("the same, out=J", times["frame into"], times["frame"]),
        _row("inverse_dynamics_derivatives, one state", times["several of one"]),
        _row("the same, out=(a, b, c)", times["several of one into"], times["several of one"]),
        _row("inverse_dynamics_derivatives, 4 states", times["several"]),
        _row("the same, out=(a, b, c)", times["several into"], times["several"]),
        _row("the same, out= three rows of a larger array", times["several into rows"], times["several"]),
        _row("4 positions, one qd and one qdd for all", times["broadcast"]),
        _row("the same, out=F", times["broadcast into"], times["broadcast"]),
    ]
    header = ["PUMA 560 (6 joints), payload and gravity live", "ns, shortest (median)", "target [ns]", "reached"]
    return ["## Calls from Python", "", *table(header, rows), ""]


def _calls(model: elastogen.Model) -> dict[str, Callable[[], object]]:
    """All that are compared, written out as users do: functools.partial adds 0.1 us for a keyword."""
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    Q, QD, QDD = (each.copy() for each in rng.uniform(-1, 1, (3, 4, 6)))
    many = [each.copy() for each in rng.uniform(-1, 1, (3, 100, 6))]
    short = [each.astype(np.float32) for each in (Q, QD, QDD)]
    numbers, rows = [each.tolist() for each in (q, qd, qdd)], [each.tolist() for each in (Q, QD, QDD)]
    out, few_out, many_out, row = np.empty(6), np.empty((4, 6)), np.empty((100, 6)), np.empty((3, 4, 6))[1]
    J, M, several = np.empty((6, 6)), np.empty((4, 6, 6)), tuple(np.empty((4, 6, 6)) for _ in range(3))
    block, single = tuple(np.empty((3, 4, 6, 6))), tuple(np.empty((6, 6)) for _ in range(3))
    method, evaluate = model.inverse_dynamics, model.evaluate
    return {
        "one": lambda: method(q, qd, qdd),
        "one into": lambda: method(q, qd, qdd, out=out),
        "one of lists": lambda: method(*numbers),
        "few": lambda: method(Q, QD, QDD),
        "few into": lambda: method(Q, QD, QDD, out=few_out),
        "few into a row": lambda: method(Q, QD, QDD, out=row),
        "few of lists": lambda: method(*rows),
        "few of float32": lambda: method(*short),
        "many": lambda: method(*many),
        "many into": lambda: method(*many, out=many_out),
        "matrices": lambda: model.mass_matrix(Q),
        "matrices into": lambda: model.mass_matrix(Q, out=M),
        "frame": lambda: model.frame_jacobian("tip", q),
        "frame into": lambda: model.frame_jacobian("tip", q, out=J),
        "several of one": lambda: model.inverse_dynamics_derivatives(q, qd, qdd),
        "several of one into": lambda: model.inverse_dynamics_derivatives(q, qd, qdd, out=single),
        "several": lambda: evaluate("inverse_dynamics_derivatives", q=Q, qd=QD, qdd=QDD),
        "several into": lambda: evaluate("inverse_dynamics_derivatives", q=Q, qd=QD, qdd=QDD, out=several),
        "several into rows": lambda: evaluate("inverse_dynamics_derivatives", q=Q, qd=QD, qdd=QDD, out=block),
        "broadcast": lambda: method(Q, qd, qdd),
        "broadcast into": lambda: method(Q, qd, qdd, out=few_out),
    }


def _row(name: str, times: Times, limit: Times | float | None = None, more: float = 0.0) -> list[str]:
    """A call beside its target: a time [s], or no more than another call, or so much more than it."""
    if limit is None:
        return [name, nanoseconds(times), "-", "-"]
    if isinstance(limit, Times):
        target = f"{more * 1e9:.0f} more" if more else "no more"
        return [name, nanoseconds(times), target, verdict(times.shortest <= NOISE * limit.shortest + more)]
    return [name, nanoseconds(times), f"{limit * 1e9:.0f}", verdict(times.shortest < limit)]
