"""Inverse dynamics of robots on a free base: the emitted C beside Pinocchio's C++ and CasADi's C."""

from __future__ import annotations

from pathlib import Path

from benchmarks.functions.speed import CASADI_FLAGS, CASADI_O2, CASADI_O3, OURS, PINOCCHIO, Result
from benchmarks.race.kernels import Race
from benchmarks.race.ours import one_kernel
from benchmarks.race.peers import casadi_kernel, casadi_sources, pinocchio_kernels
from benchmarks.race.robots import FREE, MissingPeerError, load_subject
from benchmarks.race.tables import nanoseconds, table, verdict
from elastogen.generator.functions.derivation import derive_model

NAME = "inverse_dynamics"
TARGETS = ((PINOCCHIO,), 7.0), ((CASADI_O2, CASADI_O3), 2.0)


def report(work: Path, rounds: int) -> list[str]:
    """Times, ratios and operations, one row per robot."""
    lines, rows = ["## Free bases: inverse dynamics", ""], []
    for robot in FREE:
        try:
            result, count = _measured(robot, work, rounds)
        except MissingPeerError as reason:
            return [*lines, f"- Left out: {reason}", ""]
        ratios = [(result.ratio(*peers), least) for peers, least in TARGETS]
        shown = [f"{ratio.shortest:.2f}x ({ratio.paired:.2f}x)" for ratio, _ in ratios if ratio is not None]
        times = [nanoseconds(result.kernels[label].times) for label in (OURS, PINOCCHIO, CASADI_O2, CASADI_O3)]
        reached = all(ratio is not None and ratio.certain >= least for ratio, least in ratios)
        rows.append([robot, str(count), *times, *shown, verdict(reached)])
    peers = [
        "times Pinocchio C++",
        "times the faster CasADi C",
        f"{' and '.join(f'{least:g}x' for _, least in TARGETS)} reached",
    ]
    header = ["robot", "mul + add", OURS, PINOCCHIO, CASADI_O2, CASADI_O3, *peers]
    words = "CPU time of one evaluation in ns, shortest (median); ratios of the shortest times (median of those in a round):"
    return [*lines, words, "", *table(header, rows), ""]


def _measured(robot: str, work: Path, rounds: int) -> tuple[Result, int]:
    subject = load_subject(robot, work, free=True)
    nq, nv = len(subject.robot.coordinates), len(subject.robot.velocities)
    derivation = derive_model(subject.robot, (NAME,))
    count = derivation.functions[0].program.count
    race = Race(NAME, nv, work, nq)
    race.add(one_kernel(derivation, NAME, nv, work, nq))
    race.add(pinocchio_kernels(subject, work)[NAME])
    source = casadi_sources(subject, work, (NAME,))[NAME]
    for label, flags in CASADI_FLAGS.items():
        race.add(casadi_kernel(NAME, source, nv, flags, work, label, nq))
    race.run(rounds)
    return Result(robot, NAME, {kernel.label: kernel for kernel in race.kernels}), count.mul + count.add
