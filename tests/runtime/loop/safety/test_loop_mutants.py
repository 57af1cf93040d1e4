"""The safety code with one comparison, sign or constant changed: the tests notice. All of them: ``make loop-mutants``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from mutants.in_place import forget
from mutants.loop_safety import FILES, left
from mutants.mutations import mutants_of
from mutants.run import ROOT

from elastogen.build.plain_c import emission

EVERY = 25  # of the mutants in one night; ELASTOGEN_MUTANTS_FIRST chooses which


@pytest.mark.nightly
def test_mutants_of_the_safety_code_are_noticed() -> None:
    unnoticed = left(every=EVERY, first=int(os.environ.get("ELASTOGEN_MUTANTS_FIRST", "0")))
    assert not unnoticed, "\n".join(unnoticed)


def test_mutants_change_one_place_each() -> None:
    number = 0
    for path in FILES:
        text = (ROOT / path).read_text(encoding="utf-8")
        for mutant in mutants_of(path, text):
            number += 1
            start = sum(len(line) + 1 for line in text.split("\n")[: mutant.line - 1]) + mutant.column - 1
            assert text[start : start + len(mutant.before)] == mutant.before
            assert mutant.text == text[:start] + mutant.after + text[start + len(mutant.before) :]
            assert mutant.before != mutant.after
    assert number > 300


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.c", "x = a->b - 1; /* a < b */", {("-", "+"), ("1", "2")}),
        ("a.c", "if (a <= -b) { *p = q * r; }", {("<=", "<"), ("<=", ">="), ("-", ""), ("*", "/")}),
        ("a.c", "for (int i = 0; i < n; ++i) { s += 2.5; }", {("+=", "-="), ("2.5", "5.0")}),
        ("a.c.j2", "y = {{ 1 + 2 }} && z; {% if a < b %}", {("&&", "||")}),
        ("a.py", 'def f(x: int = 3) -> int:\n    "a < b"\n    return -x if x < 1 and y else [*z]\n',
         {("3", "6"), ("-", ""), ("<", "<="), ("<", ">"), ("1", "2"), ("and", "or")}),
    ],
)  # fmt: skip
def test_what_is_changed(path: str, text: str, expected: set[tuple[str, str]]) -> None:
    assert {(mutant.before, mutant.after) for mutant in mutants_of(path, text)} == expected


def test_a_mutant_is_seen_where_its_text_was_read_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "part.h").write_text("x < y")
    monkeypatch.setattr(emission.resources, "files", lambda _: tmp_path)
    forget()
    try:
        assert emission.source("part.h") == "x < y"
        (tmp_path / "part.h").write_text("x > y")
        forget()
        assert emission.source("part.h") == "x > y"
    finally:
        monkeypatch.undo()
        forget()
