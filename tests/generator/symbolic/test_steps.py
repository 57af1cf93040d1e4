"""Recursions for reading: what is printed computes the function, and the names stand for what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.command_line import main
from elastogen.generator.closed_form.steps.recursion import Recursion
from elastogen.generator.functions.derivation import derive_model

CASES = [
    ("two_link", "inverse_dynamics"), ("puma560", "mass_matrix"), ("trtrr", "jacobian_rate"), ("satellite", "kinetic_energy"),
    ("flexible_two_link", "inverse_dynamics"), ("two_link", "forward_dynamics"), ("four_bar", "loop_residual"),
]  # fmt: skip


def executed(found: Recursion) -> Any:
    space: dict[str, Any] = {}
    exec(compile(found.written("python"), "steps", "exec"), space)
    return space[found.name]


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_the_python_of_the_steps_computes_the_function(robot: str, name: str) -> None:
    loaded = quietly_loaded(robot)
    program = derive_model(loaded, (name,)).functions[0].program
    found = elastogen.derive(loaded, symbolic="nonzero").steps(name)
    rng = np.random.default_rng(2)
    given = {a.name: rng.uniform(-1, 1, (4, *a.shape)) for a in program.inputs}
    (expected,) = program.evaluate(given, {p.name: p.value for p in loaded.live_parameters}).values()
    written = found.written("python").split("(", 1)[1]
    wanted = [key for key in given if key in written.partition(")")[0].replace(",", " ").split()]
    result = executed(found)(*(given[key] for key in wanted))
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_arguments_that_are_numbers_or_matrices() -> None:
    """The switches of 002 (29) are numbers; an own function may have those and a matrix."""
    robot = quietly_loaded("two_link")
    program = derive_model(robot, ("driving_forces",)).functions[0].program
    rng = np.random.default_rng(3)
    given = {a.name: rng.uniform(-1, 1, a.shape) for a in program.inputs}
    (expected,) = program.evaluate(given, {p.name: p.value for p in robot.live_parameters}).values()
    np.testing.assert_allclose(executed(elastogen.derive(robot).steps("driving_forces"))(*given.values()), expected, rtol=1e-9)
    s = elastogen.symbols(robot)
    A, k = s.input("A", (2, 3)), s.input("gain")
    own = robot.with_function("law", inputs={"A": (2, 3), "gain": ()}, outputs={"y": k * A[1, 2] + 10 * A[0, 1] + s.q[0]})
    code = executed(elastogen.derive(own).steps("law"))
    np.testing.assert_allclose(code(np.array([0.5, 0.0]), np.arange(6.0).reshape(2, 3), 3.0), 0.5 + 15.0 + 10.0)


def test_steps_of_contacts_and_of_what_has_minima_and_maxima(tmp_path: Path) -> None:
    """A resting contact of two_link: constrained accelerations by plain linear algebra; closures of a four-bar linkage."""
    robot = quietly_loaded("two_link").with_contacts("tip")
    outputs = ("mass_matrix", "coriolis_vector", "gravity_vector", "jacobian")
    found = {f.name: f.program for f in derive_model(robot, outputs).functions}
    q, qd, F = np.array([0.4, 0.9]), np.zeros(2), np.array([3.0, -2.0])
    values = {p.name: p.value for p in robot.live_parameters}
    M, G, J = (next(iter(found[n].evaluate({"q": q}, values).values())) for n in ("mass_matrix", "gravity_vector", "jacobian"))
    free = executed(elastogen.derive(robot).steps("contact_dynamics"))
    arguments = {"q": q, "qd": qd, "F": F, "active": np.array([0.0])}
    names = free.__code__.co_varnames[: free.__code__.co_argcount]
    qdd, _ = free(*(arguments[name] for name in names))
    np.testing.assert_allclose(qdd, np.linalg.solve(M, F - G), rtol=1e-9)
    arguments["active"] = np.array([1.0])
    qdd, force = free(*(arguments[name] for name in names))
    np.testing.assert_allclose(J[:2] @ qdd, 0, atol=1e-6)
    np.testing.assert_allclose(M @ qdd + G - F, J[:3].T @ force.ravel()[:3], atol=1e-6)
    closed = elastogen.derive(quietly_loaded("four_bar")).steps("closed_configuration")
    assert "import functools" in closed.written("python")
    executed(closed)
    typst = pytest.importorskip("typst")
    assert typst.compile(closed.written("typst").encode())[:5] == b"%PDF-"


def test_names_mean_what_they_say() -> None:
    """Angular velocity, acceleration and force of two_link's elbow against formulas on paper, in the axes of the link."""
    found = elastogen.derive("two_link", symbolic="nonzero").steps("inverse_dynamics")
    known: dict[sympy.Basic, sympy.Expr] = {}
    for stage in found.stages:
        for step in stage.steps:
            known[step.symbol] = step.expression.xreplace(known)
    by_name = {str(symbol): value for symbol, value in known.items()}
    t = sympy.Symbol("t")
    motion = [sympy.Function(f"x{k}")(t) for k in (1, 2)]
    names = {str(s): s for value in known.values() for s in value.free_symbols}
    l1, lc2, m2, g = (names[name] for name in ("l1", "lc2", "m2", "gravity_y"))
    angle = motion[0] + motion[1]
    elbow = sympy.Matrix([l1 * sympy.cos(motion[0]), l1 * sympy.sin(motion[0])])
    centre = elbow + lc2 * sympy.Matrix([sympy.cos(angle), sympy.sin(angle)])
    axes = sympy.Matrix([[sympy.cos(angle), sympy.sin(angle)], [-sympy.sin(angle), sympy.cos(angle)]])
    less_gravity = sympy.Matrix([0, -g])
    expected = {
        "w2z": angle.diff(t), "e2z": angle.diff(t, 2),
        "a2x": (axes * (elbow.diff(t, 2) + less_gravity))[0], "a2y": (axes * (elbow.diff(t, 2) + less_gravity))[1],
        "f2x": m2 * (axes * (centre.diff(t, 2) + less_gravity))[0], "f2y": m2 * (axes * (centre.diff(t, 2) + less_gravity))[1],
    }  # fmt: skip
    numbers = {"q1": 0.3, "q2": -0.8, "qd1": 1.1, "qd2": 0.4, "qdd1": -0.7, "qdd2": 2.1}
    values = {names[key]: value for key, value in {**numbers, "l1": 1.2, "lc2": 0.4, "m2": 1.7, "gravity_y": -9.81}.items()}
    state = {}
    for k, x in enumerate(motion, start=1):
        state |= {x.diff(t, 2): numbers[f"qdd{k}"], x.diff(t): numbers[f"qd{k}"], x: numbers[f"q{k}"]}
    for name, formula in expected.items():
        value = float(formula.subs(list(state.items())).xreplace(values))
        assert float(by_name[name].xreplace(values)) == pytest.approx(value, rel=1e-12), name
    meanings = {str(step.symbol): step.meaning for stage in found.stages for step in stage.steps}
    assert meanings["w2z"] == "angular velocity of elbow"


def test_closed_forms_are_the_steps_with_intermediates_put_in() -> None:
    closed = elastogen.derive("two_link", symbolic="nonzero")
    expected, found = closed.mass_matrix, closed.steps("mass_matrix").substituted()["M"]
    point = {symbol: sympy.Rational(k + 2, 7) for k, symbol in enumerate(sorted(expected.free_symbols, key=str))}
    for one, other in zip(expected, found, strict=True):
        assert float(one.xreplace(point)) == pytest.approx(float(other.xreplace(point)), rel=1e-12)


def test_documents_of_a_flexible_arm_are_short_and_numbered(tmp_path: Path) -> None:
    target = {key: tmp_path / f"form.{key}" for key in ("latex", "markdown", "typst", "python")}
    arguments = ["derive", "flexible_two_link", "inverse_dynamics", "--steps", "-q"]
    for key, path in target.items():
        arguments += [f"--{key}", str(path)]
    assert main(arguments) == 0
    texts = {key: path.read_text(encoding="utf-8") for key, path in target.items()}
    count = elastogen.derive("flexible_two_link", symbolic="nonzero").steps("inverse_dynamics").count
    assert count < 70
    assert all(len(text) < 12_000 for text in texts.values())
    assert texts["markdown"].count("\\tag{") == count
    assert texts["latex"].count("&= ") == count
    assert r"\omega_{3z}" in texts["latex"]
    typst = pytest.importorskip("typst")
    assert typst.compile(str(target["typst"]))[:5] == b"%PDF-"


def test_shared_parts_and_digits() -> None:
    closed = elastogen.derive("two_link", symbolic="none")
    whole, shared = closed.latex("inverse_dynamics"), closed.latex("inverse_dynamics", shared=True)
    assert "x_{1} &= " in shared
    assert "x_{1}" not in whole
    assert "4.905" in closed.latex("gravity_vector")
    assert "4.905" not in closed.latex("gravity_vector", digits=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["two_link", "--steps"], "--steps takes one function"),
        (["two_link", "mass_matrix", "--steps", "--c", "x.c"], "--c is for closed forms"),
        (["two_link", "mass_matrix", "--markdown", "x.md"], "--markdown is for recursions"),
        (["two_link", "mass_matix", "--steps"], "did you mean"),
    ],
)
def test_what_cannot_be_written_is_said(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *arguments, "-q"]) != 0
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_recursion_that_nobody_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elastogen.generator.closed_form.steps.recursion.MOST_EQUATIONS", 10)
    with pytest.raises(elastogen.OutputError, match="has 11 equations, more than 10"):
        elastogen.derive("two_link", symbolic="nonzero").steps("inverse_dynamics")


def test_names_of_links_are_text_in_documents() -> None:
    """In TeX, a bare ``left_panel`` outside of formulas ends the run: ``Missing $ inserted``."""
    found = quietly_derived("satellite").steps("inverse_dynamics")
    tex = re.sub(r"\\begin\{align\}.*?\\end\{align\}", "", found.written("latex"), flags=re.DOTALL)
    words = re.sub(r"\$[^$]*\$", "", tex)
    assert words.count(r"left\_panel") > 4
    assert not re.search(r"(?<!\\)[_#&%^]", words.replace(" & ", " ").replace("\\hline", ""))
    typ = re.sub(r"\$[^$]*\$", "", found.written("typst"))
    assert typ.count(r"left\_panel") > 4
    assert "left_panel" not in typ


def test_the_flexible_two_link_arm_is_two_pages() -> None:
    typst = pytest.importorskip("typst", reason="no typst: pip install 'elastogen[pdf]'")
    found = quietly_derived("flexible_two_link").steps("inverse_dynamics")
    assert len(typst.compile(found.written("typst").encode(), format="png", ppi=10.0)) == 2


def quietly_derived(name: str) -> elastogen.ClosedForm:
    return elastogen.derive(quietly_loaded(name), symbolic="nonzero")


@pytest.mark.parametrize("name", ["default", "simulation", "all"])
def test_sets_of_functions_are_refused_by_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = rf"'{name}' is a set of \d+ functions, expected one. Fix: name one, for example '"
    with pytest.raises(elastogen.OutputError, match=message):
        quietly_derived("two_link").steps(name)
    with pytest.raises(elastogen.OutputError, match=message):
        quietly_derived("two_link").function(name)
    assert main(["derive", "two_link", name, "--steps"]) == 2
    assert f"'{name}' is a set of" in capsys.readouterr().err


def test_steps_of_the_accelerations_of_a_mechanism() -> None:
    """Where the loop is closed: at zero, with velocities that keep it closed."""
    loaded = quietly_loaded("four_bar")
    dynamics, map_ = (
        f.program for f in derive_model(loaded, ("forward_dynamics", "driven_map")).functions if "by_" not in f.name
    )
    rng, parameters = np.random.default_rng(4), {p.name: p.value for p in loaded.live_parameters}
    q = np.zeros(len(loaded.coordinates))
    (W,) = map_.evaluate({"q": q}, parameters).values()
    given = {"q": q, "qd": W @ rng.uniform(-1, 1, W.shape[-1]), "F": rng.uniform(-1, 1, len(q))}
    (expected,) = dynamics.evaluate({a.name: given[a.name] for a in dynamics.inputs}, parameters).values()
    found = quietly_derived("four_bar").steps("forward_dynamics")
    wanted = found.written("python").split("(", 1)[1].partition(")")[0].replace(",", " ").split()
    np.testing.assert_allclose(executed(found)(*(given[key] for key in wanted if key in given)), expected, rtol=1e-9, atol=1e-9)
