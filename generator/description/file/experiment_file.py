"""The ``simulation:`` block of a robot file, and what is checked of it.

    simulation:
      note: amplitudes chosen for a deflection of a few centimetres
      seconds: 10
      q0: {joint2: 0.4}
      input: {bang_bang: {amplitude: {joint1: 4, joint2: 0.1}, duration: 0.5}}

Values are given by the name of a joint, in q0 and qd0 also of an elastic coordinate; what is not named is zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from elastogen.generator.description.file.fields import ScalarField, Section, problem
from elastogen.generator.robot.experiment import (
    BangBangForces,
    ConstantForces,
    Drive,
    Experiment,
    HoldPosition,
    Values,
    by_name,
)
from elastogen.generator.robot.expressions import nominal, parse_scalar
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Parameter, Robot
from elastogen.runtime.interface.integrators import DEFAULT, names

METHODS = names()
MAX_SAMPLES = 1_000_000
if TYPE_CHECKING:
    Method = str
else:
    Method = Literal[METHODS]
_INPUTS = ("constant", "bang_bang", "hold")


class ConstantSection(Section):
    """Constant driving forces."""

    force: dict[str, ScalarField] = Field(description="by joint [N m] or [N]")


class BangBangSection(Section):
    """A force for half the duration, then its opposite."""

    amplitude: dict[str, ScalarField] = Field(description="by joint [N m] or [N]")
    duration: ScalarField = Field(description="[s]")
    start: ScalarField = Field(default=0, description="[s]")


class HoldSection(Section):
    """PD control with gravity compensation that holds the initial position."""

    kp: dict[str, ScalarField] = Field(description="by joint [N m/rad] or [N/m]")
    kd: dict[str, ScalarField] = Field(description="by joint [N m s/rad] or [N s/m]")


class InputSection(Section):
    """What drives the robot: one of constant, bang_bang, hold."""

    constant: ConstantSection | None = None
    bang_bang: BangBangSection | None = None
    hold: HoldSection | None = None

    @model_validator(mode="after")
    def _one(self) -> InputSection:
        if sum(getattr(self, kind) is not None for kind in _INPUTS) != 1:
            raise problem(f"one of the inputs {', '.join(_INPUTS)}", "leave input out for no forces")
        return self


class SimulationSection(Section):
    """The robot's own experiment: what ``elastogen simulate`` shows by default."""

    seconds: ScalarField = Field(description="duration [s]")
    q0: dict[str, ScalarField] = Field(default_factory=dict, description="initial positions by coordinate; others are 0")
    qd0: dict[str, ScalarField] = Field(default_factory=dict, description="initial velocities by coordinate")
    input: InputSection | None = Field(default=None, description="driving forces; none by default")
    method: Method = DEFAULT
    step: ScalarField | None = Field(default=None, description=f"of {' and '.join(names(adaptive=False))} [s]")
    samples: int = Field(default=1001, description=f"2 to {MAX_SAMPLES}")
    note: str = Field(default="", description="where the numbers come from; printed with the result")


def read_experiment(section: SimulationSection, parameters: Mapping[str, Parameter], where: Location) -> Experiment:
    """Return the experiment that a robot file describes, not yet checked against the robot."""

    def number(given: ScalarField, here: Location) -> float:
        return float(nominal(parse_scalar(given, parameters, here), parameters))

    def values(given: Mapping[str, ScalarField], here: Location) -> Values:
        return {name: number(value, here.at(name)) for name, value in given.items()}

    def drive(given: InputSection, here: Location) -> Drive:
        if given.constant is not None:
            return ConstantForces(values(given.constant.force, here.at("constant", "force")))
        if given.bang_bang is not None:
            bang, here = given.bang_bang, here.at("bang_bang")
            amplitude = values(bang.amplitude, here.at("amplitude"))
            return BangBangForces(amplitude, number(bang.duration, here.at("duration")), number(bang.start, here.at("start")))
        assert given.hold is not None  # exactly one, by the section's own check
        here = here.at("hold")
        return HoldPosition(values(given.hold.kp, here.at("kp")), values(given.hold.kd, here.at("kd")))

    return Experiment(
        seconds=number(section.seconds, where.at("seconds")),
        q0=values(section.q0, where.at("q0")),
        qd0=values(section.qd0, where.at("qd0")),
        drive=None if section.input is None else drive(section.input, where.at("input")),
        method=section.method,
        step=None if section.step is None else number(section.step, where.at("step")),
        samples=section.samples,
        note=" ".join(section.note.split()),
    )


_KEYS = {ConstantForces: "constant", BangBangForces: "bang_bang", HoldPosition: "hold"}


def check_experiment(robot: Robot, where: Location) -> None:
    """Refuse an experiment that names no coordinate of the robot, or whose numbers no simulation can have."""
    experiment = robot.experiment
    if experiment is None:
        return
    joints = {velocity.name for velocity in robot.velocities if not velocity.elastic}
    _check_values(experiment, {*robot.coordinate_names, *robot.velocity_names}, where)
    _above_zero(experiment.seconds, where.at("seconds"))
    if experiment.step is not None:
        _above_zero(experiment.step, where.at("step"))
    if experiment.method not in METHODS:
        raise where.at("method").error(experiment.method, f"one of {', '.join(METHODS)}", f"use {DEFAULT}")
    if not 2 <= experiment.samples <= MAX_SAMPLES:
        raise where.at("samples").error(experiment.samples, f"2 to {MAX_SAMPLES} samples", "1001 are usual")
    if experiment.drive is not None:
        here = where.at("input", _KEYS[type(experiment.drive)])
        _check_values(experiment.drive, joints, here)
        if isinstance(experiment.drive, BangBangForces):
            _above_zero(experiment.drive.duration, here.at("duration"))


def _check_values(data: Experiment | Drive, names: tuple[str, ...] | set[str], where: Location) -> None:
    for key, values in by_name(data).items():
        for name, value in values.items():
            here = where.at(key, name)
            if name not in names:
                what = "coordinate" if isinstance(data, Experiment) else "joint"
                expected = f"the name of a {what}: {', '.join(sorted(names))}"
                raise here.error(name, expected, did_you_mean(name, names, "rename it"))
            if not math.isfinite(value):
                raise here.error(value, "a finite number", "replace it by the value that is meant")


def _above_zero(value: float, where: Location) -> None:
    if not 0 < value < math.inf:
        raise where.error(value, "a number of seconds above zero", "check its sign and unit")
