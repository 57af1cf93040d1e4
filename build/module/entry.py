"""One entry of the cache: its files, and a manifest of their checksums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from elastogen.build.module.trust import trusted_file
from elastogen.build.stamps import data_sum, file_sum

MANIFEST = "manifest.json"
LOCK = "lock"
LONGEST_NOTE = 4 << 20  # bytes of a manifest or a note
LONGEST_FILE = 1 << 30  # bytes of a file of an entry


def write_manifest(directory: Path, extension: str) -> None:
    """Write size and checksum of each file."""
    files = {path.name: file_sum(path) for path in sorted(directory.iterdir()) if path.name != LOCK}
    with open(directory / MANIFEST, "w", encoding="utf-8") as stream:
        json.dump({"extension": extension, "files": files}, stream, indent=1)


def sound_extension(entry: Path) -> Path | None:
    """Return the extension of an entry if its files are exactly those of its manifest, else None."""
    manifest = read_json(entry / MANIFEST)
    if manifest is None or not isinstance(manifest.get("files"), dict):
        return None
    if not all(_is_sound(entry, name, facts) for name, facts in manifest["files"].items()):
        return None
    extension = str(manifest.get("extension"))
    return entry / extension if extension in manifest["files"] else None


def _is_sound(entry: Path, name: str, facts: object) -> bool:
    data = None if "/" in name or "\0" in name else trusted_file(entry / name, LONGEST_FILE)
    return data is not None and data_sum(data) == facts


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object in a JSON file that only its owner can write, or None."""
    content = trusted_file(path, LONGEST_NOTE)
    if content is None:
        return None
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # no JSON, or brackets in brackets
        return None
    return data if isinstance(data, dict) else None
