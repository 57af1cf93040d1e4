"""The index of the papers: every equation is in it, and what it names exists."""

import re
from pathlib import Path

import pytest

import elastogen
from elastogen.commands import COMMANDS
from elastogen.generator.closed_form.exponentials import ExponentialForms
from elastogen.generator.functions.derivation import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "equations" / "papers.md").read_text(encoding="utf-8")
LAST = {"000": 117, "001": 49, "002": 30, "003": 27, "004": 46}  # numbers of the last equations
FURTHER = {
    "000": [f"Fig. {k}" for k in range(1, 8)],
    "001": [f"Fig. {k}" for k in range(1, 4)],
    "002": [f"Fig. {k}" for k in range(1, 4)],
    "003": [
        *(f"Fig. {k}" for k in range(1, 16)),
        "Table 1",
        "Table 2",
        "Table 3",
        "Section 4.3",
        *(f"Appendix {k}" for k in range(1, 5)),
    ],  # 4.3: equations without numbers
    "004": ["Fig. 1"],
}
NAMESPACES = {"Model": elastogen.Model, "ClosedForm": elastogen.ClosedForm, "ExponentialForms": ExponentialForms,
              "elastogen": elastogen, "Trajectory": elastogen.Trajectory}  # fmt: skip


def rows(paper):
    """The rows of a paper's table: what is in the paper, content, how to call it, documentation, test, correction."""
    section = re.split(rf"^### Paper {paper}$", PAGE, flags=re.M)[1].split("\n### ")[0].split("\n## ")[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    return found[2:]


def numbers(cell):
    found = set()
    for first, last in re.findall(r"\((\d+)[a-z]?\)(?:-\((\d+)\))?", cell):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def labels(cell):
    found = set()
    for kind, first, last in re.findall(r"(Fig\.|Table|Appendix) (\d+)(?:-(\d+))?", cell):
        found |= {f"{kind} {k}" for k in range(int(first), int(last or first) + 1)}
    return found | set(re.findall(r"Section \d+\.\d+", cell))


@pytest.mark.parametrize("paper", LAST)
def test_every_equation_table_and_figure_is_listed(paper):
    table = rows(paper)
    assert all(len(row) == 6 for row in table), [row for row in table if len(row) != 6]
    listed = set().union(*(numbers(row[0]) for row in table))
    assert listed == set(range(1, LAST[paper] + 1))
    assert set().union(*(labels(row[0]) for row in table)) == set(FURTHER[paper])


@pytest.mark.parametrize("paper", LAST)
def test_what_the_index_names_exists(paper):
    commands = set(COMMANDS)
    for row in rows(paper):
        for name in re.findall(r"`([^`]*)`", row[2]):
            if name.startswith("elastogen "):
                assert name.split()[1] in commands, name
            elif "/" in name:
                assert (ROOT / name).exists(), name
            elif "." in name:
                space, _, rest = name.partition(".")
                assert hasattr(NAMESPACES[space], rest), name
            else:
                assert name in CATALOGUE, name
        for target in re.findall(r"\]\(([\w./-]+\.md)", row[3]):
            assert (ROOT / "docs" / "equations" / target).exists(), target
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[4])
        assert tests or row[4].startswith("-"), row
        for file, test in tests:
            assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.M), (file, test)


@pytest.mark.parametrize("paper", LAST)
def test_corrections_are_in_full_among_the_errata(paper):
    errata = (ROOT / "docs" / "equations" / "errata.md").read_text(encoding="utf-8")
    places = re.findall(rf"^\| {paper} \| ([^|]*)", errata, flags=re.M)
    listed = set().union(*(numbers(place) for place in places))
    wanted = set().union(*(numbers(re.sub(r"\b00\d \(\d+\)", "", row[5])) for row in rows(paper)))
    assert wanted
    assert not sorted(wanted - listed)


def test_files_of_the_page_exist():
    """Those outside of the index, too: where each paper is."""
    named = re.findall(r"`((?:generator|runtime|build|templates|elastogen|docs|tests)/[\w/.-]+)`", PAGE)
    assert len(named) > 20
    assert not [name for name in named if not (ROOT / name).exists()]


def test_rows_say_something():
    for paper in LAST:
        for row in rows(paper):
            assert row[1], row
            assert row[2], row
