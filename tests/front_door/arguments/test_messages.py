"""Mistakes that people make, and the words that help them: each message names what to write instead."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import elastogen
from elastogen.command_line import main

ARM: dict[str, Any] = {
    "elastogen": 1,
    "name": "arm",
    "links": [{"name": "base"}, {"name": "link", "mass": 1.5, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.01]}],
    "joints": [{"name": "hinge", "type": "revolute"}],
}
HANGING = """
elastogen: 1
name: hanging
gravity: [0, 0, GRAVITY]
joints: [{name: a, type: revolute, child: b}]
links: [{name: b, mass: 1, inertia: [0.01, 0.01, 0.01]}]
"""


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"joints": [{"name": "hinge", "type": "revolute", "axis": "y"}]}, {}, "write [0, 1, 0]"),
        ({"joints": [{"name": "hinge", "type": "revolute", "axis": "-Z"}]}, {}, "write [0, 0, -1]"),
        ({"gravity": 9.81}, {}, "write [0, 0, -9.81]"),
        ({"tip": {"link": "wrist"}}, {}, "known are base, link"),
        ({}, {"tip": "wrist"}, "known are base, link"),
        ({}, {"lock": {"wrist": 1.0}}, "known are hinge"),
        ({"parameters": {"k": 2}}, {"live": ["zzzzzz"]}, "parameters are k; fields are gravity, payload, tip, links.*.mass"),
        ({}, {"live": ["masss"]}, "did you mean 'links.*.mass'? Else: parameters are none; fields are gravity"),
        ({}, {"live": ["inertias"]}, "did you mean 'links.*.inertia'?"),
        ({}, {"arguments": {"hand": "true"}}, "arguments for xacro files only"),
        ({"name": "3arm"}, {}, "name='arm3'"),
    ],
)
def test_a_robot_that_is_refused(changes: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(elastogen.RobotError) as caught:
        elastogen.load({**copy.deepcopy(ARM), **changes}, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(("written", "meant"), [("2,0", "2.0"), ("-2,05", "-2.05"), ("0, 5", "0.5")])
def test_a_decimal_comma_inside_braces(written: str, meant: str, tmp_path: Path) -> None:
    head = "elastogen: 1\nname: arm\njoints: [{name: a, type: revolute}]\nlinks:\n"
    (tmp_path / "arm.yaml").write_text(f"{head}  - {{name: b, mass: {written}, com: [0, 1, 0]}}\n")
    with pytest.raises(elastogen.RobotError, match=rf"arm.yaml:5: mass: got .* Fix: write mass: {meant}$"):
        elastogen.load(tmp_path / "arm.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("")
    with pytest.raises(elastogen.RobotError) as caught:
        elastogen.load(tmp_path / "nofile.yaml")
    assert "good" not in caught.value.fix
    with pytest.raises(elastogen.RobotError, match=r"did you mean 'good.yaml'\?"):
        elastogen.load(tmp_path / "goood.yaml")


@pytest.mark.parametrize(("gravity", "remarked"), [("9.81", True), ("-9.81", False)])
def test_gravity_that_points_up_is_remarked(
    gravity: str, remarked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hanging.yaml").write_text(HANGING.replace("GRAVITY", gravity))
    assert main(["check", str(tmp_path / "hanging.yaml")]) == 0
    assert ("right for a robot that hangs" in capsys.readouterr().out) is remarked


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["derive", "two_link", "mass_matix"], "did you mean 'mass_matrix'?"),
        (["size", "two_link", "--target", "stm32"], "cortex-m4f (STM32F4, nRF52)"),
        (["run", "two_link", "--rate", "0"], "--rate"),
        (["simulate", "two_link", "--q0", "1,2,3"], "--q0: got 3 numbers, expected 2"),
        (["simulate", "flexible_one_link", "--qd0", "1,2"], "--qd0: got 2 numbers, expected 5, or 1 of the joints"),
    ],
)
def test_a_command_that_is_refused(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elastogen, "build_model", lambda *_, **__: pytest.fail("built before the mistake was reported"))
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "two_link", "FILE/out"],
        ["export", "two_link", "FILE/out"],
        ["simulate", "two_link", "--csv", "FILE/x.csv"],
        ["simulate", "two_link", "--plot", "FILE/x.png"],
        ["animate", "two_link", "FILE/x.html"],
        ["derive", "two_link", "--latex", "FILE/x.tex"],
        ["run", "two_link", "--report", "FILE/report"],
    ],
)
def test_a_place_that_cannot_be_written_is_reported_at_once(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(elastogen, "load", lambda *_, **__: pytest.fail("loaded before the mistake was reported"))
    given = [word.replace("FILE", str(tmp_path / "file")) for word in arguments]
    assert main(given) == 2
    assert "expected a path below a folder" in capsys.readouterr().err


def test_folders_of_samples_are_made(arm: elastogen.Model, tmp_path: Path) -> None:
    arm.simulate([0.1, 0.2], t=0.01).save(tmp_path / "new" / "folder" / "samples.csv")
    assert (tmp_path / "new" / "folder" / "samples.csv").exists()
