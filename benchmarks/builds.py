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
from benchmarks.race.robots import TITLES, MissingPeerError, load_subject
from benchmarks.race.tables import table, verdict
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import render
from elastogen.generator.robot.robot import Robot

T = TypeVar("T")


@dataclass(frozen=True)
class BuildTimes:
    """CPU seconds of the stages; cached in seconds of a clock on the wall."""

    derive_and_render: float
    compile: float
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
    front, model = cpu_seconds(lambda: render(robot, options))
    with tempfile.TemporaryDirectory() as folder:
        whole, _ = cpu_seconds(lambda: elastogen.build_model(robot, outputs=outputs, cache_dir=folder))
        cached = min(_wall(robot, outputs, folder) for _ in range(5))
    return BuildTimes(front, max(0.0, whole - front), cached, model.source.count("\n"))


def _wall(robot: Robot, outputs: tuple[str, ...] | None, folder: str) -> float:
    start = time.perf_counter()
    elastogen.build_model(robot, outputs=outputs, cache_dir=folder)
    return time.perf_counter() - start


def report(work: Path, quick: bool) -> list[str]:
    """Table of build times."""
    header = ["model", "lines of C", "derive + render [s]", "compile [s]", "from the cache [ms]", "target", "reached"]
    rows = []
    try:
        subjects = [load_subject(name, work) for name in ("ur5", "panda", *(() if quick else ("talos",)))]
        robots = [(TITLES[subject.name], subject.robot) for subject in subjects]
    except MissingPeerError:
        robots = [("PUMA 560 (6)", elastogen.load("puma560"))]
    for title, robot in robots:
        times = time_build(robot)
        small = len(robot.coordinate_names) <= 7
        reached = times.derive_and_render < 3.0 and times.compile < 10.0 and times.cached < 0.1
        target = ("3 s, 10 s, 100 ms", verdict(reached)) if small else ("-", "-")
        rows.append([f"{title}, default outputs", *_cells(times), *target])
    if not quick:
        times = time_build(chain(50))
        done = times.derive_and_render + times.compile < 120.0
        rows.append(["chain of 50 joints, default outputs", *_cells(times), "2 min in all", verdict(done)])
    words = "CPU time, compiler included; the cache in wall time, shortest of 5."
    return ["## Builds", "", words, "", *table(header, rows), ""]


def _cells(times: BuildTimes) -> list[str]:
    stages = (times.derive_and_render, times.compile)
    return [str(times.lines), *(f"{seconds:.2f}" for seconds in stages), f"{times.cached * 1e3:.1f}"]
