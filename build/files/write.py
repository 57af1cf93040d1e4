"""Writing files so that all of them appear, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from elastogen.generator.robot.errors import BuildError


def write_files(directory: Path, files: Mapping[str, str]) -> list[Path]:
    """Write text files into ``directory`` (made if missing): first all beside it, then each into its place."""
    with writing_to(directory):
        made = _make_directories(directory)
        try:
            scratch = Path(tempfile.mkdtemp(prefix=".elastogen-", dir=directory))
            try:
                write_all(scratch, files)
                for name in files:
                    os.replace(scratch / name, directory / name)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        except BaseException:
            for folder in reversed(made):
                shutil.rmtree(folder, ignore_errors=True)
            raise
    return [directory / name for name in files]


def write_all(directory: Path, files: Mapping[str, str]) -> None:
    """Write text files into a directory that nobody else looks at."""
    for name, text in files.items():
        with open(directory / name, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def writing_to(directory: Path, fix: str = "choose a directory") -> Iterator[None]:
    """Turn what the operating system says about ``directory`` into a BuildError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BuildError(
            f"{directory}: cannot be written ({reason}). Nothing was left half-written. "
            f"Fix: {fix} that is writable and has space."
        ) from error


def _make_directories(directory: Path) -> list[Path]:
    """Make a directory and its parents; return those that were missing, outermost first."""
    missing = []
    folder = directory
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    directory.mkdir(parents=True, exist_ok=True)
    return list(reversed(missing))
