"""Text that goes into pages: the assets of ``templates/pages``, JSON that is safe inside a script; and pages on disk."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from elastogen.build.files.write import writing_to
from elastogen.build.options import checked_path
from elastogen.generator.robot.errors import BuildError

MARK = '<meta name="generator" content="elastogen">'
"""Stands in the head of every page: what has it may be replaced by the next one."""


def asset(name: str) -> str:
    """A file of ``templates/pages``: a script, a style sheet or a header."""
    return (resources.files("elastogen.templates") / "pages" / name).read_text(encoding="utf-8")


VIEWER = ("three/three.min.js", *(f"viewer/{name}.js" for name in ("studio", "quick", "solids", "overlay", "viewer")))
PLAYER = (*VIEWER, *(f"viewer/{name}.js" for name in ("plots", "recorder", "player")))


def scripts(names: Sequence[str]) -> str:
    """Scripts of ``templates/pages``, one after the other, to stand inside one script element."""
    return "\n".join(asset(name) for name in names)


def script_json(data: Any) -> str:
    """JSON for the inside of a script element, which a ``<`` in a name must not end."""
    return json.dumps(data).replace("<", "\\u003c")


def check_page(path: str | os.PathLike[str], others: Sequence[str] = ()) -> None:
    """Refuse a name that no page can be written to, before anything is computed for it; ``others`` are endings of films."""
    target = checked_path("path", path)
    if target.suffix.lower() not in (".html", ".htm", *others):
        films = f", or a film, {' or '.join(others)}" if others else ""
        found = f"{target}: got the ending {target.suffix!r}"
        raise BuildError(f"{found}, expected a page ending in .html{films}. Fix: name it so.")


def write_page(path: str | os.PathLike[str], html: str, *, force: bool = False) -> Path:
    """Write a page, whole or not at all; a file that is not a page of elastogen is not replaced unless ``force`` says so."""
    target = Path(path)
    check_page(target)
    with writing_to(target.parent):
        if target.exists() and not force and not _is_page(target):
            raise BuildError(
                f"{target}: is not a page of elastogen and was not replaced. Fix: choose another name, or force it."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            scratch.write_text(html, encoding="utf-8")
            os.replace(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)
    return target


def _is_page(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return MARK.encode() in stream.read(2000)
