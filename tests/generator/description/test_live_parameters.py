"""Numbers of a description: expressions, named parameters, and what can be live."""

import numpy as np
import pytest
import sympy
from descriptions import serial_arm

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError

# --- expressions ---


def gravity_of(text, **parameters):
    return load(serial_arm(gravity=[0, 0, text], parameters=parameters)).gravity[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-9.81", -9.81),
        ("-pi/2", -np.pi / 2),
        ("2*(3 + 4.5)/3", 5.0),
        ("sqrt(2)*cos(0)", np.sqrt(2)),
        ("sin(pi/6)**2", 0.25),
        ("1e-3", 0.001),
        ("+1/3", 1 / 3),
    ],
)
def test_constant_expressions_become_numbers(text, value):
    got = gravity_of(text)
    assert type(got) in (int, float)
    np.testing.assert_allclose(got, value, rtol=1e-15)


def test_expressions_of_parameters_stay_symbolic():
    a, b = sympy.symbols("a b", real=True)
    assert gravity_of("2*a - b/4", a=1, b={"value": "1/2", "unit": "m"}) == 2 * a - b / 4


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__",
        "a.real",
        "[1][0]",
        "lambda: 1",
        "1 if 1 else 2",
        "2**1000000",
        "2**a",
        "9**9**9",
        "1e400",
        "1/0",
        "0/0",
        "sqrt(-1)",
        "1j",
        "'1'",
        "exp(1)",
        "sin(1, 2)",
        "sin(x=1)",
        "unknown + 1",
        "1 +",
        "",
        "1; 2",
        "a := 2",
        "f'{a}'",
        "(" * 150 + "1" + ")" * 40,
        "-" * 100 + "1",
        "1+" * 150 + "1",
        "1" + " " * 250 + "+ 1",
        "1\n+ \x00",
        "a/0",
        "True",
    ],
)
def test_expressions_that_are_no_arithmetic(text):
    with pytest.raises(RobotError) as caught:
        gravity_of(text, a=1)
    assert caught.value.field == "gravity[2]"


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(RobotError, match="did you mean 'length'"):
        gravity_of("lenght", length=1)


# --- live parameters ---


def live_names(*patterns, **changes):
    return [p.name for p in load(serial_arm(live=list(patterns), **changes)).live_parameters]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("gravity", ["gravity_x", "gravity_y", "gravity_z"]),
        ("gravity.z", ["gravity_z"]),
        ("links.*.mass", ["upper_mass", "lower_mass"]),
        ("links.upper.com", ["upper_com_x", "upper_com_y", "upper_com_z"]),
        ("links.lower.inertia.x*", ["lower_inertia_xx", "lower_inertia_xy", "lower_inertia_xz"]),
        ("joints.j1.placement.xyz", ["j1_xyz_x", "j1_xyz_y", "j1_xyz_z"]),
        ("joints.*.friction.viscous", ["j1_viscous", "j2_viscous"]),
        ("joints.j1.motor", ["j1_motor_inertia", "j1_gear_ratio"]),
        ("tip.xyz.y", ["tip_xyz_y"]),
    ],
)
def test_names_of_live_parameters(pattern, names):
    assert live_names(pattern) == names


def test_live_values_and_places():
    joints = [
        {"name": "j1", "type": "revolute", "placement": {"xyz": [0.1, 0, 0.3]}},
        {"name": "j2", "type": "prismatic"},
    ]
    robot = load(serial_arm(joints=joints), live=["joints.j1.placement.xyz", "links.upper.inertia.xy"])
    z = robot.parameters["j1_xyz_z"]
    assert (z.value, z.unit, z.live) == (0.3, "m", True)
    assert robot.joints[0].before[2][3] == z.symbol
    inertia = robot.link("upper").body.inertia
    assert inertia[0][1] == inertia[1][0] == robot.parameters["upper_inertia_xy"].symbol
    assert inertia[0][0] == 0


def test_a_live_field_with_parameters_makes_these_live():
    robot = load("two_link", live=["links.*.mass"])
    live = [p.name for p in robot.live_parameters]
    assert live[:2] == ["m1", "m2"]
    assert "upper_mass" not in robot.parameters
    assert robot.link("upper").body.mass == robot.parameters["m1"].symbol


def test_live_twice_is_live_once():
    assert live_names("gravity", "gravity.x", "g*") == ["gravity_x", "gravity_y", "gravity_z"]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("joints.j1.axis", "unit length"),
        ("joints.j1.placement.rpy", "named parameter"),
        ("links.uper.mass", "did you mean 'links.upper.mass'"),
        ("links.base.mass", "a parameter's name"),
        ("", "a parameter's name"),
    ],
)
def test_paths_that_cannot_be_live(pattern, says):
    with pytest.raises(RobotError, match=says):
        live_names(pattern)


def test_a_live_name_that_a_parameter_has():
    with pytest.raises(RobotError, match="upper_mass is not taken"):
        live_names("links.upper.mass", parameters={"upper_mass": 3})
