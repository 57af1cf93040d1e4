"""Batches of states from numpy: in lanes, and by one function for several, against one state and function after the other."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import elastogen
from benchmarks.race.machine import on_cores
from benchmarks.race.robots import TITLES, MissingPeerError, load_subject
from benchmarks.race.tables import table, verdict
from elastogen.generator.robot.robot import Robot

STATES = 100_000
MANY = 1_000_000  # states that are shared by threads, whose start takes some tenths of a millisecond
FUNCTIONS = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1}
CONTROL = ("mass_matrix", "coriolis_matrix", "gravity_vector")
FUSED_TARGET = 0.7  # of the sum of the three, for Panda
MOTIONS = 64  # of a batch that is simulated
THREADS_TARGET = 1.3  # of the time of one thread, shared by all
TARGET = 0.4  # of the time of the scalar call, for inverse dynamics on AVX2
IN_VECTORS = ("talos",)  # robots whose single states have both arms and both legs in vectors already: lanes gain less


def report(robots: Sequence[str], work: Path, rounds: int) -> list[str]:
    """Table of times per state; ratios are medians over rounds of both, side by side."""
    rows = []
    for name in robots:
        try:
            robot = load_subject(name, work).robot
        except MissingPeerError as missing:
            rows.append([TITLES[name], "-", "-", "-", str(missing), "-"])
            continue
        with tempfile.TemporaryDirectory() as folder:
            pair = [
                elastogen.build_model(robot, outputs=list(FUNCTIONS), lanes=lanes, cache_dir=folder) for lanes in (False, True)
            ]
            for function, inputs in FUNCTIONS.items():
                scalar, lanes, ratio = _compare(pair, function, inputs, max(5, rounds // 20))
                aim = _aim(name, ratio) if function == "inverse_dynamics" else ("-", "-")
                rows.append([f"{TITLES[name]} {function}", f"{scalar:.0f}", f"{lanes:.0f}", f"{ratio:.2f}", *aim])
            rows.append(_threads(pair[1], TITLES[name], max(10, rounds // 20)))
            rows.append(_fused(robot, TITLES[name], max(5, rounds // 20)))
            rows += _simulated(robot, name, max(5, rounds // 20))
    header = ["ns per state or step", "one after the other", "in lanes or fused", "ratio (median)", "target", "reached"]
    return [
        f"## Batches of {STATES} states, out= given, one thread unless said",
        "",
        *table(header, rows),
        "",
    ]


def _aim(name: str, ratio: float) -> tuple[str, str]:
    return ("-", "-") if name in IN_VECTORS else (f"{TARGET}", verdict(ratio <= TARGET))


def _compare(pair: Sequence[elastogen.Model], function: str, inputs: int, rounds: int) -> tuple[float, float, float]:
    states = np.random.default_rng(0).uniform(-1, 1, (inputs, STATES, pair[0].nq))
    names = [argument.name for argument in pair[0].functions[function].inputs]
    given = dict(zip(names, states, strict=True))
    results = [model.evaluate(function, **given) for model in pair]
    if not np.array_equal(*results):
        raise RuntimeError(f"{function}: lanes and scalars differ")
    samples: list[list[float]] = [[], []]
    for _ in range(rounds):
        for model, result, times in zip(pair, results, samples, strict=True):
            start = time.thread_time()
            model.evaluate(function, out=result, **given)
            times.append((time.thread_time() - start) / STATES * 1e9)
    ratio = statistics.median(b / a for a, b in zip(*samples, strict=True))
    return min(samples[0]), min(samples[1]), ratio


def _threads(model: elastogen.Model, title: str, rounds: int) -> list[str]:
    """Inverse dynamics in lanes on one core and on all, by the clock."""
    cores = os.cpu_count() or 1
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, MANY, model.nq))
    out = model.inverse_dynamics(q, qd, qdd)
    samples: list[list[float]] = [[], []]
    with on_cores(cores):
        for _ in range(rounds):
            for threads, times in zip((1, cores), samples, strict=True):
                start = time.perf_counter()
                model.evaluate("inverse_dynamics", q=q, qd=qd, qdd=qdd, out=out, threads=threads)
                times.append((time.perf_counter() - start) / MANY * 1e9)
    ratio, target = statistics.median(b / a for a, b in zip(*samples, strict=True)), THREADS_TARGET / cores
    times_reported = [f"{min(times):.0f}" for times in samples]
    aim = (f"{target:.2g}", verdict(ratio <= target) if cores > 1 else "-")
    return [
        f"{title} inverse_dynamics in lanes, {MANY} states, {cores} threads, by the clock",
        *times_reported,
        f"{ratio:.2f}",
        *aim,
    ]


def _simulated(robot: Robot, name: str, rounds: int) -> list[list[str]]:
    """Motions of a batch one by one and in lanes: the time of a step of one motion, energies recorded."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        pair = [elastogen.build_model(robot, outputs="simulation", lanes=lanes, cache_dir=folder) for lanes in (False, True)]
        q0, qd0 = np.random.default_rng(0).uniform(-1, 1, (2, MOTIONS, pair[0].nq))
        for method in ("rk4", "generalized_alpha"):
            given: dict[str, Any] = {"t": 0.2, "samples": 21, "method": method, "step": 1e-3, "threads": 1, "stops": "ignore"}
            samples: list[list[float]] = [[], []]
            for _ in range(rounds):
                results = []
                for model, times in zip(pair, samples, strict=True):
                    start = time.process_time()
                    s = model.simulate(q0, qd0, **given)
                    times.append((time.process_time() - start) / s.steps.sum() * 1e9)
                    results.append(s.q)
                if not np.array_equal(*results):
                    raise RuntimeError(f"{method}: lanes and scalars differ")
            ratio = statistics.median(b / a for a, b in zip(*samples, strict=True))
            times_reported = [f"{min(times):.0f}" for times in samples]
            rows.append([f"{TITLES[name]} simulate, {method}", *times_reported, f"{ratio:.2f}", *_aim(name, ratio)])
    return rows


def _fused(robot: Robot, title: str, rounds: int) -> list[str]:
    """The functions of a controller one by one and as one, into arrays that are there (new memory would be timed, too)."""
    with tempfile.TemporaryDirectory() as folder:
        model = elastogen.build_model(robot, outputs=CONTROL, fused=[CONTROL], cache_dir=folder)
        name = "_and_".join(CONTROL)
        q, qd = np.random.default_rng(0).uniform(-1, 1, (2, 2000, model.nq))
        M, C, G = out = model.evaluate(name, q=q, qd=qd)
        samples: list[tuple[float, float]] = []
        for _ in range(10 * rounds):
            start = time.thread_time()
            model.mass_matrix(q, out=M), model.coriolis_matrix(q, qd, out=C), model.gravity_vector(q, out=G)
            middle = time.thread_time()
            model.evaluate(name, q=q, qd=qd, out=out)
            samples.append((middle - start, time.thread_time() - middle))
    single, fused = (min(times) / len(q) * 1e9 for times in zip(*samples, strict=True))
    ratio = statistics.median(b / a for a, b in samples)
    return [
        f"{title} M + C + G",
        f"{single:.0f}",
        f"{fused:.0f}",
        f"{ratio:.2f}",
        f"{FUSED_TARGET}",
        verdict(ratio <= FUSED_TARGET),
    ]
