"""Bad robot descriptions: refused, or warned of, with the file, the field, the value, the expectation, the fix."""

import copy
import os
import re
import warnings
from dataclasses import replace

import pytest
import sympy

from elastogen.generator.errors import RobotError, RobotWarning
from elastogen.generator.load_robot import MAX_URDF_BYTES, MAX_YAML_BYTES, load
from elastogen.generator.robot import Body, Joint, JointType, Link, Parameter, Robot
from elastogen.generator.validate import validate

NAN, INF = float("nan"), float("inf")
GOOD = {
    "elastogen": 1,
    "name": "arm",
    "description": "an arm",
    "gravity": [0, 0, -9.81],
    "parameters": {"l1": {"value": 0.3, "unit": "m", "doc": "length"}},
    "live": ["gravity"],
    "links": [
        {"name": "base"},
        {"name": "upper", "mass": 2, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
        {"name": "lower", "mass": 1, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
    ],
    "joints": [
        {"name": "j1", "type": "revolute", "child": "upper", "axis": [0, 0, 1], "placement": {"xyz": [0, 0, "l1"]}},
        {"name": "j2", "type": "revolute", "child": "lower", "axis": [0, 1, 0], "placement": {"xyz": [0, 0, 0.5]}},
    ],
    "tip": {"link": "lower", "xyz": [0, 0, 0.2]},
    "payload": {"mass": 0},
}


def changed(*path_and_value):
    """The good arm with the value at a path replaced (or the key added)."""
    *path, last, value = path_and_value
    data = copy.deepcopy(GOOD)
    part = data
    for step in path:
        part = part[step]
    part[last] = value
    return data


def without(*path):
    *way, last = path
    data = copy.deepcopy(GOOD)
    part = data
    for step in way:
        part = part[step]
    del part[last]
    return data


def test_the_good_arm_is_good():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(GOOD).coordinate_names == ("j1", "j2")


WRONG = {
    # structure
    "unknown key": (changed("gravty", 1), "gravty", "did you mean 'gravity'"),
    "unknown key in a joint": (changed("joints", 0, "axes", [0, 0, 1]), "joints.j1.axes", "did you mean 'axis'"),
    "unknown key in a placement": (changed("joints", 1, "placement", "xzy", 1), "joints.j2.placement.xzy", "'xyz'"),
    "unknown inertia key": (changed("links", 1, "inertia", {"ixx": 1}), "links.upper.inertia", "xx, yy, zz"),
    "no format version": (without("elastogen"), "elastogen", "required key"),
    "future version": (changed("elastogen", 2), "elastogen", "1"),
    "no name": (without("name"), "name", "required key"),
    "no joints": (without("joints"), "joints", "required key"),
    "empty robot": (changed("joints", []), "joints", "at least one joint"),
    "only fixed joints": (
        changed("joints", [{**joint, "type": "fixed"} for joint in GOOD["joints"]]),
        "joints",
        "at least one joint that moves",
    ),
    "no joint type": (without("joints", 0, "type"), "joints.j1.type", "required key"),
    "unknown joint type": (changed("joints", 0, "type", "ball"), "joints.j1.type", "revolute"),
    "joints as mapping": (changed("joints", {"j1": {}}), "joints", "tuple|list"),
    "joint as text": (changed("joints", 0, "revolute"), "joints", "mapping with the keys name"),
    "two numbers": (changed("gravity", [0, -9.81]), "gravity", "three numbers"),
    "number for a vector": (changed("gravity", 9.81), "gravity", "three numbers"),
    "mass as list": (changed("links", 1, "mass", [1]), "links.upper.mass", "a number or an expression"),
    "mass as bool": (changed("links", 1, "mass", True), "links.upper.mass", "a number or an expression"),
    "mass as nothing": (changed("links", 1, "mass", None), "links.upper.mass", "a number or an expression"),
    "matrix and xyz": (
        changed("joints", 0, "placement", {"xyz": [0, 0, 0], "matrix": [[1, 0, 0, 0]] * 4}),
        "joints.j1.placement",
        "either matrix or xyz",
    ),
    "two conventions": (
        changed("joints", 0, "placement", {"dh": {}, "mdh": {}}),
        "joints.j1.placement",
        "either dh or mdh",
    ),
    "rpy twice": (
        changed("joints", 0, "placement", {"rpy": [0, 0, 0], "rpy_deg": [0, 0, 0]}),
        "joints.j1.placement",
        "either rpy or rpy_deg",
    ),
    "alpha twice": (
        changed("joints", 0, "placement", {"dh": {"alpha": 0, "alpha_deg": 0}}),
        "joints.j1.placement.dh",
        "either alpha or alpha_deg",
    ),
    "3x4 matrix": (changed("tip", {"matrix": [[1, 0, 0, 0]] * 3}), "tip.matrix", "four rows of four"),
    "axis beside dh": (
        changed("joints", 0, {"name": "j1", "type": "revolute", "axis": [0, 0, 1], "placement": {"dh": {}}}),
        "joints.j1.axis",
        "dh defines it",
    ),
    # tree
    "unknown parent": (changed("joints", 1, "parent", "uper"), "joints.j2.parent", "did you mean 'upper'"),
    "unknown child": (changed("joints", 1, "child", "lowr"), "joints.j2.child", "did you mean 'lower'"),
    "loop": (changed("joints", 0, "parent", "lower"), "joints", "loop"),
    "two parents": (changed("joints", 1, "child", "upper"), "joints.j2.child", "j1 carries it"),
    "two roots": (changed("links", [*GOOD["links"], {"name": "spare"}]), "links", "one base link"),
    "twice the joint name": (changed("joints", 1, "name", "j1"), "joints.j1", "occur once"),
    "twice the link name": (changed("links", [*GOOD["links"], {"name": "upper"}]), "links.upper", "occur once"),
    "unknown tip": (changed("tip", "link", "hand"), "tip.link", "name of a link"),
    # numbers
    "nan": (changed("links", 1, "mass", NAN), "links.upper.mass", "finite"),
    "infinite": (changed("gravity", 2, -INF), "gravity[2]", "finite"),
    "negative mass": (changed("links", 1, "mass", -2), "links.upper.mass", "zero or more"),
    "negative payload": (changed("payload", "mass", -2), "payload.mass", "zero or more"),
    "negative nominal mass": (changed("links", 1, "mass", "l1 - 1"), "links.upper.mass", "zero or more"),
    "root of negative parameter": (changed("links", 1, "mass", "sqrt(l1 - 1)"), "links.upper.mass", "finite real"),
    "zero axis": (changed("joints", 0, "axis", [0, 0, 0]), "joints.j1.axis", "zero vector"),
    "axis of a parameter": (changed("joints", 0, "axis", [0, "l1", 1]), "joints.j1.axis", "unit length"),
    "zero screw axis": (
        changed("joints", 0, {"name": "j1", "type": "revolute", "placement": {"screw": {"axis": [0, 0, 0]}}}),
        "joints.j1.placement.screw.axis",
        "zero vector",
    ),
    "sheared matrix": (
        changed("tip", {"matrix": [[1, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}),
        "tip.matrix",
        "orthonormal",
    ),
    "symbolic sheared matrix": (
        changed("tip", {"matrix": [[1, "l1", 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}),
        "tip",
        "right-handed rotation",
    ),
    "asymmetric inertia": (
        changed("links", 1, "inertia", [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        "links.upper.inertia",
        "symmetric",
    ),
    "negative moment": (changed("links", 1, "inertia", [1, 1, -0.1]), "links.upper.inertia", "principal moments"),
    "indefinite inertia": (
        changed("links", 1, "inertia", [1, 1, 1, 2, 0, 0]),
        "links.upper.inertia",
        "principal moments",
    ),
    "inertia about the wrong point": (
        changed(
            "links", 1, {"name": "upper", "mass": 2, "com": [1, 0, 0], "inertia": [1, 1, 1], "inertia_about": "frame"}
        ),
        "links.upper.inertia",
        "principal moments",
    ),
    "negative friction": (
        changed("joints", 0, "friction", {"viscous": -1}),
        "joints.j1.friction.viscous",
        "zero or more",
    ),
    "negative coulomb": (
        changed("joints", 0, "friction", {"coulomb": -1}),
        "joints.j1.friction.coulomb",
        "zero or more",
    ),
    "no smoothing": (
        changed("joints", 0, "friction", {"coulomb_velocity": 0}),
        "joints.j1.friction.coulomb_velocity",
        "above zero",
    ),
    "negative rotor": (changed("joints", 0, "motor", {"inertia": -1}), "joints.j1.motor.inertia", "zero or more"),
    "swapped limits": (changed("joints", 0, "limits", {"lower": 1, "upper": 0}), "joints.j1.limits.lower", "swap"),
    "negative speed limit": (
        changed("joints", 0, "limits", {"velocity": -1}),
        "joints.j1.limits.velocity",
        "magnitudes",
    ),
    "limit of a parameter": (changed("joints", 0, "limits", {"lower": "l1"}), "joints.j1.limits.lower", "parameters"),
    "parameter of a parameter": (changed("parameters", "l2", "2*l1"), "parameters.l2.value", "parameters"),
    "parameter without value": (changed("parameters", "l2", {"unit": "m"}), "parameters.l2.value", "required key"),
}


@pytest.mark.filterwarnings("ignore::elastogen.generator.errors.RobotWarning")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions_are_refused(case):
    data, field, says = WRONG[case]
    with pytest.raises(RobotError, match=says) as caught:
        load(data)
    assert caught.value.field.startswith(field)
    assert str(caught.value).startswith("python: ")
    assert caught.value.fix


SUSPICIOUS = {
    "millimetres": (changed("joints", 1, "placement", {"xyz": [0, 0, 500]}), "joints.j2.placement.xyz", "millimetres"),
    "com in millimetres": (changed("links", 1, "com", [0, 0, 250]), "links.upper.com", "millimetres"),
    "tip in millimetres": (changed("tip", "xyz", [0, 0, 120]), "tip.xyz", "millimetres"),
    "heavy": (changed("links", 1, "mass", 2e6), "links.upper.mass", "grams"),
    "inertia in kg mm^2": (changed("links", 1, "inertia", [1e5, 1e5, 1e5]), "links.upper.inertia", "kg mm"),
    "triangle inequality": (changed("links", 1, "inertia", [1, 1, 2.1]), "links.upper.inertia", "sum of the other two"),
    "inertia without mass": (changed("links", 1, "mass", 0), "links.upper.inertia", "a mass where there is inertia"),
    "nothing to carry": (changed("links", 2, {"name": "lower"}), "links", "moving joints j2"),
}


@pytest.mark.parametrize("case", SUSPICIOUS)
def test_suspicious_descriptions_warn(case):
    data, field, says = SUSPICIOUS[case]
    with pytest.warns(RobotWarning, match=says) as caught:
        load(data)
    assert [str(w.message) for w in caught if str(w.message).startswith(f"python: {field}: got ")]
    assert len(caught) == 1


def test_a_flat_body_and_published_moments_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(changed("links", 1, "inertia", [1, 1, 2]))
        load(changed("links", 1, {"name": "upper", "inertia": [0, 0, 1], "accept_unphysical_inertia": True}))
        load(changed("links", 0, {"name": "base", "inertia": [0, 0, 1]}))


def test_published_moments_may_not_be_negative():
    with pytest.raises(RobotError, match="principal moments"):
        load(changed("links", 1, {"name": "upper", "inertia": [-1, 0, 1], "accept_unphysical_inertia": True}))


# --- names and texts that would reach the C ---

NOT_A_ROBOT_NAME = [
    "", "1arm", "my arm", "my-arm", "_arm", "a__b", "int", "class", "restrict", "double", "math", "Stdio", "arm_t",
    "x" * 32, "ärm", "arm\n", "arm;", "arm*/", 'arm"', "${x}", "../arm", "arm\x00", "%s", "a/*b",
]  # fmt: skip
NOT_A_PARAMETER_NAME = [
    "", "1l", "l 1", "l-1", "_l", "for", "new", "lambda", "pi", "sin", "sqrt", "q", "qd", "qdd", "q1", "qd_2", "tau",
    "x" * 64, "l\n1", "l;1", "NULL", "j1",
]  # fmt: skip
NOT_A_NAME = ["", "a b", "1a", "a\nb", "a*/b", "a;b", 'a"b', "a\\b", "x" * 64, "-a", "a/b", "ä", "a\x00"]
NOT_A_TEXT = ["a */ int x; /*", "/* a", "bell \x07", "a\\", "null \x00", "\u202e backwards", "??/", "x" * 2001]


def refused(data, says=None):
    with pytest.raises(RobotError, match=says) as caught:
        load(data)
    assert "\n" not in str(caught.value)
    assert "\x00" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", NOT_A_ROBOT_NAME)
def test_robot_names(name):
    assert refused(changed("name", name)).field == "name"
    with pytest.raises(RobotError):
        load(GOOD, name=name)


@pytest.mark.parametrize("name", NOT_A_PARAMETER_NAME)
def test_parameter_names(name):
    assert refused(changed("parameters", name, 1)).field.startswith("parameters")


@pytest.mark.parametrize("name", NOT_A_NAME)
def test_joint_and_link_names(name):
    assert refused(changed("joints", 1, "name", name)).field == "joints[1].name"
    assert refused(changed("links", 2, "name", name)).field.endswith("name")
    refused(changed("joints", 1, "parent", name))
    refused(changed("tip", "link", name))


@pytest.mark.parametrize("text", NOT_A_TEXT)
def test_texts(text):
    assert refused(changed("description", text)).field == "description"
    assert refused(changed("parameters", "l1", "doc", text)).field == "parameters.l1.doc"
    assert refused(changed("parameters", "l1", "unit", text)).field == "parameters.l1.unit"


@pytest.mark.parametrize("path", [("live", 0), ("gravity", 0), ("links", 1, "mass"), ("links", 1, "inertia_about")])
def test_c_in_other_strings(path):
    refused(changed(*path, "*/ int main(void) { return 1; } /*"))


def test_c_as_a_key():
    refused(changed("*/ int x;\n", 1))
    refused(changed("joints", 0, "*/ int x;\x00", 1))


def test_line_breaks_in_a_description_become_spaces():
    assert load(changed("description", "two\n  lines\n")).description == "two lines"


# --- robots built in Python ---

ROBOT = Robot(
    name="arm",
    links=(Link("base"), Link("upper", Body(mass=1))),
    joints=(Joint("j1", JointType.REVOLUTE, "base", "upper"),),
    tip="upper",
)
JOINT = ROBOT.joints[0]
SHEAR = ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
BUILT_WRONG = {
    "no links": (replace(ROBOT, links=()), "links", "base link"),
    "links out of order": (replace(ROBOT, links=ROBOT.links[::-1]), "joints.j1.parent", "before this joint"),
    "missing link": (replace(ROBOT, links=ROBOT.links[:1]), "links", "base, then each joint's child"),
    "no tip": (replace(ROBOT, tip=""), "tip.link", "name of a link"),
    "long axis": (replace(ROBOT, joints=(replace(JOINT, axis=(0, 0, 2)),)), "joints.j1.axis", "length 1"),
    "text axis": (replace(ROBOT, joints=(replace(JOINT, axis=(0, 0, "1")),)), "joints.j1.axis.z", "an int, a float"),
    "type as text": (replace(ROBOT, joints=(replace(JOINT, type="revolute"),)), "joints.j1.type", "JointType"),
    "sheared": (replace(ROBOT, joints=(replace(JOINT, after=SHEAR),)), "joints.j1.placement", "right-handed"),
    "yes for a mass": (replace(ROBOT, payload=Body(mass=True)), "payload.mass", "an int, a float"),
    "foreign symbol": (replace(ROBOT, gravity=(0, 0, sympy.Symbol("g"))), "gravity.z", "not g"),
    "nan parameter": (replace(ROBOT, parameters={"a": Parameter("a", NAN)}), "parameters.a.value", "finite"),
    "two names": (replace(ROBOT, parameters={"a": Parameter("b", 1)}), "parameters.a", "stored under"),
    "c in a description": (replace(ROBOT, description="*/"), "description", "C comment"),
    "line break": (replace(ROBOT, description="a\nb"), "description", "control character"),
    "c in a name": (
        replace(ROBOT, joints=(replace(JOINT, name='"; x'),)),
        "joints",
        "letters, digits",
    ),
}


def test_the_built_robot_is_good():
    assert validate(ROBOT) is ROBOT


@pytest.mark.parametrize("case", BUILT_WRONG)
def test_wrong_robots_built_in_python(case):
    robot, field, says = BUILT_WRONG[case]
    with pytest.raises(RobotError, match=says) as caught:
        validate(robot)
    assert caught.value.field.startswith(field)


# --- files ---


def test_a_missing_file_suggests_a_built_in_robot(tmp_path):
    with pytest.raises(RobotError, match="did you mean 'puma560'"):
        load("puma56")
    (tmp_path / "robot.yaml").touch()
    with pytest.raises(RobotError, match=re.escape("did you mean 'robot.yaml'")):
        load(tmp_path / "robto.yaml")


def test_things_that_are_no_robot_file(tmp_path):
    with pytest.raises(RobotError, match="a directory"):
        load(tmp_path)
    (tmp_path / "robot.xacro").write_text("<robot/>")
    with pytest.raises(RobotError, match=r"xacro robot\.xacro"):
        load(tmp_path / "robot.xacro")
    with pytest.raises(RobotError, match="a built-in name, a path"):
        load(3)
    with pytest.raises(RobotError):
        load("null\x00byte.yaml")
    with pytest.raises(RobotError):
        load("x" * 5000)
    with pytest.raises(RobotError):
        load("")


def test_a_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "robot.yaml"
    os.mkfifo(pipe)
    with pytest.raises(RobotError, match="not a regular file"):
        load(pipe)


def loaded(tmp_path, content, suffix=".yaml"):
    path = tmp_path / f"robot{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load(path)


@pytest.mark.parametrize(("suffix", "limit"), [(".yaml", MAX_YAML_BYTES), (".urdf", MAX_URDF_BYTES)])
def test_huge_files(tmp_path, suffix, limit):
    with pytest.raises(RobotError, match="KiB"):
        loaded(tmp_path, b"#" * (limit + 1), suffix)


@pytest.mark.parametrize("suffix", [".yaml", ".urdf"])
def test_files_that_are_not_utf8(tmp_path, suffix):
    with pytest.raises(RobotError, match=f"robot{suffix}:2.*UTF-8"):
        loaded(tmp_path, b"# ok\nname: \xe9\xff\n", suffix)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a mapping with the keys"),
        ("- 1\n- 2\n", "a mapping with the keys"),
        ("just text", "a mapping with the keys"),
        ("name: a\nname: b\n", "robot.yaml:2: .*every key once"),
        ("a: [1, 2\nb: 3\n", "YAML 1.2"),
        ("a: b: c\n", "robot.yaml:1: .*YAML 1.2"),
        ("name: !!python/object/apply:os.system ['true']\n", "YAML 1.2"),
        ("a: &x [*x]\n", "anchor"),
        ("a: *nothing\n", "YAML 1.2"),
        ("a: 1\n---\na: 2\n", "YAML 1.2"),
        ("a: " + "[" * 25 + "]" * 25, "levels"),
        ("a: " + "[" * 200 + "]" * 200, "levels"),
        ("a: " + "[" * 20000, "levels|YAML"),
        ("a: \x00\n", "YAML 1.2"),
    ],
)
def test_broken_yaml(tmp_path, text, says):
    with pytest.raises(RobotError, match=says):
        loaded(tmp_path, text)


def test_an_alias_bomb(tmp_path):
    rows = ["a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(RobotError, match="aliases"):
        loaded(tmp_path, "\n".join(rows))


FILE = """elastogen: 1
name: arm
parameters:
  l1: 0.3
links:
  - {name: base}
  - name: upper
    mass: 1
    inertia: [1, 1, -1]
joints:
  - name: j1
    type: revolute
    axis: [0, 0, 1]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("", "", 9, "links.upper.inertia"),
        ("mass: 1", "mass: -1", 8, "links.upper.mass"),
        ("mass: 1", "mas: 1", 8, "links.upper.mas"),
        ("mass: 1", "mass: l2", 8, "links.upper.mass"),
        ("revolute", "round", 12, "joints.j1.type"),
        ("[0, 0, 1]", "[0, 0, 0]", 13, "joints.j1.axis"),
        ("    type: revolute\n", "", 11, "joints.j1.type"),
        ("l1: 0.3", "q1: 0.3", 4, "parameters.q1"),
        ("name: arm", "name: int", 2, "name"),
    ],
)
def test_errors_name_the_line(tmp_path, old, new, line, field):
    with pytest.raises(RobotError) as caught:
        loaded(tmp_path, FILE.replace(old, new))
    assert caught.value.source == f"{tmp_path / 'robot.yaml'}:{line}"
    assert caught.value.field == field


def test_a_message_reads_like_a_sentence(tmp_path):
    with pytest.raises(RobotError) as caught:
        loaded(tmp_path, FILE.replace("mass: 1", "mass: -1"))
    assert str(caught.value) == (
        f"{tmp_path / 'robot.yaml'}:8: links.upper.mass: got -1.0, expected zero or more. Fix: check the sign"
    )
