"""Loading robots: built-ins against published numbers, the file format, expressions, live parameters."""

import json
import warnings
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
import sympy
from plain_kinematics import frames, mass_matrix, numeric
from ruamel.yaml import YAML

from elastogen.generator import robot_file
from elastogen.generator.errors import RobotError
from elastogen.generator.load_robot import builtin_names, load
from elastogen.generator.robot import Actuation, Body, Joint, JointType, Link, Robot
from elastogen.generator.validate import validate

# One sample of the independent inverse dynamics that the PUMA data were checked with.
PUMA_Q = [0.547847, -0.920853, -1.836106, -1.933889, 1.253081, 1.651022]
PUMA_GRAVITY = [
    3.4007460695206923e-16,
    26.392267928426435,
    3.044635179149785,
    0.009413877037437821,
    0.023701628028579686,
    0.0,
]
PUMA_M = [
    [
        2.3459502639231884,
        0.663223006705941,
        0.12884184877750293,
        -0.0009325181182209888,
        0.0003669690432389419,
        -1.664671722584545e-05,
    ],
    [
        0.6632230067059398,
        2.8455796229940518,
        0.7286637409788499,
        0.002226091944295452,
        -0.00024498514922733153,
        -3.5520700501705435e-05,
    ],
    [
        0.12884184877750124,
        0.728663740978849,
        0.35986186096364925,
        0.0011604063947067457,
        -0.0004215915063905465,
        -3.5520700501705435e-05,
    ],
    [
        -0.0009325181182191875,
        0.0022260919442942395,
        0.0011604063947063814,
        0.001822430818241235,
        0.0,
        1.2495881952063811e-05,
    ],
    [
        0.00036696904324179765,
        -0.0002449851492265509,
        -0.0004215915063907616,
        0.0,
        0.0006421600000000027,
        2.4492935982947065e-21,
    ],
    [
        -1.6646717224758093e-05,
        -3.5520700500057956e-05,
        -3.552070050183431e-05,
        1.2495881952064719e-05,
        0.0,
        4e-05,
    ],
]

# Lengths, coordinates and T60 of the TRTRR robot from products of the paper's matrices (1)-(3).
TRTRR = [
    (
        [0.325, 0.306, 0.801, 1.137, 0.264, 0.875, 1.076],
        [0.5982, 0.3449, -1.3327, -1.2039, 0.7134],
        [
            [0.33759476872092054, -0.830534039335411, -0.44299320721369334, -1.2125867787303428],
            [0.12128417197157787, 0.5050801080931551, -0.8545081825458288, 1.431214568405888],
            [0.9334451894789736, 0.23474942793074682, 0.2712430355322514, 2.2827903844534836],
            [0.0, 0.0, 0.0, 1.0],
        ],
    ),
    (
        [0.274, 0.201, 0.983, 0.141, 0.294, 0.305, 1.076],
        [1.3292, -1.4772, 1.0818, -1.0505, 0.397],
        [
            [0.0464623162818044, 0.8868339323935152, -0.4597464839682666, 2.7680594028206102],
            [-0.4949613343140312, 0.4202107995684188, 0.7605499072777171, 0.622411759643024],
            [0.8676719026796957, 0.1922198228110833, 0.4584724735670314, 2.9940285293447255],
            [0.0, 0.0, 0.0, 1.0],
        ],
    ),
]

RIGID = ["puma560", "puma560_geared", "scara", "stanford", "trtrr", "two_link"]
BUILT_IN = sorted([*RIGID, "par_experiment", "par_table3", "rpb_table3"])


def by_joint(robot, q):
    return dict(zip(robot.coordinate_names, q, strict=True))


def arm(**changes):
    """A small serial arm as a mapping."""
    return {
        "elastogen": 1,
        "name": "arm",
        "links": [{"name": "base"}, {"name": "upper", "mass": 2}, {"name": "lower", "mass": 1}],
        "joints": [{"name": "j1", "type": "revolute"}, {"name": "j2", "type": "prismatic"}],
        **changes,
    }


# --- built-in robots ---


def test_the_built_in_robots():
    assert builtin_names() == BUILT_IN


@pytest.mark.parametrize("name", RIGID)
def test_built_in_robots_load_without_a_warning_and_have_live_gravity_and_payload(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = load(name)
    live = [p.name for p in robot.live_parameters]
    assert robot.name == name
    assert {
        "gravity_x",
        "gravity_y",
        "gravity_z",
        "payload_mass",
        "payload_com_x",
        "payload_inertia_yz",
    } <= set(live)
    assert all(p.unit for p in robot.live_parameters)
    assert robot.gravity == tuple(robot.parameters[f"gravity_{axis}"].symbol for axis in "xyz")
    assert robot.payload.mass == robot.parameters["payload_mass"].symbol
    assert np.all(np.linalg.eigvalsh(mass_matrix(robot, by_joint(robot, [0.3] * len(robot.moving_joints)))) > 0)


def test_a_loaded_robot_passes_again_without_a_warning_but_not_without_a_check():
    robot = load("puma560")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(robot) == robot
    with pytest.raises(RobotError, match=r"puma560\.yaml: tip"):
        load(replace(robot, tip="nowhere"))


def test_puma_mass_matrix():
    robot = load("puma560")
    np.testing.assert_allclose(mass_matrix(robot, by_joint(robot, PUMA_Q)), PUMA_M, atol=1e-13)
    assert all(joint.actuation == Actuation() for joint in robot.joints)


def test_puma_gravity_torques():
    robot = load("puma560")

    def potential(q):
        placed = frames(robot, by_joint(robot, q))
        heights = [
            float(numeric(robot, link.body.mass)) * (placed[link.name] @ [*numeric(robot, link.body.com), 1])[2]
            for link in robot.links
        ]
        return 9.81 * sum(heights)

    step = 1e-5 * np.eye(6)
    slope = [(potential(PUMA_Q + h) - potential(PUMA_Q - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(slope, PUMA_GRAVITY, atol=1e-7)


def test_geared_puma_has_the_same_body_and_joint_side_friction():
    plain, geared = load("puma560"), load("puma560_geared")
    assert geared.links == plain.links
    assert [joint.before for joint in geared.joints] == [joint.before for joint in plain.joints]
    drive = geared.joints[0].actuation
    assert drive.motor_inertia == 2e-4
    assert drive.gear_ratio == -62.6111
    np.testing.assert_allclose(drive.viscous, 0.00148 * 62.6111**2, rtol=1e-15)
    np.testing.assert_allclose(drive.coulomb, 62.6111 * (0.395 + 0.435) / 2, rtol=1e-15)


@pytest.mark.parametrize(("lengths", "q", "expected"), TRTRR)
def test_trtrr_tip_frame(lengths, q, expected):
    robot = load("trtrr")
    values = {f"l{i + 1}": length for i, length in enumerate(lengths)}
    assert set(values) <= {p.name for p in robot.live_parameters}
    np.testing.assert_allclose(frames(robot, by_joint(robot, q), values)["<tip>"], expected, atol=1e-14)


def test_trtrr_is_symbolic_in_its_lengths():
    robot = load("trtrr")
    l3, l4 = (robot.parameters[name].symbol for name in ("l3", "l4"))
    assert robot.joints[2].before == ((1, 0, 0, 0), (0, 1, 0, l4), (0, 0, 1, l3), (0, 0, 0, 1))


def test_two_link_mass_matrix_is_the_textbook_one():
    robot = load("two_link")
    q2 = 0.7
    l1, lc1, lc2, m1, m2, i1, i2 = (robot.parameters[n].value for n in ("l1", "lc1", "lc2", "m1", "m2", "I1", "I2"))
    coupling = m2 * (lc2**2 + l1 * lc2 * np.cos(q2)) + i2
    first = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q2)) + i1 + i2
    expected = [[first, coupling], [coupling, m2 * lc2**2 + i2]]
    np.testing.assert_allclose(mass_matrix(robot, by_joint(robot, [0.4, q2])), expected, atol=1e-15)
    assert robot.link("upper").body.mass == robot.parameters["m1"].symbol
    assert not robot.parameters["m1"].live


def test_stanford_hand_stands_where_the_closed_form_puts_it():
    robot = load("stanford")
    q1, q2, d3 = 0.3, 0.8, 0.5
    placed = frames(robot, by_joint(robot, [q1, q2, d3, 0, 0, 0]))
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    expected = [
        c1 * s2 * d3 - s1 * 0.154,
        s1 * s2 * d3 + c1 * 0.154,
        0.412 + c2 * d3,
    ]
    np.testing.assert_allclose(placed["boom"][:3, 3], expected, atol=1e-14)


def test_stanford_inertias_are_about_the_frame():
    boom = load("stanford").link("boom").body
    np.testing.assert_allclose(boom.inertia[0][0], 2.51 - 4.25 * 0.6447**2, rtol=1e-14)
    assert boom.inertia[2][2] == 0.006


def test_scara_reaches_down():
    robot = load("scara")
    placed = frames(robot, by_joint(robot, [0.4, -0.9, 0.1, 0.2]))
    expected = [
        0.325 * np.cos(0.4) + 0.275 * np.cos(-0.5),
        0.325 * np.sin(0.4) + 0.275 * np.sin(-0.5),
        0.387 - 0.1,
    ]
    np.testing.assert_allclose(placed["<tip>"][:3, 3], expected, atol=1e-14)


# --- sources ---


def test_yaml_mapping_and_dataclasses_give_the_same_robot(tmp_path):
    path = tmp_path / "arm.yml"
    with path.open("w") as stream:
        YAML(typ="safe", pure=True).dump(arm(), stream)
    from_file, from_mapping = load(path), load(arm())
    assert (from_file.source, from_mapping.source) == ("arm.yml", "python")
    by_hand = Robot(
        name="arm",
        links=(Link("base"), Link("upper", Body(mass=2)), Link("lower", Body(mass=1))),
        joints=(
            Joint("j1", JointType.REVOLUTE, "base", "upper"),
            Joint("j2", JointType.PRISMATIC, "upper", "lower"),
        ),
        tip="lower",
    )
    assert validate(by_hand) is by_hand
    assert replace(from_file, source="") == replace(from_mapping, source="") == load(by_hand)
    assert load(str(path), name="other").name == "other"


@pytest.mark.filterwarnings("ignore::elastogen.generator.errors.RobotWarning")
def test_numpy_values_are_taken_from_python():
    robot = load(
        arm(
            gravity=np.array([0, 0, -1.5]),
            joints=[{"name": "j", "type": "revolute", "limits": {"lower": np.float64(-1)}}],
            links=[],
        )
    )
    assert robot.gravity == (0, 0, -1.5)
    assert type(robot.gravity[2]) is float
    assert robot.joints[0].limits.lower == -1


def test_a_byte_order_mark_is_no_problem(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(
        b"\xef\xbb\xbfelastogen: 1\nname: arm\njoints: [{name: j, type: revolute}]\n"
        b"links: [{name: b}, {name: l, mass: 1}]\n"
    )
    assert load(path).name == "arm"


# --- structure ---


def test_links_may_be_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(
            {
                "elastogen": 1,
                "name": "k",
                "joints": [{"name": "a", "type": "revolute"}, {"name": "b", "type": "fixed"}],
            }
        )
    assert [link.name for link in robot.links] == ["base", "link1", "link2"]
    assert [(joint.parent, joint.child) for joint in robot.joints] == [("base", "link1"), ("link1", "link2")]


def test_listed_links_without_a_base():
    robot = load(arm(links=[{"name": "upper", "mass": 2}, {"name": "lower", "mass": 1}]))
    assert [link.name for link in robot.links] == ["base", "upper", "lower"]


def test_a_tree_is_ordered_depth_first_in_the_order_of_the_file():
    names = ["trunk", "r1", "l1", "r2", "l2", "r3"]
    edges = [
        ("jr1", "trunk", "r1"),
        ("jl1", "trunk", "l1"),
        ("jr2", "r1", "r2"),
        ("jl2", "l1", "l2"),
        ("jr3", "r1", "r3"),
    ]
    robot = load(
        arm(
            links=[{"name": name, "mass": 1} for name in names],
            joints=[{"name": n, "type": "revolute", "parent": p, "child": c} for n, p, c in edges],
        )
    )
    assert robot.coordinate_names == ("jr1", "jr2", "jr3", "jl1", "jl2")
    assert [link.name for link in robot.links] == ["trunk", "r1", "r2", "r3", "l1", "l2"]
    assert robot.tip == "r2"


@pytest.mark.parametrize(
    "form",
    [
        {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1, "xz": 0.2, "yz": 0.3},
        [1, 2, 2.5, 0.1, 0.2, 0.3],
        [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]],
    ],
)
def test_forms_of_an_inertia(form):
    robot = load(
        arm(
            links=[
                {"name": "base"},
                {"name": "upper", "mass": 2, "inertia": form},
                {"name": "lower", "mass": 1},
            ]
        )
    )
    assert robot.link("upper").body.inertia == ((1, 0.1, 0.2), (0.1, 2, 0.3), (0.2, 0.3, 2.5))


def test_inertia_about_the_frame_is_moved():
    com, mass, about_com = np.array([0.3, -0.2, 0.1]), 2.0, np.diag([0.1, 0.2, 0.25])
    about_frame = about_com + mass * (com @ com * np.eye(3) - np.outer(com, com))
    upper = {
        "name": "upper",
        "mass": mass,
        "com": com.tolist(),
        "inertia": about_frame.tolist(),
        "inertia_about": "frame",
    }
    robot = load(arm(links=[{"name": "base"}, upper, {"name": "lower", "mass": 1}]))
    np.testing.assert_allclose(numeric(robot, robot.link("upper").body.inertia), about_com, atol=1e-15)


def placed_arm(placement, kind="revolute"):
    joints = [{"name": "j1", "type": kind, "placement": placement}, {"name": "j2", "type": "revolute"}]
    return load(arm(joints=joints))


def test_placements_that_mean_the_same():
    rows = [[0, 0, 1, 0.1], [0, 1, 0, 0.2], [-1, 0, 0, 0.3], [0, 0, 0, 1]]
    by_matrix = placed_arm({"matrix": rows}).joints[0]
    assert by_matrix == placed_arm({"xyz": [0.1, 0.2, 0.3], "rpy": [0, "pi/2", 0]}).joints[0]
    assert by_matrix == placed_arm({"xyz": [0.1, 0.2, 0.3], "rpy_deg": [0, 90, 0]}).joints[0]
    table = placed_arm({"mdh": {"a": 0.4, "alpha": "pi/2", "d": 0.2, "theta": "-pi"}}).joints[0]
    assert table == placed_arm({"mdh": {"a": 0.4, "alpha_deg": 90, "d": 0.2, "theta_deg": -180}}).joints[0]


def test_screw_axes_of_a_chain_are_in_the_base_frame():
    joints = [
        {"name": "j1", "type": "revolute", "placement": {"screw": {"axis": [0, 0, 2], "point": [0, 0, 0.5]}}},
        {"name": "j2", "type": "revolute", "placement": {"screw": {"axis": [0, 1, 0], "point": [1, 0, 0.5]}}},
    ]
    robot = load(arm(joints=joints, tip={"xyz": [1, 0, 0]}))
    assert [row[3] for row in robot.joints[1].before] == [1, 0, 0, 1]
    tip = frames(robot, {"j1": np.pi / 2, "j2": -np.pi / 2})["<tip>"]
    np.testing.assert_allclose(tip[:3, 3], [0, 1, 1.5], atol=1e-15)


# --- expressions ---


def gravity_of(text, **parameters):
    return load(arm(gravity=[0, 0, text], parameters=parameters)).gravity[2]


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
    return [p.name for p in load(arm(live=list(patterns), **changes)).live_parameters]


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
    robot = load(arm(joints=joints), live=["joints.j1.placement.xyz", "links.upper.inertia.xy"])
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


# --- the published schema ---


def published():
    return json.loads((resources.files("elastogen.generator") / "robot.schema.json").read_text(encoding="utf-8"))


def test_the_published_schema_is_current():
    hint = "run: python -m elastogen.generator.robot_file > generator/robot.schema.json"
    assert published() == json.loads(robot_file.json_schema()), hint


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_schema_accepts_the_built_in_robots(name):
    text = (resources.files("elastogen.generator") / "robots" / f"{name}.yaml").read_text(encoding="utf-8")
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), published())


@pytest.mark.parametrize(
    "change",
    [{"extra": 1}, {"gravity": [0, 0]}, {"elastogen": 2}, {"joints": [{"name": "a b", "type": "fixed"}]}],
)
def test_the_schema_refuses_what_loading_refuses(change):
    jsonschema.validate(arm(), published())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(arm(**change), published())
    with pytest.raises(RobotError):
        load(arm(**change))
