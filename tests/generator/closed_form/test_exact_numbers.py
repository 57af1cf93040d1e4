"""Numbers in closed forms are those of the file: fractions, roots and decimals, no dust of rounding errors."""

import math

import numpy as np
import pytest
import sympy
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.closed_form.exact_numbers import exact_number, rotation_entry

LINKS = [
    {"name": "base"},
    {"name": "a", "mass": "1/3", "com": ["1/3", 0, 0], "inertia": ["1/3", "1/3", "1/7"]},
    {"name": "b", "mass": 1.2, "com": ["0.1", 0, "sqrt(2)/10"], "inertia": ["0.1", "0.1", "0.1"]},
]


def arm(rpy):
    placement = {"xyz": ["1/3", 0, 0.25], "rpy": rpy}
    joints = [
        {"name": "j1", "type": "revolute"},
        {"name": "j2", "type": "revolute", "axis": [0, 1, 0], "placement": placement},
    ]
    return elastogen.load({"elastogen": 1, "name": "arm", "links": LINKS, "joints": joints})


def numbers_in(matrix):
    return [number for number in matrix.atoms(sympy.Number) if number != 0]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1 / 3, sympy.Rational(1, 3)),
        (-7 / 12, -sympy.Rational(7, 12)),
        (0.1, sympy.Rational(1, 10)),
        (math.sqrt(2) / 10, sympy.sqrt(2) / 10),
        (-math.sqrt(3) / 7, -sympy.sqrt(3) / 7),
        (math.pi, sympy.Rational("3.141592653589793")),
        (0.3333333333333, sympy.Rational("0.3333333333333")),
        (1e-20, sympy.Rational(1, 10**20)),
    ],
)
def test_doubles_are_read_as_they_were_written(number, expected):
    assert exact_number(number) == expected
    assert float(exact_number(number)) == number


def test_entries_of_rotations_are_roots():
    assert rotation_entry(math.cos(math.pi / 6) * math.sin(math.pi / 4)) == sympy.sqrt(6) / 4
    assert rotation_entry(-math.sin(math.pi / 4)) == -sympy.sqrt(2) / 2
    assert rotation_entry(6.1e-17) == 0
    assert rotation_entry(math.cos(0.3)) == sympy.Rational(repr(math.cos(0.3)))


def test_exact_numbers_stay_exact():
    assert not elastogen.derive(elastogen.load("two_link"), symbolic="none").mass_matrix.atoms(sympy.Float)
    M = elastogen.derive(arm(["pi/3", 0, "pi/4"]), symbolic="none").mass_matrix
    long = [number for number in M.atoms(sympy.Float) if len(str(number).rstrip("0")) > 8]
    assert len(long) == 1  # a sum of thirds, sevenths and decimals
    assert M.has(sympy.sqrt(6))


@pytest.mark.parametrize("rpy", [["pi/3", 0, "pi/4"], [0.3, 0.2, -0.7], [0, "pi/6", 0.1]])
def test_no_dust(rpy):
    robot = arm(rpy)
    M = elastogen.derive(robot, symbolic="none").mass_matrix
    assert min(abs(number) for number in numbers_in(M)) > 1e-6
    q = [0.4, -0.9]
    values = dict(zip(sympy.symbols("q1 q2", real=True), q, strict=True))
    expected = PlainPrograms(robot)("mass_matrix", q=q)
    np.testing.assert_allclose(np.array(M.xreplace(values), dtype=float), expected, rtol=1e-13)


def test_named_parameters_of_flexible_links_become_numbers():
    beam = {"type": "elements", "length": 1, "mass_per_length": 1, "EI": "EI", "elements": 1}
    robot = elastogen.load({
        "elastogen": 1, "name": "beam", "parameters": {"EI": {"value": 2.5}}, "joints": [{"name": "j", "type": "revolute"}],
        "links": [{"name": "a", "flexible": beam}],
    })  # fmt: skip
    K = elastogen.derive(robot, symbolic="none").function("stiffness_matrix")["K"]
    assert sympy.Matrix([[0, 0, 0], [0, 30, -15], [0, -15, 10]]) == K


@pytest.mark.parametrize("mass", [1 / 3, 0.1 * math.pi])
def test_sums_of_rounded_numbers_leave_no_dust(mass):
    """Parallel axes: sin^2 + cos^2 = 1 of long numbers, whose coefficients are rounded on the way."""
    links = [{"name": "base"}, *({"name": name, "mass": mass, "com": [0.2, 0, 0], "inertia": [mass] * 3} for name in "ab")]
    joints = [{"name": "j1", "type": "revolute"},
              {"name": "j2", "type": "revolute", "placement": {"xyz": [0.3, 0.3, 0.3]}}]  # fmt: skip
    robot = elastogen.load({"elastogen": 1, "name": "pair", "links": links, "joints": joints})
    M = elastogen.derive(robot, symbolic="none").mass_matrix
    assert not M.atoms(sympy.Pow)
    assert min(abs(number) for number in numbers_in(M)) > 1e-3
