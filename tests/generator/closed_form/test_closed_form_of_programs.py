"""Closed forms of flexible robots, own terms and own functions: read back from programs, against the programs' numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from flexible_arms import HUB, ROD, beam, planar_arm
from own_terms_arm import arm, by_hand
from plain_programs import PlainPrograms
from reference_beam import powers

import elastogen
from elastogen.generator.robot.robot import Link


def bending_arm() -> elastogen.Robot:
    return planar_arm(Link("", HUB, beam(*ROD, powers(1))), gravity=(0, -9.81, 0))


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_matrix", "gravity_vector", "jacobian", "inverse_dynamics"])
def test_quantities_of_a_flexible_arm_are_those_of_its_programs(name: str) -> None:
    robot = bending_arm()
    n = len(robot.coordinates)
    q, qd, qdd = 0.1 + 0.1 * np.arange(n), np.linspace(-1, 1, n), np.linspace(0.5, -0.2, n)
    state = {"q": q, "qd": qd, "qdd": qdd}
    found = elastogen.derive(robot).lambdify(name)(q, qd, qdd)
    expected = PlainPrograms(robot)(name, **state)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_own_terms_are_in_the_closed_forms() -> None:
    """The spring, drag and friction of the arm, with their parameters as symbols, against the equations by hand."""
    closed = elastogen.derive(arm())
    V = closed.potential_energy
    assert {"k"} <= {s.name for s in V.free_symbols}
    q, qd = np.array([0.4, -1.1]), np.array([0.9, -0.3])
    plain = elastogen.derive("two_link")
    own_V, spring, other = by_hand(q, qd, 0.8)
    for name, expected in (("potential_energy", own_V), ("gravity_vector", spring), ("inverse_dynamics", spring + other)):
        difference = closed.lambdify(name)(q, qd, **({} if name != "inverse_dynamics" else {"time": 0.8}))
        np.testing.assert_allclose(difference - plain.lambdify(name)(q, qd), expected, rtol=1e-11, atol=1e-11)


def test_any_function_prints_and_evaluates() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    law = s.f.gravity_vector(s.q) + 50 * (s.input("q_ref", 2) - s.q)
    closed = elastogen.derive(robot.with_function("law", inputs={"q_ref": 2}, outputs={"F": law}), symbolic="nonzero")
    text = closed.latex("law", "acceleration_energy_1")
    assert r"\mathrm{law}" in text
    assert r"\mathrm{acceleration\_energy\_1}" in text
    q = np.array([0.3, 0.7])
    found = closed.lambdify("law")(q, q_ref1=1.0, q_ref2=2.0)
    np.testing.assert_allclose(found, closed.lambdify("gravity_vector")(q) + 50 * (np.array([1.0, 2.0]) - q), rtol=1e-12)
    with pytest.raises(elastogen.OutputError, match="no closed form is called 'lav'"):
        closed.latex("lav")
    with pytest.raises(elastogen.OutputError, match="several outputs: dF_dq"):
        closed.lambdify("inverse_dynamics_derivatives")


def test_the_document_of_a_flexible_arm_has_everything(capsys: Any) -> None:
    closed = elastogen.derive(bending_arm())
    text = closed.latex("mass_matrix", "potential_energy")
    assert text.startswith(("\\[\nM = ", "\\begin{align*}"))
    assert "c_{1}" in text + closed.latex("gravity_vector")
    assert isinstance(closed.function("strain_energy")["U"], sympy.Expr)


def test_large_forms_are_refused_with_the_way_on() -> None:
    robot = elastogen.load("puma560")
    s = elastogen.symbols(robot)
    robot = robot.with_terms(potential=sympy.exp(s.position("tip")[2]))
    with pytest.raises(elastogen.OutputError, match=r"more than \d+. Fix: ask for a smaller function"):
        _ = elastogen.derive(robot).function("inverse_dynamics_derivatives")


def test_the_page_runs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "equations" / "closed-forms.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.S):
        exec(compile(code, "closed-forms.md", "exec"), names)
    rate, c = names["flexible"].qd[0], sympy.Symbol("c", real=True)
    assert sympy.diff(names["F"][0], c) == rate
    assert names["M"].shape == (2, 2)
    T = sympy.simplify(
        sum(names["M"][i, j] * names["closed"].qdd[i] * names["closed"].qdd[j] for i in range(2) for j in range(2)) / 2
    )
    second = sum(sympy.diff(names["energy"], a, 1) * a for a in names["closed"].qdd)
    assert sympy.simplify(sympy.expand(second.subs(dict.fromkeys(names["closed"].qd, 0)) / 2 - T)) == 0


def test_friction_prints_and_evaluates() -> None:
    drive = {"viscous": 0.2, "coulomb": 0.5, "coulomb_velocity": 0.1}
    joint = {"name": "hub", "type": "revolute", "axis": [0, 1, 0], "friction": drive}
    links = [{"name": "base"}, {"name": "arm", "mass": 1, "com": [0.3, 0, 0]}]
    closed = elastogen.derive({"elastogen": 1, "name": "rubbing", "links": links, "joints": [joint]})
    assert r"\tanh{\left(10" in closed.latex("inverse_dynamics")
    assert r"\tanh{\left(10" in closed.latex("friction_forces")
    q, qd, qdd = 0.3, 0.02, -0.7
    lost = 0.2 * qd + 0.5 * np.tanh(qd / 0.1)
    np.testing.assert_allclose(closed.lambdify("friction_forces")([q], [qd]), [lost], rtol=1e-14)
    F = 0.09 * qdd - 0.3 * 9.81 * np.cos(q) + lost
    np.testing.assert_allclose(closed.lambdify("inverse_dynamics")([q], [qd], [qdd]), [F], rtol=1e-14)


def test_elements_of_a_robot_without_sliding_joints_are_refused() -> None:
    """It was asked for "a sliding joint, one of []"."""
    with pytest.raises(elastogen.OutputError, match=r"'joint1': 1}, expected none, since the robot has no joint that slides"):
        elastogen.derive("two_link").function("mass_matrix", elements={"joint1": 1})


def test_states_of_wrong_sizes_are_refused() -> None:
    """Three values of q and one of qd were taken for two and two."""
    speed = elastogen.derive("two_link").lambdify("kinetic_energy")
    with pytest.raises(elastogen.OutputError, match=r"kinetic_energy: got q of shape \(3,\), expected \(2,\)"):
        speed([0.1, 0.2, 0.3], [0.4])
    with pytest.raises(elastogen.OutputError, match=r"got qd of shape \(\), expected"):
        speed([0.1, 0.2], 0.3)
