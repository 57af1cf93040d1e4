"""A bar on stderr, for what takes its time on a terminal."""

from __future__ import annotations

import sys
import time

PATIENCE = 1.0  # seconds before a bar appears
WIDTH = 30  # characters


class ProgressBar:
    """Shows how much of a task is done; ``wanted`` None: on a terminal."""

    def __init__(self, task: str, wanted: bool | None) -> None:
        self._task, self._wanted = task, sys.stderr.isatty() if wanted is None else wanted
        self._begin, self._shown = time.monotonic(), 0

    @property
    def due(self) -> bool:
        """Whether there is someone to look at it, and something to look at."""
        return self._wanted and time.monotonic() - self._begin >= PATIENCE

    def show(self, part: float, more: str = "") -> None:
        """Draw the bar for a part from 0 to 1, with the time that is left by the time that has passed; if it is due."""
        if not self.due:
            return
        elapsed = time.monotonic() - self._begin
        filled = int(WIDTH * part)
        left = f", {elapsed / part - elapsed:.0f} s left" if part > 0.01 else ""
        line = f"{self._task} [{'#' * filled}{'.' * (WIDTH - filled)}] {part:4.0%}{more}{left}"
        print(f"\r{line:<{self._shown}}", end="", file=sys.stderr, flush=True)
        self._shown = len(line)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown:
            print(f"\r{'':{self._shown}}\r", end="", file=sys.stderr, flush=True)
