"""Where a loop reads the state and writes the command: a simulated robot, the user's C functions, shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import damping_by_columns, mass_by_columns, stiffness_by_columns
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.pointers import connect_functions
from elastogen.runtime.loop.positions import positions_of, unit_positions
from elastogen.runtime.loop.shared_memory import SharedMemory, SharedRobot
from elastogen.runtime.model.model import Model

__all__ = ["Callbacks", "Plant", "SharedMemory", "SharedRobot", "Simulated"]
METHODS = {"rk4": "RK4", "semi_implicit": "SEMI_IMPLICIT"}
MOST_SUBSTEPS = 1_000_000
STEPS_PER_RADIAN = 1.0  # of the fastest vibration, for the default number of substeps


class Plant(Protocol):
    """Anything that can connect itself to a loop."""

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Set the fields read, write and io of a loop; called before each start."""


class Simulated:
    """A simulated robot, integrated by the generated forward dynamics with the command held between the cycles.

    ``method`` is "rk4" or "semi_implicit" (Euler, velocities first), with ``substeps`` for each period (None: by the fastest
    vibration and the strongest damping). ``parameters`` are its own live parameters, so that controller and robot may
    disagree. ``library`` is the loop of another robot, ``measured`` the indices in qd of what of it this loop reads and
    drives: a controller of a rigid model may so meet a flexible robot. ``noise``: what an observer reads of it is as noisy as
    the observer expects, by random numbers of ``seed``. ``q``, ``qd`` and ``disturbance`` (forces that are
    added, [N m, N]) are arrays that the loop uses; write to them while it does not run, or accept that a cycle may see part
    of it.
    """

    def __init__(
        self,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        *,
        method: str = "rk4",
        substeps: int | None = None,
        parameters: Mapping[str, float] | None = None,
        library: LoopLibrary | None = None,
        measured: Sequence[int] | None = None,
        noise: bool = False,
        seed: int = 1,
    ) -> None:
        self._method = one_of("simulated plant: method", method, METHODS)
        if substeps is not None:
            checks.whole(
                "simulated plant: substeps", substeps, 1, MOST_SUBSTEPS, f"None or a whole number from 1 to {MOST_SUBSTEPS}"
            )
        if parameters is not None:
            checks.instance("simulated plant: parameters", parameters, Mapping, "None or a mapping from names to numbers")
        if library is not None:
            checks.instance("simulated plant: library", library, LoopLibrary, "None or what elastogen.build_loop returns")
        self._noisy = flag("simulated plant: noise", noise)
        self._seed = checks.whole("simulated plant: seed", seed, 1, (1 << 32) - 1, "a whole number from 1")
        self._initial = (q, qd)
        self._substeps = substeps
        self._parameters = dict(parameters or {})
        self._library, self._measured = library, measured
        self._plant: Any = None
        self.q: NDArray[Any] = np.empty(0)
        self.qd: NDArray[Any] = np.empty(0)
        self.disturbance: NDArray[Any] = np.empty(0)

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Take the place of the robot; a state that was reached before is kept."""
        own = self._library or library
        if self._plant is None:
            self._make(own, library)
        plant = self._plant
        plant.period, plant.tick = period, 0
        if hasattr(plant, "held"):
            plant.held = 0  # the state may have been written since
        plant.substeps = self._substeps or needed_substeps(own.model, self.q, period, self._method)
        read, write = (own.address(f"eg_loop_plant_{what}") for what in ("read", "write"))
        connect_functions(library.ffi, loop, read, write, plant)

    def readings(self, library: LoopLibrary, noise: NDArray[Any]) -> tuple[Any, Any]:
        """Function and data by which an observer with this noise reads the sensors."""
        own = self._library or library
        theirs, ours = ([c.name for c in each.model.metadata.sensors] for each in (own, library))
        if theirs != ours:
            raise ModelError(
                f"{library.model.name}: the simulated {own.model.name} has the readings {theirs}, expected {ours}. "
                "Fix: the same with_sensors(...) for both robots."
            )
        own.view(self._plant, "eg_loop_plant_t", "noise")[:] = noise if self._noisy else 0.0
        self._plant.random = self._seed
        return own.address("eg_loop_plant_measure"), self._plant

    @property
    def switches(self) -> int:
        """How often the element inside a sliding joint changed; the state is carried over at the end of the substep."""
        return int(getattr(self._plant, "switches", 0))

    def _make(self, own: LoopLibrary, library: LoopLibrary) -> None:
        model, ffi = own.model, own.ffi
        measured = self._coordinates(model.nv)
        positions = positions_of(model, measured)
        sizes = len(measured), len(positions)
        if len(set(measured)) != len(measured) or sizes != (library.model.nv, library.model.nq):
            raise ModelError(
                f"{library.model.name}: the simulated {model.name} offers the coordinates {measured} of its {model.nv}, "
                f"expected {library.model.nv} of them. Fix: name them in measured=."
            )
        if model.dtype != library.model.dtype:
            raise ModelError(f"{library.model.name} and the simulated {model.name} differ in precision.")
        q, qd = self._initial
        initial = [
            unit_positions(model, "simulated plant: q", self._state("q", q, np.array(model.neutral(), dtype=float))),
            self._state("qd", qd, np.zeros(model.nv)),
        ]
        if model.loops is not None:
            initial = assembled(model, *initial)
        plant = ffi.new("eg_loop_plant_t *")
        plant.method = own.constants[METHODS[self._method]]
        plant.measured = len(measured)
        plant.map[0 : len(measured)] = measured
        if hasattr(plant, "positions"):
            plant.positions = len(positions)
            plant.position[0 : len(positions)] = positions
        values = model.parameters.merged(self._parameters)
        if len(values):
            ffi.memmove(ffi.addressof(plant.p), ffi.from_buffer(np.ascontiguousarray(values)), values.nbytes)
        self._plant = plant
        self.q, self.qd, self.disturbance = (own.view(plant, "eg_loop_plant_t", field) for field in ("q", "qd", "disturbance"))
        self.q[:], self.qd[:] = initial

    def _coordinates(self, nv: int) -> tuple[int, ...]:
        if self._measured is None:
            return tuple(range(nv))
        try:
            given = list(self._measured)
        except TypeError:
            given = [self._measured]  # type: ignore[list-item]
        return tuple(
            checks.whole("simulated plant: measured", k, 0, nv - 1, f"indices of coordinates, 0 to {nv - 1}") for k in given
        )

    @staticmethod
    def _state(name: str, given: ArrayLike | None, default: NDArray[np.float64]) -> NDArray[np.float64]:
        size = len(default)
        values = default if given is None else real_numbers.finite(f"simulated plant: {name}", given, f"{size} finite numbers")
        if values.shape != (size,):
            raise ModelError(f"simulated plant: {name} has shape {values.shape}, expected ({size},).")
        return values


def needed_substeps(model: Model, q: NDArray[Any], period: float, method: str = "rk4") -> int:
    """Of one period: by the fastest vibration, and by what damping and friction end faster than a step can follow."""
    q = np.asarray(q, dtype=float)
    if model.loops is not None:
        return 1
    try:
        inverse = np.linalg.inv(mass_by_columns(model, q))
        K, D = (inverse @ by(model, q) for by in (stiffness_by_columns, damping_by_columns))
        poles = np.linalg.eigvals(np.block([[np.zeros_like(K), np.eye(len(K))], [-K, -D]]))
    except np.linalg.LinAlgError:
        return 1  # a robot that cannot move: its first step says so
    # RK4 is stable up to 2.8 of either kind, and what only decays need not be exact; in the semi-implicit method damping
    # acts on the velocity of the last step: stable for h (size + 2 decay) < 1.
    size, decay = np.abs(poles), np.abs(poles.real)
    needed = np.where(poles.imag == 0.0, 0.5 * size, size) if method == "rk4" else size + 2.0 * decay
    return max(1, int(np.ceil(period * float(needed.max()) * STEPS_PER_RADIAN)))


def assembled(model: Model, q: NDArray[Any], qd: NDArray[Any]) -> list[NDArray[Any]]:
    """A state of a mechanism with its loops closed: drives stay where they are, and all velocities follow theirs."""
    assert model.loops is not None
    q = np.asarray(model.close_loops(q))
    return [q, np.asarray(model.driven_map(q)) @ qd[list(model.loops.independent)]]


class Callbacks:
    """The user's own C functions: addresses, cffi or ctypes pointers; "user" takes those that were compiled in.

    ``int read(void *io, uint64_t tick, real *q, real *qd)`` and ``int write(void *io, uint64_t tick, const real *F)``.
    """

    def __init__(self, read: Any = "user", write: Any = "user", io: Any = None) -> None:
        self._given = (read, write, io)

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Let the loop call them."""
        read, write, io = self._given
        texts = [given for given in (read, write) if isinstance(given, str)]
        if any(text != "user" for text in texts):
            raise ModelError(f"{library.model.name}: callbacks: got {texts}, expected addresses of C functions, or 'user'.")
        if texts and not library.user_plant:
            raise ModelError(
                f"{library.model.name}: the plant is the user's own, but none was compiled in. Fix: pass plant_source=, C text "
                "or the path of a file that defines user_read and user_write."
            )
        read = library.address("user_read") if isinstance(read, str) else read
        write = library.address("user_write") if isinstance(write, str) else write
        connect_functions(library.ffi, loop, read, write, io)
