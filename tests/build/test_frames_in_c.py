"""Functions of frames and inverse kinematics as C files: strict compilers, C++, sanitizers, symbols, commands."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

import elastogen
from elastogen.command_line import main

PROGRAM = Path(__file__).resolve().parents[1] / "c" / "inverse_kinematics.c"
FRAMES = ["tip", "upper"]
OUTPUTS = ["inverse_kinematics", "frame_acceleration_local", "frame_jacobian_rate_base", "forward_dynamics_with_wrenches"]


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for precision in ("double", "float"):
        made[precision] = tmp_path_factory.mktemp(f"frames_{precision}")
        elastogen.generate("two_link", made[precision], frames=FRAMES, outputs=OUTPUTS, precision=precision)
    return made


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_accept_the_files(compiler: str, precision: str, folders: dict[str, Path]) -> None:
    folder = folders[precision]
    for file in ("two_link.c", "two_link_ik.c"):
        run(compiler, *WARNINGS, "-O0", "-c", file, "-o", f"{compiler}.o", cwd=folder)
    (folder / "check.cpp").write_text('#include "two_link_ik.h"\nint main() { return TWO_LINK_IK_FRAMES - 2; }\n')
    cxx = {"gcc": "g++", "clang": "clang++"}[compiler]
    run(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "check.cpp", cwd=folder)


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize("precision", ["double", "float"])
def test_a_c_program_searches_under_sanitizers(precision: str, folders: dict[str, Path]) -> None:
    folder, compiler = folders[precision], COMPILERS[0]
    flags = ["-std=c99", "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    run(compiler, *flags, "-I.", PROGRAM, "two_link.c", "two_link_ik.c", "-lm", "-o", "search", cwd=folder)
    on, beyond, wrong, broken = (line.split() for line in run("./search", cwd=folder).splitlines())
    a, b = float(on[1]), float(on[2])
    tip = np.array([np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)])  # both links of two_link.yaml are 1 m long
    tolerance = {"double": 1e-6, "float": 1e-4}[precision]
    assert int(on[0]) == 0
    assert int(on[4]) <= 20
    assert np.linalg.norm(tip - [1.2, 0.7]) <= 1.01 * tolerance
    assert int(beyond[0]) == 1  # stretched towards the target
    assert float(beyond[3]) == pytest.approx(np.hypot(9, 0.7) - 2, rel=1e-3)
    assert [wrong[0], broken[0]] == ["-1", "-2"]
    assert float(wrong[1]) == float(broken[1]) == pytest.approx(0.4, rel=1e-6)
    assert wrong[3:] == broken[3:] == ["0", "0", "0"]  # nothing was found out


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_the_documented_program(tmp_path: Path) -> None:
    """Of docs/robots/frames.md: compiled strictly, and it reaches."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "robots" / "frames.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    elastogen.generate("two_link", tmp_path, frames=["tip"], outputs="inverse_kinematics")
    called = "#include <stdio.h>\nint reach(double x, double y, double q[TWO_LINK_NQ]);\n"
    main_ = (
        'int main(void)\n{\n    double q[2];\n    int s = reach(1.2, 0.7, q);\n    printf("%d %.9f %.9f", s, q[0], q[1]);\n}\n'
    )
    include, rest = program.split("\n\n", 1)
    (tmp_path / "search.c").write_text(f"{include}\n{called}\n{rest}\n{main_}")
    run(COMPILERS[0], *WARNINGS, "-I.", "search.c", "two_link.c", "two_link_ik.c", "-lm", "-o", "search", cwd=tmp_path)
    status, a, b = map(float, run("./search", cwd=tmp_path).split())
    assert status == 0
    assert np.hypot(np.cos(a) + np.cos(a + b) - 1.2, np.sin(a) + np.sin(a + b) - 0.7) <= 1.1e-6


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_symbols(folders: dict[str, Path]) -> None:
    run(COMPILERS[0], "-std=c99", "-O1", "-c", "two_link_ik.c", "-o", "symbols.o", cwd=folders["double"])
    lines = [line.split() for line in run("nm", "-g", "symbols.o", cwd=folders["double"]).splitlines()]
    defined = {words[-1] for words in lines if words[-2] != "U"}
    assert defined == {"two_link_inverse_kinematics", "two_link_ik_options_default"}
    needed = {words[-1] for words in lines if words[-2] == "U"}
    assert needed <= {"two_link_frame_pose_and_jacobian", "sqrt", "atan2", "memcpy", "memset"}


def test_headers_name_frames_and_old_models_do_not_change(folders: dict[str, Path], tmp_path: Path) -> None:
    text = (folders["double"] / "two_link.h").read_text()
    assert " *   0: tip\n *   1: upper\n" in text
    assert "per chosen frame" in text
    for file in ("README.md", "CMakeLists.txt"):
        assert "two_link_ik.c" in (folders["double"] / file).read_text()
    plain = elastogen.generate("two_link", tmp_path, outputs="jacobian")
    assert "chosen" not in plain.header.read_text()
    assert not list(tmp_path.glob("*_ik.*"))


def test_commands_take_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--outputs", "inverse_kinematics", "--frames", "tip,upper", "--json"]
    for command in (["generate"], ["export", "--format", "arduino"]):
        assert main([*command, "two_link", str(tmp_path / command[0]), *wanted]) == 0
        names = {Path(file).name for file in json.loads(capsys.readouterr().out)["files"]}
        assert {"two_link.c", "two_link_ik.c", "two_link_ik.h"} <= names
    assert main(["generate", "two_link", str(tmp_path / "x"), "--frames", "tpi"]) != 0
    assert "did you mean 'tip'?" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


BAD = {
    "no such frame": ({"frames": ["uper"]}, "did you mean 'upper'"),
    "twice": ({"frames": ["tip", "tip"]}, "twice"),
    "no name": ({"frames": [3]}, "names of frames"),
    "no list": ({"frames": 3}, "names of frames"),
    "no frames": ({"outputs": ["frame_jacobian"]}, "needs frames"),
    "no frames for a search": ({"outputs": ["inverse_kinematics"]}, "needs frames"),
    "no such function": ({"outputs": ["frame_jacobain"], "frames": ["tip"]}, "did you mean 'frame_jacobian'"),
    "fused": ({"outputs": ["frame_pose+mass_matrix"], "frames": ["tip"]}, "frames of its own"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_frames(case: str, tmp_path: Path) -> None:
    options, message = BAD[case]
    with pytest.raises(elastogen.OutputError, match=message):
        elastogen.generate("two_link", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_what_frames_do_not_go_with() -> None:
    robot = elastogen.load("two_link")
    for name in ("frame_jacobian", "inverse_kinematics"):
        with pytest.raises(elastogen.RobotError, match="no function of the catalogue"):
            robot.with_function(name, outputs={"y": elastogen.symbols(robot).q})
    with pytest.raises(elastogen.RobotError):
        elastogen.load("two_link", name="arm_ik")  # the files of inverse kinematics are called so
