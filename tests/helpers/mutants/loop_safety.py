"""The mutants of the loop's safety code: ``python -m mutants.loop_safety [--every 5]``, or ``make loop-mutants``."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants.mutations import Mutant
from mutants.run import Trial, chosen, source_line
from mutants.schemata import with_mutants

FILES = (
    *(f"templates/loop/safety/robot_loop_{name}.h" for name in ("safety", "watch", "rest", "reset", "predict", "fault")),
    *(f"templates/loop/cycle/robot_loop_{name}.h" for name in ("sound", "sense", "command", "cycle", "gains")),
    "templates/loop/observe/robot_loop_observe.h",
    "templates/loop/thread/robot_loop_overrun.h",
)
TESTS = (
    "safety/test_loop_boundaries.py", "safety/test_loop_safety.py", "safety/test_loop_watchdog.py",
    "safety/test_loop_changes.py", "test_loop_schedule.py", "robots/test_loop_free.py", "test_loop_time.py",
    "safety/test_loop_monte_carlo.py", "../sensing/test_observer_in_the_loop.py", "safety/test_loop_attacks.py",
    "robots/test_loop_mechanisms.py", "test_loop_controllers.py", "safety/test_loop_trips.py", "safety/test_loop_exactly.py",
    "safety/test_loop_each_term.py", "safety/test_loop_stop_laws.py", "safety/test_loop_random_calls.py",
    "safety/test_loop_stuck_sensors.py",
)  # fmt: skip
LEFT_OUT = "not is_clean and not without_a_warning"  # a file with all its mutants is not clean
# Changes that change nothing, by a part of the line and the change. Found by looking at each survivor.
EQUIVALENT = {
    ("nobody sees that it is at rest", "0u -> 1u"): "still fewer than ten cycles in a row",
    ("loop->rest_cycles = 0u;", "0u -> 1u"): "still fewer than ten cycles in a row",
    ("loop->blind = 1u;", "1u -> 2u"): "a flag",
    ("loop->lost = 1u;", "1u -> 2u"): "a flag",
    ("loop->seen = 1u;", "1u -> 2u"): "a flag",
    ("loop->view.begins = ", "1 -> 2"): "a flag",
    ("loop->bump_wanted = 1u;", "1u -> 2u"): "a flag",
    ("suspicious |= ", "1 -> 2"): "a flag",
    ("int found = -1;", "1 -> 2"): "any negative number",
    ("(k < options->periods)) ? options->periods", "< -> <="): "the run is over then",
    ("next = (next < last) ? next : last;", "< -> <="): "both are the same",
    ("observer->started = 1u;", "1u -> 2u"): "a flag",
    ("(k < ROBOT_NQ) ? loop->sound_q[k]", "< -> <="): "velocities stand behind positions in memory",
    ("(k < ROBOT_NQ) ? loop->sound_q[k]", "< -> >"): "velocities stand behind positions in memory",
    ("(i < ROBOT_NQ) ? view->q[i]", "< -> <="): "velocities stand behind positions in memory",
    ("(i < ROBOT_NQ) ? view->q[i]", "< -> >"): "velocities stand behind positions in memory",
    ("(thread->row > statistics->longest_row)", "> -> >="): "both are the same",
    ("falls |= ", "1 -> 2"): "a flag",
    ("last = (F < -limit)", "< -> <="): "both are the limit",
    ("last = (F < -limit)", "> -> >="): "both are the limit",
    ("robot_loop_releases(loop, tuning, 1)", "1 -> 2"): "a flag",
    ("differ |= ", "1 -> 2"): "a flag",
    ("what was smoothed is the controller's", "0u -> 1u"): "a bump that began in this cycle is not added in a later one",
    ("(tuning->stop_ticks - stopping) : 0u;", "0u -> 1u"): "without time the loop has ended, or the fade has only begun",
    (", -1)", "1 -> 2"): "any negative number",
    ("return 1;", "1 -> 2"): "any number but 0",
    ("int status = 1;", "1 -> 2"): "any number but 0",
    ("shadow->substeps = ", "0u -> 1u"): "one is one",
    ("(fastest > REAL(0.0)); ++i", "> -> >="): "0 / 0 is not greater than anything",
    ("most = (power > most) ? power : most;", "> -> >="): "both are the same",
    ("(loop->view.tuning == NULL)", "== -> !="): "the first cycle takes the gains then",
    ("if (loop->gain_ticks > 0u)", "> -> >="): "a ramp of no cycles is over: the gains are those that it leads to",
    ("const int over = passed >= loop->gain_ticks;", ">= -> >"): "at its end a ramp is at its end",
    ("loop->gain_ticks = over ? 0u", "0u -> 1u"): "that ramp is over, too",
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
    ("most = (off > most) ? off : most;", "> -> >="): "two readings equally far off",
    ("wrong |= ", "1 -> 2"): "a flag",
    ("((before > now) ? before : now)", "> -> >="): "both are the same",
    ("((options->periods > 0u) && (k < options->periods))", "> -> >="): "no number is less than 0",
    ("(loop->stuck[i] + (change", "+ -> -"): "only its size counts",
    ("(ROBOT_LOOP_DOUBTFUL * tuning->jump[k])", "0.0 -> 1.0"): "a velocity without a coordinate beside it is never doubted",
    ("(off < most)", "< -> <="): "both are nothing",
    ("robot_real_t most = REAL(0.0);", "0.0 -> 1.0"): "the worst reading is asked for where it is far beyond its noise",
}


def is_known(line: str, change: str) -> bool:
    """Whether a survivor is one of those."""
    return any(part in line and change == known for part, known in EQUIVALENT)


@dataclass(frozen=True)
class Found:
    """A mutant, and the test that noticed it; "" is none."""

    path: str
    mutant: Mutant
    by: str

    def __str__(self) -> str:
        return f"{self.path}:{self.mutant}    | {source_line(self.path, self.mutant)}"


def wanted(every: int = 1, first: int = 0, lines: str = "", files: Sequence[str] = FILES) -> dict[int, tuple[str, Mutant]]:
    """The mutants that change something, by their numbers."""
    chosen_ones = enumerate(chosen(files, lines, every, first))
    return {
        number: (path, mutant)
        for number, (path, mutant) in chosen_ones
        if not is_known(source_line(path, mutant), f"{mutant.before} -> {mutant.after}")
    }


def run(mutants: Mapping[int, tuple[str, Mutant]], tests: Sequence[str] = TESTS) -> list[Found]:
    """Every mutant with the test that notices it: one build of a copy of the tree in which all of them are."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        names = [f"tests/runtime/loop/{name}" for name in tests]
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "mutants.forked", "-k", LEFT_OUT]
        trial = Trial([sys.executable, "-m", "pytest", *options, *names], math.inf, Path(folder))
        for path in {path for path, _ in mutants.values()}:
            own = {number: mutant for number, (where, mutant) in mutants.items() if where == path}
            place = trial.tree / path
            place.write_text(with_mutants(path, place.read_text(encoding="utf-8"), own), encoding="utf-8")
        asked, answers = Path(folder) / "wanted.json", Path(folder) / "found.jsonl"
        asked.write_text(json.dumps({number: path for number, (path, _) in mutants.items()}), encoding="utf-8")
        said = trial.output({"ELASTOGEN_MUTANTS": str(asked), "ELASTOGEN_MUTANTS_FOUND": str(answers)})
        rows = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()] if answers.exists() else []
        if len(rows) != len(mutants):
            raise SystemExit(f"{len(rows)} of {len(mutants)} mutants were run:\n{said}")
        return [Found(*mutants[number], by) for number, by, _ in sorted(rows)]


def left(every: int = 1, first: int = 0) -> list[str]:
    """What the tests do not notice and should."""
    return [str(found) for found in run(wanted(every, first)) if not found.by]


def main() -> int:
    """0: every mutant but those that change nothing was noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants.loop_safety", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many mutants")
    parser.add_argument("--first", type=int, default=0, help="from this mutant on")
    parser.add_argument("--lines", default="", help="FIRST-LAST: only mutants of these lines")
    parser.add_argument("--file", action="append", help="only mutants of the files with this in their path")
    parser.add_argument("--report", type=Path, help="a file for all mutants, each with the test that notices it")
    options = parser.parse_args()
    files = [path for path in FILES if any(part in path for part in options.file or [""])]
    found = run(wanted(options.every, options.first, options.lines, files))
    if options.report:
        options.report.write_text("".join(f"{each}    <- {each.by or 'NOBODY'}\n" for each in found), encoding="utf-8")
    unnoticed = [str(each) for each in found if not each.by]
    print(f"{len(found)} mutants, {len(unnoticed)} unnoticed", *unnoticed, sep="\n")
    return int(bool(unnoticed))


if __name__ == "__main__":
    sys.exit(main())
