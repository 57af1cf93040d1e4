"""The C files of the sample robot as they stand: compilers, a formatter and an analyzer take them, and they compute."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from c_compilers import COMPILERS, WARNINGS

from elastogen.build.files.simulation import OPTIONAL
from elastogen.build.plain_c.emission import files
from elastogen.build.plain_c.integrators import method_files
from elastogen.build.plain_c.laws import law_files

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES, CHECKS = ROOT / "templates", ROOT / "tests" / "c" / "plain"
INCLUDES = [f"-I{folder}" for folder in sorted({(TEMPLATES / path).parent for path in files().values()})]
VARIANTS = {
    "all": [],
    "float": ["-DROBOT_SINGLE=1"],
    "few": ["-DROBOT_CONTROLLERS=0", "-DROBOT_TIMED=0", *(f"-DROBOT_HAS_{name.upper()}=0" for name in OPTIONAL)],
    "quaternions": ["-DROBOT_QUATERNIONS=1", "-DROBOT_CONTROLLERS=0", "-DROBOT_HAS_GRAVITY_VECTOR=0"],
    "sliding": ["-DROBOT_SLIDING=1", "-DROBOT_HAS_LOAD_FRICTION_FORCES=1"],
    "loops": ["-DROBOT_LOOPS=1"],
    "free loops": [
        "-DROBOT_LOOPS=1",
        "-DROBOT_HAS_INVERSE_DYNAMICS=0",
        "-DROBOT_HAS_GRAVITY_VECTOR=0",
        "-DROBOT_CONTROLLERS=0",
    ],
    "elastic": ["-DROBOT_NE=1"],
    "elastic with quaternions": [
        "-DROBOT_NE=1",
        "-DROBOT_QUATERNIONS=1",
        "-DROBOT_CONTROLLERS=0",
        "-DROBOT_HAS_GRAVITY_VECTOR=0",
    ],
    "without drives": ["-DROBOT_PASSIVE=1"],
    "ground": ["-DROBOT_GROUND=2"],
    "sliding on ground": ["-DROBOT_SLIDING=1", "-DROBOT_GROUND=2", "-DROBOT_HAS_LOAD_FRICTION_FORCES=1"],
    "kept": ["-DROBOT_SLIDING=1", "-DROBOT_REFRACTS=0", "-DROBOT_HAS_KINETIC_ENERGY=0"],
}
LANES = "robot_lanes_simulate.c"  # on vectors of gcc and clang, which are not ISO C
SOURCES = sorted(path for name, path in files().items() if name.endswith(".c") and name != LANES)


def run(*command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def fits(source: str, variant: str) -> bool:
    if "fmu" in source or "play" in source:
        return variant != "float"  # time and state are double
    if "robot_loops" in source:
        return variant in ("loops", "free loops")
    return "switch" not in source or variant in ("sliding", "kept", "sliding on ground")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_file_compiles_as_it_stands(variant: str, compiler: str, tmp_path: Path) -> None:
    for source in SOURCES:
        if fits(source, variant):
            run(compiler, *WARNINGS, *INCLUDES, *VARIANTS[variant], "-O1", "-c", TEMPLATES / source, "-o", tmp_path / "out.o")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_several_motions_compile_as_they_stand(compiler: str, tmp_path: Path) -> None:
    strict = [flag for flag in WARNINGS if flag != "-Wpedantic"]
    lanes = TEMPLATES / files()[LANES]
    run(compiler, *strict, *INCLUDES, "-DROBOT_LANES=1", "-O1", "-c", lanes, "-o", tmp_path / "out.o")
    (tmp_path / "alone.c").write_text(
        '#include "robot_simulate.c"\n#include "robot_sim_alone.h"\n#include "robot_sim_stops.h"\n', encoding="ascii"
    )
    run(compiler, *WARNINGS, "-Wno-unused-function", *INCLUDES, "-c", tmp_path / "alone.c", "-o", tmp_path / "out.o")


@pytest.mark.skipif("gcc" not in COMPILERS, reason="gcc is not installed")
def test_the_analyzer_finds_nothing(tmp_path: Path) -> None:
    for source in SOURCES:
        variant = "loops" if "robot_loops" in source else "sliding"
        flags = [*VARIANTS[variant], "-fanalyzer", "-Werror"]
        run("gcc", "-std=c99", *flags, *INCLUDES, "-O1", "-c", TEMPLATES / source, "-o", tmp_path / "out.o")


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not installed")
@pytest.mark.parametrize("source", SOURCES)
def test_clang_tidy_finds_nothing(source: str) -> None:
    variant = "loops" if "robot_loops" in source else "sliding" if "switch" in source else "all"
    run("clang-tidy", "--quiet", TEMPLATES / source, "--", "-std=c99", *INCLUDES, *VARIANTS[variant], cwd=ROOT)


def test_editors_find_every_header() -> None:
    """compile_flags.txt is what clangd and clang-tidy read."""
    listed = {line[2:] for line in (TEMPLATES / "compile_flags.txt").read_text(encoding="ascii").split() if line[:2] == "-I"}
    assert listed == {(TEMPLATES / path).parent.relative_to(TEMPLATES).as_posix() for path in files().values()}


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_files_are_formatted() -> None:
    own = [TEMPLATES / path for path in files().values()]
    run("clang-format", "--dry-run", "--Werror", "--style=file", *own, *sorted(CHECKS.glob("*.c")))


def test_generated_samples_are_those_of_the_registry() -> None:
    for name, text in {**method_files(), **law_files()}.items():
        assert (TEMPLATES / files()[name]).read_text(encoding="ascii") == text, f"{name}: write it again"


@pytest.mark.skipif("gcc" not in COMPILERS, reason="gcc is not installed")
@pytest.mark.parametrize("check", ["check_integrators.c", "check_loop.c", "check_lu.c", "check_switch.c"])
def test_unit_tests_in_c(check: str, tmp_path: Path) -> None:
    """Against closed forms, under the sanitizers."""
    flags = ["-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *INCLUDES]
    flags += VARIANTS["sliding"] if "switch" in check else []
    needed = [TEMPLATES / source for source in SOURCES if fits(source, "sliding" if "switch" in check else "all")]
    needed = [
        path for path in needed if path.name in ("robot.c", "robot_ekf.c", "robot_loop.c", "robot_simulate.c", "robot_switch.c")
    ]
    run("gcc", *flags, CHECKS / check, *needed, "-lm", "-o", tmp_path / "check")
    run(tmp_path / "check")
