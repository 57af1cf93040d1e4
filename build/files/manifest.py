"""The manifest of a folder: names and checksums of the files that elastogen wrote there.

What is not in the manifest, or is not as it was written, belongs to somebody else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import elastogen
from elastogen.generator.robot.errors import BuildError

MANIFEST = "elastogen-manifest.json"
MOST_NAMED = 8  # files that one message names


@dataclass(frozen=True)
class Manifest:
    """Sums (SHA-256) of the files of one folder by their names; ``replacing`` those of an update that is under way.

    ``sets`` are the names that were written together, by what wrote them: what is missing the next time is out of date.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    replacing: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder, empty if there is none; a file of that name with other content is an error."""
        path = folder / MANIFEST
        if not path.exists():
            return cls()
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            files, replacing = ({str(k): str(v) for k, v in data.get(key, {}).items()} for key in ("files", "replacing"))
            sets = {str(k): tuple(str(name) for name in v) for k, v in data.get("sets", {}).items()}
        except (ValueError, AttributeError, TypeError):
            raise BuildError(
                f"{path}: is not a manifest of elastogen, which keeps the names of its files under this name. "
                "Nothing was written. Fix: choose another directory, or remove this file."
            ) from None
        return cls(files, replacing, sets)

    def text(self) -> str:
        """Return the text of the manifest's file; equal files give equal texts."""
        data: dict[str, object] = {
            "written by": f"elastogen {elastogen.__version__}",
            "files": dict(sorted(self.files.items())),
        }
        if self.sets:
            data["sets"] = {name: sorted(files) for name, files in sorted(self.sets.items())}
        if self.replacing:
            data["replacing"] = dict(sorted(self.replacing.items()))
        return json.dumps(data, indent=1) + "\n"

    def knows(self, folder: Path, name: str) -> bool:
        """Whether elastogen wrote this content to this file."""
        path = folder / name
        if path.is_symlink() or not path.is_file():
            return False
        return sum_of(path.read_bytes()) in (self.files.get(name), self.replacing.get(name))

    def settled(self, folder: Path) -> Manifest:
        """Return the manifest after an interrupted update: each existing file has one checksum, the old or the new."""
        there = {name: self.files.get(name, "") for name in {**self.files, **self.replacing} if (folder / name).is_file()}
        sums = {name: sum_of((folder / name).read_bytes()) if self.knows(folder, name) else there[name] for name in there}
        return Manifest(sums, sets=self.sets)

    def outdated(self, folder: Path, by: str, files: Iterable[str]) -> list[str]:
        """Return the unchanged files that the same writer wrote before, and that no writer writes now."""
        others = {name for other, names in self.sets.items() if other != by for name in names}
        found = set(self.sets.get(by, ())) - set(files) - others
        return sorted(name for name in found if self.knows(folder, name))

    def updated(self, by: str, sums: Mapping[str, str], outdated: Iterable[str]) -> Manifest:
        """Return the manifest after a writer wrote its files and removed its outdated ones."""
        files = {name: value for name, value in {**self.files, **sums}.items() if name not in set(outdated)}
        return Manifest(files, sets={**self.sets, by: tuple(sums)} if by else self.sets)

    def covers(self, folder: Path) -> bool:
        """Whether a folder contains the files of the manifest, unchanged, and nothing else."""
        folders = {folder / parent for name in self.files for parent in Path(name).parents}
        return all(
            (path in folders and not path.is_symlink()) if path.is_dir() else self._is_own(folder, path)
            for path in folder.rglob("*")
        )

    def _is_own(self, folder: Path, path: Path) -> bool:
        name = path.relative_to(folder).as_posix()
        return name == MANIFEST or self.knows(folder, name)

    def foreign(self, folder: Path, files: Mapping[str, bytes]) -> list[str]:
        """Return those of ``files`` whose places hold something else that elastogen did not write."""
        return [name for name, data in files.items() if _exists(folder / name) and not self._replaceable(folder, name, data)]

    def _replaceable(self, folder: Path, name: str, data: bytes) -> bool:
        if self.knows(folder, name):
            return True
        path = folder / name
        return path.is_file() and not path.is_symlink() and path.read_bytes() == data


def refuse(folder: Path, names: Iterable[str]) -> BuildError:
    """Raise the error about files that elastogen did not write and would have to replace."""
    found = sorted(names)
    shown = ", ".join(found[:MOST_NAMED]) + (f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")
    return BuildError(
        f"{folder}: holds {shown}, not written by elastogen or changed since, expected only files that may be replaced. "
        "Nothing was written. Fix: choose another directory, or replace them with force=True."
    )


def sum_of(data: bytes) -> str:
    """Return the SHA-256 checksum of a file's content."""
    return hashlib.sha256(data).hexdigest()


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
