"""The built-in robots against published numbers and closed forms."""

import warnings
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
from descriptions import published_schema
from plain_kinematics import frames, mass_matrix, numeric
from robots_for_tests import difference_quotient
from ruamel.yaml import YAML

from elastogen.generator.description.files import builtin_names
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Actuation

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
FLEXIBLE = [
    "flexible_one_link",
    "flexible_six_joint",
    "flexible_two_link",
    "par_experiment",
    "par_table3",
    "rpb_table3",
    "satellite",
]
MECHANISMS = ["four_bar", "five_bar", "slider_crank", "delta", "six_leg_platform"]  # with loops
BUILT_IN = sorted([*RIGID, *FLEXIBLE, *MECHANISMS])


def by_joint(robot, q):
    return dict(zip(robot.coordinate_names, q, strict=True))


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

    slope = [difference_quotient(lambda s, e=e: potential(PUMA_Q + s * e)) for e in np.eye(6)]
    np.testing.assert_allclose(slope, PUMA_GRAVITY, atol=1e-11)


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


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_schema_accepts_the_built_in_robots(name):
    text = (resources.files("elastogen.generator.description") / "robots" / f"{name}.yaml").read_text(encoding="utf-8")
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), published_schema())
