"""Three principles of mechanics give the same forces: against each other, and Lagrange and Appell against Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.command_line import main
from elastogen.generator.functions.derivation import derive_function
from elastogen.generator.functions.higher.formulations import PRINCIPLES
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.reference.self_check import SelfCheck

BUILT_IN = ("puma560_geared", "stanford", "flexible_two_link", "par_table3", "rpb_table3", "satellite", "six_leg_platform")


@pytest.mark.parametrize("name", BUILT_IN)
def test_three_principles_agree(name: str) -> None:
    robot = quietly_loaded(name)
    programs = [derive_function(VariantFamily(robot), principle.entry).program for principle in PRINCIPLES]
    check = SelfCheck(robot)
    for sample in check.samples:
        first, *others = (program.evaluate(sample.arguments, check.parameters)["Q"] for program in programs)
        for other in others:
            np.testing.assert_allclose(other, first, rtol=0, atol=1e-12 * np.abs(first).max())


def test_quaternions_against_pinocchio() -> None:
    """The terms of Boltzmann and Hamel: velocities of spherical and floating joints are no rates of their coordinates."""
    pin = pytest.importorskip("pinocchio")
    from pinocchio_trees import tree

    made = tree(3, ("spherical", "floating", "universal", "spherical"), chain=True)
    robot = quietly_loaded(made.file)
    rng = np.random.default_rng(8)
    q = pin.integrate(made.model, pin.neutral(made.model), rng.uniform(-2, 2, made.model.nv))
    qd, qdd = rng.uniform(-2, 2, (2, made.model.nv))
    expected = pin.rnea(made.model, made.model.createData(), q, qd, qdd)
    for principle in PRINCIPLES:
        program = derive_function(VariantFamily(robot), principle.entry).program
        found = program.evaluate({"q": q, "qd": qd, "qdd": qdd}, {p.name: p.value for p in robot.live_parameters})["Q"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max(), err_msg=principle.name)


def test_table_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert main(["formulations", "two_link", "--cflags=-O0", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["Newton-Euler", "Lagrange", "Appell"]
    assert main(["formulations", "two_link", "--cflags=-O0", "-q", "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    found = elastogen.formulations("two_link", cflags="-O0")
    assert text.count("\\tag{") == sum(row.equations for row in found.rows)
    assert max(row.difference for row in found.rows) < 1e-13
    assert all(row.evaluation_seconds > 0 for row in found.rows)
    newton_euler, *others = (row.count.total for row in found.rows)
    assert all(newton_euler < other for other in others)
