"""References against the limits of a loop, before they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.model.model import Model

FARTHEST = {"float64": 1e6, "float32": 1e4}  # a position beyond it is STATUS_IMPLAUSIBLE [rad, m]
ROUNDING = 1e-9  # relative: a reference that was computed as the limit itself


class _Arrays(Protocol):
    """A tuning block."""

    def array(self, field: str) -> NDArray[Any]:
        """One of its fields."""


def check_reference(
    model: Model,
    tuning: _Arrays,
    fields: Mapping[str, NDArray[Any]],
    table: NDArray[Any] | None,
    peak: NDArray[Any] | None,
) -> None:
    """Refuse positions, velocities and forces beyond the limits; ``peak`` are the greatest speeds of a move."""
    q, qd, F = fields.get("q"), fields.get("qd"), fields.get("F")
    if table is not None:
        q, qd = table[:, : model.nq], table[:, model.nq : model.nq + model.nv]
    lower, upper = (tuning.array(field).astype(float) for field in ("q_min", "q_max"))
    speed, force = (tuning.array(field).astype(float) for field in ("qd_max", "F_max"))
    places, drives = list(model.driven_coordinates), list(model.driven)
    if q is not None:
        far = FARTHEST[model.dtype.name]
        ends = np.maximum(lower, -far), np.minimum(upper, far)
        _check(model, "q", model.coordinate_names, places, np.asarray(q, dtype=float), *ends)
    for name, values, limit in (("qd", qd, speed), ("peak qd", peak, speed), ("F", F, force)):
        if values is not None:
            _check(model, name, model.velocity_names, drives, np.asarray(values, dtype=float), -limit, limit)


def _check(
    model: Model,
    field: str,
    names: tuple[str, ...],
    watched: list[int],
    values: NDArray[np.float64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
) -> None:
    slack = ROUNDING * np.maximum(1.0, np.maximum(*(np.where(np.isfinite(x), np.abs(x), 0.0) for x in (least, most))))
    rows = np.atleast_2d(values)
    beyond = ((rows < least - slack) | (rows > most + slack))[:, watched]
    if beyond.any():
        row, place = (int(k) for k in np.argwhere(beyond)[0])
        k = watched[place]
        where = f" in row {row}" if len(rows) > 1 else ""
        fix = "more seconds, or a nearer goal" if field == "peak qd" else "stay within, or allow more by set_limits"
        raise ModelError(
            f"{model.name}: reference: {field} of {names[k]} is {rows[row, k]:.6g}{where}, expected {least[k]:.6g} to "
            f"{most[k]:.6g}: beyond it the loop stops. Fix: {fix}."
        )
