"""The root of all errors, shared by derivation and runtime, and how its messages show a value."""

from __future__ import annotations

import os


class ElastogenError(Exception):
    """Base class of all errors that elastogen raises on purpose."""


def shortened(given: object) -> str:
    """A value as messages show it; also one that Python cannot print: too deep, too long, or broken."""
    try:
        shown = repr(given)
    except Exception:  # whatever the class of the value does there
        return f"a value of type {type(given).__name__} that cannot be printed"
    return shown if len(shown) <= 120 else shown[:117] + "..."


def removed_directory() -> str:
    """What to say where the working directory was removed, of which the system says "no such file"; "" where it is there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the working directory was removed. Fix: change into one that exists, or give a full path."
    return ""
