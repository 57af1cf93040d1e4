"""Writes files: all of them appear or none, and files of others are never replaced."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from elastogen.build.files.exchange import exchange, is_somebody_inside
from elastogen.build.files.manifest import MANIFEST, Manifest, refuse, sum_of
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.interface.error import removed_directory

try:
    import fcntl
except ImportError:  # no locks on this system: two writers at once may refuse each other
    fcntl = None  # type: ignore[assignment]

SCRATCH = ".elastogen-scratch-"


def write_files(directory: Path, files: Mapping[str, str | bytes], *, by: str = "", force: bool = False) -> list[Path]:
    """Write files into ``directory`` (made if missing) with a manifest of them; names may have folders, as ``src/a.c``.

    All of them appear, or none. A file that elastogen did not write, or that was changed since, is refused by its
    name; ``force`` replaces it. What the same writer, ``by``, wrote there before and does not write now is removed, unless it
    was changed. A process that is killed leaves the old folder or the new one; where it holds files of others, every file is
    whole, old or new, the manifest says that they are being replaced, and the next process goes on.
    """
    contents = {_checked(name): _bytes(data) for name, data in files.items()}
    with writing_to(directory):
        made = _make_directories(directory.parent)
        try:
            if not _written_at_once(directory, contents, by):
                with _locked(directory):
                    _update(directory, contents, by, force)
        except BaseException:
            for folder in reversed(made):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise
    return [directory / name for name in contents]


def check_directory(directory: Path) -> None:
    """Refuse a directory that cannot be made or written, before anything is derived for it; nothing is left there."""
    with writing_to(directory):
        for folder in (directory.absolute(), *directory.absolute().parents):
            with contextlib.suppress(FileNotFoundError):
                os.lstat(folder)
                break
        with tempfile.TemporaryFile(dir=folder):
            pass


def write_all(directory: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files into a private directory."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(_bytes(data))
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def writing_to(directory: Path, fix: str = "choose a directory") -> Iterator[None]:
    """Turn an error of the operating system about ``directory`` into a BuildError."""
    try:
        yield
    except OSError as error:
        if not directory.is_absolute() and (removed := removed_directory()):
            raise BuildError(f"{directory}: {removed}") from error
        reason = error.strerror or str(error)
        raise BuildError(
            f"{directory}: cannot be written ({reason}). Nothing was left half-written. "
            f"Fix: {fix} that is writable and has space."
        ) from error


def _written_at_once(directory: Path, files: Mapping[str, bytes], by: str) -> bool:
    """Make a new folder with all its files by one renaming; False if the folder exists."""
    if directory.exists() or directory.is_symlink():
        return False
    with _locked(directory.parent), _scratch(directory.parent) as scratch:
        write_all(scratch, {**files, MANIFEST: Manifest().updated(by, _sums(files), ()).text()})
        try:
            os.rename(scratch, directory)
        except OSError:
            if directory.exists():  # another process was faster
                return False
            raise
    return True


def _update(directory: Path, files: Mapping[str, bytes], by: str, force: bool) -> None:
    """Replace the files of a folder, all at once if the folder holds nothing else, otherwise one after the other."""
    known = Manifest.read(directory).settled(directory)
    foreign = known.foreign(directory, files)
    if foreign and not force:
        raise refuse(directory, foreign)
    sums, outdated = _sums(files), known.outdated(directory, by, files)
    after = known.updated(by, sums, outdated)
    new = {**files, MANIFEST: after.text().encode()}
    if known.covers(directory) and _exchanged(directory, new, known, after.files):
        return
    with _scratch(directory) as scratch:
        write_all(scratch / "new", new)
        write_all(scratch, {MANIFEST: Manifest(known.files, sums, known.sets).text()})
        with _restoring(directory, [*files, *outdated, MANIFEST], scratch / "old"):
            os.replace(scratch / MANIFEST, directory / MANIFEST)
            for name in outdated:
                (directory / name).unlink()
            for name in new:  # the manifest last: it says that all others are there
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(scratch / "new" / name, directory / name)


def _exchanged(directory: Path, new: Mapping[str, bytes], known: Manifest, kept: Iterable[str]) -> bool:
    """Swap a finished folder with the old one in one step; False if the system cannot do it or a process works inside."""
    facts = directory.lstat()
    if not stat.S_ISDIR(facts.st_mode) or is_somebody_inside(directory) or facts.st_uid != getattr(os, "geteuid", lambda: -1)():
        return False
    try:
        with _locked(directory.parent), _scratch(directory.parent) as scratch:
            write_all(scratch, new)
            for name in set(kept) - set(new):
                (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                os.link(directory / name, scratch / name)
            shutil.copystat(directory, scratch)
            done = exchange(scratch, directory)
            if done:
                _take_over(scratch, directory, known)
            return done
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        return False  # the folder above may not be written, or is on another disk


def _take_over(old: Path, directory: Path, known: Manifest) -> None:
    """Move files that others put into the old folder while the new one was written."""
    for path in old.rglob("*"):
        name = path.relative_to(old)
        place = directory / name
        if name.as_posix() not in (*known.files, MANIFEST) and not path.is_dir() and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(path, place)


@contextmanager
def _restoring(directory: Path, names: list[str], backup: Path) -> Iterator[None]:
    """Keep copies of the files; if the block fails, everything is restored."""
    missing = []
    for name in names:
        place = directory / name
        if place.is_symlink() or place.exists():
            (backup / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place, backup / name, follow_symlinks=False)
        else:
            missing.append(place)
    folders = {folder for place in missing for folder in place.parents if not folder.exists()}
    try:
        yield
    except BaseException:
        for name in names:
            if os.path.lexists(backup / name):
                os.replace(backup / name, directory / name)
        for place in missing:
            place.unlink(missing_ok=True)
        for folder in sorted(folders, reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """Make a folder of this process with the permissions that new folders have here; ``parent`` is locked."""
    for orphan in parent.glob(f"{SCRATCH}*"):  # nobody else writes here now: their writers were killed
        shutil.rmtree(orphan, ignore_errors=True)
    folder = parent / f"{SCRATCH}{os.urandom(6).hex()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Wait until no other process writes into a folder; a killed process holds no lock."""
    if fcntl is None:
        yield
        return
    while True:
        handle = os.open(directory, os.O_RDONLY)
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(handle), os.stat(directory)):
            break
        os.close(handle)  # who held the lock put another folder in its place
    try:
        yield
    finally:
        os.close(handle)


def _make_directories(directory: Path) -> list[Path]:
    """Make a directory and its parents; return those that were missing, outermost first."""
    missing = []
    folder = directory
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    directory.mkdir(parents=True, exist_ok=True)
    return list(reversed(missing))


def _checked(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or str(path) in (".", MANIFEST):
        raise BuildError(f"file name: got {name!r}, expected a path below the directory, such as 'src/arm.c'.")
    return str(path)


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _sums(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sum_of(data) for name, data in files.items()}
