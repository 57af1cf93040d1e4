"""What the comparison of every function with the description costs beside the derivation.

Run: python -m benchmarks.tool.self_check [ROBOT ...]    (six built-in robots unless named)

CPU seconds of deriving the default functions with their derivatives, those of them that the comparison takes, and the ratio.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.reference.self_check import SelfCheck

ROBOTS = ("two_link", "puma560", "satellite", "flexible_two_link", "rpb_table3", "five_bar")
OUTPUTS = ("default", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def measured(name: str) -> tuple[float, float, int]:
    """CPU seconds in all, those of the comparison, and the number of functions."""
    spent, plain = [0.0], SelfCheck.error

    def timed(self: SelfCheck, *given: Any) -> float:
        start = time.process_time()
        try:
            return plain(self, *given)
        finally:
            spent[0] += time.process_time() - start

    robot = elastogen.load(name)
    SelfCheck.error = timed  # type: ignore[method-assign, assignment]
    try:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            count = len(derive_model(robot, OUTPUTS).functions)
        return time.process_time() - start, spent[0], count
    finally:
        SelfCheck.error = plain  # type: ignore[method-assign]


def main(names: list[str]) -> None:
    """Print a row for each robot."""
    print("| robot | functions | derivation [s] | comparison [ms per function] | share |")
    print("|---|---|---|---|---|")
    for name in names or ROBOTS:
        total, check, count = measured(name)
        print(f"| {name} | {count} | {total - check:.2f} | {1e3 * check / count:.1f} | {100 * check / (total - check):.0f} % |")


if __name__ == "__main__":
    main(sys.argv[1:])
