"""Loading robots: files, mappings and dataclasses, the structure of a description, the published schema."""

import json
import warnings
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from descriptions import published_schema, serial_arm
from plain_kinematics import frames, numeric
from ruamel.yaml import YAML

from elastogen.generator.description.file import schema
from elastogen.generator.description.load_robot import load
from elastogen.generator.description.validate import validate
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.robot import Body, Joint, Link, Robot

# --- sources ---


def test_yaml_mapping_and_dataclasses_give_the_same_robot(tmp_path):
    path = tmp_path / "arm.yml"
    with path.open("w") as stream:
        YAML(typ="safe", pure=True).dump(serial_arm(), stream)
    from_file, from_mapping = load(path), load(serial_arm())
    assert (from_file.source, from_mapping.source) == ("arm.yml", "python")
    by_hand = Robot(
        name="arm",
        links=(Link("base"), Link("upper", Body(mass=2)), Link("lower", Body(mass=1))),
        joints=(
            Joint("j1", kinds.REVOLUTE, "base", "upper"),
            Joint("j2", kinds.PRISMATIC, "upper", "lower"),
        ),
        tip="lower",
    )
    assert validate(by_hand) is by_hand
    assert replace(from_file, source="") == replace(from_mapping, source="") == load(by_hand)
    assert load(str(path), name="other").name == "other"


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
def test_numpy_values_are_taken_from_python():
    robot = load(
        serial_arm(
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
        b"\xef\xbb\xbfelastogen: 1\nname: arm\njoints: [{name: j, type: revolute}]\nlinks: [{name: b}, {name: l, mass: 1}]\n"
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
    robot = load(serial_arm(links=[{"name": "upper", "mass": 2}, {"name": "lower", "mass": 1}]))
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
        serial_arm(
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
        serial_arm(
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
    robot = load(serial_arm(links=[{"name": "base"}, upper, {"name": "lower", "mass": 1}]))
    np.testing.assert_allclose(numeric(robot, robot.link("upper").body.inertia), about_com, atol=1e-15)


def placed_arm(placement, kind="revolute"):
    joints = [{"name": "j1", "type": kind, "placement": placement}, {"name": "j2", "type": "revolute"}]
    return load(serial_arm(joints=joints))


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
    robot = load(serial_arm(joints=joints, tip={"xyz": [1, 0, 0]}))
    assert [row[3] for row in robot.joints[1].before] == [1, 0, 0, 1]
    tip = frames(robot, {"j1": np.pi / 2, "j2": -np.pi / 2})["<tip>"]
    np.testing.assert_allclose(tip[:3, 3], [0, 1, 1.5], atol=1e-15)


# --- the published schema ---


def test_the_published_schema_is_current():
    hint = "run: python -m elastogen.generator.description.file.schema > generator/description/robot.schema.json"
    assert published_schema() == json.loads(schema.json_schema()), hint


@pytest.mark.parametrize(
    "change",
    [{"extra": 1}, {"gravity": [0, 0]}, {"elastogen": 2}, {"joints": [{"name": "a b", "type": "fixed"}]}],
)
def test_the_schema_refuses_what_loading_refuses(change):
    jsonschema.validate(serial_arm(), published_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(serial_arm(**change), published_schema())
    with pytest.raises(RobotError):
        load(serial_arm(**change))
