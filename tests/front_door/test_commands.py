"""Commands for beginners and for scripts: new, list, completion, JSON, quiet and verbose, the times of stages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pytest

import elastogen
from elastogen.command_line import group, main
from elastogen.commands import COMMANDS
from elastogen.commands.robots.new import KINDS
from elastogen.generator.description.load_robot import builtin_names
from elastogen.generator.stages import listening, stage

ONE = ["--outputs", "gravity_vector"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_builds_as_it_is(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_arm", "--kind", kind]) == 0
    assert "wrote my_arm.yaml" in capsys.readouterr().out
    assert main(["generate", "my_arm.yaml", "out", *ONE]) == 0
    assert (tmp_path / "out" / "my_arm.c").is_file()
    assert "warning" not in capsys.readouterr().err
    assert main(["new", "my_arm", "--kind", kind]) == 2  # nothing is overwritten
    assert "my_arm.yaml: got 'a file that exists'" in capsys.readouterr().err
    assert main(["new", "int", "other.yaml"]) == 2
    assert not (tmp_path / "other.yaml").exists()


def test_list_names_every_built_in_robot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == builtin_names()
    described = " ".join(elastogen.load("flexible_two_link").description.split())
    [line] = [line for line in lines if line.startswith("flexible_two_link")]
    shown = line.split(maxsplit=2)[2].removesuffix(" ...")
    assert described.startswith(shown)
    assert described[len(shown)] == " "  # it ends after a whole word
    assert len(line) <= 120
    assert main(["list", "--json"]) == 0
    found = {robot["name"]: robot["coordinates"] for robot in json.loads(capsys.readouterr().out)}
    assert found["puma560"] == 6


def test_check_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "par_table3", "--json"]) == 0
    robot = json.loads(capsys.readouterr().out)
    assert [c["name"] for c in robot["coordinates"]] == list(elastogen.load("par_table3").coordinate_names)
    assert sum(c["elastic"] for c in robot["coordinates"]) == 6
    assert [link["flexible"] for link in robot["links"]] == [False, False, True]


def test_generate_and_build_for_scripts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["generate", "two_link", str(tmp_path), *ONE, "--json"]) == 0
    files = json.loads(capsys.readouterr().out)
    assert all(Path(path).is_file() for path in files["files"])
    assert files["header"] == str(tmp_path / "two_link.h")
    assert main(["build", "two_link", *ONE, "--json"]) == 0
    model = json.loads(capsys.readouterr().out)
    assert [function["name"] for function in model["functions"]] == ["gravity_vector"]
    assert model["functions"][0]["c_seconds"] >= 0
    assert model["live_parameters"]["gravity_y"] == -9.81


def test_derive_simulate_and_run_for_scripts(capsys: pytest.CaptureFixture[str], arm, library, tmp_path: Path) -> None:
    """Results alone on stdout; readable text goes to stderr, and nowhere with --quiet."""
    assert main(["derive", "two_link", "gravity_vector", "--json", "-q"]) == 0
    derived = json.loads(capsys.readouterr().out)
    assert r"\begin{matrix}" in derived["latex"]["gravity_vector"]
    table = tmp_path / "a.csv"
    motion = ["simulate", "two_link", "--outputs", "simulation", "--q0", "0.3,0.1", "--seconds", "0.1", "--csv", str(table)]
    assert main([*motion, "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    direct = arm.simulate([0.3, 0.1], t=0.1)
    assert [found["last"][name] for name in arm.coordinate_names] == pytest.approx(direct.q[-1], rel=1e-12)
    assert (found["status"], found["units"]["elbow"], found["written"]) == ("OK", "rad", [str(table)])
    assert "energy balance" in printed.err
    assert main([*motion, "--json", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(
        ["run", "two_link", "--outputs", "simulation", "--seconds", "0.05", "--move-seconds", "0.03", "--json", "-q"]
    ) in (0, 2)
    ran = json.loads(capsys.readouterr().out)
    assert (ran["name"], ran["controller"], set(ran["largest_tracking_errors"])) == (
        "two_link",
        "computed_torque",
        {"shoulder", "elbow"},
    )
    assert ran["lateness"]["p50"] <= ran["lateness"]["worst"]


def test_warnings_are_lines(capsys: pytest.CaptureFixture[str], arm) -> None:
    """Of a simulation that passes a limit, in the words of the command line; none with --quiet."""
    fall = ["simulate", "two_link", "--outputs", "simulation", "--seconds", "0.2", "--qd0", "40,0", "--no-plot"]
    for more, expected in ((["--name", "two_link"], 1), (["--quiet"], 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(elastogen.Model, "simulate", warned_simulate(elastogen.Model.simulate))
            assert main([*fall, *more]) == 0
        lines = [line for line in capsys.readouterr().err.splitlines() if "passed" in line]
        assert lines == ["warning: elbow passed its limit. Fix: --stops end keeps it there."] * expected


def warned_simulate(simulate):
    def warned(self, *arguments, **options):
        warnings.warn("elbow passed its limit. Fix: stops='end' keeps it there.", elastogen.ModelWarning, stacklevel=2)
        return simulate(self, *arguments, **options)

    return warned


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "two_link", "r.txt"],
        ["animate", "two_link", "a.png"],
        ["play", "two_link", "p"],
        ["run", "two_link", "--animate", "x.md"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_endings_of_pages_are_refused_at_once(arguments: list[str], capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    if arguments[0] == "report":
        pytest.importorskip("plotly")
    monkeypatch.setattr(elastogen, "build_model", lambda *given, **options: pytest.fail("nothing is built for it"))
    assert main(arguments) == 2
    assert "expected a page ending in .html" in capsys.readouterr().err


def test_every_command_may_be_reported_to_be_quiet_or_verbose() -> None:
    listed = [group.get_command(click.Context(group), name) for name in COMMANDS]
    leaves = [
        leaf for command in listed for leaf in (command.commands.values() if isinstance(command, click.Group) else [command])
    ]
    assert len(leaves) > len(listed)
    for leaf in leaves:
        assert {"--quiet", "--verbose"} <= {option for parameter in leaf.params for option in parameter.opts}, leaf.name


def test_quiet_and_verbose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["generate", "two_link", str(tmp_path / "a"), *ONE, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["generate", "two_link", str(tmp_path / "b"), *ONE, "--verbose"]) == 0
    said = capsys.readouterr().err
    assert re.fullmatch(r"generating two_link \.\.\. done after \d+\.\d s \(deriving \d+\.\d s, rendering \d+\.\d s\)\n", said)


def test_stages_are_reported_to_those_who_listen() -> None:
    heard: list[tuple[str, str, bool]] = []
    with listening(lambda name, detail, seconds: heard.append((name, detail, seconds is None))):
        with stage("deriving", "M"):
            pass
        with pytest.raises(KeyError), stage("rendering"):
            raise KeyError
    with stage("compiling"):
        pass
    assert heard == [("deriving", "M", True), ("deriving", "M", False), ("rendering", "", True), ("rendering", "", False)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_ELASTOGEN_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "offered"), [("elastogen si", "simulate"), ("elastogen check pum", "puma560_geared"),
                                                ("elastogen build --pre", "--precision")])  # fmt: skip
def test_shells_complete_commands_robots_and_options(words: str, offered: str) -> None:
    given = {"_ELASTOGEN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    command = [sys.executable, "-m", "elastogen"]
    done = subprocess.run(command, env={**os.environ, **given}, capture_output=True, text=True, check=True)
    assert f"plain,{offered}" in done.stdout.split()


def test_exit_codes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["check", "two_link", "--quiet"]) == 0
    assert main(["check", "no_such_robot"]) == 2
    monkeypatch.setattr("elastogen.describe.describe", lambda robot: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["check", "two_link"]) == 130


@pytest.mark.parametrize("robot", ["five_bar", "delta"])
def test_simulations_of_mechanisms_start_closed(robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "motion.npz"
    assert main(["simulate", robot, "--seconds", "0.05", "--csv", str(table)]) == 0
    assert "from " in capsys.readouterr().out
    with np.load(table) as motion:
        gaps = elastogen.build_model(robot).loop_residual(motion["q"])
    assert np.abs(gaps).max() < 1e-9
