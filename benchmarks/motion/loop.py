"""The real-time loop: what one cycle costs, and how punctual it is. ``python -m benchmarks.motion.loop``."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, Controller, PDGravity, UserController
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Callbacks, Plant, Simulated
from elastogen.runtime.loop.telemetry import LoopStatistics
from elastogen.runtime.model.timing import time_functions

ROBOT = "puma560"  # 6 joints
NOTHING = f"""
int user_controller(void *context, const {ROBOT}_loop_view_t *view, {ROBOT}_real_t *F)
{{
    (void)context;
    for (int i = 0; i < 6; ++i) F[i] = view->F_ref[i];
    return 0;
}}
"""
STILL = f"""
int user_read(void *io, uint64_t tick, {ROBOT}_real_t *q, {ROBOT}_real_t *qd)
{{
    (void)io;
    for (int i = 0; i < 6; ++i) {{
        q[i] = 0.1 * i + 1e-9 * (double)(tick % 1000);
        qd[i] = (tick % 2 == 0) ? 0.01 * i : -0.01 * i; /* one that stays the same is a frozen sensor */
    }}
    return 0;
}}
int user_write(void *io, uint64_t tick, const {ROBOT}_real_t *F)
{{
    (void)io; (void)tick; (void)F;
    return 0;
}}
"""
Run = tuple[str, Controller, Callable[[], Plant]]


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.motion.loop", description=__doc__)
    parser.add_argument("--cycles", type=int, default=500_000, help="of each free-running measurement")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each paced measurement")
    arguments = parser.parse_args()
    library = elastogen.build_loop(ROBOT, controller_source=NOTHING, plant_source=STILL)
    print("\n".join([*costs(library, arguments.cycles), "", *punctuality(library, arguments.seconds)]))


def costs(library: LoopLibrary, cycles: int) -> list[str]:
    """Execution times of free-running cycles."""
    inverse = time_functions(library.model, ["inverse_dynamics", "forward_dynamics"])
    runs: list[Run] = [
        ("loop alone (controller and plant that do nothing)", UserController(), Callbacks),
        ("computed torque, plant that does nothing", ComputedTorqueLaw(), Callbacks),
        ("PD with gravity compensation, plant that does nothing", PDGravity(), Callbacks),
        (
            "computed torque, simulated robot, semi-implicit Euler",
            ComputedTorqueLaw(),
            lambda: Simulated(method="semi_implicit"),
        ),
        ("computed torque, simulated robot, RK4", ComputedTorqueLaw(), Simulated),
    ]
    lines = [
        f"## One cycle of {ROBOT}, free-running, telemetry on, {cycles} cycles",
        "",
        *(f"- {timing.function} alone: {timing.c_seconds * 1e9:.0f} ns" for timing in inverse),
        "",
        "| | fastest [ns] | p50 [ns] | p99 [ns] |",
        "|---|---|---|---|",
    ]
    for label, controller, plant in runs:
        loop = Loop(library, controller=controller, plant=plant(), free_running=True, cpu=_last_cpu())
        loop.start(cycles=cycles)
        if not loop.wait():
            raise SystemExit(f"{label}: {loop.status}")
        execution = loop.statistics().execution
        times = (execution.least, execution.percentile(50), execution.percentile(99))
        lines.append(f"| {label} | {' | '.join(f'{seconds * 1e9:.0f}' for seconds in times)} |")
    return [*lines, "", "Each time contains one reading of the clock."]


def punctuality(library: LoopLibrary, seconds: float) -> list[str]:
    """Lateness with and without SCHED_FIFO."""
    lines = [
        f"## Punctuality, computed torque on the simulated {ROBOT}, {seconds:g} s each, load {os.getloadavg()[0]:.1f}",
        "",
        "| rate [Hz] | scheduling | late p50 [us] | p90 | p99 | p99.9 | worst | overruns | execution p50 [us] | p99 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for rate in (1000, 10000):
        for label, options in (
            ("default", {}),
            ("FIFO", {"fifo": True}),
            ("FIFO, own processor", {"fifo": True, "cpu": _last_cpu()}),
            ("FIFO, own processor, 50 us busy", {"fifo": True, "cpu": _last_cpu(), "spin": 50e-6}),
        ):
            lines.append(_row(rate, *_paced(library, rate, seconds, label, dict(options))))
    return lines


def _paced(
    library: LoopLibrary, rate: float, seconds: float, label: str, options: dict[str, object]
) -> tuple[str, LoopStatistics]:
    loop = Loop(library, rate=rate, **options)  # type: ignore[arg-type]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loop.start(seconds)
    loop.wait()
    return label + (" (refused)" if caught else ""), loop.statistics()


def _row(rate: float, label: str, statistics: LoopStatistics) -> str:
    late, execution = statistics.lateness, statistics.execution
    times = [late.percentile(p) for p in (50, 90, 99, 99.9)] + [late.most]
    words = [f"{rate:g}", label, *(f"{value * 1e6:.0f}" for value in times), f"{statistics.overruns}"]
    words += [f"{execution.percentile(p) * 1e6:.2f}" for p in (50, 99)]
    return f"| {' | '.join(words)} |"


def _last_cpu() -> int | None:
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


if __name__ == "__main__":
    main()
