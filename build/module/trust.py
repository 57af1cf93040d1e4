"""Who may write into the cache: compiled modules are code, and run only if no other user could have put them there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from elastogen.generator.robot.errors import BuildError

SHARED_VARIABLE = "ELASTOGEN_CACHE_SHARED"
MOST_LINKS = 40  # that a system follows on one path
ROOT = 0  # user: trusted by everybody


def distrust(*paths: Path) -> str:
    """Return why files are refused: another user owns them or may write them; "" if none is refused."""
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


def distrust_ancestors(folder: Path) -> str:
    """Why what is in a folder could be exchanged from outside: somebody else may change a folder above it; "" if nobody can.

    As sshd does for the files it trusts, with two exceptions: folders such as /tmp, in which the system lets nobody touch what
    belongs to others (the sticky bit), and folders that only the user's private group may write. The path is followed as the
    system does, link by link. Folders that do not exist yet will be the user's own.
    """
    user = getattr(os, "geteuid", lambda: None)()
    if user is None:
        return ""
    for ancestor in _passed(folder):
        try:
            links, facts = os.lstat(ancestor), os.stat(ancestor)
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{ancestor} cannot be looked at ({error.strerror})"
        for owner in (links.st_uid, facts.st_uid):
            if owner not in (user, ROOT):
                return f"{ancestor} belongs to user {owner}, expected {user} or root"
        by_group = facts.st_mode & stat.S_IWGRP and not _is_private_group(facts.st_gid, user)
        if (by_group or facts.st_mode & stat.S_IWOTH) and not facts.st_mode & stat.S_ISVTX:
            mode = f"{stat.S_IMODE(facts.st_mode):o}"
            return f"{ancestor} above it may be changed by others (mode {mode}). Fix: chmod go-w {ancestor}"
    return ""


def _passed(folder: Path) -> Iterator[Path]:
    """What the system passes on its way to a folder: the folders and links above it; where links lead to it, itself, too."""
    absolute = folder.absolute()
    here, parts, links = Path(absolute.anchor), [*reversed(absolute.parts[1:])], 0
    while parts:
        yield here
        part = parts.pop()
        if part == "..":
            here = here.parent
            continue
        try:
            target = Path(os.readlink(here / part))
        except OSError:  # no link
            here /= part
            continue
        links += 1
        if links > MOST_LINKS:  # nothing can be opened there
            return
        yield here / part
        if target.is_absolute():
            here = Path(target.anchor)
        parts += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    if links:
        yield here


def _is_private_group(group: int, user: int) -> bool:
    """Whether a group is the private one that many systems make for each user."""
    import grp
    import pwd

    try:
        named, owner = grp.getgrgid(group), pwd.getpwuid(user)
    except KeyError:
        return False
    return owner.pw_gid == group and named.gr_name == owner.pw_name and not set(named.gr_mem) - {owner.pw_name}


def trusted_file(path: Path, longest: int) -> bytes | None:
    """The content of a regular file that nobody else may write; judged and read through one descriptor, so that it is one file.

    None for anything else: a symbolic link, a device, a pipe, what is longer than ``longest`` bytes, what cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > longest or _distrusted(facts):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as stream:
        try:
            return stream.read(longest + 1)
        except OSError:
            return None


def _distrusted(facts: os.stat_result) -> bool:
    user = getattr(os, "geteuid", lambda: None)()
    if user is None:
        return False
    return facts.st_uid not in (user, ROOT) or bool(facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def own_folder(folder: Path) -> None:
    """Make a folder that only its owner can write; a folder that others could have filled is refused."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o755 if is_shared() else 0o700)
        folder.chmod(0o755 if is_shared() else 0o700)
    reason = distrust(folder)
    if reason:
        raise BuildError(f"the cache {folder} is not safe: {reason}, or use another directory, cache_dir=.")


def is_shared() -> bool:
    """Whether other users may read what this one builds, as in an image that root builds and an application uses."""
    return os.environ.get(SHARED_VARIABLE, "") not in ("", "0")


def make_readable(path: Path) -> None:
    """Let others read an entry or a note, where that is wanted; nobody else may write it."""
    for each in (path, *(path.iterdir() if path.is_dir() else ())):
        mode = stat.S_IMODE(each.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH)
        if is_shared():
            mode |= 0o055 if each.is_dir() else 0o044
        each.chmod(mode)
