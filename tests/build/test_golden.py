"""Emitted C is a reviewed product: it changes only together with the files in tests/golden."""

import re

import pytest
from golden_files import CASES, GOLDEN, golden_texts

from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import render
from elastogen.generator.description.load_robot import load


@pytest.mark.parametrize("name", CASES)
def test_emitted_code_is_the_reviewed_one(name):
    for file, text in golden_texts(name).items():
        expected = (GOLDEN / file).read_text(encoding="ascii")
        assert text == expected, f"{file} changed: look at the change, then `make golden` and commit it with a changelog entry"


def test_golden_files_are_all_of_a_case():
    assert {path.name for path in GOLDEN.glob("*.[ch]")} == {f"{name}{end}" for name in CASES for end in (".h", ".c")}


@pytest.mark.parametrize("name", CASES)
def test_in_single_precision_the_header_differs_in_one_line(name):
    double, single = ((golden_texts(name, precision)[f"{name}.h"]).splitlines() for precision in ("double", "float"))
    differ = [pair for pair in zip(double, single, strict=True) if pair[0] != pair[1]]
    assert differ == [(f"typedef double {name}_real_t;", f"typedef float {name}_real_t;")]


@pytest.mark.parametrize("name", CASES)
def test_the_reviewed_code_reads_well(name):
    """What reviewers looked for once: sections in one stretch, sizes by macros, nothing silly."""
    header, source = ((GOLDEN / f"{name}{end}").read_text(encoding="ascii") for end in (".h", ".c"))
    assert f"q[{name.upper()}_NQ]" in header
    assert not re.search(r"\bq[d]*\[\d+\][,)]", header)
    assert "[]" not in header
    assert not re.search(r"[-+*] \(0\)|\b1\.0 \*", source)
    for body in re.findall(r"^\{\n(.*?)^\}", source, flags=re.S | re.M):
        sections = re.findall(r"^    /\* (.*) \*/$", body, flags=re.M)
        assert len(sections) == len(set(sections)), sections


def test_a_function_that_gives_only_zeros_says_so():
    flexible = (GOLDEN / "golden_flexible.h").read_text(encoding="ascii")
    assert "always zero" not in flexible
    header = render(load("two_link"), BuildOptions.checked(outputs=("elastic_forces", "mass_matrix"))).header
    assert header.count("always zero for this robot") == 1
