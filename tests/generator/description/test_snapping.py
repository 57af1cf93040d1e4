"""Rounded right angles of files: taken as exact by default, literally on request, listed by ``elastogen check``."""

import numpy as np
import pytest
from plain_programs import PlainPrograms
from robots_for_tests import EXAMPLES, example_urdf, quietly_loaded, relative_error, urdf_in_pinocchio

import elastogen
from elastogen import command_line
from elastogen.snapped import describe_snapped

ROUNDED = {
    "elastogen": 1, "name": "rounded",
    "links": [{"name": "base"}, *({"name": name, "mass": 1, "com": [0.1, 0.2, 0], "inertia": [1, 1, 1]} for name in "ab")],
    "joints": [{"name": "first", "type": "revolute"},
               {"name": "second", "type": "revolute", "placement": {"xyz": [0.3, 0, 0], "rpy": [1.57079632679, 0, 0]}}],
}  # fmt: skip


@pytest.mark.parametrize("name", ["kinova", "ur5"])
def test_a_literal_file_agrees_with_pinocchio_to_rounding(name, monkeypatch):
    """Both files write pi/2 with eleven decimals: taken as exact, forces differ by 1e-12; literally, by rounding errors."""
    pinocchio = pytest.importorskip("pinocchio")
    monkeypatch.setitem(EXAMPLES, "kinova", "kinova_description/robots/kinova.urdf")
    path = example_urdf(name)
    errors = {}
    for snap in (True, False):
        robot = quietly_loaded(path, mimic="independent", snap=snap)
        theirs, ours = urdf_in_pinocchio(robot, path), PlainPrograms(robot)
        q, qd, qdd = np.random.default_rng(2).normal(size=(3, len(robot.coordinates)))
        data, at = theirs.model.createData(), theirs.configuration(q)
        expected = pinocchio.rnea(theirs.model, data, at, theirs.vector(qd), theirs.vector(qdd))[theirs.columns]
        errors[snap] = relative_error(ours("inverse_dynamics", q=q, qd=qd, qdd=qdd), expected)
    assert errors[False] < 1e-14
    assert errors[True] > 1e-13


def test_the_robot_file_says_it_too():
    snapped, literal, by_key = (
        elastogen.load(ROUNDED | key, **options) for key, options in (({}, {}), ({}, {"snap": False}), ({"snap": False}, {}))
    )
    assert [row[:3] for row in snapped.joints[1].before[:3]] == [(1, 0, 0), (0, 0, -1), (0, 1, 0)]
    assert literal.joints[1].before[1][1] == pytest.approx(4.8966e-12, rel=1e-4)
    assert by_key.joints == literal.joints
    with pytest.raises(elastogen.RobotError, match=r"snap: got 'perhaps'"):
        elastogen.load(ROUNDED | {"snap": "perhaps"})


def test_check_lists_what_was_snapped(tmp_path, capsys):
    snapped, literal = elastogen.load(ROUNDED), elastogen.load(ROUNDED, snap=False)
    lines = describe_snapped(snapped, literal).splitlines()
    assert lines[:2] == ["taken as exact 0, 1 or -1 (snap: false takes the file literally)", "  second  by up to 4.9e-12"]
    moved = [float(word) for word in lines[2].split() if "e-" in word]
    assert len(lines) == 3
    assert len(moved) == 2
    assert all(1e-13 < change < 1e-10 for change in moved)
    assert describe_snapped(literal, literal) == ""
    path = tmp_path / "rounded.yaml"
    path.write_text(repr(ROUNDED).replace("'", '"'))
    assert command_line.main(["check", str(path)]) == 0
    assert "by up to 4.9e-12" in capsys.readouterr().out
    assert command_line.main(["check", str(path), "--no-snap"]) == 0
    assert "by up to" not in capsys.readouterr().out


def test_rounding_errors_of_our_own_are_not_listed():
    robot = {
        **ROUNDED,
        "joints": [ROUNDED["joints"][0], {"name": "second", "type": "revolute", "placement": {"rpy_deg": [90, 0, 0]}}],
    }
    snapped, literal = elastogen.load(robot), elastogen.load(robot, snap=False)
    assert snapped.joints == literal.joints
    assert describe_snapped(snapped, literal) == ""
