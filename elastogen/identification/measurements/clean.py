"""Cleaning of runs: time stamps, gaps, units, dead and saturated signals; reports what it did, refuses what it cannot mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from elastogen.generator.robot.robot import Robot
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.columns import Run, driven_names
from elastogen.identification.measurements.read_table import Array

GAP = 5.0  # times the usual step: longer is a gap, which no filter may bridge, ...
BRIDGED = 0.02  # [s] ... unless it is shorter than this: robots do not move that fast, and every cut costs both its ends
SHORTEST = 1.0  # [s] of a piece between gaps that is worth keeping
FEWEST = 50  # samples of a run
EVEN = 1e-4  # of the usual step: stamps that differ by less are even
REVOLUTIONS = 4 * np.pi  # [rad] a joint that goes farther without limits that allow it is measured in degrees
SATURATED = 0.02  # share of samples at the very largest force
RARE, FASTEST = 0.2, 0.05  # [s] between samples and [rad/s] or [m/s]: stamps of rarer samples of slower motions are no seconds
RAREST = 10.0  # [s]
OFF = (0.8, 1.25)  # slope of qd over the derivative of q between which both have one unit


@dataclass(frozen=True)
class Piece:
    """A piece of a run without gaps, at equal steps."""

    source: str
    step: float  # [s]
    time: Array
    q: Array
    qd: Array | None
    qdd: Array | None
    F: Array  # zeros where none was measured
    points: Mapping[str, Array] = field(default_factory=dict)  # readings of sensors, by channel
    forced: bool = True  # whether F was measured


def clean(run: Run, robot: Robot) -> tuple[list[Piece], list[str]]:
    """The pieces of a run, and what was done."""
    notes = list(run.notes)
    run = _finite(run, notes)
    _check_time(run)
    run = _distinct(run, notes)
    if len(run.time) < FEWEST:
        raise IdentificationError(run.source, f"{len(run.time)} samples", f"at least {FEWEST}", "record a longer motion")
    _check_clock(run)
    _check_units(run, robot)
    _check_rates(run, robot)
    _check_forces(run, robot)
    steps = np.diff(run.time)
    usual = float(np.median(steps))
    cuts = np.flatnonzero(steps > max(GAP * usual, BRIDGED)) + 1
    pieces = []
    for rows in np.split(np.arange(len(run.time)), cuts):
        if len(rows) < FEWEST or run.time[rows[-1]] - run.time[rows[0]] < SHORTEST:
            notes.append(f"{len(rows)} samples from {run.time[rows[0]]:.3f} s between gaps: too short, left out")
            continue
        pieces.append(_even(run, rows, usual, notes))
    if len(cuts):
        notes.append(f"{len(cuts)} gaps longer than {max(GAP * usual, BRIDGED):.3g} s: filtered piece by piece")
    if not pieces and not len(cuts):
        length = f"{run.time[-1] - run.time[0]:.3g} s"
        raise IdentificationError(run.source, length, f"at least {SHORTEST:g} s of motion", "record a longer motion")
    if not pieces:
        raise IdentificationError(run.source, "only pieces shorter than 1 s between gaps", "a motion", "record it without gaps")
    return pieces, notes


def _rows(run: Run, keep: Array) -> Run:
    def of(value: Array | None) -> Array | None:
        return None if value is None else value[keep]

    points = {name: value[keep] for name, value in run.points.items()}
    return replace(run, time=run.time[keep], q=run.q[keep], qd=of(run.qd), qdd=of(run.qdd), F=of(run.F), points=points)


def _finite(run: Run, notes: list[str]) -> Run:
    good = np.isfinite(run.time)
    for value in (run.q, run.qd, run.qdd, run.F):
        if value is not None:
            good &= np.isfinite(value).all(axis=1)
    for reading in run.points.values():
        good &= np.isfinite(reading)
    if good.all():
        return run
    notes.append(f"{int((~good).sum())} samples with missing numbers: left out")
    if good.sum() < FEWEST:
        raise IdentificationError(run.source, f"{int(good.sum())} whole samples", f"at least {FEWEST}", "check the recording")
    return _rows(run, good)


def _check_time(run: Run) -> None:
    back = np.flatnonzero(np.diff(run.time) < 0)
    if len(back):
        k = int(back[0])
        given = f"{run.time[k + 1]:g} s after {run.time[k]:g} s in sample {k + 2}"
        raise IdentificationError(
            f"{run.source}: time", given, "time that goes on", "cut the file there: each motion is a file of its own"
        )
    if len(run.time) > 1 and run.time[-1] == run.time[0]:
        raise IdentificationError(f"{run.source}: time", "one instant", "time that goes on", "name the column of time")


def _distinct(run: Run, notes: list[str]) -> Run:
    steps = np.diff(run.time)
    twice = steps <= 0.05 * np.median(steps[steps > 0])
    if not twice.any():
        return run
    notes.append(f"{int(twice.sum())} samples with the time stamp of the one before: left out")
    return _rows(run, np.concatenate([[True], ~twice]))


def _check_clock(run: Run) -> None:
    """Stamps are seconds: not milliseconds, microseconds or numbers of lines."""
    step = float(np.median(np.diff(run.time)))
    slow = np.abs(np.diff(run.q, axis=0) / np.diff(run.time)[:, None]).max(initial=0.0) < FASTEST
    if step > RAREST or (step > RARE and slow):
        unit = "ns" if step > 5e5 else "us" if step > 500 else "ms"
        raise IdentificationError(
            f"{run.source}: time", f"{step:.4g} s from sample to sample", "seconds",
            f"for {unit} --time-unit {unit}, in Python columns={{'time_unit': '{unit}'}}; numbers of lines: divide by the rate",
        )  # fmt: skip


def _check_units(run: Run, robot: Robot) -> None:
    joints = [joint for joint in robot.joints if joint.has_drives for _ in joint.type.velocities]
    for k, (name, joint) in enumerate(zip(driven_names(robot), joints, strict=True)):
        if joint.unit != "rad":
            continue
        bounds = [abs(float(x)) for x in (joint.limits.lower, joint.limits.upper) if x is not None]
        most, far = (1.5 * max(bounds) if bounds else REVOLUTIONS), float(np.abs(run.q[:, k]).max())
        if far > most and float(np.ptp(run.q[:, k])) > 2 * np.pi:
            expected = f"at most {most:.1f} rad, {'as its limits say' if bounds else 'as no limits are described'}"
            raise IdentificationError(
                f"{run.source}: q.{name}", f"{far:.1f} rad", expected,
                "if these are degrees, say so: degrees=True, on the command line --degrees",
            )  # fmt: skip


def _check_rates(run: Run, robot: Robot) -> None:
    """Velocities are those of the positions: not of other joints, in other units or of other signs."""
    if run.qd is None:
        return
    slopes = np.gradient(run.q, run.time, axis=0)
    for k, name in enumerate(driven_names(robot)):
        rate, slope = run.qd[:, k], slopes[:, k]
        if not (slope @ slope > 0 and rate @ rate > 0):
            continue
        likeness = float(rate @ slope / np.sqrt((rate @ rate) * (slope @ slope)))
        ratio = float(rate @ slope / (slope @ slope))
        if abs(likeness) < 0.5:  # noise may hide a slow motion, and no unit follows from it
            continue
        if not OFF[0] < ratio < OFF[1]:
            hint = "the units differ: give both in radians, or leave qd out" if ratio > 0 else "turn its sign, or leave qd out"
            raise IdentificationError(
                f"{run.source}: qd.{name}", f"{ratio:.3g} times the rate of q.{name}", "that rate", hint
            )  # fmt: skip


def _check_forces(run: Run, robot: Robot) -> None:
    for channel, reading in run.points.items():
        if np.ptp(reading) == 0:
            raise IdentificationError(
                f"{run.source}: {channel}", f"{reading[0]:g} all the time", "a reading", "check the column and the sensor"
            )
    if run.F is None:
        return
    for k, name in enumerate(driven_names(robot)):
        force, moves = run.F[:, k], np.ptp(run.q[:, k]) > 0
        if moves and np.ptp(force) == 0:
            raise IdentificationError(
                f"{run.source}: F.{name}", f"{force[0]:g} all the time", "a measured force", "check the column and the sensor"
            )
        for bound in (force.max(), force.min()):
            share = float(np.mean(force == bound))
            if share > SATURATED and abs(bound) > 0.5 * np.abs(force).max() and np.ptp(force) > 0:
                raise IdentificationError(
                    f"{run.source}: F.{name}", f"{100 * share:.0f} % of its samples at {bound:g}",
                    "a force that is not cut off", "move slower, or leave those parts of the motion out",
                )  # fmt: skip


def check_motion(runs: list[Run], robot: Robot) -> None:
    """Every driven joint moves in some run."""
    for k, name in enumerate(driven_names(robot)):
        if all(np.ptp(run.q[:, k]) < 1e-3 for run in runs):
            raise IdentificationError(
                f"q.{name}", "a joint that does not move", "motion of every driven joint",
                "excite it (elastogen excite), or lock it: load(..., lock={...})",
            )  # fmt: skip


def _even(run: Run, rows: Array, step: float, notes: list[str]) -> Piece:
    """The piece at equal steps, by interpolation where its stamps are uneven."""
    t = run.time[rows]
    if np.all(np.abs(np.diff(t) - step) <= EVEN * step + 1e-12):
        step = float((t[-1] - t[0]) / (len(t) - 1))
        cut = _rows(run, rows)
        forces = np.zeros_like(cut.q) if cut.F is None else cut.F
        return Piece(run.source, step, t, cut.q, cut.qd, cut.qdd, forces, cut.points, cut.F is not None)
    even = t[0] + step * np.arange(int((t[-1] - t[0]) / step) + 1)
    scatter = np.abs(np.diff(t) - step).max()
    notes.append(f"uneven time stamps (up to {1e3 * scatter:.1f} ms off): interpolated to steps of {1e3 * step:.3f} ms")

    def of(value: Array | None) -> Array | None:
        if value is None:
            return None
        return np.column_stack([np.interp(even, t, column) for column in value[rows].T])

    q, F = of(run.q), of(run.F)
    assert q is not None
    points = {name: np.interp(even, t, value[rows]) for name, value in run.points.items()}
    forces = np.zeros_like(q) if F is None else F
    return Piece(run.source, step, even, q, of(run.qd), of(run.qdd), forces, points, F is not None)
