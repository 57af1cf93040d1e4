"""``make mutants``: changes at random places of the tree, each run against the tests of its room; prints what survives.

python -m mutants.rooms --count 100 --seed 1 [--room integrators]   (with tests/helpers on the path)
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants import loop_safety
from mutants.in_place import is_in_a_function
from mutants.mutations import Mutant, mutants_of
from mutants.run import ROOT, Trial, described, source_line


@dataclass(frozen=True)
class Room:
    """Files, and the tests that are to notice a change of them."""

    files: tuple[str, ...]  # patterns from the root of the tree
    tests: tuple[str, ...]


TIMEOUT = 900.0  # seconds after which the run of a mutant alone counts as noticed
STYLE = "not formatted and not tidy"
"""Left out of every run: a change of a line's length is no behaviour."""

ROOMS = {
    "algorithms": Room(
        ("generator/algorithms/**/*.py",),
        (
            *(f"tests/generator/{folder}" for folder in ("algorithms", "points", "exponentials", "frames")),
            "tests/generator/functions/test_articulated_bodies.py",
        ),
    ),
    "joints": Room(("generator/joints/*.py", "generator/joints/by_formula/*.py"), ("tests/generator/joints",)),
    "sliding": Room(
        ("generator/joints/on_beams/*.py", "generator/sliding/*.py"),
        (
            *(f"tests/generator/{part}" for part in ("sliding", "points/test_telescopic_points.py", "exponentials")),
            "tests/front_door/test_second_derivation.py",
        ),
    ),
    "importers": Room(("generator/description/formats/**/*.py",), ("tests/generator/description", "tests/generator/inputs")),
    "integrators": Room(
        ("templates/simulate/**/*.[ch]", "templates/linear/*.h", "templates/drives/*.h"),
        (
            "tests/build/plain_c",
            *(f"tests/runtime/simulation/test_simulate_{part}.py" for part in ("methods", "inputs", "limits", "lanes")),
            "tests/generator/sliding/test_element_switches.py",
            *(f"tests/generator/loops/test_{part}.py" for part in ("closed_motions", "loops_in_c")),
        ),
    ),
    "switches": Room(("templates/switch/*.[ch]",), ("tests/build/plain_c", "tests/generator/sliding/test_element_switches.py")),
    "kinematics": Room(
        ("templates/inverse_kinematics/*.[ch]",),
        ("tests/runtime/model/test_inverse_kinematics.py", "tests/build/test_frames_in_c.py"),
    ),
    "shared_memory": Room(
        ("templates/shared_memory/*.[ch]",), tuple(f"tests/runtime/loop/test_shared_{part}.py" for part in ("memory", "names"))
    ),
    "loop": Room(
        ("templates/loop/**/*.[ch]",),
        ("tests/build/plain_c", "tests/runtime/loop", "tests/runtime/model/test_discrete_linearization.py"),
    ),
    "emission": Room(("build/plain_c/*.py",), ("tests/build/plain_c",)),
    "emitted": Room(
        ("build/c/**/*.py", "templates/model/*.j2", "templates/sincos/*.j2", "templates/lanes/*.j2"),
        (
            *(f"tests/build/test_{part}.py" for part in ("golden", "c_body", "sincos", "functions_in_c", "few_registers")),
            "tests/build/module",
            "tests/runtime/model",
            *(f"tests/generator/functions/test_{part}.py" for part in ("isomorphic_subtrees", "solution_columns")),
        ),
    ),
    "lanes": Room(("templates/lanes/*.[ch]",), ("tests/build/plain_c", "tests/runtime/simulation/test_simulate_lanes.py")),
    "observers": Room(
        ("templates/observers/*.[ch]",),
        (
            *(
                f"tests/identification/test_{part}.py"
                for part in ("momentum_observer", "collision", "elastic_states", "online_estimator")
            ),
            "tests/runtime/sensing",
        ),
    ),
    "estimation": Room(("templates/estimation/*.[ch]",), ("tests/build/estimation", "tests/runtime/sensing")),
    "trajectories": Room(
        ("templates/trajectory/*.[ch]",),
        ("tests/build/plain_c", *(f"tests/runtime/simulation/test_{part}.py" for part in ("trajectory", "simulate_inputs"))),
    ),
    "mechanisms": Room(("templates/loops/*.[ch]",), ("tests/build/plain_c", "tests/generator/loops")),
    "fmu": Room(("templates/export/fmu*/*.[ch]",), ("tests/build/export",)),
}

EQUIVALENT = {  # changes that change nothing, by a part of the line and the change. Found by looking at each survivor.
    ("geom.mass != 0 and (geom.mass > 0", "> -> >="): "a mass of zero is excluded before",
    ("return all(abs(float(c)) < ROUNDING", "< -> <="): "no rounding error is exactly the bound",
    ("line += [self.graph.value(0)] * (len(numbers) - len(line))", "- -> +"): "powers with the coefficient zero are left out",
    ("if max(pair) < 2 * k - 2]", "- -> +"): "these are the nodes of the element inside, which is clamped",
    ("((least < REAL(0.0)) || (square < least)", "< -> <="): "without any error it is on the target",
    ("row[j] += step[k] * ekf->P[(k", "+= -> -="): "S and -S are roots of the same covariance",
    ("stage[node] = latest + latest % 2", "2 -> 4"): "an even number that comes later, too",
    ("malloc(strlen(name) + 1u)", "1u -> 2u"): "a byte too much",
}


def is_equivalent(path: str, mutant: Mutant) -> bool:
    """Whether a change is known to change nothing."""
    line, change = source_line(path, mutant), f"{mutant.before} -> {mutant.after}"
    return any(part in line and change == known for part, known in EQUIVALENT) or (
        path in loop_safety.FILES and loop_safety.is_known(line, change)
    )


def drawn(rooms: dict[str, Room], count: int, seed: int) -> list[tuple[str, str, Mutant]]:
    """Room, file and change: so many of all that there are, the same for the same seed."""
    files = [
        (name, path.relative_to(ROOT).as_posix())
        for name, room in sorted(rooms.items())
        for pattern in room.files
        for path in sorted(ROOT.glob(pattern))
    ]
    every = [
        (name, path, mutant)
        for name, path in files
        for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))
        if not is_equivalent(path, mutant)
    ]
    return sorted(random.Random(seed).sample(every, min(count, len(every))), key=lambda found: found[:2])


def run_room(room: Room, mutants: Sequence[tuple[str, Mutant]]) -> Iterator[tuple[str, Mutant, str]]:
    """Each mutant with the test that notices it, "" is none: the tests are collected once, and run in one process a mutant."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", STYLE]
        trial = Trial([*command, "-p", "mutants.in_place", *room.tests], TIMEOUT, Path(folder))
        plain = Trial.beside(trial, [*command, *room.tests])
        apart = [k for k, (path, mutant) in enumerate(mutants) if path.endswith(".py") and not _in_a_function(path, mutant)]
        asked, answers = Path(folder) / "wanted.json", Path(folder) / "found.jsonl"
        together = {number: path for number, (path, _) in enumerate(mutants) if number not in apart}
        asked.write_text(json.dumps(together), encoding="utf-8")
        asked.with_suffix(".texts").write_text(json.dumps({k: mutants[k][1].text for k in together}), encoding="utf-8")
        said = trial.output({"ELASTOGEN_MUTANTS": str(asked), "ELASTOGEN_MUTANTS_FOUND": str(answers)})
        rows = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()] if answers.exists() else []
        if len(rows) != len(together):
            raise SystemExit(f"{len(rows)} of {len(together)} mutants were run:\n{said}")
        yield from ((*mutants[number], by) for number, by, _ in rows)
        yield from ((*mutants[k], "" if plain.survives(*mutants[k]) else plain.noticed_by) for k in apart)


def _in_a_function(path: str, mutant: Mutant) -> bool:
    return is_in_a_function((ROOT / path).read_text(encoding="utf-8"), mutant.line)


def main() -> int:
    """0: every change was noticed."""
    parser = argparse.ArgumentParser(prog="python -m mutants.rooms", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of changes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", choices=sorted(ROOMS), action="append", help="only of these rooms")
    parser.add_argument("--list", action="store_true", help="name the changes, run nothing")
    options = parser.parse_args()
    found = drawn({name: ROOMS[name] for name in options.room or ROOMS}, options.count, options.seed)
    if options.list:
        print(*(f"{name}: {described(path, mutant)}" for name, path, mutant in found), sep="\n")
        return 0
    survived = 0
    for name in sorted({name for name, _, _ in found}):
        for path, mutant, by in run_room(ROOMS[name], [(path, mutant) for room, path, mutant in found if room == name]):
            survived += not by
            text = f"noticed by {by}" if by else f"survives, {name}"
            print(f"{text}: {described(path, mutant)}", file=sys.stderr if by else sys.stdout, flush=True)
    print(f"{survived} of {len(found)} survive")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
