"""Files of results that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened


def file_path(given: object) -> Path:
    """A file that results are written to."""
    try:
        return Path(given)  # type: ignore[arg-type]
    except TypeError:
        raise ModelError(f"path: got {shortened(given)}, expected the name of a file.") from None


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A file beside ``target`` that takes its place when it is complete; else the old one stays. Folders above it are made."""
    scratch = target.with_name(f".{target.stem}-{os.getpid()}{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield scratch
        os.replace(scratch, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(
            f"{target}: cannot be written ({reason}). Nothing was left half-written. Fix: name a writable folder with space."
        ) from error
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
