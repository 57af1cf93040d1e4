"""Entry of the benchmarks: measures, prints a report in Markdown and writes it into ``benchmarks/results``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.bridges import report as bridges
from benchmarks.functions import (
    batch_peers,
    batches,
    calls,
    derivatives,
    flexible,
    free_bases,
    long_chains,
    operations,
    points_and_reactions,
    speed,
    tuning,
)
from benchmarks.race import machine
from benchmarks.race.robots import FILES
from benchmarks.tool import builds, starts
from benchmarks.truth import accuracy
from benchmarks.truth.robots import report as robots_tried

RESULTS = Path(__file__).parent / "results"
SECTIONS = (
    "speed",
    "derivatives",
    "operations",
    "builds",
    "starts",
    "calls",
    "batches",
    "flexible",
    "accuracy",
    "chains",
    "free",
    "bridges",
    "robots",
    "tuning",
)


def main() -> None:
    """Run the sections that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    sections_help = f"of {', '.join(SECTIONS)}; all but bridges, robots and tuning if none"
    parser.add_argument("sections", nargs="*", metavar="section", help=sections_help)
    parser.add_argument("--robots", nargs="+", choices=list(FILES), default=list(FILES), help="robots to time")
    parser.add_argument("--rounds", type=int, default=300, help="measurements of each time")
    collections_help = "of robots: folders with MJCF and SDF files, beside those of installed packages"
    parser.add_argument("--collections", nargs="+", type=Path, default=[], metavar="DIR", help=collections_help)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; expected some of {', '.join(SECTIONS)}")
    sections = arguments.sections or SECTIONS[:-3]
    work = RESULTS / "work"
    work.mkdir(parents=True, exist_ok=True)
    pinning = machine.pin_to_one_core()
    lines = ["# Benchmarks", "", *machine.describe(pinning), ""]
    robots = [name for name in arguments.robots if not (arguments.quick and name == "talos")]
    file = RESULTS / f"{'-'.join(sections) if arguments.sections else 'all'}.md"
    print("\n".join(lines), flush=True)
    for section in sections:  # each is there as soon as it is measured, whatever happens to those after it
        found = (
            robots_tried(arguments.collections)
            if section == "robots"
            else _section(section, robots, work, arguments.rounds, arguments.quick)
        )
        lines += found
        file.write_text("\n".join(lines), encoding="utf-8")
        print("\n".join(found), flush=True)


def _section(section: str, robots: list[str], work: Path, rounds: int, quick: bool) -> list[str]:
    if section == "speed":
        return speed.report(*speed.measure(robots, work, rounds))
    if section == "derivatives":
        return derivatives.report(robots, work, rounds)
    if section == "operations":
        return [*operations.report(quick), *points_and_reactions.report(quick)]
    if section == "builds":
        return builds.report(work, quick)
    if section == "starts":
        return starts.report()
    if section == "calls":
        return calls.report(rounds)
    if section == "batches":
        return [*batches.report(robots, work, rounds), *([] if quick else batch_peers.report(robots, work, rounds))]
    if section == "accuracy":
        return accuracy.report()
    if section == "free":
        return free_bases.report(work, rounds)
    if section == "bridges":
        return bridges.report(work, quick)
    if section == "chains":
        return long_chains.report(work, rounds, quick)
    if section == "flexible":
        return flexible.report(work, rounds)
    return tuning.report(robots, work, rounds)
