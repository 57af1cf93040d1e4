"""The fastest move of a tip within the forces and speeds of the drives: the shortest time of its polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.model.model import Model
from elastogen.tip_control.inversion import TipMotion, tip_inversion

CLOSE = 1e-3  # of the time
DOUBLINGS = 12


def fastest_tip_move(
    model: Model, start: ArrayLike, goal: ArrayLike, *, force: ArrayLike | None = None, velocity: ArrayLike | None = None
) -> TipMotion:
    """The tip motion of least time from rest at ``start`` to rest at ``goal`` (drives,), within the limits of the drives.

    The tip moves by the polynomial of degree 9 of :func:`tip_inversion`. All forces and speeds of the drives, those before
    and after the move included, are within ``force`` [N m, N] and ``velocity`` [rad/s, m/s], (drives,) each; None: those of
    the robot description. The arm rests behind it: no vibration is left. ModelError where no limit is known, or weights
    alone exceed one.
    """
    drives = list(model.driven)
    limits = {
        "force": _limits(model, "force", force, model.force_limits[drives]),
        "velocity": _limits(model, "velocity", velocity, model.velocity_limits[drives]),
    }
    if not any(np.isfinite(limit).any() for limit in limits.values()):
        raise ModelError(
            f"fastest_tip_move: {model.name} has no limits of force or velocity. Fix: force=[...], velocity=[...]."
        )

    def excess(motion: TipMotion) -> float:
        most = np.abs(motion.F[:, drives]).max(axis=0) / limits["force"]
        return float(max(most.max(), (np.abs(motion.qd[:, drives]).max(axis=0) / limits["velocity"]).max()))

    low, high = 0.0, _slow(model, start, drives)
    for _ in range(DOUBLINGS):
        best = tip_inversion(model, start, goal, high)
        if excess(best) <= 1.0:
            break
        low, high = high, 2.0 * high
    else:
        raise ModelError(
            f"fastest_tip_move: the limits of the drives do not allow the move even in {high / 2:.3g} s: weights alone "
            "exceed them, or the move has no length. Fix: stronger drives, or another start and goal."
        )
    while high - low > CLOSE * high:
        middle = 0.5 * (low + high)
        try:
            tried = tip_inversion(model, start, goal, middle)
        except ModelError:  # too fast for any motion
            low = middle
            continue
        if excess(tried) <= 1.0:
            high, best = middle, tried
        else:
            low = middle
    return best


def _slow(model: Model, start: ArrayLike, drives: list[int]) -> float:
    """Return an initial time: two periods of the lowest vibration, or a second."""
    q: Any = model.neutral()
    q[drives] = start
    frequencies = model.modes(q, joints="locked").hertz if model.elastic else np.zeros(0)
    return 2.0 / float(frequencies.min()) if frequencies.size and frequencies.min() > 0 else 1.0


def _limits(model: Model, name: str, given: ArrayLike | None, known: Any) -> Any:
    if given is None:
        return known
    values = real_numbers.numbers(f"fastest_tip_move: {name}", given)
    if values.shape not in ((), (len(known),)) or not (values > 0.0).all():
        raise ModelError(
            f"fastest_tip_move: {name}={shortened(given)}, expected one or {len(known)} numbers above 0, of {model.name}."
        )
    return np.broadcast_to(values, (len(known),))
