"""Cross compiling: libraries and wheels for other machines, run by an emulator where there is one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.export.libraries import compiler_for, library_name, parts_of_triple
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import CompileOptions
from elastogen.generator.functions.derivation import derive_model

AARCH64, X86_64 = 183, 62  # e_machine of ELF files
NO_ZIG = importlib.util.find_spec("ziglang") is None
SYSROOT = Path("/usr/aarch64-linux-gnu")


def machine_of(binary: bytes) -> int:
    assert binary[:4] == b"\x7fELF"
    return binary[18] + 256 * binary[19]


def expected_forces() -> np.ndarray:
    robot = elastogen.load("two_link")
    (function,) = derive_model(robot, ("inverse_dynamics",)).functions
    q = np.array([0.1, 0.2])
    (forces,) = function.evaluate({"q": q, "qd": q, "qdd": q}, {p.name: p.value for p in robot.live_parameters}).values()
    return forces


@pytest.mark.skipif(NO_ZIG, reason="zig is not installed: pip install ziglang")
def test_a_library_for_aarch64_by_zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By zig, whatever else is installed; where an emulator and that machine's C library are, its numbers are the program's."""
    target = "aarch64-linux-gnu"
    with monkeypatch.context() as patch:
        patch.setattr("elastogen.build.export.libraries.shutil.which", lambda name: None)
        zig = compiler_for(target)
    assert "ziglang" in zig
    files = elastogen.export("two_link", tmp_path, format="shared", outputs="inverse_dynamics", target=target, compiler=zig)
    library = next(path for path in files.files if path.name == "libtwo_link.so")
    assert machine_of(library.read_bytes()) == AARCH64
    assert "aarch64-linux-gnu" in (tmp_path / "README.md").read_text()
    gcc, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if gcc is None or emulator is None or not SYSROOT.exists():
        pytest.skip("compiled for aarch64, not run: apt-get install gcc-aarch64-linux-gnu qemu-user")
    (tmp_path / "user.c").write_text(
        '#include <stdio.h>\n#include "two_link.h"\nint main(void) { double q[2] = {0.1, 0.2}, F[2];\n'
        "two_link_inverse_dynamics(&two_link_params_nominal, q, q, q, F);\n"
        'printf("%.17g %.17g\\n", F[0], F[1]); return 0; }\n'
    )
    subprocess.run([gcc, "user.c", library, "-Wl,-rpath," + str(tmp_path), "-o", "user"], cwd=tmp_path, check=True)
    run = subprocess.run([emulator, "-L", SYSROOT, "./user"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert np.allclose([float(x) for x in run.stdout.split()], expected_forces(), rtol=1e-14)


@pytest.mark.skipif(shutil.which("gcc") is None or sys.platform != "linux", reason="gcc of a Linux machine")
def test_a_wheel_for_a_named_machine(tmp_path: Path) -> None:
    """For this machine by its triple, so that it can be installed and called; built twice, the bytes are the same."""
    triple = subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    wheels = []
    for folder in ("a", "b"):
        elastogen.export(
            "two_link", tmp_path / folder, format="python", outputs="inverse_dynamics", target=triple, cflags="-O0"
        )
        wheels += (tmp_path / folder / "dist").iterdir()
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    machine = parts_of_triple(triple)[0]
    assert wheels[0].name == f"two_link_model-1.0.0-cp310-abi3-linux_{machine}.whl"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", tmp_path / "site", wheels[0]], check=True)
    code = "from two_link_model import model; q = [0.1, 0.2]; print(*model.inverse_dynamics(q, q, q))"
    root = Path(elastogen.__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{root}"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert np.allclose([float(x) for x in run.stdout.split()], expected_forces(), rtol=1e-14)


@pytest.mark.skipif(shutil.which("aarch64-linux-gnu-gcc") is None, reason="apt-get install gcc-aarch64-linux-gnu")
def test_a_wheel_for_aarch64(tmp_path: Path) -> None:
    target = "aarch64-unknown-linux-gnu"  # a vendor does not matter
    elastogen.export("two_link", tmp_path, format="python", outputs="inverse_dynamics", target=target, cflags="-O0")
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.endswith("-cp310-abi3-linux_aarch64.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert machine_of(archive.read("two_link_model/_two_link.abi3.so")) == AARCH64
        assert "Requires-Dist: elastogen-runtime==" in archive.read("two_link_model-1.0.0.dist-info/METADATA").decode()


@pytest.mark.skipif(NO_ZIG, reason="zig is not installed: pip install ziglang")
def test_zig_compiles_where_there_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    toolchain = find_toolchain(CompileOptions(native=False))
    assert toolchain.command == (sys.executable, "-m", "ziglang", "cc")
    assert "clang" in toolchain.version


def test_names_of_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parts_of_triple("aarch64-unknown-linux-gnu") == ("aarch64", "linux-gnu")
    assert parts_of_triple("x86_64-w64-mingw32") == ("x86_64", "mingw32")
    assert [library_name("arm", target) for target in ("x86_64-w64-mingw32", "aarch64-apple-darwin", "riscv64-linux-musl")] == [
        "arm.dll", "libarm.dylib", "libarm.so",
    ]  # fmt: skip
    monkeypatch.setattr("elastogen.build.export.libraries.shutil.which", lambda name: None)
    monkeypatch.setattr("elastogen.build.export.libraries.has_zig", lambda: False)
    with pytest.raises(elastogen.BuildError, match="pip install ziglang"):
        compiler_for("riscv64-linux-gnu")


@pytest.mark.parametrize(
    ("target", "words"),
    [("x86_64-w64-mingw32", "expected one with linux"), ("arm-linux-gnueabihf", "expected a machine of 64 bits")],
)
def test_wheels_for_other_systems_are_refused(tmp_path: Path, target: str, words: str) -> None:
    with pytest.raises(elastogen.OutputError, match=words):
        elastogen.export("two_link", tmp_path / "x", format="python", outputs="mass_matrix", target=target)
    assert not (tmp_path / "x").exists()
