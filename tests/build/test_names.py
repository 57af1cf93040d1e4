"""Names: what a description may call things survives in C, in C++ and in CMake; what would not is refused when it is loaded."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from c_compilers import COMPILERS

from elastogen.build.files.render import render_model
from elastogen.build.files.write import write_files
from elastogen.build.options import EmitOptions
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import check_parameter_name
from elastogen.generator.robot.reserved import (
    FILES,
    HEADERS,
    KEYWORDS,
    LIBRARY_FUNCTIONS,
    MACROS,
    TARGETS,
)
from elastogen.generator.robot.robot import Parameter

ARM = {
    "elastogen": 1,
    "name": "arm",
    "links": [{"name": "base"}, {"name": "hand", "mass": 1, "com": [0.1, 0, 0], "inertia": [1, 1, 1]}],
    "joints": [{"name": "turn", "type": "revolute", "child": "hand"}],
}
REPORTED = ["example", "all", "m", "help", "clean", "install", "features", "main", "printf"]  # each broke a project once
REPORTED_PARAMETERS = ["ARM_NQ", "INT32_MAX", "huge", "interrupt", "stdin", "DOMAIN", "EI", "k_t", "size_t", "arm_nq", "J0"]
EMITTED_HEADERS = (
    "errno", "float", "math", "pthread", "sched", "stddef", "stdint", "stdio", "string", "sys/mman", "sys/prctl", "time",
)  # fmt: skip
NOT_HARMLESS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@pytest.fixture(scope="module")
def derivation() -> ModelDerivation:
    return derive_model(load(ARM), ("inverse_dynamics", "forward_dynamics"))


def system_headers() -> Iterator[str]:
    """Headers that are installed here, in the folders that every compiler searches."""
    for folder in ("/usr/include", "/usr/local/include"):
        yield from (path.stem for path in Path(folder).glob("*.h"))


def macros(compiler: str) -> set[str]:
    """Macros without arguments that are defined behind the headers of the emitted files and of Python."""
    text = "#define _GNU_SOURCE\n#include <Python.h>\n" + "".join(f"#include <{name}.h>\n" for name in EMITTED_HEADERS)
    flags = ["-dM", "-E", "-xc", f"-I{sysconfig.get_path('include')}", "-"]
    done = subprocess.run([compiler, *flags], input=text, capture_output=True, text=True, check=True)
    return {line.split()[1] for line in done.stdout.splitlines() if NOT_HARMLESS.fullmatch(line.split()[1])}


def is_accepted(**changes: object) -> bool:
    try:
        load({**ARM, **changes})
    except RobotError:
        return False
    return True


def is_parameter(name: str) -> bool:
    """As ``is_accepted(parameters={name: 1})``, in less time."""
    try:
        check_parameter_name(name, Location("arm.yaml"), "arm")
    except RobotError:
        return False
    return True


def test_words_that_are_taken_are_refused() -> None:
    for name in KEYWORDS | HEADERS | TARGETS | FILES | MACROS | {"eg_x", "com1", "arm_loop", "arm_simulate", "x_t"}:
        assert not is_accepted(name=name), name
    for name in KEYWORDS | MACROS:
        assert not is_accepted(parameters={name: 1}), name


def test_ordinary_names_are_accepted() -> None:
    for name in ("arm", "Arm2", "main", "sin", "looper", "panda", "ur5e", "PUMA", "test_arm", "memory_arm"):
        assert is_accepted(name=name), name
    for name in ("EI", "EA", "GJ", "E", "k_t", "SIGMA", "M_tip", "I_zz", "l1", "L1", "mass", "PI", "J", "Pyaw", "S_1"):
        assert is_accepted(parameters={name: 1}), name


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_accepted_robot_name_compiles(derivation: ModelDerivation, tmp_path: Path, compiler: str) -> None:
    """All robots in one folder, which the compiler searches first: a header may hide none of the system's."""
    candidates = {*REPORTED, *system_headers(), *LIBRARY_FUNCTIONS, "linux", "unix", "eg", "eg_x", "python", "numpy", "std"}
    accepted = sorted(name for name in candidates if is_accepted(name=name))
    assert "main" in accepted
    assert not {"all", "m", "help", "clean", "install", "features", "example", "printf"} & set(accepted)
    files = render_model(derivation, EmitOptions()).c_files
    for name in accepted:  # names are only pasted: so does the test
        for file, text in files.items():
            pasted = text.replace("arm_", f"{name}_").replace("ARM_", f"{name.upper()}_").replace("arm.", f"{name}.")
            (tmp_path / file.replace("arm", name)).write_text(pasted)
    system = "".join(f"#include <{name}.h>\n" for name in EMITTED_HEADERS)
    (tmp_path / "user_of_all.c").write_text(system + "".join(f'#include "{name}.c"\n' for name in accepted))
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tmp_path}"]
    done = subprocess.run([compiler, *flags, str(tmp_path / "user_of_all.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_accepted_parameter_compiles(derivation: ModelDerivation, tmp_path: Path, compiler: str) -> None:
    """One struct with all the parameters whose names the headers before it might define."""
    candidates = {*REPORTED_PARAMETERS, *macros(compiler), *KEYWORDS, *LIBRARY_FUNCTIONS, "linux", "ARM_NQ", "ARM_H", "ARM_ABI"}
    accepted = sorted(name for name in candidates if is_parameter(name))
    assert {"EI", "k_t", "size_t", "arm_nq", "J0"} <= set(accepted)
    assert not {"ARM_NQ", "INT32_MAX", "huge", "interrupt", "stdin", "DOMAIN"} & set(accepted)
    live = {name: Parameter(name, 1.0, live=True) for name in accepted}
    robot = dataclasses.replace(derivation.robot, parameters=live)
    write_files(tmp_path, render_model(dataclasses.replace(derivation, robot=robot), EmitOptions()).c_files)
    headers = "".join(f"#include <{name}.h>\n" for name in EMITTED_HEADERS)
    (tmp_path / "user.c").write_text(f'#define _GNU_SOURCE\n#include <Python.h>\n{headers}#include "arm.c"\n')
    (tmp_path / "user.cpp").write_text(f'#include <Python.h>\n{headers}#include <complex>\n#include "arm.h"\n')
    flags = ["-Wall", "-Wextra", "-fsyntax-only", f"-I{tmp_path}", f"-I{sysconfig.get_path('include')}"]
    for standard, source in (("-std=c99", "arm.c"), ("-std=gnu99", "user.c"), ("-std=c++17", "user.cpp")):
        done = subprocess.run([compiler, standard, *flags, str(tmp_path / source)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_every_accepted_robot_name_is_a_target(derivation: ModelDerivation, tmp_path: Path) -> None:
    names = [name for name in [*REPORTED, *TARGETS, "main", "sin", "pow", "std"] if is_accepted(name=name)]
    top = "cmake_minimum_required(VERSION 3.10)\nproject(top C)\n"
    for name in dict.fromkeys(names):
        renamed = dataclasses.replace(derivation, robot=dataclasses.replace(derivation.robot, name=name))
        rendered = render_model(renamed, EmitOptions())
        write_files(tmp_path / name, {**rendered.c_files, **rendered.simulation, **rendered.bundle})
        top += f"add_subdirectory({name})\n"
    (tmp_path / "CMakeLists.txt").write_text(top)
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "out"), "-DCMAKE_C_COMPILER_WORKS=1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
