"""Collect the fragments of this folder into CHANGELOG.md under a version and a date, and delete them (make changelog).

A version that has a section already, since it was prepared and not published, gets them under that section's headings.
"""

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


def items(paths: list[Path]) -> str:
    """One item for each fragment."""
    return "".join("- " + path.read_text(encoding="utf-8").strip().replace("\n", "\n  ") + "\n" for path in paths)


def section(version: str, date: str, body: str) -> str:
    """The section of a release: what it has already, and the fragments, under a heading for each kind."""
    for kind, paths in fragments().items():
        heading = re.search(rf"^### {KINDS[kind]}.*\n\n(?:(?!### ).*\n)*?(?=\n*(?:###|\Z))", body, re.MULTILINE)
        if paths and heading is None:
            body = f"{body.rstrip()}\n\n### {KINDS[kind]}\n\n{items(paths)}"
        elif paths and heading is not None:
            body = f"{body[: heading.end()].rstrip()}\n{items(paths)}{body[heading.end() :]}"
    return f"## {version} ({date})\n\n{body.strip()}\n"


def main(version: str, date: str) -> None:
    """Write the section behind the introduction of the changelog."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise SystemExit(f"make changelog: got {version!r} and {date!r}, expected VERSION=0.2.0 DATE=2026-11-18")
    changelog = HERE.parent / "CHANGELOG.md"
    head, *sections = re.split(r"^(?=## )", changelog.read_text(encoding="utf-8"), flags=re.MULTILINE)
    prepared = sections.pop(0).partition("\n")[2] if sections and sections[0].startswith(f"## {version} (") else ""
    text = head + "\n".join([section(version, date, prepared), *sections])
    changelog.write_text(text, encoding="utf-8")
    for paths in fragments().values():
        for path in paths:
            path.unlink()


if __name__ == "__main__":
    main(*(sys.argv[1:3] if len(sys.argv) == 3 else ("", "")))
