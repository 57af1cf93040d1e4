"""Words that have one meaning each: papers are cited as ``paper 003``, ``seed`` is of random numbers and of derivatives."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READ = (".py", ".md", ".j2", ".c", ".h", ".yaml", ".json", ".toml")


def texts() -> list[tuple[Path, str]]:
    """All texts under version control."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [Path(line) for line in listed.stdout.splitlines() if line.endswith(READ)]
    return [(path, (ROOT / path).read_text(encoding="utf-8")) for path in paths if (ROOT / path).is_file()]


def test_papers_are_called_papers() -> None:
    this = Path(__file__).resolve().relative_to(ROOT)
    pattern = re.compile(r"\b[Ss]eeds?[ _]00\d|\b(of|in|as) the seeds?\b|\bthe seeds?'s?\b")
    found = [f"{path}: {match[0]}" for path, text in texts() if path != this for match in pattern.finditer(text)]
    assert not found
