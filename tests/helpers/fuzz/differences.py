"""Mutated files that another tool loads as well must mean the same to both: MJCF in MuJoCo, URDF in Pinocchio, SDF in Drake.

``python -m fuzz.differences --cases 1000``. Numbers of a file are replaced by moderate others, attributes are removed, elements
doubled. A file that one of the two refuses says nothing; one that both load, with other numbers, is a finding.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from fuzz.corpus import Original, originals

PEERS = {".xml": "mujoco", ".urdf": "pinocchio", ".sdf": "pydrake"}
NUMBERS = ("0", "1", "-1", "0.5", "2", "-0.3", "0.01", "0.707107", "1.5707963", "3.14159", "1e-6", "-0.25", "10")
AGREED = 1e-8
_NUMBER = re.compile(r"(?<=[\"\s>])-?\d+\.?\d*(?:e-?\d+)?(?=[\"\s<])")
_ATTRIBUTE = re.compile(  # but for products of inertia: where one is missing, urdfdom drops all of <inertial>, we take it as 0
    r"\s(?!i[xyz][xyz]=)\w+=\"[^\"<]*\""
)


def mutant(original: Original, rng: random.Random) -> str:
    """The text with one to four changes."""
    text = original.text
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        places = list((_NUMBER if rng.random() < 0.8 else _ATTRIBUTE).finditer(text))
        if places:
            place = rng.choice(places)
            text = text[: place.start()] + (rng.choice(NUMBERS) if place[0][0] != " " else "") + text[place.end() :]
    return text


def difference(text: str, suffix: str) -> tuple[str, float]:
    """What came of it ("equal", or why it was not compared), and the largest relative error."""
    from benchmarks.race import against_drake, against_mujoco, against_pinocchio

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"mutant{suffix}"
        path.write_text(text, encoding="utf-8")
        if suffix == ".xml":
            found = against_mujoco.compare(path, 2)
        elif suffix == ".sdf":
            found = against_drake.compare(path, 2)
        else:
            found = against_pinocchio.compare(path, "fixed", 2)
            found.errors = {name: found.errors[name] for name in ("inverse_dynamics", "mass_matrix") if name in found.errors}
    return found.result, found.worst[1]


def candidates() -> list[Original]:
    """Files whose other tool is installed."""
    return [original for original in originals() if find_spec(PEERS.get(original.suffix, "") or "no such module")]


def main() -> int:
    """Run the cases that the command line asks for, and keep findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    corpus, counts = candidates(), Counter[str]()
    for number in range(options.cases):
        rng = random.Random(f"{options.seed}/{number}")
        original = rng.choice(corpus)
        text = mutant(original, rng)
        result, error = difference(text, original.suffix)
        kind = "different" if error > AGREED else result.partition(":")[0]
        counts[kind] += 1
        if error > AGREED:
            options.findings.mkdir(exist_ok=True)
            kept = options.findings / f"difference-{options.seed}-{number}{original.suffix}"
            kept.write_text(text, encoding="utf-8")
            print(f"case {number}: {error:.1e} ({kept})", flush=True)
    print(dict(counts))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
