"""Batches beside those of the peers: Pinocchio's pool of models in threads, CasADi's map and MJX, all in one run."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elastogen
from benchmarks.race.kernels import shared_library
from benchmarks.race.machine import on_cores
from benchmarks.race.mjx import Mjx
from benchmarks.race.peers import casadi_sources
from benchmarks.race.robots import TITLES, MissingPeerError, Subject, joint_order, load_subject
from benchmarks.race.tables import table, verdict

STATES = 100_000
FUNCTIONS = {"inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "F")}
TARGETS = {"Pinocchio's pool": 8.0, "CasADi's map": 2.0}  # times the time of this project's, for inverse dynamics
TOLERANCES = {
    "Pinocchio's pool": 1e-8,
    "CasADi's map": 1e-10,
    "MJX": 1e-10,
}  # the first reads right angles as the file has them


@dataclass(frozen=True)
class Peer:
    """A batch: its results as an array (states, ...), the time of one call, and what ends it."""

    answer: Callable[[], NDArray[Any]]
    seconds: Callable[[], float]
    close: Callable[[], None] = lambda: None
    compile_seconds: float | None = None  # CPU time, where it compiles in this run


def report(robots: Sequence[str], work: Path, rounds: int) -> list[str]:
    """Table of times per state, with one thread (CPU time) and with one for each core (wall time)."""
    rows: list[list[str]] = []
    notes = ["Pinocchio's pool is as its wheel was compiled; its C++ for this processor is in the section speed"]
    cores = sorted({1, os.cpu_count() or 1})
    for name in robots:
        try:
            subject = load_subject(name, work)
        except MissingPeerError as missing:
            notes.append(f"left out: {TITLES[name]}: {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder, on_cores(cores[-1]):
            model = elastogen.build_model(subject.robot, outputs=list(FUNCTIONS), lanes=True, cache_dir=folder)
            for function, threads in [(function, threads) for function in FUNCTIONS for threads in cores]:
                found, remarks = _compare(subject, model, function, threads, work, max(5, rounds // 20))
                rows += found
                notes += [line for line in remarks if line not in notes]
    header = ["ns per state", "threads", "elastogen, lanes", "peer", "peer / elastogen (median)", "target", "reached"]
    lines = [f"- {note}" for note in notes]
    return [f"## Batches of {STATES} states beside the peers", "", *table(header, rows), "", *lines, ""]


def _compare(
    subject: Subject, model: elastogen.Model, function: str, threads: int, work: Path, rounds: int
) -> tuple[list[list[str]], list[str]]:
    states = list(np.random.default_rng(0).uniform(-1, 1, (3, STATES, model.nq)))
    given = dict(zip(FUNCTIONS[function], states, strict=True))
    out = np.empty((STATES, model.nq))

    def own() -> NDArray[Any]:
        return np.asarray(model.evaluate(function, out=out, threads=threads, **given))

    makers = {"Pinocchio's pool": _pinocchio, "CasADi's map": _casadi, "MJX": _mjx}
    rows: list[list[str]] = []
    notes: list[str] = []
    reference = own().copy()
    for label, make in makers.items():
        title = f"{TITLES[subject.name]} {function}, {label}"
        try:
            made = make(subject, function, threads, states, work)
        except MissingPeerError as missing:
            notes.append(f"left out: {label}: {missing}")
            continue
        with closing(made) as peer:
            error = float(np.abs(peer.answer() - reference).max() / np.abs(reference).max())
            if not error < TOLERANCES[label]:
                raise ArithmeticError(f"{function} of {subject.name}: {label} differs by {error:.1e}")
            samples = [(_seconds(own, threads), peer.seconds()) for _ in range(rounds)]
        mine, theirs = (min(times) / STATES * 1e9 for times in zip(*samples, strict=True))
        ratio = statistics.median(b / a for a, b in samples)
        target = TARGETS.get(label) if function == "inverse_dynamics" else None
        aim = ("-", "-") if target is None else (f"{target:g}", verdict(ratio >= target))
        rows.append([title, str(threads), f"{mine:.0f}", f"{theirs:.0f}", f"{ratio:.1f}", *aim])
        if peer.compile_seconds is not None:
            notes.append(f"{title}, threads: {threads}: compiled before, in {peer.compile_seconds:.0f} s of CPU time")
    return rows, notes


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

    def run() -> Any:
        return algorithm(threads, pool, *columns)

    return Peer(lambda: np.asarray(run())[place].T, lambda: _seconds(run, threads))


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

    def run() -> Any:
        return many.call(columns)[0]

    return Peer(lambda: np.asarray(run()).ravel(order="F").reshape(STATES, -1), lambda: _seconds(run, threads))


def _mjx(subject: Subject, function: str, threads: int, states: Sequence[NDArray[Any]], work: Path) -> Peer:
    """MuJoCo's dynamics in JAX, its own functions under ``jit`` and ``vmap``, in another process."""
    process = Mjx(subject, function, threads, states)
    return Peer(process.answer, process.seconds, process.close, process.compile_seconds)
