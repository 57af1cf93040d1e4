"""Identification: the regressor along a motion beside Pinocchio's, and the estimate of all parameters of a measured robot.

Run: python -m benchmarks.tool.identification URDF LOG.csv [--columns map.yaml]

The log's motion goes through both regressors (ours in one call, Pinocchio's state by state, as its Python interface offers
it), then through ``elastogen.identify`` with all kinds of parameters and consistent bodies. CPU seconds after the models are
built, smallest of three for the regressors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import elastogen
from elastogen.commands.identification.identify import _columns, _gains
from elastogen.identification.problem import body_model
from elastogen.identification.result import Reading


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
    options = parser.parse_args()
    from pathlib import Path

    columns = None if options.columns is None else _columns(Path(options.columns))
    how = {"columns": columns, "gains": options.gains, "cutoff": options.cutoff}
    found = elastogen.identify(options.urdf, options.log, parameters="all", **how)  # builds the models
    reading: Reading = found.reading
    (motion,) = reading.runs(options.log, options.cutoff)[0]
    model = body_model(elastogen.load(options.urdf))
    ours = cpu(lambda: model.regressor(motion.q, motion.qd, motion.qdd))
    print(f"{len(motion.q)} states, regressor: ours {ours:.4f} s", end="")
    try:
        import pinocchio as pin
    except ImportError:
        print(", no Pinocchio to compare with")
    else:
        other = pin.buildModelFromUrdf(options.urdf)
        data = other.createData()
        states = list(zip(motion.q, motion.qd, motion.qdd, strict=True))
        theirs = cpu(lambda: [np.array(pin.computeJointTorqueRegressor(other, data, *state)) for state in states])
        print(f", Pinocchio {theirs:.4f} s, {theirs / ours:.1f} times as long")
    whole = cpu(lambda: elastogen.identify(options.urdf, options.log, parameters="all", **how), 1)
    print(f"identify, all parameters, consistent: {whole:.2f} s; {100 * found.trained[0].moving:.2f} % where joints move")


if __name__ == "__main__":
    main()
