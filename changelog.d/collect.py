"""Collect the fragments of this folder into CHANGELOG.md under a version and a date, and delete them (make changelog)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = {
    "security": "Security",
    "fixed": "Fixed",
    "added": "Added",
    "changed": "Changed",
    "removed": "Removed",
    "upgrading": "Upgrading",
}
NAME = re.compile(r"[\w-]+\.(" + "|".join(KINDS) + r")\.md")


def fragments() -> dict[str, list[Path]]:
    """The fragments by kind, in the order of the headings."""
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in sorted(HERE.glob("*.md")):
        if path.name == "README.md":
            continue
        named = NAME.fullmatch(path.name)
        if named is None:
            raise SystemExit(f"{path.name}: expected <topic>.<kind>.md, kinds are {', '.join(KINDS)}")
        found[named[1]].append(path)
    return found


def section(version: str, date: str) -> str:
    """The section of a release: one item for each fragment, under a heading for each kind."""
    lines = [f"## {version} ({date})", ""]
    for kind, paths in fragments().items():
        if paths:
            lines += [f"### {KINDS[kind]}", ""]
            lines += ["- " + path.read_text(encoding="utf-8").strip().replace("\n", "\n  ") for path in paths]
            lines.append("")
    return "\n".join(lines)


def main(version: str, date: str) -> None:
    """Write the section behind the introduction of the changelog."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise SystemExit(f"make changelog: got {version!r} and {date!r}, expected VERSION=0.2.0 DATE=2026-11-18")
    changelog = HERE.parent / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    place = text.find("\n## ") + 1 or len(text)
    changelog.write_text(text[:place] + section(version, date) + "\n" + text[place:], encoding="utf-8")
    for paths in fragments().values():
        for path in paths:
            path.unlink()


if __name__ == "__main__":
    main(*(sys.argv[1:3] if len(sys.argv) == 3 else ("", "")))
