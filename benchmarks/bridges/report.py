"""The rows of the section ``bridges``: ratios of CPU times, contenders in turns, whose results agreed before."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elastogen
from benchmarks.bridges import actions, environments, gradients, optimal_control
from benchmarks.race.robots import MissingPeerError, Subject, load_subject
from benchmarks.race.tables import table, verdict

ROUNDS = 7


@dataclass(frozen=True)
class Race:
    """Two calls that do the same, or one whose time has a limit, and what is said of them."""

    title: str
    unit: str  # of what one call does
    per_call: float  # so many of them
    own: Callable[[], object]
    peer: Callable[[], object] | None
    target: float  # times the peer's speed; without a peer, seconds of a call at most


def report(work: Path, quick: bool) -> list[str]:
    """Table of all bridges that are installed; the others are named."""
    subject = load_subject("panda", work)
    model = elastogen.build_model(subject.robot, lanes=True)
    rows: list[list[str]] = []
    notes: list[str] = []
    parts: Sequence[Callable[[Subject, elastogen.Model, Path, bool], list[Race]]] = (
        gradients.torch_races, gradients.jax_races, gradients.mjx_races, environments.races, actions.races,
        optimal_control.races,
    )  # fmt: skip
    for part in parts:
        try:
            races = part(subject, model, work, quick)
        except (MissingPeerError, ImportError, elastogen.ModelError) as missing:
            notes.append(f"left out: {part.__module__.rpartition('.')[2]}.{part.__name__}: {missing}")
            continue
        rows += [_row(race) for race in races]
    header = ["Panda", "us", "peer", "peer / elastogen (median)", "target", "reached"]
    return ["## Bridges", "", *table(header, rows), "", *(f"- {note}" for note in notes), ""]


def _row(race: Race) -> list[str]:
    samples = [(_seconds(race.own), _seconds(race.peer) if race.peer else 0.0) for _ in range(ROUNDS)]
    mine, theirs = (min(times) / race.per_call * 1e6 for times in zip(*samples, strict=True))
    title = f"{race.title}, {race.unit}"
    if race.peer is None:
        return [title, f"{mine:.2f}", "-", "-", f"{race.target * 1e6:g} us", verdict(mine <= race.target * 1e6)]
    ratio = statistics.median(b / a for a, b in samples)
    aim = ("-", "-") if not race.target else (f"{race.target:g}", verdict(min(ratio, theirs / mine) >= race.target))
    return [title, f"{mine:.2f}", f"{theirs:.2f}", f"{theirs / mine:.1f} ({ratio:.1f})", *aim]


def _seconds(call: Callable[[], Any]) -> float:
    """CPU time of all threads of this process."""
    start = time.process_time()
    call()
    return time.process_time() - start
