"""A robot's own experiment: the default motion of ``elastogen simulate``.

It affects neither equations nor emitted code. Values are stored by the name of their coordinate, so that the same experiment
drives a robot with flexible links and its rigid limit. SI units.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

Values: TypeAlias = "Mapping[str, float]"  # by coordinate; zero where a name is missing


@dataclass(frozen=True)
class ConstantForces:
    """Constant driving forces [N m] or [N]."""

    force: Values


@dataclass(frozen=True)
class BangBangForces:
    """``amplitude`` [N m] or [N] from ``start`` for half the ``duration`` [s], then its opposite, then nothing."""

    amplitude: Values
    duration: float
    start: float = 0.0


@dataclass(frozen=True)
class HoldPosition:
    """PD control with gravity compensation that holds the initial position: gains per [rad] or [m] and their rates."""

    kp: Values
    kd: Values


Drive: TypeAlias = "ConstantForces | BangBangForces | HoldPosition"


@dataclass(frozen=True)
class Experiment:
    """Initial state, duration, drive and method of a simulation."""

    seconds: float
    q0: Values = field(default_factory=dict)  # [rad] or [m]
    qd0: Values = field(default_factory=dict)  # [rad/s] or [m/s]
    drive: Drive | None = None
    method: str = "tsit5"
    step: float | None = None  # [s], of methods with equal steps
    samples: int = 1001
    note: str = ""  # where the numbers come from

    def of(self, names: Collection[str]) -> Experiment:
        """The experiment of a robot with the same joints that has only these coordinates."""
        q0, qd0 = ({name: value for name, value in x.items() if name in names} for x in (self.q0, self.qd0))
        return replace(self, q0=q0, qd0=qd0)


def by_name(data: Experiment | Drive) -> dict[str, Values]:
    """The fields of an experiment or a drive that hold values by coordinate."""
    return {key: value for key, value in vars(data).items() if isinstance(value, Mapping)}
