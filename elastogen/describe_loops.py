"""The summary of a mechanism, as text and as data, for ``elastogen check``."""

from __future__ import annotations

from typing import Any

from elastogen.generator.loops.analysis import LoopAnalysis, analysis_of
from elastogen.generator.loops.rows import rows_of_loops
from elastogen.generator.robot.robot import Robot

CLOSED = 1e-9  # residual at the start that counts as closed


def describe_loops(robot: Robot) -> str:
    """Describe the freedom, rows and rank of every loop, independent velocities, drives, and whether the start closes."""
    if not robot.loops:
        return ""
    known, names = analysis_of(robot), robot.velocity_names
    count = len(names)
    lines = [f"loops: {count} velocities, {len(known.rows)} rows of rank {known.rank}: {known.freedoms} freedoms"]
    width = max(len(loop.name) for loop in robot.loops)
    for loop, rows, rank in zip(robot.loops, rows_of_loops(robot), known.ranks, strict=True):
        ends = f"{loop.a.link} - {loop.b.link}" if loop.kind.between_frames else ", ".join(loop.coefficients)
        left = [known.rows[k].partition(".")[2] for k in rows if k in known.redundant]
        more = f", left out as redundant: {', '.join(left)}" if left else ""
        lines.append(f"  {loop.name:<{width}}  {loop.type:<11}  {ends}: {len(rows)} rows of rank {rank}{more}")
    lines.append(f"  independent: {', '.join(names[k] for k in known.choice.independent) or 'none'}")
    lines.append(f"  drives: {_fit(known, names)}")
    if known.varies:
        lines.append("  at some closed configurations rank is less: there functions return a status, or raise ModelError")
    if known.start_gap <= CLOSED:
        lines.append("  closed where no joint has moved")
    else:
        where = ", ".join(f"{x:.6g}" for x in known.start)
        lines.append(
            f"  where no joint has moved the loops are open by {known.start_gap:.3g}; the nearest closed q found is ({where})"
        )
    return "\n".join(lines)


def _fit(known: LoopAnalysis, names: tuple[str, ...]) -> str:
    if known.unforced:
        free = ", ".join(names[k] for k in known.unforced)
        return f"too few, {free} {'moves' if len(known.unforced) == 1 else 'move'} freely: no inverse_dynamics"
    spare = [names[k] for k in known.driven if k not in known.choice.independent]
    return f"over-actuated by {', '.join(spare)}: least forces" if spare else "they fit the freedoms exactly"


def loop_facts(robot: Robot) -> dict[str, Any]:
    """Return the same as data for scripts."""
    known, names = analysis_of(robot), robot.velocity_names
    return {
        "loops": [
            {"name": loop.name, "type": loop.type, "rows": len(rows), "rank": rank}
            for loop, rows, rank in zip(robot.loops, rows_of_loops(robot), known.ranks, strict=True)
        ],
        "rank": known.rank,
        "freedoms": known.freedoms,
        "redundant_rows": [known.rows[k] for k in known.redundant],
        "independent": [names[k] for k in known.choice.independent],
        "drives": known.fit,
        "unforced": [names[k] for k in known.unforced],
        "start_gap": known.start_gap,
        "closed_start": list(known.start),
    }
