"""What identification found: the robot, its numbers with error bars, how well they predict, and files of all that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from elastogen.generator.robot.robot import Robot
from elastogen.identification.equations.problem import Problem, body_model
from elastogen.identification.equations.pseudo_inertia import NAMES
from elastogen.identification.errors import IdentificationError
from elastogen.identification.estimation.fit import Fit
from elastogen.identification.measurements.clean import Piece, check_motion, clean
from elastogen.identification.measurements.columns import COMMANDED, commanded_gains, driven_names, match_columns, tells_gains
from elastogen.identification.measurements.read_table import Array, read_table
from elastogen.identification.measurements.signals import Motion, prepare
from elastogen.identification.results.estimates import Estimate
from elastogen.identification.results.holding import came_from, held_part
from elastogen.identification.results.quality import DOUBTFUL, RunQuality, run_quality
from elastogen.runtime import Model
from elastogen.runtime.whole_files import replacing

APART = 0.03  # of a gain: farther from that of the robot's own controller is reported
SLIDES = 5.0  # widths of the sign: friction has its full size
SHOWN = 6  # parameters that are named as hardly shown
WEAK = 100.0  # condition of the scaled columns above which a motion shows too little


@dataclass(frozen=True)
class Reading:
    """How tables are read."""

    robot: Robot
    columns: Mapping[str, object] | None
    gains: Mapping[str, float] | None
    degrees: bool

    def pieces(self, data: object, *, moving: bool = False) -> tuple[list[Piece], list[str]]:
        """The clean pieces of all runs, and what was done."""
        runs = [match_columns(table, self.robot, self.columns, self.gains, degrees=self.degrees) for table in _tables(data)]
        for run in runs:
            if not len(run.time):
                raise IdentificationError(run.source, "no samples", "a recorded motion", "check the recording")
        if moving:
            check_motion(runs, self.robot)
        pieces, notes = [], []
        for run in runs:
            found, done = clean(run, self.robot)
            pieces += found
            notes += [f"{run.source}: {note}" for note in done]
        return pieces, notes

    def runs(self, data: object, cutoff: float, smooth: float | None = None) -> list[list[Motion]]:
        """The motions of each run; ``smooth`` as :func:`prepare` has it."""
        found = []
        for table in _tables(data):
            run = match_columns(table, self.robot, self.columns, self.gains, degrees=self.degrees)
            found.append([prepare(piece, cutoff, smooth) for piece in clean(run, self.robot)[0]])
        return found


def _tables(data: object) -> list[Any]:
    several = isinstance(data, Iterable) and not isinstance(data, (str, Path, Mapping)) and not hasattr(data, "columns")
    found = [read_table(each) for each in (cast(Iterable[Any], data) if several else [data])]
    if not found:
        raise IdentificationError("data", "no run", "one or more", "give a file, a data frame or a mapping of arrays")
    return found


def gains_of(data: object, robot: Robot, columns: Mapping[str, object] | None) -> dict[str, float]:
    """The gains of the robot's own controller, the middle one of all runs."""
    found = [commanded_gains(table, robot, columns) for table in _tables(data)]
    return {joint: float(np.median([each[joint] for each in found])) for joint in found[0]}


def chosen_gains(
    data: object, robot: Robot, columns: Mapping[str, object] | None, given: Mapping[str, float] | str | None
) -> tuple[Mapping[str, float] | None, list[str]]:
    """Gains and notes: those given, or those of the robot's own controller, where asked for or where nothing else is known."""
    declared = all(tells_gains(table, robot, columns) for table in _tables(data)) if given != COMMANDED else True
    if not declared:
        return cast("Mapping[str, float] | None", given), []
    own = gains_of(data, robot, columns)
    shown = ", ".join(f"{name}={value:.5g}" for name, value in own.items())
    if given is None or given == COMMANDED:
        return own, [f"gains of its own controller: {shown}"]
    gains = cast(Mapping[str, float], given)
    apart = [name for name, value in own.items() if name in gains and abs(float(gains[name]) / value - 1) > APART]
    if not apart:
        return gains, []
    return gains, [f"gains of {', '.join(apart)} differ from those of its own controller, and masses with them: {shown}"]


def unshown(problem: Problem, free: Fit, joints: Sequence[str]) -> tuple[str, ...]:
    """Parameters that this motion cannot tell from others, by name."""
    names = variable_names(problem, joints)
    return tuple(name for k, name in enumerate(names) if k not in free.independent)


def variable_names(problem: Problem, joints: Sequence[str]) -> list[str]:
    """The variables of a problem: ten of each body, then those of drives and gains."""
    bodies = [f"{body.name}.{name}" for body in problem.bodies for name in NAMES]
    return [
        *bodies,
        *(f"{joints[u.joint]}.{u.name}" for u in problem.unknowns),
        *(f"gain.{name}" for name in joints[: problem.gains]),
    ]


@dataclass(frozen=True)
class Identification:
    """The result of :func:`elastogen.identify`."""

    robot: Robot  # with the identified numbers
    described: Robot
    source: Robot | str = field(repr=False)  # what was given to identify
    parameters: tuple[str, ...]
    estimates: tuple[Estimate, ...] = field(repr=False)
    fit: Fit = field(repr=False)
    free: Fit = field(repr=False)  # weighted least squares in independent parameters, without prior
    cutoff: float  # [Hz] of the low pass of the equations
    smooth: float  # [Hz] of that of positions and velocities, at most as high
    whiteness: tuple[float, ...]  # p-values per joint
    friction_test: tuple[float, ...]  # p-values per joint
    notes: tuple[str, ...] = field(repr=False)
    reading: Reading = field(repr=False)
    unshown: tuple[str, ...] = field(repr=False)
    problem: Problem = field(repr=False)
    impossible: str = ""  # why no robot file can have these numbers; forces follow from them nevertheless
    trained: tuple[RunQuality, ...] = ()
    validated: tuple[RunQuality, ...] = ()
    held_part: float = 0.0  # of sliding friction, that holds joints which came to rest

    @cached_property
    def model(self) -> Model:
        """The compiled inverse dynamics of the identified robot."""
        import elastogen

        self._check_possible("model")
        return elastogen.build_model(replace(self.robot, functions=()), outputs=["inverse_dynamics"])

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of that path, for example ``joints.elbow.friction.coulomb``."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(name)

    def _check_possible(self, what: str) -> None:
        if self.impossible:
            raise IdentificationError(
                what, f"free estimates that no robot has: {self.impossible}", "bodies that can exist",
                "leave out consistent=False (--free)",
            )  # fmt: skip

    def motions(self, data: object) -> list[list[Motion]]:
        """The runs of data as the identification saw its own: cleaned, filtered, differentiated, with estimated gains."""
        found = self.reading.runs(data, self.cutoff, self.smooth)
        if not self.problem.gains:
            return found
        gains = self.problem.gains_at(self.fit.z)
        return [[replace(motion, F=gains * motion.F) for motion in run] for run in found]

    def predict(self, motion: Motion) -> Array:
        """Forces of the identified numbers along a motion (samples, joints), not filtered.

        They are those of the identified robot's inverse dynamics; free estimates that no robot has give them as well.
        """
        if not self.impossible:
            return np.asarray(self.model.inverse_dynamics(motion.q, motion.qd, motion.qdd))
        return self.problem.along([motion], body_model(self.described)).forces(0, self.fit.z)

    def validate(self, data: object) -> tuple[RunQuality, ...]:
        """How well the identified robot predicts the forces of other runs."""
        found = []
        for run in self.motions(data):
            holding = [self.held_part * came_from(motion) * self.sliding(motion) for motion in run]
            found.append(run_quality(run, [self.predict(motion) for motion in run], holding))
        return tuple(found)

    def sliding(self, motion: Motion) -> Array:
        """Friction at the poses of a motion, when its joints begin to slide (samples, joints)."""
        slow = SLIDES * self.problem.law_at(self.fit.z)["coulomb_velocity"] * np.ones_like(motion.qd)
        rests = np.zeros_like(slow)
        ends = [self.predict(replace(motion, qd=sign * slow, qdd=rests)) for sign in (1.0, -1.0)]
        return (ends[0] - ends[1]) / 2

    def with_held_part(self, data: object) -> Identification:
        """The same, with what the rests of the runs of ``data`` say about the friction that holds."""
        motions = [motion for run in self.motions(data) for motion in run]
        residuals = [motion.F - motion.low_pass(self.predict(motion)) for motion in motions]
        part = held_part(motions, residuals, [self.sliding(motion) for motion in motions], self.fit.noise)
        return replace(self, held_part=part)

    def with_runs(self, trained: Sequence[RunQuality], validated: Sequence[RunQuality]) -> Identification:
        """The same with the quality of runs."""
        return replace(self, trained=tuple(trained), validated=tuple(validated))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before he trusts the numbers."""
        names, found = driven_names(self.described), []
        if self.impossible:
            found.append(f"no robot has these free estimates, and no file can be written: {self.impossible}")
        if self.free.condition > WEAK:
            found.append(
                f"the motion hardly separates some parameters (condition {self.free.condition:.0f}), among them "
                f"{', '.join(self._weak())}: excite more, elastogen excite ROBOT -o motion.csv"
            )
        for name, p in zip(names, self.friction_test, strict=True):
            if p < DOUBTFUL:
                found.append(f"{name}: what is left depends on velocity (p = {p:.1g}): its law of friction lacks something")
        return tuple(found)

    def _weak(self) -> list[str]:
        """Independent parameters that the motion shows least: with the largest relative errors."""
        kept, names = list(self.free.independent), variable_names(self.problem, driven_names(self.described))
        errors = np.sqrt(np.diag(self.free.covariance))[kept] / np.maximum(np.abs(self.free.z[kept]), 1e-12)
        return [names[kept[k]] for k in np.argsort(-errors)[:SHOWN]]

    def correlations(self) -> Array:
        """Of the errors of all variables (see the JSON for their order)."""
        size = np.sqrt(np.maximum(np.diag(self.fit.covariance), 0.0))
        return np.asarray(self.fit.covariance / np.maximum(np.outer(size, size), 1e-300))

    def table(self) -> str:
        """All estimates as text."""
        lines = [f"{'parameter':52s} {'described':>12s} {'estimate':>12s} {'+-':>10s}  by"]
        for e in self.estimates:
            lines.append(
                f"{e.name:52s} {e.described:12.5g} {e.value:12.5g} {e.standard_error:10.2g}  {e.determined_by} [{e.unit}]"
            )
        lines += [
            "",
            f"{self.free.rank} independent parameters, condition {self.free.condition:.3g}, low pass {self.cutoff:.3g} Hz",
        ]
        for title, runs in (("trained on", self.trained), ("tested on", self.validated)):
            for run in runs:
                joints = ", ".join(f"{100 * x:.1f}" for x in run.joints)
                lines.append(
                    f"{title} {run.source}: {100 * run.total:.2f} % ({joints}); {100 * run.moving:.2f} % where joints move, "
                    f"{100 * run.held:.2f} % with resting joints held"
                )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), *(f"warning: {text}" for text in self.warnings)])

    def json(self) -> str:
        """Everything as JSON: estimates, errors, correlations, quality."""
        content = {
            "robot": self.robot.name,
            "parameters": self.parameters,
            "estimates": [asdict(estimate) for estimate in self.estimates],
            "rank": self.free.rank,
            "condition": self.free.condition,
            "noise": self.fit.noise.tolist(),
            "cutoff": self.cutoff,
            "smooth": self.smooth,
            "whiteness": self.whiteness,
            "friction_test": self.friction_test,
            "not_shown_by_the_motion": self.unshown,
            "correlations": np.round(self.correlations(), 6).tolist(),
            "held_part": self.held_part,
            "trained": [asdict(run) for run in self.trained],
            "validated": [asdict(run) for run in self.validated],
            "notes": self.notes,
            "warnings": self.warnings,
        }
        return json.dumps(content, indent=2)

    def save(self, path: str | Path, base: str | Path | None = None) -> Path:
        """Write the identified robot as a file: the user's file with other numbers, or a file on top of a URDF or other format.

        ``base`` is the file that the robot was read from; it is known where ``identify`` was given a file.
        """
        from elastogen.identification.results.write_robot import robot_text

        self._check_possible("save")
        target = Path(path)
        text = robot_text(self, target, base)
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target

    def page(self, path: str | Path, data: object) -> Path:
        """Write a page that needs no network: measured and predicted forces of ``data``, parameters with bars."""
        from elastogen.identification.results.page import page

        target, text = Path(path), page(self, data)
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target
