"""Arguments that are one of a few words; arrays are no words, though numpy compares them with one, entry by entry."""

from __future__ import annotations

from collections.abc import Collection

from elastogen.runtime.errors import ModelError


def one_of(what: str, given: object, words: Collection[str], other: str = "") -> str:
    """The word that was given; ModelError for anything else. ``other`` says what else the caller takes, and has looked for."""
    if isinstance(given, str) and given in words:
        return given
    expected = [*map(repr, words), *([other] if other else [])]
    listed = " or ".join(part for part in (", ".join(expected[:-1]), expected[-1]) if part)
    raise ModelError(f"{what}={given!r}, expected {listed}.")
