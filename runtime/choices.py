"""Checks of arguments that are one of a few words, or True or False; arrays are refused, though numpy would compare them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened


def one_of(what: str, given: object, words: Collection[str], other: str = "") -> str:
    """Return the given word; ModelError for anything else. ``other`` names what else the caller accepts and has checked."""
    if isinstance(given, str) and given in words:
        return given
    expected = [*map(repr, words), *([other] if other else [])]
    listed = " or ".join(part for part in (", ".join(expected[:-1]), expected[-1]) if part)
    raise ModelError(f"{what}={shortened(given)}, expected {listed}.")


def flag(what: str, given: object) -> bool:
    """Return True or False as given; ModelError for anything else."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise ModelError(f"{what}={shortened(given)}, expected True or False.")
