"""Swaps two folders in one atomic step, by a system call that Python does not wrap.

A process that works inside a folder stays in the old one, wherever that goes: so it is first asked which ones do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

AT_FDCWD = -100  # Linux: paths are relative to the current folder
RENAME_EXCHANGE = 2  # Linux (renameat2)
RENAME_SWAP = 2  # macOS (renamex_np)


def is_somebody_inside(folder: Path) -> bool:
    """Whether this process works in a folder or below it; on Linux, whether any process that we may inspect does."""
    home = str(folder.resolve())
    places: set[str] = set()
    with contextlib.suppress(OSError):  # a folder that was removed meanwhile
        places.add(os.getcwd())
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            places.add(os.readlink(process / "cwd"))
    return any(place == home or place.startswith(f"{home}{os.sep}") for place in places)


def exchange(first: Path, second: Path) -> bool:
    """Swap two folders; False if the system or the file system cannot do it."""
    a, b = os.fsencode(first), os.fsencode(second)
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(a, b, RENAME_SWAP) == 0)
        return bool(system.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
    except (OSError, AttributeError, TypeError):  # a system without it, or (Windows) without a library of that kind
        return False
