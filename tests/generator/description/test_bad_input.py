"""Bad robot descriptions: refused, or warned of, with the file, the field, the value, the expectation, the fix."""

import warnings
from dataclasses import replace

import pytest
import sympy
from descriptions import GOOD, changed, without

from elastogen.generator.description.load_robot import load
from elastogen.generator.description.validate import validate
from elastogen.generator.joints import kinds
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.robot import Body, Joint, Link, Parameter, Robot

NAN, INF = float("nan"), float("inf")


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
        changed("links", 1, {"name": "upper", "mass": 2, "com": [1, 0, 0], "inertia": [1, 1, 1], "inertia_about": "frame"}),
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


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
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


# --- robots built in Python ---

ROBOT = Robot(
    name="arm",
    links=(Link("base"), Link("upper", Body(mass=1))),
    joints=(Joint("j1", kinds.REVOLUTE, "base", "upper"),),
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
    "type as text": (replace(ROBOT, joints=(replace(JOINT, type="revolute"),)), "joints.j1.type", "a kind of joint"),
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
