"""Mutated robot files: some hundred cases here, any number by ``make fuzz CASES=100000``."""

from __future__ import annotations

import itertools
import random
from importlib.util import find_spec

import pytest
from fuzz import coverage_guided, differences
from fuzz.corpus import Original, originals
from fuzz.mutations import mutate
from fuzz.run import guarded

CASES, PARTS = 240, 6  # in parts, so that a parallel run shares them
SEED = 20240229
NEEDS = {".xacro": "xacro", ".xml": "mujoco"}  # what reads them, extras both


@pytest.fixture(scope="module")
def corpus() -> list[Original]:
    return originals()


def test_the_corpus_has_every_kind_of_file(corpus: list[Original]) -> None:
    names = {original.name for original in corpus}
    assert {"puma560", "par_table3", "README-0", "flexible-links-0", "planar-robots-0", "plain"} <= names
    assert {original.suffix for original in corpus} >= {".yaml", ".urdf", ".xml", ".sdf"}


def test_mutations_are_the_same_in_every_run(corpus: list[Original]) -> None:
    texts = [mutate(corpus[k % len(corpus)], corpus, random.Random(k)) for k in range(60)]
    assert texts == [mutate(corpus[k % len(corpus)], corpus, random.Random(k)) for k in range(60)]
    assert len(set(texts)) > 55
    assert sum(text == corpus[k % len(corpus)].text for k, text in enumerate(texts)) < 6


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_files_load_or_are_refused(corpus: list[Original], part: int) -> None:
    kinds = []
    for number in range(part, CASES, PARTS):
        outcome = guarded((number, SEED, corpus, 0.1, 0.02, 4))
        assert outcome.kind != "finding", f"case {number} of seed {SEED}:\n{outcome.text}\n{outcome.trace}"
        kinds.append(outcome.kind)
    assert "refused" in kinds
    assert {"loaded", "generated", "compiled"} & set(kinds)


@pytest.mark.filterwarnings("ignore")
def test_every_original_loads(corpus: list[Original]) -> None:
    seen = [
        guarded((number, 1, [original], 0.0, 0.0, 0, True))
        for number, original in enumerate(corpus)
        if original.suffix != ".urdf" and find_spec(NEEDS.get(original.suffix, "elastogen")) is not None
    ]
    assert [outcome.kind for outcome in seen] == ["loaded"] * len(seen)


def test_deep_and_long_files_load_or_are_refused() -> None:
    from fuzz.grown import KINDS

    for (suffix, make), size in itertools.product(KINDS, (2, 61, 401)):
        outcome = guarded((0, size, [Original("grown", make(size, random.Random(size)), suffix)], 0.0, 0.0, 4, True))
        assert outcome.kind in ("loaded", "refused"), f"{suffix} {make.__name__} {size}:\n{outcome.trace}"


@pytest.mark.parametrize("number", range(12))
def test_mutants_that_both_load_are_equal(number: int) -> None:
    """Against MuJoCo and Pinocchio; more by ``python -m fuzz.differences``."""
    corpus = differences.candidates()
    if not corpus:
        pytest.skip("neither MuJoCo nor Pinocchio is installed")
    rng = random.Random(number)
    original = [one for one in corpus if one.name in ("mjcf", "plain")][number % 2]
    text = differences.mutant(original, rng)
    result, error = differences.difference(text, original.suffix)
    assert error <= differences.AGREED, f"{result}, {error}:\n{text}"


def test_the_harness_of_atheris_takes_any_bytes() -> None:
    seeds = coverage_guided.seeds()
    assert {coverage_guided.one_input(seed) for seed in seeds[::12]} == {"loaded"}
    for data in (b"", b"\x00", b"\x01<robot", b"\x02\xff\xfe", b"\x00elastogen: 1"):
        assert coverage_guided.one_input(data) in ("nothing", "refused")
