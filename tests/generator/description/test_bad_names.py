"""Names and texts of a description that would reach the C: what is refused."""

import pytest
from descriptions import GOOD, changed

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError

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
