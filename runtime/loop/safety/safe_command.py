"""How a loop brings the robot to rest after a fault, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop import checks

STOPS = {"damped": "STOP_DAMPED", "ramp": "STOP_RAMP", "hold": "STOP_HOLD", "off": "STOP_OFF"}
AFTER = {"hold": "AFTER_HOLD", "end": "AFTER_END"}
LONGEST = 3600.0  # stop [s]


@dataclass(frozen=True, eq=False)
class SafeCommand:
    """How the loop comes to rest after a fault, or when it is to end; it goes on sensing meanwhile.

    ``stop``, within ``seconds``:

    - "damped": F = ``force`` + G(q) - ``damping`` qd (None: found, stable at the loop's rate);
    - "ramp": along a ramp qd_s of the velocities to zero, F = ``force`` + G(q) + kd (qd_s - qd) where that brakes;
    - "hold": back to where the fault was, F = ``force`` + G(q) + kp (q_0 - q) - kd qd;
    - "off": to ``force``, within ``fade`` seconds.

    ``after`` a fault, at rest (driven joints not faster than ``rest`` [rad/s, m/s]), the loop stays and holds ("hold", by
    ``kp`` and ``kd``; None: found) or ends ("end"). ``gravity``: whether G(q) carries the weights. Where the sensors failed,
    the force goes to ``force`` + G(last sound position) within ``fade`` seconds, and to ``force`` alone at the end of
    ``seconds``; with ``predict`` the robot is stopped as above, by the state that the model predicts. At the very end ``force``
    is written, zero unless it is given: brakes must hold the robot then.
    """

    stop: str = "damped"
    seconds: float = 1.0
    damping: ArrayLike | None = None
    gravity: bool = True
    force: ArrayLike = 0.0
    after: str = "hold"
    fade: float = 0.05
    rest: ArrayLike = 0.02
    kp: ArrayLike | None = None
    kd: ArrayLike | None = None
    predict: bool = False


@dataclass(frozen=True, eq=False)
class CheckedSafeCommand:
    """The same with checked values; None: to be found."""

    stop: str
    seconds: float
    after: str
    fade: float
    gravity: bool
    predict: bool
    arrays: dict[str, NDArray[Any] | None]  # force, damping, rest, kp, kd


def checked_safe_command(name: str, safe: object) -> CheckedSafeCommand:
    """Refuse what cannot be; ``name`` is the robot's."""
    given: SafeCommand = checks.instance(f"{name}: safe", safe, SafeCommand, "a SafeCommand(...)")
    arrays: dict[str, NDArray[Any] | None] = {}
    for field in ("force", "damping", "rest", "kp", "kd"):
        value = getattr(given, field)
        arrays[field] = None if value is None else real_numbers.finite(f"SafeCommand: {field}", value)
        wrong = arrays[field] is not None and field != "force" and bool((np.asarray(arrays[field]) < 0.0).any())
        if wrong:
            raise ModelError(f"SafeCommand: {field}: got {value!r}, expected numbers from 0: a negative one speeds up.")
    if arrays["rest"] is None or not (arrays["rest"] > 0.0).all() or arrays["force"] is None:
        raise ModelError(f"SafeCommand: rest: got {shortened(given.rest)}, expected positive numbers [rad/s, m/s].")
    seconds = checks.number("SafeCommand: seconds", given.seconds, 1e-6, LONGEST, f"seconds up to {LONGEST:g}, more than 0")
    return CheckedSafeCommand(
        stop=one_of("SafeCommand: stop", given.stop, STOPS),
        seconds=seconds,
        after=one_of("SafeCommand: after", given.after, AFTER),
        fade=checks.number("SafeCommand: fade", given.fade, 0.0, seconds, f"seconds from 0 to those of the stop, {seconds:g}"),
        gravity=flag("SafeCommand: gravity", given.gravity),
        predict=flag("SafeCommand: predict", given.predict),
        arrays=arrays,
    )
