"""Batches beside those of the peers: Pinocchio's pool of models in threads, CasADi's map, all in one run."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elastogen
from benchmarks.race.kernels import shared_library
from benchmarks.race.peers import casadi_sources
from benchmarks.race.robots import TITLES, MissingPeerError, Subject, joint_order, load_subject
from benchmarks.race.tables import table, verdict

STATES = 100_000
FUNCTIONS = {"inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "F")}
TARGETS = {"Pinocchio's pool": 8.0, "CasADi's map": 2.0}  # times the time of this project's, for inverse dynamics
TOLERANCE = 1e-8  # Pinocchio reads right angles as the file has them, to nine digits
MJX = "MJX (JAX on the processor): it takes 19 packages of 640 MB, too much for the extra [bench]"


@dataclass(frozen=True)
class Peer:
    """What is timed, and its answer as an array (states, ...)."""

    run: Callable[[], Any]
    array: Callable[[Any], NDArray[Any]]


def report(robots: Sequence[str], work: Path, rounds: int) -> list[str]:
    """Table of times per state, with one thread (CPU time) and with one for each core (wall time)."""
    rows: list[list[str]] = []
    left_out = [MJX]
    cores = sorted({1, os.cpu_count() or 1})
    for name in robots:
        try:
            subject = load_subject(name, work)
        except MissingPeerError as missing:
            left_out.append(f"{TITLES[name]}: {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder, _all_cores():
            model = elastogen.build_model(subject.robot, outputs=list(FUNCTIONS), lanes=True, cache_dir=folder)
            for function, threads in [(function, threads) for function in FUNCTIONS for threads in cores]:
                found, missing_here = _compare(subject, model, function, threads, work, max(5, rounds // 20))
                rows += found
                left_out += [line for line in missing_here if line not in left_out]
    header = ["ns per state", "threads", "elastogen, lanes", "peer", "peer / elastogen (median)", "target", "reached"]
    notes = ["- Pinocchio's pool is as its wheel was compiled; its C++ for this processor is in the section speed"]
    notes += [f"- left out: {line}" for line in left_out]
    return [f"## Batches of {STATES} states beside the peers", "", *table(header, rows), "", *notes, ""]


@contextmanager
def _all_cores() -> Iterator[None]:
    """The other benchmarks are pinned to one core; threads want all of them."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _compare(
    subject: Subject, model: elastogen.Model, function: str, threads: int, work: Path, rounds: int
) -> tuple[list[list[str]], list[str]]:
    states = list(np.random.default_rng(0).uniform(-1, 1, (3, STATES, model.nq)))
    given = dict(zip(FUNCTIONS[function], states, strict=True))
    out = np.empty((STATES, model.nq))

    def own() -> NDArray[Any]:
        return np.asarray(model.evaluate(function, out=out, threads=threads, **given))

    makers = {"Pinocchio's pool": _pinocchio, "CasADi's map": _casadi}
    rows: list[list[str]] = []
    left_out: list[str] = []
    for label, make in makers.items():
        try:
            peer = make(subject, function, threads, states, work)
        except MissingPeerError as missing:
            left_out.append(f"{label}: {missing}")
            continue
        reference = own().copy()
        error = float(np.abs(peer.array(peer.run()) - reference).max() / np.abs(reference).max())
        if not error < TOLERANCE:
            raise ArithmeticError(f"{function} of {subject.name}: {label} differs by {error:.1e}")
        samples = [(_seconds(own, threads), _seconds(peer.run, threads)) for _ in range(rounds)]
        mine, theirs = (min(times) / STATES * 1e9 for times in zip(*samples, strict=True))
        ratio = statistics.median(b / a for a, b in samples)
        target = TARGETS[label] if function == "inverse_dynamics" else None
        aim = ("-", "-") if target is None else (f"{target:g}", verdict(ratio >= target))
        title = f"{TITLES[subject.name]} {function}, {label}"
        rows.append([title, str(threads), f"{mine:.0f}", f"{theirs:.0f}", f"{ratio:.1f}", *aim])
    return rows, left_out


def _seconds(call: Callable[[], Any], threads: int) -> float:
    """CPU time of one thread, which others do not disturb; wall time of several."""
    clock = time.process_time if threads == 1 else time.perf_counter
    start = clock()
    call()
    return clock() - start


def _pinocchio(subject: Subject, function: str, threads: int, states: Sequence[NDArray[Any]], work: Path) -> Peer:
    """Its own module, as the wheel was compiled; states are columns."""
    import pinocchio

    algorithm = getattr(pinocchio, {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}[function], None)
    if algorithm is None:
        raise MissingPeerError("the installed Pinocchio was compiled without OpenMP")
    model = pinocchio.buildModelFromUrdf(str(work / f"{subject.name}.urdf"))
    place = [model.joints[index].idx_v for index in joint_order(model, subject.robot)]
    columns = [np.empty((model.nv, STATES), order="F") for _ in states]
    for column, array in zip(columns, states, strict=True):
        column[place] = array.T
    pool = pinocchio.ModelPool(model, threads)
    return Peer(lambda: algorithm(threads, pool, *columns), lambda answer: np.asarray(answer)[place].T)


def _casadi(subject: Subject, function: str, threads: int, states: Sequence[NDArray[Any]], work: Path) -> Peer:
    """Its own C, compiled for this processor, mapped over matrices that are made before."""
    source = casadi_sources(subject, work)[function]
    import casadi

    symbol = f"casadi_{function}"
    flags = ["cc", "-O3", "-march=native"]
    library = shared_library(work, f"casadi-map-{function}-{subject.name}", {f"{symbol}.c": source}, flags)
    one = casadi.external(symbol, str(library))
    many = one.map(STATES, "serial") if threads == 1 else one.map(STATES, "thread", threads)
    columns = [casadi.DM(array.T) for array in states]

    return Peer(
        lambda: many.call(columns)[0],
        lambda answer: np.asarray(answer).ravel(order="F").reshape(STATES, -1),
    )
