"""Stages of long work, reported to listeners such as the command line's progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, str, "float | None"], None]
"""Called with a stage and a detail when it begins (None), and when it ends with the seconds it took."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell this listener about the stages inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: str, detail: str = "") -> Iterator[None]:
    """A stage of work."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    listener(name, detail, None)
    start = time.perf_counter()
    try:
        yield
    finally:
        listener(name, detail, time.perf_counter() - start)
