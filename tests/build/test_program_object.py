"""``model.program(...)``: the emitted program as an object."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.build.program import EmittedProgram
from elastogen.generator.functions.derivation import derive_model

PAGE = (Path(__file__).parents[2] / "docs" / "equations" / "verify.md").read_text(encoding="utf-8")


def program_of(robot: str, name: str) -> EmittedProgram:
    loaded = elastogen.load(robot)
    (function,) = derive_model(loaded, (name,)).functions
    return EmittedProgram(loaded, function)


def test_the_page_runs(two_link: elastogen.Model) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    names: dict[str, Any] = {}
    exec(compile(code, "verify.md", "exec"), names)
    program = names["program"]
    expected = two_link.inverse_dynamics([0.4, -1.1], [0.9, -0.3], [0.0, 0.0])
    np.testing.assert_allclose(names["F"].astype(float), expected, rtol=1e-14)
    assert f"{program.count.mul} mul" in two_link.c_files[0].read_text() + two_link.c_files[1].read_text()
    assert program.text.count("qdd[1]") >= 1
    assert program.name == "inverse_dynamics"


def test_sparsity_is_that_of_the_mechanism() -> None:
    """The weight on a SCARA's vertical axis does not depend on q; the mass matrix of an arm not on its first joint."""
    gravity = program_of("scara", "gravity_vector").sparsity("G", by="q")
    assert not gravity[2].any()
    assert gravity[0, 0]  # gravity is live, it may lie in the plane
    tree = program_of("puma560", "mass_matrix").sparsity("M", by="q")
    assert not tree[:, 0].any()
    assert tree[:, 1].any()
    F = program_of("two_link", "inverse_dynamics").sparsity("F", by="qdd")
    assert F.tolist() == [[True, True], [True, True]]


def test_many_digits_depend_on_the_digits() -> None:
    program = program_of("two_link", "potential_energy")
    long, short = (program.evaluate([0.4, -1.1], digits=digits) for digits in (60, 30))
    assert 0 < abs(long.item() - short.item()) < 1e-28
    heavy = program.evaluate([0.4, -1.1], parameters={"payload_mass": 2})
    assert abs(float(heavy.item() - long.item()) - 2 * 9.81 * (np.sin(0.4) + np.sin(-0.7))) < 1e-13


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.evaluate([0.0, 0.0]), "got 1 arguments, expected q, qd, qdd"),
        (lambda p: p.evaluate([0.0], [0.0, 0.0], [0.0, 0.0]), r"q has shape \(1,\), expected \(2,\)"),
        (lambda p: p.evaluate(*[[0.0, 0.0]] * 3, parameters={"mass": 1}), "no live parameter 'mass'"),
        (lambda p: p.sparsity("G", by="q"), "got 'G', expected one of F"),
        (lambda p: p.sparsity("F", by="F"), "got 'F', expected one of q, qd, qdd"),
    ],
)
def test_wrong_questions(call: Any, words: str) -> None:
    with pytest.raises(elastogen.OutputError, match=words):
        call(program_of("two_link", "inverse_dynamics"))
