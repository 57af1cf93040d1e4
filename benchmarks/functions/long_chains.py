"""Forward dynamics of long chains beside Pinocchio's articulated-body algorithm."""

from __future__ import annotations

from pathlib import Path

from benchmarks.race.chains import chain
from benchmarks.race.kernels import Race
from benchmarks.race.ours import one_kernel
from benchmarks.race.peers import pinocchio_kernels
from benchmarks.race.robots import MissingPeerError, Subject
from benchmarks.race.tables import nanoseconds, table, verdict
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

SIZES = (7, 10, 20, 40, 60, 100)
TARGET = 3.0  # times faster


def peer_text(robot: Robot) -> str:
    """A chain as ``pinocchio_model.hpp`` reads it."""
    lines = [f"{len(robot.joints)} {' '.join(repr(float(g)) for g in robot.gravity)}"]
    for number, (joint, link) in enumerate(zip(robot.joints, robot.links[1:], strict=True)):
        rows = [entry for row in joint.before[:3] for entry in row[:3]]
        tensor = [link.body.inertia[r][c] for r in range(3) for c in range(r, 3)]
        numbers = [*joint.axis, *rows, *(row[3] for row in joint.before[:3]), link.body.mass, *link.body.com, *tensor]
        lines.append(f"{joint.name} {number - 1} R {' '.join(repr(float(x)) for x in numbers)}")
    return "\n".join(lines) + "\n"


def report(work: Path, rounds: int, quick: bool) -> list[str]:
    """A table: operations and times of emitted C, times of Pinocchio."""
    rows = []
    missing = ""
    for size in SIZES[:4] if quick else SIZES:
        robot = chain(size)
        derivation = derive_model(robot, ("forward_dynamics",))
        count = derivation.functions[0].program.count.total
        race = Race("forward_dynamics", size, work)
        ours = race.add(one_kernel(derivation, "forward_dynamics", size, work))
        try:
            theirs = race.add(pinocchio_kernels(Subject(robot.name, robot, peer_text(robot)), work)["forward_dynamics"])
        except MissingPeerError as reason:
            missing = str(reason)
        race.run(max(20, rounds // (1 + size // 10)))
        cells = [str(size), str(count), f"{count / size:.0f}", nanoseconds(ours.times)]
        if not missing:
            ratio = min(theirs.times.shortest / ours.times.shortest, theirs.paired_ratio(ours))
            cells += [nanoseconds(theirs.times), f"{ratio:.2f}x", f"{TARGET:g}x", verdict(ratio >= TARGET)]
        else:
            cells += ["-", "-", f"{TARGET:g}x", "not measured"]
        rows.append(cells)
    words = "A generic chain (inertia tensors full, axes in turn about z, y and x), CPU time in ns, shortest (median):"
    header = ["joints", "operations", "per joint", "elastogen", "Pinocchio C++ aba", "faster", "target", "reached"]
    left_out = [f"- Left out: Pinocchio: {missing}", ""] if missing else []
    return ["## Forward dynamics of long chains", "", *left_out, words, "", *table(header, rows), ""]
