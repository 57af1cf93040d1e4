"""Methods of a model about its sensors: readings with derivatives, and Kalman filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, Evaluation, ParameterValues
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.channel import Channel
from elastogen.runtime.interface.error import shortened

if TYPE_CHECKING:
    from elastogen.runtime.functions.sensing.kalman_filter import KalmanFilter


@dataclass(frozen=True, eq=False)
class Measurement:
    """Readings y = h(q, qd, F) of sensors, and their derivatives by the state (q along the velocities, then qd) and by F."""

    y: Array  # (..., readings)
    H: Array  # (..., readings, 2 nv)
    D: Array  # (..., readings, nv): not zero for accelerometers only
    channels: tuple[Channel, ...]  # names and units of the readings

    def __iter__(self) -> Iterator[Array]:
        """Allow ``y, H = model.measurement(...)``."""
        return iter((self.y, self.H))


class SensingMethods(Evaluation):
    """Encoders, gauges, gyroscopes, accelerometers and tips as an observer sees them."""

    _metadata: Metadata
    _lib: Any
    _sensing: Callable[[tuple[str, ...]], Any] | None = None
    nv: Any
    evaluate: Any
    functions: Any

    def measurement(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        F: ArrayLike,
        *,
        sensors: Sequence[str] | str | None = None,
        parameters: ParameterValues = None,
    ) -> Measurement:
        """What sensors read in a state under the forces F, and the exact derivatives H: ``y, H = model.measurement(q, qd, F)``.

        ``sensors`` are those of ``robot.with_sensors``; None: those of the robot, or all encoders and points. Functions for
        them are built when they are first asked for. Batches broadcast as everywhere.
        """
        model = self.sensed(sensors)
        given = {"q": q, "qd": qd, "F": F}
        y, rows = None, {}
        for name in ("measurement", "measurement_derivatives"):
            info = model.functions[name]
            found = model.evaluate(
                name, **{argument.name: given[argument.name] for argument in info.inputs}, parameters=self._live(parameters)
            )
            if y is None:
                y = np.asarray(found)
            else:
                blocks = found if isinstance(found, tuple) else (found,)
                rows = {argument.name: np.asarray(block) for argument, block in zip(info.outputs, blocks, strict=True)}
        assert y is not None
        zero = np.zeros((*y.shape, self.nv), dtype=y.dtype)
        by_q, by_qd, by_F = (rows.get(f"dy_d{name}", zero) for name in given)
        shape = np.broadcast_shapes(by_q.shape, by_qd.shape, by_F.shape)
        H = np.concatenate([np.broadcast_to(block, shape) for block in (by_q, by_qd)], axis=-1)
        return Measurement(y, H, np.broadcast_to(by_F, shape).copy(), model.metadata.sensors)

    def ekf(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        force: ArrayLike,
        noise: ArrayLike | Mapping[str, float] | None = None,
        position_error: ArrayLike = 1e-3,
        velocity_error: ArrayLike = 1e-2,
        sensors: Sequence[str] | str | None = None,
        parameters: ParameterValues = None,
    ) -> KalmanFilter:
        """An extended Kalman filter in C that starts at (q, qd): ``ekf.step(F, y, dt)``, then ``ekf.q`` and ``ekf.qd``.

        ``force`` are the standard deviations of unknown forces (nv,), or those of the drives, held for a step [N m, N];
        ``noise`` those of the readings, by reading, or by unit, sensor or reading: {"rad": 1e-4, "gauge1": 2e-6}; what is
        not named has the default of its unit (:data:`~elastogen.runtime.functions.sensing.kalman_filter.NOISE`).
        ``position_error`` and ``velocity_error`` are those of the start. Live parameters are those of this moment.
        """
        from elastogen.runtime.functions.sensing.kalman_filter import KalmanFilter

        model = self.sensed(sensors)
        if not hasattr(model._lib, "eg_ekf_size"):
            why = "has loops" if self._metadata.loops is not None else "was built without 'estimation' in outputs="
            raise ModelError(f"{self._name}.ekf: the robot {why}. Fix: elastogen.build_model(robot).ekf(...), without loops.")
        live = self._live(parameters)
        return KalmanFilter(model, q, qd, force, noise, position_error, velocity_error, live)

    def sensed(self, sensors: Sequence[str] | str | None = None) -> Any:
        """Return the model that has the functions of these sensors: this one, or one that is built now."""
        asked = () if sensors is None else (sensors,) if isinstance(sensors, str) else _listed(f"{self._name}.sensed", sensors)
        if sensors is not None and not asked:
            raise ModelError(
                f"{self._name}: sensors={sensors!r}, expected at least one sensor, such as 'encoders'; "
                "or None for those of the robot."
            )
        if not asked and hasattr(self._lib, "eg_ekf_size"):
            return self
        known = self.__dict__.setdefault("_sensed", {})
        if asked not in known:
            if self._sensing is None:
                if not asked and {"measurement", "measurement_derivatives"} <= self.functions.keys():
                    return self
                raise ModelError(
                    f"{self._name}: this model was loaded and has no sensors. "
                    "Fix: elastogen.build_model(robot.with_sensors('encoders', ...), outputs=['estimation'])."
                )
            known[asked] = self._sensing(asked)
        return known[asked]

    def _live(self, parameters: ParameterValues) -> dict[str, Any]:
        """Return values of the live parameters for another model of the same robot."""
        if parameters is not None and not isinstance(parameters, Mapping):
            raise ModelError(f"{self._name}: parameters={parameters!r}, expected a mapping from names to numbers.")
        return {**dict(self._parameters), **(parameters or {})}


def _listed(what: str, given: object) -> tuple[str, ...]:
    """Return names that are given as a list of texts."""
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not all(isinstance(name, str) for name in found):
        raise ModelError(f"{what}: sensors={shortened(given)}, expected names of sensors, for example ['encoders'].")
    return tuple(str(name) for name in found)
