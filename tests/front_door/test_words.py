"""The word list: terms that have one meaning each, and those that were replaced by the field's own."""

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


REPLACED = {  # what was agreed not to write, and the term for it
    r"\btold\b": "reported, named, or given",
    r"\bAs everywhere\b": "a sentence about this command",
    r"\bshort ways?\b": "fast paths",
    r"\b(built|computed) alike\b|\balike branches\b": "isomorphic branches, columns of one pattern",
    r"\b(equal|in two|several equal) ways\b": "formulations",
    r"\blayouts? of (a|the|one) (robot|function|mechanism)\b": "frame assignments",
    r"\b(?<!there )(?<!There )are no (trees|turns|inputs|screws)\b": "are not trees",
    r"\bhalf a turn\b": "half a revolution",
    r"(?<!in )\bturns? about\b|\bturned (by|about)\b|\bsections? turns?\b": "rotates, rotated, a rotation",
    r"\bmoved frames?\b": "the moving frame",
    r"\b(whole|free) turn\b|\bthree of a turn\b": "a revolution, a free rotation",
    r"\b(lays|laid|being laid) out\b": "built, arranged",
    r"\bgiv(es|en|ing|e) way\b": "eliminated, yields",
    r"\bfor people\b": "readable, to read",
    r"\bwithout further ado\b": "nothing",
    r"\bis no (page|error|function of|rotation|turn)\b": "is not a page",
}


@pytest.mark.parametrize("pattern", REPLACED)
def test_replaced_words_do_not_come_back(pattern: str) -> None:
    this = Path(__file__).resolve().relative_to(ROOT)
    found = [
        f"{path}: {match[0]!r}, write {REPLACED[pattern]}"
        for path, text in texts()
        if path not in (this, Path("CHANGELOG.md"))
        for match in re.finditer(pattern, text)
    ]
    assert not found


def test_pages_are_wrapped_at_100_characters() -> None:
    """Code, tables and single words that are longer stay as they are."""
    found = []
    for path, text in texts():
        if path.suffix != ".md":
            continue
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            fenced ^= line.lstrip().startswith(("```", "~~~"))
            if fenced or len(line) <= 100 or line.startswith(("    ", "#")) or line.lstrip().startswith("|"):
                continue
            spaces = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", "x", line).lstrip(" -*0123456789.")
            if " " in spaces:
                found.append(f"{path}:{number}")
    assert not found
