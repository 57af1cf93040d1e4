"""The mutants of the loop's safety code: ``python -m mutants.loop_safety [--every 5]``, or ``make loop-mutants``."""

from __future__ import annotations

import argparse
import sys

from mutants.run import source_line, survivors

FILES = (
    *(f"templates/loop/safety/robot_loop_{name}.h" for name in ("safety", "watch", "rest", "reset", "predict", "fault")),
    *(f"templates/loop/cycle/robot_loop_{name}.h" for name in ("sound", "sense", "command", "cycle", "gains")),
    "templates/loop/observe/robot_loop_observe.h",
    "templates/loop/thread/robot_loop_overrun.h",
)
TESTS = (
    "safety/test_loop_boundaries.py", "safety/test_loop_safety.py", "safety/test_loop_watchdog.py",
    "safety/test_loop_changes.py", "test_loop_schedule.py", "robots/test_loop_free.py", "test_loop_time.py",
    "safety/test_loop_monte_carlo.py", "../sensing/test_observer_in_the_loop.py",
)  # fmt: skip
# Changes that change nothing, by a part of the line and the change. Found by looking at each survivor.
EQUIVALENT = {
    ("nobody sees that it is at rest", "0u -> 1u"): "still fewer than ten cycles in a row",
    ("_beside[velocity] : 0;", "0 -> 1"): "a velocity without a coordinate is never the index of a frozen one",
    ("const uint64_t left = (stopping <", "< -> <="): "the difference is 0 then",
    ("moves |= ", "1 -> 2"): "a flag",
    ("= (force < least)", "< -> <="): "both are the limit",
    ("(force > most)", "> -> >="): "both are the limit",
    ("result = (result < -limit)", "< -> <="): "both are the limit",
    ("(result > limit)", "> -> >="): "both are the limit",
    ("return -1;", "1 -> 2"): "any negative number",
    ("loop->saturated = 0u;", "0u -> 1u"): "the next step begins with 0",
    ("loop->bump_wanted = (tuning->fade_ticks > 0u)", "0u -> 1u"): "a ramp of no cycles",
    ("loop->reset_asked + 1u", "1u -> 2u"): "any other number",
    ("loop->reset_asked + 1u", "+ -> -"): "any other number",
    ("return (x < REAL(0.0)) ? -x : x;", "< -> <="): "0 has no sign",
    ("_shadow_moves(loop, tuning, q, qd) == 0) ? 1u", "1u -> 2u"): "a flag",
    ("_STORE(&loop->end_wanted, 1u)", "1u -> 2u"): "a flag",
    ("loop->fault_index = -1;", "1 -> 2"): "any negative number",
    ("observer->worst = (off > most)", "> -> >="): "two readings equally far off",
    ("robot_real_t most = REAL(0.0);", "0.0 -> 1.0"): "the worst reading is asked for where it is far beyond its noise",
}


def is_known(line: str, change: str) -> bool:
    """Whether a survivor is one of those."""
    return any(part in line and change == known for part, known in EQUIVALENT)


def left(every: int = 1, first: int = 0) -> list[str]:
    """What the tests do not notice and should."""
    tests = [f"tests/runtime/loop/{name}" for name in TESTS]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    unnoticed = []
    for survivor in survivors(FILES, command, every=every, first=first):
        line = source_line(survivor.path, survivor.mutant)
        if not is_known(line, f"{survivor.mutant.before} -> {survivor.mutant.after}"):
            unnoticed.append(f"{survivor}    | {line}")
    return unnoticed


def main() -> int:
    """0: every mutant but those that change nothing was noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants.loop_safety", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many mutants")
    parser.add_argument("--first", type=int, default=0, help="from this mutant on")
    options = parser.parse_args()
    unnoticed = left(options.every, options.first)
    print(f"{len(unnoticed)} unnoticed", *unnoticed, sep="\n")
    return int(bool(unnoticed))


if __name__ == "__main__":
    sys.exit(main())
