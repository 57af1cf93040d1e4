"""``make demo``: from the description of the PUMA 560 to its compiled model, with times."""

from __future__ import annotations

import sys
import time

import numpy as np

import elastogen
from elastogen.commands.build import print_model


def main() -> int:
    """Build a built-in robot, evaluate it, time it and say where the C files are."""
    start = time.perf_counter()
    try:
        model = elastogen.build_model("puma560")
    except elastogen.ElastogenError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    print(f"built in {time.perf_counter() - start:.1f} s (a second time it comes from the cache)\n")
    print_model(model, seconds=0.05)
    q = np.array([0.1, -0.6, 0.4, 0.2, 0.5, -0.3])
    qd, qdd = np.full(model.nq, 0.5), np.full(model.nq, 1.0)
    forces = model.inverse_dynamics(q, qd, qdd)
    back = model.forward_dynamics(q, qd, forces)
    with np.printoptions(precision=4, suppress=True):
        print(f"\nq                  {q}")
        print(f"inverse dynamics F {forces}")
    print(f"forward dynamics of F gives qdd again to {abs(back - qdd).max():.0e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
