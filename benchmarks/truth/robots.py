"""Robot files in this project and in others: a page of the docs.

Every URDF of example-robot-data against Pinocchio, on a fixed and on a free base, and the files of other packages.

``python -m benchmarks robots`` writes docs/robots/robots-tried.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.race.against_pinocchio import compare, robots_folder
from benchmarks.race.comparison import Comparison
from benchmarks.race.robots import MissingPeerError
from benchmarks.race.tables import table
from benchmarks.truth import collections_tried

PAGE = Path(__file__).resolve().parents[2] / "docs" / "robots" / "robots-tried.md"
STATES = 100
_HEAD = f"""# Robots tried

Written by `python -m benchmarks robots`: every URDF of the package example-robot-data, on its fixed base and on a free
one, against Pinocchio at {STATES} random states. Compared are inverse dynamics, M, gravity, the centroidal momentum and its
matrix, C qd and C + C^T = dM/dt, the Jacobian of the last link and its rate, `integrate` and `difference` (free bases), and
forward dynamics (its accelerations, put into Pinocchio's inverse dynamics, must need the given forces; where M is positive
definite).
Mimic joints follow their leaders, and are eliminated by hand on Pinocchio's side. Files are taken literally (`snap=False`).
Errors are relative to the largest entry of what Pinocchio computes; the target is 1e-10. Operations are those of the
default, with rounded right angles made exact. Links whose inertia is not physical are named (a fixed base link does not count).

"""


def report(folders: Sequence[Path] = ()) -> list[str]:
    """Compare all of them, and the files of other packages and of folders, and write the page."""
    try:
        files = sorted(robots_folder().rglob("*.urdf"))
    except MissingPeerError as reason:
        return ["## Robots", "", f"- Left out: {reason}", ""]
    found = list(_compared(files))
    PAGE.write_text("\n".join([*page(found), *collections_tried.report(folders)]), encoding="utf-8")
    return ["## Robots", "", f"{_summary(found)} The table is in {PAGE.relative_to(PAGE.parents[1])}.", ""]


def _compared(files: Sequence[Path]) -> Iterator[Comparison]:
    for path in files:
        for base in ("fixed", "floating"):
            comparison = compare(path, base, STATES)
            worst = f"{comparison.worst[1]:.1e}" if comparison.errors else "-"
            print(f"{path.stem}, {base}: {comparison.result}, {worst}", file=sys.stderr, flush=True)
            yield comparison


def page(found: Sequence[Comparison]) -> list[str]:
    """The page of the documentation."""
    header = ["robot", "base", "joints", "nq / nv", "result", "worst error", "of", "mul + add of inverse dynamics"]
    return [*_HEAD.splitlines(), _summary(found), "", *table(header, [_row(comparison) for comparison in found]), ""]


def _summary(found: Sequence[Comparison]) -> str:
    compared = [comparison for comparison in found if comparison.errors]
    good = sum(comparison.worst[1] <= 1e-10 for comparison in compared)
    largest = max((comparison.worst[1] for comparison in compared), default=0.0)
    return f"{len(compared)} of {len(found)} were compared, {good} agree to 1e-10; the worst error of all is {largest:.1e}."


def _row(comparison: Comparison) -> list[str]:
    name, error = comparison.worst
    shown = [f"{error:.1e}", name.replace("_", " ")] if comparison.errors else ["", ""]
    sizes = f"{comparison.nq} / {comparison.nv}" if comparison.nv else ""
    joints = str(comparison.joints) if comparison.nv else ""
    operations = str(comparison.operations) if comparison.operations else ""
    return [comparison.name, comparison.base, joints, sizes, comparison.result, *shown, operations]
