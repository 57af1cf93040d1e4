"""What each part of a cycle costs on a flexible arm: ``python -m benchmarks.motion.loop_parts``."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import elastogen
from benchmarks.motion.loop_on_target import LAWS, ROBOTS, with_law
from elastogen.control import ComputedTorqueLaw, GravityFriction, PDGravity, ScheduledFeedback, StateFeedback, UserController
from elastogen.runtime.loop.loop import Loop, SafeCommand
from elastogen.runtime.loop.observing.observer import Observer
from elastogen.runtime.loop.plants import Callbacks

ROBOT = "flexible_two_link"
SENSORS = ("encoders", "tip")
ROWS, REPEATED = 10_000, 21  # states of a call beside the loop, and calls
CODE = f"""
int user_controller(void *context, const {ROBOT}_loop_view_t *view, {ROBOT}_real_t *F)
{{
    (void)context;
    for (int i = 0; i < {ROBOT.upper()}_NV; ++i) F[i] = view->F_ref[i];
    return 0;
}}
"""
PLANT = f"""
int user_read(void *io, uint64_t tick, {ROBOT}_real_t *q, {ROBOT}_real_t *qd)
{{
    (void)io;
    for (int i = 0; i < {ROBOT.upper()}_NV; ++i) {{
        q[i] = 1e-9 * (double)(tick % 1000);
        qd[i] = 0.0;
    }}
    return 0;
}}
int user_write(void *io, uint64_t tick, const {ROBOT}_real_t *F)
{{
    (void)io; (void)tick; (void)F;
    return 0;
}}
"""


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.motion.loop_parts", description=__doc__)
    parser.add_argument("--cycles", type=int, default=200_000, help="of each measurement")
    cycles = parser.parse_args().cycles
    robot = elastogen.load(ROBOT).with_sensors(*SENSORS)
    library = elastogen.build_loop(robot, controller_source=CODE, plant_source=PLANT)
    n, drives = library.model.nv, len(library.model.driven)
    K = np.zeros((drives, 2 * n))
    grid = np.linspace(-1.0, 1.0, 5)
    names = library.model.coordinate_names[:1] + library.model.coordinate_names[-1:]
    schedule = ScheduledFeedback(K=np.zeros((5, 5, drives, 2 * n)), coordinates=names, knots=(grid, grid))
    given = Observer(force=0.1, distance=1e20, missing=1 << 30)  # the tip is not read: its readings are left out
    runs: list[tuple[str, Any, Any]] = [
        ("the loop alone", UserController(), None),
        ("PD with gravity compensation", PDGravity(kp=1.0, kd=1.0), None),
        ("gravity compensation with friction", GravityFriction(kp=1.0, kd=1.0), None),
        ("computed torque", ComputedTorqueLaw(kp=1.0, kd=1.0), None),
        ("state feedback with feedforward", StateFeedback(K=K), None),
        ("scheduled feedback, a grid of 5 x 5", schedule, None),
        ("feedforward of the flexible arm", "feedforward", None),
        (f"the observer alone, {n} coordinates, {drives} encoders", UserController(), given),
    ]
    print(f"## Parts of a cycle of {ROBOT}, {n} coordinates, free-running, {cycles} cycles\n")
    print("| | p50 [ns] | beside the loop alone [ns] |\n|---|---|---|")
    alone = 0.0
    for label, controller, observer in runs:
        middle = _middle(library, controller, observer, cycles)
        alone = alone or middle
        print(f"| {label} | {middle * 1e9:.0f} | {(middle - alone) * 1e9:.0f} |")
    print(f"\n## Calls beside the loop [ns], p50 of one of {ROWS} states\n")
    print(f"| | {' | '.join(ROBOTS)} |\n|---|{'---|' * len(ROBOTS)}")
    columns = [dict(_calls(name)) for name in ROBOTS]
    for label in columns[0]:
        cells = (f"{column[label] / ROWS * 1e9:.0f}" if label in column else "" for column in columns)
        print(f"| {label} | {' | '.join(cells)} |")


def _calls(name: str) -> Iterator[tuple[str, float]]:
    """Medians of the times of many calls [s]: observers of external forces, and laws that are functions of the robot."""
    model = elastogen.build_model(name, identification="external_forces")
    q, qd, F = (np.full((ROWS, model.nv), value) for value in (0.1, 0.1, 0.0))
    detector = model.collision_detector(1e-3, uncertain={"payload_mass": 0.1}, floor=1.0)
    momentum = model.momentum_observer(1e-3)
    yield "momentum observer", _timed(lambda: momentum.update(q, qd, F))
    yield "collision detector, one uncertain parameter", _timed(lambda: detector.update(q, qd, F))
    for part, law in LAWS.items():
        robot = with_law(law, name)
        if robot is not None:
            function = robot.functions[-1]
            own = elastogen.build_model(robot, outputs=[function.name])
            shapes = {**dict.fromkeys(function.state, (own.nv,)), **function.inputs}
            given = {key: np.full((ROWS, *shape), 0.1) for key, shape in shapes.items()}
            yield part, _timed(partial(own.evaluate, function.name, **given))


def _timed(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(REPEATED):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def _middle(library: Any, controller: Any, observer: Any, cycles: int) -> float:
    """Median of the execution times [s]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop = Loop(
            library,
            controller=controller,
            observer=observer,
            plant=Reading() if observer is not None else Callbacks(),
            free_running=True,
            safe=SafeCommand(stop="off"),
        )  # fmt: skip
    loop.start(cycles=cycles)
    if not loop.wait():
        raise SystemExit(f"{controller}: {loop.status}")
    return float(loop.statistics().execution.percentile(50))


class Reading(Callbacks):
    """The same plant, which reads encoders only."""

    def readings(self, library: Any, noise: Any) -> tuple[int, int]:
        """No function: what stands in q and qd is all."""
        return 0, 0


if __name__ == "__main__":
    main()
