"""Exports: every format is built by the tool that takes it in, and gives the numbers of the program it came from."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import setuptools
from c_compilers import WARNINGS
from ruamel.yaml import YAML

import elastogen
from elastogen.build.files.manifest import MANIFEST
from elastogen.command_line import main
from elastogen.generator.description.load_robot import load
from elastogen.generator.functions.derivation import derive_model

ROOT = Path(__file__).resolve().parents[2]
HERE_FIRST = {**os.environ, "PYTHONPATH": str(ROOT)}  # programs that are started import what is tested
OUTPUTS = ["inverse_dynamics", "forward_dynamics", "mass_matrix"]
EIGEN = Path("/usr/include/eigen3")
CMAKE = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=HERE_FIRST, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def printed(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"F\[\d+\] = (\S+)", text)]


@pytest.fixture(scope="module")
def expected() -> list[float]:
    """What every example prints: inverse dynamics of two_link, by its program in Python."""
    (function,) = derive_model(load("two_link"), ("inverse_dynamics",)).functions
    q = np.array([0.1, 0.2])
    parameters = {p.name: p.value for p in load("two_link").live_parameters}
    return [float(x) for x in function.evaluate({"q": q, "qd": q, "qdd": q}, parameters)["F"]]


def close(got: list[float], expected: list[float]) -> bool:
    return len(got) == len(expected) and np.allclose(got, expected, rtol=5e-9, atol=0)  # nine digits are printed


def test_c(tmp_path: Path, expected: list[float]) -> None:
    elastogen.export("two_link", tmp_path / "c", outputs=OUTPUTS)
    names = {path.name for path in (tmp_path / "c").iterdir()}
    assert {"two_link.c", "two_link.h", "examples", "README.md", MANIFEST} <= names
    sources = sorted((tmp_path / "c").glob("*.c"))
    run("cc", *WARNINGS, "-Ic", *sources, "c/examples/example.c", "-lm", "-o", "example", cwd=tmp_path)
    assert close(printed(run("./example", cwd=tmp_path)), expected)
    readme = (tmp_path / "c" / "README.md").read_text()
    assert re.search(r"`two_link_inverse_dynamics` \| \d+ mul.* \| \d+ / \d+ / \d+ \|", readme)
    for words in ("[rad]", "-std=c99", "two_link_inverse_dynamics", "payload_mass", "belongs to whoever generates it"):
        assert words in readme


def test_header_only_c(tmp_path: Path, expected: list[float]) -> None:
    elastogen.export("two_link", tmp_path, outputs=OUTPUTS[:1], header_only=True)
    assert sorted(path.name for path in tmp_path.glob("*.[ch]")) == ["two_link.h"]
    run("cc", *WARNINGS, "-I.", "examples/example.c", "-lm", "-o", "example", cwd=tmp_path)
    assert close(printed(run("./example", cwd=tmp_path)), expected)


def test_c_with_its_loop(tmp_path: Path) -> None:
    files = elastogen.export("two_link", tmp_path, loop=True, outputs=OUTPUTS[:1], precision="float")
    assert {"two_link_loop.c", "two_link_loop_thread.c", "two_link_simulate.c"} <= {path.name for path in files.files}
    sources = [*sorted(tmp_path.glob("*.c")), "examples/example.c"]
    run("cc", "-std=c99", "-O0", "-I.", *sources, "-lm", "-pthread", "-o", "example", cwd=tmp_path)
    assert len(printed(run("./example", cwd=tmp_path))) == 2


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_cpp(tmp_path: Path, expected: list[float]) -> None:
    elastogen.export("two_link", tmp_path, format="cpp", outputs=OUTPUTS)
    run("gcc", "-std=c99", "-O2", "-c", "two_link.c", "two_link_simulate.c", cwd=tmp_path)
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    run("g++", *strict, "-O2", "-I.", "examples/example.cpp", "two_link.o", "-lm", "-o", "example", cwd=tmp_path)
    assert close(printed(run("./example", cwd=tmp_path)), expected)
    (tmp_path / "cost.cpp").write_text(
        '#include "two_link.hpp"\nusing V = two_link::array<2>;\n'
        'extern "C" void wrapped(const V& q, const V& qd, const V& qdd, V& F) { two_link::inverse_dynamics(q, qd, qdd, F); }\n'
        'extern "C" void direct(const V& q, const V& qd, const V& qdd, V& F)\n'
        "{ two_link_inverse_dynamics(&two_link_params_nominal, q.data(), qd.data(), qdd.data(), F.data()); }\n"
    )
    run("g++", *strict, "-O2", "-S", "cost.cpp", cwd=tmp_path)
    bodies = re.findall(r"(?:wrapped|direct):\n(.*?)\.cfi_endproc", (tmp_path / "cost.s").read_text(), re.S)
    instructions = [re.findall(r"^\t([a-z].*)$", body, re.M) for body in bodies]
    assert len(instructions) == 2
    assert instructions[0] == instructions[1]  # the wrapper costs nothing
    wrong = '#include "two_link.hpp"\nint main() { two_link::array<3> q{}; return (int)two_link::mass_matrix(q)[0]; }\n'
    (tmp_path / "wrong.cpp").write_text(wrong)
    assert subprocess.run(["g++", "-fsyntax-only", "wrong.cpp"], cwd=tmp_path, capture_output=True).returncode != 0


@pytest.mark.skipif(
    shutil.which("g++") is None or not EIGEN.is_dir(), reason="Eigen is not installed: apt-get install libeigen3-dev"
)
def test_eigen_maps(tmp_path: Path) -> None:
    elastogen.export("two_link", tmp_path, format="cpp", outputs="mass_matrix")
    (tmp_path / "user.cpp").write_text(
        '#define TWO_LINK_WITH_EIGEN\n#include "two_link.hpp"\n#include <cstdio>\nint main() {\n'
        "two_link::array<2> q{0.1, 0.2}; auto M = two_link::mass_matrix(q);\n"
        "auto map = two_link::as_matrix<2, 2>(M);\n"
        "double det = M[0] * M[3] - M[1] * M[2];\n"
        'std::printf("%.17g %.17g %.17g", map(0, 1) - M[1], map(1, 0) - M[2], map.determinant() - det);\n'
        "map(0, 1) = 7.0; return M[1] == 7.0 ? 0 : 1; }\n"
    )
    run("gcc", "-std=c99", "-c", "two_link.c", cwd=tmp_path)
    include = ["-DEIGEN_MPL2_ONLY", "-isystem", EIGEN, "-include", "Eigen/LU"]
    run("g++", "-std=c++17", *include, "user.cpp", "two_link.o", "-lm", "-o", "user", cwd=tmp_path)
    assert np.allclose([float(x) for x in run("./user", cwd=tmp_path).split()], 0.0, atol=1e-15)


@CMAKE
def test_cmake_with_two_robots_in_one_program(tmp_path: Path, expected: list[float]) -> None:
    prefix = tmp_path / "a prefix"
    for robot in ("two_link", "scara"):
        source, out = tmp_path / robot, tmp_path / f"out_{robot}"
        elastogen.export(robot, source, format="cmake", outputs=OUTPUTS[:1], loop=False)
        run("cmake", "-S", source, "-B", out, cwd=tmp_path)
        run("cmake", "--build", out, cwd=tmp_path)
        numbers = run("ctest", "--output-on-failure", "-V", cwd=out)
        assert "0 of 1 functions failed" in numbers
        run("cmake", "--install", out, "--prefix", prefix, cwd=tmp_path)
    assert close(printed(run(tmp_path / "out_two_link" / "two_link_example", cwd=tmp_path)), expected)
    user = tmp_path / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.12)\nproject(user C)\n"
        "find_package(two_link 1.0 REQUIRED)\nfind_package(scara REQUIRED)\n"
        "add_executable(user user.c)\ntarget_link_libraries(user two_link::two_link scara::scara)\n"
    )
    (user / "user.c").write_text(
        '#include <stdio.h>\n#include "two_link.h"\n#include "scara.h"\nint main(void) {\n'
        "double q[4] = {0.1, 0.2}, F[2], G[4];\ntwo_link_inverse_dynamics(&two_link_params_nominal, q, q, q, F);\n"
        "scara_inverse_dynamics(&scara_params_nominal, q, q, q, G);\n"
        'printf("F[0] = %.9g\\nF[1] = %.9g\\n%g\\n", F[0], F[1], G[0]);\nreturn 0; }\n'
    )
    run("cmake", "-S", user, "-B", user / "out", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    run("cmake", "--build", user / "out", cwd=tmp_path)
    assert close(printed(run(user / "out" / "user", cwd=tmp_path)), expected)
    (user / "user.cpp").write_text('#include "two_link.hpp"\ntwo_link::array<2> F = two_link::inverse_dynamics({}, {}, {});\n')
    run("c++", "-std=c++17", "-fsyntax-only", f"-I{next(prefix.rglob('two_link.hpp')).parent}", "user.cpp", cwd=user)
    config = next(prefix.rglob("two_link.pc"))
    assert "@" not in config.read_text()
    if shutil.which("pkg-config"):
        command = ["env", f"PKG_CONFIG_PATH={config.parent}", "pkg-config", "--cflags", "--libs", "two_link"]
        flags = shlex.split(run(*command, cwd=tmp_path))
        run("cc", user / "user.c", "-fsyntax-only", *flags, cwd=tmp_path)
        library = next(Path(flag[2:]) for flag in flags if flag.startswith("-L")) / "libtwo_link.a"
        assert library.resolve() == next(prefix.rglob("libtwo_link.a"))


@CMAKE
def test_add_robot_keeps_the_c_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two robots at once; only the one whose file is based on the changed one is generated again."""
    assert main(["cmake"]) == 0
    folder = capsys.readouterr().out.strip()
    text = (ROOT / "examples" / "arm.yaml").read_text()
    tmp_path = tmp_path / "my project"
    tmp_path.mkdir()
    (tmp_path / "arm.yaml").write_text(text)
    (tmp_path / "left.yaml").write_text("elastogen: 1\nname: any\nbase_description: arm.yaml\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.12)\nproject(user C)\nfind_package(elastogen REQUIRED)\n"
        "elastogen_add_robot(left left.yaml OUTPUTS inverse_dynamics inverse_kinematics FRAMES tip INVERSE_KINEMATICS)\n"
        "elastogen_add_robot(right two_link OUTPUTS gravity_vector)\n"
        "add_executable(user user.c)\ntarget_link_libraries(user left right)\n"
    )
    (tmp_path / "user.c").write_text(
        '#include <stdio.h>\n#include "left_ik.h"\nint main(void) { left_real_t q[3] = {0}, F[3];\n'
        "left_inverse_dynamics(&left_params_nominal, q, q, q, F);\n"
        'printf("F[1] = %.9g\\n", F[1]);\nreturn left_ik_options_default.iterations != 100; }\n'
    )

    def cmake(*arguments: str) -> str:
        return run("cmake", *arguments, cwd=tmp_path)

    cmake("-B", "out", f"-Delastogen_DIR={folder}", f"-DELASTOGEN_COMMAND={sys.executable};-m;elastogen")
    built = cmake("--build", "out", "-j", "2")
    assert {"left", "right"} == set(re.findall("Generating the C of (\\w+)", built))
    before = printed(run("out/user", cwd=tmp_path))
    assert "Generating" not in cmake("--build", "out")
    (tmp_path / "arm.yaml").write_text(text.replace("mass: 2.0", "mass: 4.0"))
    assert re.findall("Generating the C of (\\w+)", cmake("--build", "out")) == ["left"]
    after = printed(run("out/user", cwd=tmp_path))
    # 2 kg more at 0.15 m of the elbow, whose axis is -y: its gravity torque is 9.81 m/s^2 times the moment of what hangs on it
    assert np.isclose(after[0] - before[0], 2.0 * 0.15 * 9.81, rtol=1e-7)


@pytest.mark.skipif(
    int(setuptools.__version__.partition(".")[0]) < 77,
    reason="the project is built by setuptools 77, which its pyproject.toml asks for",
)
def test_python(tmp_path: Path, expected: list[float]) -> None:
    elastogen.export("two_link", tmp_path / "project", format="python", outputs=OUTPUTS[:1])
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, "."]
    run(*pip, cwd=tmp_path / "project")
    (wheel,) = tmp_path.glob("two_link_model-1.0.0-cp310-abi3-*.whl")  # for every Python from 3.10 on
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import numpy as np; from two_link_model import model; q = np.array([0.1, 0.2]);"
        "print(*(f'F[{k}] = {x:.17g}' for k, x in enumerate(model.inverse_dynamics(q, q, q))))"
    )
    assert close(printed(run(sys.executable, "-c", code, cwd=tmp_path / "site")), expected)
    metadata = next((tmp_path / "site").glob("*.dist-info")) / "METADATA"
    assert f"Requires-Dist: elastogen-runtime=={elastogen.__version__}" in metadata.read_text()
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path / "project", env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_shared(tmp_path: Path, expected: list[float]) -> None:
    files = elastogen.export("two_link", tmp_path, format="shared", outputs=OUTPUTS)
    library = next(path for path in files.files if path.name.startswith("libtwo_link"))
    assert close(printed(run(sys.executable, "example.py", cwd=tmp_path)), expected)
    (tmp_path / "user.cpp").write_text(
        '#include <cstdio>\n#include "two_link.h"\nint main() { double q[2] = {0.1, 0.2}, F[2];\n'
        "two_link_inverse_dynamics(&two_link_params_nominal, q, q, q, F);\n"
        'std::printf("F[0] = %.9g F[1] = %.9g\\n", F[0], F[1]); }\n'
    )
    run("c++", "user.cpp", library, f"-Wl,-rpath,{tmp_path}", "-lm", "-o", "user", cwd=tmp_path)
    assert close(printed(run("./user", cwd=tmp_path)), expected)


@pytest.mark.parametrize("kind", ["arduino", "platformio", "zephyr"])
def test_boards(tmp_path: Path, kind: str) -> None:
    """As far as it goes without their tools: the manifests are read, the C is compiled, the sketch against a stand-in."""
    folder = tmp_path / "two_link"
    files = elastogen.export("two_link", folder, format=kind, outputs=OUTPUTS, loop=True)
    assert "typedef float two_link_real_t;" in files.header.read_text()
    sources = sorted((folder / "src").glob("*.c"))
    assert "two_link_loop.c" in {path.name for path in sources}
    assert not any("pthread" in path.read_text() for path in sources)
    run("cc", *WARNINGS, "-fsyntax-only", f"-I{files.header.parent}", *sources, cwd=tmp_path)
    if kind == "platformio":
        manifest = json.loads((folder / "library.json").read_text())
        assert (manifest["name"], manifest["build"]["srcDir"]) == ("two_link", "src")
    elif kind == "zephyr":
        module = YAML(typ="safe").load((folder / "zephyr" / "module.yml").read_text())
        assert (folder / module["build"]["kconfig"]).read_text().startswith("config TWO_LINK\n")
        named = re.findall(r"/\.\./(src/\S+\.c)", (folder / module["build"]["cmake"] / "CMakeLists.txt").read_text())
        assert sorted(named) == [f"src/{path.name}" for path in sources]
    else:
        lines = (folder / "library.properties").read_text().splitlines()
        assert {"name=two_link", "includes=two_link.h", "architectures=*"} <= set(lines)
        stand_in = "struct { void begin(long); template <class... T> void print(T...); void println(); } Serial;\n"
        stand_in += "unsigned long micros(); void delay(int);\n#define F(x) x\n"
        (tmp_path / "Arduino.h").write_text(stand_in)
        (sketch,) = (folder / "examples").rglob("*.ino")
        run("c++", "-xc++", "-fsyntax-only", "-include", "Arduino.h", f"-I{folder / 'src'}", sketch, cwd=tmp_path)


@pytest.mark.skipif(shutil.which("avr-gcc") is None, reason="avr-gcc is not installed: apt-get install gcc-avr avr-libc")
@pytest.mark.parametrize("robot", ["two_link", "flexible_one_link"])
def test_the_arduino_library_compiles_for_avr(tmp_path: Path, robot: str) -> None:
    """An ATmega2560, as Arduino compiles libraries: double has four bytes there, int two, and there is no HUGE_VALF."""
    elastogen.export(robot, tmp_path, format="arduino", outputs=OUTPUTS, loop=robot == "two_link")
    flags = ["-mmcu=atmega2560", "-std=gnu11", "-Os", "-Wall", "-Wextra", "-Werror"]
    for source in sorted((tmp_path / "src").glob("*.c")):
        run("avr-gcc", *flags, "-c", source, "-o", "object.o", cwd=tmp_path)


@pytest.mark.parametrize(("robot", "precision"), [("flexible_one_link", "float"), ("scara", "double")])
def test_generated_files_pass_their_own_check(tmp_path: Path, robot: str, precision: str) -> None:
    """With the strict flags; and the check sees a model whose numbers are others."""
    files = elastogen.generate(robot, tmp_path, precision=precision)
    compiled = ["cc", *WARNINGS, "-I.", *(path.name for path in files.files if path.parent == tmp_path and path.suffix == ".c")]
    run(*compiled, "tests/check.c", "-lm", "-o", "check", cwd=tmp_path)
    assert run("./check", cwd=tmp_path).startswith("0 of ")
    text = (tmp_path / "tests" / "check.c").read_text()
    (tmp_path / "tests" / "check.c").write_text(re.sub(r"(given_q\[\d+\] = \{\s*)0\.1,?", r"\g<1>0.11,", text))
    run(*compiled, "tests/check.c", "-lm", "-o", "check", cwd=tmp_path)
    failed = subprocess.run(["./check"], cwd=tmp_path, capture_output=True, text=True)
    assert failed.returncode == 1
    assert ": got " in failed.stdout


def test_exported_twice_the_bytes_are_the_same(tmp_path: Path) -> None:
    """With what compilers make; test_written.py has the files of all formats."""
    for name in ("a", "b"):
        elastogen.export("two_link", tmp_path / name, format="shared", outputs=OUTPUTS[:1])
    first, second = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "a", tmp_path / "b")
    )
    assert first == second
    assert str(tmp_path).encode() not in b"".join(first.values())


def test_sliding_robots_are_exported_with_their_switches(tmp_path: Path) -> None:
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
    hand = {"joint": "Pa", "gamma": 0.3, "rigid": True, "length": 0.2, "mass": 0.1, "inertia": 0.001}
    robot = {"elastogen": 1, "name": "slider", "planar": {"links": [beam, hand]}}
    files = elastogen.export(robot, tmp_path, format="cpp", outputs=["simulation"], precision="float")
    assert "slider_switch.c" in {path.name for path in files.files}
    run("cc", *WARNINGS, "-fsyntax-only", "-I.", *(path for path in files.files if path.suffix == ".c"), cwd=tmp_path)
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "examples/example.cpp", cwd=tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "fortran"}, "expected one of c, cpp"),
        ({"format": "python", "loop": True}, "loop=True, which it does not take"),
        ({"format": "cmake", "header_only": True}, "header_only=True"),
        ({"format": "c", "target": "aarch64-linux-gnu"}, "target="),
        ({"format": "shared", "target": "x; rm -rf /"}, "a triple"),
        ({"format": "shared", "compiler": "no-such-cc"}, "no-such-cc"),
        ({"outputs": ["mass_matrx"]}, "mass_matrix"),
    ],
)
def test_what_a_format_does_not_take(tmp_path: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(elastogen.ElastogenError, match=re.escape(words)):
        elastogen.export("two_link", tmp_path / "out", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_namespace_has_no_name_of_a_function_of_c(tmp_path: Path) -> None:
    robot = elastogen.load("two_link", name="main")
    with pytest.raises(elastogen.OutputError, match=r"got the robot 'main'.*name='main_arm'"):
        elastogen.export(robot, tmp_path / "out", format="cpp", outputs="gravity_vector")
    arm = elastogen.load("two_link")
    arm = arm.with_function("array", outputs={"x": elastogen.symbols(arm).q})
    with pytest.raises(elastogen.OutputError, match=r"got the own function 'array'.*my_array"):
        elastogen.export(arm, tmp_path / "out", format="cpp", outputs="array")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", "two_link", str(tmp_path / "out"), "--format", "cpp", "--outputs", "mass_matrix"]
    assert main(arguments) == 0
    assert "two_link.hpp" in capsys.readouterr().out
    (tmp_path / "out" / "README.md").write_text("mine")
    assert main(arguments) == 2
    assert "README.md" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert main(["export", "two_link", str(tmp_path / "x"), "--format", "python", "--loop"]) == 2
    assert "--loop" in capsys.readouterr().err
    assert main(["export", "two_link", ""]) == 2
    assert "empty" in capsys.readouterr().err
