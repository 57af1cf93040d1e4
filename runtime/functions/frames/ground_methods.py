"""Methods of a model on a ground: distances of its points, and the times at which they touch and lift off."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.plane import GroundEvent, Plane


class GroundMethods:
    """For models of ``robot.with_ground(...)``, or with ``ground:`` in the robot file."""

    _metadata: Metadata
    _name: str
    frame_pose: Any
    frame_velocity: Any

    def ground_gaps(self, q: ArrayLike) -> Array:
        """Return distances of the points from the ground (..., points) [m]; negative inside."""
        plane = self._plane()
        positions = np.asarray(self.frame_pose(list(plane.frames), q)[0], dtype=float)
        found: Array = positions @ np.array(plane.normal) - plane.height - np.array(plane.radii)
        return found

    def ground_events(self, motion: Any) -> tuple[GroundEvent, ...]:
        """When the points touch the ground and lift off in a simulated motion, in order of time.

        Steps of a simulation end there, whatever the samples are. In motions that come from elsewhere, or whose model has no
        ``ground_motion``, times are found between samples by cubic interpolation of the distances: there a touch that lasts
        less than the time between two samples is not seen.
        """
        met = getattr(motion, "ground_events", None)
        if met is not None and np.ndim(motion.q) == 2:
            return tuple(met)
        plane = self._plane()
        t, q, qd = (np.asarray(values, dtype=float) for values in (motion.t, motion.q, motion.qd))
        if q.ndim != 2:
            raise ModelError(f"{self._name}.ground_events: got {q.ndim - 1} axes of motions, expected one: motion.motion(k).")
        gaps = np.asarray(self.ground_gaps(q), dtype=float)
        velocities = np.asarray(self.frame_velocity(list(plane.frames), q, qd), dtype=float)
        rates = velocities[..., :3] @ np.array(plane.normal)
        found = []
        for k, name in enumerate(plane.frames):
            for i in np.flatnonzero((gaps[:-1, k] > 0) != (gaps[1:, k] > 0)):
                h = t[i + 1] - t[i]
                share, rate = _crossing(gaps[i, k], h * rates[i, k], gaps[i + 1, k], h * rates[i + 1, k])
                kind: Literal["touch", "lift"] = "touch" if gaps[i, k] > 0 else "lift"
                found.append(GroundEvent(float(t[i] + share * h), name, kind, float(rate / h)))
        return tuple(sorted(found, key=lambda event: event.time))

    def _plane(self) -> Plane:
        if self._metadata.ground is None:
            fix = "robot.with_ground('foot'), or ground: in the robot file"
            raise ModelError(f"{self._name}: stands on no ground. Fix: {fix}")
        return self._metadata.ground


def _crossing(a: float, da: float, b: float, db: float) -> tuple[float, float]:
    """Return the zero of the cubic with these values and slopes at 0 and 1, and its slope there."""
    cubic = np.array([2 * a + da - 2 * b + db, -3 * a - 2 * da + 3 * b - db, da, a])
    roots: NDArray[Any] = np.roots(cubic)
    inside = [r.real for r in roots if abs(r.imag) < 1e-9 and -1e-9 <= r.real <= 1 + 1e-9]
    place = min(max(inside[0] if inside else a / (a - b), 0.0), 1.0)
    return float(place), float(np.polyval(np.polyder(cubic), place))
