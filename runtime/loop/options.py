"""What a loop is asked for, checked: its rate, its controller, its plant, the tables that it follows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.loop.controllers import BY_NAME, Controller
from elastogen.runtime.loop.plants import Callbacks, Plant, Simulated
from elastogen.runtime.model.model import Model

HIGHEST_RATE = 50_000.0  # [Hz]


def period_fraction(rate: float) -> tuple[int, int]:
    """The period of a rate in nanoseconds, as a fraction."""
    try:
        exact = Fraction(rate).limit_denominator(1000)
    except (TypeError, ValueError, OverflowError):
        exact = Fraction(0)
    if not 1 <= exact <= HIGHEST_RATE:
        raise ModelError(f"loop: got rate={rate!r}, expected 1 to {HIGHEST_RATE:g} Hz.")
    period = 1_000_000_000 / exact
    return period.numerator, period.denominator


def as_controller(given: str | Controller) -> Controller:
    """A controller, or the one of a name with default gains."""
    if isinstance(given, Controller):
        return given
    if not isinstance(given, str) or given not in BY_NAME:
        raise ModelError(
            f"loop: got controller={given!r}, expected a name or an object of elastogen.runtime.loop.controllers."
            f"{suggestion(given, BY_NAME)}"
        )
    return BY_NAME[given]()


def as_plant(given: str | Plant) -> Plant:
    """A plant, or the one of a name."""
    if not isinstance(given, str):
        return given
    kinds: dict[str, type[Any]] = {"simulated": Simulated, "user": Callbacks}
    if given not in kinds:
        raise ModelError(f"loop: got plant={given!r}, expected a plant, 'simulated' or 'user'.{suggestion(given, kinds)}")
    plant: Plant = kinds[given]()
    return plant


def reference_table(model: Model, parts: dict[str, ArrayLike | None]) -> tuple[NDArray[Any], int]:
    """Rows of q and its derivatives beside each other, and how many of these there are: 3 or 5."""
    given = {name: np.asarray(part, dtype=model.dtype) for name, part in parts.items() if part is not None}
    if len(given) == 4:
        raise ModelError(f"{model.name}.follow: got qddd or qdddd alone, expected both or none of them.")
    expected = (len(np.atleast_1d(given["q"])), model.nq)
    for name, part in given.items():
        if part.shape != expected or not len(part) or not np.isfinite(part).all():
            raise ModelError(
                f"{model.name}.follow: {name} has shape {part.shape}, expected finite numbers of shape {expected}."
            )
    return np.ascontiguousarray(np.hstack(list(given.values()))), len(given)
