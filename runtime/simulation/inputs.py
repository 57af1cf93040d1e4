"""Inputs of a simulation: forces from a table, from a controller with a reference motion, or from a function.

Every class is plain data: it can be pickled and used for several models and threads. Forces are in [N m] or [N],
positions in [rad] or [m], times in [s]; vectors have one entry per generalized coordinate, elastic ones included, or one per
joint: then elastic coordinates have zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.joints_only import for_all, or_joints
from elastogen.runtime.motion.spline import cubic_spline
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.runtime.real_numbers import real_array
from elastogen.runtime.simulation.laws.sampled_law import SampledLaw

SAMPLES_PER_SECOND = 1000.0  # of a Trajectory that a controller follows; quintics between them
PythonForce: TypeAlias = "Callable[[float, NDArray[Any], NDArray[Any]], ArrayLike]"


@dataclass(frozen=True, eq=False)
class Table:
    """Sampled forces: ``F[k]`` from ``t[k]`` on ("hold"), or on the line to the next sample ("linear").

    The first sample holds before ``t[0]``, the last one after ``t[-1]``. ``F`` is (len(t), nq).
    """

    t: ArrayLike
    F: ArrayLike
    interpolation: Literal["hold", "linear"] = "hold"


@dataclass(frozen=True, eq=False)
class BangBang:
    """The fastest rest-to-rest input of a single mass: ``amplitude`` for half the duration, then its opposite.

    ``amplitude`` is (nq,) [N m] or [N]; ``duration`` and ``start`` [s] are numbers or (nq,). Zero before and after.
    """

    amplitude: ArrayLike
    duration: ArrayLike
    start: ArrayLike = 0.0


@dataclass(frozen=True, eq=False)
class Waypoints:
    """A reference motion through positions ``q`` (len(t), nq): a quintic between samples, at rest outside.

    Where velocities or accelerations are left out, the cubic spline that starts and ends at rest gives them.
    """

    t: ArrayLike
    q: ArrayLike
    qd: ArrayLike | None = None
    qdd: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class PD:
    """F = G(q) + kp (q_r - q) + kd (qd_r - qd): PD control with gravity compensation.

    ``kp`` [N m/rad, N/m] and ``kd`` [N m s/rad, N s/m] are numbers or (nq,). ``reference`` is Waypoints, a Trajectory, or a
    position (nq,) to hold. No force acts on elastic coordinates, unless ``actuated`` (nq booleans) says so.
    """

    reference: Waypoints | Trajectory | ArrayLike
    kp: ArrayLike
    kd: ArrayLike
    actuated: Sequence[bool] | None = None


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """F = inverse dynamics of qdd_r + kp (q_r - q) + kd (qd_r - qd): the error obeys e'' + kd e' + kp e = 0.

    ``kp`` [1/s^2] and ``kd`` [1/s] are numbers or (nq,); else like :class:`PD`. Exact for a rigid robot; of a flexible
    one, the forces on its elastic coordinates are left out.
    """

    reference: Waypoints | Trajectory | ArrayLike
    kp: ArrayLike
    kd: ArrayLike
    actuated: Sequence[bool] | None = None


@dataclass(frozen=True, eq=False)
class CFunction:
    """A compiled function ``int f(void *context, double t, const double *q, const double *qd, double *F)``.

    ``address`` and ``context`` are integers, cffi pointers or ctypes pointers; a non-zero answer ends the simulation.
    ``keep`` holds what must stay alive as long as the input does: the library, the context's memory.
    """

    address: Any
    context: Any = 0
    keep: Any = field(default=None, repr=False)


Input: TypeAlias = Union[ArrayLike, Table, BangBang, PD, ComputedTorque, CFunction, SampledLaw, PythonForce, None]  # noqa: UP007


@dataclass(frozen=True)
class InputData:
    """An input as the C code reads it; arrays are dense and checked."""

    kind: str  # name of the INPUT constant
    times: NDArray[Any] | None = None
    values: NDArray[Any] | None = None
    rates: NDArray[Any] | None = None
    accelerations: NDArray[Any] | None = None
    position_gain: NDArray[Any] | None = None
    velocity_gain: NDArray[Any] | None = None
    actuated: NDArray[Any] | None = None
    function: Any = None  # a CFunction or a Python function

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the functions of the model that the input calls."""
        return {"PD": ("gravity_vector",), "COMPUTED_TORQUE": ("inverse_dynamics",)}.get(self.kind, ())


class InputReader:
    """Checks inputs for one model."""

    def __init__(
        self,
        label: str,
        elastic: Sequence[bool],
        driven: Sequence[int],
        *,
        law: Callable[[PD | ComputedTorque], Any] | None = None,
    ) -> None:
        self._label, self._elastic, self._driven, self._law = label, elastic, driven, law
        self._nv = len(elastic)

    def read(self, given: Input) -> InputData:
        """Turn any value of ``F=`` into checked data."""
        if isinstance(given, InputData):
            return given
        if given is None:
            return InputData("HOLD")
        if isinstance(given, Table):
            return self._table(given)
        if isinstance(given, BangBang):
            return self._bang_bang(given)
        if isinstance(given, (PD, ComputedTorque)):
            return self._controller(given)
        if isinstance(given, CFunction) or callable(given):
            return InputData("FUNCTION", function=given)
        if isinstance(given, SampledLaw):
            raise self._wrong("a SampledLaw", "model.simulate(F=...), which keeps its states from sample to sample")
        if isinstance(given, (Waypoints, Trajectory)):
            raise self._wrong("a motion", "a controller that follows it: PD(motion, kp, kd) or ComputedTorque")
        return InputData("HOLD", np.zeros(1), self.vector("a constant", given).reshape(1, self._nv))

    def _table(self, given: Table) -> InputData:
        kinds = {"hold": "HOLD", "linear": "LINEAR"}
        kind = kinds[one_of(f"{self._label}: F= got Table.interpolation", given.interpolation, kinds)]
        times = self._times("Table.t", given.t)
        return InputData(kind, times, self._rows("Table.F", given.F, len(times)))

    def _bang_bang(self, given: BangBang) -> InputData:
        amplitude = self.vector("BangBang.amplitude", given.amplitude)
        duration = self.vector("BangBang.duration", given.duration, number=True)
        start = self.vector("BangBang.start", given.start, number=True)
        if not (duration > 0).all():
            raise self._wrong(f"BangBang.duration={shortened(given.duration)}", "positive numbers of seconds")
        switches = np.stack([start, start + 0.5 * duration, start + duration])  # one column for each coordinate
        signs = np.array([1.0, -1.0, 0.0])
        times = np.unique(switches)
        place = np.array([np.searchsorted(column, times, side="right") for column in switches.T]).T  # (times, nq)
        values = np.concatenate([[0.0], signs])[place] * amplitude
        first = np.full(1, times[0] - 1.0)  # zero before the first switch
        rows = np.ascontiguousarray(np.vstack([np.zeros(self._nv), values]))
        return InputData("HOLD", np.concatenate([first, times]), rows)

    def _controller(self, given: PD | ComputedTorque) -> InputData:
        name = type(given).__name__
        if self._law is not None:  # of a robot with quaternions
            return InputData("FUNCTION", function=self._law(given))
        reference = given.reference
        if isinstance(reference, Trajectory):
            samples = reference.sample(SAMPLES_PER_SECOND)
            reference = Waypoints(samples.t, samples.q, samples.qd, samples.qdd)
        if not isinstance(reference, Waypoints):
            reference = Waypoints([0.0], self.vector(f"{name}.reference", reference).reshape(1, self._nv))
        times = self._times("Waypoints.t", reference.t)
        q = self._rows("Waypoints.q", reference.q, len(times))
        spline = cubic_spline(times, q)
        qd = spline[0] if reference.qd is None else self._rows("Waypoints.qd", reference.qd, len(times))
        qdd = spline[1] if reference.qdd is None else self._rows("Waypoints.qdd", reference.qdd, len(times))
        return InputData(
            kind="PD" if isinstance(given, PD) else "COMPUTED_TORQUE",
            times=times,
            values=q,
            rates=qd,
            accelerations=qdd,
            position_gain=self.gain(f"{name}.kp", given.kp),
            velocity_gain=self.gain(f"{name}.kd", given.kd),
            actuated=self.actuated(given),
        )

    def actuated(self, given: PD | ComputedTorque) -> NDArray[np.intc]:
        """Return 1 where a controller drives, else 0, (nv,)."""
        actuated = np.zeros(self._nv, dtype=np.intc)
        actuated[list(self._driven)] = 1
        if given.actuated is not None:
            what = f"{type(given).__name__}.actuated"
            try:
                flags = np.asarray(given.actuated)
            except ValueError as error:
                raise self._wrong(f"{what}={shortened(given.actuated)}", f"{self._nv} booleans") from error
            if flags.dtype.kind not in "biu" or flags.shape != (self._nv,):
                raise self._wrong(f"{what} of shape {flags.shape} and dtype {flags.dtype}", f"{self._nv} booleans")
            actuated = flags.astype(bool).astype(np.intc)
        return actuated

    def _times(self, what: str, given: ArrayLike) -> NDArray[Any]:
        times = self._numbers(what, given)
        if times.ndim != 1 or not len(times) or not (np.diff(times) > 0).all():
            raise self._wrong(f"{what} of shape {times.shape}", "a list of increasing times [s]")
        return times

    def _rows(self, what: str, given: ArrayLike, count: int) -> NDArray[Any]:
        rows = self._numbers(what, given)
        found = for_all(rows, self._elastic)
        if found.shape != (count, self._nv):
            expected = f"shape ({count}, {self._nv}), a row for each time{or_joints(self._elastic)}"
            raise self._wrong(f"{what} of shape {rows.shape}", expected)
        return found

    def gain(self, what: str, given: ArrayLike) -> NDArray[Any]:
        """Return gains of all velocities, given as one number or one each; negative gains are refused."""
        gains = self.vector(what, given, number=True)
        if (gains < 0).any():
            raise self._wrong(f"{what}={shortened(given)}", "numbers from 0: a negative gain drives away from the reference")
        return gains

    def vector(self, what: str, given: ArrayLike, *, number: bool = False) -> NDArray[Any]:
        """Return numbers for all velocities; with ``number`` one may stand for all."""
        vector = self._numbers(what, given)
        if number and vector.ndim == 0:
            return np.full(self._nv, float(vector))
        found = for_all(vector, self._elastic)
        if found.shape != (self._nv,):
            either = "a number or " if number else ""
            expected = f"{either}{self._nv} numbers, one for each coordinate{or_joints(self._elastic)}"
            raise self._wrong(f"{what} of shape {vector.shape}", expected)
        return found

    def _numbers(self, what: str, given: ArrayLike) -> NDArray[Any]:
        try:
            array = np.ascontiguousarray(real_array(given)).reshape(np.shape(given))
        except (TypeError, ValueError) as error:
            raise self._wrong(f"{what}={shortened(given)}", "real numbers") from error
        if not np.isfinite(array).all():
            raise self._wrong(f"{what} with NaN or infinity", "finite numbers")
        return array

    def _wrong(self, got: str, expected: str) -> ModelError:
        return ModelError(f"{self._label}: F= got {got}, expected {expected}.")
