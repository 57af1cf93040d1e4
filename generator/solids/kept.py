"""Results of reductions, kept in the user's cache by their hash: arrays only, read where nobody else could write them."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import zipfile
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

VARIABLE = "ELASTOGEN_CACHE_DIR"
MOST_FILES = 200


def versions() -> dict[str, str]:
    """Of the libraries that compute."""
    found = {}
    for package in ("scikit-fem", "netgen-mesher", "scipy", "numpy", "meshio", "trimesh"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def folder() -> Path:
    """Where reductions are kept: beside the compiled models."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute() / "solids"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "elastogen" / "solids"


def read(key: str) -> dict[str, Any] | None:
    """What was kept under a key; None where nothing is, or nothing that can be trusted."""
    path = folder() / f"{key}.npz"
    if not all(_own(each) for each in (path.parent.parent, path.parent, path)):
        return None
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        os.utime(path)
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
    ):  # damaged or gone: computed again
        return None
    return arrays


def write(key: str, arrays: dict[str, Any]) -> None:
    """Keep a result; a cache that cannot be written costs time and nothing else."""
    place = folder()
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, scratch = tempfile.mkstemp(dir=place, suffix=".scratch")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(stream, **arrays)
            os.replace(scratch, place / f"{key}.npz")
        finally:
            Path(scratch).unlink(missing_ok=True)
        oldest = sorted(place.glob("*.npz"), key=lambda path: path.stat().st_mtime)
        for path in oldest[:-MOST_FILES]:
            path.unlink(missing_ok=True)


def _own(path: Path) -> bool:
    """Whether only this user, or root, could have written something."""
    user = getattr(os, "geteuid", lambda: None)()
    try:
        facts = path.lstat()
    except OSError:
        return False
    others = facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(facts.st_mode)
    return user is None or (facts.st_uid in (user, 0) and not others)
