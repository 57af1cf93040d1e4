"""What a simulation does about motions that went beyond the limits of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.functions.evaluation import Evaluation
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.functions.quaternions import velocity_beside

if TYPE_CHECKING:
    from elastogen.runtime.simulation.motions import Motion
    from elastogen.runtime.simulation.stops import LimitPassed


class LimitMethods(Evaluation):
    """Limits of a model's joints, in a simulation."""

    nv: Any
    _metadata: Metadata
    coordinate_names: Any
    coordinate_units: Any
    position_limits: Any
    _parameters: Parameters

    def _sudden_inertia(self, motion: Motion) -> NDArray[np.float64]:
        """What a sudden force on each coordinate meets at the start of a motion: 1 / (M^-1)_ii, (nq,)."""
        zero, unit = np.zeros(self.nv), np.eye(self.nv)
        values = {name: float(value) for name, value in zip(self._parameters, motion.parameters, strict=True)}
        free = self._evaluate("forward_dynamics", (motion.q0, zero, zero), None, values)
        pushed = self._evaluate("forward_dynamics", (motion.q0, zero, unit), None, values)
        met: NDArray[np.float64] = 1.0 / np.diag(np.asarray(pushed, dtype=float) - np.asarray(free, dtype=float))
        return np.ascontiguousarray(met[velocity_beside(self._metadata)])

    def _limits_passed(self, motions: Sequence[Motion], batch: tuple[int, ...]) -> tuple[LimitPassed, ...]:
        """The first limit that each motion passed."""
        from elastogen.runtime.simulation.stops import LimitPassed

        lower, upper = self.position_limits
        found = []
        for number, motion in enumerate(motions):
            if motion.passed is not None:
                k = motion.passed.index
                place = tuple(int(i) for i in np.unravel_index(number, batch)) if batch else ()
                limit = float(upper[k] if motion.passed.is_upper else lower[k])
                found.append(LimitPassed(self.coordinate_names[k], limit, self.coordinate_units[k], motion.passed.time, place))
        return tuple(found)


def until_limit(times: NDArray[Any], end: float) -> NDArray[Any]:
    """Sample times up to a limit, which is the last one."""
    return np.append(times[times < end], end)


def cut_at_limits(motions: Sequence[Motion], times: NDArray[Any]) -> None:
    """In a batch: samples after a limit do not count."""
    for motion in motions:
        if motion.passed is not None and motion.status in ("OK", "EVENT"):
            motion.status = "LIMIT"
            motion.control.time = motion.passed.time
            motion.control.samples = int(np.searchsorted(times, motion.passed.time, side="right"))
