"""What a simulation gives back: samples of the motion, energies, counts; files and plots."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.plane import GroundEvent
from elastogen.runtime.interface.shown_page import ShownPage
from elastogen.runtime.simulation.stops import LimitPassed
from elastogen.runtime.simulation.switches import Switch, energy_changes, table
from elastogen.runtime.simulation.switches import lines as switch_lines
from elastogen.runtime.whole_files import file_path, replacing

STATUS = {
    "OK": "reached the end",
    "CANCELLED": "was interrupted",
    "SINGULAR": "the mass matrix is not positive definite; likely cause: a link without inertia, or steps too long",
    "NOT_FINITE": "NaN or infinity; likely cause: steps too long for this motion (fix: a smaller step=), or infinite forces",
    "STEP_TOO_SMALL": "no step is small enough for rtol and atol; likely cause: tolerances below rounding errors",
    "NEWTON": "the iteration of an implicit step does not converge; fix: a smaller step=",
    "FUNCTION": "the function given by F= returned a failure",
    "OUT_OF_RANGE": "a sliding joint left its beam",
    "OPEN": "the loops cannot be kept closed; likely cause: a singular configuration, or steps too long",
    "EVENT": "the event function asked to stop",
    "LIMIT": "ended at the limit of a joint, as stops='end' asks",
    "ARGUMENT": "a time or an option is out of range",
}
"""Statuses of a simulation and what they mean."""
SMALL_SLOPE = 0.3
"""Slope [rad] of a linear beam above which a simulation warns: the deflection under an end force is then 4 % too large."""


def deflection_error(slope: float) -> float:
    """By what part the deflection of a linear beam is too large where its tip has this slope [rad], at most 1.

    Of a cantilever under an end force P, against Euler's elastica: 0.4 slope^2, with the linear slope P L^2 / (2 EI).
    """
    return 0.4 * slope**2


@dataclass(frozen=True, eq=False)
class Simulation:
    """Samples of one or many simulated motions; leading axes are the batch axes of the call, if any.

    A single motion that ended early holds what was done. In a batch, samples that were not reached are NaN.
    """

    name: str
    """Name of the robot."""
    method: str
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    t: NDArray[Any]
    """Sample times (n,) [s]."""
    q: NDArray[Any]
    """Positions (..., n, nq) [rad] or [m]."""
    qd: NDArray[Any]
    """Velocities (..., n, nv) [rad/s] or [m/s]."""
    F: NDArray[Any]
    """Driving forces (..., n, nv) [N m] or [N]."""
    kinetic: NDArray[Any] | None
    """Kinetic energy (..., n) [J]; None where the model has no function for it."""
    potential: NDArray[Any] | None
    """Potential energy of weights and deformation (..., n) [J]."""
    work: NDArray[Any] | None
    """Work of the driving forces since the first sample (..., n) [J], integrated with the motion."""
    dissipated: NDArray[Any] | None
    """Energy taken by friction and damping since the first sample (..., n) [J], integrated with the motion."""
    status: Any
    """Name of the status, a key of STATUS: text, or an array of texts (...)."""
    time_reached: Any
    """Time of the last sound state [s]: the end, or where the motion failed or was interrupted."""
    steps: Any
    rejections: Any
    """Steps that were taken again, shorter."""
    evaluations: Any
    """Evaluations of the equations of motion."""
    factorizations: Any
    """Factorizations of Newton's matrix (generalized_alpha)."""
    seconds: float
    """Time that the computation took [s]."""
    switches: tuple[Switch, ...] = ()
    """Borders of elements that sliding joints passed, with the energy before and after; at most 4096 for each motion."""
    ground_events: tuple[GroundEvent, ...] | None = None
    """When points touched the ground and lifted off, in order of time; at most 4096 for each motion. None: no ground."""
    switch_count: Any = 0
    """How many there were: a number, or an array (...)."""
    velocity_names: tuple[str, ...] = ()
    """Empty: those of the coordinates."""
    velocity_units: tuple[str, ...] = ()
    limits_passed: tuple[LimitPassed, ...] = ()
    """The first limit of a joint that each motion passed, if any."""
    flexible_links: tuple[str, ...] = ()
    largest_slopes: Any = None
    """How far each of ``flexible_links`` rotated against its undeformed state at any sample (..., links) [rad]: beams are
    linear, above SMALL_SLOPE this is not small any more."""
    animator: Callable[..., Path] | None = field(default=None, repr=False)
    """Draws the motion as a page; models that were built from a robot give it."""

    def __repr__(self) -> str:
        shape = np.shape(self.status)
        motions = f"{' x '.join(map(str, shape))} motions, " if shape else ""
        ended = ", ".join(sorted({str(status) for status in np.ravel(self.status)}))
        reached = float(np.max(self.time_reached, initial=0.0))
        return f"Simulation({self.name!r}, {self.method}, {motions}{len(self.t)} samples to {reached:g} s, {ended})"

    @property
    def ok(self) -> bool:
        """Whether every motion reached its end, or the limit at which it was asked to end."""
        return bool(np.isin(np.asarray(self.status), ("OK", "LIMIT")).all())

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it; what was done until then is here."""
        return bool(np.any(np.asarray(self.status) == "CANCELLED"))

    @property
    def energy(self) -> NDArray[Any]:
        """Kinetic and potential energy (..., n) [J]."""
        total: NDArray[Any] = self._present("kinetic") + self._present("potential")
        return total

    @property
    def balance(self) -> NDArray[Any]:
        """Energy less its first value, less work, plus what was dissipated (..., n) [J]: the numerical error.

        What switches of elements added (:attr:`switches`) is not part of it.
        """
        energy, work, dissipated = self.energy, self._present("work"), self._present("dissipated")
        added = energy_changes(self.switches, self.t, energy.shape[:-1])
        gained: NDArray[Any] = energy - energy[..., :1] - work + dissipated - added
        return gained

    def _present(self, field: str) -> NDArray[Any]:
        array: NDArray[Any] | None = getattr(self, field)
        if array is None:
            raise ModelError(
                f"{self.name}: this simulation has no {field}. Fix: simulate with energy=True, and build the model "
                "with 'default' or 'simulation' among outputs=."
            )
        return array

    def motion(self, *index: int) -> Simulation:
        """One motion of a batch, as if it had been simulated alone; what was not reached is left out."""
        shape = np.shape(self.status)
        if len(index) != len(shape) or not all(-size <= k < size for k, size in zip(index, shape, strict=True)):
            raise ModelError(f"{self.name}: motion{index}, expected an index of the batch of shape {shape}.")
        place = tuple(k % size for k, size in zip(index, shape, strict=True))
        reached = int(np.isfinite(self.q[place]).all(axis=-1).sum())
        arrays = {name: getattr(self, name) for name in ("q", "qd", "F", "kinetic", "potential", "work", "dissipated")}
        counts = ("steps", "rejections", "evaluations", "factorizations", "switch_count")
        own: dict[str, Any] = {name: int(np.asarray(getattr(self, name))[place]) for name in counts}
        own |= {name: None if array is None else array[place][:reached] for name, array in arrays.items()}
        return replace(
            self,
            t=self.t[:reached],
            status=str(np.asarray(self.status)[place]),
            time_reached=float(np.asarray(self.time_reached)[place]),
            seconds=self.seconds / max(1, np.size(self.status)),
            largest_slopes=self.largest_slopes[place],
            switches=tuple(replace(switch, motion=()) for switch in self.switches if switch.motion == place),
            ground_events=None
            if self.ground_events is None
            else tuple(replace(event, motion=()) for event in self.ground_events if event.motion == place),
            limits_passed=tuple(replace(passed, motion=()) for passed in self.limits_passed if passed.motion == place),
            **own,
        )

    def report(self) -> str:
        """A few lines: what was done, at what cost, and how well energy is balanced."""
        count = np.size(self.status)
        failed = count - int(np.isin(np.asarray(self.status), ("OK", "LIMIT")).sum())
        what = f"{count} motions, {failed} not finished" if count > 1 else STATUS[str(self.status)]
        lines = [
            f"{self.name}, {self.method}: {what}; {self.t.size} samples to t = {np.max(self.time_reached):g} s",
            f"{np.sum(self.steps)} steps, {np.sum(self.rejections)} rejected, {np.sum(self.evaluations)} evaluations, "
            f"{self.seconds:.3g} s",
        ]
        parts = (self.kinetic, self.potential, self.work, self.dissipated)
        if self.t.size and all(part is not None for part in parts):
            scale = np.nanmax(np.abs(self._present("kinetic")))
            worst = np.nanmax(np.abs(self.balance))
            lines.append(f"energy balance: off by {worst:.2g} J at most; kinetic energy up to {scale:.3g} J")
        if self.flexible_links:
            every = np.nanmax(np.asarray(self.largest_slopes).reshape(-1, len(self.flexible_links)), axis=0)
            shown = ", ".join(f"{link} {slope:.2g}" for link, slope in zip(self.flexible_links, every, strict=True))
            lines.append(f"largest slopes of flexible links [rad]: {shown}")
        lines += [f"{passed}{f' (motion {passed.motion})' if passed.motion else ''}" for passed in self.limits_passed[:1]]
        lines += switch_lines(self.switches, int(np.sum(self.switch_count)))
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the samples to a ``.csv`` file (one motion; a row for each time) or to a ``.npz`` file (everything)."""
        target = file_path(path)
        if target.suffix not in (".csv", ".npz"):
            raise ModelError(f"{target}: got the ending {target.suffix!r}, expected '.csv' or '.npz'.")
        with replacing(target) as scratch:
            if target.suffix == ".npz":
                given = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "animator"}
                given["switches"] = table(self.switches, Switch)
                given["ground_events"] = None if self.ground_events is None else table(self.ground_events, GroundEvent)
                arrays: dict[str, Any] = {key: np.asarray(value) for key, value in given.items() if value is not None}
                np.savez_compressed(scratch, **arrays)
            else:
                header, columns = self._columns()
                with open(scratch, "w", encoding="utf-8", newline="") as stream:
                    writer = csv.writer(stream)
                    writer.writerow(header)
                    writer.writerows([repr(float(x)) for x in row] for row in zip(*columns, strict=True))
        return target

    @property
    def velocities(self) -> list[tuple[str, str]]:
        """Name of every velocity, and the unit of what it is the rate of."""
        names, units = self.velocity_names or self.coordinate_names, self.velocity_units or self.coordinate_units
        return list(zip(names, units, strict=True))

    def _columns(self) -> tuple[list[str], list[NDArray[Any]]]:
        if self.q.ndim != 2:
            raise ModelError(
                f"{self.name}: got a batch of {np.size(self.status)}, a CSV holds one motion. Fix: .npz, or .motion(k)"
            )
        header, columns = ["t [s]"], [self.t]
        placed, moving = zip(self.coordinate_names, self.coordinate_units, strict=True), self.velocities
        for kind, array, per, listed in (("q", self.q, "", placed), ("qd", self.qd, "/s", moving)):
            for k, (name, unit) in enumerate(listed):
                header.append(f"{kind} {name} [{(unit or '1') + per}]")
                columns.append(array[:, k])
        for k, (name, unit) in enumerate(moving):
            header.append(f"F {name} [{'N m' if unit == 'rad' else 'N' if unit == 'm' else 'J'}]")
            columns.append(self.F[:, k])
        for name in ("kinetic", "potential", "work", "dissipated"):
            if getattr(self, name) is not None:
                header.append(f"{name} [J]")
                columns.append(getattr(self, name))
        return header, columns

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw positions, velocities, forces and energies of one motion; return the figure, write it to ``path``."""
        from elastogen.runtime.simulation.plotting import plot_simulation

        return plot_simulation(self, path)

    def _repr_html_(self) -> str:
        """The report, and for one motion of a robot that is known its animation, for notebooks."""
        text = f"<pre>{escape(self.report())}</pre>"
        if self.animator is None or self.q.ndim != 2 or not self.t.size:
            return text
        return f"{text}{self.show()._repr_html_()}"

    def show(self, **options: Any) -> ShownPage:
        """The motion as a page in a notebook; options are those of :meth:`animate`."""
        with tempfile.TemporaryDirectory() as folder:
            return ShownPage(self.animate(Path(folder) / "motion.html", **options).read_text(encoding="utf-8"))

    def animate(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one motion as a page that can be rotated and played, flexible links bent, and return its path.

        ``path`` ends in .html, or in .gif or .mp4 for a film. ``rigid``, the motion of the rigid robot of the same numbers, is
        drawn as a ghost; ``title`` is the page's; ``force`` replaces a file that is not a page of elastogen.
        """
        if self.animator is None:
            raise ModelError(
                f"{self.name}: the model of this simulation was loaded from a file and does not know how the robot looks. "
                "Fix: simulate with elastogen.build_model(robot)."
            )
        return self.animator(self, path, **options)


class SimulationError(ModelError):
    """A simulation failed; :attr:`simulation` holds what was done until then."""

    def __init__(self, message: str, simulation: Simulation) -> None:
        super().__init__(message)
        self.simulation = simulation
