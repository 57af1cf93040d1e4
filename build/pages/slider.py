"""A number that a page lets one change."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slider:
    """A number that the page lets one change; ``index`` is its place in the array behind it."""

    index: int
    label: str
    low: float
    high: float
    value: float
    unit: str
    doc: str = ""
