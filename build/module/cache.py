"""The cache of compiled models.

Layout of the cache directory::

    modules/<key>/      one entry: extension module, C files, manifest.json with size and sum of each file
    builds/<key>.json   from robot + options + tool + compiler to an entry, so that a known build derives nothing
    known/<key>.json    from the bytes of a robot file + options to an entry, so that it is loaded without the generator
    tool/<key>.json     from sizes and times of the sources of elastogen to their sum
    scratch-*/          entries being made; each holds a lock as long as its process lives

An entry is made in a scratch directory and renamed into its place. Of two processes that make the same entry, one
wins and the other takes the winner's. Every read checks owner, permissions and manifest; an entry that is damaged counts
as missing, one that somebody else could have written is refused with a warning, and so is a whole directory below one that
others may change. Directories in $ELASTOGEN_CACHE_READ_ONLY
are looked at after the own one, and never written.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from elastogen.build.files.write import writing_to
from elastogen.build.module.entry import LOCK, MANIFEST, read_json, sound_extension, write_manifest
from elastogen.build.module.trust import distrust, distrust_ancestors, make_readable, own_folder
from elastogen.generator.robot.errors import BuildError, ReadableMessage
from elastogen.runtime.interface.error import removed_directory, shortened

try:
    import fcntl
except ImportError:  # no locks on this system: scratch is judged by its age alone
    fcntl = None  # type: ignore[assignment]

ENVIRONMENT_VARIABLE = "ELASTOGEN_CACHE_DIR"
READ_ONLY_VARIABLE = "ELASTOGEN_CACHE_READ_ONLY"
SIZE_VARIABLE = "ELASTOGEN_CACHE_MIB"
MOST_MIB = 2048  # of all entries; beyond it, those that were not used for longest go
KEPT_SECONDS = 3600.0  # an entry that was used since is never removed by size
NOTES = ("builds", "known", "loaded", "tool")  # folders of notes, each about a module or the sources of this tool
SCRATCH_SECONDS = 60.0  # a scratch directory without a lock may be this young


class CacheWarning(ReadableMessage, UserWarning):
    """A warning that something in the cache was refused."""


class Cache:
    """A cache directory, and read-only ones that are searched after it."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = cache_directory(directory)
        others = os.environ.get(READ_ONLY_VARIABLE, "").split(os.pathsep)
        self.read_only = tuple(_absolute(Path(other).expanduser()) for other in others if other)
        self._modules = self.directory / "modules"

    # ---- entries

    def find(self, key: str) -> Path | None:
        """Return the extension module of an intact entry, or None."""
        for folder in (self.directory, *self.read_only):
            entry = folder / "modules" / key
            if not os.path.exists(entry / MANIFEST):  # or may not be looked at
                continue
            reason = distrust_ancestors(folder) or distrust(folder, folder / "modules", entry, entry / MANIFEST)
            if reason:
                warnings.warn(f"{entry}: not used, {reason}.", CacheWarning, stacklevel=2)
                continue
            extension = sound_extension(entry)
            if extension is not None:
                if folder == self.directory:
                    with contextlib.suppress(OSError):
                        os.utime(entry / MANIFEST)  # when it was used last
                return extension
        return None

    def make(self, key: str, build: Callable[[Path], Path]) -> Path:
        """Return the extension of entry ``key``; ``build(directory)`` builds it if it is missing or damaged."""
        found = self.find(key)
        if found is not None:
            return found
        with self.scratch() as scratch, self._writing():
            extension = build(scratch)
            write_manifest(scratch, extension.name)
            make_readable(scratch)
            made = self._publish(key, scratch)
        self.shrink(most_bytes())
        return made

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Make a directory for work in progress; it is removed afterwards, or by another process if this one was killed."""
        most_bytes()  # a wrong setting is refused before anything is built
        with self._writing():
            own_folder(self.directory)
            own_folder(self._modules)
            remove_orphans(self.directory)
            scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.directory))
        with _held(scratch):
            try:
                yield scratch
            finally:
                shutil.rmtree(scratch, ignore_errors=True)

    def _publish(self, key: str, scratch: Path) -> Path:
        """Move a finished entry to its place, or use the one that another process put there."""
        entry = self._modules / key
        for _ in range(10):
            try:
                os.rename(scratch, entry)
                (entry / LOCK).unlink(missing_ok=True)
            except OSError:
                if not entry.exists():
                    raise
            extension = sound_extension(entry) if not distrust(entry) else None
            if extension is not None:
                return extension
            self.discard(entry)
        raise BuildError(f"{entry}: other processes keep damaging this entry. Fix: remove {self.directory}.")

    def discard(self, entry: Path) -> None:
        """Move an entry away, then remove it."""
        grave = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.directory))
        try:
            os.rename(entry, grave / "damaged")
        except FileNotFoundError:
            pass  # another process was faster
        finally:
            shutil.rmtree(grave, ignore_errors=True)

    def entries(self) -> list[Path]:
        """Return all entries of the own directory, last used last."""
        try:
            folders = [self._modules / name for name in os.listdir(self._modules)]
        except OSError:  # there are none, or they may not be looked at
            return []
        found = [(path / MANIFEST, path) for path in folders if os.path.isfile(path / MANIFEST)]
        return [path for _, path in sorted((manifest.stat().st_mtime, path) for manifest, path in found)]

    def shrink(self, most: int) -> list[Path]:
        """Remove entries, the longest unused first, until the rest has at most this many bytes."""
        entries = self.entries()
        sizes = {entry: folder_bytes(entry) for entry in entries}
        total, removed, limit = sum(sizes.values()), [], time.time() - KEPT_SECONDS
        for entry in entries:
            if total <= most:
                break
            with contextlib.suppress(OSError):
                if (entry / MANIFEST).stat().st_mtime > limit:
                    continue
                self.discard(entry)
                total -= sizes[entry]
                removed.append(entry)
        if removed:
            self.forget()
        return removed

    # ---- notes: where builds led to

    def find_build(self, key: str) -> Path | None:
        """Return the extension that an earlier build with this key produced, if it is still intact."""
        note = self.read_note("builds", key)
        module = note.get("module") if note else None
        return self.find(module) if isinstance(module, str) and module.isalnum() else None

    def note_build(self, key: str, module_key: str) -> None:
        """Note which entry a build produced."""
        self.write_note("builds", key, {"module": module_key})

    def read_note(self, kind: str, key: str) -> dict[str, Any] | None:
        """Read the note under a key if a trusted user wrote it."""
        for folder in (self.directory, *self.read_only):
            path = folder / kind / f"{key}.json"
            note = read_json(path)
            if note is not None and not (distrust_ancestors(folder) or distrust(folder, path.parent, path)):
                return note
        return None

    def write_note(self, kind: str, key: str, content: dict[str, Any]) -> None:
        """Write a note; failure costs the next build some time and nothing else."""
        notes = self.directory / kind
        with contextlib.suppress(OSError, BuildError):
            own_folder(notes)
            handle, scratch = tempfile.mkstemp(prefix="scratch-", dir=notes)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    json.dump(content, stream)
                make_readable(Path(scratch))
                os.replace(scratch, notes / f"{key}.json")
            except OSError:
                os.unlink(scratch)

    def forget(self) -> None:
        """Remove the notes about entries that no longer exist."""
        for path in [path for kind in NOTES for path in self.directory.glob(f"{kind}/*.json")]:
            module = str((read_json(path) or {}).get("module") or "nothing")
            if not any(os.path.exists(folder / "modules" / module) for folder in (self.directory, *self.read_only)):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _writing(self) -> Any:
        return writing_to(self.directory, f"set {ENVIRONMENT_VARIABLE} or cache_dir= to a directory")


def safe_cache(directory: Path | None = None) -> Cache:
    """Return the cache to build with; if others could exchange its directory, a private one for this process."""
    cache = Cache(directory)
    reason = distrust_ancestors(cache.directory)
    if not reason:
        return cache
    warnings.warn(f"the cache {cache.directory} is not used: {reason}, or use another directory.", CacheWarning, stacklevel=2)
    return Cache(_private_folder(os.getpid()))


@lru_cache(maxsize=1)
def _private_folder(process: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="elastogen-cache-"))
    reason = distrust_ancestors(folder)
    if reason:
        shutil.rmtree(folder, ignore_errors=True)
        raise BuildError(f"there is no folder for compiled models that others cannot exchange: {reason}, or set $TMPDIR.")

    def remove() -> None:
        if os.getpid() == process:  # not what was forked
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def cache_directory(given: Path | None = None) -> Path:
    """Return the given directory, else the one in the environment, else the user's."""
    chosen = given or os.environ.get(ENVIRONMENT_VARIABLE)
    if not chosen:
        import platformdirs

        chosen = platformdirs.user_cache_dir("elastogen")
    return _absolute(Path(chosen).expanduser())


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except FileNotFoundError:
        raise BuildError(f"{path}: {removed_directory()}") from None


def most_bytes() -> int:
    """Return the greatest size of all entries together [bytes]."""
    given = os.environ.get(SIZE_VARIABLE, "")
    if given and not given.isdigit():
        raise BuildError(f"${SIZE_VARIABLE}: got {shortened(given)}, expected a whole number of MiB.")
    return int(given or MOST_MIB) << 20


def folder_bytes(folder: Path) -> int:
    """Return the size of the files in a folder."""
    total = 0
    with contextlib.suppress(OSError):
        total = sum(path.stat().st_size for path in folder.iterdir())
    return total


def remove_orphans(directory: Path) -> list[Path]:
    """Remove the working directories of processes that were killed."""
    removed = []
    for path in (*_scratches(directory), *(path for folder in _entries(directory) for path in _scratches(folder))):
        with contextlib.suppress(OSError):
            if _is_orphan(path):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed.append(path)
    return removed


def _scratches(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.name.startswith("scratch-")]


def _entries(folder: Path) -> list[Path]:
    """Return the content of a folder; nothing if it is missing or another process has just removed it."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_orphan(path: Path) -> bool:
    try:
        with open(path / LOCK, "rb") as stream:
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
    except BlockingIOError:
        return False  # its process lives
    except OSError:
        pass
    return path.stat().st_mtime < time.time() - SCRATCH_SECONDS


@contextlib.contextmanager
def _held(scratch: Path) -> Iterator[None]:
    """Lock a working directory; the system releases the lock when this process ends."""
    with open(scratch / LOCK, "wb") as stream:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(stream, fcntl.LOCK_EX)
        yield
