"""Pauses Python's search for reference cycles while graphs grow: they have no cycles, and millions of small objects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0  # how many threads, or nested calls, want it paused
_was_enabled = False


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the search for cycles inside the ``with`` in all threads; the last one to leave restores the first state."""
    global _inside, _was_enabled
    with _lock:
        if not _inside:
            _was_enabled = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _was_enabled:
                gc.enable()
