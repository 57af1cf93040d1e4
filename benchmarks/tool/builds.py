"""How long it takes to derive, print and compile a model, and to find it in the cache."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import elastogen
from benchmarks.race.chains import chain
from benchmarks.race.machine import on_cores
from benchmarks.race.robots import TITLES, MissingPeerError, load_subject
from benchmarks.race.tables import table, verdict
from elastogen.build.files.render import render_model
from elastogen.build.options import BuildOptions
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

T = TypeVar("T")
CACHED = 0.1  # seconds: target of a build from the cache


@dataclass(frozen=True)
class BuildTimes:
    """CPU seconds of the stages; the whole build and the cached one in seconds of a clock on the wall."""

    derive: float
    render: float
    compile: float
    whole: float
    cached: float
    lines: int


def cpu_seconds(call: Callable[[], T]) -> tuple[float, T]:
    """CPU time of a call, with the processes that it starts and waits for."""
    before = _cpu()
    result = call()
    return _cpu() - before, result


def _cpu() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def time_build(robot: Robot, outputs: tuple[str, ...] | None = None) -> BuildTimes:
    """Build a robot in an empty cache, then again."""
    options = BuildOptions.checked(outputs=outputs)
    derive, derivation = cpu_seconds(lambda: derive_model(robot, outputs))
    render, model = cpu_seconds(lambda: render_model(derivation, options.emit))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        cpu, _ = cpu_seconds(lambda: elastogen.build_model(robot, outputs=outputs, cache_dir=folder))
        whole = time.perf_counter() - start
        cached = min(_wall(robot, outputs, folder) for _ in range(5))
    return BuildTimes(derive, render, max(0.0, cpu - derive - render), whole, cached, model.source.count("\n"))


def _wall(robot: Robot, outputs: tuple[str, ...] | None, folder: str) -> float:
    start = time.perf_counter()
    elastogen.build_model(robot, outputs=outputs, cache_dir=folder)
    return time.perf_counter() - start


def report(work: Path, quick: bool) -> list[str]:
    """Table of build times."""
    header = [
        "model",
        "lines of C",
        "derive [s]",
        "render [s]",
        "compile [s]",
        "all / 2 [s]",
        "whole build [s]",
        "cached [ms]",
        "target",
        "reached",
    ]
    rows = []
    for title, robot, target in _robots(work, quick):
        with on_cores(2):
            times = time_build(robot)
        derive, whole = target
        reached = times.derive < derive and times.whole < whole and times.cached < CACHED
        words = f"derive {derive:g} s, whole {whole:g} s, cached {CACHED * 1e3:g} ms"
        rows.append([f"{title}, default outputs", *_cells(times), words, verdict(reached)])
    words = (
        "Stages in CPU time; half of it is what two cores cannot beat. The whole build on two cores and the cached one "
        "(shortest of 5) by the clock: functions are compiled while others are derived."
    )
    return ["## Builds", "", words, "", *table(header, rows), ""]


def _robots(work: Path, quick: bool) -> list[tuple[str, Robot, tuple[float, float]]]:
    """Title, robot, and targets: CPU seconds to derive, and seconds for the whole build on two cores."""
    wanted = {"ur5": (1.0, 2.0), "panda": (1.0, 2.0)} | ({} if quick else {"talos": (3.0, 6.0)})
    try:
        robots = [(TITLES[name], load_subject(name, work).robot, target) for name, target in wanted.items()]
    except MissingPeerError:
        robots = [("PUMA 560 (6)", elastogen.load("puma560"), (1.0, 2.0))]
    robots.append(("planar RR, 2 x 20 elements", elements(20), (2.5, 15.0)))
    if not quick:
        robots.append(("planar RR, 2 x 40 elements", elements(40), (5.0, 30.0)))
        robots.append(("chain of 50 joints", chain(50), (10.0, 20.0)))
    return robots


def elements(count: int) -> Robot:
    """Two links of the given number of finite elements each, on revolute joints."""
    link = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": count}
    return elastogen.load({"elastogen": 1, "name": "elements", "planar": {"links": [link, {**link, "length": 0.5}]}})


def _cells(times: BuildTimes) -> list[str]:
    half = (times.derive + times.render + times.compile) / 2
    stages = (times.derive, times.render, times.compile, half, times.whole)
    return [str(times.lines), *(f"{seconds:.2f}" for seconds in stages), f"{times.cached * 1e3:.1f}"]
