"""Robot files inside installed packages, and in folders that are named, against MuJoCo, Drake and Pinocchio.

``python -m benchmarks robots --collections DIR ...``: collections themselves (Menagerie, ...) are not shipped.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from benchmarks.race import against_drake, against_mujoco, against_pinocchio
from benchmarks.race.comparison import Comparison
from benchmarks.race.tables import table

PACKAGES = ("mujoco", "dm_control", "gymnasium-robotics", "robosuite", "pybullet")
STATES, AGREED = 3, 1e-9


@dataclass(frozen=True)
class Format:
    """Files of one format, and who else reads them."""

    title: str
    peer: str  # the module
    suffix: str
    root: bytes  # what such files contain near their beginning
    compare: Callable[[Path, int], Comparison]


FORMATS = (
    Format("MJCF", "mujoco", ".xml", b"<mujoco", against_mujoco.compare),
    Format("SDF", "pydrake", ".sdf", b"<sdf", against_drake.compare),
    Format("URDF", "pinocchio", ".urdf", b"<robot", lambda path, states: against_pinocchio.compare(path, "fixed", states)),
)


def report(folders: Sequence[Path]) -> list[str]:
    """A row for each collection and format, then what was not loaded, or does not agree, and why."""
    lines = [
        "## Files inside packages", "",
        "MJCF against MuJoCo (M, inverse dynamics, the tip's Jacobian; of robots with loops M, C qd, G and constrained",
        "accelerations), SDF against Drake, URDF on a fixed base against Pinocchio,",
        f"at {STATES} random states, to {AGREED:g} of the largest entry. Files that describe no robot (objects, parts to be",
        "included) are among those without moving joints. The files are those of the packages' wheels, as installed.", "",
    ]  # fmt: skip
    rows, reasons = [], []
    for kind in FORMATS:
        if find_spec(kind.peer) is None:
            lines += [f"- {kind.title}: left out, {kind.peer} is not installed.", ""]
            continue
        for collection, files in _collections(folders, kind):
            if not files:
                continue
            found = list(_compared(collection, files, kind))
            rows.append(_row(collection, kind.title, found))
            reasons += [f"{collection}, {kind.title}: {text}" for text in _reasons(found)]
    header = ["collection", "format", "files", "loaded", "refused", "not read by the peer", "agree", "worst error", "of"]
    return [
        *lines,
        *table(header, rows),
        "",
        "What was refused, not compared, or differs:",
        "",
        *(f"- {r}" for r in reasons),
        "",
    ]


def _collections(folders: Sequence[Path], kind: Format) -> Iterator[tuple[str, list[Path]]]:
    """Names and files of one format, each file once."""
    for package in PACKAGES:
        try:
            files = distribution(package).files or ()
        except PackageNotFoundError:
            continue
        yield package, _of_format((Path(str(file.locate())) for file in files if file.suffix == kind.suffix), kind)
    for folder in folders:
        yield folder.name, _of_format(folder.rglob(f"*{kind.suffix}"), kind)


def _of_format(paths: Iterator[Path], kind: Format) -> list[Path]:
    return sorted({path for path in paths if path.is_file() and kind.root in path.read_bytes()[:4000]})


def _compared(collection: str, files: Sequence[Path], kind: Format) -> Iterator[Comparison]:
    for path in files:
        try:
            found = kind.compare(path, STATES)
        except Exception as problem:  # a finding: the file is named, and the others are still tried
            found = Comparison(path.stem, "", result=f"failed: {type(problem).__name__}: {problem}"[:110])
        found.name = f"{path.parent.name}/{path.name}"
        print(f"{collection}, {found.name}: {found.result}, {found.worst[1]:.1e}", file=sys.stderr, flush=True)
        yield found


def _row(collection: str, title: str, found: Sequence[Comparison]) -> list[str]:
    loaded = [one for one in found if one.nv]
    compared = [one for one in loaded if one.errors]
    refused = sum(one.result.startswith("refused") for one in found)
    unread = sum("cannot read it" in one.result for one in found)
    agreed = sum(one.worst[1] <= AGREED for one in compared)
    worst = max(compared, key=lambda one: one.worst[1], default=None)
    shown = ["", ""] if worst is None else [f"{worst.worst[1]:.1e}", f"{worst.name}, {worst.worst[0].replace('_', ' ')}"]
    return [
        collection, title, str(len(found)), str(len(loaded)), str(refused), str(unread), f"{agreed} of {len(compared)}", *shown,
    ]  # fmt: skip


def _reasons(found: Sequence[Comparison]) -> list[str]:
    """Why files were refused, with their number; files that differ or failed by name."""
    reasons = Counter(
        one.result.rpartition(": ")[2] if one.result.startswith("refused") else one.result.partition(": ")[0]
        for one in found
        if one.result.startswith(("refused", "not compared")) or "cannot read it" in one.result
    )
    lines = [f"{count} files: {reason}" for reason, count in reasons.most_common()]
    lines += [f"{one.name}: {one.result}" for one in found if one.result.startswith("failed")]
    for one in found:
        if one.worst[1] > AGREED:
            why = "" if one.result == "equal" else f" ({one.result})"
            lines.append(f"{one.name}: {one.worst[0]} differs by {one.worst[1]:.1e}{why}")
    return lines
