"""Tables of numbers in text files; what is wrong with one is said with its line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from elastogen.generator.solids.solid import Array

T = TypeVar("T")
SHOWN = 60  # characters of a line in a message


def table(lines: Iterable[tuple[int, str]], columns: tuple[int, ...], expected: str) -> Array:
    """Numbers of lines (their number in the file, from 1, and their text), all with as many columns: one of ``columns``.

    Numbers are apart by blanks or commas. Raises ``ValueError`` with the first line that is not ``expected``.
    """
    kept = list(lines)
    if not kept:
        raise ValueError(f"no line with {expected}")
    try:
        rows: Array = np.loadtxt(io.StringIO("\n".join(_apart(line) for _, line in kept)), comments=None, ndmin=2)
        if len(rows) == len(kept) and rows.shape[1] in columns and np.isfinite(rows).all():
            return rows
    except ValueError:
        pass
    width = 0
    for number, line in kept:
        found = at_line(number, line, expected, _floats)
        width = width or len(found)
        if len(found) != width or width not in columns or not np.isfinite(found).all():
            raise wrong(number, line, expected)
    return np.array([_floats(line) for _, line in kept])


def _apart(line: str) -> str:
    return line.replace(",", " ")


def _floats(line: str) -> list[float]:
    return [float(field) for field in _apart(line).split()]


def at_line(number: int, line: str, expected: str, read: Callable[[str], T]) -> T:
    """What ``read`` makes of a line; where it cannot, a ``ValueError`` that names the line."""
    try:
        return read(line)
    except (ValueError, IndexError):
        raise wrong(number, line, expected) from None


def wrong(number: int, line: str, expected: str) -> ValueError:
    """The error for a line."""
    return ValueError(f"line {number}: {line.strip()[:SHOWN]!r}, expected {expected}")
