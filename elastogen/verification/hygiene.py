"""Check (d): the emitted C under strict warnings and sanitizers; its stack and size."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from elastogen.build.pipeline import generate
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Robot
from elastogen.verification.findings import Finding

NAME = "C"
STRICT = (
    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Wundef",
    "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
)  # fmt: skip
SANITIZERS = ("-g1", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ABSURD = ("0.0", "1e-300", "-1e300", "1e16", "-3.0e5", "NAN", "INFINITY", "-INFINITY")
RANDOM_CALLS = 200


def check(robot: Robot, functions: Mapping[str, Function], precision: str) -> Iterator[Finding]:
    """Check the C of these functions with every compiler that is installed."""
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    label = f"{NAME} {precision}"
    if not compilers:
        yield Finding(label, "all files", "skipped", "neither gcc nor clang is here")
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        files = generate(robot, home / "c", outputs=tuple(functions), precision=precision)
        for compiler in compilers:
            done = _run(compiler, *STRICT, "-c", files.source, "-o", home / "strict.o")
            yield _finding(label, f"strict warnings, {compiler}", done, "none")
        (home / "drive.c").write_text(_driver(robot, functions), encoding="utf-8")
        command = (
            compilers[0],
            "-std=c99",
            *SANITIZERS,
            f"-I{home / 'c'}",
            home / "drive.c",
            files.source,
            "-lm",
            "-o",
            home / "drive",
        )
        done = _run(*command)
        if done.returncode == 0:
            done = _run(home / "drive")
            yield _finding(
                label, "address and undefined sanitizers", done, f"clean over {RANDOM_CALLS} random and absurd states"
            )
        else:
            yield Finding(label, "address and undefined sanitizers", "skipped", "the compiler has no sanitizers")
        if compilers[0] == "gcc":
            yield from _sizes(label, files.source, home)


def _run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def _finding(label: str, subject: str, done: subprocess.CompletedProcess[str], good: str) -> Finding:
    if done.returncode == 0:
        return Finding(label, subject, "passed", good)
    return Finding(label, subject, "failed", " ".join((done.stdout + done.stderr).split())[:300])


def _sizes(label: str, source: Path, home: Path) -> Iterator[Finding]:
    """Return the largest stack frame, bytes of code and number of instructions with -O2."""
    target = home / "size.o"
    if _run("gcc", "-std=c99", "-O2", "-fstack-usage", "-c", source, "-o", target).returncode != 0:
        return
    frames = [line.split("\t") for line in (home / "size.su").read_text(encoding="utf-8").splitlines()]
    largest = max(frames, key=lambda frame: int(frame[1]))
    yield Finding(label, "stack", "passed", f"at most {largest[1]} bytes in one frame ({largest[0].rsplit(':', 1)[-1]})")
    if shutil.which("objdump"):
        code = _run("objdump", "-d", "--no-show-raw-insn", target).stdout
        count = len(re.findall(r"^\s+[0-9a-f]+:\s", code, flags=re.M))
        size = _run("size", target).stdout.splitlines()[-1].split()[0]
        yield Finding(label, "code", "passed", f"{size} bytes, {count} instructions")


def _driver(robot: Robot, functions: Mapping[str, Function]) -> str:
    """Return a program that calls every function with random and absurd numbers under the sanitizers."""
    name = robot.name
    real = f"{name}_real_t"
    lines = [f'#include "{name}.h"', "#include <math.h>", "#include <stdint.h>", "static uint32_t state = 12345u;"]
    lines += [f"static const double absurd[{len(ABSURD)}] = {{ {', '.join(ABSURD)} }};"]
    lines += [
        f"static {real} number(int wild) {{",
        "    state = 1664525u * state + 1013904223u;",
        f"    if (wild && ((state >> 28) < 3u)) {{ return ({real})absurd[(state >> 20) % {len(ABSURD)}u]; }}",
        f"    return ({real})(((double)(state >> 8) / 16777216.0) * 4.0 - 2.0);",
        "}",
        "int main(void) {",
        f"    for (int round = 0; round < {RANDOM_CALLS}; ++round) {{",
    ]
    for function in functions.values():
        arrays = [*function.inputs, *function.outputs]
        lines.append("        {")
        lines += [f"            {real} {a.name}[{a.size}];" for a in arrays]
        lines += [
            f"            for (int i = 0; i < {a.size}; ++i) {{ {a.name}[i] = number(round % 2); }}" for a in function.inputs
        ]
        call = ", ".join([f"&{name}_params_nominal", *(a.name for a in arrays)])
        lines += [f"            (void){name}_{function.name}({call});", "        }"]
    return "\n".join([*lines, "    }", "    return 0;", "}", ""])
