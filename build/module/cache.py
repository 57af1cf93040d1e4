"""The cache of compiled models.

Layout of the cache directory::

    modules/<key>/      one entry: extension module, C files, manifest.json with size and sum of each file
    builds/<key>.json   from robot + options + tool + compiler to an entry, so that a known build derives nothing
    scratch-*/          entries being made

An entry is made in a scratch directory and renamed into its place. Of two processes that make the same entry, one
wins and the other takes the winner's. Every read checks the manifest; a damaged entry counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs

from elastogen.build.files.write import writing_to
from elastogen.generator.robot.errors import BuildError

ENVIRONMENT_VARIABLE = "ELASTOGEN_CACHE_DIR"
MANIFEST = "manifest.json"
SCRATCH_LIFETIME = 24 * 3600.0  # seconds after which a scratch directory is an orphan


class Cache:
    """One cache directory."""

    def __init__(self, directory: Path | None = None) -> None:
        given = directory or os.environ.get(ENVIRONMENT_VARIABLE) or platformdirs.user_cache_dir("elastogen")
        self.directory = Path(given).expanduser().absolute()
        self._modules = self.directory / "modules"
        self._builds = self.directory / "builds"

    # ---- entries

    def find(self, key: str) -> Path | None:
        """The extension of a sound entry, or None."""
        entry = self._modules / key
        manifest = _read_json(entry / MANIFEST)
        if manifest is None or not isinstance(manifest.get("files"), dict):
            return None
        if any(_describe(entry / name) != facts for name, facts in manifest["files"].items()):
            return None
        extension = str(manifest.get("extension"))
        return entry / extension if extension in manifest["files"] else None

    def make(self, key: str, build: Callable[[Path], Path]) -> Path:
        """The extension of entry ``key``, built by ``build(directory)`` where it is missing or damaged."""
        found = self.find(key)
        if found is not None:
            return found
        with self._writing():
            self._modules.mkdir(parents=True, exist_ok=True)
            self._remove_orphans()
            scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.directory))
        try:
            with self._writing():
                extension = build(scratch)
                _write_manifest(scratch, extension.name)
                return self._publish(key, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _publish(self, key: str, scratch: Path) -> Path:
        """Rename a finished entry into its place, or take the one that another process put there."""
        entry = self._modules / key
        for _ in range(10):
            try:
                os.rename(scratch, entry)
            except OSError:
                if not entry.exists():
                    raise
            found = self.find(key)
            if found is not None:
                return found
            self._discard(entry)
        raise BuildError(f"{entry}: other processes keep damaging this entry. Fix: remove {self.directory}.")

    def _discard(self, entry: Path) -> None:
        """Move a damaged entry away, then remove it."""
        grave = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.directory))
        try:
            os.rename(entry, grave / "damaged")
        except FileNotFoundError:
            pass  # another process was faster
        finally:
            shutil.rmtree(grave, ignore_errors=True)

    # ---- known builds

    def find_build(self, key: str) -> Path | None:
        """The extension that an earlier build with this key led to, if it is still sound."""
        note = _read_json(self._builds / f"{key}.json")
        module = note.get("module") if note else None
        return self.find(module) if isinstance(module, str) and module.isalnum() else None

    def note_build(self, key: str, module_key: str) -> None:
        """Remember where a build led to. A note that cannot be written costs the next build time, nothing else."""
        with contextlib.suppress(OSError):
            self._builds.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(prefix="scratch-", dir=self._builds)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    json.dump({"module": module_key}, stream)
                os.replace(scratch, self._builds / f"{key}.json")
            except OSError:
                os.unlink(scratch)

    # ----

    def _writing(self) -> Any:
        return writing_to(self.directory, f"set {ENVIRONMENT_VARIABLE} or cache_dir= to a directory")

    def _remove_orphans(self) -> None:
        limit = time.time() - SCRATCH_LIFETIME
        for folder in (self.directory, self._builds):
            for path in folder.glob("scratch-*"):
                try:
                    if path.stat().st_mtime < limit:
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                except OSError:
                    continue  # another process removes it too, or it is not ours


def _describe(path: Path) -> list[Any] | None:
    """Size and sum of a file; None where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return [len(data), hashlib.sha256(data).hexdigest()]


def _write_manifest(directory: Path, extension: str) -> None:
    files = {path.name: _describe(path) for path in sorted(directory.iterdir())}
    with open(directory / MANIFEST, "w", encoding="utf-8") as stream:
        json.dump({"extension": extension, "files": files}, stream, indent=1)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
