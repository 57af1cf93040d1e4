"""Who may write into the cache: compiled modules are code, and are run only if nobody else could have put them there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from elastogen.generator.robot.errors import BuildError

SHARED_VARIABLE = "ELASTOGEN_CACHE_SHARED"
ROOT = 0  # user: trusted by everybody


def distrust(*paths: Path) -> str:
    """Why something is not used: it belongs to another user, or others may write it; "" where all is well."""
    user = getattr(os, "geteuid", lambda: None)()
    if user is None:  # a system without owners
        return ""
    for path in paths:
        try:
            facts = os.lstat(path)
        except OSError as error:
            return f"{path} cannot be looked at ({error.strerror})"
        if facts.st_uid not in (user, ROOT):
            return f"{path} belongs to user {facts.st_uid}, expected {user} or root"
        if not stat.S_ISLNK(facts.st_mode) and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"{path} may be written by others (mode {stat.S_IMODE(facts.st_mode):o}). Fix: chmod go-w {path}"
    return ""


def own_folder(folder: Path) -> None:
    """Make a folder that only its owner can write; one that others could have filled is refused."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o755 if is_shared() else 0o700)
        folder.chmod(0o755 if is_shared() else 0o700)
    reason = distrust(folder)
    if reason:
        raise BuildError(f"the cache {folder} is not safe: {reason}, or use another directory, cache_dir=.")


def is_shared() -> bool:
    """Whether other users may read what this one builds: for an image that root builds and an application runs."""
    return os.environ.get(SHARED_VARIABLE, "") not in ("", "0")


def make_readable(path: Path) -> None:
    """Let others read an entry or a note, where that is wanted; nobody else may write it."""
    for each in (path, *(path.iterdir() if path.is_dir() else ())):
        mode = stat.S_IMODE(each.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH)
        if is_shared():
            mode |= 0o055 if each.is_dir() else 0o044
        each.chmod(mode)
