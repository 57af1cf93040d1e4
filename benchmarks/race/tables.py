"""Readable tables and numbers in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.race.kernels import Times


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table with aligned columns."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    padded = ([cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines)
    return [f"| {' | '.join(cells)} |" for cells in padded]


def nanoseconds(times: Times) -> str:
    """Shortest and median time."""
    return f"{times.shortest * 1e9:.0f} ({times.median * 1e9:.0f})"


def verdict(reached: bool) -> str:
    """Whether a target is reached."""
    return "yes" if reached else "**no**"
