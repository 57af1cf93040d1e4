"""The command line: every command, its help, and one readable message for every mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elastogen
from elastogen import command_line, demo
from elastogen.commands import COMMANDS
from elastogen.commands.shared.option_choices import as_options


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command_line.main(arguments) == 2
    message = capsys.readouterr().err.strip()
    assert "Traceback" not in message
    assert message.splitlines()[-1].startswith("elastogen: ")
    return message


def test_check_says_what_the_robot_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", "scara"]) == 0
    text = capsys.readouterr().out
    for word in ("scara: 4 coordinates", "slide", "prismatic", "[0, 0.21] m", "payload_mass = 0 kg", "15.3 kg"):
        assert word in text


def test_check_shows_warnings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    robot = tmp_path / "giant.yaml"
    robot.write_text(
        "elastogen: 1\nname: giant\nlinks: [{name: base}, {name: a, mass: 1, com: [0, 500, 0], inertia: [1, 1, 1]}]\n"
        "joints: [{name: j, type: revolute, child: a, axis: [0, 0, 1]}]\n"
    )
    assert command_line.main(["check", str(robot)]) == 0
    output = capsys.readouterr()
    assert output.err.startswith("warning: ")
    assert "500" in output.err
    assert "no live parameters" in output.out


def test_derive_prints_and_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command_line.main(["derive", "two_link", "mass_matrix"]) == 0
    printed = capsys.readouterr().out
    assert "M = " in printed
    target = tmp_path / "arm.tex"
    assert command_line.main(["derive", "two_link", "mass_matrix", "--latex", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("\\documentclass")
    assert text.rstrip().endswith("\\end{document}")
    assert printed.strip() in text


def test_generate_writes_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "out"
    arguments = ["generate", "two_link", str(target), "--precision", "float", "--outputs", "mass_matrix,jacobian"]
    assert command_line.main(arguments) == 0
    assert str(target / "two_link.h") in capsys.readouterr().out
    header = (target / "two_link.h").read_text()
    assert "typedef float two_link_real_t;" in header
    assert "two_link_jacobian(" in header
    assert "inverse_dynamics" not in header


def test_names_and_live_parameters(tmp_path: Path) -> None:
    arguments = ["generate", "two_link", str(tmp_path), "--name", "leg", "--live", "l1,m2", "--outputs", "mass_matrix"]
    assert command_line.main(arguments) == 0
    header = (tmp_path / "leg.h").read_text()
    assert "leg_real_t l1;" in header
    assert "leg_real_t m2;" in header


@pytest.mark.parametrize("command", ["build", "bench"])
def test_build_and_bench_print_a_table(capsys: pytest.CaptureFixture[str], cache_dir: Path, command: str) -> None:
    options = ["--seconds", "0.001"] if command == "bench" else []
    assert command_line.main([command, "two_link", "--outputs", "mass_matrix,forward_dynamics", *options]) == 0
    output = capsys.readouterr()
    row = next(line for line in output.out.splitlines() if line.startswith("mass_matrix"))
    assert row.split()[-1] == "us"
    assert "function" in output.out
    assert "two_link.c" in output.out
    assert str(cache_dir) in output.out
    assert "building two_link ... done after" in output.err


def test_unknown_robots_get_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert "puma560" in fails(capsys, "check", "pumma560")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["generate", "two_link", "{tmp}", "--outputs", "mass_matrx"], "mass_matrix"),
        (["derive", "two_link", "mass_matrx"], "mass_matrix"),
        (["derive", "two_link", "mass_matrix", "--latex", "{tmp}/no/such/folder.tex"], "No such file"),
        (["build", "two_link", "--compiler", "no-such-compiler"], "no-such-compiler"),
        (["check", "{tmp}"], "directory"),
        (["check", "two_link", "--live", "nothing"], "nothing"),
        (["check", "two_link", "--tip", "nothing"], "nothing"),
        (["check", "two_link", "--name", "int"], "int"),
    ],
)
def test_mistakes_get_one_message(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in fails(capsys, *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))


@pytest.mark.parametrize("arguments", [[], ["fly"], ["generate", "two_link"], ["bench", "two_link", "--seconds", "-1"],
                                       ["build", "two_link", "--outputs", ","]])  # fmt: skip
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert command_line.main(arguments) == 2
    assert "Usage: elastogen" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert command_line.main([command, "--help"]) == 0
    assert f"Usage: elastogen {command}" in capsys.readouterr().out


def test_commands_that_are_nearly_right_get_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["simulat", "two_link"]) == 2
    assert "Did you mean 'simulate'?" in capsys.readouterr().err


def test_the_installed_command_starts() -> None:
    script = Path(sys.executable).with_name("elastogen")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "elastogen"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"elastogen {elastogen.__version__}"


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    code = "import sys; from elastogen.command_line import main; sys.exit(main(['check', 'scara']))"
    done = subprocess.run([sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
def test_demo(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert demo.main(tmp_path / "out") == 0
    text = capsys.readouterr().out
    for word in ("inverse_dynamics", "puma560.c", "forward dynamics of F gives qdd again", "largest tip deflection"):
        assert word in text
    assert (tmp_path / "out" / "flexible_two_link.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "out" / "flexible_two_link_report.html").read_text(encoding="utf-8")
    assert "De Luca" in page
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    "arguments",
    [
        ["derive", "two_link", "mass_matrix", "--symbolic", "nonzero"],
        ["derive", "--symbolic", "nonzero", "two_link", "mass_matrix"],
        ["derive", "two_link", "--symbolic", "nonzero", "mass_matrix"],
        ["derive", "two_link", "--symbolic=nonzero", "mass_matrix"],
    ],
)
def test_options_stand_anywhere(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert command_line.main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("\\[\nM = ")
    assert "payload" not in text  # it is zero


def test_options_between_two_positionals(tmp_path: Path) -> None:
    assert command_line.main(["generate", "two_link", "--outputs", "mass_matrix", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "two_link.h").is_file()


@pytest.mark.parametrize("q0", [["--q0", "-0.5,0.3"], ["--q0=-0.5,0.3"], ["--q0", "-.5,+0.3"], ["--q0", "-5e-1,0.3"]])
def test_lists_of_numbers_may_begin_with_a_minus(capsys: pytest.CaptureFixture[str], q0: list[str]) -> None:
    arguments = ["simulate", "two_link", *q0, "--seconds", "0.01", "--outputs", "simulation"]
    assert command_line.main(arguments) == 0
    assert "from -0.5 to" in capsys.readouterr().out


def test_files_are_refused_before_the_simulation(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elastogen.build_model", lambda *_, **__: pytest.fail("a model was built"))
    assert "'.csv' or '.npz'" in fails(capsys, "simulate", "two_link", "--csv", str(tmp_path / "x.xlsx"))
    (tmp_path / "none").write_text("")
    assert command_line.main(["simulate", "two_link", "--csv", str(tmp_path / "none" / "x.csv")]) == 2
    assert "none is none" in capsys.readouterr().err


def test_fixes_name_the_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    message = fails(capsys, "generate", "two_link", str(tmp_path), "--outputs", "mass_matrix")
    assert "replace them with --force." in message
    message = fails(capsys, "check", "two_link", "--name", "int")
    assert "--name my_arm" in message
    assert "load(" not in message


@pytest.mark.parametrize("lookup", ["sdf", "xacro"])
def test_a_package_that_is_not_found(lookup: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = "xmlns:xacro='http://www.ros.org/wiki/xacro'"
    include = {
        "sdf": "<sdf version='1.7'><world name='w'><include><uri>model://far_arm</uri></include></world></sdf>",
        "xacro": f"<robot name='r' {space}><xacro:include filename='$(find far_arm)/a.xacro'/></robot>",
    }
    if lookup == "xacro":
        pytest.importorskip("xacro")
    (tmp_path / f"arm.{lookup}").write_text(include[lookup])
    message = fails(capsys, "check", str(tmp_path / f"arm.{lookup}"), "--allow-xacro")
    assert f"--package-path {'far_arm' if lookup == 'sdf' else 'name'}=FOLDER" in message
    assert message.count("far_arm above the file") == (lookup == "xacro")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("or force=True.", "or --force."),
        ("by load(..., name='my_arm')", "by --name my_arm"),
        ("Fix: mimic='independent' to", "Fix: --mimic independent to"),
        ("set X or cache_dir= to a", "set X or --cache-dir to a"),
        ("outputs=['mass_matrix', 'jacobian']", "--outputs mass_matrix,jacobian"),
        ("load(..., package_path={'arm': 'FOLDER'}); or", "--package-path arm=FOLDER; or"),
        ("lock={'a': 0.1, 'b': 2}", "--lock a=0.1,b=2"),
        ("use native=False", "use --portable"),
        ("a == b, x=3, other=True, payload_mass=1", "a == b, x=3, other=True, payload_mass=1"),
        ("<mass value='1'/> and force=False", "<mass value='1'/> and force=False"),
    ],
)
def test_keyword_arguments_become_options(message: str, expected: str) -> None:
    assert as_options(message, ("force", "name", "mimic", "cache_dir", "outputs", "lock", "package_path")) == expected
