"""Derivatives of inverse and forward dynamics: the emitted C beside Pinocchio's C++ and CasADi's differentiated programs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.functions.speed import CASADI_O2, FUSED, OURS, PINOCCHIO, Result
from benchmarks.race.kernels import DERIVATIVES, Race
from benchmarks.race.ours import one_kernel, toolchain
from benchmarks.race.peers import casadi_kernel, casadi_sources, pinocchio_kernels
from benchmarks.race.robots import TITLES, MissingPeerError, Subject, load_subject
from benchmarks.race.tables import nanoseconds, table, verdict
from elastogen.generator.functions.derivation import derive_model

INVERSE, FORWARD = DERIVATIVES
TARGETS = {INVERSE: ((PINOCCHIO, 6.0), (CASADI_O2, 2.0)), FORWARD: ((PINOCCHIO, 6.0), (CASADI_O2, 2.0))}
COLUMNS = (OURS, FUSED, PINOCCHIO, CASADI_O2)


def report(robots: Iterable[str], work: Path, rounds: int) -> list[str]:
    """Times, ratios, targets and operations, one row for each robot and function."""
    lines, rows = ["## Derivatives", ""], []
    for robot in robots:
        try:
            subject = load_subject(robot, work)
            for name in DERIVATIVES:
                rows.append(_row(subject, name, work, rounds))
        except MissingPeerError as reason:
            return [*lines, f"- Left out: {reason}", ""]
    words = "CPU time of one evaluation in ns, shortest (median); ratios of the shortest times (median of those in a round):"
    header = ["robot", "function", "operations", *COLUMNS, "times Pinocchio C++", "times CasADi C", "target", "reached"]
    return [*lines, words, "", *table(header, rows), ""]


def _row(subject: Subject, name: str, work: Path, rounds: int) -> list[str]:
    size = len(subject.robot.coordinate_names)
    derivation = derive_model(subject.robot, (name,))
    race = Race(name, size, work)
    race.add(one_kernel(derivation, name, size, work))
    contracted = one_kernel(derivation, name, size, work, command=(*toolchain().command, *toolchain("fast").flags))
    contracted.label = FUSED
    race.add(contracted)
    race.add(pinocchio_kernels(subject, work, derivatives=True)[name])
    source = casadi_sources(subject, work, (name,))[name]
    race.add(casadi_kernel(name, source, size, ("-O2", "-march=native"), work, CASADI_O2))
    race.run(rounds)
    result = Result(subject.name, name, {kernel.label: kernel for kernel in race.kernels})
    ratios = [(result.ratio(peer), least) for peer, least in TARGETS[name]]
    shown = [f"{ratio.shortest:.2f}x ({ratio.paired:.2f}x)" for ratio, _ in ratios if ratio is not None]
    times = [nanoseconds(result.kernels[label].times) for label in COLUMNS]
    target = " and ".join(f"{least:g}x" for _, least in ratios)
    reached = all(ratio is not None and ratio.certain >= least for ratio, least in ratios)
    count = derivation.functions[0].program.count.total
    return [TITLES[subject.name], name.replace("_", " "), str(count), *times, *shown, target, verdict(reached)]
