"""No emitted C file has fused multiplications and additions with the documented flags: bits are those of every host."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import elastogen
from elastogen.build.files.render import render_model
from elastogen.build.files.trajectory import write_trajectory
from elastogen.build.loop import generate_loop
from elastogen.build.options import BuildOptions
from elastogen.build.plain_c.emission import Emission, files, parts
from elastogen.generator.functions.derivation import derive_model
from elastogen.runtime.motion.trajectory import quintic

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
PAIRS = [
    pytest.param(compiler, level, marks=() if (compiler, level) == ("gcc", "-O2 -ftree-vectorize") else pytest.mark.nightly)
    for compiler in COMPILERS
    for level in ("-O2", "-O2 -ftree-vectorize", "-O3")
]
PRAGMA = '#pragma GCC optimize("no-tree-slp-vectorize")'
FUSED = re.compile(r"\bvfn?m(?:add|sub)\w*|\bvfmaddsub\w*|\bvfmsubadd\w*")

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the fused instructions of x86 are looked for"),
    pytest.mark.skipif(not (COMPILERS and shutil.which("objdump")), reason="no compiler or no objdump"),
]


@pytest.fixture(scope="module")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every C file that computes: model, simulation, switching, lanes, inverse kinematics, trajectories, loops, loop, FMU."""
    folder = tmp_path_factory.mktemp("emitted")
    few = ["forward_dynamics", "mass_matrix"]
    elastogen.generate("rpb_table3", folder / "sliding", outputs=["forward_dynamics", "mass_matrix", "gravity_vector"])
    elastogen.generate("five_bar", folder / "mechanism", outputs=["forward_dynamics", "loop_residual", "loop_jacobian"])
    elastogen.generate("stanford", folder / "rigid", outputs=["inverse_kinematics"], frames=["tip"])
    generate_loop("flexible_one_link", folder / "loop", outputs=["forward_dynamics"])
    elastogen.export("two_link", folder / "fmu", format="fmu3")
    for archive in (folder / "fmu").glob("*.fmu"):
        shutil.unpack_archive(archive, folder / "fmu", format="zip")
    write_trajectory(quintic([[0.1, 0.2], [0.3, 0.5]], [0.0, 2.0]), folder / "trajectory", "two_link")
    options = BuildOptions.checked(outputs=few)
    lanes = render_model(derive_model(elastogen.load("rpb_table3"), few), options.emit, lanes=True).lanes
    for name, text in lanes.items():
        (folder / "sliding" / name).write_text(text)
    return {path.name: path for path in sorted(folder.rglob("*.c")) if path.name not in ("example.c", "check.c")}


def test_every_kind_of_file_is_looked_at(emitted: dict[str, Path]) -> None:
    endings = {re.sub(r"^(rpb_table3|five_bar|stanford|flexible_one_link|two_link)", "", name) for name in emitted}
    kinds = {".c", "_simulate.c", "_switch.c", "_ik.c", "_trajectory.c", "_loops.c", "_loop.c", "eg_lanes.c"}
    assert endings >= kinds, kinds - endings
    assert any("fmu" in name for name in emitted)
    glue = ("_thread.c", "_fmui3.c", "_shared.c")  # what these copy is computed elsewhere
    for name, path in emitted.items():
        assert name.endswith(glue) or PRAGMA in path.read_text(), name


def test_c_of_the_sample_robot_gets_the_lines() -> None:
    own = [path for name, path in files().items() if name.endswith(".c") and name not in parts() and "sample" not in path]
    assert len(own) >= 8
    for path in own:
        assert PRAGMA in Emission("arm").file(path), path


@pytest.mark.parametrize(("compiler", "level"), PAIRS)
def test_no_file_is_fused(emitted: dict[str, Path], compiler: str, level: str, tmp_path: Path) -> None:
    """gcc 12 made vfmsubadd of neighbouring differences and sums, with contraction off."""
    multiplied = 0
    for name, path in emitted.items():
        flags = [*level.split(), "-std=gnu99", "-ffp-contract=off", "-march=haswell", "-I.", "-I.."]
        command = [compiler, *flags, "-w", "-c", str(path), "-o", str(tmp_path / "file.o")]
        made = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        text = subprocess.run(["objdump", "-d", "file.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        multiplied += len(re.findall(r"\bvmul[sp][sd]\b", text))
        assert not FUSED.findall(text), name
    assert multiplied > 1000
