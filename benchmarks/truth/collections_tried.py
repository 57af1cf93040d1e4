"""MJCF files against MuJoCo and SDF files against Drake: those inside installed packages, and in folders that are named.

``python -m benchmarks robots --collections DIR ...``: the collections themselves (Menagerie, Bullet's data) are not shipped.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from benchmarks.race import against_drake, against_mujoco
from benchmarks.race.against_pinocchio import Comparison
from benchmarks.race.tables import table

PACKAGES = ("mujoco", "dm_control", "gymnasium-robotics", "robosuite", "pybullet", "pybullet_data")
STATES, AGREED = 5, 1e-9


def report(folders: Sequence[Path]) -> list[str]:
    """The tables of both formats."""
    lines = ["## MJCF against MuJoCo, SDF against Drake", ""]
    for title, peer, suffix, root, compare in (
        ("MJCF", "mujoco", ".xml", b"<mujoco", against_mujoco.compare),
        ("SDF", "pydrake", ".sdf", b"<sdf", against_drake.compare),
    ):
        if find_spec(peer) is None:
            lines += [f"- {title}: left out, {peer} is not installed.", ""]
            continue
        found = list(_compared(sorted(set(_files(folders, suffix, root))), compare))
        lines += [f"### {title}", "", summary(found), "", *_table(found), ""]
    return lines


def _files(folders: Sequence[Path], suffix: str, root: bytes) -> Iterator[Path]:
    places = [path for folder in folders for path in folder.rglob(f"*{suffix}")]
    for package in PACKAGES:
        try:
            files = distribution(package).files or ()
        except PackageNotFoundError:
            continue
        places += [Path(str(file.locate())) for file in files if file.suffix == suffix]
    for path in places:
        if path.is_file() and root in path.read_bytes()[:4000]:
            yield path


def _compared(files: Sequence[Path], compare: Callable[[Path, int], Comparison]) -> Iterator[Comparison]:
    for path in files:
        try:
            found = compare(path, STATES)
        except Exception as problem:  # a finding: the file is named, and the others are still tried
            found = Comparison(path.stem, "", result=f"failed: {type(problem).__name__}: {problem}"[:110])
        found.name = f"{path.parent.name}/{path.name}"
        print(f"{found.name}: {found.result}, {found.worst[1]:.1e}", file=sys.stderr, flush=True)
        yield found


def summary(found: Sequence[Comparison]) -> str:
    """How many were loaded, refused and why, agree, and the worst error."""
    loaded = [one for one in found if one.nv]
    compared = [one for one in loaded if one.errors]
    agreed = [one for one in compared if one.worst[1] <= AGREED]
    worst = max(compared, key=lambda one: one.worst[1], default=None)
    refused = Counter(one.result.split(": ")[-1] for one in found if one.result.startswith("refused"))
    reasons = "; ".join(f"{count} {reason}" for reason, count in refused.most_common()) or "none"
    unread = sum("cannot read it" in one.result for one in found)
    failed = sum(one.result.startswith("failed") for one in found)
    shown = "" if worst is None else f"; the worst error is {worst.worst[1]:.1e} ({worst.name}, {worst.worst[0]})"
    return (
        f"{len(found)} files: {len(loaded)} loaded, {sum(refused.values())} refused ({reasons}), {unread} that the peer "
        f"does not read, {failed} failed. {len(compared)} compared, {len(agreed)} agree to {AGREED:g}{shown}."
    )


def _table(found: Sequence[Comparison]) -> list[str]:
    rows = [
        [one.name, str(one.nv or ""), one.result, f"{one.worst[1]:.1e}" if one.errors else "", one.worst[0].replace("_", " ")]
        for one in found
    ]
    return table(["file", "nv", "result", "worst error", "of"], rows)
