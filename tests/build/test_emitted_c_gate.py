"""Every emitted file passes strict compilers, sanitizers and a look at its symbols, and is the same in every run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from build_samples import LIVE, MOSTLY_SUMS, Recipe, model_of, random_program, render, sample_robot
from c_compilers import COMPILERS, WARNINGS

from elastogen.build.files.write import write_files
from elastogen.build.pipeline import generate
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

LIBM = {f"{name}{suffix}" for name in ("sincos", *(known.name for known in ELEMENTARY.values())) for suffix in ("", "f")}
FREESTANDING = {
    "memset",
    "memcpy",
}  # every C implementation has them; a compiler may put them in place of a loop
VARIANTS = [(real, sincos) for real in ("double", "float") for sincos in ("fast", "libm")]


def run(*command: object, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def odd_programs() -> dict[str, Program]:
    """Functions at the edges: nothing to compute, inputs without use, one element, a lonely parameter."""
    graph = Graph()
    x, load = graph.input("x[0]"), graph.input("load")
    one = Argument("x", (1,), "m", "argument")
    unused = Argument("unused_one", (3,), "m", "never read")
    return {
        "all_zero": Program(graph, [one], [(Argument("z", (3, 3), "", ""), [graph.zero] * 9)]),
        "constants": Program(graph, [], [(Argument("z", (2,), "", ""), [graph.one, graph.constant(-2.5)])]),
        "copies": Program(graph, [one, unused], [(Argument("z", (2,), "", ""), [x.ref, (-load).ref])]),
        "scalar": Program(graph, [one, unused], [(Argument("z", (), "", ""), [(x * load).ref])]),
        "input_pivot": Program(graph, [one], [(Argument("z", (1,), "", ""), [(1.0 / x).ref])], [x.ref, load.ref]),
        "constant_pivot": Program(graph, [one], [(Argument("z", (1,), "", ""), [x.ref])], [graph.one]),
    }


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    programs = {
        **odd_programs(),
        "medium": random_program(11, Recipe(150)),
        "long_one": random_program(12, Recipe(1500, outputs=((30,), (6, 6)), choices=MOSTLY_SUMS)),
        "long_may_fail": random_program(13, Recipe(1200, pivots=5, choices=MOSTLY_SUMS)),
        "short_may_fail": random_program(14, Recipe(60, pivots=12)),
    }
    folders = {}
    for real, sincos in VARIANTS:
        folder = tmp_path_factory.mktemp(f"{real}_{sincos}")
        model = model_of(*programs.values(), names=list(programs))
        rendered = render(model, precision=real, sincos=sincos)
        write_files(folder, {**rendered.c_files, **rendered.bundle})
        folders[real, sincos] = folder
    return folders


@pytest.fixture(scope="session")
def robot_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate("two_link", tmp_path_factory.mktemp("two_link"), outputs=["all"]).directory


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("real", "sincos"), VARIANTS)
def test_strict_compilers_accept_every_file(real: str, sincos: str, compiler: str, bundles) -> None:
    for level in ("-O0", "-O2") if compiler == "gcc" else ("-O1",):
        run(compiler, *WARNINGS, level, "-c", "-I.", "sample.c", "examples/example.c", cwd=bundles[real, sincos])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_accept_a_robot(compiler: str, robot_bundle: Path) -> None:
    run(compiler, *WARNINGS, "-O2", "-c", "-I.", "two_link.c", "examples/example.c", "tests/check.c", cwd=robot_bundle)


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
@pytest.mark.parametrize("standard", ["c++98", "c++17"])
def test_the_header_is_cxx_too(standard: str, bundles) -> None:
    folder = bundles["double", "fast"]
    (folder / "user.cpp").write_text(
        '#include "sample.h"\n#include "sample.h"\ndouble f() { return sample_params_nominal.load; }\n'
    )
    run("g++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "user.cpp", cwd=folder)


@pytest.mark.parametrize(("real", "sincos"), VARIANTS)
def test_the_example_runs_clean_under_sanitizers(real: str, sincos: str, bundles) -> None:
    folder = bundles[real, sincos]
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-std=c99")
    run("gcc", *flags, "-I.", "sample.c", "examples/example.c", "-lm", "-o", "example", cwd=folder)
    assert "z[8] = 0\n" in run("./example", cwd=folder)


def test_every_function_runs_clean_under_sanitizers(bundles) -> None:
    """All functions of the sample, with arrays that end where they must."""
    folder = bundles["double", "fast"]
    lines = []
    for returns, name, arguments in re.findall(
        r"^(void|int) (sample_\w+)\(([^)]*)\);", (folder / "sample.h").read_text(), flags=re.M
    ):
        arrays = re.findall(r"(const )?sample_real_t (\w+)\[(\d+)\]", arguments)
        lines.append("{")
        lines += [f"double *{n} = calloc({size}, sizeof(double));" for _, n, size in arrays]
        passed = ", ".join(["&sample_params_nominal", *(n for _, n, _ in arrays)])
        lines.append(f"{'status +=' if returns == 'int' else ''} {name}({passed});")
        lines += [f"free({n});" for _, n, _ in arrays] + ["}"]
    main = '#include "sample.h"\n#include <stdlib.h>\nint main(void) { int status = 0;\n' + "\n".join(lines)
    (folder / "all.c").write_text(main + "\nreturn status == -1 ? 0 : 1; }\n")  # input_pivot fails at 0, no other
    flags = (
        "-fsanitize=address,undefined",
        "-fno-sanitize=float-divide-by-zero",
        "-fno-sanitize-recover=all",
        "-O1",
    )
    run("gcc", *flags, "-std=c99", "sample.c", "all.c", "-lm", "-o", "all", cwd=folder)
    run("./all", cwd=folder)


@pytest.mark.parametrize(("real", "sincos"), VARIANTS)
def test_symbols_are_prefixed_and_only_libm_is_needed(real: str, sincos: str, bundles) -> None:
    folder = bundles[real, sincos]
    run("gcc", "-O2", "-std=c99", "-c", "sample.c", "-o", "symbols.o", cwd=folder)
    symbols = [line.split()[-2:] for line in run("nm", "symbols.o", cwd=folder).splitlines()]
    for kind, name in symbols:
        assert kind in "TtRrU", f"{kind} {name}: neither code nor constant data"
        if kind == "U":
            assert name in LIBM | FREESTANDING
        elif kind.isupper():
            assert name.startswith("sample_")
    assert {name for kind, name in symbols if kind == "U"} & LIBM
    sines = {"sin", "sinf", "sincos", "sincosf"}
    used = "fast" if any(name in sines for kind, name in symbols if kind == "U") else "libm"
    assert used != sincos


def test_fast_sines_vectorize(bundles) -> None:
    """The default flags turn the loop over angles into vector code."""
    flags = ("-O2", "-std=c99", "-ftree-vectorize", "-fopt-info-vec-optimized")
    done = subprocess.run(
        ["gcc", *flags, "-c", "sample.c", "-o", "v.o"],
        cwd=bundles["double", "fast"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "loop vectorized" in done.stderr


def test_a_mismatched_header_is_refused(bundles, tmp_path: Path) -> None:
    folder = bundles["double", "libm"]
    text = (folder / "sample.h").read_text()
    (tmp_path / "sample.h").write_text(re.sub(r"(SAMPLE_ABI_VERSION) \d+", r"\1 99", text))
    shutil.copy(folder / "sample.c", tmp_path)
    done = subprocess.run(["gcc", "-std=c99", "-c", "sample.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "different versions" in done.stderr


RENDER_ALL = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from build_samples import Recipe, model_of, random_program, render
from elastogen.build.options import BuildOptions
from elastogen.build.pipeline import render as render_robot
from elastogen.generator.description.load_robot import load
model = model_of(random_program(1), random_program(2, Recipe(1000)), random_program(3, Recipe(50, pivots=2)))
for rendered in (render(model), render_robot(load("two_link"), BuildOptions.checked())):
    texts = (*rendered.c_files.values(), rendered.cdef, rendered.wrapper, *rendered.bundle.values())
    print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    here = str(Path(__file__).parents[1] / "helpers")
    sums = [
        run(sys.executable, "-c", RENDER_ALL, here, cwd=tmp_path, PYTHONHASHSEED=seed, TZ=zone)
        for seed, zone in (("1", "UTC"), ("4242", "Asia/Tokyo"))
    ]
    assert sums[0] == sums[1]
    assert len(sums[0].split()) == 2


@pytest.mark.parametrize(
    "name",
    ["x", "sin", "sine", "t1", "abs", "real", "main", "params", "p", "A_very_long_name_of_thirty_one_"],
)
def test_odd_robot_names_compile(name: str, tmp_path: Path) -> None:
    robot = sample_robot(name, live={"sine": 1.0, "t1": 2.0, "status": 3.0, "x0": 4.0, "q": 5.0, **LIVE})
    rendered = render(model_of(random_program(5, Recipe(60)), random_program(6, Recipe(400)), robot=robot))
    write_files(tmp_path, {**rendered.c_files, **rendered.bundle})
    run("gcc", *WARNINGS, "-fsyntax-only", "-I.", f"{name}.c", "examples/example.c", cwd=tmp_path)


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake")
def test_the_cmake_project_builds(robot_bundle: Path, tmp_path: Path) -> None:
    run("cmake", "-S", robot_bundle, "-B", tmp_path, cwd=tmp_path)
    run("cmake", "--build", tmp_path, cwd=tmp_path)
    assert run(tmp_path / "two_link_example", cwd=tmp_path).strip()
