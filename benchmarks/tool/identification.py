"""Identification: the regressor along a motion beside those of Pinocchio and FIGAROH, and the estimate of a measured robot.

Run: python -m benchmarks.tool.identification URDF LOG.csv [--columns map.yaml] [--validate OTHER.csv] [--load LOADED.csv]

The log's motion goes through the regressors (ours in one call, Pinocchio's state by state, as its Python interface offers it,
FIGAROH's in its own loop over Pinocchio's), then through ``elastogen.identify`` with default parameters and consistent bodies:
errors on other runs, and the mass of the payload of a loaded one. Then with all kinds of parameters. CPU seconds after the
models are built, smallest of three for the regressors.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import elastogen
from elastogen.commands.identification.identify import _columns, _gains
from elastogen.identification.equations.problem import body_model
from elastogen.identification.measurements.signals import Motion
from elastogen.identification.results.result import Reading

SLOW = 0.05  # [rad/s]: below it friction decides, and most of the error of a good model is there


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf")
    parser.add_argument("log")
    parser.add_argument("--columns")
    parser.add_argument("--gains", type=_gains)
    parser.add_argument("--cutoff", type=float, default=10.0)
    parser.add_argument("--validate", action="append", help="a run that only tests; may be repeated")
    parser.add_argument("--load", help="a run with a payload, which is weighed")
    options = parser.parse_args()
    columns = _columns(SimpleNamespace(columns=options.columns and Path(options.columns), time_unit=None))
    how: dict[str, Any] = {"columns": columns, "gains": options.gains, "cutoff": options.cutoff}
    found = elastogen.identify(options.urdf, options.log, validate=options.validate or None, **how)  # builds the models
    _tell_errors(found, options, how)
    reading: Reading = found.reading
    motion = reading.runs(options.log, options.cutoff)[0][0]
    model = body_model(elastogen.load(options.urdf))
    ours = cpu(lambda: model.regressor(motion.q, motion.qd, motion.qdd))
    print(f"{len(motion.q)} states, regressor: ours {ours:.4f} s")
    for name, regressor in (("Pinocchio", _pinocchio), ("FIGAROH", _figaroh)):
        try:
            theirs = cpu(regressor(options.urdf, motion))
        except ImportError as error:
            print(f"{name}: skipped, {error}")
        else:
            print(f"{name} {theirs:.4f} s, {theirs / ours:.1f} times as long")
    whole = cpu(lambda: elastogen.identify(options.urdf, options.log, parameters="all", **how), 1)
    print(f"identify, all parameters, consistent: {whole:.2f} s")


def _tell_errors(found: Any, options: argparse.Namespace, how: dict[str, Any]) -> None:
    print(f"default parameters: {', '.join(found.parameters)}; low pass {found.cutoff:.3g} Hz")
    print(f"relative RMS [%]; slow: of the samples of joints below {SLOW} rad/s, and their share of all squared errors")
    print(f"{'':59s}all    held  moving    slow   share")
    for title, files in (("trained on", [options.log]), ("tested on", options.validate or [])):
        for file in files:
            run, (slow, share) = found.validate(file)[0], _slow(found, file)
            numbers = [f"{100 * value:7.2f}" for value in (run.total, run.held, run.moving, slow, share)]
            print(f"{title:10s} {Path(file).name:44s} {' '.join(numbers)}")
    if options.load is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = found.save(Path(folder) / "identified.yaml")
            mass = elastogen.identify(path, options.load, parameters=["payload"], **how)["payload.mass"]
        print(f"payload of {Path(options.load).name}: {mass.value:.3f} +- {mass.standard_error:.3f} kg")


def _slow(found: Any, file: str) -> tuple[float, float]:
    """Error of the samples at which a joint is slow or rests, relative to their forces, and its share of all squared errors."""
    slow_error = slow_force = error = 0.0
    for motion in (piece for run in found.motions(file) for piece in run):
        left = motion.compared(found.predict(motion)) - motion.measured
        slow = np.abs(motion.qd[motion.rows]) < SLOW
        slow_error, error = slow_error + float(np.sum(left[slow] ** 2)), error + float(np.sum(left**2))
        slow_force += float(np.sum(motion.measured[slow] ** 2))
    return float(np.sqrt(slow_error / slow_force)), slow_error / error


def _pinocchio(urdf: str, motion: Motion) -> Callable[[], object]:
    import pinocchio as pin

    other = pin.buildModelFromUrdf(urdf)
    data = other.createData()
    states = list(zip(motion.q, motion.qd, motion.qdd, strict=True))
    return lambda: [np.array(pin.computeJointTorqueRegressor(other, data, *state)) for state in states]


def _figaroh(urdf: str, motion: Motion) -> Callable[[], object]:
    import pinocchio as pin
    from figaroh.tools.regressor import RegressorBuilder  # type: ignore[import-not-found,unused-ignore]

    other = pin.buildModelFromUrdf(urdf)
    builder = RegressorBuilder(SimpleNamespace(model=other, data=other.createData()))
    drives = {"act_idxv": range(other.nv)}
    return lambda: builder.build_basic_regressor(motion.q, motion.qd, motion.qdd, drives)


if __name__ == "__main__":
    main()
