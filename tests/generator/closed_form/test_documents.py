"""Documents of closed forms: beams with symbols, what is too long, one entry, one link, quaternions, followers; code, PDF."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from c_compilers import COMPILERS, WARNINGS
from flexible_arms import HUB, ROD, beam, planar_arm
from plain_programs import PlainPrograms
from reference_beam import powers

import elastogen
from elastogen import command_line
from elastogen.build.forms import pdf as pdf_module
from elastogen.build.forms.code import c_code, python_code
from elastogen.generator.closed_form import functions, typst
from elastogen.generator.closed_form.document import MOST_OPERATIONS, TooLongError
from elastogen.generator.robot.robot import Link

BEAM = {"length": 0.8, "mass_per_length": 0.353, "EI": 0.169}


def planar(*links: dict[str, Any]) -> elastogen.Robot:
    data = {"links": list(links), "payload": {"mass": 0.05}, "gravity": [0, -9.81]}
    return elastogen.load({"elastogen": 1, "name": "arm", "planar": data})


def test_an_element_prints_as_paper_003_has_it() -> None:
    """M_ij and K_ij of the robot R with one element (003 (13), (27)): exact fractions of rho A, EI and L."""
    closed = elastogen.derive(planar({"joint": "R", **BEAM, "elements": 1}), symbolic="all")
    L, mu, EI, m = (sympy.Symbol(name, real=True) for name in ("L1", "rhoA1", "EI1", "m2"))
    u, s = closed.q[1:]
    shape = sympy.Matrix([[156, -22 * L], [-22 * L, 4 * L**2]]) * mu * L / 420
    x = sympy.Matrix([u, s])
    load = sympy.Matrix([[m, 0], [0, 0]])  # the payload on the tip
    expected = sympy.zeros(3)
    expected[0, 0] = mu * L**3 / 3 + m * L**2 + (x.T * (shape + load) * x)[0]
    expected[0, 1:] = sympy.Matrix([[7 * mu * L**2 / 20 + m * L, -mu * L**3 / 20]])
    expected[1:, 0] = expected[0, 1:].T
    expected[1:, 1:] = shape + load
    assert (closed.mass_matrix - expected).applyfunc(sympy.expand) == sympy.zeros(3)
    K = sympy.Matrix([[12, -6 * L], [-6 * L, 4 * L**2]]) * EI / L**3
    assert closed.function("stiffness_matrix")["K"][1:, 1:] == K.applyfunc(sympy.expand)
    assert not closed.mass_matrix.atoms(sympy.Float)
    text = closed.latex("mass_matrix")
    assert r"M_{33} &= \frac{L_{1}^{3} \left(\rho A\right)_{1}}{105}" in text
    assert "It is symmetric." in text


@pytest.mark.parametrize(
    "links",
    [
        [{"joint": "R", **BEAM, "elements": 3}],
        [{"joint": "Pb", "gamma": 0.7, **BEAM, "elements": 2}],
        [{"joint": "R", **BEAM, "elements": 2, "reduce_to": 1, "foreshortening": True}],
    ],
    ids=["elements", "telescopic", "reduced"],
)
def test_symbols_of_beams_have_their_numbers(links: list[dict[str, Any]]) -> None:
    robot = planar(*links)
    q = 0.3 + 0.05 * np.arange(len(robot.coordinates))
    closed = elastogen.derive(robot, symbolic="all")
    names = {s.name for s in closed.mass_matrix.free_symbols} | {s.name for s in closed.potential_energy.free_symbols}
    assert {"L1", "rhoA1", "EI1", "m2"} <= names
    for name in ("mass_matrix", "potential_energy"):
        expected = PlainPrograms(robot)(name, q=q)
        np.testing.assert_allclose(closed.lambdify(name)(q), expected, rtol=1e-12, atol=1e-13)
    heavier = planar({**links[0], "mass_per_length": 0.5})
    expected = PlainPrograms(heavier)("mass_matrix", q=q)
    np.testing.assert_allclose(closed.lambdify("mass_matrix")(q, rhoA1=0.5), expected, rtol=1e-12, atol=1e-13)


def test_angles_that_are_no_sums_of_coordinates_are_written_out() -> None:
    """The tip turns by 2/L q2: it was abbreviated with the weight cut off."""
    rod = (ROD[0], ROD[1], 0.8)
    robot = planar_arm(Link("", HUB, beam(*rod, powers(1))), gravity=(0, -9.81, 0))
    text = elastogen.derive(robot).latex("transforms")
    assert r"\cos{\left(\frac{5 q_{2}}{2} \right)}" in text
    assert "c_{22}" not in text


def test_what_is_too_long_is_left_out_with_the_way_on() -> None:
    closed = elastogen.derive("puma560", symbolic="nonzero")
    (part,) = closed.document("inverse_dynamics").parts
    (note,) = part.notes
    assert "too long to read" in note
    assert "elastogen derive ROBOT inverse_dynamics --entry 1" in note
    assert all(equation.value.count_ops() <= MOST_OPERATIONS for equation in part.equations)
    assert closed.latex("inverse_dynamics", entry=(1,)).startswith("\\begin{align*}\nF_{1} &= ")
    assert closed.latex("transforms", link="tip").startswith("\\begin{align*}\n\\left([T]_{7}^{0}\\right)_{11} &= ")
    for choice, message in (
        ({"entry": (7, 1)}, "expected row and column from 1 to 6, 6"),
        ({"entry": (1,)}, "expected row and column"),
        ({"link": "tip"}, "not one of every frame"),
    ):
        with pytest.raises(elastogen.OutputError, match=message):
            closed.latex("mass_matrix", **choice)
    with pytest.raises(elastogen.OutputError, match="expected one of "):
        closed.latex("transforms", link="elbow")


def test_one_entry_of_a_flexible_robot_is_read_without_the_others() -> None:
    closed = elastogen.derive("flexible_six_joint", symbolic="nonzero")
    (part,) = closed.document("mass_matrix").parts
    assert "no closed form to read: after " in part.notes[0]
    assert "Fix: ask for the recursion (steps=True)" in part.notes[0]
    n = len(closed.q)
    (equation,) = closed.equations("mass_matrix", entry=(n, n))
    assert equation.value.count_ops() < MOST_OPERATIONS
    with pytest.raises(elastogen.OutputError, match=f"expected row and column from 1 to {n}, {n}"):
        closed.equations("mass_matrix", entry=(n + 1, 1))


@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("LARGEST_PRODUCT", 20, r"after \d+ of \d+ steps the next product has \d\d+ terms"),
        ("MOST_PRODUCTS", 200, r"products have 2\d\d terms"),
        ("LONGEST_POLYNOMIAL", 30, r"an expression has \d\d terms"),
        ("MOST_TERMS", 99, r"after (\d+) of \1 steps its 36 entries have \d\d\d terms"),
    ],
)
def test_each_way_to_be_too_long_is_noticed_before_the_form_is_there(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, message: str
) -> None:
    monkeypatch.setattr(functions, limit, most)
    with pytest.raises(TooLongError, match=message) as error:
        _ = elastogen.derive("puma560", symbolic="none").mass_matrix
    assert "Fix: ask for the recursion (steps=True), for one entry, or with symbolic='none'" in str(error.value)


def test_a_long_chain_is_refused_with_the_way_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tilted axes: its forces as closed forms would fill books; the message says so in the words of the command line."""
    tilted = [{"xyz": [0.1 + 0.01 * k, 0.02, 0.3], "rpy": [0.3 + k, 0.7, 0.1]} for k in range(14)]
    body = {"mass": 1.0, "com": [0.1, 0.2, 0.3], "inertia": [0.1, 0.2, 0.3, 0.01, 0.02, 0.03]}
    links = [{"name": "base"}, *({"name": f"l{k}", **body} for k in range(14))]
    joints = [
        {"name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": [0, 0, 1], "placement": tilted[k]} for k in range(14)
    ]
    file = tmp_path / "worm.yaml"
    file.write_text(json.dumps({"elastogen": 1, "name": "worm", "links": links, "joints": joints}))
    assert command_line.main(["derive", str(file), "inverse_dynamics"]) == 2
    assert "Fix: ask for the recursion (--steps), for one entry, or with --symbolic none" in capsys.readouterr().err


def test_quaternions_and_followers_have_closed_forms() -> None:
    body = {"mass": 1.1, "com": [0.1, 0.2, 0.3], "inertia": [0.1, 0.07, 0.09]}
    links = [{"name": "base"}, {"name": "a", **body}, {"name": "b", **body}, {"name": "c", **body}]
    joints = [
        {"name": "ball", "type": "spherical", "child": "a"},
        {"name": "hinge", "type": "revolute", "parent": "a", "child": "b", "axis": [0, 0, 1]},
        {"name": "gear", "type": "revolute", "parent": "b", "child": "c", "axis": [0, 0, 1], "follows": "2*q('hinge')"},
    ]
    robot = elastogen.load({"elastogen": 1, "name": "free", "links": links, "joints": joints})
    closed = elastogen.derive(robot)
    assert (len(closed.q), len(closed.qd)) == (5, 4)
    q, qd = np.array([0.1, -0.5, 0.3, 0.0, 0.7]), np.array([0.2, -0.4, 0.5, 0.3])
    q[3] = np.sqrt(1 - q[:3] @ q[:3])
    programs = PlainPrograms(robot)
    np.testing.assert_allclose(closed.lambdify("mass_matrix")(q), programs("mass_matrix", q=q), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(closed.lambdify("gravity_vector")(q), programs("gravity_vector", q=q), rtol=1e-12, atol=1e-13)
    expected = programs("coriolis_vector", q=q, qd=qd)
    np.testing.assert_allclose(closed.lambdify("coriolis_vector")(q, qd), expected, rtol=1e-12, atol=1e-13)
    assert "ball.qx" in closed.latex()


def test_code_gives_the_same_numbers(tmp_path: Path) -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    law = s.f.gravity_vector(s.q) + 50 * (s.input("q_ref", 2) - s.q)
    closed = elastogen.derive(robot.with_function("law", inputs={"q_ref": 2}, outputs={"F": law}), symbolic="nonzero")
    names = ("mass_matrix", "law", "transforms", "kinetic_energy")
    source = tmp_path / "forms.py"
    source.write_text(python_code(closed, names))
    spec = importlib.util.spec_from_file_location("forms", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    q, qd = np.array([0.4, -1.1]), np.array([0.9, -0.3])
    M = closed.lambdify("mass_matrix")(q, m2=2.0)
    np.testing.assert_allclose(module.mass_matrix(q, m2=2.0), M, rtol=1e-13)
    np.testing.assert_allclose(module.law(q, 1.0, 2.0), closed.lambdify("law")(q, q_ref1=1.0, q_ref2=2.0), rtol=1e-13)
    np.testing.assert_allclose(module.transforms(q), closed.lambdify("transforms")(q), rtol=1e-13)
    np.testing.assert_allclose(module.kinetic_energy(q, qd), closed.lambdify("kinetic_energy")(q, qd), rtol=1e-13)
    if not COMPILERS:
        pytest.skip("no C compiler")
    (tmp_path / "forms.c").write_text(c_code(closed, names))
    library = tmp_path / "forms.so"
    subprocess.run([COMPILERS[0], *WARNINGS, "-O0", "-shared", "-fPIC", tmp_path / "forms.c", "-lm", "-o", library], check=True)
    result = (ctypes.c_double * 4)()
    ctypes.CDLL(str(library)).two_link_mass_matrix_closed((ctypes.c_double * 2)(*q), result)
    np.testing.assert_allclose(np.reshape(result, (2, 2)), closed.lambdify("mass_matrix")(q), rtol=1e-13)


def test_code_of_nothing_and_clashing_names_are_refused() -> None:
    with pytest.raises(elastogen.OutputError, match="code is written of named quantities"):
        python_code(elastogen.derive("two_link"), ())
    data = {"elastogen": 1, "name": "arm", "parameters": {"result": 0.3},
            "links": [{"name": "base"}, {"name": "a", "mass": "result", "com": [1, 0, 0]}],
            "joints": [{"name": "j", "type": "revolute", "child": "a", "axis": [0, 0, 1]}]}  # fmt: skip
    with pytest.raises(elastogen.OutputError, match="a parameter is called 'result'"):
        c_code(elastogen.derive(data), ("mass_matrix",))


def test_pdf_by_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    document = elastogen.derive("par_table3", symbolic="all").document("jacobian", "mass_matrix", "stiffness_matrix")
    text = typst.whole(document)
    assert "[macron" not in text
    assert "= par\\_table3" in text
    target = tmp_path / "arm.pdf"
    if importlib.util.find_spec("typst"):
        assert pdf_module.pdf(document).startswith(b"%PDF")
        assert command_line.main(["derive", "two_link", "mass_matrix", "--pdf", str(target)]) == 0
        assert target.read_bytes().startswith(b"%PDF")
        target.unlink()
    monkeypatch.setattr(pdf_module, "find_spec", lambda name: None)
    monkeypatch.setattr(pdf_module.shutil, "which", lambda name: None)
    assert command_line.main(["derive", "two_link", "mass_matrix", "--pdf", str(target)]) == 2
    assert "needs Typst or TeX" in capsys.readouterr().err
    assert not target.exists()
    wrong = (["--entry", "a"], ["--entry", "1,2,3"], ["--element", "joint2"])
    assert all(command_line.main(["derive", "two_link", "mass_matrix", *words]) == 2 for words in wrong)
