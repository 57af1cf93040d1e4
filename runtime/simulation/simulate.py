"""Methods of a model: simulation in C, and the right-hand side for other integrators."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError, ModelWarning
from elastogen.runtime.functions.evaluation import ParameterValues
from elastogen.runtime.functions.loops.closed_starts import check_closed, needed_functions
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.functions.quaternions import elastic_positions, unit_quaternions
from elastogen.runtime.functions.singular import condition, why_singular
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.interface.integrators import DEFAULT, INTEGRATORS, integrator
from elastogen.runtime.joints_only import for_all, or_joints
from elastogen.runtime.real_numbers import real_array
from elastogen.runtime.simulation.laws.sampled_law import SampledLaw, simulated
from elastogen.runtime.simulation.limit_methods import LimitMethods, cut_at_limits, until_limit

if TYPE_CHECKING:  # imported where they are used: a model that is only evaluated starts at once
    from elastogen.runtime.simulation.inputs import Input, InputReader
    from elastogen.runtime.simulation.motions import Motion, Motions
    from elastogen.runtime.simulation.results import Simulation
    from elastogen.runtime.simulation.simulator import Method, Simulator
    from elastogen.runtime.simulation.stops import StopChoice

METHODS = tuple(entry.name for entry in INTEGRATORS)
ENERGIES = {
    "kinetic": "kinetic_energy",
    "potential": "potential_energy",
    "work": "forward_dynamics",
    "loss": "friction_forces",
}
"""Energies that are recorded, and the function that each needs."""
TOLERANCES = {"float64": (1e-8, 1e-10), "float32": (1e-5, 1e-6)}
"""Default rtol and atol for each precision of a model."""
LONG_STEPS = "steps too long for the stiffness of the robot or the gains (fix: a smaller step=, or method='generalized_alpha')"
GROWN = 1e6  # times the first mass matrix: a motion that left its robot behind


class SimulationMethods(LimitMethods):
    """Motions of a model."""

    nq: Any
    nv: Any
    driven: Any
    coordinate_names: Any
    coordinate_units: Any
    dtype: Any
    metadata: Any
    _warned: set[str]  # links that were warned of
    _animator: Callable[..., Path] | None = None  # draws simulations, where the robot is known
    _lib: Any
    _ffi: Any
    _parameters: Parameters
    _build: Callable[[str, tuple[str, ...]], Any] | None = (
        None  # builds a model with other outputs, where the user did not choose them
    )
    _simulator: Simulator | None = None

    def simulate(
        self,
        q0: ArrayLike,
        qd0: ArrayLike | None = None,
        *,
        t: ArrayLike,
        F: Input = None,
        method: str = DEFAULT,
        step: float | None = None,
        max_step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        rho_inf: float = 0.9,
        samples: int = 1001,
        energy: bool = True,
        parameters: ParameterValues = None,
        progress: bool | None = None,
        on_failure: Literal["raise", "keep"] = "raise",
        stops: StopChoice = "report",
        threads: int | None = None,
    ) -> Simulation:
        """Integrate the equation of motion in C from the state (q0, qd0) and return samples of the motion.

        - ``q0`` (nq,) and ``qd0`` (nv,): [rad, m] and per s; ``qd0`` is zero if left out. Of a flexible robot numbers of the
          joints alone will do, here and in ``F``: elastic coordinates start undeformed. Leading axes, and arrays among
          ``parameters``, are batches that broadcast; their motions are computed in parallel on all cores, or in ``threads``.
        - ``t``: increasing sample times [s], the first is the start; or a number, the end of ``samples`` times from 0.
        - ``F``: None (no forces), constant forces (nq,), an object of ``elastogen.runtime.simulation.inputs`` (Table,
          BangBang, PD, ComputedTorque, CFunction), a SampledLaw of own functions with states, or a Python function
          f(t, q, qd) (slow: called in every step).
        - ``method``: "tsit5" (explicit, order 5, steps follow the tolerances ``rtol`` and ``atol``, none longer than
          ``max_step`` [s], the first is ``step``); "rk4" (explicit, order 4, equal steps of at most ``step`` [s]);
          "generalized_alpha" (implicit, order 2, equal steps; for stiff elastic robots. A step leaves ``rho_inf``, 0 to
          1, of the amplitude of vibrations much faster than it; the tolerances are those of Newton's method).
          Equal steps are cut so that they meet sample times and breaks of the forces; ``step`` defaults to 1 ms.
        - ``energy``: record energies, and integrate the work of F and of friction along with the motion.
        - ``progress``: a bar on stderr; by default on a terminal, for runs longer than a second.
        - ``on_failure``: "raise" a SimulationError that carries what was done, or "keep" it and return that.
        - ``stops``: what happens at the joints' limits. "report": nothing, but a ModelWarning and ``limits_passed`` tell who
          passed one first; "end": the motion ends there; :class:`Stops`: springs and dampers push back; "ignore".

        Ctrl-C returns what is done, with ``interrupted`` set. A model in single precision is evaluated in it; time and
        state are double.
        """
        from elastogen.runtime.simulation.motions import sample_times
        from elastogen.runtime.simulation.results import SimulationError
        from elastogen.runtime.simulation.stops import read_stops, warn_of_limits

        label = f"{self._name}.simulate"
        again: dict[str, Any] = {
            "method": method, "step": step, "max_step": max_step, "rtol": rtol, "atol": atol, "rho_inf": rho_inf,
            "energy": energy, "parameters": parameters, "progress": progress, "on_failure": on_failure,
        }  # fmt: skip
        if isinstance(F, SampledLaw):
            return simulated(self, F, q0, qd0, t, {**again, "samples": samples, "stops": stops})
        one_of(f"{label}: on_failure", on_failure, ("raise", "keep"))
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ModelError(f"{label}: threads={shortened(threads)}, expected a whole number of threads, at least 1, or None.")
        data = self._reader(label).read(F)
        chosen = self._method(label, method, step, max_step, rtol, atol, rho_inf)
        jumps = any(joint.thresholds and joint.passage == "refract" for joint in self.metadata.sliding)
        needed = needed_functions(self.metadata, method, data.needs)
        simulator = self._simulator_for(label, (*needed, *(("mass_matrix",) if jumps else ())))
        times = sample_times(label, t, samples)
        if 0.0 < chosen.step < (least := float(np.spacing(np.abs(times).max()))):
            raise ModelError(f"{label}: step={step!r}, expected at least {least:.2g} s: with less the time stands still.")
        flag(f"{label}: energy", energy)
        flag(f"{label}: progress", False if progress is None else progress)
        motions = self._motions(label, simulator, q0, qd0, parameters, len(times), energy)
        watched = read_stops(label, stops, self.position_limits, lambda: self._sudden_inertia(motions[0]))
        start = time.perf_counter()
        simulator.run(motions, times, data, chosen, progress, watched, threads)
        if watched is not None and watched.ends:
            if not motions.batch and motions[0].passed is not None:  # once more, to that very time
                until = until_limit(times, motions[0].passed.time)
                ended = self.simulate(q0, qd0, t=until, F=F, stops="ignore", **again)
                passed = self._limits_passed(motions, ())
                return replace(ended, status="LIMIT" if ended.ok else ended.status, limits_passed=passed)
            cut_at_limits(motions, times)
        result = self._simulation(motions, times, method, time.perf_counter() - start)
        if stops == "report":
            warn_of_limits(label, result.limits_passed, len(motions))
        self._warn_of_fast_spin(label, result)
        self._warn_of_large_slopes(label, result)
        if on_failure == "raise" and not (result.ok or result.interrupted):
            raise SimulationError(self._failure(label, result, motions), result)
        return result

    def _reader(self, label: str) -> InputReader:
        from elastogen.runtime.simulation.inputs import InputReader

        if not self._quaternions:
            return InputReader(label, self.metadata.elastic_coordinates, self.driven)
        from elastogen.runtime.simulation.manifold_control import law

        by_law = lambda given: law(label, self, given)  # type: ignore[arg-type]  # noqa: E731
        return InputReader(label, self.metadata.elastic_coordinates, self.driven, law=by_law)

    def rhs(self, t: float, y: ArrayLike, F: Input = None, parameters: ParameterValues = None) -> NDArray[Any]:
        """Right-hand side of the first-order system y = (q, qd), for integrators of other packages.

        >>> scipy.integrate.solve_ivp(model.rhs, (0, 5), [*q0, *qd0], args=(F,))

        ``y`` is (nq + nv,) or (nq + nv, k) for k states at once (``vectorized=True``); ``F`` as in :meth:`simulate`.
        """
        label, n = f"{self._name}.rhs", self.nq + self.nv
        try:
            state, t = real_array(y), float(t)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{label}: t={shortened(t)}, y={shortened(y)}, expected a time t and {n} real numbers.") from None
        if state.ndim not in (1, 2) or state.shape[0] != n:
            raise ModelError(f"{label}: y has shape {state.shape}, expected ({n},) or ({n}, k).")
        q, qd = (np.ascontiguousarray(half.T) for half in (state[: self.nq], state[self.nq :]))
        forces = self._forces(t, q, qd, F, parameters)
        qdd = self._evaluate("forward_dynamics", (q, qd, forces), None, parameters)
        dq = self._evaluate("configuration_rate", (q, qd)) if self._quaternions else qd
        slope: NDArray[Any] = np.concatenate([dq, qdd], axis=-1).T
        return slope

    def _forces(self, t: float, q: NDArray[Any], qd: NDArray[Any], F: Input, parameters: ParameterValues) -> Any:

        if F is None:
            return np.zeros(self.nv)
        label = f"{self._name}.rhs"
        data = self._reader(label).read(F)
        if data.kind == "HOLD" and data.values is not None and len(data.values) == 1:
            return data.values[0]
        simulator = self._simulator_for(label, needed_functions(self.metadata, "rk4", data.needs))
        values = self._parameters.snapshot if parameters is None else self._parameters.merged(parameters)
        if q.ndim == 1:
            return simulator.force(values, data, t, q, qd)
        return np.array([simulator.force(values, data, t, *pair) for pair in zip(q, qd, strict=True)])

    # Pieces of a simulation.

    def _warn_of_fast_spin(self, label: str, result: Simulation) -> None:
        """Say once per link that it rotated faster than half the rate at which the linear model loses its stiffness."""
        for critical in self.metadata.critical_rates:
            fastest = float(np.nanmax(np.abs(result.qd[..., list(critical.coordinates)]), initial=0.0))
            if fastest > 0.5 * critical.rate and critical.link not in self._warned:
                self._warned.add(critical.link)
                warnings.warn(
                    f"{label}: {critical.link} turned at {fastest:.3g} rad/s. Without foreshortening it loses its stiffness at "
                    f"{critical.rate:.3g} rad/s. Fix: foreshortening: true for this link, or move more slowly.",
                    ModelWarning,
                    stacklevel=3,
                )

    def _warn_of_large_slopes(self, label: str, result: Simulation) -> None:
        """Say once per link that it left the range of small deflections, and that of its tip's series."""
        from elastogen.runtime.simulation.results import SMALL_SLOPE, deflection_error

        for k, slopes in enumerate(self.metadata.slopes):
            largest = float(np.nanmax(result.largest_slopes[..., k], initial=0.0))
            if largest > SMALL_SLOPE and f"{slopes.link} slope" not in self._warned:
                self._warned.add(f"{slopes.link} slope")
                off = f"about {100 * deflection_error(largest):.2g} %" if largest <= 1 else "more than 40 %"
                series = "; the rotation of its tip is exact up to 2 rad only" if slopes.by_series and largest > 2 else ""
                warnings.warn(
                    f"{label}: {slopes.link} bent by {largest:.3g} rad, and its beam is linear: small up to {SMALL_SLOPE} rad"
                    f"{series}. Expect deflections that are {off} too large. "
                    "Fix: a stiffer link, smaller loads, or several shorter links on fixed joints in its place.",
                    ModelWarning,
                    stacklevel=3,
                )

    def _failure(self, label: str, result: Simulation, motions: Motions) -> str:
        """Which motion failed, when and why."""
        from elastogen.runtime.simulation.results import STATUS

        failed = [k for k, motion in enumerate(motions) if motion.status != "OK"]
        first = motions[failed[0]]
        where = f"motion {failed[0]} (the first of {len(failed)} of {len(motions)})" if len(motions) > 1 else "the motion"
        cause = STATUS[first.status]
        if first.status == "OUT_OF_RANGE":
            joint = self.metadata.sliding[first.control.left]
            cause = f"{joint.joint} left its beam, 0 to {joint.upper:.9g} m"
        elif first.status == "SINGULAR":
            cause = self._why_unsolved(first, motions.samples["q"][failed[0], : first.control.samples])
        return (
            f"{label}, {result.method}: {where} failed at t = {first.control.time:g} s: {cause}. "
            "What was done until then is in the exception's .simulation; on_failure='keep' returns it."
        )

    def _why_unsolved(self, motion: Motion, reached: NDArray[Any]) -> str:
        """What had no solution, and the likely cause."""
        if self.metadata.loops is None:
            return f"the mass matrix is not positive definite; likely cause: {self._why_singular_on_the_way(motion, reached)}"
        q = np.round([motion.q0, *reached][-1], 6).tolist()
        return (
            f"the closed mechanism cannot be solved soon after q={q}; likely cause: a singular configuration, where loops lose "
            f"rank or drives do not determine their motion (fix: a motion that keeps away from it), or {LONG_STEPS}"
        )

    def _why_singular_on_the_way(self, motion: Motion, reached: NDArray[Any]) -> str:
        """The cause of a singular mass matrix, judged at the last sample: it may be far from where a long step went."""
        if "mass_matrix" not in self._kernels:
            return f"a link without inertia, or {LONG_STEPS}"
        last, first = (self._mass_matrix_at(q, motion.parameters) for q in ([motion.q0, *reached][-1], motion.q0))
        if _is_sound(last):
            return f"{LONG_STEPS}; at the last sample M has the condition {condition(last):.2g} with unit diagonal"
        if _is_sound(first) and not np.trace(last) < GROWN * np.trace(first):  # where M is NaN, too
            return f"{LONG_STEPS}; at the start M has the condition {condition(first):.2g} with unit diagonal"
        return why_singular(last, self.metadata.velocity_names)

    @property
    def _at_borders(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Joints that slide along beams, and frames that touch the ground."""
        ground = self.metadata.ground
        return tuple(joint.joint for joint in self.metadata.sliding), () if ground is None else ground.frames

    def _simulator_for(self, label: str, needed: tuple[str, ...]) -> Simulator:
        """The integrators of a module that has the needed functions: this one, or one that is built now."""
        from elastogen.runtime.simulation.simulator import Simulator

        if self._simulator is None and hasattr(self._lib, "eg_simulate"):
            self._simulator = Simulator(self._lib, self._ffi, list(self._kernels), self.nq, self.nv, *self._at_borders)
        missing = [name for name in needed if self._simulator is None or name not in self._simulator.functions]
        if missing and self._build is not None:
            other = self._build("simulation", ())
            self._simulator = Simulator(other._lib, other._ffi, list(other.functions), self.nq, self.nv, *self._at_borders)
            return self._simulator
        if missing or self._simulator is None:
            manifold = ("configuration_rate", "integrate") if self.nq != self.nv else ()
            missing = [name for name in (*needed, *manifold) if name not in self._kernels] or missing
            raise ModelError(
                f"{label}: the model was built without {', '.join(missing)}. Fix: build it with "
                "outputs=['default', 'simulation'], or leave outputs= out."
            )
        return self._simulator

    def _method(
        self, label: str, name: str, step: float | None, max_step: float | None,
        rtol: float | None, atol: float | None, rho_inf: float,
    ) -> Method:  # fmt: skip
        from elastogen.runtime.simulation.simulator import Method

        one_of(f"{label}: method", name, METHODS)
        for what, given in (("step", step), ("max_step", max_step), ("rtol", rtol), ("atol", atol)):
            if given is not None and not (_is_number(given) and 0.0 < given <= sys.float_info.max):
                raise ModelError(f"{label}: {what}={shortened(given)}, expected a positive number.")
        if not _is_number(rho_inf) or not 0 <= rho_inf <= 1:
            raise ModelError(f"{label}: rho_inf={shortened(rho_inf)}, expected a number from 0 (strong damping) to 1 (none).")
        usual = TOLERANCES[np.dtype(self.dtype).name]
        return Method(
            name=name,
            step=integrator(name).first_step if step is None else float(step),
            max_step=0.0 if max_step is None else float(max_step),
            rtol=usual[0] if rtol is None else float(rtol),
            atol=usual[1] if atol is None else float(atol),
            rho_inf=float(rho_inf),
        )

    def _motions(
        self, label: str, simulator: Simulator, q0: ArrayLike, qd0: ArrayLike | None, parameters: ParameterValues,
        count: int, energy: bool,
    ) -> Motions:  # fmt: skip
        """All motions of a batch, with rows of common arrays for their samples."""
        from elastogen.runtime.simulation.motions import make_motions

        q = self._state(label, "q0", q0, elastic_positions(self.metadata))
        if self._quaternions:
            q = unit_quaternions(q, self._quaternions)
        qd = np.zeros(self.nv) if qd0 is None else self._state(label, "qd0", qd0, self.metadata.elastic_coordinates)
        if self.metadata.loops is not None:
            check_closed(label, self.metadata, lambda name, at: self._evaluate(name, (at,), None, parameters), q, qd)
        values = self._parameters.snapshot if parameters is None else self._parameters.merged(parameters)
        sizes: dict[str, tuple[int, ...]] = {"q": (self.nq,), "qd": (self.nv,), "F": (self.nv,)}
        if energy:
            sizes |= {name: () for name, function in ENERGIES.items() if function in simulator.functions}
        return make_motions(label, simulator.ffi, {"q0": q, "qd0": qd, "parameters": values}, sizes, count)

    def _state(self, label: str, name: str, given: ArrayLike, elastic: Sequence[bool]) -> NDArray[Any]:
        try:
            array = for_all(real_array(given), elastic)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{label}: {name}={shortened(given)}, expected real numbers (..., {len(elastic)}).") from error
        if array.ndim < 1 or array.shape[-1] != len(elastic):
            raise ModelError(f"{label}: {name} has shape {array.shape}, expected (..., {len(elastic)}){or_joints(elastic)}.")
        return array

    def _simulation(
        self, motions: Motions, times: NDArray[Any], method: str, seconds: float
    ) -> Simulation:  # fmt: skip
        from elastogen.runtime.simulation.results import Simulation

        batch = motions.batch

        def gather(values: list[Any]) -> Any:
            return np.array(values).reshape(batch) if batch else values[0]

        valid = len(times) if batch else int(motions[0].control.samples)
        motions.forget_what_was_not_reached()
        shaped = motions.shaped()
        if not batch:
            shaped = {name: array[:valid] for name, array in shaped.items()}
        return Simulation(
            name=self._name, method=method, coordinate_names=self.coordinate_names,
            coordinate_units=self.coordinate_units, velocity_names=self.metadata.velocity_names,
            velocity_units=self.metadata.velocity_units, t=times[:valid], q=shaped["q"], qd=shaped["qd"], F=shaped["F"],
            kinetic=shaped.get("kinetic"), potential=shaped.get("potential"), work=shaped.get("work"),
            dissipated=shaped.get("loss"), status=gather([motion.status for motion in motions]),
            time_reached=gather([float(motion.control.time) for motion in motions]),
            **{
                field: gather([int(getattr(motion.control, field)) for motion in motions])
                for field in ("steps", "rejections", "evaluations", "factorizations")
            },
            seconds=seconds,
            switches=motions.met("switches"),
            ground_events=motions.met("ground_events") if hasattr(motions[0].control, "touches") else None,
            flexible_links=tuple(slopes.link for slopes in self.metadata.slopes),
            largest_slopes=self._largest_slopes(shaped["q"]),
            limits_passed=self._limits_passed(motions, batch),
            switch_count=gather([int(getattr(motion.control, "switches", 0)) for motion in motions]),
            animator=self._animator,
        )  # fmt: skip

    def _largest_slopes(self, q: NDArray[Any]) -> NDArray[Any]:
        """Over all samples, for each flexible link."""
        found = [np.fmax.reduce(slopes.largest(q), axis=-1, initial=0.0) for slopes in self.metadata.slopes]
        return np.stack(found, axis=-1) if found else np.zeros((*q.shape[:-2], 0))


def _is_sound(M: NDArray[Any]) -> bool:
    """Whether a mass matrix can be factorized with digits left."""
    return condition(M) * float(np.finfo(M.dtype).eps) < 1e-3


def _is_number(given: object) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
