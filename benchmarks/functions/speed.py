"""The emitted C beside Pinocchio's C++ and CasADi's C: inverse and forward dynamics, mass and Coriolis matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.race.kernels import FUNCTIONS, Kernel, Race
from benchmarks.race.ours import derived, our_kernels, rendered, toolchain
from benchmarks.race.peers import casadi_kernel, casadi_sources, pinocchio_kernels
from benchmarks.race.robots import TITLES, MissingPeerError, load_subject
from benchmarks.race.tables import nanoseconds, table, verdict

OURS, FUSED, LIBM = "elastogen", "elastogen, FMA", "elastogen, libm"
PINOCCHIO, CASADI_O2, CASADI_O3 = "Pinocchio C++", "CasADi C -O2", "CasADi C -O3"
COLUMNS = (OURS, FUSED, LIBM, PINOCCHIO, CASADI_O2, CASADI_O3)
CASADI_FLAGS = {CASADI_O2: ("-O2", "-march=native"), CASADI_O3: ("-O3", "-march=native")}
TARGETS = {  # times faster than Pinocchio and than CasADi: reached on every robot, to be kept
    "inverse_dynamics": (8.0, 2.0),
    "mass_matrix": (7.0, 2.5),
    "forward_dynamics": (8.0, 2.2),
    "coriolis_matrix": (8.0, 4.0),
}


@dataclass(frozen=True)
class Ratio:
    """How many times faster: of the shortest times, and the median of the ratios within each round."""

    shortest: float
    paired: float

    @property
    def certain(self) -> float:
        """The smaller of the two: a target is reached if both reach it."""
        return min(self.shortest, self.paired)


@dataclass(frozen=True)
class Result:
    """All contenders of one function of one robot."""

    robot: str
    function: str
    kernels: dict[str, Kernel]

    def ratio(self, *labels: str) -> Ratio | None:
        """How many times faster than the fastest of these peers this project's C is."""
        ours = self.kernels[OURS]
        peers = [self.kernels[label] for label in labels if label in self.kernels]
        if not peers:
            return None
        shortest = min(peer.times.shortest for peer in peers) / ours.times.shortest
        return Ratio(shortest, min(peer.paired_ratio(ours) for peer in peers))


def measure(robots: Iterable[str], work: Path, rounds: int) -> tuple[list[Result], list[str]]:
    """Time everything; returns the results and what was left out, and why."""
    results: list[Result] = []
    missing: dict[str, None] = {}
    for robot in robots:
        try:
            subject = load_subject(robot, work)
        except MissingPeerError as reason:
            return [], [str(reason)]
        size = len(subject.robot.coordinate_names)
        derivation = derived(subject.robot)
        text = rendered(derivation)
        command = toolchain().command
        groups = [
            our_kernels(text, size, work, OURS),
            our_kernels(text, size, work, FUSED, (*command, *toolchain("fast").flags)),
            our_kernels(rendered(derivation, "libm"), size, work, LIBM),
        ]
        try:
            groups.append(pinocchio_kernels(subject, work))
        except MissingPeerError as reason:
            missing[f"{PINOCCHIO}: {reason}"] = None
        try:
            sources = casadi_sources(subject, work)
            groups += [
                {name: casadi_kernel(name, sources[name], size, flags, work, label) for name in FUNCTIONS}
                for label, flags in CASADI_FLAGS.items()
            ]
        except MissingPeerError as reason:
            missing[f"CasADi C: {reason}"] = None
        for name in FUNCTIONS:
            race = Race(name, size, work)
            for group in groups:
                race.add(group[name])
            race.run(rounds)
            results.append(Result(robot, name, {kernel.label: kernel for kernel in race.kernels}))
    return results, list(missing)


def report(results: list[Result], missing: list[str]) -> list[str]:
    """The tables of times and of ratios."""
    lines = ["## Emitted C and its peers", ""]
    lines += [f"- Left out: {reason}" for reason in missing] + [""] * bool(missing)
    if not results:
        return lines
    labels = [label for label in COLUMNS if label in results[0].kernels]
    rows = []
    for result in results:
        cells = [nanoseconds(result.kernels[label].times) for label in labels]
        rows.append([TITLES[result.robot], result.function.replace("_", " "), *cells])
    words = "CPU time of one evaluation in ns, shortest (median):"
    lines += [words, "", *table(["robot", "function", *labels], rows), ""]
    rows = []
    for result in results:
        pinocchio, casadi = result.ratio(PINOCCHIO), result.ratio(CASADI_O2, CASADI_O3)
        title = [TITLES[result.robot], result.function.replace("_", " ")]
        rows.append([*title, _times(pinocchio), _times(casadi), *_target(result)])
    header = ["robot", "function", "faster than Pinocchio C++", "faster than the faster CasADi C", "target", "reached"]
    return [
        *lines,
        "Ratios of the shortest times (median of the ratios within each round):",
        "",
        *table(header, rows),
        "",
    ]


def _times(ratio: Ratio | None) -> str:
    return "-" if ratio is None else f"{ratio.shortest:.2f}x ({ratio.paired:.2f}x)"


def _target(result: Result) -> tuple[str, str]:
    ratios = result.ratio(PINOCCHIO), result.ratio(CASADI_O2, CASADI_O3)
    needs = list(zip(ratios, TARGETS[result.function], ("Pinocchio", "CasADi"), strict=True))
    text = " and ".join(f"{least:g}x {peer}" for _, least, peer in needs)
    if any(ratio is None for ratio, _, _ in needs):
        return text, "not measured"
    return text, verdict(all(ratio is not None and ratio.certain >= least for ratio, least, _ in needs))
