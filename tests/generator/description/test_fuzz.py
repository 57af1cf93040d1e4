"""Mutated robot files: some hundred cases here, any number by ``make fuzz CASES=100000``."""

from __future__ import annotations

import random

import pytest
from fuzz.corpus import Original, originals
from fuzz.mutations import mutate
from fuzz.run import guarded

CASES, PARTS = 240, 6  # in parts, so that a parallel run shares them
SEED = 20240229


@pytest.fixture(scope="module")
def corpus() -> list[Original]:
    return originals()


def test_the_corpus_has_every_kind_of_file(corpus: list[Original]) -> None:
    names = {original.name for original in corpus}
    assert {"puma560", "par_table3", "README-0", "flexible-links-0", "planar-robots-0", "plain"} <= names
    assert {original.suffix for original in corpus} == {".yaml", ".urdf", ".xml", ".sdf"}


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
def test_every_original_loads(corpus: list[Original], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.run.mutate", lambda original, *_: original.text)
    seen = [
        guarded((number, 1, [original], 0.0, 0.0, 0)) for number, original in enumerate(corpus) if original.suffix != ".urdf"
    ]
    assert [outcome.kind for outcome in seen] == ["loaded"] * len(seen)
