"""Runs mutated robot files through load, check, generate and the compiler: ``make fuzz CASES=100000``.

A case may end in a robot, or in an error of elastogen. Anything else is a finding: another exception, C that does not
compile, more than 10 s, more than 1 GB.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from types import FrameType
from typing import Any

from elastogen.build.files.render import render_model
from elastogen.build.options import EmitOptions
from elastogen.describe import describe
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import ElastogenError
from fuzz.corpus import Original, originals
from fuzz.grown import grown
from fuzz.mutations import mutate

SECONDS = {"check": 10, "emission": 120}  # of CPU time: other processes do not count
MEMORY = 1 << 30  # bytes on top of what the process needs before the first case
GROWN = 0.03  # share of the cases that are deep or long, not mutated
OUTPUTS = (None, ("inverse_dynamics",), ("mass_matrix", "jacobian"), ("simulation",), "all")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror", "-fsyntax-only")


class HangError(BaseException):
    """A case that took too long; no `except Exception` stops it."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: ``kind`` is "loaded", "refused", "generated", "compiled" or "finding"."""

    number: int
    kind: str
    text: str = ""
    suffix: str = ""
    trace: str = ""


def run_case(
    number: int, seed: int, corpus: list[Original], generated: float, compiled: float, largest: int, plain: bool = False
) -> Outcome:
    """One case, mutated unless ``plain``; ``generated`` and ``compiled`` are the shares that go so far.

    Robots of more than ``largest`` coordinates do not.
    """
    rng = random.Random(f"{seed}/{number}")
    original = rng.choice(corpus)
    text = original.text if plain else mutate(original, corpus, rng)
    apart = random.Random(f"{seed}/{number}/grown")
    if apart.random() < GROWN and not plain:
        original = grown(apart)
        text = original.text
    outputs, precision, depth = rng.choice(OUTPUTS), rng.choice(("double", "float")), rng.random()
    kind = "finding"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"mutant{original.suffix}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            signal.setitimer(signal.ITIMER_PROF, SECONDS["check"])
            robot = load(path, mimic=rng.choice(("follow", "error", "independent")), friction=rng.random() < 0.5,
                         allow_xacro=True)  # fmt: skip
            describe(robot)
            kind = "loaded"
            if depth < generated and len(robot.coordinates) <= largest:
                signal.setitimer(signal.ITIMER_PROF, SECONDS["emission"])
                derivation = derive_model(robot, outputs)
                model = render_model(derivation, EmitOptions(precision=precision))
                kind = "generated"
                if depth < compiled:
                    _compile(Path(folder), {**model.c_files, **model.simulation, **model.bundle})
                    kind = "compiled"
        except ElastogenError as error:
            if not str(error).isprintable() and "\n" not in str(error):
                return Outcome(number, "finding", text, original.suffix, f"unprintable message: {error!r}")
            return Outcome(number, "refused")
        except (Exception, HangError):
            return Outcome(number, "finding", text, original.suffix, traceback.format_exc())
    return Outcome(number, kind)


def _compile(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    command = ["cc", *FLAGS, "-I.", *(name for name in files if name.endswith(".c"))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)  # a clock: others may be busy
    if done.returncode:
        raise RuntimeError(f"the compiler refuses the emitted C: {done.stderr[:2000]}")


def guarded(arguments: tuple[Any, ...]) -> Outcome:
    """One case with limits on time and memory."""

    def stop(_: int, __: FrameType | None) -> None:
        raise HangError

    signal.signal(signal.SIGPROF, stop)
    try:
        return run_case(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def limit_memory() -> None:
    """Let this process grow by 1 GB from here."""
    os.nice(10)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))


def main() -> int:
    """Run the cases that the command line asks for, print a summary, keep the findings in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generated", type=float, default=0.1, help="share of the cases that go on to C (default 0.1)")
    parser.add_argument("--compiled", type=float, default=0.02, help="share of the cases that are compiled (default 0.02)")
    parser.add_argument("--largest", type=int, default=30, help="coordinates of a robot that goes on to C (default 30)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="folder for files that found something")
    options = parser.parse_args()
    corpus = originals()
    numbers = range(options.first, options.first + options.cases)
    work = ((number, options.seed, corpus, options.generated, options.compiled, options.largest) for number in numbers)
    counts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    start = time.monotonic()
    with Pool(options.processes, limit_memory, maxtasksperchild=2000) as pool:
        for outcome in pool.imap_unordered(guarded, work, chunksize=8):
            counts[outcome.kind] += 1
            if outcome.kind == "finding":
                options.findings.mkdir(exist_ok=True)
                kept = options.findings / f"{options.seed}-{outcome.number}{outcome.suffix}"
                kept.write_bytes(outcome.text.encode("utf-8", "surrogatepass"))
                kept.with_suffix(".txt").write_text(outcome.trace)
                places[_place(outcome.trace)] += 1
                print(f"case {outcome.number}: {_place(outcome.trace)}  ({kept})", flush=True)
    seconds = time.monotonic() - start
    print(f"{sum(counts.values())} cases of seed {options.seed} in {seconds:.0f} s: {dict(counts)}")
    for place, count in places.most_common():
        print(f"  {count} x {place}")
    return 1 if counts["finding"] else 0


def _place(trace: str) -> str:
    """Where a finding came from: the last line of ours, and the last line of the trace."""
    lines = [line.strip() for line in trace.splitlines() if "elastogen/" in line and "File" in line]
    return f"{lines[-1] if lines else ''} {trace.strip().splitlines()[-1][:160]}"


if __name__ == "__main__":
    sys.exit(main())
