"""Robot files that cannot be read: missing, huge, broken; the line of a mistake is named."""

import os
import re

import pytest

from elastogen.generator.description.files import MAX_XML_BYTES, MAX_YAML_BYTES
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError


def test_a_missing_file_suggests_a_built_in_robot(tmp_path):
    with pytest.raises(RobotError, match="did you mean 'puma560'"):
        load("puma56")
    (tmp_path / "robot.yaml").touch()
    with pytest.raises(RobotError, match=re.escape("did you mean 'robot.yaml'")):
        load(tmp_path / "robto.yaml")


def test_things_that_are_no_robot_file(tmp_path):
    with pytest.raises(RobotError, match="a directory"):
        load(tmp_path)
    with pytest.raises(RobotError, match="a built-in name, a path"):
        load(3)
    with pytest.raises(RobotError):
        load("null\x00byte.yaml")
    with pytest.raises(RobotError):
        load("x" * 5000)
    with pytest.raises(RobotError):
        load("")


def test_a_xacro_file_without_a_name(tmp_path):
    pytest.importorskip("xacro")
    (tmp_path / "robot.xacro").write_text("<robot/>")
    with pytest.raises(RobotError, match=r"robot\.xacro: robot\.name"):
        load(tmp_path / "robot.xacro", allow_xacro=True)


def test_a_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "robot.yaml"
    os.mkfifo(pipe)
    with pytest.raises(RobotError, match="not a regular file"):
        load(pipe)


def loaded(tmp_path, content, suffix=".yaml"):
    path = tmp_path / f"robot{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load(path)


@pytest.mark.parametrize(("suffix", "limit"), [(".yaml", MAX_YAML_BYTES), (".urdf", MAX_XML_BYTES)])
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
        ('name: a\n"\\ud800": 1\n', "robot.yaml:2: .*half of one"),
    ],
)
def test_broken_yaml(tmp_path, text, says):
    with pytest.raises(RobotError, match=says):
        loaded(tmp_path, text)


def test_half_a_character_as_a_key_in_python():
    with pytest.raises(RobotError, match="half of one"):
        load({"elastogen": 1, "name": "arm", "\ud800": 1, "links": [{"name": "base"}], "joints": []})


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
